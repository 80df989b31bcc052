//! What is read: one statement for each method.

use rusqlite::types::Value;
use rusqlite::{Connection, ToSql, params};

use super::errors::store_error;
use super::rows::{self, EXECUTION, PAUSE, RECORD};
use crate::durable::record::Record;
use crate::durable::store::{ExecutionId, ListQuery, Logged, PauseRow, Row, StoreError, Token};

pub(super) fn structure(connection: &Connection, hash: &str) -> Result<Option<String>, StoreError> {
    let sql = "SELECT structure FROM structures WHERE hash = ?1";
    first(connection, sql, &[&hash], |row| {
        rows::text(row, format!("structure {hash}"))
    })
}

pub(super) fn execution(
    connection: &Connection,
    id: ExecutionId,
) -> Result<Option<Row>, StoreError> {
    let sql = format!("SELECT {EXECUTION} FROM executions WHERE id = ?1");
    first(connection, &sql, &[&id.to_string()], rows::execution)
}

pub(super) fn list(connection: &Connection, query: &ListQuery) -> Result<Vec<Row>, StoreError> {
    let mut sql = format!("SELECT {EXECUTION} FROM executions");
    let mut values: Vec<Value> = Vec::new();
    let mut only = |condition: &str, value: Value| {
        sql += if values.is_empty() {
            " WHERE "
        } else {
            " AND "
        };
        sql += condition;
        sql += " ?";
        values.push(value);
    };
    if let Some(flow) = &query.flow {
        only("flow =", flow.clone().into());
    }
    if let Some(status) = query.status {
        only("status =", status.as_str().to_owned().into());
    }
    if let Some(owner) = &query.owner {
        only("owner IS", owner.clone().into());
    }
    if let Some(ms) = query.created_before_ms {
        only("created_ms <", rows::integer(ms).into());
    }
    if let Some(ms) = query.updated_before_ms {
        only("updated_ms <", rows::integer(ms).into());
    }
    if let Some(id) = query.before {
        only("id <", id.to_string().into());
    }
    sql += " ORDER BY id DESC LIMIT ?";
    values.push(rows::limit(query.limit.unwrap_or(usize::MAX)).into());

    let mut statement = connection.prepare_cached(&sql).map_err(store_error)?;
    let found = statement.query(rusqlite::params_from_iter(values));
    rows::all(found.map_err(store_error)?, rows::execution)
}

pub(super) fn records(
    connection: &Connection,
    id: ExecutionId,
    from_seq: u64,
    limit: usize,
) -> Result<Vec<Record>, StoreError> {
    let sql = format!(
        "SELECT {RECORD} FROM records WHERE execution = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3"
    );
    let from_seq = rows::integer(from_seq);
    let values = params![id.to_string(), from_seq, rows::limit(limit)];
    all(connection, &sql, values, rows::record)
}

pub(super) fn pauses(
    connection: &Connection,
    id: ExecutionId,
) -> Result<Vec<PauseRow>, StoreError> {
    let sql = format!(
        "SELECT {PAUSE} FROM pauses WHERE execution = ?1 AND \
         state NOT IN ('used', 'expired', 'withdrawn') ORDER BY number"
    );
    all(connection, &sql, &[&id.to_string()], rows::pause)
}

pub(super) fn pause(connection: &Connection, token: Token) -> Result<Option<PauseRow>, StoreError> {
    let sql = format!("SELECT {PAUSE} FROM pauses WHERE token = ?1");
    first(connection, &sql, &[&token.to_string()], rows::pause)
}

pub(super) fn due(
    connection: &Connection,
    now_ms: u64,
    after: Option<ExecutionId>,
    limit: usize,
) -> Result<Vec<ExecutionId>, StoreError> {
    // Without the hint, all executions could be read for the sake of their order.
    let sql = "SELECT id FROM executions INDEXED BY executions_due WHERE due_ms <= ?1 AND id > ?2 ORDER BY id LIMIT ?3";
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let values = params![rows::integer(now_ms), after, rows::limit(limit)];
    all(connection, sql, values, rows::id)
}

pub(super) fn log(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<Logged>, StoreError> {
    // `CROSS` keeps the order of the tables.
    let sql = format!(
        "SELECT {RECORD}, executions.owner FROM records CROSS JOIN executions ON executions.id = records.execution \
         WHERE \"offset\" > ?1 ORDER BY \"offset\" LIMIT ?2"
    );
    let values = params![rows::integer(after), rows::limit(limit)];
    all(connection, &sql, values, rows::logged)
}

pub(super) fn last_offset(connection: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(\"offset\"), 0) FROM records";
    let offset = first(connection, sql, &[], |row| {
        rows::number(row, "the offsets of records")
    })?;
    Ok(offset.unwrap_or(0))
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
