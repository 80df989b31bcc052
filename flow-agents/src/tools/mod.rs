//! The tools that a model may call.

pub(crate) mod arguments;
mod description;
pub(crate) mod flow;
pub(crate) mod node;
pub(crate) mod result;
mod schema;

use std::fmt;
use std::sync::Arc;

use flow_runtime::Context;
use serde_json::{Map, Value};

use crate::message::ToolCall;
use crate::model::ToolDefinition;
use crate::tool::{Tool, ToolError};

/// The tools that a model may call, in order, with unique names.
///
/// [`tools!`](crate::tools) makes them from nodes and flows. A clone shares the tools, but tools
/// added to it are its own.
///
/// # Examples
/// ```
/// use flow_agents::{Tools, tools};
/// use flow_runtime::prelude::*;
///
/// /// Adds two numbers.
/// #[node]
/// fn add(a: i64, b: i64) -> Option<i64> { a.checked_add(b) }
///
/// /// Negates a number.
/// #[node]
/// fn negate(a: f64) -> f64 { -a }
///
/// let all: Tools = tools![add, negate];
/// let mut some = all.clone();
/// assert!(some.remove("negate"));
/// assert_eq!(some.names().collect::<Vec<_>>(), ["add"]);
/// assert_eq!(all.names().collect::<Vec<_>>(), ["add", "negate"]);
/// ```
#[derive(Clone, Default)]
pub struct Tools(Vec<Arc<dyn Tool>>);

impl Tools {
    /// Creates an empty set of tools.
    pub fn new() -> Tools {
        Tools::default()
    }

    /// Adds a tool. Returns false and changes nothing if there is already a tool of its name.
    pub fn add(&mut self, tool: impl Tool + 'static) -> bool {
        let is_new = self.get(&tool.definition().name).is_none();
        if is_new {
            self.0.push(Arc::new(tool));
        }
        is_new
    }

    /// Adds the tools of another set after these.
    ///
    /// # Errors
    /// [`SameName`] if both have a tool of the same name. Then no tool is added:
    /// [`remove`](Tools::remove) one of the two first.
    pub fn extend(&mut self, tools: &Tools) -> Result<(), SameName> {
        if let Some(name) = tools.names().find(|name| self.get(name).is_some()) {
            return Err(SameName {
                name: name.to_owned(),
            });
        }
        self.0.extend(tools.0.iter().cloned());
        Ok(())
    }

    /// Replaces the tool with this name. Returns false and changes nothing if there is no such
    /// tool, or if another one has the name of the new tool.
    pub fn replace(&mut self, name: &str, tool: impl Tool + 'static) -> bool {
        let new = &tool.definition().name;
        if new != name && self.get(new).is_some() {
            return false;
        }
        let Some(place) = self
            .0
            .iter_mut()
            .find(|tool| tool.definition().name == name)
        else {
            return false;
        };
        *place = Arc::new(tool);
        true
    }

    /// Removes the tool with this name. Returns false if it does not exist.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|tool| tool.definition().name != name);
        self.0.len() < before
    }

    /// Removes all tools.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        let mut tools = self.0.iter();
        let tool = tools.find(|tool| tool.definition().name == name);
        tool.map(|tool| &**tool)
    }

    /// The names of the tools, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|tool| tool.definition().name.as_str())
    }

    /// The descriptions of the tools for a model, for [`Request::tools`](crate::Request::tools).
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let definitions = self.0.iter().map(|tool| tool.definition().clone());
        definitions.collect()
    }

    /// Returns true if there are no tools.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes the call of a model, within the step of a run. Returns the result as the model reads
    /// it. A tool is never called with arguments that do not fit.
    ///
    /// # Tracing
    /// With the feature `tracing`, each call is a span `execute_tool`, with names of OpenTelemetry
    /// for generative AI: `gen_ai.operation.name`, `gen_ai.tool.name` and `gen_ai.tool.call.id`.
    ///
    /// # Errors
    /// The tool does not exist, its arguments do not fit, or it failed.
    ///
    /// # Cancel safety
    /// Depends on the tool.
    pub async fn call(&self, cx: &Context, call: &ToolCall) -> Result<String, ToolError> {
        let made = self.make(cx, call);
        #[cfg(feature = "tracing")]
        let made = tracing::Instrument::instrument(
            made,
            tracing::info_span!(
                "execute_tool",
                "gen_ai.operation.name" = "execute_tool",
                "gen_ai.tool.name" = call.name,
                "gen_ai.tool.call.id" = call.id,
            ),
        );
        made.await
    }

    /// Checks that a call can be made: the tool exists, and its arguments fit, as far as the tool
    /// can [tell](Tool::check). The tool is not called.
    ///
    /// # Errors
    /// The tool does not exist, or its arguments do not fit.
    pub fn check(&self, cx: &Context, call: &ToolCall) -> Result<(), ToolError> {
        let (tool, arguments) = self.found(call)?;
        tool.check(cx, &arguments)
    }

    async fn make(&self, cx: &Context, call: &ToolCall) -> Result<String, ToolError> {
        let (tool, arguments) = self.found(call)?;
        tool.call(cx, arguments).await
    }

    /// The tool that is called, and its arguments.
    fn found(&self, call: &ToolCall) -> Result<(&dyn Tool, Map<String, Value>), ToolError> {
        let Some(tool) = self.get(&call.name) else {
            return Err(ToolError::Unknown {
                name: call.name.clone(),
                known: self.names().map(str::to_owned).collect(),
            });
        };
        let arguments = call.parse().map_err(|error| ToolError::NotAnObject {
            reason: error.to_string(),
        })?;
        Ok((tool, arguments))
    }
}

/// The error for two sets with a tool of the same name, which a model could not tell apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("both sets of tools have one with the name `{name}`")]
#[non_exhaustive]
pub struct SameName {
    /// The name.
    pub name: String,
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A tool type with a default value, used if `tools!` gets no value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default, and so the tool needs a value",
    label = "write `= …` behind it, with a value",
    note = "as in `tools![Refund = Refund {{ client }}]`; or implement `Default` for `{Self}`"
)]
pub trait DefaultTool: Sized {
    /// The default value.
    fn value() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> DefaultTool for T {
    fn value() -> T {
        T::default()
    }
}

/// Support for code that `tools!` generates. Not part of the public interface.
pub mod private {
    pub use flow_runtime::Flow;
    pub use flow_runtime::engine::{Step, Visit};

    pub use super::DefaultTool;
    pub use super::arguments::{
        Arguments, Key, Parameter, optional_argument, parameter, required_argument,
    };
    pub use super::flow::FlowTool;
    pub use super::node::NodeTool;
    pub use super::result::{Written, nothing_returned, result_of, write};

    /// The default of a node or a flow.
    pub fn default_of<T: DefaultTool>() -> T {
        T::value()
    }

    /// A placeholder for the parts of a call, in code that never runs.
    pub fn nothing<V: 'static>() -> (&'static V, Visit<'static>, Arguments) {
        unreachable!("only code that never runs calls this")
    }

    /// A placeholder for the input of a flow, in code that never runs.
    pub fn no_input<F: Flow>() -> F::Input {
        unreachable!("only code that never runs calls this")
    }
}
