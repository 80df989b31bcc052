//! Writes. Each is one script. If the connection is lost before the answer, the script runs again,
//! and detects whether it had its effect before: by the id of the call, which is stored with its
//! writes.

use flow_store::hints::Written;
use flow_store::{
    Append, Claim, Created, Damaged, EndIf, ExecutionId, Mark, PauseRow, PauseState, Record,
    Renewal, Row, Settlement, Status, StoreError, Take, Token, refusal,
};
use redis::Value;
use uuid::Uuid;

use super::database::Database;
use super::reply::{self, Fields};
use super::rows;
use super::script::{self, Arguments, integer};

/// Returns the first part of an answer.
fn first(parts: Vec<Value>) -> Value {
    parts.into_iter().next().unwrap_or(Value::Nil)
}

/// Returns the fields of a new execution.
fn fields<'a>(
    row: &'a Row,
    records: &[Record],
    next_seq: u64,
    claim: Option<Claim>,
) -> Arguments<'a> {
    let mut all = Arguments::default();
    let mut count = 0;
    let mut add = |name: &'static str, value: Option<String>| {
        let Some(value) = value else { return };
        count += 1;
        all = std::mem::take(&mut all).text(name).owned(value);
    };
    let number = |number: Option<u64>| number.map(integer);
    let snapshot = refusal::newest_snapshot(records).or(row.snapshot_seq);
    let concurrency = row.concurrency.as_ref();
    add("id", Some(row.id.to_string()));
    add("flow", Some(row.flow.clone()));
    add("structure", Some(row.structure.clone()));
    add("owner", row.owner.clone());
    add("idempotency_key", row.idempotency_key.clone());
    add("input_hash", Some(row.input_hash.clone()));
    add("status", Some(row.status.to_string()));
    add("format", number(Some(row.format.into())));
    add("options", Some(row.options.clone()));
    add("created_ms", number(Some(row.created_ms)));
    add("updated_ms", number(Some(row.updated_ms)));
    add("next_seq", number(Some(next_seq)));
    add("snapshot_seq", number(snapshot));
    add("copied_from", row.copied_from.map(|id| id.to_string()));
    add("result", row.result.clone());
    add("fence", number(Some(claim.is_some().into())));
    add("holder", claim.map(|claim| claim.holder.to_string()));
    let lease_ms = claim.map(|claim| script::lease(claim.lease_ms));
    add("lease_ms", number(lease_ms));
    add("settled", number(Some(0)));
    add("asked", number(Some(0)));
    add("priority", Some(row.priority.to_string()));
    add("not_before_ms", number(row.not_before_ms));
    add("concurrency_key", concurrency.map(|it| it.key.clone()));
    add(
        "concurrency_limit",
        number(concurrency.map(|it| it.at_most.into())),
    );
    add("cancelled_ms", number(row.cancelled_ms));
    all.counted(count)
}

pub(super) async fn create(
    database: &Database,
    row: &Row,
    records: &[Record],
    pauses: &[PauseRow],
    claim: Option<Claim>,
) -> Result<Created, StoreError> {
    create_for(database, None, row, records, pauses, claim).await
}

/// Adds a part of a loop for the holder of a claim.
pub(super) async fn create_part(
    database: &Database,
    of: ExecutionId,
    fence: u64,
    row: &Row,
    records: &[Record],
) -> Result<Created, StoreError> {
    create_for(database, Some((of, fence)), row, records, &[], None).await
}

/// Adds an execution. It is a part of another one if that and the fence of its claim are given.
async fn create_for(
    database: &Database,
    of: Option<(ExecutionId, u64)>,
    row: &Row,
    records: &[Record],
    pauses: &[PauseRow],
    claim: Option<Claim>,
) -> Result<Created, StoreError> {
    refusal::names(row)?;
    let next_seq = match records.first() {
        Some(first) => refusal::sequence(row.id, first.seq, records)?,
        None => row.next_seq,
    };
    refusal::questions_of(row.id, pauses)?;
    let claim = claim.filter(|_| !row.status.is_over());
    let claimed_ms = claim.map(|claim| claim.until_ms.saturating_sub(claim.lease_ms));
    let whole = match of {
        Some((of, fence)) => {
            let call = database.claims.call_of(of, fence);
            Arguments::default()
                .id(of.as_uuid())
                .number(fence)
                .owned(call.map_or_else(String::new, |call| call.to_string()))
        }
        None => Arguments::default().text(""),
    };
    let arguments = whole
        .flag(database.callers_clocks)
        .optional_number(claimed_ms)
        .and(fields(row, records, next_seq, claim))
        .records(records)
        .questions(pauses);
    let call = Uuid::new_v4();
    let answer = database.write(&script::CREATE, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    match (tag.as_str(), of) {
        ("new", _) => {
            if claim.is_some() {
                database.claims.add(row.id, 1, call);
            }
            database.tell(Written {
                records: true,
                work: !row.status.is_over() && claim.is_none(),
            });
            Ok(Created::New)
        }
        ("existing", _) => {
            let id = reply::text(first(parts)).and_then(|id| id.parse().ok());
            id.map(Created::Existing)
                .ok_or_else(|| StoreError::Corrupt {
                    place: "the idempotency keys".to_owned(),
                    reason: "one has an id that is not a UUID".to_owned(),
                })
        }
        ("id_taken", None) => Err(refusal::id_taken(row.id)),
        ("id_taken", Some(_)) => Ok(Created::Existing(row.id)),
        ("token_taken", _) => Err(refusal::token_taken()),
        ("not_found", Some((of, _))) => Err(StoreError::NotFound(of)),
        ("lease_lost", Some((of, _))) => Err(StoreError::LeaseLost(of)),
        (other, _) => Err(reply::unknown(other)),
    }
}

pub(super) async fn put_structure(
    database: &Database,
    hash: &str,
    structure: &str,
) -> Result<(), StoreError> {
    let mut set = redis::cmd("HSETNX");
    set.arg(database.key("structures")).arg(hash).arg(structure);
    database.command(set).await?;
    Ok(())
}

pub(super) async fn claim(
    database: &Database,
    id: ExecutionId,
    holder: Uuid,
    now_ms: u64,
    until_ms: u64,
) -> Result<Option<Row>, StoreError> {
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .id(holder)
        .flag(database.callers_clocks)
        .number(now_ms)
        .lease(Claim::new(holder, now_ms, until_ms).lease_ms);
    let call = Uuid::new_v4();
    let answer = database.write(&script::CLAIM, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    match tag.as_str() {
        "row" => {
            let row = execution(id, first(parts))?;
            database.claims.add(id, row.fence, call);
            Ok(Some(row))
        }
        "none" => Ok(None),
        other => Err(reply::unknown(other)),
    }
}

fn execution(id: ExecutionId, fields: Value) -> Result<Row, StoreError> {
    Ok(rows::execution(&id.to_string(), &Fields::new(fields)?)?)
}

/// Runs a script that answers yes or no.
async fn decided(
    database: &Database,
    script: &script::Script,
    arguments: Arguments<'_>,
) -> Result<bool, StoreError> {
    let answer = database.write(script, Uuid::new_v4(), arguments).await?;
    match reply::tagged(answer)?.0.as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(reply::unknown(other)),
    }
}

pub(super) async fn break_claim(
    database: &Database,
    id: ExecutionId,
    claim: Claim,
) -> Result<bool, StoreError> {
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .id(claim.holder)
        .number(claim.until_ms)
        .lease(claim.lease_ms);
    decided(database, &script::BREAK_CLAIM, arguments).await
}

pub(super) async fn delete(database: &Database, id: ExecutionId) -> Result<bool, StoreError> {
    decided(
        database,
        &script::DELETE,
        Arguments::default().id(id.as_uuid()),
    )
    .await
}

pub(super) async fn renew(
    database: &Database,
    holder: Uuid,
    until_ms: u64,
) -> Result<Vec<Renewal>, StoreError> {
    let arguments = Arguments::default()
        .id(holder)
        .flag(database.callers_clocks)
        .number(until_ms);
    let answer = database
        .write(&script::RENEW, Uuid::new_v4(), arguments)
        .await?;
    let held = reply::array(answer)?.into_iter();
    // A text that is not an id belongs to no execution.
    Ok(held
        .filter_map(|held| {
            let held = reply::text(held)?;
            let (id, fence) = held.split_once(' ')?;
            let (id, fence) = (id.parse().ok()?, fence.parse().ok()?);
            Some(Renewal { id, fence })
        })
        .collect())
}

pub(super) async fn append(
    database: &Database,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<(), StoreError> {
    refusal::stored_status(id, append.status)?;
    refusal::questions_of(id, &append.opened)?;
    let first_seq = append.records.first().map_or(0, |record| record.seq);
    refusal::sequence(id, first_seq, &append.records)?;
    let claim = database.claims.call_of(id, fence);
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .number(fence)
        .owned(claim.map_or_else(String::new, |call| call.to_string()))
        .number(append.now_ms)
        .text(append.status.map_or("", Status::as_str))
        .optional(append.result.as_deref())
        .optional(append.structure.as_deref())
        .optional_number(append.timer_ms)
        .flag(append.release)
        .optional_number(append.prune_before)
        .optional_number(refusal::newest_snapshot(&append.records))
        .records(&append.records)
        .questions(&append.opened)
        .count(append.closed.len());
    let closed = append.closed.iter();
    let arguments = closed.fold(arguments, |all, token| all.id(token.as_uuid()));
    let arguments = arguments.count(append.taken.len());
    let taken = append.taken.iter();
    let arguments = taken.fold(arguments, |all, number| all.number(*number));
    let arguments = arguments.count(append.awaited.len());
    let awaited = append.awaited.iter();
    let arguments = awaited.fold(arguments, |all, name| all.text(name));
    let call = Uuid::new_v4();
    let answer = database.write(&script::APPEND, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    let detail = reply::text(first(parts));
    let is_over = append.status.is_some_and(Status::is_over);
    if tag == "not_found" || tag == "ok" && (append.release || is_over) {
        database.claims.remove(id, fence);
    }
    match tag.as_str() {
        "ok" => {
            // A process that pauses an execution resumes it itself.
            let gives_up =
                append.release && append.status.is_none_or(|status| status == Status::Running);
            database.tell(Written {
                records: !append.records.is_empty(),
                work: gives_up || detail.as_deref() == Some("work"),
            });
            Ok(())
        }
        "not_found" => Err(StoreError::NotFound(id)),
        "lease_lost" => Err(StoreError::LeaseLost(id)),
        "gap" => {
            let expected = detail.and_then(|seq| seq.parse().ok());
            let expected = expected.ok_or_else(|| reply::unknown("gap"))?;
            refusal::sequence(id, expected, &append.records)?;
            Err(reply::unknown("gap"))
        }
        "token_taken" => Err(refusal::token_taken()),
        "unknown_token" => {
            let token = detail.and_then(|token| token.parse().ok());
            Err(token.map_or_else(|| reply::unknown("unknown_token"), StoreError::UnknownToken))
        }
        "not_a_snapshot" => Err(refusal::not_a_snapshot(
            id,
            append.prune_before.unwrap_or_default(),
        )),
        "not_a_signal" => {
            let number = detail.and_then(|number| number.parse().ok());
            let number = number.ok_or_else(|| reply::unknown("not_a_signal"))?;
            Err(refusal::not_a_signal(id, number))
        }
        other => Err(reply::unknown(other)),
    }
}

/// Writes the reason of a halt and the number of takeovers.
pub(super) async fn mark(
    database: &Database,
    id: ExecutionId,
    fence: u64,
    mark: &Mark,
) -> Result<(), StoreError> {
    let claim = database.claims.call_of(id, fence);
    let take_overs = mark.take_overs;
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .number(fence)
        .owned(claim.map_or_else(String::new, |call| call.to_string()))
        .optional(mark.halted.as_deref())
        .optional_number(take_overs.map(|it| it.count.into()))
        .optional_number(take_overs.map(|it| it.at_seq))
        .optional(mark.options.as_deref());
    let call = Uuid::new_v4();
    let answer = database.write(&script::MARK, call, arguments).await?;
    match reply::tagged(answer)?.0.as_str() {
        "ok" => Ok(()),
        "not_found" => Err(StoreError::NotFound(id)),
        "lease_lost" => Err(StoreError::LeaseLost(id)),
        other => Err(reply::unknown(other)),
    }
}

pub(super) async fn end(
    database: &Database,
    id: ExecutionId,
    status: Status,
    reason: &str,
    record: &Record,
    condition: EndIf,
) -> Result<Row, StoreError> {
    refusal::is_an_end(status)?;
    let since = match condition {
        EndIf::NotOver | EndIf::Queued => None,
        EndIf::PausedUntouchedSince(ms) => Some(ms),
    };
    let only = if condition == EndIf::Queued {
        Status::Queued.as_str()
    } else {
        ""
    };
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .text(status.as_str())
        .text(reason)
        .number(record.at_ms)
        .optional_number(since)
        .text(only)
        .record(record);
    let call = Uuid::new_v4();
    let answer = database.write(&script::END, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    match tag.as_str() {
        "row" => {
            let row = execution(id, first(parts))?;
            database.tell(Written {
                records: true,
                work: row.concurrency.is_some(),
            });
            Ok(row)
        }
        "not_found" => Err(StoreError::NotFound(id)),
        other => Err(reply::unknown(other)),
    }
}

pub(super) async fn reopen(
    database: &Database,
    id: ExecutionId,
    status: Status,
    record: &Record,
) -> Result<Row, StoreError> {
    refusal::is_reopened(status)?;
    let arguments = Arguments::default()
        .id(id.as_uuid())
        .text(status.as_str())
        .number(record.seq)
        .number(record.at_ms)
        .record(record);
    let call = Uuid::new_v4();
    let answer = database.write(&script::REOPEN, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    match tag.as_str() {
        "row" => {
            let row = execution(id, first(parts))?;
            database.tell(Written {
                records: true,
                work: true,
            });
            Ok(row)
        }
        "not_found" => Err(StoreError::NotFound(id)),
        other => Err(reply::unknown(other)),
    }
}

pub(super) async fn settle(
    database: &Database,
    token: Token,
    settlement: Settlement,
    now_ms: u64,
) -> Result<PauseRow, StoreError> {
    let settled = PauseState::from(settlement);
    let (state, answer) = script::state(&settled);
    let arguments = Arguments::default()
        .id(token.as_uuid())
        .text(state)
        .optional(answer)
        .number(now_ms);
    let call = Uuid::new_v4();
    let answer = database.write(&script::SETTLE, call, arguments).await?;
    let (tag, parts) = reply::tagged(answer)?;
    if tag != "unknown_token" {
        database.tell(Written {
            records: false,
            work: true,
        });
    }
    let read = || -> Result<PauseRow, StoreError> {
        Ok(rows::question(token, &Fields::new(first(parts))?)?)
    };
    match tag.as_str() {
        "question" => read(),
        "settled" => Ok(PauseRow {
            state: PauseState::Open,
            ..read()?
        }),
        "unknown_token" => Err(StoreError::UnknownToken(token)),
        other => Err(reply::unknown(other)),
    }
}

pub(super) async fn take_queued(
    database: &Database,
    take: &Take,
) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
    let arguments = Arguments::default()
        .count(take.limit)
        .id(take.holder)
        .flag(database.callers_clocks)
        .number(take.now_ms)
        .lease(Claim::new(take.holder, take.now_ms, take.until_ms).lease_ms)
        .count(take.flows.len());
    let arguments = take.flows.iter().fold(arguments, |all, (flow, places)| {
        all.text(flow).count(*places)
    });
    let call = Uuid::new_v4();
    let answer = database
        .write(&script::TAKE_QUEUED, call, arguments)
        .await?;
    let mut taken = Vec::new();
    for found in reply::array(answer)? {
        let (tag, parts) = reply::tagged(found)?;
        let row = match tag.as_str() {
            "row" => taken_row(first(parts))?,
            "damaged" => Err(damaged(parts)),
            other => return Err(reply::unknown(other)),
        };
        if let Ok(row) = &row {
            database.claims.add(row.id, row.fence, call);
        }
        taken.push(row);
    }
    Ok(taken)
}

fn taken_row(fields: Value) -> Result<Result<Row, Damaged>, StoreError> {
    let fields = Fields::new(fields)?;
    let id = fields.text("id").unwrap_or_default();
    Ok(rows::execution(&id, &fields))
}

/// Reads a script's report of a damaged execution: its id, the place and the reason.
fn damaged(parts: Vec<Value>) -> Damaged {
    let mut texts = parts
        .into_iter()
        .map(|part| reply::text(part).unwrap_or_default());
    let mut next = || texts.next().unwrap_or_default();
    Damaged {
        execution: next().parse().ok(),
        place: next(),
        reason: next(),
    }
}
