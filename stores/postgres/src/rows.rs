//! Converts rows of the database to the types of the store.

use std::str::FromStr;

use flow_store::{
    Claim, Concurrency, Damaged, ExecutionId, Logged, PauseRow, PauseState, Record, RecordKind,
    Row, Status, TakeOvers, Token,
};
use tokio_postgres::Row as Found;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::text;

/// A value, or what is wrong with it.
type Reading<T> = Result<T, String>;

pub(super) fn value<'a, T: FromSql<'a>>(found: &'a Found, column: &str) -> Reading<T> {
    let read = found.try_get(column);
    read.map_err(|error| format!("`{column}`: {error}"))
}

pub(super) fn text(found: &Found, column: &str) -> Reading<String> {
    value(found, column).map(text::read)
}

pub(super) fn optional_text(found: &Found, column: &str) -> Reading<Option<String>> {
    let read: Option<String> = value(found, column)?;
    Ok(read.map(text::read))
}

pub(super) fn number<T: TryFrom<i64>>(found: &Found, column: &str) -> Reading<T> {
    let number: i64 = value(found, column)?;
    T::try_from(number).map_err(|_| format!("`{column}` is {number}"))
}

fn optional_number<T: TryFrom<i64>>(found: &Found, column: &str) -> Reading<Option<T>> {
    let given: Option<i64> = value(found, column)?;
    let number =
        given.map(|number| T::try_from(number).map_err(|_| format!("`{column}` is {number}")));
    number.transpose()
}

pub(super) fn named<T: FromStr<Err: std::fmt::Display>>(found: &Found, column: &str) -> Reading<T> {
    let name: String = value(found, column)?;
    name.parse()
        .map_err(|error: T::Err| format!("`{column}`: {error}"))
}

/// Reads the status of an execution.
fn status(found: &Found, column: &str) -> Reading<Status> {
    let name: String = value(found, column)?;
    Status::stored(&name).map_err(|error| format!("`{column}`: {error}"))
}

pub(super) fn damaged<T>(
    execution: Option<ExecutionId>,
    place: String,
    read: Reading<T>,
) -> Result<T, Damaged> {
    read.map_err(|reason| Damaged {
        execution,
        place,
        reason,
    })
}

pub(super) fn id(found: &Found, column: &str) -> Reading<ExecutionId> {
    value::<Uuid>(found, column).map(ExecutionId::from)
}

pub(super) fn execution(found: &Found) -> Result<Row, Damaged> {
    let (id, place) = match id(found, "id") {
        Ok(id) => (Some(id), format!("execution {id}")),
        Err(_) => (None, "an execution".to_owned()),
    };
    damaged(id, place, read_execution(found))
}

fn read_execution(found: &Found) -> Reading<Row> {
    let copied_from: Option<Uuid> = value(found, "copied_from")?;
    let key = optional_text(found, "concurrency_key")?;
    let concurrency = match (key, optional_number(found, "concurrency_limit")?) {
        (Some(key), Some(at_most)) => Some(Concurrency { key, at_most }),
        (None, None) => None,
        (Some(_), None) => return Err("it has a `concurrency_key` without a limit".to_owned()),
        (None, Some(_)) => return Err("it has a `concurrency_limit` without a key".to_owned()),
    };
    let take_overs = match optional_number(found, "take_overs")? {
        Some(count) => Some(TakeOvers {
            count,
            at_seq: number(found, "taken_over_at")?,
        }),
        None => None,
    };
    Ok(Row {
        id: id(found, "id")?,
        flow: text(found, "flow")?,
        structure: text(found, "structure")?,
        owner: optional_text(found, "owner")?,
        idempotency_key: optional_text(found, "idempotency_key")?,
        input_hash: text(found, "input_hash")?,
        status: status(found, "status")?,
        format: number(found, "format")?,
        options: text(found, "options")?,
        created_ms: number(found, "created_ms")?,
        updated_ms: number(found, "updated_ms")?,
        wake_ms: optional_number(found, "wake_ms")?,
        next_seq: number(found, "next_seq")?,
        snapshot_seq: optional_number(found, "snapshot_seq")?,
        copied_from: copied_from.map(ExecutionId::from),
        result: optional_text(found, "result")?,
        fence: number(found, "fence")?,
        priority: value(found, "priority")?,
        not_before_ms: optional_number(found, "not_before_ms")?,
        concurrency,
        halted: optional_text(found, "halted")?,
        take_overs,
        cancelled_ms: optional_number(found, "cancelled_ms")?,
    })
}

/// Reads the claim to an execution.
pub(super) fn claim(id: ExecutionId, found: &Found) -> Result<Option<Claim>, Damaged> {
    let read = || {
        let Some(holder) = value::<Option<Uuid>>(found, "holder")? else {
            return Ok(None);
        };
        Ok(Some(Claim {
            holder,
            until_ms: number(found, "claimed_until_ms")?,
            lease_ms: number(found, "lease_ms")?,
        }))
    };
    damaged(Some(id), format!("execution {id}"), read())
}

pub(super) fn record(of: ExecutionId, found: &Found) -> Result<Record, Damaged> {
    let seq: Reading<u64> = number(found, "seq");
    let place = match &seq {
        Ok(seq) => format!("execution {of}, record {seq}"),
        Err(_) => format!("execution {of}"),
    };
    let read = || {
        Ok(Record {
            seq: seq?,
            at_ms: number(found, "at_ms")?,
            kind: named::<RecordKind>(found, "kind")?,
            path: text(found, "path")?,
            step: text(found, "step")?,
            visit: number(found, "visit")?,
            item: optional_number(found, "item")?,
            attempt: number(found, "attempt")?,
            payload: text(found, "payload")?,
        })
    };
    damaged(Some(of), place, read())
}

/// Reads a record of the log.
pub(super) fn logged(offset: u64, found: &Found) -> Result<Logged, Damaged> {
    let place = || format!("the record with the offset {offset}");
    let execution = damaged(None, place(), id(found, "execution"))?;
    Ok(Logged {
        offset,
        execution,
        owner: damaged(Some(execution), place(), optional_text(found, "owner"))?,
        record: record(execution, found)?,
    })
}

pub(super) fn offset(found: &Found, column: &str) -> Result<u64, Damaged> {
    damaged(None, "the log".to_owned(), number(found, column))
}

pub(super) fn pause(found: &Found) -> Result<PauseRow, Damaged> {
    let execution = id(found, "execution");
    let place = match &execution {
        Ok(id) => format!("a question of execution {id}"),
        Err(_) => "a question".to_owned(),
    };
    damaged(execution.ok(), place, read_pause(found))
}

fn read_pause(found: &Found) -> Reading<PauseRow> {
    let state: String = value(found, "state")?;
    let answer = optional_text(found, "answer")?;
    Ok(PauseRow {
        token: Token::from(value::<Uuid>(found, "token")?),
        execution: id(found, "execution")?,
        path: text(found, "path")?,
        step: text(found, "step")?,
        prompt: text(found, "prompt")?,
        expected: text(found, "expected")?,
        schema: optional_text(found, "schema")?,
        created_ms: number(found, "created_ms")?,
        expires_ms: optional_number(found, "expires_ms")?,
        state: match (state.as_str(), answer) {
            ("open", _) => PauseState::Open,
            ("answered", Some(answer)) => PauseState::Answered(answer),
            ("answered", None) => return Err("it is answered and has no answer".to_owned()),
            ("timed_out", _) => PauseState::TimedOut,
            ("used", _) => PauseState::Used,
            ("expired", _) => PauseState::Expired,
            ("withdrawn", _) => PauseState::Withdrawn,
            (other, _) => return Err(format!("the state `{other}` is not known")),
        },
    })
}
