//! Writes. Each function runs within a transaction that is rolled back if it fails.
//!
//! To change a row, it is read, checked, and written as a whole with a new checksum. A partial
//! update would give a damaged row a valid checksum.

use flow_store::{
    Append, Claim, Created, EndIf, ExecutionId, Mark, PauseRow, PauseState, Record, RecordKind,
    Renewal, Row, Settlement, Status, StoreError, Token, refusal,
};
use rusqlite::{Connection, Params, params};
use uuid::Uuid;

use super::cells::{self, Cell, integer};
use super::errors::{Damage, store_error};
use super::read;
use super::rows::{self, EXECUTION, Execution, PAUSE, Question, RECORD, STRUCTURE};
use super::signals;

pub(super) fn create(
    connection: &Connection,
    row: &Row,
    records: &[Record],
    pauses: &[PauseRow],
    claim: Option<Claim>,
) -> Result<Created, StoreError> {
    refusal::names(row)?;
    if let Some(key) = &row.idempotency_key {
        let sql = format!(
            "SELECT {EXECUTION} FROM executions INDEXED BY executions_by_idempotency_key \
             WHERE flow = ?1 AND idempotency_key = ?2 AND owner IS ?3"
        );
        let values = params![row.flow, key, row.owner];
        let existing = read::first(connection, &sql, values, rows::execution)?;
        if let Some(existing) = existing {
            return Ok(Created::Existing(existing.row.id));
        }
    }
    let next_seq = match records.first() {
        Some(first) => refusal::sequence(row.id, first.seq, records)?,
        None => row.next_seq,
    };
    let claim = claim.filter(|_| !row.status.is_over());
    let mut execution = Execution {
        row: Row {
            fence: u64::from(claim.is_some()),
            next_seq,
            snapshot_seq: refusal::newest_snapshot(records).or(row.snapshot_seq),
            wake_ms: None,
            ..row.clone()
        },
        first_seq: records.first().map_or(next_seq, |first| first.seq),
        claim,
        timer_ms: None,
        settled: 0,
        unclosed: 0,
        signals: 0,
        untaken: 0,
        awaited: Vec::new(),
    };
    let sql = insert("executions", EXECUTION, "ON CONFLICT (id) DO NOTHING");
    if cells::write(connection, &sql, "executions", &execution.cells())? == 0 {
        return Err(refusal::id_taken(row.id));
    }
    insert_records(connection, &execution.row, records)?;
    if !pauses.is_empty() {
        change_questions(connection, &mut execution, pauses, &[])?;
        put(connection, &execution)?;
    }
    Ok(Created::New)
}

/// Adds a part of a loop for the holder of a claim.
pub(super) fn create_part(
    connection: &Connection,
    of: ExecutionId,
    fence: u64,
    row: &Row,
    records: &[Record],
) -> Result<Created, StoreError> {
    claimed(connection, of, fence)?;
    match read::execution(connection, row.id)? {
        Some(_) => Ok(Created::Existing(row.id)),
        None => create(connection, row, records, &[], None),
    }
}

/// Returns the execution if the claim with this fence is the current one.
fn claimed(connection: &Connection, id: ExecutionId, fence: u64) -> Result<Execution, StoreError> {
    let execution = read::execution(connection, id)?.ok_or(StoreError::NotFound(id))?;
    if execution.row.fence != fence || execution.claim.is_none() {
        return Err(StoreError::LeaseLost(id));
    }
    Ok(execution)
}

/// Returns a statement that takes the values of a row in the order of these columns.
pub(super) fn insert(table: &str, columns: &str, otherwise: &str) -> String {
    let values = vec!["?"; columns.split(',').count()].join(", ");
    format!("INSERT INTO {table} ({columns}) VALUES ({values}) {otherwise}")
}

/// Writes the current values of an execution.
pub(super) fn put(connection: &Connection, execution: &Execution) -> Result<(), StoreError> {
    // The numbers are those of the columns in `EXECUTION`. Columns that never change are left out.
    let sql = "UPDATE executions SET structure = ?3, status = ?7, options = ?9, updated_ms = ?11, next_seq = ?12, first_seq = ?13, \
         snapshot_seq = ?14, result = ?16, fence = ?17, holder = ?18, claimed_ms = ?19, claimed_until_ms = ?20, \
         timer_ms = ?21, wake_ms = ?22, settled = ?23, unclosed = ?24, due_ms = ?25, \
         halted = ?30, take_overs = ?31, taken_over_at = ?32, signals = ?33, untaken = ?34, awaited = ?35, \
         cancelled_ms = ?36, checksum = ?37 WHERE id = ?1";
    cells::write(connection, sql, "executions", &execution.cells())?;
    Ok(())
}

/// Writes an execution in which only the length of the journal has changed, which no index
/// contains.
fn put_grown(connection: &Connection, execution: &Execution) -> Result<(), StoreError> {
    let sql = "UPDATE executions SET updated_ms = ?11, next_seq = ?12, snapshot_seq = ?14, checksum = ?37 WHERE id = ?1";
    cells::write(connection, sql, "executions", &execution.cells())?;
    Ok(())
}

pub(super) fn put_structure(
    connection: &Connection,
    hash: &str,
    structure: &str,
) -> Result<(), StoreError> {
    let sql = insert("structures", STRUCTURE, "ON CONFLICT (hash) DO NOTHING");
    let cells = [hash, structure].map(Cell::from);
    cells::write(connection, &sql, "structures", &cells)?;
    Ok(())
}

pub(super) fn claim(
    connection: &Connection,
    id: ExecutionId,
    holder: Uuid,
    now_ms: u64,
    until_ms: u64,
) -> Result<Option<Row>, StoreError> {
    let Some(mut execution) = read::execution(connection, id)? else {
        return Ok(None);
    };
    let taken = execution.claim.is_some_and(|claim| claim.is_valid(now_ms));
    if taken || execution.row.status.is_over() {
        return Ok(None);
    }
    execution.claim = Some(Claim::new(holder, now_ms, until_ms));
    execution.row.fence += 1;
    put(connection, &execution)?;
    Ok(Some(execution.row))
}

pub(super) fn break_claim(
    connection: &Connection,
    id: ExecutionId,
    claim: Claim,
) -> Result<bool, StoreError> {
    let Some(mut execution) = read::execution(connection, id)? else {
        return Ok(false);
    };
    if execution.claim != Some(claim) {
        return Ok(false);
    }
    execution.claim = Some(claim.broken());
    put(connection, &execution)?;
    Ok(true)
}

pub(super) fn renew(
    connection: &Connection,
    holder: Uuid,
    until_ms: u64,
) -> Result<Vec<Renewal>, StoreError> {
    let sql = "SELECT id FROM executions WHERE holder = ?1 ORDER BY id";
    let shown = |row: &rusqlite::Row<'_>| Ok(rows::shown(row, 0));
    let ids = read::all(connection, sql, &[&holder.to_string()], shown)?;
    let mut renewals = Vec::new();
    for id in ids.iter().flat_map(|id| rows::parsed_id(id)) {
        // One that is damaged does not cost the others their claims.
        let mut execution = match read::indexed(connection, id) {
            Ok(execution) => execution,
            Err(StoreError::Corrupt { .. }) => continue,
            Err(error) => return Err(error),
        };
        if let Some(claim) = &mut execution.claim
            && claim.holder == holder
        {
            claim.until_ms = claim.until_ms.max(until_ms);
            let fence = execution.row.fence;
            renewals.push(Renewal { id, fence });
            put(connection, &execution)?;
        }
    }
    Ok(renewals)
}

pub(super) fn append(
    connection: &Connection,
    id: ExecutionId,
    fence: u64,
    append: &Append,
) -> Result<(), StoreError> {
    refusal::stored_status(id, append.status)?;
    let mut execution = claimed(connection, id, fence)?;
    let row = &mut execution.row;
    let records = &append.records;
    row.next_seq = refusal::sequence(id, row.next_seq, records)?;
    row.snapshot_seq = refusal::newest_snapshot(records).or(row.snapshot_seq);
    row.updated_ms = append.now_ms;
    insert_records(connection, row, records)?;

    let over = append.status.is_some_and(Status::is_over);
    let asks = !append.opened.is_empty() || !append.closed.is_empty();
    let changes = append.status.is_some() || append.result.is_some() || append.structure.is_some();
    let times = execution.timer_ms != append.timer_ms;
    let lists = [&append.awaited, &execution.awaited];
    let signals = !append.taken.is_empty() || lists.iter().any(|names| !names.is_empty());
    let others = append.release || append.prune_before.is_some();
    if !(asks || changes || times || signals || others) {
        return put_grown(connection, &execution);
    }
    let row = &mut execution.row;
    row.status = append.status.unwrap_or(row.status);
    row.result = append.result.clone().or(row.result.take());
    if let Some(structure) = &append.structure {
        row.structure.clone_from(structure);
    }
    if over || append.release {
        execution.claim = None;
    }
    execution.timer_ms = append.timer_ms.filter(|_| !over);
    if over || asks || times {
        change_questions(connection, &mut execution, &append.opened, &append.closed)?;
    }
    if let Some(seq) = append.prune_before {
        prune(connection, &mut execution, seq)?;
    }
    signals::take(connection, &mut execution, &append.taken)?;
    signals::wait_for(connection, &mut execution, append)?;
    put(connection, &execution)
}

fn prune(connection: &Connection, execution: &mut Execution, seq: u64) -> Result<(), StoreError> {
    let id = execution.row.id;
    let sql = format!("SELECT {RECORD} FROM records WHERE execution = ?1 AND seq = ?2");
    let values = params![id.to_string(), integer(seq)];
    let record = read::first(connection, &sql, values, rows::logged)?;
    if record.is_none_or(|logged| logged.record.kind != RecordKind::Snapshot) {
        return Err(refusal::not_a_snapshot(id, seq));
    }
    leads_to_its_records(connection, id, seq)?;
    let sql = "DELETE FROM records WHERE execution = ?1 AND seq < ?2";
    execute(connection, sql, values)?;
    execution.first_seq = seq;
    Ok(())
}

/// Writes the reason of a halt and the number of takeovers to a claimed execution.
pub(super) fn mark(
    connection: &Connection,
    id: ExecutionId,
    fence: u64,
    mark: &Mark,
) -> Result<(), StoreError> {
    let mut execution = claimed(connection, id, fence)?;
    execution.row.halted.clone_from(&mark.halted);
    execution.row.take_overs = mark.take_overs;
    if let Some(options) = &mark.options {
        execution.row.options.clone_from(options);
    }
    put(connection, &execution)
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
    let mut execution = read::execution(connection, id)?.ok_or(StoreError::NotFound(id))?;
    let ends = match condition {
        EndIf::NotOver => !execution.row.status.is_over(),
        EndIf::PausedUntouchedSince(ms) => {
            let row = &execution.row;
            let untouched =
                row.status == Status::Paused && row.updated_ms < ms && execution.settled == 0;
            untouched && !signals::has_awaited(connection, &execution)?
        }
        EndIf::Queued => execution.row.status == Status::Queued,
    };
    if !ends {
        return Ok(execution.row);
    }
    let row = &mut execution.row;
    let (seq, at_ms) = (row.next_seq, record.at_ms);
    let record = Record {
        seq,
        ..record.clone()
    };
    insert_records(connection, row, &[record])?;
    row.status = status;
    row.result = Some(reason.to_owned());
    row.updated_ms = at_ms;
    row.next_seq += 1;
    row.fence += 1;
    execution.claim = None;
    execution.timer_ms = None;
    execution.awaited.clear();
    change_questions(connection, &mut execution, &[], &[])?;
    put(connection, &execution)?;
    Ok(execution.row)
}

pub(super) fn reopen(
    connection: &Connection,
    id: ExecutionId,
    status: Status,
    record: &Record,
) -> Result<Row, StoreError> {
    refusal::is_reopened(status)?;
    let mut execution = read::execution(connection, id)?.ok_or(StoreError::NotFound(id))?;
    let row = &mut execution.row;
    if !row.status.is_over() || row.next_seq != record.seq {
        return Ok(execution.row);
    }
    insert_records(connection, row, std::slice::from_ref(record))?;
    row.reopen(status, record.at_ms);
    row.next_seq += 1;
    put(connection, &execution)?;
    Ok(execution.row)
}

pub(super) fn settle(
    connection: &Connection,
    token: Token,
    settlement: &Settlement,
    now_ms: u64,
) -> Result<PauseRow, StoreError> {
    let unknown = StoreError::UnknownToken(token);
    let before = read::question(connection, token)?.ok_or(unknown)?;
    if before.row.state != PauseState::Open {
        return Ok(before.row);
    }
    let mut execution = read::indexed(connection, before.row.execution)?;
    let mut questions = read::questions(connection, &execution)?;
    for question in &mut questions {
        if question.number == before.number {
            question.set(match settlement {
                Settlement::Answer(answer) => PauseState::Answered(answer.clone()),
                Settlement::TimedOut => PauseState::TimedOut,
            });
            put_question(connection, question)?;
        }
    }
    execution.row.updated_ms = now_ms;
    execution.count(&questions);
    put(connection, &execution)?;
    Ok(before.row)
}

pub(super) fn delete(connection: &Connection, id: ExecutionId) -> Result<bool, StoreError> {
    let key = id.to_string();
    let sql = "SELECT id FROM executions NOT INDEXED WHERE rowid = (SELECT rowid FROM executions WHERE id = ?1)";
    let found = read::first(connection, sql, &[&key], |row| Ok(rows::shown(row, 0)))?;
    if found.is_some_and(|found| found != key) {
        return Err(Damage(read::LED_ASTRAY.to_owned()).at(format!("execution {id}")));
    }
    leads_to_its_records(connection, id, u64::MAX)?;
    let sql = "DELETE FROM executions WHERE id = ?1";
    Ok(execute(connection, sql, [key])? > 0)
}

/// Refuses to delete through an index that leads to records of another execution.
fn leads_to_its_records(
    connection: &Connection,
    id: ExecutionId,
    before: u64,
) -> Result<(), StoreError> {
    let sql = "SELECT entry.seq FROM records AS entry INDEXED BY sqlite_autoindex_records_1 \
         CROSS JOIN records AS record NOT INDEXED ON record.\"offset\" = entry.\"offset\" \
         WHERE entry.execution = ?1 AND entry.seq < ?2 AND record.execution <> ?1 LIMIT 1";
    let values = params![id.to_string(), integer(before)];
    let astray = read::first(connection, sql, values, |row| rows::number(row, 0))?;
    astray.map_or(Ok(()), |seq| {
        Err(Damage(read::LED_ASTRAY.to_owned()).at(format!("execution {id}, record {seq}")))
    })
}

fn insert_records(
    connection: &Connection,
    row: &Row,
    records: &[Record],
) -> Result<(), StoreError> {
    if records.is_empty() {
        return Ok(());
    }
    let sql = "SELECT max((SELECT \"offset\" FROM deleted), (SELECT coalesce(max(\"offset\"), 0) FROM records))";
    let newest = read::number(connection, sql)?;
    let (sql, id) = (insert("records", RECORD, ""), row.id.to_string());
    for (offset, record) in (newest + 1..).zip(records) {
        let cells = rows::record_cells(offset, &id, row.owner.as_ref(), record);
        cells::write(connection, &sql, "records", &cells)?;
    }
    Ok(())
}

/// Adds questions to an execution and closes others, or all of them if the execution is over.
fn change_questions(
    connection: &Connection,
    execution: &mut Execution,
    opened: &[PauseRow],
    closed: &[Token],
) -> Result<(), StoreError> {
    let id = execution.row.id;
    refusal::questions_of(id, opened)?;
    let mut questions = read::questions(connection, execution)?;
    questions.extend(insert_questions(connection, opened)?);
    for token in closed {
        let is_known = questions
            .iter()
            .any(|question| question.row.token == *token);
        if is_known {
            continue;
        }
        // The token may belong to a closed question.
        let question = read::question(connection, *token)?;
        if question.is_none_or(|question| question.row.execution != id) {
            return Err(StoreError::UnknownToken(*token));
        }
    }
    for question in &mut questions {
        if execution.row.status.is_over() || closed.contains(&question.row.token) {
            question.set(question.row.state.closed());
            put_question(connection, question)?;
        }
    }
    execution.count(&questions);
    Ok(())
}

fn insert_questions(
    connection: &Connection,
    pauses: &[PauseRow],
) -> Result<Vec<Question>, StoreError> {
    if pauses.is_empty() {
        return Ok(Vec::new());
    }
    let newest = read::number(connection, "SELECT coalesce(max(number), 0) FROM pauses")?;
    let sql = insert("pauses", PAUSE, "ON CONFLICT (token) DO NOTHING");
    let mut inserted = Vec::new();
    for (number, pause) in (newest + 1..).zip(pauses) {
        let question = Question::new(number, pause.clone());
        if cells::write(connection, &sql, "pauses", &question.cells())? == 0 {
            return Err(refusal::token_taken());
        }
        inserted.push(question);
    }
    Ok(inserted)
}

/// Writes the current values of a question.
fn put_question(connection: &Connection, question: &Question) -> Result<(), StoreError> {
    // The numbers are those of the columns in `PAUSE`.
    let sql = "UPDATE pauses SET state = ?11, answer = ?12, checksum = ?13 WHERE number = ?1";
    cells::write(connection, sql, "pauses", &question.cells())?;
    Ok(())
}

/// Runs a statement that changes data. Returns the number of changed rows.
pub(super) fn execute(
    connection: &Connection,
    sql: &str,
    values: impl Params,
) -> Result<usize, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    statement.execute(values).map_err(store_error)
}
