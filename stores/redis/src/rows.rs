//! Converts stored data to the types of the store.

use flow_store::{
    Claim, Concurrency, Damaged, ExecutionId, Logged, PauseRow, PauseState, Record, RecordKind,
    Row, SignalRow, Status, StoreError, TakeOvers, Token,
};
use redis::Value;

use super::errors::not_understood;
use super::reply::{self, Fields, Reading};

fn damaged<T>(
    execution: Option<ExecutionId>,
    place: impl FnOnce() -> String,
    read: Reading<T>,
) -> Result<T, Damaged> {
    read.map_err(|reason| Damaged {
        execution,
        place: place(),
        reason,
    })
}

/// Reads the execution that was listed with this id.
pub(super) fn execution(listed: &str, fields: &Fields) -> Result<Row, Damaged> {
    let id: Option<ExecutionId> = listed.parse().ok();
    damaged(id, || format!("execution {listed}"), read(listed, fields))
}

fn read(listed: &str, fields: &Fields) -> Reading<Row> {
    if fields.is_empty() {
        return Err("it is listed, and is missing".to_owned());
    }
    let id: ExecutionId = fields.value("id")?;
    if id.to_string() != listed {
        return Err(format!("its `id` is {id}"));
    }
    let key = fields.optional_text("concurrency_key")?;
    let concurrency = match (key, fields.optional("concurrency_limit")?) {
        (Some(key), Some(at_most)) => Some(Concurrency { key, at_most }),
        (None, None) => None,
        _ => {
            let reason =
                "it has one of `concurrency_key` and `concurrency_limit`, without the other";
            return Err(reason.to_owned());
        }
    };
    let take_overs = match fields.optional("take_overs")? {
        Some(count) => Some(TakeOvers {
            count,
            at_seq: fields.value("taken_over_at")?,
        }),
        None => None,
    };
    Ok(Row {
        id,
        flow: fields.text("flow")?,
        structure: fields.text("structure")?,
        owner: fields.optional_text("owner")?,
        idempotency_key: fields.optional_text("idempotency_key")?,
        input_hash: fields.text("input_hash")?,
        status: status(fields)?,
        format: fields.value("format")?,
        options: fields.text("options")?,
        created_ms: fields.value("created_ms")?,
        updated_ms: fields.value("updated_ms")?,
        wake_ms: fields.optional("wake_ms")?,
        next_seq: fields.value("next_seq")?,
        snapshot_seq: fields.optional("snapshot_seq")?,
        copied_from: fields.optional("copied_from")?,
        result: fields.optional_text("result")?,
        fence: fields.value("fence")?,
        priority: fields.value("priority")?,
        not_before_ms: fields.optional("not_before_ms")?,
        concurrency,
        halted: fields.optional_text("halted")?,
        take_overs,
        cancelled_ms: fields.optional("cancelled_ms")?,
    })
}

fn named<T: std::str::FromStr<Err: std::fmt::Display>>(fields: &Fields, field: &str) -> Reading<T> {
    let name = fields.text(field)?;
    name.parse()
        .map_err(|error: T::Err| format!("`{field}`: {error}"))
}

fn status(fields: &Fields) -> Reading<Status> {
    let name = fields.text("status")?;
    Status::stored(&name).map_err(|error| format!("`status`: {error}"))
}

/// Reads the claim to an execution.
pub(super) fn claim(id: ExecutionId, fields: &Fields) -> Result<Option<Claim>, Damaged> {
    let read = || {
        let Some(holder) = fields.optional("holder")? else {
            return Ok(None);
        };
        Ok(Some(Claim {
            holder,
            until_ms: fields.value("claimed_until_ms")?,
            lease_ms: fields.value("lease_ms")?,
        }))
    };
    damaged(Some(id), || format!("execution {id}"), read())
}

/// Returns the id and the fields of an entry of a stream.
fn entry(value: Value) -> Result<(String, Fields), StoreError> {
    let mut parts = reply::array(value)?.into_iter();
    let id = parts.next().and_then(reply::text);
    match (id, parts.next()) {
        (Some(id), Some(fields)) => Ok((id, Fields::new(fields)?)),
        _ => Err(not_understood(
            "an entry of a stream without an id or fields",
        )),
    }
}

/// Returns the number and the offset of a record.
fn numbers(id: &str) -> Option<(u64, u64)> {
    let (seq, offset) = id.split_once('-')?;
    Some((seq.parse().ok()?, offset.parse().ok()?))
}

fn numbered(value: Value) -> Result<(u64, u64, Fields), StoreError> {
    let (id, fields) = entry(value)?;
    let (seq, offset) = numbers(&id).ok_or_else(|| not_understood(format!("the id `{id}`")))?;
    Ok((seq, offset, fields))
}

fn record(of: ExecutionId, seq: u64, fields: &Fields) -> Result<Record, Damaged> {
    let read = || {
        Ok(Record {
            seq,
            at_ms: fields.value("at_ms")?,
            kind: named::<RecordKind>(fields, "kind")?,
            path: fields.text("path")?,
            step: fields.text("step")?,
            visit: fields.value("visit")?,
            item: fields.optional("item")?,
            attempt: fields.value("attempt")?,
            payload: fields.text("payload")?,
        })
    };
    damaged(Some(of), || format!("execution {of}, record {seq}"), read())
}

/// Reads the records of an execution, without gaps.
pub(super) fn records(of: ExecutionId, entries: Value) -> Result<Vec<Record>, StoreError> {
    let mut records: Vec<Record> = Vec::new();
    for entry in reply::array(entries)? {
        let (seq, _, fields) = numbered(entry)?;
        if let Some(before) = records.last()
            && before.seq.checked_add(1) != Some(seq)
        {
            let missing = before.seq.saturating_add(1);
            return Err(StoreError::Corrupt {
                place: format!("execution {of}, record {missing}"),
                reason: "it is missing".to_owned(),
            });
        }
        records.push(record(of, seq, &fields)?);
    }
    Ok(records)
}

/// Reads a signal of an execution.
pub(super) fn signal(of: ExecutionId, stored: Value) -> Result<SignalRow, StoreError> {
    let (number, _, fields) = numbered(stored)?;
    let read = || {
        Ok(SignalRow {
            number,
            name: fields.text("name")?,
            payload: fields.text("payload")?,
            key: fields.optional_text("key")?,
            sent_ms: fields.value("sent_ms")?,
        })
    };
    let place = || format!("execution {of}, signal {number}");
    Ok(damaged(Some(of), place, read())?)
}

/// Reads a record of an execution in the log.
pub(super) fn logged_of(
    execution: ExecutionId,
    owner: Option<String>,
    stored: Value,
) -> Result<(u64, Result<Logged, Damaged>), StoreError> {
    let (seq, offset, fields) = numbered(stored)?;
    let logged = record(execution, seq, &fields).map(|record| Logged {
        offset,
        execution,
        owner,
        record,
    });
    Ok((offset, logged))
}

/// Reads a record of the log of all, with its offset, execution, number, owner and fields.
pub(super) fn logged(found: Value) -> Result<(u64, Result<Logged, Damaged>), StoreError> {
    let parts: Result<[Value; 5], _> = reply::array(found)?.try_into();
    let [offset, execution, seq, owner, fields] =
        parts.map_err(|_| not_understood("an entry of the log with other parts"))?;
    let offset: Option<u64> = reply::text(offset).and_then(|text| text.parse().ok());
    let offset = offset.ok_or_else(|| not_understood("an entry of the log without an offset"))?;
    let place = || format!("the record with the offset {offset}");
    let named = reply::text(execution).and_then(|id| id.parse::<ExecutionId>().ok());
    let execution = damaged(
        None,
        place,
        named.ok_or_else(|| "it does not say of which execution it is".to_owned()),
    );
    let read = execution.and_then(|execution| {
        let seq: Option<u64> = reply::text(seq).and_then(|text| text.parse().ok());
        let fields = match fields {
            Value::Nil => None,
            fields => Fields::new(fields).ok(),
        };
        let (Some(seq), Some(fields)) = (seq, fields) else {
            let reason = Err("it is in the log, and not among those of its execution".to_owned());
            return damaged(Some(execution), place, reason);
        };
        Ok(Logged {
            offset,
            execution,
            owner: reply::text(owner),
            record: record(execution, seq, &fields)?,
        })
    });
    Ok((offset, read))
}

pub(super) fn question(token: Token, fields: &Fields) -> Result<PauseRow, Damaged> {
    let execution: Reading<ExecutionId> = fields.value("execution");
    let place = || match &execution {
        Ok(id) => format!("a question of execution {id}"),
        Err(_) => "a question".to_owned(),
    };
    let id = execution.as_ref().ok().copied();
    damaged(id, place, read_question(token, fields))
}

fn read_question(token: Token, fields: &Fields) -> Reading<PauseRow> {
    let state = fields.text("state")?;
    let answer = fields.optional_text("answer")?;
    Ok(PauseRow {
        token,
        execution: fields.value("execution")?,
        path: fields.text("path")?,
        step: fields.text("step")?,
        prompt: fields.text("prompt")?,
        expected: fields.text("expected")?,
        schema: fields.optional_text("schema")?,
        created_ms: fields.value("created_ms")?,
        expires_ms: fields.optional("expires_ms")?,
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
