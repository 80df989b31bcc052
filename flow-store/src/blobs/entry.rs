//! Entries of a store that may contain a marker.

use crate::{ExecutionId, Logged, PauseRow, PauseState, Record, Row, SignalRow};

/// An entry with a text that may be kept as a blob.
pub(super) trait Entry: Send {
    /// Returns the text and the execution that it belongs to, or `None` if there is no text.
    fn text(&self) -> Option<(ExecutionId, &str)>;

    /// Sets the text.
    fn set_text(&mut self, text: String);

    /// Returns the place of the text, such as `record 3`.
    fn place(&self) -> String;
}

impl Entry for Row {
    fn text(&self) -> Option<(ExecutionId, &str)> {
        Some((self.id, self.result.as_deref()?))
    }

    fn set_text(&mut self, text: String) {
        self.result = Some(text);
    }

    fn place(&self) -> String {
        "the result".to_owned()
    }
}

/// A record or a signal of an execution.
pub(super) struct Of<T>(pub(super) ExecutionId, pub(super) T);

impl Entry for Of<Record> {
    fn text(&self) -> Option<(ExecutionId, &str)> {
        Some((self.0, &self.1.payload))
    }

    fn set_text(&mut self, text: String) {
        self.1.payload = text;
    }

    fn place(&self) -> String {
        format!("record {}", self.1.seq)
    }
}

impl Entry for Of<SignalRow> {
    fn text(&self) -> Option<(ExecutionId, &str)> {
        Some((self.0, &self.1.payload))
    }

    fn set_text(&mut self, text: String) {
        self.1.payload = text;
    }

    fn place(&self) -> String {
        format!("signal {}", self.1.number)
    }
}

impl Entry for Logged {
    fn text(&self) -> Option<(ExecutionId, &str)> {
        Some((self.execution, &self.record.payload))
    }

    fn set_text(&mut self, text: String) {
        self.record.payload = text;
    }

    fn place(&self) -> String {
        format!("record {}", self.record.seq)
    }
}

impl Entry for PauseRow {
    fn text(&self) -> Option<(ExecutionId, &str)> {
        match &self.state {
            PauseState::Answered(answer) => Some((self.execution, answer)),
            _ => None,
        }
    }

    fn set_text(&mut self, text: String) {
        self.state = PauseState::Answered(text);
    }

    fn place(&self) -> String {
        format!("the answer to the question at `{}`", self.path)
    }
}

/// A damaged entry has no text.
impl<T: Entry, E: Send> Entry for Result<T, E> {
    fn text(&self) -> Option<(ExecutionId, &str)> {
        self.as_ref().ok().and_then(Entry::text)
    }

    fn set_text(&mut self, text: String) {
        if let Ok(entry) = self {
            entry.set_text(text);
        }
    }

    fn place(&self) -> String {
        self.as_ref().map(Entry::place).unwrap_or_default()
    }
}
