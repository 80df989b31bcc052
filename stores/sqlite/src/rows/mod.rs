//! Rows as they are stored and read back, with every value checked.

mod signal;

use std::fmt::Display;
use std::str::FromStr;

use flow_store::{
    Claim, Concurrency, ExecutionId, InvalidId, Logged, PauseRow, PauseState, Record, Row, Status,
    StoreError, TakeOvers,
};
use rusqlite::types::{Type, ValueRef};

pub(super) use self::signal::{SIGNAL, Signal, signal};
use super::cells::{Cell, checksum};
use super::errors::{Damage, store_error};

/// The columns of the tables. The checksum is the last one.
pub(super) const EXECUTION: &str = "id, flow, structure, owner, idempotency_key, input_hash, \
     status, format, options, created_ms, updated_ms, next_seq, first_seq, snapshot_seq, copied_from, \
     result, fence, holder, claimed_ms, claimed_until_ms, timer_ms, wake_ms, settled, unclosed, \
     due_ms, priority, not_before_ms, concurrency_key, concurrency_limit, halted, take_overs, taken_over_at, \
     signals, untaken, awaited, cancelled_ms, checksum";

pub(super) const RECORD: &str = "\"offset\", execution, owner, seq, at_ms, kind, path, step, visit, item, attempt, \
     payload, checksum";

pub(super) const PAUSE: &str = "number, token, execution, path, step, prompt, expected, \"schema\", created_ms, \
     expires_ms, state, answer, checksum";

pub(super) const STRUCTURE: &str = "hash, structure, checksum";

/// An execution with the values that only its store uses.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    pub(super) row: Row,
    /// The number of the first record that was not pruned.
    pub(super) first_seq: u64,
    pub(super) claim: Option<Claim>,
    /// The time at which it resumes by itself, if it is paused.
    pub(super) timer_ms: Option<u64>,
    /// The number of its questions with an answer that the run has not seen.
    pub(super) settled: u64,
    /// The number of its questions that are not closed.
    pub(super) unclosed: u64,
    /// The number of the newest signal that it was ever sent.
    pub(super) signals: u64,
    /// The number of its signals that the run has not taken.
    pub(super) untaken: u64,
    /// The names of the signals for which it waits, if it is paused.
    pub(super) awaited: Vec<String>,
}

impl Execution {
    pub(super) fn cells(&self) -> [Cell<'_>; 36] {
        let row = &self.row;
        let concurrency = row.concurrency.as_ref();
        [
            row.id.to_string().into(),
            (&row.flow).into(),
            (&row.structure).into(),
            row.owner.as_ref().into(),
            row.idempotency_key.as_ref().into(),
            (&row.input_hash).into(),
            row.status.as_str().into(),
            row.format.into(),
            (&row.options).into(),
            row.created_ms.into(),
            row.updated_ms.into(),
            row.next_seq.into(),
            self.first_seq.into(),
            row.snapshot_seq.into(),
            row.copied_from.map(|id| id.to_string()).into(),
            row.result.as_ref().into(),
            row.fence.into(),
            self.claim.map(|claim| claim.holder.to_string()).into(),
            self.claimed_ms().into(),
            self.claim.map(|claim| claim.until_ms).into(),
            self.timer_ms.into(),
            row.wake_ms.into(),
            self.settled.into(),
            self.unclosed.into(),
            self.due_ms().into(),
            (row.priority != 0).then_some(row.priority).into(),
            row.not_before_ms.into(),
            concurrency.map(|concurrency| &concurrency.key).into(),
            concurrency.map(|concurrency| concurrency.at_most).into(),
            row.halted.as_ref().into(),
            row.take_overs.map(|it| it.count).into(),
            row.take_overs.map(|it| it.at_seq).into(),
            (self.signals > 0).then_some(self.signals).into(),
            (self.untaken > 0).then_some(self.untaken).into(),
            signal::lines(&self.awaited).into(),
            row.cancelled_ms.into(),
        ]
    }

    /// Returns the start of its claim or the last renewal, by the clock of the holder.
    pub(super) fn claimed_ms(&self) -> Option<u64> {
        let claim = self.claim?;
        Some(claim.until_ms.saturating_sub(claim.lease_ms))
    }

    /// Returns `true` if one of its questions is open.
    pub(super) fn asks(&self) -> bool {
        self.unclosed > self.settled
    }

    /// Returns the time from which it can continue if nobody claims it or writes to it. `None` if
    /// it cannot.
    pub(super) fn ready_ms(&self) -> Option<u64> {
        match self.row.status {
            _ if self.row.halted.is_some() => None,
            Status::Running => Some(0),
            Status::Paused if self.settled > 0 => Some(0),
            Status::Paused => self.row.wake_ms,
            Status::Queued
            | Status::Cancelling
            | Status::Completed
            | Status::Failed
            | Status::Cancelled => None,
        }
    }

    /// Returns the time from which it can continue if nobody writes to it. `None` if it cannot.
    pub(super) fn due_ms(&self) -> Option<u64> {
        let free_ms = self.claim.map_or(0, |claim| claim.until_ms);
        Some(self.ready_ms()?.max(free_ms))
    }

    /// Updates the values that follow from its questions. These may include closed ones.
    pub(super) fn count(&mut self, questions: &[Question]) {
        let states = || questions.iter().map(|question| &question.row.state);
        let count = |is: fn(&PauseState) -> bool| states().filter(|state| is(state)).count() as u64;
        self.unclosed = count(|state| !state.is_closed());
        self.settled =
            count(|state| matches!(state, PauseState::Answered(_) | PauseState::TimedOut));
        let open = questions
            .iter()
            .filter(|question| question.row.state == PauseState::Open);
        let expiries = open.filter_map(|question| question.row.expires_ms);
        self.row.wake_ms = expiries.chain(self.timer_ms).min();
    }

    /// Lets it resume from this time on, if it is paused.
    pub(super) fn resume_from(&mut self, ms: u64) {
        let sooner = |time: Option<u64>| Some(time.map_or(ms, |time| time.min(ms)));
        self.timer_ms = sooner(self.timer_ms);
        self.row.wake_ms = sooner(self.row.wake_ms);
    }

    /// Returns the error for damage in this execution.
    pub(super) fn damage(&self, reason: String) -> StoreError {
        Damage(reason).at(format!("execution {}", self.row.id))
    }
}

pub(super) fn execution(row: &rusqlite::Row<'_>) -> Result<Execution, StoreError> {
    let columns = Columns(row);
    let read = || {
        let execution = Execution {
            row: Row {
                id: columns.parsed(0)?,
                flow: columns.text(1)?,
                structure: columns.text(2)?,
                owner: columns.text_or_none(3)?,
                idempotency_key: columns.text_or_none(4)?,
                input_hash: columns.text(5)?,
                status: columns.status(6)?,
                format: columns.number(7)?,
                options: columns.text(8)?,
                created_ms: columns.number(9)?,
                updated_ms: columns.number(10)?,
                next_seq: columns.number(11)?,
                snapshot_seq: columns.number_or_none(13)?,
                copied_from: columns.parsed_or_none(14)?,
                result: columns.text_or_none(15)?,
                fence: columns.number(16)?,
                wake_ms: columns.number_or_none(21)?,
                priority: columns.number_or_none(25)?.unwrap_or(0),
                not_before_ms: columns.number_or_none(26)?,
                concurrency: match columns.text_or_none(27)? {
                    Some(key) => Some(Concurrency {
                        key,
                        at_most: columns.number(28)?,
                    }),
                    None => None,
                },
                halted: columns.text_or_none(29)?,
                take_overs: match columns.number_or_none(30)? {
                    Some(count) => Some(TakeOvers {
                        count,
                        at_seq: columns.number(31)?,
                    }),
                    None => None,
                },
                cancelled_ms: columns.number_or_none(35)?,
            },
            first_seq: columns.number(12)?,
            claim: match columns.parsed_or_none(17)? {
                Some(holder) => Some(Claim::new(holder, columns.number(18)?, columns.number(19)?)),
                None => None,
            },
            timer_ms: columns.number_or_none(20)?,
            settled: columns.number(22)?,
            unclosed: columns.number(23)?,
            signals: columns.number_or_none(32)?.unwrap_or(0),
            untaken: columns.number_or_none(33)?.unwrap_or(0),
            awaited: match columns.text_or_none(34)? {
                Some(lines) => signal::names(&lines),
                None => Vec::new(),
            },
        };
        columns.check("executions", 36)?;
        Ok(execution)
    };
    read().map_err(|damage: Damage| damage.at(format!("execution {}", columns.shown(0))))
}

/// Returns the values of a record.
pub(super) fn record_cells<'a>(
    offset: u64,
    execution: &'a str,
    owner: Option<&'a String>,
    record: &'a Record,
) -> [Cell<'a>; 12] {
    [
        offset.into(),
        execution.into(),
        owner.into(),
        record.seq.into(),
        record.at_ms.into(),
        record.kind.as_str().into(),
        (&record.path).into(),
        (&record.step).into(),
        record.visit.into(),
        record.item.into(),
        record.attempt.into(),
        (&record.payload).into(),
    ]
}

pub(super) fn logged(row: &rusqlite::Row<'_>) -> Result<Logged, StoreError> {
    let columns = Columns(row);
    let read = || {
        let logged = Logged {
            offset: columns.number(0)?,
            execution: columns.parsed(1)?,
            owner: columns.text_or_none(2)?,
            record: Record {
                seq: columns.number(3)?,
                at_ms: columns.number(4)?,
                kind: columns.parsed(5)?,
                path: columns.text(6)?,
                step: columns.text(7)?,
                visit: columns.number(8)?,
                item: columns.number_or_none(9)?,
                attempt: columns.number(10)?,
                payload: columns.text(11)?,
            },
        };
        columns.check("records", 12)?;
        Ok(logged)
    };
    read().map_err(|damage: Damage| {
        let (execution, seq) = (columns.shown(1), columns.shown(3));
        damage.at(format!("execution {execution}, record {seq}"))
    })
}

/// The key of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordKey {
    pub(super) execution: ExecutionId,
    pub(super) seq: u64,
}

/// Returns the columns after the first one, if they can be read.
pub(super) fn record_key(row: &rusqlite::Row<'_>) -> Option<RecordKey> {
    let columns = Columns(row);
    Some(RecordKey {
        execution: columns.parsed(1).ok()?,
        seq: columns.number(2).ok()?,
    })
}

/// A question with the values that only its store uses.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Its number among all questions, in the order asked.
    pub(super) number: u64,
    pub(super) row: PauseRow,
    /// Its answer, even if the question is closed.
    pub(super) answer: Option<String>,
}

impl Question {
    pub(super) fn new(number: u64, row: PauseRow) -> Question {
        let mut question = Question {
            number,
            answer: None,
            row,
        };
        question.set(question.row.state.clone());
        question
    }

    pub(super) fn set(&mut self, state: PauseState) {
        if let PauseState::Answered(answer) = &state {
            self.answer = Some(answer.clone());
        }
        self.row.state = state;
    }

    pub(super) fn cells(&self) -> [Cell<'_>; 12] {
        let row = &self.row;
        let state = match row.state {
            PauseState::Open => "open",
            PauseState::Answered(_) => "answered",
            PauseState::TimedOut => "timed_out",
            PauseState::Used => "used",
            PauseState::Expired => "expired",
            PauseState::Withdrawn => "withdrawn",
        };
        [
            self.number.into(),
            row.token.to_string().into(),
            row.execution.to_string().into(),
            (&row.path).into(),
            (&row.step).into(),
            (&row.prompt).into(),
            (&row.expected).into(),
            row.schema.as_ref().into(),
            row.created_ms.into(),
            row.expires_ms.into(),
            state.into(),
            self.answer.as_ref().into(),
        ]
    }
}

pub(super) fn question(row: &rusqlite::Row<'_>) -> Result<Question, StoreError> {
    let columns = Columns(row);
    let read = || {
        let question = Question {
            number: columns.number(0)?,
            row: PauseRow {
                token: columns.parsed(1)?,
                execution: columns.parsed(2)?,
                path: columns.text(3)?,
                step: columns.text(4)?,
                prompt: columns.text(5)?,
                expected: columns.text(6)?,
                schema: columns.text_or_none(7)?,
                created_ms: columns.number(8)?,
                expires_ms: columns.number_or_none(9)?,
                state: match columns.str(10)? {
                    "open" => PauseState::Open,
                    "answered" => PauseState::Answered(columns.text(11)?),
                    "timed_out" => PauseState::TimedOut,
                    "used" => PauseState::Used,
                    "expired" => PauseState::Expired,
                    "withdrawn" => PauseState::Withdrawn,
                    other => {
                        let reason = format!("the name `{other}` is not known");
                        return Err(columns.damage(10, &reason));
                    }
                },
            },
            answer: columns.text_or_none(11)?,
        };
        columns.check("pauses", 12)?;
        Ok(question)
    };
    read().map_err(|damage: Damage| {
        let (execution, step) = (columns.shown(2), columns.shown(4));
        damage.at(format!("execution {execution}, question of `{step}`"))
    })
}

pub(super) fn structure(row: &rusqlite::Row<'_>) -> Result<String, StoreError> {
    let columns = Columns(row);
    let read = || {
        let structure = columns.text(1)?;
        columns.check("structures", 2)?;
        Ok(structure)
    };
    read().map_err(|damage: Damage| damage.at(format!("structure {}", columns.shown(0))))
}

/// Returns a number in a row without a checksum: computed by SQLite, or from an index.
pub(super) fn number(row: &rusqlite::Row<'_>, column: usize) -> Result<u64, StoreError> {
    let number = Columns(row).number(column);
    number.map_err(|damage| damage.at("an index".to_owned()))
}

/// Returns a text in such a row, whatever is stored there.
pub(super) fn shown(row: &rusqlite::Row<'_>, column: usize) -> String {
    Columns(row).shown(column)
}

/// Parses an id from an index.
pub(super) fn parsed_id(id: &str) -> Result<ExecutionId, StoreError> {
    let parsed = id.parse();
    parsed.map_err(|error: InvalidId| Damage(error.to_string()).at(format!("execution {id}")))
}

/// Reads each row, and stops at the first damaged one.
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

    fn status(&self, index: usize) -> Result<Status, Damage> {
        let name = self.str(index)?;
        Status::stored(name).map_err(|error| self.damage(index, &error.to_string()))
    }

    fn parsed_or_none<T: FromStr<Err: Display>>(&self, index: usize) -> Result<Option<T>, Damage> {
        match self.value(index)? {
            ValueRef::Null => Ok(None),
            _ => self.parsed(index).map(Some),
        }
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

    /// Checks that the checksum belongs to the values before this column.
    fn check(&self, table: &str, column: usize) -> Result<(), Damage> {
        // An unreadable column would have been noticed before.
        let values = (0..column).map_while(|index| self.0.get_ref(index).ok());
        let stored: i64 = self.number(column)?;
        if stored == checksum(table, values) {
            return Ok(());
        }
        Err(Damage("its checksum does not fit".to_owned()))
    }

    /// Returns a value that identifies a row in an error, whatever it is.
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
