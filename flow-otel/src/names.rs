//! The names of spans, attributes and metrics, in one table.
//!
//! Dashboards and alerts are built on them. So a name is neither renamed nor given another meaning
//! without a new [`VERSION`], which every span carries.

/// The version of this table, in the attribute [`NAMES_VERSION`].
pub const VERSION: i64 = 1;

/// The instrumentation scope of all spans and metrics.
pub const SCOPE: &str = "flow-otel";

/// The version of this table.
pub const NAMES_VERSION: &str = "flow.names.version";

/// The name of the flow, as its author wrote it.
pub const FLOW_NAME: &str = "flow.name";
/// The id of the execution of a durable run.
pub const EXECUTION_ID: &str = "flow.execution.id";
/// The owner of an execution.
pub const EXECUTION_OWNER: &str = "flow.execution.owner";
/// How a run ended: `completed`, `failed`, `cancelled`, or `dropped` for a plain run that somebody
/// stopped waiting for.
pub const STATUS: &str = "flow.status";
/// The label of the end that a run reached.
pub const END: &str = "flow.end";

/// The path of the node, with the indices of items: `report.summaries[3]`. The name of the span has
/// it without the indices, so that there are few names.
pub const NODE_PATH: &str = "flow.node.path";
/// The function, type or flow of the node.
pub const NODE_TYPE: &str = "flow.node.type";
/// The step, which no other step of the execution has.
pub const STEP: &str = "flow.step";
/// The number of the visit to the node, from 1.
pub const VISIT: &str = "flow.visit";
/// The index of the item for which the node ran, in a loop over items.
pub const ITEM: &str = "flow.item";
/// The action that the node took; `error` if it failed and an edge routed that.
pub const ACTION: &str = "flow.action";
/// How many attempts the node took, including the first.
pub const ATTEMPTS: &str = "flow.attempts";
/// The index of an attempt, from 0.
pub const ATTEMPT: &str = "flow.attempt";

/// The text of an error.
pub const ERROR_MESSAGE: &str = "error.message";

/// The span of one attempt, inside that of its node. A node that was done at the first attempt has
/// none: its own span is that of the attempt.
pub const ATTEMPT_SPAN: &str = "attempt";

/// An event in the span of a node: it asked a person.
pub const ASKED: &str = "flow.question.asked";
/// An event in the span of a node: an answer came, or none in time.
pub const ANSWERED: &str = "flow.question.answered";

/// Counts the runs that began, by [`FLOW_NAME`].
pub const RUNS_STARTED: &str = "flow.runs.started";
/// Counts the runs that ended, by [`FLOW_NAME`] and [`STATUS`].
pub const RUNS_ENDED: &str = "flow.runs.ended";
/// How long the runs took, in seconds, by [`FLOW_NAME`] and [`STATUS`].
pub const RUN_DURATION: &str = "flow.run.duration";
/// How long the visits to nodes took, in seconds, by [`FLOW_NAME`], `flow.node` and [`ACTION`]. Its
/// count is the number of steps.
pub const STEP_DURATION: &str = "flow.step.duration";
/// Counts the attempts that failed, by [`FLOW_NAME`] and [`NODE`].
pub const ATTEMPTS_FAILED: &str = "flow.attempts.failed";
/// Counts the attempts after the first, by [`FLOW_NAME`] and [`NODE`].
pub const RETRIES: &str = "flow.retries";
/// How many questions are open, by [`FLOW_NAME`] and [`NODE`].
pub const QUESTIONS_OPEN: &str = "flow.questions.open";
/// The path of a node without the indices of items, as an attribute of metrics.
pub const NODE: &str = "flow.node";

/// Names for agents, from the semantic conventions of OpenTelemetry for generative AI. The spans of
/// `tracing` that `flow_agents::Chat` opens have them; nodes that call models otherwise do the same,
/// so that their spans look like those of any other program. The spans of this crate do not have
/// them: what a model used is known to its node alone.
pub mod gen_ai {
    /// The version of the semantic conventions.
    pub const CONVENTIONS: &str = "1.37.0";
    /// `chat`, `embeddings`, `execute_tool` and so on.
    pub const OPERATION_NAME: &str = "gen_ai.operation.name";
    /// `anthropic`, `openai` and so on.
    pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
    /// The model that was asked for.
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    /// How much chance there is in the answer.
    pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
    /// The most tokens that the answer may have.
    pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
    /// The model that answered.
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    /// The number of tokens of the prompt.
    pub const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    /// The number of tokens of the answer.
    pub const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    /// The name of a tool that a model called.
    pub const TOOL_NAME: &str = "gen_ai.tool.name";
    /// The id of a call of a tool.
    pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
}
