//! JSON from which the same value is read as was written.
//!
//! JSON has fewer words than Rust has values: serde_json writes NaN and `Some(None)` as `null`, and two
//! keys of a map may have the same text. Whoever stores a value writes it here, so that it is refused
//! where it comes in, with the place of the part that JSON cannot say.

mod changed;
mod parts;
mod submitted;
mod writer;

use std::error::Error;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

pub(crate) use self::changed::difference;
pub use self::changed::unchanged;
pub use self::submitted::parse_json;
use self::writer::Writer;

/// Why JSON cannot say a value.
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

/// A value as JSON.
///
/// # Errors
///
/// The value cannot be written as JSON, or not so that it can be told from others.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Value, Inexact> {
    let place = parts::Place::default();
    let written = value.serialize(Writer::new(serde_json::value::Serializer, &place));
    written.map_err(|error| place.refuses(&error))
}

/// A value as the text of JSON.
///
/// # Errors
///
/// As [`to_json`].
pub fn to_json_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Inexact> {
    let (place, mut text) = (parts::Place::default(), Vec::new());
    let mut json = serde_json::Serializer::new(&mut text);
    let written = value.serialize(Writer::new(&mut json, &place));
    written.map_err(|error| place.refuses(&error))?;
    String::from_utf8(text).map_err(|error| Inexact {
        path: String::new(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
