//! Records with what their payloads say: the one place that decodes payloads.
//!
//! An outcome can be large, and whoever follows a journal needs few of them. So an [`Entry`] knows
//! what its payload is, and decodes it only when it is read.

mod payloads;

use std::any::type_name;
use std::marker::PhantomData;

use flow_runtime::NodeError;
use flow_spec::short_name;
use flow_store::{ExecutionId, Record, RecordKind, is_blob_marker_of};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::error::RuntimeError;
use crate::parts::{Division, Part};
use crate::payload::{self, WITHOUT_BLOBS};

pub(crate) use payloads::{
    Answered, Asked, Awaited, Copied, Received, Retried, Snapshot, UndoableVisit, Visits,
};

/// A record, by its kind and with its payload as the type that the kind has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Entry<'a> {
    RunStarted(Json<'a, Map<String, Value>>),
    RunCopied(Json<'a, Copied>),
    RunRetried(Json<'a, Retried>),
    NodeStarted,
    AttemptFailed,
    GaveUp(Json<'a, NodeError>),
    Outcome(Json<'a, Value>),
    NodeFailed(Json<'a, NodeError>),
    /// The values that the undo node will read.
    Undoable(Json<'a, Map<String, Value>>),
    FlowFailed,
    /// The action.
    NodeFinished(&'a str),
    /// The time until which it waits, in milliseconds since 1970 (UTC).
    Waiting(Json<'a, u64>),
    TimedOut,
    Paused(Json<'a, Asked>),
    Resumed(Json<'a, Answered>),
    Awaiting(Json<'a, Awaited>),
    Received(Json<'a, Received>),
    Snapshot(Json<'a, Snapshot>),
    Spread(Json<'a, Division>),
    PartStarted(Json<'a, Part>),
    FlowEnded,
    /// The end of the execution.
    RunEnded,
    /// Any other record, which says nothing but its kind.
    Other,
}

impl<'a> Entry<'a> {
    /// The entry of a record of this execution.
    pub(crate) fn read(execution: ExecutionId, record: &'a Record) -> Self {
        let payload = Payload::of(execution, record);
        match record.kind {
            RecordKind::RunStarted => Entry::RunStarted(payload.json()),
            RecordKind::RunCopied => Entry::RunCopied(payload.json()),
            RecordKind::RunRetried => Entry::RunRetried(payload.json()),
            RecordKind::NodeStarted => Entry::NodeStarted,
            RecordKind::AttemptFailed => Entry::AttemptFailed,
            RecordKind::GaveUp => Entry::GaveUp(payload.json()),
            RecordKind::Outcome => Entry::Outcome(payload.json()),
            RecordKind::NodeFailed => Entry::NodeFailed(payload.json()),
            RecordKind::Undoable => Entry::Undoable(payload.json()),
            RecordKind::FlowFailed => Entry::FlowFailed,
            RecordKind::NodeFinished => Entry::NodeFinished(payload.text),
            RecordKind::Waiting => Entry::Waiting(payload.json()),
            RecordKind::TimedOut => Entry::TimedOut,
            RecordKind::Paused => Entry::Paused(payload.json()),
            RecordKind::Resumed => Entry::Resumed(payload.json()),
            RecordKind::Awaiting => Entry::Awaiting(payload.json()),
            RecordKind::Received => Entry::Received(payload.json()),
            RecordKind::Snapshot => Entry::Snapshot(payload.json()),
            RecordKind::Spread => Entry::Spread(payload.json()),
            RecordKind::PartStarted => Entry::PartStarted(payload.json()),
            RecordKind::FlowEnded => Entry::FlowEnded,
            kind if is_end(kind) => Entry::RunEnded,
            _ => Entry::Other,
        }
    }
}

/// The JSON of a value, which is decoded when it is read.
#[derive(Debug)]
pub(crate) struct Json<'a, T> {
    payload: Payload<'a>,
    value: PhantomData<fn() -> T>,
}

// Derived, they would require the same of `T`.
impl<T> Clone for Json<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Json<'_, T> {}

impl<T: DeserializeOwned> Json<'_, T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`].
    pub(crate) fn read(self) -> Result<T, RuntimeError> {
        self.payload.decode()
    }

    /// The value as JSON.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`]: it is not JSON.
    pub(crate) fn value(self) -> Result<Value, RuntimeError> {
        self.payload.decode()
    }
}

/// Returns true if a record of this kind is the last one of its execution.
pub(crate) fn is_end(kind: RecordKind) -> bool {
    matches!(
        kind,
        RecordKind::RunCompleted | RecordKind::RunFailed | RecordKind::RunCancelled
    )
}

/// The payload of a record, for programs that follow journals.
///
/// # Examples
///
/// ```
/// use flow_durable::{Payload, MemoryStore, RecordKind, Runtime, RuntimeError, StartOptions};
/// use flow_runtime::prelude::*;
///
/// #[node(writes = half)]
/// fn halve(number: u64) -> Result<u64, String> {
///     number.is_multiple_of(2).then_some(number / 2).ok_or_else(|| format!("{number} is odd"))
/// }
///
/// flow! {
///     Half(number: u64) -> (half: u64) {
///         start >> halve >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), RuntimeError> {
/// let runtime = Runtime::new(MemoryStore::new());
/// runtime.register(Half::new())?;
/// let execution = runtime.executions().start::<Half>(HalfInput { number: 7 }, StartOptions::new()).await?.settled().await?;
/// let mut journal = execution.journal().await?;
///
/// let failed = journal.iter_mut().find(|record| record.kind == RecordKind::NodeFailed).unwrap();
/// let error = Payload::of(execution.id(), failed).error()?;
/// assert_eq!(error.error().to_string(), "7 is odd");
///
/// failed.payload.truncate(10);
/// let damaged = Payload::of(execution.id(), failed).error().unwrap_err();
/// assert!(matches!(damaged, RuntimeError::DamagedRecord { kind: RecordKind::NodeFailed, .. }));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Payload<'a> {
    execution: ExecutionId,
    seq: u64,
    kind: RecordKind,
    path: &'a str,
    text: &'a str,
}

impl<'a> Payload<'a> {
    /// The payload of a record of this execution.
    pub fn of(execution: ExecutionId, record: &'a Record) -> Self {
        Payload {
            execution,
            seq: record.seq,
            kind: record.kind,
            path: &record.path,
            text: &record.payload,
        }
    }

    /// The error in the payload of a [`NodeFailed`](RecordKind::NodeFailed) or
    /// [`GaveUp`](RecordKind::GaveUp) record.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`]: it is not a stored error.
    pub fn error(self) -> Result<NodeError, RuntimeError> {
        self.decode()
    }

    /// The original of a copy, in the payload of a [`RunCopied`](RecordKind::RunCopied) record.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`]: it does not name an execution.
    pub fn copied_from(self) -> Result<ExecutionId, RuntimeError> {
        self.decode().map(|copied: Copied| copied.execution)
    }

    /// The numbers of the records that do not count any more, in the payload of a
    /// [`RunRetried`](RecordKind::RunRetried) record.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`]: it does not name them.
    pub fn dropped(self) -> Result<Vec<u64>, RuntimeError> {
        self.decode().map(|retried: Retried| retried.dropped)
    }

    /// The payload as JSON, to be shown: `null` if there is none, and a string if it is not JSON.
    /// So a journal can be looked at although a record is damaged.
    pub fn shown(self) -> Value {
        match self.text {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        }
    }

    /// The answer in the payload of a [`Resumed`](RecordKind::Resumed) record.
    pub(crate) fn answer(self) -> Result<Answered, RuntimeError> {
        self.decode()
    }

    /// The signal in the payload of a [`Received`](RecordKind::Received) record.
    pub(crate) fn received(self) -> Result<Received, RuntimeError> {
        self.decode()
    }

    fn json<T>(self) -> Json<'a, T> {
        Json {
            payload: self,
            value: PhantomData,
        }
    }

    /// The value that the library has written.
    fn decode<T: DeserializeOwned>(self) -> Result<T, RuntimeError> {
        serde_json::from_str(self.text).map_err(|error| self.damaged(&error))
    }

    /// A value of the flow, which may have changed since it was written.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`]; [`RuntimeError::Unreadable`] if it is a value of another
    /// type.
    pub(crate) fn of_type<T: DeserializeOwned>(self) -> Result<T, RuntimeError> {
        serde_json::from_str(self.text).map_err(|error| {
            if let Err(error) = serde_json::from_str::<IgnoredAny>(self.text) {
                return self.damaged(&error);
            }
            let ty = short_name(type_name::<T>());
            let reason = payload::reason(&error);
            self.unreadable(format!("the recorded value is not a `{ty}`: {reason}"))
        })
    }

    fn damaged(self, error: &serde_json::Error) -> RuntimeError {
        if is_blob_marker_of(self.seq, self.text) {
            return self.unreadable(format!("record {} {WITHOUT_BLOBS}", self.seq));
        }
        RuntimeError::DamagedRecord {
            execution: self.execution,
            path: self.path.to_owned(),
            seq: self.seq,
            kind: self.kind,
            reason: payload::reason(error),
        }
    }

    fn unreadable(self, reason: String) -> RuntimeError {
        RuntimeError::Unreadable {
            execution: self.execution,
            path: self.path.to_owned(),
            reason,
        }
    }
}

/// The payload of a record without its place, as a replay keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) seq: u64,
    pub(crate) kind: RecordKind,
    pub(crate) text: String,
}

impl Kept {
    /// The payload, with the execution and the path of its record.
    pub(crate) fn at<'a>(&'a self, execution: ExecutionId, path: &'a str) -> Payload<'a> {
        Payload {
            execution,
            seq: self.seq,
            kind: self.kind,
            path,
            text: &self.text,
        }
    }
}

/// The value of a payload that was checked when it was loaded.
pub(crate) fn checked<T: DeserializeOwned>(payload: &str) -> Option<T> {
    serde_json::from_str(payload).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn id() -> ExecutionId {
        "0199a000-1234-7abc-8def-0123456789ab".parse().unwrap()
    }

    fn record(kind: RecordKind, payload: &str) -> Record {
        Record {
            seq: 7,
            at_ms: 0,
            kind,
            path: "order.pay".to_owned(),
            step: "order.pay#2".to_owned(),
            visit: 2,
            item: None,
            attempt: 0,
            payload: payload.to_owned(),
        }
    }

    /// Reads the payload as the type of its kind. `None` if the kind has a text or nothing.
    fn read(kind: RecordKind, payload: &str) -> Option<Result<(), RuntimeError>> {
        let record = record(kind, payload);
        Some(match Entry::read(id(), &record) {
            Entry::RunStarted(it) => it.read().map(drop),
            Entry::RunCopied(it) => it.read().map(drop),
            Entry::RunRetried(it) => it.read().map(drop),
            Entry::GaveUp(it) | Entry::NodeFailed(it) => it.read().map(drop),
            Entry::Outcome(it) => it.read().map(drop),
            Entry::Waiting(it) => it.read().map(drop),
            Entry::Paused(it) => it.read().map(drop),
            Entry::Resumed(it) => it.read().map(drop),
            Entry::Awaiting(it) => it.read().map(drop),
            Entry::Received(it) => it.read().map(drop),
            Entry::Snapshot(it) => it.read().map(drop),
            Entry::Spread(it) => it.read().map(drop),
            Entry::PartStarted(it) => it.read().map(drop),
            _ => return None,
        })
    }

    /// A payload of each kind that has JSON, as it is stored.
    fn stored() -> Vec<(RecordKind, String)> {
        let part = json!({ "of": id(), "step": "a.b", "number": 1, "items": 7, "each": 3 });
        let error = NodeError::new(
            "order.pay".to_owned(),
            2,
            flow_runtime::engine::Failure::TimedOut(flow_runtime::TimedOut {
                after: std::time::Duration::from_secs(3),
            }),
        );
        let snapshot = json!({
            "namespace": "order", "node": "pay", "state": {}, "input": {}, "visits": {}, "steps": 3,
        });
        vec![
            (RecordKind::RunStarted, r#"{"number":1}"#.to_owned()),
            (
                RecordKind::RunCopied,
                json!({ "execution": id().to_string(), "seq": 3 }).to_string(),
            ),
            (
                RecordKind::RunRetried,
                r#"{"dropped":[3,4],"laterMs":5}"#.to_owned(),
            ),
            (RecordKind::GaveUp, payload::of_error(&error)),
            (RecordKind::NodeFailed, payload::of_error(&error)),
            (RecordKind::Outcome, "[1]".to_owned()),
            (RecordKind::Waiting, "1700000000000".to_owned()),
            (
                RecordKind::Paused,
                json!({ "prompt": "May I?", "expected": "bool" }).to_string(),
            ),
            (RecordKind::Resumed, r#"{"answer":true}"#.to_owned()),
            (RecordKind::Awaiting, r#"{"signal":"Stop"}"#.to_owned()),
            (
                RecordKind::Received,
                r#"{"body":true,"number":1}"#.to_owned(),
            ),
            (RecordKind::Snapshot, snapshot.to_string()),
            (RecordKind::Spread, r#"{"items":7,"each":3}"#.to_owned()),
            (RecordKind::PartStarted, part.to_string()),
        ]
    }

    #[test]
    fn an_undecodable_payload_is_one_error_for_each_kind() {
        let stored = stored();
        for kind in RecordKind::ALL {
            let found = stored.iter().find(|(known, _)| *known == kind);
            let Some((_, payload)) = found else {
                assert!(read(kind, "").is_none(), "{kind} has JSON");
                continue;
            };
            assert!(read(kind, payload).unwrap().is_ok(), "{kind}: {payload}");
            let cut = &payload[..payload.len() - 1];
            let wrong = match kind {
                RecordKind::Outcome => "nul",
                RecordKind::Waiting => "-1",
                _ => "7",
            };
            // A number is cut to another number.
            let cut = if kind == RecordKind::Waiting { "" } else { cut };
            for damaged in ["", "#", cut, wrong] {
                let error = read(kind, damaged).unwrap().unwrap_err();
                let text = error.to_string();
                let RuntimeError::DamagedRecord {
                    execution,
                    path,
                    seq,
                    kind: of,
                    reason,
                } = error
                else {
                    panic!("{kind}: {damaged:?}: {text}")
                };
                assert_eq!((execution, &*path, seq, of), (id(), "order.pay", 7, kind));
                assert_eq!(
                    text,
                    format!(
                        "execution {execution} at `order.pay`: record 7, `{kind}`, is damaged: {reason}"
                    )
                );
            }
        }
    }

    #[test]
    fn a_value_of_another_type_is_not_damaged() {
        let record = record(RecordKind::Outcome, r#"{"a":"b"}"#);
        let payload = Payload::of(id(), &record);
        let error = payload.of_type::<u64>().unwrap_err();
        let RuntimeError::Unreadable { reason, .. } = error else {
            panic!("{error}")
        };
        let expected = "the recorded value is not a `u64`: invalid type: map, expected u64";
        assert_eq!(reason, expected);
        let cut = Payload {
            text: &record.payload[..3],
            ..payload
        };
        let error = cut.of_type::<u64>().unwrap_err();
        assert!(
            matches!(error, RuntimeError::DamagedRecord { .. }),
            "{error}"
        );
        assert_eq!(cut.shown(), json!("{\"a"));
    }

    #[test]
    fn a_copy_is_written_as_it_was() {
        let values = Map::from_iter([("b".to_owned(), json!(1)), ("a".to_owned(), json!(2))]);
        for values in [None, Some(values)] {
            let mut before = json!({ "execution": id().to_string(), "seq": 3 });
            if let Some(values) = &values {
                before["values"] = json!(values);
            }
            let copied = Copied {
                execution: id(),
                seq: 3,
                values,
            };
            assert_eq!(json!(copied).to_string(), before.to_string());
        }
    }
}
