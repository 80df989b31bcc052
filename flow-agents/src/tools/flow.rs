//! A flow as a tool.

use async_trait::async_trait;
use flow_runtime::engine::{
    AnyFlow, Direct, InputError, RefusedInput, RunError, Saved, accepted_input, run_any,
};
use flow_runtime::{Context, Unattended};
use serde_json::{Map, Value};

use super::arguments::Parameter;
use super::description::for_models;
use super::result::text_of;
use super::schema::schema_of;
use crate::model::ToolDefinition;
use crate::tool::{Tool, ToolError};

/// The key of the output for the label of the end.
const END: &str = "end";

/// A flow that needs only its input. Implemented by all such flows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool: it asks people, opens transactions, or waits for signals, which a tool cannot",
    label = "needs more than its input",
    note = "ask, and wait for signals, in the flow around the agent; whether a tool is called, `ApprovedAgent` asks"
)]
pub trait RunsAlone {}

#[diagnostic::do_not_recommend]
impl<F: Unattended> RunsAlone for F {}

/// A flow as a tool, made by `tools!`.
pub struct FlowTool<F> {
    definition: ToolDefinition,
    flow: F,
    /// True if the result contains the end that the flow has reached.
    tells_end: bool,
}

impl<F: AnyFlow<Direct> + RunsAlone> FlowTool<F> {
    /// Creates a tool from a flow with these inputs, and with one or several ends.
    pub fn new(
        name: &str,
        description: &str,
        inputs: Vec<Parameter>,
        tells_end: bool,
        flow: F,
    ) -> Self {
        FlowTool {
            definition: ToolDefinition::new(name, for_models(description), schema_of(&inputs)),
            flow,
            tells_end,
        }
    }
}

#[async_trait]
impl<F: AnyFlow<Direct>> Tool for FlowTool<F> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn check(&self, _: &Context, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        match accepted_input::<Direct>(&self.flow, arguments.clone().into()) {
            Err(RefusedInput::Input(error)) => Err(unfit(&error)),
            // A value that no store accepts may still be valid.
            Ok(_) | Err(RefusedInput::Unstorable(_)) => Ok(()),
        }
    }

    async fn call(&self, cx: &Context, arguments: Map<String, Value>) -> Result<String, ToolError> {
        let Some(input) = Saved::from_json(arguments.into()) else {
            unreachable!("the arguments are a JSON object, and an input is one");
        };
        let output = run_any(&self.flow, &Direct::within(cx), input).await?;
        let mut output = match output.into_json() {
            Value::Object(output) => output,
            other => return text_of(other),
        };
        if self.tells_end {
            return text_of(output.into());
        }
        output.remove(END);
        if output.is_empty() {
            return super::result::nothing_returned();
        }
        let only = (output.len() == 1).then(|| output.values_mut().next().map(Value::take));
        text_of(only.flatten().unwrap_or_else(|| output.into()))
    }
}

fn unfit(error: &InputError) -> ToolError {
    ToolError::Arguments {
        wrong: error.violations().iter().map(ToString::to_string).collect(),
    }
}

impl From<RunError> for ToolError {
    fn from(error: RunError) -> ToolError {
        match error {
            RunError::Failed(failed) => failed.into(),
            RunError::Input(error) => unfit(&error),
            RunError::Output(error) => ToolError::failed(error),
        }
    }
}
