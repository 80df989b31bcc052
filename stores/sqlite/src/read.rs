//! Reads. An index says which rows to read; each row is then read and checked by itself. A damaged
//! index may lead to an intact row, but the wrong one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use flow_store::{Damaged, ExecutionId, ListQuery, Logged, Record, Row, StoreError, Token};
use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, params};

use super::cells::integer;
use super::errors::{Damage, store_error};
use super::rows::{self, EXECUTION, Execution, PAUSE, Question, RECORD, STRUCTURE};

/// The reason of the damage if an index entry leads to another row.
pub(super) const LED_ASTRAY: &str = "an index leads to another one";

pub(super) fn structure(connection: &Connection, hash: &str) -> Result<Option<String>, StoreError> {
    let from = format!("{STRUCTURE} FROM structures");
    keyed(connection, &from, "hash", hash, rows::structure)
}

pub(super) fn execution(
    connection: &Connection,
    id: ExecutionId,
) -> Result<Option<Execution>, StoreError> {
    let id = id.to_string();
    let sql = format!("SELECT {EXECUTION} FROM executions WHERE id = ?1");
    let found = first(connection, &sql, &[&id], rows::execution)?;
    if found.is_none() {
        let sql = "SELECT 1 FROM records WHERE execution = ?1 LIMIT 1";
        if first(connection, sql, &[&id], |_| Ok(()))?.is_some() {
            let damage = Damage("it has records, and is not there itself".to_owned());
            return Err(damage.at(format!("execution {id}")));
        }
    }
    Ok(found)
}

/// Returns a question, even a closed one.
pub(super) fn question(
    connection: &Connection,
    token: Token,
) -> Result<Option<Question>, StoreError> {
    let from = format!("{PAUSE} FROM pauses");
    keyed(
        connection,
        &from,
        "token",
        &token.to_string(),
        rows::question,
    )
}

/// Returns the row with this key. If there is none, one of its neighbours in the index may be the
/// row, with a damaged key.
fn keyed<T>(
    connection: &Connection,
    from: &str,
    key: &str,
    value: &str,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let sql = format!("SELECT {from} WHERE {key} = ?1");
    let found = first(connection, &sql, &[&value], &read)?;
    if found.is_some() {
        return Ok(found);
    }
    for (than, order) in [("<", "DESC"), (">", "ASC")] {
        let sql = format!("SELECT {from} WHERE {key} {than} ?1 ORDER BY {key} {order} LIMIT 1");
        first(connection, &sql, &[&value], &read).map_err(|error| match error {
            StoreError::Corrupt { .. } => {
                let reason = "there is none, and a damaged one beside it may be the one";
                Damage(reason.to_owned()).at(format!("{key} {value}"))
            }
            error => error,
        })?;
    }
    Ok(None)
}

/// Returns the executions that match a query, the newest first.
pub(super) fn list(
    connection: &Connection,
    query: &ListQuery,
) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
    let (sql, values) = ids_of(query);
    let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
    let found = statement.query(rusqlite::params_from_iter(values));
    let mut found = found.map_err(store_error)?;
    let mut listed = Limited::new(query.limit.unwrap_or(usize::MAX));
    while !listed.is_full() {
        let Some(row) = found.next().map_err(store_error)? else {
            break;
        };
        listed.add(connection, &rows::shown(row, 0), |it| {
            let allowed = query.allows(&it.row) && query.asks.is_none_or(|asks| it.asks() == asks);
            Ok(allowed.then_some(it.row))
        })?;
    }
    Ok(listed.found)
}

/// The results for the executions in an index, up to a limit. Damaged ones do not count.
struct Limited<T> {
    left: usize,
    found: Vec<Result<T, Damaged>>,
}

impl<T> Limited<T> {
    fn new(limit: usize) -> Self {
        Limited {
            left: limit,
            found: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Reads the execution with an id from an index, and adds its result if it is relevant.
    fn add(
        &mut self,
        connection: &Connection,
        id: &str,
        of_use: impl Fn(Execution) -> Result<Option<T>, StoreError>,
    ) -> Result<(), StoreError> {
        let id = rows::parsed_id(id);
        let execution = id.as_ref().ok().copied();
        match id.and_then(|id| of_use(indexed(connection, id)?)) {
            Ok(None) => {}
            Ok(Some(found)) => {
                self.left -= 1;
                self.found.push(Ok(found));
            }
            Err(StoreError::Corrupt { place, reason }) => self.found.push(Err(Damaged {
                execution,
                place,
                reason,
            })),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Finds the executions of an owner, and of a status or a flow, in an index. The other parts of a
/// query are tested on the rows, after a check of these.
fn ids_of(query: &ListQuery) -> (String, Vec<Value>) {
    let mut conditions = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    let mut index = "sqlite_autoindex_executions_1";
    if let Some(owner) = &query.owner {
        index = "executions_by_owner";
        conditions.push("owner IS ?");
        values.push(owner.clone().into());
        if let Some(status) = query.status {
            index = "executions_by_status";
            conditions.push("status = ?");
            values.push(status.as_str().to_owned().into());
        } else if let Some(flow) = &query.flow {
            index = "executions_by_flow";
            conditions.push("flow = ?");
            values.push(flow.clone().into());
        }
    }
    if query.halted == Some(true) {
        // Few executions are halted.
        index = "executions_halted";
        conditions.push("halted IS NOT NULL");
    }
    if query.cancelling == Some(true) {
        // Few executions are being cancelled.
        index = "executions_cancelling";
        conditions.push("cancelled_ms IS NOT NULL");
        conditions.push("status NOT IN ('completed', 'failed', 'cancelled')");
    }
    if query.asks == Some(true) {
        conditions.push("unclosed > settled");
    }
    if let Some(id) = query.before {
        conditions.push("id < ?");
        values.push(id.to_string().into());
    }
    let conditions = if conditions.is_empty() {
        String::new()
    } else {
        format!("WHERE {}", conditions.join(" AND "))
    };
    let sql = format!("SELECT id FROM executions INDEXED BY {index} {conditions} ORDER BY id DESC");
    (sql, values)
}

/// Returns an execution that was found in an index.
pub(super) fn indexed(connection: &Connection, id: ExecutionId) -> Result<Execution, StoreError> {
    execution(connection, id)?.ok_or_else(|| {
        Damage("an index has it, and it is not there".to_owned()).at(format!("execution {id}"))
    })
}

pub(super) fn records(
    connection: &Connection,
    id: ExecutionId,
    from_seq: u64,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let Some(execution) = execution(connection, id)? else {
        return Ok(Vec::new());
    };
    let logged = logged_from(connection, &execution, from_seq, limit)?;
    Ok(logged.into_iter().map(|logged| logged.record).collect())
}

/// Returns the records of an execution from one on, without a gap.
pub(super) fn logged_from(
    connection: &Connection,
    execution: &Execution,
    from_seq: u64,
    limit: usize,
) -> Result<Vec<Logged>, StoreError> {
    let id = execution.row.id;
    let sql = format!(
        "SELECT {RECORD} FROM records WHERE execution = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3"
    );
    let values = params![id.to_string(), integer(from_seq), rows::limit(limit)];
    let records = all(connection, &sql, values, |row| {
        let logged = rows::logged(row)?;
        if logged.execution == id {
            Ok(logged)
        } else {
            Err(execution.damage(format!("{LED_ASTRAY} than its records")))
        }
    })?;

    let first = from_seq.max(execution.first_seq);
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let count = execution.row.next_seq.saturating_sub(first).min(limit);
    let mut read = records.iter().map(|logged| logged.record.seq);
    match (first..first.saturating_add(count)).find(|seq| read.next() != Some(*seq)) {
        None => Ok(records),
        Some(seq) => {
            Err(Damage("it is missing".to_owned()).at(format!("execution {id}, record {seq}")))
        }
    }
}

/// Returns the questions of an execution that are not closed, in the order asked.
pub(super) fn questions(
    connection: &Connection,
    execution: &Execution,
) -> Result<Vec<Question>, StoreError> {
    let sql = format!(
        "SELECT {PAUSE} FROM pauses WHERE execution = ?1 AND \
         state NOT IN ('used', 'expired', 'withdrawn') ORDER BY number"
    );
    let id = execution.row.id.to_string();
    let questions = all(connection, &sql, &[&id], rows::question)?;
    let is_asked = |question: &Question| {
        question.row.execution == execution.row.id && !question.row.state.is_closed()
    };
    let are_different = questions.is_sorted_by(|one, next| one.number < next.number);
    if !are_different || !questions.iter().all(is_asked) {
        return Err(execution.damage(format!("{LED_ASTRAY} than its questions")));
    }
    if questions.len() as u64 == execution.unclosed {
        return Ok(questions);
    }
    let (found, unclosed) = (questions.len(), execution.unclosed);
    Err(execution.damage(format!("of its {unclosed} questions there are {found}")))
}

/// The number of index entries to read after the due ones and to compare with their executions. If
/// one of them is damaged, the other one still marks the end of the due ones.
const BEYOND: usize = 2;

/// An entry of an index by time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    id: String,
    index: ByTime,
    /// `None` if it cannot be read.
    ms: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ByTime {
    /// The time from which an execution can continue.
    Due,
    /// The time of the claim, by the clock of the holder.
    Claimed,
}

pub(super) fn due(
    connection: &Connection,
    now_ms: u64,
    after: Option<ExecutionId>,
    limit: usize,
) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let mut entries = Vec::new();
    let sql = "SELECT id, due_ms FROM executions INDEXED BY executions_due WHERE due_ms IS NOT NULL ORDER BY due_ms, id";
    let is_due = |ms: u64| ms <= now_ms;
    add_entries(connection, sql, ByTime::Due, is_due, &mut entries)?;
    let sql = "SELECT id, claimed_ms FROM executions INDEXED BY executions_claimed WHERE claimed_ms IS NOT NULL \
         ORDER BY claimed_ms DESC, id DESC";
    let is_ahead = |ms: u64| ms > now_ms;
    add_entries(connection, sql, ByTime::Claimed, is_ahead, &mut entries)?;
    entries.retain(|entry| entry.0.id > after);

    let mut entries = BinaryHeap::from(entries);
    let mut due = Limited::new(limit);
    while !due.is_full()
        && let Some(Reverse(Entry { id, index, ms })) = entries.pop()
    {
        due.add(connection, &id, |execution| {
            let (is_so, expected) = match index {
                ByTime::Due => (ms.is_some_and(is_due), execution.due_ms()),
                ByTime::Claimed => {
                    let is_ready = execution.ready_ms().is_some_and(is_due);
                    (is_ready && ms.is_some_and(is_ahead), execution.claimed_ms())
                }
            };
            if ms != expected {
                let reason = "an index has another time for it";
                return Err(execution.damage(reason.to_owned()));
            }
            Ok(is_so.then_some(execution.row.id))
        })?;
    }
    Ok(due.found)
}

/// Reads the entries of an index in its order, until it has passed the requested ones.
fn add_entries(
    connection: &Connection,
    sql: &str,
    index: ByTime,
    is_asked_for: impl Fn(u64) -> bool,
    entries: &mut Vec<Reverse<Entry>>,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut found = statement.query([]).map_err(store_error)?;
    let mut beyond = 0;
    while beyond < BEYOND {
        let Some(row) = found.next().map_err(store_error)? else {
            break;
        };
        let (id, ms) = (rows::shown(row, 0), rows::number(row, 1).ok());
        beyond += usize::from(ms.is_some_and(|ms| !is_asked_for(ms)));
        entries.push(Reverse(Entry { id, index, ms }));
    }
    Ok(())
}

/// Returns the number in the first row.
pub(super) fn number(connection: &Connection, sql: &str) -> Result<u64, StoreError> {
    let number = first(connection, sql, &[], |row| rows::number(row, 0))?;
    Ok(number.unwrap_or(0))
}

pub(super) fn first<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut found = statement.query(values).map_err(store_error)?;
    found.next().map_err(store_error)?.map(read).transpose()
}

pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    rows::all(statement.query(values).map_err(store_error)?, read)
}
