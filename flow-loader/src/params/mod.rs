//! The `params` of a node in a form that serde reads, to make its value.

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
    /// A text that is read as a number or a boolean where one is expected. It comes from a
    /// credential or a variable, or is the name of a field.
    Loose(SecretString),
    /// A list.
    List(Vec<Param>),
    /// An object.
    Object(Vec<(String, Param)>),
}

/// The JSON pointer of the part with this name or index in the value at a pointer.
pub(crate) fn below(pointer: &str, part: &str) -> String {
    let part = part.replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{part}")
}
