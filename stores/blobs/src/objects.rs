//! Blobs in an object store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use flow_store::{Blobs, StoreError, check_blob_name};
use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};

use crate::error::Failure;

/// Keeps blobs in an object store, such as S3: each blob is an object.
///
/// The object store has to be consistent: readers see all earlier writes, as with S3, Azure and
/// Google. Back it up after the store, never before: a blob is written before the row that names
/// it.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use flow_blobs::object_store::memory::InMemory;
/// use flow_blobs::{Blobs, ObjectBlobs};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let blobs = ObjectBlobs::new(Arc::new(InMemory::new()), "flows");
/// blobs.put("letters/a", b"alpha".to_vec()).await?;
/// assert_eq!(blobs.names("letters").await?, ["letters/a"]);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ObjectBlobs {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

impl ObjectBlobs {
    /// Keeps blobs under a prefix, such as `flows/blobs`, or in the whole bucket if it is empty.
    pub fn new(objects: Arc<dyn ObjectStore>, prefix: impl Into<Path>) -> ObjectBlobs {
        let prefix = prefix.into();
        ObjectBlobs { objects, prefix }
    }

    /// Requests a listing, and reads its first part.
    pub(crate) async fn look(&self) -> Result<(), object_store::Error> {
        self.objects.list(Some(&self.prefix)).try_next().await?;
        Ok(())
    }

    fn path(&self, name: &str) -> Result<Path, StoreError> {
        check_blob_name(name)?;
        let parts = self.prefix.parts();
        Ok(parts.chain(name.split('/').map(Into::into)).collect())
    }
}

impl fmt::Debug for ObjectBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An object store has its bucket in `Display`, and everything else in `Debug`.
        f.debug_struct("ObjectBlobs")
            .field("objects", &format_args!("{}", self.objects))
            .field("prefix", &self.prefix)
            .finish()
    }
}

#[async_trait]
impl Blobs for ObjectBlobs {
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        let path = self.path(name)?;
        match self.objects.put(&path, value.into()).await {
            Ok(_) => Ok(()),
            Err(error) => Err(Failure::put(name)(error.into()).into()),
        }
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(name)?;
        let got = async { self.objects.get(&path).await?.bytes().await };
        match got.await {
            Ok(value) => Ok(Some(value.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(Failure::get(name)(error.into()).into()),
        }
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        let path = self.path(name)?;
        match self.objects.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(Failure::delete(name)(error.into()).into()),
        }
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let inside = self.path(&format!("{folder}/a"))?;
        let path: Path = inside.parts().take(inside.parts_count() - 1).collect();
        let listed = self.objects.list_with_delimiter(Some(&path)).await;
        let listed = listed.map_err(|error| Failure::list(error.into()))?;
        let files = listed.objects.iter().map(|object| &object.location);
        let names = files.filter_map(|path| Some(format!("{folder}/{}", path.filename()?)));
        let mut names: Vec<String> = names.filter(|name| check_blob_name(name).is_ok()).collect();
        names.sort();
        Ok(names)
    }

    async fn folders(&self) -> Result<Vec<String>, StoreError> {
        let listed = self.objects.list_with_delimiter(Some(&self.prefix)).await;
        let listed = listed.map_err(|error| Failure::list(error.into()))?;
        let folders = listed.common_prefixes.iter().filter_map(Path::filename);
        let is_name = |folder: &&str| check_blob_name(&format!("{folder}/a")).is_ok();
        let mut folders: Vec<String> = folders.filter(is_name).map(str::to_owned).collect();
        folders.sort();
        Ok(folders)
    }
}
