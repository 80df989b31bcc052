//! What is written: each function within a transaction that is undone if it fails.

use rusqlite::{Connection, Params, params};
use uuid::Uuid;

use super::errors::store_error;
use super::read;
use super::rows::{self, EXECUTION};
use crate::durable::record::Record;
use crate::durable::refusal;
use crate::durable::store::{
    Append, Claim, Created, EndIf, ExecutionId, PauseRow, PauseState, Row, Settlement, Status,
    StoreError, Token,
};

pub(super) fn create(
    connection: &Connection,
    row: &Row,
    records: &[Record],
    pauses: &[PauseRow],
    claim: Option<Claim>,
) -> Result<Created, StoreError> {
    if let Some(key) = &row.idempotency_key {
        let sql = "SELECT id FROM executions INDEXED BY executions_by_idempotency_key \
             WHERE flow = ?1 AND idempotency_key = ?2 AND owner IS ?3";
        let existing = read::first(connection, sql, params![row.flow, key, row.owner], rows::id)?;
        if let Some(existing) = existing {
            return Ok(Created::Existing(existing));
        }
    }
    let next_seq = match records.first() {
        Some(first) => refusal::sequence(row.id, first.seq, records)?,
        None => row.next_seq,
    };
    let snapshot_seq = refusal::newest_snapshot(records).or(row.snapshot_seq);
    refusal::questions_of(row.id, pauses)?;

    let sql = "INSERT INTO executions (id, flow, structure, owner, idempotency_key, input_hash, status, format, options, created_ms, \
         updated_ms, next_seq, snapshot_seq, forked_from, result, fence, holder, claimed_until_ms) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18) ON CONFLICT (id) DO NOTHING";
    let claim = claim.filter(|_| !row.status.is_over());
    let values = params![
        row.id.to_string(),
        row.flow,
        row.structure,
        row.owner,
        row.idempotency_key,
        row.input_hash,
        row.status.as_str(),
        row.format,
        row.options,
        rows::integer(row.created_ms),
        rows::integer(row.updated_ms),
        rows::integer(next_seq),
        snapshot_seq.map(rows::integer),
        row.forked_from.map(|id| id.to_string()),
        row.result,
        claim.is_some(),
        claim.map(|claim| claim.holder.to_string()),
        claim.map(|claim| rows::integer(claim.until_ms)),
    ];
    if execute(connection, sql, values)? == 0 {
        return Err(refusal::id_taken(row.id));
    }
    insert_records(connection, row.id, records)?;
    insert_pauses(connection, pauses)?;
    if row.status.is_over() {
        close_all(connection, row.id)?;
    }
    if !pauses.is_empty() {
        questions_changed(connection, row.id)?;
    }
    Ok(Created::New)
}

pub(super) fn put_structure(
    connection: &Connection,
    hash: &str,
    structure: &str,
) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO structures (hash, structure) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
    execute(connection, sql, params![hash, structure])?;
    Ok(())
}

pub(super) fn claim(
    connection: &Connection,
    id: ExecutionId,
    holder: Uuid,
    now_ms: u64,
    until_ms: u64,
) -> Result<Option<Row>, StoreError> {
    let sql = format!(
        "UPDATE executions SET fence = fence + 1, holder = ?2, claimed_until_ms = ?4 \
         WHERE id = ?1 AND status NOT IN ('completed', 'failed', 'cancelled') \
         AND (holder IS NULL OR claimed_until_ms <= ?3) RETURNING {EXECUTION}"
    );
    let values = params![
        id.to_string(),
        holder.to_string(),
        rows::integer(now_ms),
        rows::integer(until_ms)
    ];
    read::first(connection, &sql, values, rows::execution)
}

pub(super) fn renew(
    connection: &Connection,
    holder: Uuid,
    until_ms: u64,
) -> Result<Vec<ExecutionId>, StoreError> {
    let sql = "UPDATE executions SET claimed_until_ms = max(claimed_until_ms, ?2) WHERE holder = ?1 RETURNING id";
    let values = params![holder.to_string(), rows::integer(until_ms)];
    let mut held = read::all(connection, sql, values, rows::id)?;
    held.sort_unstable();
    Ok(held)
}

pub(super) fn append(
    connection: &Connection,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<(), StoreError> {
    let records = &append.records;
    let first = records.first().map(|first| first.seq);
    let sequence = first.map_or(Ok(0), |first| refusal::sequence(id, first, records));
    let sql = "UPDATE executions SET next_seq = next_seq + ?4, updated_ms = ?5, \
         snapshot_seq = coalesce(?6, snapshot_seq), timer_ms = ?7 \
         WHERE id = ?1 AND fence = ?2 AND holder IS NOT NULL AND (?3 IS NULL OR next_seq = ?3)";
    let values = params![
        id.to_string(),
        rows::integer(fence),
        first.map(rows::integer),
        rows::limit(records.len()),
        rows::integer(append.now_ms),
        refusal::newest_snapshot(records).map(rows::integer),
        append.timer_ms.map(rows::integer),
    ];
    if sequence.is_err() || execute(connection, sql, values)? == 0 {
        return Err(why_refused(connection, id, fence, records)?);
    }
    insert_records(connection, id, records)?;

    refusal::questions_of(id, &append.opened)?;
    insert_pauses(connection, &append.opened)?;
    for token in &append.closed {
        let sql = format!("{CLOSE} WHERE token = ?1 AND execution = ?2");
        if execute(connection, &sql, params![token.to_string(), id.to_string()])? == 0 {
            return Err(StoreError::UnknownToken(*token));
        }
    }
    let over = append.status.is_some_and(Status::is_over);
    if over {
        close_all(connection, id)?;
    }
    if append.status.is_some() || !append.opened.is_empty() || !append.closed.is_empty() {
        questions_changed(connection, id)?;
    }
    if over || append.release {
        let sql = "UPDATE executions SET holder = NULL, claimed_until_ms = NULL WHERE id = ?1";
        execute(connection, sql, [id.to_string()])?;
    }
    if append.status.is_some() || append.result.is_some() || append.structure.is_some() {
        let sql = "UPDATE executions SET status = coalesce(?2, status), result = coalesce(?3, result), \
             structure = coalesce(?4, structure) WHERE id = ?1";
        let status = append.status.map(Status::as_str);
        let values = params![id.to_string(), status, append.result, append.structure];
        execute(connection, sql, values)?;
    }
    if let Some(seq) = append.prune_before {
        prune(connection, id, seq)?;
    }
    Ok(())
}

fn why_refused(
    connection: &Connection,
    id: ExecutionId,
    fence: u64,
    records: &[Record],
) -> Result<StoreError, StoreError> {
    let row = read::execution(connection, id)?.ok_or(StoreError::NotFound(id))?;
    let sql = "SELECT id FROM executions WHERE id = ?1 AND holder IS NOT NULL";
    let claimed = read::first(connection, sql, &[&id.to_string()], rows::id)?.is_some();
    if claimed && row.fence == fence {
        refusal::sequence(id, row.next_seq, records)?;
    }
    Ok(StoreError::LeaseLost(id))
}

fn prune(connection: &Connection, id: ExecutionId, seq: u64) -> Result<(), StoreError> {
    let values = params![id.to_string(), rows::integer(seq)];
    let sql =
        "SELECT execution FROM records WHERE execution = ?1 AND seq = ?2 AND kind = 'snapshot'";
    if read::first(connection, sql, values, rows::id)?.is_none() {
        return Err(refusal::not_a_snapshot(id, seq));
    }
    let sql = "DELETE FROM records WHERE execution = ?1 AND seq < ?2";
    execute(connection, sql, values)?;
    Ok(())
}

pub(super) fn end(
    connection: &Connection,
    id: ExecutionId,
    status: Status,
    reason: &str,
    record: &Record,
    condition: EndIf,
) -> Result<Row, StoreError> {
    refusal::is_an_end(status)?;
    let row = read::execution(connection, id)?.ok_or(StoreError::NotFound(id))?;
    let ends = match condition {
        EndIf::NotOver => !row.status.is_over(),
        EndIf::PausedUntouchedSince(ms) => {
            row.status == Status::Paused
                && row.updated_ms < ms
                && !read::pauses(connection, id)?
                    .iter()
                    .any(|pause| pause.state != PauseState::Open)
        }
    };
    if !ends {
        return Ok(row);
    }
    let seq = row.next_seq;
    insert_records(
        connection,
        id,
        &[Record {
            seq,
            ..record.clone()
        }],
    )?;
    let sql = "UPDATE executions SET status = ?2, result = ?3, updated_ms = ?4, next_seq = next_seq + 1, \
         fence = fence + 1, holder = NULL, claimed_until_ms = NULL, timer_ms = NULL WHERE id = ?1";
    let updated_ms = rows::integer(record.at_ms);
    let values = params![id.to_string(), status.as_str(), reason, updated_ms];
    execute(connection, sql, values)?;
    close_all(connection, id)?;
    questions_changed(connection, id)?;
    read::execution(connection, id)?.ok_or(StoreError::NotFound(id))
}

pub(super) fn settle(
    connection: &Connection,
    token: Token,
    settlement: &Settlement,
    now_ms: u64,
) -> Result<PauseRow, StoreError> {
    let before = read::pause(connection, token)?.ok_or(StoreError::UnknownToken(token))?;
    if before.state != PauseState::Open {
        return Ok(before);
    }
    let (state, answer) = match settlement {
        Settlement::Answer(answer) => ("answered", Some(answer)),
        Settlement::TimedOut => ("timed_out", None),
    };
    let sql = "UPDATE pauses SET state = ?2, answer = ?3 WHERE token = ?1";
    execute(connection, sql, params![token.to_string(), state, answer])?;
    let sql = "UPDATE executions SET updated_ms = ?2 WHERE id = ?1";
    let values = params![before.execution.to_string(), rows::integer(now_ms)];
    execute(connection, sql, values)?;
    questions_changed(connection, before.execution)?;
    Ok(before)
}

pub(super) fn delete(connection: &Connection, id: ExecutionId) -> Result<bool, StoreError> {
    let sql = "DELETE FROM executions WHERE id = ?1";
    Ok(execute(connection, sql, [id.to_string()])? > 0)
}

fn insert_records(
    connection: &Connection,
    id: ExecutionId,
    records: &[Record],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO records (\"offset\", execution, seq, at_ms, kind, path, step, visit, item, attempt, payload) \
         VALUES (1 + max((SELECT \"offset\" FROM deleted), (SELECT coalesce(max(\"offset\"), 0) FROM records)), \
         ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let id = id.to_string();
    for record in records {
        let values = params![
            id,
            rows::integer(record.seq),
            rows::integer(record.at_ms),
            record.kind.as_str(),
            record.path,
            record.step,
            record.visit,
            record.item,
            record.attempt,
            record.payload,
        ];
        execute(connection, sql, values)?;
    }
    Ok(())
}

fn insert_pauses(connection: &Connection, pauses: &[PauseRow]) -> Result<(), StoreError> {
    let sql = "INSERT INTO pauses (token, execution, path, step, prompt, expected, \"schema\", created_ms, \
         expires_ms, state, answer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
         ON CONFLICT (token) DO NOTHING";
    for pause in pauses {
        let (state, answer) = rows::pause_state(&pause.state);
        let values = params![
            pause.token.to_string(),
            pause.execution.to_string(),
            pause.path,
            pause.step,
            pause.prompt,
            pause.expected,
            pause.schema,
            rows::integer(pause.created_ms),
            pause.expires_ms.map(rows::integer),
            state,
            answer,
        ];
        if execute(connection, sql, values)? == 0 {
            return Err(refusal::token_taken());
        }
    }
    Ok(())
}

/// As [`PauseState::closed`].
const CLOSE: &str = "UPDATE pauses SET state = CASE state WHEN 'open' THEN 'withdrawn' WHEN 'answered' THEN 'used' \
     WHEN 'timed_out' THEN 'expired' ELSE state END, answer = NULL";

fn close_all(connection: &Connection, id: ExecutionId) -> Result<(), StoreError> {
    let sql =
        format!("{CLOSE} WHERE execution = ?1 AND state IN ('open', 'answered', 'timed_out')");
    execute(connection, &sql, [id.to_string()])?;
    Ok(())
}

/// Brings up to date what the execution's row says about its questions.
fn questions_changed(connection: &Connection, id: ExecutionId) -> Result<(), StoreError> {
    let sql = "UPDATE executions SET \
         wake_ms = (SELECT min(at_ms) FROM (SELECT timer_ms AS at_ms UNION ALL \
         SELECT expires_ms FROM pauses WHERE execution = ?1 AND state = 'open')), \
         settled = (SELECT count(*) FROM pauses WHERE execution = ?1 AND state IN ('answered', 'timed_out')) \
         WHERE id = ?1";
    execute(connection, sql, [id.to_string()])?;
    Ok(())
}

/// Runs a statement that changes something. How many rows it changed.
fn execute(connection: &Connection, sql: &str, values: impl Params) -> Result<usize, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    statement.execute(values).map_err(store_error)
}
