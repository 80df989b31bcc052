//! Large values outside of the store, and markers in their place.

#[cfg(feature = "blobs")]
mod entry;
#[cfg(feature = "blobs")]
mod marker;
#[cfg(feature = "blobs")]
mod memory;
#[cfg(feature = "blobs")]
mod place;
#[cfg(feature = "blobs")]
mod store;
#[cfg(feature = "blobs")]
mod transaction;
#[cfg(feature = "blobs")]
mod values;

#[cfg(feature = "blobs")]
pub use memory::MemoryBlobs;
#[cfg(feature = "blobs")]
pub use place::{Blobs, check_blob_name};
#[cfg(feature = "blobs")]
pub use store::BlobStore;

/// What a marker begins with: the text that a row has in the place of a value that is kept as a
/// blob. No JSON begins like this.
const MARKER: &str = "flow-blob:";

/// Returns true if this text stands for a value that is kept as a blob. Only a program that opens a
/// store without the `BlobStore` (feature `blobs`) that wrote it gets to see such a text.
pub fn is_blob_marker(text: &str) -> bool {
    text.starts_with(MARKER)
}
