//! The `params` of a node, on their way to the value that serde makes of them.

mod deserialize;
mod error;

use secrecy::SecretString;
use serde_json::{Map, Number, Value};

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

impl Param {
    /// The params of a node.
    pub(crate) fn of_object(params: &Map<String, Value>) -> Self {
        let fields = params.iter();
        Param::Object(
            fields
                .map(|(name, value)| (name.clone(), Param::of(value)))
                .collect(),
        )
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Param::Null,
            Value::Bool(value) => Param::Bool(*value),
            Value::Number(value) => Param::Number(value.clone()),
            Value::String(value) => Param::Text(value.clone()),
            Value::Array(items) => Param::List(items.iter().map(Param::of).collect()),
            Value::Object(fields) => Param::of_object(fields),
        }
    }
}
