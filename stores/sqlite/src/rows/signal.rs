//! The rows of signals.

use flow_store::{ExecutionId, SignalRow, StoreError};

use super::Columns;
use crate::cells::Cell;
use crate::errors::Damage;

pub(crate) const SIGNAL: &str =
    "execution, number, name, payload, digest, \"key\", sent_ms, checksum";

/// A signal, taken or not.
#[derive(Debug, Clone)]
pub(crate) struct Signal {
    pub(crate) execution: ExecutionId,
    pub(crate) number: u64,
    pub(crate) name: String,
    /// The body, until the run takes it.
    pub(crate) payload: Option<String>,
    pub(crate) digest: String,
    pub(crate) key: Option<String>,
    pub(crate) sent_ms: u64,
}

impl Signal {
    pub(crate) fn cells(&self) -> [Cell<'_>; 7] {
        [
            self.execution.to_string().into(),
            self.number.into(),
            (&self.name).into(),
            self.payload.as_ref().into(),
            (&self.digest).into(),
            self.key.as_ref().into(),
            self.sent_ms.into(),
        ]
    }

    /// Returns the signal for the run, if it has not taken it.
    pub(crate) fn untaken(self) -> Option<SignalRow> {
        Some(SignalRow {
            number: self.number,
            name: self.name,
            payload: self.payload?,
            key: self.key,
            sent_ms: self.sent_ms,
        })
    }
}

pub(crate) fn signal(row: &rusqlite::Row<'_>) -> Result<Signal, StoreError> {
    let columns = Columns(row);
    let read = || {
        let signal = Signal {
            execution: columns.parsed(0)?,
            number: columns.number(1)?,
            name: columns.text(2)?,
            payload: columns.text_or_none(3)?,
            digest: columns.text(4)?,
            key: columns.text_or_none(5)?,
            sent_ms: columns.number(6)?,
        };
        columns.check("signals", 7)?;
        Ok(signal)
    };
    read().map_err(|damage: Damage| {
        let (execution, number) = (columns.shown(0), columns.shown(1));
        damage.at(format!("execution {execution}, signal {number}"))
    })
}

/// Returns names as a text with a line each, or `None` if there are none.
pub(super) fn lines(names: &[String]) -> Option<String> {
    let line = |name: &String| name.replace('~', "~0").replace('\n', "~1");
    let lines: Vec<String> = names.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns the names in such a text.
pub(super) fn names(lines: &str) -> Vec<String> {
    let name = |line: &str| line.replace("~1", "\n").replace("~0", "~");
    lines.split('\n').map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_were_written() {
        assert_eq!(lines(&[]), None);
        for given in [
            &["paid"][..],
            &[""],
            &["", ""],
            &["~1", "a\nb", "~", "~0\n", "\\n"],
        ] {
            let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
            let text = lines(&given).unwrap();
            assert_eq!(names(&text), given, "{text}");
        }
    }
}
