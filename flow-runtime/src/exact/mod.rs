//! JSON from which the same value is read as was written.
//!
//! JSON has fewer words than Rust has values: serde_json writes NaN and `Some(None)` as `null`, and two
//! keys of a map may have the same text. Whoever stores a value writes it here, so that it is refused
//! where it comes in, with the place of the part that JSON cannot say.

mod changed;
mod parts;
mod place;
mod submitted;
mod writer;

use serde::Serialize;
use serde_json::Value;

pub(crate) use self::changed::difference;
pub use self::changed::unchanged;
pub use self::place::Inexact;
use self::place::Place;
pub use self::submitted::parse_json;
use self::writer::Writer;

/// A value as JSON.
///
/// # Errors
///
/// The value cannot be written as JSON, or not so that it can be told from others.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Value, Inexact> {
    let place = Place::default();
    let written = value.serialize(Writer::new(serde_json::value::Serializer, &place));
    written.map_err(|error| place.refuses(&error))
}

/// A value as the text of JSON.
///
/// # Errors
///
/// As [`to_json`].
pub fn to_json_text<T: Serialize + ?Sized>(value: &T) -> Result<String, Inexact> {
    let (place, mut text) = (Place::default(), Vec::new());
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
