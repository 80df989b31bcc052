//! Events, and the envelope in which they leave the program.

use std::sync::Arc;
use std::time::Duration;

use flow_store::{ExecutionId, Record, RecordKind};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::clock::millis;
use crate::deltas::DeltaContent;
use crate::entry::Payload;
use crate::values::NodeValues;
use flow_runtime::engine::NodePath;

/// Something that happened in an execution, as [`Events`](super::Events) reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExecutionEvent {
    /// A journal has grown by a record.
    Recorded(RecordedEvent),
    /// A node emitted a part of its result.
    Delta(DeltaEvent),
    /// The subscriber was too slow, and some deltas are lost.
    Missed(MissedDeltas),
}

/// A record of a journal, with facts derived from the records before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// The position among the records of all executions, including those of other owners: see
    /// [`EventFilter::from_offset`](crate::EventFilter::from_offset).
    pub offset: u64,
    /// The execution.
    pub execution: ExecutionId,
    /// The function, type or flow of the node; for a record about a whole flow, that flow.
    pub node_type: Arc<str>,
    /// The record.
    pub record: Record,
    /// The number of attempts, including the first, for an outcome or a failure after the last
    /// attempt. Attempts that a crash interrupted do not count, nor do fallbacks.
    pub attempts: Option<u32>,
    /// The time since the node was reached, for an outcome, a failure after the last attempt or an
    /// action taken. It includes the pauses between attempts and the time in which no process had
    /// the execution.
    pub duration: Option<Duration>,
    /// The values that the node read or wrote, if the subscriber asked for them
    /// ([`EventFilter::values`](crate::EventFilter::values)).
    pub values: Option<Box<NodeValues>>,
}

/// A part of a node's result ([`Context::emit`](flow_runtime::Context::emit)). It is not stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeltaEvent {
    /// The execution.
    pub execution: ExecutionId,
    /// The function or type of the node.
    pub node_type: Arc<str>,
    /// The path of the node.
    pub path: String,
    /// The step: see [`Record::step`].
    pub step: String,
    /// The number of the visit to the node within the flow, fork or loop around it, from 1.
    pub visit: u32,
    /// Its number within the attempt, from 0.
    pub index: u64,
    /// The `seq` of the record that comes after it.
    pub next_seq: u64,
    /// The time at which it was emitted, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// The emitted content.
    pub content: DeltaContent,
}

/// Deltas that were dropped because the subscriber was slow.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissedDeltas {
    /// The number of dropped deltas that the filter allows.
    pub deltas: u64,
    /// The time at which the loss was noticed, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
}

impl ExecutionEvent {
    /// The execution in which it happened. `None` for missed deltas.
    pub fn execution(&self) -> Option<ExecutionId> {
        match self {
            ExecutionEvent::Recorded(event) => Some(event.execution),
            ExecutionEvent::Delta(event) => Some(event.execution),
            ExecutionEvent::Missed(_) => None,
        }
    }

    /// The path of the node, or of the flow.
    pub fn path(&self) -> Option<&str> {
        match self {
            ExecutionEvent::Recorded(event) => Some(&event.record.path),
            ExecutionEvent::Delta(event) => Some(&event.path),
            ExecutionEvent::Missed(_) => None,
        }
    }

    /// The record, if the event is one.
    pub fn record(&self) -> Option<&Record> {
        match self {
            ExecutionEvent::Recorded(event) => Some(&event.record),
            _ => None,
        }
    }

    /// The text, if the event is a delta with a text.
    pub fn delta(&self) -> Option<&str> {
        match self {
            ExecutionEvent::Delta(DeltaEvent {
                content: DeltaContent::Text(text),
                ..
            }) => Some(text),
            _ => None,
        }
    }

    /// A UUID of version 8, made from the content of the event. Every subscriber gets the same id
    /// for the same event, even if it is read again. Only [`Missed`](ExecutionEvent::Missed), which
    /// belongs to a single subscriber, has a new random id each time.
    pub fn id(&self) -> Uuid {
        let digest = match self {
            ExecutionEvent::Recorded(event) => Sha256::new()
                .chain_update(event.execution.as_uuid())
                .chain_update(event.record.seq.to_be_bytes()),
            ExecutionEvent::Delta(event) => Sha256::new()
                .chain_update(event.execution.as_uuid())
                .chain_update(event.next_seq.to_be_bytes())
                .chain_update(event.index.to_be_bytes())
                .chain_update(event.step.len().to_be_bytes())
                .chain_update(&event.step)
                .chain_update(event.content.to_json().to_string()),
            ExecutionEvent::Missed(_) => return Uuid::new_v4(),
        };
        let mut bytes = [0; 16];
        bytes
            .iter_mut()
            .zip(digest.finalize())
            .for_each(|(to, from)| *to = from);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// The event as JSON, with the data that a journal has for it.
    ///
    /// | field | |
    /// | --- | --- |
    /// | `id` | the [`id`](ExecutionEvent::id) |
    /// | `timestamp` | milliseconds since 1970 (UTC) |
    /// | `sourceNode` | the function, type or flow of the node |
    /// | `nodeId` | the node's name in its flow |
    /// | `namespace` | the node's path |
    /// | `runId` | the id of the execution |
    /// | `step` | the [`step`](Record::step), which no other step of the execution has |
    /// | `visit`, `item` | the number of the visit to the node, from 1, and the index of the item, if there is one |
    /// | `seq` | the number of the record in its journal; deltas have none |
    /// | `offset` | where a stream can continue after it; deltas have none |
    /// | `type`, `payload` | what happened |
    ///
    /// | `type` | records | `payload` |
    /// | --- | --- | --- |
    /// | `node_start` | `node_started` | `nodeName`, `nodeId`, `namespace`; `params`, `reads`, and of a loop `items` |
    /// | `exec_complete` | `outcome` | `execResult`, `attempts`, `durationMs` |
    /// | `node_end` | `node_finished` | `action`, `durationMs`; `writes` |
    /// | `error` | `attempt_failed` | `phase` (`"exec"`), `record`, `error`, `attempt` (from 0) |
    /// | `error` | `node_failed` | `phase` (`"prep"`, `"exec"` or `"post"`), `record`, `error`, `causes`, `attempts`, `durationMs` |
    /// | `error` | `flow_failed` | `phase` (`"exec"`), `record`, `error`, `durationMs` |
    /// | `error` | `timed_out` | `phase` (`"exec"`), `record`, `error`, `attempt` |
    /// | `error` | `run_failed` | `phase` (`"run"`), `record`, `error` |
    /// | `stream_chunk` | none: a delta | `chunk`: a text, or any JSON; `index` |
    /// | `custom` | none: progress | `type`: `progress`; `data`: `done`, `of`, `index` |
    /// | `custom` | all others, and missed deltas | `type`: the kind of the record, or `missed`; `data` |
    ///
    /// A node's `prep`, `exec` and `post` are one step, recorded as a whole, so `prep_complete`
    /// does not exist. `params`, `reads`, `items` (the number of a loop's items) and `writes` are
    /// present if the subscriber asks for them
    /// ([`EventFilter::values`](crate::EventFilter::values)). Each access has the `key` and the
    /// `value`: a `summary`, `"missing"` or `"unknown"`. If a node inside a flow, a fork or a loop
    /// fails, its error comes first. The error of each flow, fork and loop around it follows.
    /// Errors are stored as texts: they have no `stack`, but the texts of their causes. Only the
    /// `exec_complete` after it shows which delta is the last one. `durationMs` and `attempts` are
    /// omitted if the records from which they are derived have been pruned.
    pub fn to_json(&self) -> Value {
        let mut envelope = json!({
            "id": self.id().to_string(),
            "type": self.event_type(),
            "payload": self.payload(),
        });
        let mut set = |field: &str, value: Value| {
            envelope[field] = value;
        };
        match self {
            ExecutionEvent::Recorded(event) => {
                set("timestamp", event.record.at_ms.into());
                set("sourceNode", (*event.node_type).into());
                if let Some(item) = event.record.item {
                    set("item", item.into());
                }
                set("step", event.record.step.as_str().into());
                set("visit", event.record.visit.into());
                set("seq", event.record.seq.into());
                set("offset", event.offset.into());
            }
            ExecutionEvent::Delta(event) => {
                set("timestamp", event.at_ms.into());
                set("sourceNode", (*event.node_type).into());
                set("step", event.step.as_str().into());
                set("visit", event.visit.into());
            }
            ExecutionEvent::Missed(event) => set("timestamp", event.at_ms.into()),
        }
        if let (Some(execution), Some(path)) = (self.execution(), self.path()) {
            set("nodeId", NodePath::new(path).node().into());
            set("namespace", path.into());
            set("runId", execution.to_string().into());
        }
        envelope
    }

    /// The `type` of the envelope: see [`to_json`](ExecutionEvent::to_json).
    pub fn event_type(&self) -> &'static str {
        match self {
            ExecutionEvent::Recorded(event) => event.event_type(),
            ExecutionEvent::Delta(event) => match event.content {
                DeltaContent::Text(_) | DeltaContent::Value(_) => "stream_chunk",
                DeltaContent::Progress { .. } => "custom",
            },
            ExecutionEvent::Missed(_) => "custom",
        }
    }

    /// The `payload` of its envelope.
    fn payload(&self) -> Value {
        match self {
            ExecutionEvent::Recorded(event) => event.payload(),
            ExecutionEvent::Delta(event) => {
                let mut content = event.content.to_json();
                match event.content {
                    DeltaContent::Text(_) | DeltaContent::Value(_) => {
                        json!({ "chunk": content, "index": event.index })
                    }
                    DeltaContent::Progress { .. } => {
                        content["index"] = event.index.into();
                        json!({ "type": "progress", "data": content })
                    }
                }
            }
            ExecutionEvent::Missed(event) => {
                json!({ "type": "missed", "data": { "deltas": event.deltas } })
            }
        }
    }
}

impl RecordedEvent {
    fn event_type(&self) -> &'static str {
        match self.record.kind {
            RecordKind::NodeStarted => "node_start",
            RecordKind::Outcome => "exec_complete",
            RecordKind::NodeFinished => "node_end",
            RecordKind::AttemptFailed
            | RecordKind::TimedOut
            | RecordKind::NodeFailed
            | RecordKind::FlowFailed
            | RecordKind::RunFailed => "error",
            _ => "custom",
        }
    }

    fn payload(&self) -> Value {
        let record = &self.record;
        let data = Payload::of(self.execution, record);
        let mut payload = match record.kind {
            RecordKind::NodeStarted => json!({
                "nodeName": *self.node_type,
                "nodeId": NodePath::new(&record.path).node(),
                "namespace": record.path,
            }),
            RecordKind::Outcome => json!({ "execResult": data.shown() }),
            RecordKind::NodeFinished => json!({ "action": record.payload }),
            RecordKind::AttemptFailed => {
                json!({ "phase": "exec", "error": record.payload, "attempt": record.attempt })
            }
            RecordKind::TimedOut => {
                json!({ "phase": "exec", "error": "timed out", "attempt": record.attempt })
            }
            RecordKind::NodeFailed => failure(data, record),
            RecordKind::FlowFailed => json!({ "phase": "exec", "error": record.payload }),
            RecordKind::RunFailed => json!({ "phase": "run", "error": record.payload }),
            kind => return json!({ "type": kind.as_str(), "data": data.shown() }),
        };
        if let Some(Ok(Value::Object(values))) = self.values.as_deref().map(serde_json::to_value)
            && let Value::Object(payload) = &mut payload
        {
            payload.extend(values);
        }
        if self.event_type() == "error" {
            payload["record"] = record.kind.as_str().into();
        }
        if let Some(attempts) = self.attempts {
            payload["attempts"] = attempts.into();
        }
        if let Some(duration) = self.duration {
            payload["durationMs"] = millis(duration).into();
        }
        payload
    }
}

fn failure(payload: Payload<'_>, record: &Record) -> Value {
    // The stream has an error behind the event.
    let Ok(failed) = payload.error() else {
        return json!({ "error": record.payload });
    };
    let mut causes = Vec::new();
    let mut next = failed.error().source();
    while let Some(cause) = next {
        causes.push(cause.to_string());
        next = cause.source();
    }
    json!({
        "phase": failed.phase().as_str(),
        "error": failed.error().to_string(),
        "causes": causes,
    })
}
