//! The trait of places for blobs.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::StoreError;

/// A place for blobs: values under names, such as a folder or an object store.
///
/// An implementation has to pass the [suite](crate::blob_suite!) (feature `suite`), which tests the
/// behaviour described here. Methods may be called from many tasks and processes at once.
///
/// # Names
///
/// A name consists of a folder and a name within it, such as `0190…/00000000000000000003-9f86…`: a
/// `/` between two parts of letters from `a` to `z`, digits and `-`. A place refuses all others
/// ([`check_blob_name`](crate::check_blob_name)), so that no name leads out of it.
#[async_trait]
pub trait Blobs: fmt::Debug + Send + Sync + 'static {
    /// Stores a value. Once this has returned `Ok`, the value survives a crash of the machine. It
    /// replaces a value with the same name; concurrent readers get one of the two as a whole.
    ///
    /// # Errors
    ///
    /// The name is invalid, or the value could not be written. The value may be there nevertheless.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the whole value is stored, or nothing.
    async fn put(&self, name: &str, value: Vec<u8>) -> Result<(), StoreError>;

    /// Returns the value with this name, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// The name is invalid, or the place could not be read.
    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Removes the value with this name, if there is one.
    ///
    /// # Errors
    ///
    /// The name is invalid, or the place could not be written to.
    async fn delete(&self, name: &str) -> Result<(), StoreError>;

    /// Returns the full names in a folder, in order. Empty if there is no such folder.
    ///
    /// # Errors
    ///
    /// The folder's name is invalid, or the place could not be read.
    async fn names(&self, folder: &str) -> Result<Vec<String>, StoreError>;

    /// Returns the folders in order of their names. Empty ones may be among them.
    ///
    /// # Errors
    ///
    /// The place could not be read.
    async fn folders(&self) -> Result<Vec<String>, StoreError>;
}

/// A shared place is a place as well.
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

/// Refuses an invalid [name](Blobs#names) of a blob: for authors of places. To check a folder's
/// name, pass a name within it.
///
/// # Errors
///
/// The name is invalid.
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
