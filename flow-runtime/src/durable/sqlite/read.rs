//! What is read. Which rows they are is looked up in an index, and each is then read and checked by itself.

use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, params};

use super::cells::integer;
use super::errors::{Damage, store_error};
use super::rows::{self, EXECUTION, Execution, PAUSE, Question, RECORD, STRUCTURE};
use crate::durable::record::Record;
use crate::durable::store::{ExecutionId, ListQuery, Logged, Row, StoreError, Token};

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

/// A question, also if it is closed.
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

/// The row with this key. If there is none, one of those beside it in the index may be it, with a key that is damaged.
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

/// The executions that a query allows, the newest first.
pub(super) fn list(connection: &Connection, query: &ListQuery) -> Result<Vec<Row>, StoreError> {
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut listed = Vec::new();
    let (sql, values) = ids_of(query);
    let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
    let found = statement.query(rusqlite::params_from_iter(values));
    let mut found = found.map_err(store_error)?;
    while listed.len() < limit {
        let Some(row) = found.next().map_err(store_error)? else {
            break;
        };
        let row = indexed(connection, rows::id(row)?)?.row;
        if query.allows(&row) {
            listed.push(row);
        }
    }
    Ok(listed)
}

/// Finds the executions of an owner, and of a status or a flow, in an index. What else a query asks is asked of the rows,
/// which are checked before.
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
    if let Some(id) = query.before {
        conditions.push("id < ?");
        values.push(id.to_string().into());
    }
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!("WHERE {}", conditions.join(" AND ")),
    };
    let sql = format!("SELECT id FROM executions INDEXED BY {index} {conditions} ORDER BY id DESC");
    (sql, values)
}

/// An execution that an index has.
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
    let sql = format!(
        "SELECT {RECORD} FROM records WHERE execution = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3"
    );
    let values = params![id.to_string(), integer(from_seq), rows::limit(limit)];
    let records = all(
        connection,
        &sql,
        values,
        |row| Ok(rows::logged(row)?.record),
    )?;

    let first = from_seq.max(execution.first_seq);
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let count = execution.row.next_seq.saturating_sub(first).min(limit);
    let mut read = records.iter().map(|record| record.seq);
    match (first..first.saturating_add(count)).find(|seq| read.next() != Some(*seq)) {
        None => Ok(records),
        Some(seq) => {
            Err(Damage("it is missing".to_owned()).at(format!("execution {id}, record {seq}")))
        }
    }
}

/// The questions of an execution that are not closed, in the order asked.
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
    if questions.len() as u64 == execution.unclosed {
        return Ok(questions);
    }
    let (found, unclosed) = (questions.len(), execution.unclosed);
    Err(execution.damage(format!("of its {unclosed} questions there are {found}")))
}

pub(super) fn due(
    connection: &Connection,
    now_ms: u64,
    after: Option<ExecutionId>,
    limit: usize,
) -> Result<Vec<ExecutionId>, StoreError> {
    // Without the hint, all executions could be read for the sake of their order.
    let sql = "SELECT id FROM executions INDEXED BY executions_due WHERE due_ms <= ?1 AND id > ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let values = params![integer(now_ms), after];
    let mut found = statement.query(values).map_err(store_error)?;
    let mut due = Vec::new();
    while due.len() < limit {
        let Some(row) = found.next().map_err(store_error)? else {
            break;
        };
        let id = rows::id(row)?;
        let execution = indexed(connection, id)?;
        if execution.due_ms().is_none_or(|due_ms| due_ms > now_ms) {
            return Err(execution.damage("an index says that it is due".to_owned()));
        }
        due.push(id);
    }
    Ok(due)
}

pub(super) fn log(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<Logged>, StoreError> {
    let sql =
        format!("SELECT {RECORD} FROM records WHERE \"offset\" > ?1 ORDER BY \"offset\" LIMIT ?2");
    let values = params![integer(after), rows::limit(limit)];
    all(connection, &sql, values, rows::logged)
}

pub(super) fn last_offset(connection: &Connection) -> Result<u64, StoreError> {
    let sql = format!("SELECT {RECORD} FROM records ORDER BY \"offset\" DESC LIMIT 1");
    let newest = first(connection, &sql, &[], rows::logged)?;
    Ok(newest.map_or(0, |logged| logged.offset))
}

/// The number in the first row.
pub(super) fn number(connection: &Connection, sql: &str) -> Result<u64, StoreError> {
    let number = first(connection, sql, &[], |row| rows::number(row, "the file"))?;
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
