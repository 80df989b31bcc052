//! Rows read back, with every value checked.

use std::fmt::Display;
use std::str::FromStr;

use rusqlite::types::{Type, ValueRef};

use super::errors::{Damage, store_error};
use crate::durable::record::Record;
use crate::durable::store::{ExecutionId, Logged, PauseRow, PauseState, Row, StoreError};

pub(super) const EXECUTION: &str = "id, flow, structure, owner, idempotency_key, input_hash, status, format, options, created_ms, \
     updated_ms, wake_ms, next_seq, snapshot_seq, forked_from, result, fence";

pub(super) const RECORD: &str =
    "seq, at_ms, kind, path, step, visit, item, attempt, payload, records.execution, \"offset\"";

pub(super) const PAUSE: &str = "token, execution, path, step, prompt, expected, \"schema\", created_ms, \
     expires_ms, state, answer";

pub(super) fn execution(row: &rusqlite::Row<'_>) -> Result<Row, StoreError> {
    let columns = Columns(row);
    let read = || {
        Ok(Row {
            id: columns.parsed(0)?,
            flow: columns.text(1)?,
            structure: columns.text(2)?,
            owner: columns.text_or_none(3)?,
            idempotency_key: columns.text_or_none(4)?,
            input_hash: columns.text(5)?,
            status: columns.parsed(6)?,
            format: columns.number(7)?,
            options: columns.text(8)?,
            created_ms: columns.number(9)?,
            updated_ms: columns.number(10)?,
            wake_ms: columns.number_or_none(11)?,
            next_seq: columns.number(12)?,
            snapshot_seq: columns.number_or_none(13)?,
            forked_from: match columns.value(14)? {
                ValueRef::Null => None,
                _ => Some(columns.parsed(14)?),
            },
            result: columns.text_or_none(15)?,
            fence: columns.number(16)?,
        })
    };
    read().map_err(|damage: Damage| damage.at(format!("execution {}", columns.shown(0))))
}

pub(super) fn record(row: &rusqlite::Row<'_>) -> Result<Record, StoreError> {
    let columns = Columns(row);
    let read = || {
        Ok(Record {
            seq: columns.number(0)?,
            at_ms: columns.number(1)?,
            kind: columns.parsed(2)?,
            path: columns.text(3)?,
            step: columns.text(4)?,
            visit: columns.number(5)?,
            item: columns.number_or_none(6)?,
            attempt: columns.number(7)?,
            payload: columns.text(8)?,
        })
    };
    read().map_err(|damage: Damage| damage.at(columns.record_place()))
}

/// A record, its offset, and its owner as the column after.
pub(super) fn logged(row: &rusqlite::Row<'_>) -> Result<Logged, StoreError> {
    let record = record(row)?;
    let columns = Columns(row);
    let read = || {
        Ok((
            columns.parsed(9)?,
            columns.number(10)?,
            columns.text_or_none(11)?,
        ))
    };
    let (execution, offset, owner) =
        read().map_err(|damage: Damage| damage.at(columns.record_place()))?;
    Ok(Logged {
        offset,
        execution,
        owner,
        record,
    })
}

pub(super) fn pause(row: &rusqlite::Row<'_>) -> Result<PauseRow, StoreError> {
    let columns = Columns(row);
    let read = || {
        Ok(PauseRow {
            token: columns.parsed(0)?,
            execution: columns.parsed(1)?,
            path: columns.text(2)?,
            step: columns.text(3)?,
            prompt: columns.text(4)?,
            expected: columns.text(5)?,
            schema: columns.text_or_none(6)?,
            created_ms: columns.number(7)?,
            expires_ms: columns.number_or_none(8)?,
            state: match columns.str(9)? {
                "open" => PauseState::Open,
                "answered" => PauseState::Answered(columns.text(10)?),
                "timed_out" => PauseState::TimedOut,
                "used" => PauseState::Used,
                "expired" => PauseState::Expired,
                "withdrawn" => PauseState::Withdrawn,
                other => return Err(columns.damage(9, &format!("the name `{other}` is not known"))),
            },
        })
    };
    read().map_err(|damage: Damage| {
        let (execution, step) = (columns.shown(1), columns.shown(3));
        damage.at(format!("execution {execution}, question of `{step}`"))
    })
}

/// An id as the only column.
pub(super) fn id(row: &rusqlite::Row<'_>) -> Result<ExecutionId, StoreError> {
    let columns = Columns(row);
    columns
        .parsed(0)
        .map_err(|damage| damage.at(format!("execution {}", columns.shown(0))))
}

/// A text as the only column.
pub(super) fn text(row: &rusqlite::Row<'_>, place: String) -> Result<String, StoreError> {
    Columns(row).text(0).map_err(|damage| damage.at(place))
}

/// A number as the only column.
pub(super) fn number(row: &rusqlite::Row<'_>, place: &str) -> Result<u64, StoreError> {
    let number = Columns(row).number(0);
    number.map_err(|damage| damage.at(place.to_owned()))
}

/// Reads each row, and stops at the first that is damaged.
pub(super) fn all<T>(
    mut rows: rusqlite::Rows<'_>,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        all.push(read(row)?);
    }
    Ok(all)
}

pub(super) fn pause_state(state: &PauseState) -> (&'static str, Option<&str>) {
    match state {
        PauseState::Open => ("open", None),
        PauseState::Answered(answer) => ("answered", Some(answer)),
        PauseState::TimedOut => ("timed_out", None),
        PauseState::Used => ("used", None),
        PauseState::Expired => ("expired", None),
        PauseState::Withdrawn => ("withdrawn", None),
    }
}

/// As SQLite stores numbers: times that are out of its range are the last one that is in it.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

struct Columns<'a, 'stmt>(&'a rusqlite::Row<'stmt>);

impl<'a> Columns<'a, '_> {
    fn value(&self, index: usize) -> Result<ValueRef<'a>, Damage> {
        self.0
            .get_ref(index)
            .map_err(|error| Damage(error.to_string()))
    }

    fn str(&self, index: usize) -> Result<&'a str, Damage> {
        let value = self.value(index)?;
        value
            .as_str()
            .map_err(|error| self.damage(index, &not_a("text", value.data_type(), &error)))
    }

    fn text(&self, index: usize) -> Result<String, Damage> {
        self.str(index).map(str::to_owned)
    }

    fn text_or_none(&self, index: usize) -> Result<Option<String>, Damage> {
        match self.value(index)? {
            ValueRef::Null => Ok(None),
            _ => self.text(index).map(Some),
        }
    }

    fn parsed<T: FromStr<Err: Display>>(&self, index: usize) -> Result<T, Damage> {
        let text = self.str(index)?;
        text.parse()
            .map_err(|error: T::Err| self.damage(index, &error.to_string()))
    }

    fn number<T: TryFrom<i64, Error: Display>>(&self, index: usize) -> Result<T, Damage> {
        let value = self.value(index)?;
        let number = value
            .as_i64()
            .map_err(|error| self.damage(index, &not_a("a number", value.data_type(), &error)))?;
        T::try_from(number).map_err(|error| self.damage(index, &format!("{number}: {error}")))
    }

    fn number_or_none<T: TryFrom<i64, Error: Display>>(
        &self,
        index: usize,
    ) -> Result<Option<T>, Damage> {
        match self.value(index)? {
            ValueRef::Null => Ok(None),
            _ => self.number(index).map(Some),
        }
    }

    fn damage(&self, index: usize, reason: &str) -> Damage {
        let row: &rusqlite::Row<'_> = self.0;
        let column = row.as_ref().column_name(index).unwrap_or("?");
        Damage(format!("column `{column}`: {reason}"))
    }

    fn record_place(&self) -> String {
        format!("execution {}, record {}", self.shown(9), self.shown(0))
    }

    /// A value to point at a row with, whatever it is.
    fn shown(&self, index: usize) -> String {
        match self.0.get_ref(index) {
            Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            Ok(ValueRef::Integer(number)) => number.to_string(),
            _ => "?".to_owned(),
        }
    }
}

fn not_a(expected: &str, found: Type, error: &dyn Display) -> String {
    match found {
        Type::Text => format!("it is not {expected} ({error})"),
        found => format!("it is not {expected}, but {found}"),
    }
}
