//! A node as a tool.

use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use flow_runtime::engine::{Failed, FlowInfo, Run, Scope, Visit, panic_message};
use flow_runtime::{Context, FlowError, Policy};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::arguments::{Arguments, Parameter};
use super::description::for_models;
use super::schema::schema_of;
use crate::model::ToolDefinition;
use crate::tool::{Tool, ToolError, chain};

/// The call of a node that is a `V`.
pub(crate) type Call<V> =
    for<'a> fn(&'a V, Visit<'a>, Arguments) -> BoxFuture<'a, Result<String, ToolError>>;

/// A node as a tool, made by `tools!`.
pub struct NodeTool<V> {
    definition: ToolDefinition,
    value: V,
    policy: &'static Policy,
    call: Call<V>,
}

impl<V: Send + Sync> NodeTool<V> {
    /// Creates a tool from a node with this value, its own settings and its call.
    pub fn new(
        name: &str,
        description: &str,
        parameters: Vec<Parameter>,
        policy: &'static Policy,
        value: V,
        call: Call<V>,
    ) -> Self {
        NodeTool {
            definition: ToolDefinition::new(name, for_models(description), schema_of(&parameters)),
            value,
            policy,
            call,
        }
    }

    async fn called(&self, cx: &Context, arguments: Arguments) -> Result<String, ToolError> {
        let run = Run::within(cx);
        let nodes = vec![self.definition.name.clone()];
        let flow = FlowInfo::new(cx.namespace().to_owned(), nodes);
        let scope = Scope::root(&run, &flow);
        scope.frame().enter(0);
        scope.frame().set_visit(1);
        let visit = Visit::new(&scope, self.policy);
        let call = (self.call)(&self.value, visit, arguments);
        // A model may send anything, so a panic ends the call, not the run.
        let result = AssertUnwindSafe(call).catch_unwind().await;
        scope.leave();
        result.unwrap_or_else(|panic| Err(panicked(&panic_message(&*panic))))
    }
}

#[async_trait]
impl<V: Send + Sync> Tool for NodeTool<V> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn check(&self, cx: &Context, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let arguments = Arguments::only_checked(arguments.clone());
        match self.called(cx, arguments).now_or_never() {
            Some(Err(ToolError::Arguments { wrong })) if wrong.is_empty() => Ok(()),
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => unreachable!("the node is not called"),
        }
    }

    async fn call(&self, cx: &Context, arguments: Map<String, Value>) -> Result<String, ToolError> {
        self.called(cx, Arguments::new(arguments)).await
    }
}

fn panicked(message: &str) -> ToolError {
    ToolError::failed(format!("the tool panicked: {message}"))
}

/// The model reads the reason of a failed step, not its place in the program.
impl From<Failed> for ToolError {
    fn from(failed: Failed) -> ToolError {
        match *failed {
            FlowError::Node(error) => ToolError::failed(chain(error.error())),
            FlowError::Panicked { message, .. } => panicked(&message),
            FlowError::StepLimit { limit, .. } => {
                ToolError::failed(format!("it took more than {limit} steps"))
            }
            FlowError::Cancelled { .. } => ToolError::failed("it was cancelled"),
            other => ToolError::failed(other),
        }
    }
}
