//! The `params` of a node as serde reads them, to make its value.

mod deserialize;
mod error;

use secrecy::SecretString;
use serde_json::Number;

pub(crate) use deserialize::was_read_as_struct;
pub use error::ParamError;

/// A param: a JSON value in which texts may be secret.
pub enum Param {
    /// `null`
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A text that is read as a number or as a boolean if one is asked for: it comes from a
    /// credential or from a variable, or is the name of a field.
    Loose(SecretString),
    /// A list.
    List(Vec<Param>),
    /// An object.
    Object(Vec<(String, Param)>),
}

/// The JSON pointer of what has this name or number in the value at a pointer.
pub(crate) fn below(pointer: &str, part: &str) -> String {
    let part = part.replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{part}")
}
