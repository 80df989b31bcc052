//! JSON from which a value is read back unchanged.
//!
//! JSON cannot express every Rust value: serde_json writes NaN and `Some(None)` as `null`, and two
//! keys of a map may have the same text. Code that stores a value writes it here. A value is then
//! refused where it enters, with the place of the part that JSON cannot express.

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
/// The value cannot be written as JSON, or its JSON would be ambiguous.
pub fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Value, Inexact> {
    let place = Place::default();
    let written = value.serialize(Writer::new(serde_json::value::Serializer, &place));
    written.map_err(|error| place.refuses(&error))
}

/// A value as JSON text.
///
/// # Errors
///
/// See [`to_json`].
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
