//! Blobs in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::place::{Blobs, check_blob_name};
use crate::StoreError;

/// Blobs in memory, for tests.
///
/// # Examples
///
/// ```
/// use flow_store::{Blobs, MemoryBlobs};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_store::StoreError> {
/// let blobs = MemoryBlobs::new();
/// blobs.put("letters/a", b"alpha".to_vec()).await?;
/// assert_eq!(blobs.get("letters/a").await?, Some(b"alpha".to_vec()));
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct MemoryBlobs {
    values: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl MemoryBlobs {
    /// Creates an empty place.
    pub fn new() -> MemoryBlobs {
        MemoryBlobs::default()
    }

    fn values(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryBlobs")
            .field("blobs", &self.values().len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        check_blob_name(name)?;
        self.values().insert(name.to_owned(), value);
        Ok(())
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        check_blob_name(name)?;
        Ok(self.values().get(name).cloned())
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        check_blob_name(name)?;
        self.values().remove(name);
        Ok(())
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let folder = format!("{folder}/");
        check_blob_name(&format!("{folder}a"))?;
        let values = self.values();
        let from = values.range(folder.clone()..).map(|(name, _)| name);
        let within = from.take_while(|name| name.starts_with(&folder));
        Ok(within.cloned().collect())
    }

    async fn folders(&self) -> Result<Vec<String>, StoreError> {
        let values = self.values();
        let folders = values.keys().filter_map(|name| name.split_once('/'));
        let folders: BTreeSet<&str> = folders.map(|(folder, _)| folder).collect();
        Ok(folders.into_iter().map(str::to_owned).collect())
    }
}
