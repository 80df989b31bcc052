//! The log: the records by their offsets. If an index is damaged, the table has the entries that it
//! hides, and vice versa.

use std::collections::BTreeMap;

use flow_store::{Damaged, DamagedRecord, ExecutionId, Logged, StoreError};
use rusqlite::{Connection, params};

use super::cells::integer;
use super::errors::{Damage, store_error};
use super::read::{all, execution, first, logged_from, number};
use super::rows::{self, RECORD, RecordKey};

/// Returns the log of an execution, or of all.
pub(super) fn log(
    connection: &Connection,
    of: Option<ExecutionId>,
    after: u64,
    limit: usize,
) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
    let log = match of {
        Some(id) => log_of(connection, id, after, limit),
        None => {
            let sql = format!(
                "SELECT {RECORD} FROM records WHERE \"offset\" > ?1 ORDER BY \"offset\" LIMIT ?2"
            );
            let values = params![integer(after), rows::limit(limit)];
            all(connection, &sql, values, rows::logged)
        }
    };
    match log {
        Ok(log) if log.is_sorted_by(|one, next| one.offset < next.offset) => {
            Ok(log.into_iter().map(Ok).collect())
        }
        Ok(_) | Err(StoreError::Corrupt { .. }) => log_by_offset(connection, of, after, limit),
        Err(error) => Err(error),
    }
}

/// Returns the log of an execution. Its offsets grow with its records, so the records already read
/// come first. The search starts at the newest, since most readers have read most of them.
fn log_of(
    connection: &Connection,
    id: ExecutionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Logged>, StoreError> {
    let Some(execution) = execution(connection, id)? else {
        return Ok(Vec::new());
    };
    let sql = "SELECT seq FROM records INDEXED BY sqlite_autoindex_records_1 \
               WHERE execution = ?1 AND \"offset\" <= ?2 ORDER BY seq DESC LIMIT 1";
    let values = params![id.to_string(), integer(after)];
    let passed = first(connection, sql, values, |row| rows::number(row, 0))?;
    let from_seq = passed.map_or(0, |seq| seq.saturating_add(1));
    logged_from(connection, &execution, from_seq, limit)
}

/// Returns the log record by record, so that a damaged one does not hide the others. The log of one
/// execution is searched in all records, as the path to it may be damaged.
fn log_by_offset(
    connection: &Connection,
    of: Option<ExecutionId>,
    after: u64,
    limit: usize,
) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
    let mut log = Vec::new();
    let offsets = offsets(connection, after, of.map_or(limit, |_| usize::MAX))?;
    for (offset, known) in offsets {
        if log.len() >= limit {
            break;
        }
        match logged(connection, offset) {
            Ok(logged) if of.is_none_or(|id| logged.execution == id) => log.push(Ok(logged)),
            Ok(_) => {}
            Err(StoreError::Corrupt { reason, .. }) => {
                let place = match &known {
                    Some(known) => format!("execution {}, record {}", known.execution, known.seq),
                    None => format!("the record with the offset {offset}"),
                };
                let execution = known.map(|known| known.execution);
                if of.is_some() && execution.is_some() && execution != of {
                    continue;
                }
                log.push(Err(DamagedRecord {
                    offset,
                    damaged: Damaged {
                        execution,
                        place,
                        reason,
                    },
                }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(log)
}

/// Returns the first offsets after the given one, each with the known facts if the record cannot be
/// read. The table and its index are separate trees: an entry that one of them hides is in the
/// other.
fn offsets(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<BTreeMap<u64, Option<RecordKey>>, StoreError> {
    let newest = last_offset(connection)?;
    let mut offsets: BTreeMap<u64, Option<RecordKey>> = BTreeMap::new();
    for (sql, has_more) in [
        (
            "SELECT \"offset\" FROM records NOT INDEXED WHERE \"offset\" > ?1",
            false,
        ),
        (
            "SELECT \"offset\", execution, seq FROM records INDEXED BY sqlite_autoindex_records_1 \
             WHERE \"offset\" > ?1",
            true,
        ),
    ] {
        let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
        let mut found = statement.query([integer(after)]).map_err(store_error)?;
        loop {
            let row = match found.next().map_err(store_error) {
                Ok(Some(row)) => row,
                // Entries after an unreadable page are not available here.
                Ok(None) | Err(StoreError::Corrupt { .. }) => break,
                Err(error) => return Err(error),
            };
            let Ok(offset) = rows::number(row, 0) else {
                continue;
            };
            // Such an offset was never issued. A reader that continued after it would miss later
            // records.
            if offset <= after || offset > newest {
                continue;
            }
            let entry = offsets.entry(offset).or_default();
            if has_more {
                *entry = rows::record_key(row);
            }
            if offsets.len() > limit {
                offsets.pop_last();
            }
        }
    }
    Ok(offsets)
}

fn logged(connection: &Connection, offset: u64) -> Result<Logged, StoreError> {
    let sql = format!("SELECT {RECORD} FROM records WHERE \"offset\" = ?1");
    let logged = first(connection, &sql, &[&integer(offset)], rows::logged)?;
    logged.ok_or_else(|| Damage("it is missing".to_owned()).at(format!("offset {offset}")))
}

pub(super) fn last_offset(connection: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT \"offset\" FROM records ORDER BY \"offset\" DESC LIMIT 2";
    let newest = all(connection, sql, &[], |row| rows::number(row, 0));
    let newest = newest.and_then(|newest| match newest[..] {
        [] => Ok(0),
        [newest] => Ok(logged(connection, newest)?.offset),
        [newest, before, ..] if before < newest => Ok(logged(connection, newest)?.offset),
        _ => Err(Damage("they do not grow".to_owned()).at("the offsets of records".to_owned())),
    });
    match newest {
        // The offset may be the damaged part. The index has it too.
        Err(StoreError::Corrupt { .. }) => {
            let sql = "SELECT max(\"offset\") FROM \
                 (SELECT \"offset\" FROM records INDEXED BY sqlite_autoindex_records_1)";
            number(connection, sql)
        }
        newest => newest,
    }
}
