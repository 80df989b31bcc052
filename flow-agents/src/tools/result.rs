//! The result of a call, from the node to the text that a model reads.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::tool::ToolError;

/// A result type of a tool: strings are passed as they are, everything else as JSON. Implemented by
/// all types that are `Serialize`.
#[diagnostic::on_unimplemented(
    message = "a model cannot read `{Self}` as a result",
    label = "a tool that returns a `{Self}`",
    note = "for a type of your own, write `#[derive(serde::Serialize)]`"
)]
pub trait ToolResult: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolResult for T {}

/// A value as a model reads it.
///
/// # Errors
/// The value cannot be written as JSON.
pub fn result_of<T: ToolResult>(value: &T) -> Result<String, ToolError> {
    text_of(json(value)?)
}

pub(super) fn text_of(value: Value) -> Result<String, ToolError> {
    Ok(match value {
        Value::String(text) => text,
        value => value.to_string(),
    })
}

fn json<T: ToolResult>(value: &T) -> Result<Value, ToolError> {
    serde_json::to_value(value).map_err(ToolError::failed)
}

/// The result of a node that returns nothing.
pub fn nothing_returned() -> Result<String, ToolError> {
    Ok("Done.".to_owned())
}

/// Adds a value that a node writes.
///
/// # Errors
/// The value cannot be written as JSON.
pub fn write<T: ToolResult>(written: &mut Written, name: &str, value: &T) -> Result<(), ToolError> {
    written.0.insert(name.to_owned(), json(value)?);
    Ok(())
}

/// The result of a node that takes an action or writes several values.
#[derive(Default)]
pub struct Written(Map<String, Value>);

impl Written {
    /// Creates an empty result.
    pub fn new() -> Self {
        Written::default()
    }

    /// Adds the action that the node took.
    pub fn action(&mut self, name: &str) {
        self.0.insert("action".to_owned(), name.into());
    }

    /// The whole result as a model reads it.
    ///
    /// # Errors
    /// It never fails; generated code handles it like other results.
    pub fn finish(self) -> Result<String, ToolError> {
        text_of(self.0.into())
    }
}
