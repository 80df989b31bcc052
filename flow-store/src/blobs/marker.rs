//! The text that a row holds in place of a value that is kept as a blob.

use std::fmt::{self, Write as _};

use sha2::{Digest as _, Sha256};

use super::{MARKER, parts};
use crate::ExecutionId;

/// A marker, which determines the name of its blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    /// The number of the record that has the value as its payload. `None` for a value of the whole
    /// execution.
    seq: Option<u64>,
    /// The SHA-256 of the value, in hexadecimal digits.
    sha256: String,
    bytes: usize,
}

impl Marker {
    pub(super) fn of(seq: Option<u64>, value: &[u8]) -> Marker {
        let mut sha256 = String::with_capacity(64);
        for byte in Sha256::digest(value) {
            // Writing to a string cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        let bytes = value.len();
        Marker { seq, sha256, bytes }
    }

    /// Parses a marker. Returns `None` for any other text.
    pub(super) fn read(text: &str) -> Option<Marker> {
        let (seq, sha256, bytes) = parts(text)?;
        let sha256 = sha256.to_owned();
        Some(Marker { seq, sha256, bytes })
    }

    /// Returns the name of the blob. Names of records are in the order of their numbers, before all
    /// others.
    pub(super) fn name(&self, execution: ExecutionId) -> String {
        match self.seq {
            Some(seq) => format!("{}-{}", first_name(execution, seq), self.sha256),
            None => format!("{execution}/value-{}", self.sha256),
        }
    }

    /// Returns what is wrong with a value that differs from the stored one.
    pub(super) fn fault_of(&self, value: &[u8]) -> Option<String> {
        if value.len() != self.bytes {
            let (found, bytes) = (value.len(), self.bytes);
            return Some(format!("has {found} bytes, and not {bytes}"));
        }
        let has_changed = Marker::of(self.seq, value) != *self;
        has_changed.then(|| "has changed: its SHA-256 is another one".to_owned())
    }
}

/// Returns a text that sorts before the names of this record and all later ones, and after those of
/// all earlier ones.
pub(super) fn first_name(execution: ExecutionId, seq: u64) -> String {
    format!("{execution}/{seq:020}")
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MARKER)?;
        if let Some(seq) = self.seq {
            write!(f, "{seq}")?;
        }
        write!(f, ":{}:{}", self.sha256, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_read_as_it_was_written() {
        for seq in [None, Some(0), Some(u64::MAX)] {
            let marker = Marker::of(seq, b"a value");
            assert_eq!(Marker::read(&marker.to_string()), Some(marker));
        }
    }

    #[test]
    fn what_is_not_quite_a_marker_is_none() {
        let marker = Marker::of(Some(12), b"a value").to_string();
        let [head, hash, bytes] = marker.rsplitn(3, ':').collect::<Vec<_>>()[..] else {
            panic!("{marker}");
        };
        let (head, bytes) = (bytes, head);
        for text in [
            format!("{head}:{hash}"),
            format!("{head}:{hash}:{bytes}:"),
            format!("{head}:{}:{bytes}", hash.to_uppercase()),
            format!("{head}:{}:{bytes}", &hash[1..]),
            format!("{head}:{hash}:+{bytes}"),
            format!("{head}:{hash}:0{bytes}"),
            format!("{head}:../{}:{bytes}", &hash[3..]),
            marker.replacen("12", "-1", 1),
            marker.replacen("12", "012", 1),
            format!(" {marker}"),
            MARKER.to_owned(),
        ] {
            assert_eq!(Marker::read(&text), None, "{text}");
        }
    }

    #[test]
    fn names_are_in_the_order_of_the_records() {
        let id = ExecutionId::from(uuid::Uuid::nil());
        let name = |seq| Marker::of(seq, b"").name(id);
        let first = first_name(id, 10);
        assert!(name(Some(9)) < first && first < name(Some(10)));
        assert!(name(Some(10)) < name(Some(u64::MAX)));
        assert!(name(Some(u64::MAX)) < name(None));
    }
}
