//! The place of a part of a value, and the reason why JSON cannot express it.

use std::cell::RefCell;
use std::error::Error;
use std::fmt::{self, Write as _};

/// The error for a value that JSON cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inexact {
    /// The part of the value, such as `[1].score`. Empty for the value as a whole.
    pub path: String,
    /// The reason, in words.
    pub reason: String,
}

impl fmt::Display for Inexact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.trim_start_matches('.') {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl Error for Inexact {}

/// A step from a value to a part of it.
pub(super) enum Segment {
    /// A field or a variant.
    Name(&'static str),
    /// An item.
    Item(usize),
    /// The key of a map, as JSON.
    Key(String),
}

/// The place of the part that is being written.
#[derive(Default)]
pub(super) struct Place(RefCell<Vec<Segment>>);

impl Place {
    /// Writes a part. If it is refused, the place stays at it.
    pub(super) fn at<T, E>(
        &self,
        segment: Segment,
        write: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.0.borrow_mut().push(segment);
        let written = write()?;
        self.0.borrow_mut().pop();
        Ok(written)
    }

    /// The error for the part at this place.
    pub(super) fn refuses(&self, error: &serde_json::Error) -> Inexact {
        let mut path = String::new();
        for segment in &*self.0.borrow() {
            // Writing to a `String` does not fail.
            let _ = match segment {
                Segment::Name(name) => write!(path, ".{name}"),
                Segment::Item(index) => write!(path, "[{index}]"),
                Segment::Key(key) => write!(path, "[{key}]"),
            };
        }
        Inexact {
            path,
            reason: error.to_string(),
        }
    }
}
