//! Tools that a model may call.

use std::error::Error;

use async_trait::async_trait;
use flow_runtime::Context;
use serde_json::{Map, Value};

use crate::model::ToolDefinition;

/// A tool that a model may call, by a name and with arguments in JSON.
///
/// [`tools!`](crate::tools) makes one from a node or a flow. Implement the trait for tools that are
/// known only at run time, such as those of a server.
///
/// # Examples
/// ```
/// use async_trait::async_trait;
/// use flow_agents::{Tool, ToolDefinition, ToolError, Tools};
/// use flow_runtime::Context;
/// use serde_json::{Map, Value, json};
///
/// struct Echo(ToolDefinition);
///
/// #[async_trait]
/// impl Tool for Echo {
///     fn definition(&self) -> &ToolDefinition {
///         &self.0
///     }
///
///     async fn call(&self, _: &Context, arguments: Map<String, Value>) -> Result<String, ToolError> {
///         Ok(Value::from(arguments).to_string())
///     }
/// }
///
/// let mut tools = Tools::new();
/// tools.add(Echo(ToolDefinition::new("echo", "Returns its arguments.", json!({ "type": "object" }))));
/// assert!(tools.get("echo").is_some());
/// ```
#[async_trait]
pub trait Tool: Send + Sync {
    /// The description of the tool for a model.
    fn definition(&self) -> &ToolDefinition;

    /// Checks that a call with these arguments would be made. By default all are;
    /// [`call`](Tool::call) may still refuse them.
    ///
    /// # Errors
    /// [`ToolError::Arguments`] if the arguments do not fit.
    fn check(&self, cx: &Context, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let _ = (cx, arguments);
        Ok(())
    }

    /// Calls the tool with the arguments of a model, within the step of a run. The result is a text
    /// that the model reads.
    ///
    /// # Errors
    /// The tool was not called because of its arguments, or it failed.
    ///
    /// # Cancel safety
    /// Depends on the tool. A cancelled run drops the call.
    async fn call(&self, cx: &Context, arguments: Map<String, Value>) -> Result<String, ToolError>;
}

/// The reason why a tool has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool does not exist.
    #[error("Tool '{name}' not found; {}", all_of(.known))]
    Unknown {
        /// The name that the model called.
        name: String,
        /// The names of the existing tools.
        known: Vec<String>,
    },
    /// The arguments are not a JSON object.
    #[error("the arguments are not a JSON object: {reason}")]
    NotAnObject {
        /// The reason.
        reason: String,
    },
    /// The arguments do not fit the tool, which was not called.
    #[error("{}", .wrong.join("; "))]
    Arguments {
        /// The mistakes, argument by argument.
        wrong: Vec<String>,
    },
    /// The tool was called, and failed.
    #[error("{}", chain(.0.as_ref()))]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl ToolError {
    /// Creates the error of a tool that was called and failed for this reason.
    pub fn failed(reason: impl Into<Box<dyn Error + Send + Sync>>) -> ToolError {
        ToolError::Failed(reason.into())
    }
}

fn all_of(names: &[String]) -> String {
    match names {
        [] => "there are no tools".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    }
}

/// The text of an error with its causes: a model sees only this text.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let cause = error.to_string();
        // Some errors repeat their source in their own text.
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
        source = error.source();
    }
    text
}
