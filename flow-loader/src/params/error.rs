//! Errors of making a node's value from its `params`.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};

use super::below;

/// The reason why a value cannot be made from `params`, with the param that caused it.
///
/// The value may be a secret, and serde's message quotes it. So each error also has a text without
/// the value, for params that come from credentials or variables.
pub struct ParamError {
    /// The path to the param, in reverse.
    way: Vec<String>,
    /// True if the name of the param is refused.
    is_name: bool,
    /// The existing names, if the name is not one of them.
    names: Option<&'static [&'static str]>,
    /// The name of the missing param.
    missing: Option<&'static str>,
    message: String,
    without_value: String,
}

impl ParamError {
    fn new(message: String, without_value: String) -> Self {
        ParamError {
            way: Vec::new(),
            is_name: false,
            names: None,
            missing: None,
            message,
            without_value,
        }
    }

    /// Places the error in the param of this name or index.
    pub(super) fn within(mut self, part: impl ToString) -> Self {
        self.way.push(part.to_string());
        self
    }

    /// Places the error in the name itself.
    pub(super) fn of_name(mut self, name: &str) -> Self {
        self.is_name = true;
        self.within(name)
    }

    /// The JSON pointer of the param in the `params`, and `true` if its name is refused.
    pub(crate) fn place(&self) -> (String, bool) {
        let parts = self.way.iter().rev();
        let pointer = parts.fold(String::new(), |pointer, part| below(&pointer, part));
        (pointer, self.is_name)
    }

    /// The existing names, if an unknown one was written. `None` if they are not known.
    pub(crate) fn names(&self) -> Option<&'static [&'static str]> {
        self.names.filter(|_| self.is_name)
    }

    /// The name of the missing param, if that is the error.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.missing
    }

    /// The message without the value.
    pub(crate) fn without_value(&self) -> &str {
        &self.without_value
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Omits the value.
impl fmt::Debug for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ParamError")
            .field(&self.without_value)
            .finish()
    }
}

impl std::error::Error for ParamError {}

impl Error for ParamError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ParamError::new(message.to_string(), "it is refused".to_owned())
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let kind = kind(unexpected);
        ParamError::new(
            format!("invalid type: {unexpected}, expected {expected}"),
            format!("invalid type: {kind}, expected {expected}"),
        )
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        ParamError::new(
            format!("invalid value: {unexpected}, expected {expected}"),
            format!("invalid value, expected {expected}"),
        )
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let expected = one_of(expected);
        ParamError::new(
            format!("unknown variant `{variant}`, expected {expected}"),
            format!("unknown variant, expected {expected}"),
        )
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let message = match expected {
            [] => format!("unknown field `{field}`, there are no fields"),
            expected => format!("unknown field `{field}`, expected {}", one_of(expected)),
        };
        ParamError {
            names: Some(expected),
            ..ParamError::new(message.clone(), message)
        }
    }

    fn missing_field(field: &'static str) -> Self {
        let message = format!("missing field `{field}`");
        ParamError {
            missing: Some(field),
            ..ParamError::new(message.clone(), message)
        }
    }

    fn duplicate_field(field: &'static str) -> Self {
        let message = format!("duplicate field `{field}`");
        ParamError::new(message.clone(), message)
    }
}

fn one_of(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => format!("`{only}`"),
        [first, second] => format!("`{first}` or `{second}`"),
        several => format!("one of `{}`", several.join("`, `")),
    }
}

/// A description of a value, without the value.
fn kind(unexpected: Unexpected<'_>) -> &'static str {
    match unexpected {
        Unexpected::Bool(_) => "a boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "an integer",
        Unexpected::Float(_) => "a number",
        Unexpected::Seq => "a list",
        Unexpected::Map => "an object",
        Unexpected::Unit | Unexpected::Option => "null",
        _ => "a string",
    }
}
