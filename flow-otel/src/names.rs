//! The names of spans, attributes and metrics, in one table.
//!
//! Dashboards and alerts depend on them. So a name is never renamed, nor its meaning changed,
//! without a new [`VERSION`], which every span carries.

/// The version of this table, in the attribute [`NAMES_VERSION`].
pub const VERSION: i64 = 1;

/// The instrumentation scope of all spans and metrics.
pub const SCOPE: &str = "flow-otel";

/// The name of the attribute for [`VERSION`].
pub const NAMES_VERSION: &str = "flow.names.version";

/// The name of the flow, as its author wrote it.
pub const FLOW_NAME: &str = "flow.name";
/// The id of the execution of a durable run.
pub const EXECUTION_ID: &str = "flow.execution.id";
/// The owner of an execution.
pub const EXECUTION_OWNER: &str = "flow.execution.owner";
/// The status with which a run ended: `completed`, `failed` or `cancelled`, or `dropped` for a
/// plain run whose future was dropped.
pub const STATUS: &str = "flow.status";
/// The label of the end that a run reached.
pub const END: &str = "flow.end";

/// The path of the node, with the indices of items: `report.summaries[3]`. The name of the span
/// omits the indices, to keep the number of names small.
pub const NODE_PATH: &str = "flow.node.path";
/// The function, type or flow of the node.
pub const NODE_TYPE: &str = "flow.node.type";
/// The step, unique within the execution.
pub const STEP: &str = "flow.step";
/// The number of the visit to the node, from 1.
pub const VISIT: &str = "flow.visit";
/// The index of the item for which the node ran, in a loop over items.
pub const ITEM: &str = "flow.item";
/// The action that the node took: `error` if it failed and an edge routed the error.
pub const ACTION: &str = "flow.action";
/// True for a node that was dropped before it was done: in a branch of a race that was not the
/// first, beside a failure, or at the end of the run.
pub const DROPPED: &str = "flow.dropped";
/// True for the undo node of a visit, whose span has a link to that of the visit. Its name and its
/// path are those of the visit, with `!undo` at the end.
pub const UNDO: &str = "flow.undo";
/// The number of attempts that the node took, including the first.
pub const ATTEMPTS: &str = "flow.attempts";
/// The index of an attempt, from 0.
pub const ATTEMPT: &str = "flow.attempt";

/// The text of an error.
pub const ERROR_MESSAGE: &str = "error.message";

/// The span of one attempt, inside that of its node. A node that finished at the first attempt has
/// no such span: its own span is that of the attempt.
pub const ATTEMPT_SPAN: &str = "attempt";

/// The event of a question to a person, in the span of a node.
pub const ASKED: &str = "flow.question.asked";
/// The event of an answer or a timeout, in the span of a node.
pub const ANSWERED: &str = "flow.question.answered";
/// The event of the beginning of a wait for a signal, in the span of a node, with [`SIGNAL`].
pub const AWAITED: &str = "flow.signal.awaited";
/// The event of a signal that the node took, or of a timeout, in the span of a node. The body of the
/// signal is not exported.
pub const RECEIVED: &str = "flow.signal.received";
/// The name of a signal.
pub const SIGNAL: &str = "flow.signal.name";

/// Counts the started runs, by [`FLOW_NAME`].
pub const RUNS_STARTED: &str = "flow.runs.started";
/// Counts the ended runs, by [`FLOW_NAME`] and [`STATUS`].
pub const RUNS_ENDED: &str = "flow.runs.ended";
/// The duration of runs in seconds, by [`FLOW_NAME`] and [`STATUS`].
pub const RUN_DURATION: &str = "flow.run.duration";
/// The duration of visits to nodes in seconds, by [`FLOW_NAME`], `flow.node` and [`ACTION`], which
/// is `dropped` for a [`DROPPED`] node. Its count is the number of steps.
pub const STEP_DURATION: &str = "flow.step.duration";
/// Counts the failed attempts, by [`FLOW_NAME`] and [`NODE`].
pub const ATTEMPTS_FAILED: &str = "flow.attempts.failed";
/// Counts the attempts after the first, by [`FLOW_NAME`] and [`NODE`].
pub const RETRIES: &str = "flow.retries";
/// The number of open questions, by [`FLOW_NAME`] and [`NODE`].
pub const QUESTIONS_OPEN: &str = "flow.questions.open";
/// The number of steps that wait for signals, by [`FLOW_NAME`] and [`NODE`].
pub const SIGNALS_AWAITED: &str = "flow.signals.awaited";
/// The path of a node without the indices of items, as an attribute of metrics.
pub const NODE: &str = "flow.node";

/// Names for agents, from the semantic conventions of OpenTelemetry for generative AI. The
/// `tracing` spans of `flow_agents::Chat` have them. Nodes that call models in another way should
/// use them too, so that their spans look like those of any other program. The spans of this crate
/// do not have them: only the node knows what a model used.
pub mod gen_ai {
    /// The version of the semantic conventions.
    pub const CONVENTIONS: &str = "1.37.0";
    /// The operation: `chat`, `embeddings`, `execute_tool` and so on.
    pub const OPERATION_NAME: &str = "gen_ai.operation.name";
    /// The provider: `anthropic`, `openai` and so on.
    pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
    /// The requested model.
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    /// The sampling temperature.
    pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
    /// The maximum number of tokens of the answer.
    pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
    /// The model that answered.
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    /// The number of prompt tokens.
    pub const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    /// The number of answer tokens.
    pub const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    /// The name of a tool that a model called.
    pub const TOOL_NAME: &str = "gen_ai.tool.name";
    /// The id of a tool call.
    pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
}
