//! The bodies of answers.

use std::time::{SystemTime, UNIX_EPOCH};

use flow_durable::{
    Durable, Execution, ExecutionId, ExecutionState, KeyWrite, OpenQuestion, Payload, Record,
    UndoableStep, UntakenSignal,
};
use flow_runtime::engine::AnyFlow;
use flow_spec::{FlowDocument, node_path};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::problem::Problem;

/// A flow that can be started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FlowView {
    /// The name to start it by.
    name: String,
    /// The first segments of the paths of its nodes.
    namespace: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// The JSON Schema of its input.
    #[schema(value_type = Object)]
    inputs: Value,
    /// The JSON Schema of its output.
    #[schema(value_type = Object)]
    outputs: Value,
    /// The signals that its executions take.
    signals: Vec<AcceptedSignalView>,
}

impl FlowView {
    /// Creates the view of a flow with this structure.
    pub(crate) fn of(flow: &dyn AnyFlow<Durable>, structure: &Value) -> Self {
        let text = |field: &str| structure[field].as_str().map(str::to_owned);
        let schema = |field: &str| match &structure[field] {
            Value::Object(schema) => Value::Object(with_known_types(schema.clone())),
            _ => json!({ "type": "object" }),
        };
        FlowView {
            name: text("name").unwrap_or_default(),
            namespace: text("namespace").unwrap_or_default(),
            description: text("description"),
            inputs: schema("inputs"),
            outputs: schema("outputs"),
            signals: AcceptedSignalView::of(flow.structure(), Some(flow)),
        }
    }
}

/// Adds what the spelling of a Rust type tells to properties that have only a Rust type, as the
/// inputs and outputs of a flow written by hand do.
fn with_known_types(mut schema: Map<String, Value>) -> Map<String, Value> {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    let properties = properties.into_iter().flat_map(Map::values_mut);
    for property in properties.filter_map(Value::as_object_mut) {
        const PLAIN: [&str; 4] = ["rustType", "description", "default", "defaultOmitted"];
        if !property.keys().all(|key| PLAIN.contains(&key.as_str())) {
            continue;
        }
        if let Some(rust_type) = property.get("rustType").and_then(Value::as_str) {
            let known = flow_spec::property(rust_type, None);
            property.extend(known);
        }
    }
    schema
}

#[cfg(feature = "mcp")]
impl FlowView {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    pub(crate) fn inputs(&self) -> &Value {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &Value {
        &self.outputs
    }

    pub(crate) fn signals(&self) -> &[AcceptedSignalView] {
        &self.signals
    }
}

/// The flows that can be started.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FlowsView {
    pub(crate) flows: Vec<FlowView>,
}

/// An execution. Times are in milliseconds since 1970 (UTC).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionView {
    /// The id, a UUID.
    id: String,
    /// The name of the flow.
    flow: String,
    /// `queued`, `running`, `paused`, `cancelling`, `completed`, `failed` or `cancelled`. One that is
    /// `cancelling` was cancelled, and is undone before it ends.
    status: String,
    /// The owner, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// The idempotency key. A repeated start with it returns this execution.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
    /// The priority in the queue. Missing if it is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    /// The earliest time to begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before_ms: Option<u64>,
    /// The time at which it resumes, if it is paused until a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    continues_at_ms: Option<u64>,
    /// The key that limits concurrent executions.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency_key: Option<String>,
    /// The maximum number of executions with its key in progress when it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency_at_most: Option<u32>,
    created_at_ms: u64,
    /// The time of the last change of its journal.
    updated_at_ms: u64,
    /// The number of records in its journal.
    records: u64,
    /// The execution that it was copied from.
    #[serde(skip_serializing_if = "Option::is_none")]
    copied_from: Option<String>,
    /// The execution with the loop, if this one runs a part of the loop's items.
    #[serde(skip_serializing_if = "Option::is_none")]
    part_of: Option<String>,
    /// The reason why it failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The output by key, with the label of the end as `end`. Only if completed, and not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    output: Option<Value>,
    /// The reason why it is halted and does not resume by itself, or why this server cannot
    /// continue it, if a request waited for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    halted: Option<String>,
}

impl ExecutionView {
    /// Creates the view without the output.
    pub(crate) fn listed(execution: &Execution) -> Self {
        let concurrency = execution.concurrency_key();
        ExecutionView {
            id: execution.id().to_string(),
            flow: execution.flow().to_owned(),
            status: execution.status().as_str().to_owned(),
            owner: execution.owner().map(str::to_owned),
            idempotency_key: execution.idempotency_key().map(str::to_owned),
            priority: Some(execution.priority()).filter(|priority| *priority != 0),
            not_before_ms: execution.not_before().map(millis),
            continues_at_ms: execution.continues_at().map(millis),
            concurrency_key: concurrency.map(|(key, _)| key.to_owned()),
            concurrency_at_most: concurrency.map(|(_, at_most)| at_most),
            created_at_ms: millis(execution.created_at()),
            updated_at_ms: millis(execution.updated_at()),
            records: execution.record_count(),
            copied_from: execution.copied_from().map(|id| id.to_string()),
            part_of: execution.part_of().map(|id| id.to_string()),
            reason: execution.reason().map(str::to_owned),
            output: None,
            halted: execution.halted().map(str::to_owned),
        }
    }

    pub(crate) fn of(execution: &Execution) -> Result<Self, Problem> {
        Ok(ExecutionView {
            output: execution.output_json()?,
            ..ExecutionView::listed(execution)
        })
    }

    pub(crate) fn halted(mut self, reason: String) -> Self {
        self.halted.get_or_insert(reason);
        self
    }
}

/// A page of executions, the newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionsView {
    pub(crate) executions: Vec<ExecutionView>,
    /// The `before` of the next page. Missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// The number of executions that cannot be read, because their stored data is damaged.
    pub(crate) damaged: usize,
}

/// A record of a journal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordView {
    /// Its number within the execution, from 0.
    seq: u64,
    /// The time of the record, in milliseconds since 1970 (UTC).
    at_ms: u64,
    /// The kind of the record, such as `node_started`.
    kind: String,
    /// The path of the node.
    path: String,
    /// The name of the step, unique in the execution.
    step: String,
    /// The number of the visit to the node, from 1; 0 for a record about the whole execution.
    visit: u32,
    /// The index of the item, in a loop over items.
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<u32>,
    /// The index of the attempt, from 0.
    attempt: u32,
    /// Further data of the record. A text that is not JSON is a string.
    #[schema(value_type = Value)]
    data: Value,
}

impl RecordView {
    pub(crate) fn of(execution: ExecutionId, record: Record) -> Self {
        let data = Payload::of(execution, &record).shown();
        RecordView {
            seq: record.seq,
            at_ms: record.at_ms,
            kind: record.kind.as_str().to_owned(),
            path: record.path,
            step: record.step,
            visit: record.visit,
            item: record.item,
            attempt: record.attempt,
            data,
        }
    }
}

/// A part of a journal.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JournalView {
    pub(crate) records: Vec<RecordView>,
    /// The `from` of the next part. Missing if this part has the newest record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<u64>,
}

/// The values of an execution after one of its records.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateView {
    /// The number of the record.
    seq: u64,
    /// The values by key of each running flow, by its path.
    #[schema(value_type = Object)]
    flows: Value,
    /// The paths of the running nodes.
    under_way: Vec<String>,
}

impl StateView {
    pub(crate) fn of(state: &ExecutionState) -> Self {
        let flows: Map<String, Value> = state
            .flows
            .iter()
            .map(|(path, values)| (path.clone(), Value::Object(values.clone())))
            .collect();
        StateView {
            seq: state.seq,
            flows: Value::Object(flows),
            under_way: state.under_way.clone(),
        }
    }
}

/// The nodes that wrote the values of an execution.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WritesView {
    /// The writes in order.
    #[schema(value_type = Vec<Object>)]
    pub(crate) writes: Vec<KeyWrite>,
}

/// The steps of an execution that are done and not undone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UndoableView {
    /// The steps, in the order in which they are undone.
    pub(crate) steps: Vec<UndoableStepView>,
}

/// A step that is done and not undone.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UndoableStepView {
    /// The path of the node.
    path: String,
    /// The name of the step, unique in the execution.
    step: String,
    /// The number of the visit to the node, from 1.
    visit: u32,
    /// The index of the item, in a loop over items.
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<u32>,
}

impl UndoableStepView {
    pub(crate) fn of(step: &UndoableStep) -> Self {
        UndoableStepView {
            path: step.path().to_owned(),
            step: step.step().to_owned(),
            visit: step.visit(),
            item: step.item(),
        }
    }
}

/// A question that waits for an answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionView {
    /// The token to answer with. Everyone who has it and may see the execution can answer.
    token: String,
    /// The execution that asks.
    execution: String,
    /// The path of the node that asks.
    path: String,
    /// The step that asks.
    step: String,
    /// The question.
    prompt: String,
    /// The type of the answer, as written in Rust.
    expected: String,
    /// The JSON Schema of the answer, if its form is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    schema: Option<Value>,
    asked_at_ms: u64,
    /// The time after which it can no longer be answered, if there is a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at_ms: Option<u64>,
}

impl QuestionView {
    pub(crate) fn of(question: &OpenQuestion) -> Self {
        QuestionView {
            token: question.token().to_string(),
            execution: question.execution().to_string(),
            path: question.path().to_owned(),
            step: question.step().to_owned(),
            prompt: question.prompt().to_owned(),
            expected: question.expected().to_owned(),
            schema: question.schema(),
            asked_at_ms: millis(question.asked_at()),
            expires_at_ms: question.expires_at().map(millis),
        }
    }
}

/// Open questions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct QuestionsView {
    pub(crate) questions: Vec<QuestionView>,
    /// The `before` of the next page. Missing on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A signal that an execution takes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AcceptedSignalView {
    /// The name to send it by.
    pub(crate) name: String,
    /// The JSON Schema of its body, if its form is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) schema: Option<Value>,
}

impl AcceptedSignalView {
    /// Returns the signals for which the steps of a flow wait, each once. The flow itself knows
    /// their schemas. None if the structure cannot be read.
    pub(crate) fn of(structure: &str, flow: Option<&dyn AnyFlow<Durable>>) -> Vec<Self> {
        let Ok(document) = FlowDocument::parse_spec(structure) else {
            return Vec::new();
        };
        let mut accepted: Vec<Self> = Vec::new();
        for signal in document.signals() {
            if accepted.iter().any(|known| known.name == signal.name) {
                continue;
            }
            let of_node = |flow: &dyn AnyFlow<Durable>| {
                flow.external(&node_path(flow.namespace(), &signal.path))
            };
            accepted.push(AcceptedSignalView {
                name: signal.name.to_owned(),
                schema: flow.and_then(of_node).and_then(|of| of.schema()),
            });
        }
        accepted
    }
}

/// A signal that was sent to an execution and that no step has taken.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignalView {
    /// Its number within the execution, from 1.
    number: u64,
    /// The name.
    name: String,
    /// The body.
    #[schema(value_type = Value)]
    body: Value,
    sent_at_ms: u64,
    /// The idempotency key, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
}

impl SignalView {
    pub(crate) fn of(signal: &UntakenSignal) -> Self {
        let body = serde_json::from_str(signal.body());
        SignalView {
            number: signal.number(),
            name: signal.name().to_owned(),
            body: body.unwrap_or_else(|_| signal.body().into()),
            sent_at_ms: millis(signal.sent_at()),
            idempotency_key: signal.idempotency_key().map(str::to_owned),
        }
    }
}

/// The signals of an execution.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SignalsView {
    /// The signals that were sent and that no step has taken, in the order in which they were sent.
    pub(crate) signals: Vec<SignalView>,
    /// The signals for which steps of its flow wait.
    pub(crate) accepted: Vec<AcceptedSignalView>,
}

/// Past events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventsView {
    /// The events in the order in which they happened.
    #[schema(value_type = Vec<Object>)]
    pub(crate) events: Vec<Value>,
    /// The `after` for the events that follow.
    pub(crate) next: u64,
    /// `true` if no event will follow.
    pub(crate) over: bool,
}

/// A signed link.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LinkView {
    /// The value that a request sends as `?link=`.
    pub(crate) link: String,
}

/// An error answer of the type `application/problem+json`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProblemView {
    /// `urn:flow-server:` and the kind of the problem.
    r#type: String,
    /// The kind of the problem, for people.
    title: String,
    /// The HTTP status.
    status: u16,
    /// A message about this request.
    detail: String,
    /// For `input`: all problems, each with `code`, `path`, `pointer` and `message`. For `values`:
    /// the problems as texts.
    #[schema(nullable = false)]
    errors: Option<Vec<Value>>,
    /// For `over`: the status of the execution.
    #[schema(nullable = false)]
    execution_status: Option<String>,
    /// For `idempotency-key`: the execution that was started with it.
    #[schema(nullable = false)]
    execution: Option<String>,
    /// For `ambiguous-id`: the newest executions whose ids begin with these digits.
    #[schema(nullable = false)]
    executions: Option<Vec<String>>,
    /// For `flow-not-registered`: the flow.
    #[schema(nullable = false)]
    flow: Option<String>,
    /// For `flow-changed`: the changes.
    #[schema(nullable = false)]
    changes: Option<Vec<String>>,
    /// For `wrong-type`: the type of the answer or of the signal, as written in Rust.
    #[schema(nullable = false)]
    expected: Option<String>,
    /// For `unknown-signal`: the names of the signals that the execution takes.
    #[schema(nullable = false)]
    signals: Option<Vec<String>>,
    /// For `too-many-requests`: the seconds to wait before a retry.
    #[schema(nullable = false)]
    retry_after: Option<u64>,
}

/// Returns the milliseconds since 1970 (UTC).
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
