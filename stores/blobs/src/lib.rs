#![doc = include_str!("../README.md")]

mod error;
mod folder;
#[cfg(feature = "objects")]
mod objects;
mod open;

pub use flow_store::{BlobStore, Blobs, MemoryBlobs};
pub use folder::FolderBlobs;
/// The interface to object stores.
#[cfg(feature = "objects")]
pub use object_store;
#[cfg(feature = "objects")]
pub use objects::ObjectBlobs;
pub use open::open;
