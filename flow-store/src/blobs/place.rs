//! The trait of the places where blobs are.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::StoreError;

/// A place for blobs: values under names, such as a folder or an object store.
///
/// An implementation has to pass the [suite](crate::blob_suite!) (feature `suite`), whose cases test
/// what these comments say. Methods may be called from many tasks and processes at once.
///
/// # Names
///
/// A name is that of a folder and one within it, such as `0190…/00000000000000000003-9f86…`: a `/`
/// between two parts of letters from `a` to `z`, digits and `-`. A place refuses all others
/// ([`check_blob_name`](crate::check_blob_name)), so that nothing leads out of it.
#[async_trait]
pub trait Blobs: fmt::Debug + Send + Sync + 'static {
    /// Stores a value. When this has returned `Ok`, the value survives a crash of the machine. A
    /// value that has the name already is replaced; whoever reads meanwhile gets the one or the
    /// other as a whole.
    ///
    /// # Errors
    ///
    /// The name is not one, or the value could not be written. It may be there all the same.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the whole value is stored, or nothing.
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError>;

    /// The value with this name. `None` if there is none.
    ///
    /// # Errors
    ///
    /// The name is not one, or the place could not be read.
    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Removes the value with this name, if there is one.
    ///
    /// # Errors
    ///
    /// The name is not one, or the place could not be written to.
    async fn delete(&self, name: &str) -> Result<(), StoreError>;

    /// The whole names of what is in a folder, in their order. Empty if there is no such folder.
    ///
    /// # Errors
    ///
    /// The folder's name is not one, or the place could not be read.
    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// The folders, in the order of their names. One in which nothing is left may be among them.
    ///
    /// # Errors
    ///
    /// The place could not be read.
    async fn folders(&self) -> Result<Vec<String>, StoreError>;
}

/// A shared place is one as well.
#[async_trait]
impl<B: Blobs + ?Sized> Blobs for Arc<B> {
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError> {
        (**self).put(name, value).await
    }

    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        (**self).get(name).await
    }

    async fn delete(&self, name: &str) -> Result<(), StoreError> {
        (**self).delete(name).await
    }

    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        (**self).names(folder).await
    }

    async fn folders(&self) -> Result<Vec<String>, StoreError> {
        (**self).folders().await
    }
}

/// Refuses what is not a [name](Blobs#names) of a blob: for authors of places. For a folder's name,
/// pass that of something in it.
///
/// # Errors
///
/// It is not a name.
pub fn check_blob_name(name: &str) -> Result<(), StoreError> {
    let is_letter = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(is_letter);
    match name.split_once('/') {
        Some((folder, file)) if is_part(folder) && is_part(file) => Ok(()),
        _ => {
            let reason =
                "a folder and a name of letters from `a` to `z`, digits and `-` are needed";
            let reason = format!(
                "`{}` is not the name of a blob: {reason}",
                name.escape_debug()
            );
            Err(StoreError::Other(reason.into()))
        }
    }
}
