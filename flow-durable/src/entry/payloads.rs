//! The payloads of records that are objects.

use std::collections::BTreeMap;

use flow_store::ExecutionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The payload of a [`RunCopied`](flow_store::RecordKind::RunCopied) record.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Copied {
    /// The execution that was copied.
    pub(crate) execution: ExecutionId,
    /// The number of its last record that was copied.
    pub(crate) seq: u64,
    /// The values with which the copy continues instead of those of the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Map<String, Value>>,
}

/// The payload of a [`RunRetried`](flow_store::RecordKind::RunRetried) record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Retried {
    /// The numbers of the records that do not count any more, in order.
    pub(crate) dropped: Vec<u64>,
    /// For how long the execution stood still, in milliseconds.
    pub(crate) later_ms: u64,
    /// The numbers of the records with which steps began that failed, and attempts at flows that
    /// took too long, in order. They have their whole time again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) begun_again: Vec<u64>,
}

/// The recorded outcome of a question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) timed_out: bool,
}

/// The recorded question. It does not contain the token, because not everyone who may read a
/// journal may answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    pub(crate) prompt: String,
    pub(crate) expected: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_ms: Option<u64>,
    /// The JSON Schema of the answer, so that the question can be asked again without the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<Value>,
    /// The reason the previous answer was refused. It was accepted by a process without the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<String>,
}

/// The signal for which a node waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Awaited {
    /// Its name.
    pub(crate) signal: String,
    /// The end of the wait, in milliseconds since 1970 (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_ms: Option<u64>,
}

/// The recorded outcome of the wait for a signal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Received {
    /// The signal. `None` if none came in time; `null` is a signal as well.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "present")]
    pub(crate) body: Option<Value>,
    /// The number of the signal within the execution: see
    /// [`SignalRow::number`](flow_store::SignalRow::number).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<u64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) timed_out: bool,
}

/// A value that is there if its field is, also if it is `null`.
mod present {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Value>, D::Error> {
        Value::deserialize(deserializer).map(Some)
    }
}

/// The number of visits to each node of a flow, by name.
pub(crate) type Visits = BTreeMap<String, u32>;

/// The state of a flow before one of its nodes, from which a recovery begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// The namespace of the flow.
    pub(crate) namespace: String,
    /// The node.
    pub(crate) node: String,
    /// The values by key.
    pub(crate) state: Map<String, Value>,
    /// The input of the run.
    pub(crate) input: Map<String, Value>,
    /// The number of visits to each node of the outermost flow.
    pub(crate) visits: Visits,
    /// The number of steps counted so far.
    pub(crate) steps: u64,
    /// The visits that can be undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) undoable: Vec<UndoableVisit>,
}

/// A visit that can be undone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UndoableVisit {
    /// Visits with greater numbers are undone first.
    pub(crate) number: u64,
    pub(crate) path: String,
    pub(crate) step: String,
    pub(crate) visit: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) item: Option<u32>,
    /// The values that the undo node reads.
    pub(crate) values: Map<String, Value>,
}
