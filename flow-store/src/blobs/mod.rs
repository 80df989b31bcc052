//! Large values outside of the store, and markers in their place.

use std::borrow::Cow;
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

/// The start of a marker, the text that a row holds in place of a value that is kept as a blob. No
/// JSON starts like this.
const MARKER: &str = "flow-blob:";

/// Returns `true` if this text is a marker, which stands for a value that is kept as a blob. Only a
/// program that opens a store without the `BlobStore` (feature `blobs`) that wrote it sees such a
/// text, unless somebody wrote that very text.
pub fn is_blob_marker(text: &str) -> bool {
    parts(text).is_some()
}

/// Returns `true` if this payload of the record with this number is a marker with the same number.
pub fn is_blob_marker_of(record: u64, payload: &str) -> bool {
    parts(payload).is_some_and(|(seq, ..)| seq == Some(record))
}

/// Escapes a text chosen by others, so that it cannot pass for a marker: one that begins like a
/// marker gets a space before it. [`free_text`] reverses this.
pub fn no_blob_marker(text: &str) -> Cow<'_, str> {
    if text.trim_start_matches(' ').starts_with(MARKER) {
        Cow::Owned(format!(" {text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the text that was passed to [`no_blob_marker`].
pub fn free_text(text: &str) -> &str {
    match text.strip_prefix(' ') {
        Some(chosen) if chosen.trim_start_matches(' ').starts_with(MARKER) => chosen,
        _ => text,
    }
}

/// Splits a marker into the number of its record, if any, a SHA-256 and a length. Returns `None` if
/// the text is not exactly a marker.
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

/// Parses a number as markers contain it, without a sign or leading zeros.
fn number<N: FromStr + ToString>(text: &str) -> Option<N> {
    let number: N = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Returns `true` if this text may be a marker, perhaps a damaged one.
#[cfg(feature = "blobs")]
fn begins_like_marker(text: &str) -> bool {
    text.starts_with(MARKER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_chosen_is_no_marker_and_stays_what_it_is() {
        let marker = format!("{MARKER}7:{}:12", "0".repeat(64));
        assert!(is_blob_marker(&marker));
        assert!(is_blob_marker_of(7, &marker) && !is_blob_marker_of(8, &marker));
        for text in [
            &*marker,
            &format!(" {marker}"),
            &format!("  {marker}"),
            "",
            " no",
            "no",
        ] {
            let stored = no_blob_marker(text);
            assert!(!is_blob_marker(&stored), "{stored}");
            assert_eq!(free_text(&stored), text);
        }
    }
}
