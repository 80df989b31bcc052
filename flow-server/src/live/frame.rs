//! An event, ready to be sent.

use flow_durable::{EventFilter, ExecutionEvent, Pattern, RecordKind, RuntimeError};
use serde_json::{Value, json};

use crate::problem::Problem;

/// The bytes of records that are read ahead for a client.
pub(crate) const READ_AHEAD: usize = 32 * 1024;

/// An event as JSON, with the data that decides who receives it.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) place: Place,
    pub(crate) kind: Option<RecordKind>,
    pub(crate) path: Option<String>,
    pub(crate) json: String,
}

/// The position of an event among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A record, with its offset in the store and its number in the execution.
    Record { offset: u64, seq: u64 },
    /// A delta, with the number of the next record.
    Delta { next_seq: u64 },
    /// A notice about the stream itself.
    Notice,
}

impl Frame {
    pub(crate) fn of(event: &ExecutionEvent) -> Self {
        let place = match event {
            ExecutionEvent::Recorded(event) => Place::Record {
                offset: event.offset,
                seq: event.record.seq,
            },
            ExecutionEvent::Delta(event) => Place::Delta {
                next_seq: event.next_seq,
            },
            _ => Place::Notice,
        };
        Frame {
            place,
            kind: event.record().map(|record| record.kind),
            path: event.path().map(str::to_owned),
            json: event.to_json().to_string(),
        }
    }

    /// Creates the frame for a record that cannot be read.
    pub(crate) fn failed(error: RuntimeError) -> Self {
        Frame::notice("problem", Problem::from(error).to_json())
    }

    /// Creates the frame for deltas that were dropped because the client is slow.
    pub(crate) fn missed() -> Self {
        Frame::notice("missed", json!({}))
    }

    fn notice(kind: &str, data: Value) -> Self {
        let payload = json!({ "type": kind, "data": data });
        Frame {
            place: Place::Notice,
            kind: None,
            path: None,
            json: json!({ "type": "custom", "payload": payload }).to_string(),
        }
    }

    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.json.len() + self.path.as_ref().map_or(0, String::len) + size_of::<Self>()
    }

    pub(crate) fn offset(&self) -> Option<u64> {
        match self.place {
            Place::Record { offset, .. } => Some(offset),
            _ => None,
        }
    }

    /// Returns `true` for the last record of an execution.
    pub(crate) fn is_end(&self) -> bool {
        matches!(
            self.kind,
            Some(RecordKind::RunCompleted | RecordKind::RunFailed | RecordKind::RunCancelled)
        )
    }
}

/// The events that a client wants.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) kinds: Vec<RecordKind>,
    pub(crate) paths: Vec<Pattern>,
    pub(crate) deltas: bool,
    /// `true` if events contain the values that nodes read and wrote.
    pub(crate) values: bool,
}

impl Wanted {
    /// Returns a filter for events with the same content.
    pub(crate) fn filter(&self) -> EventFilter {
        let filter = EventFilter::new().read_ahead(READ_AHEAD);
        if self.values { filter.values() } else { filter }
    }

    pub(crate) fn wants(&self, frame: &Frame) -> bool {
        let of_kind = match (frame.place, frame.kind) {
            (Place::Delta { .. }, _) => self.deltas,
            (_, Some(kind)) => self.kinds.is_empty() || self.kinds.contains(&kind),
            _ => true,
        };
        let on_path = |path: &String| {
            self.paths.is_empty() || self.paths.iter().any(|pattern| pattern.matches(path))
        };
        of_kind && frame.path.as_ref().is_none_or(on_path)
    }
}
