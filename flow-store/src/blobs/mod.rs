//! Large values outside of the store, and markers in their place.

use std::str::FromStr;

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

/// Returns true if this text is a marker: it stands for a value that is kept as a blob. Only a program
/// that opens a store without the `BlobStore` (feature `blobs`) that wrote it gets to see such a text,
/// unless somebody has written the very same text.
pub fn is_blob_marker(text: &str) -> bool {
    parts(text).is_some()
}

/// The number of a record, if it is that of one, a SHA-256, and a length. `None` if the text is not
/// exactly a marker.
fn parts(text: &str) -> Option<(Option<u64>, &str, usize)> {
    let mut parts = text.strip_prefix(MARKER)?.split(':');
    let (seq, sha256, bytes) = (parts.next()?, parts.next()?, parts.next()?);
    let seq = match seq {
        "" => None,
        seq => Some(number(seq)?),
    };
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = sha256.len() == 64 && sha256.bytes().all(is_digit);
    let is_whole = is_hash && parts.next().is_none();
    is_whole.then_some((seq, sha256, number(bytes)?))
}

/// A number that is written like one of a marker, without a sign or a zero before it.
fn number<N: FromStr + ToString>(text: &str) -> Option<N> {
    let number: N = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Returns true if this text may be taken for a marker, or for a damaged one.
#[cfg(feature = "blobs")]
fn begins_like_marker(text: &str) -> bool {
    text.starts_with(MARKER)
}
