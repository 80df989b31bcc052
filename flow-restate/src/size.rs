//! Limits of size: Restate retries a message of 32 MiB or more forever.

use std::io::{self, Write};

use bytes::Bytes;
use serde::Serialize;

/// The largest value, in bytes.
pub(crate) const LARGEST: usize = 31_000_000;

/// The maximum length of a failure's text, in bytes. It is for people, who need no more.
const LONGEST: usize = 1_000_000;

/// The text, if Restate accepts its size.
///
/// # Errors
///
/// The text is too large.
pub(crate) fn within_limit(what: &str, text: Vec<u8>) -> Result<Bytes, String> {
    if text.len() <= LARGEST {
        return Ok(Bytes::from(text));
    }
    Err(format!(
        "{what} has {} bytes, and Restate takes {LARGEST} at most: keep large values elsewhere, and \
         pass where they are",
        text.len()
    ))
}

/// Returns true if Restate accepts the size of this value as JSON.
pub(crate) fn is_within_limit(value: &impl Serialize) -> bool {
    serde_json::to_writer(Room(LARGEST), value).is_ok()
}

/// A writer that only counts: it accepts this many bytes and discards them.
struct Room(usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Cuts the text of a failure if it is too long.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        let length = text.len();
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push_str(&format!("… (the first part of {length} bytes)"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_too_large_is_refused() {
        let refused = within_limit("the outcome of `a`", vec![0; LARGEST + 1]).unwrap_err();
        assert!(
            refused.starts_with("the outcome of `a` has 31000001 bytes"),
            "{refused}"
        );
        assert!(within_limit("the outcome of `a`", vec![0; LARGEST]).is_ok());
    }

    #[test]
    fn a_value_is_measured_as_it_is_written() {
        // The limit includes the quotes.
        assert!(is_within_limit(&"a".repeat(LARGEST - 2)));
        assert!(!is_within_limit(&"a".repeat(LARGEST - 1)));
        assert!(!is_within_limit(&"\n".repeat(LARGEST / 2)));
    }

    #[test]
    fn a_text_is_cut_between_two_characters() {
        let long = format!("a{}", "ä".repeat(LONGEST / 2));
        let text = cut(long);
        let length = LONGEST - 1 + "… (the first part of 1000001 bytes)".len();
        assert_eq!(text.len(), length);
        assert!(text.ends_with("ä… (the first part of 1000001 bytes)"));
        assert_eq!(cut("short".to_owned()), "short");
    }
}
