//! Opens the file, and upgrades its tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use flow_store::StoreError;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use super::errors::{Damage, store_error};
use super::file::{self, APPLICATION, Found};
use super::{Durability, SqliteOptions};

/// One step per version of the tables. A released step never changes.
const STEPS: &[M<'static>] = &[
    M::up(include_str!("version_1.sql")),
    M::up(include_str!("version_2.sql")),
    M::up(include_str!("version_3.sql")),
    M::up(include_str!("version_4.sql")),
    M::up(include_str!("version_5.sql")),
];

/// The newest version.
const KNOWN: u64 = STEPS.len() as u64;

/// An upper bound for the number of different statements.
const STATEMENTS: usize = 64;

const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(5);

/// Opens the writing connection to a file with the newest tables. Errors contain the path `given`.
pub(super) fn writer(
    path: &Path,
    given: &Path,
    options: &SqliteOptions,
) -> Result<Connection, StoreError> {
    let start = Instant::now();
    loop {
        // SQLite does not wait for others while it switches to a write-ahead log, so this waits.
        match writer_at_once(path, given, options) {
            Err(StoreError::Locked(_)) if start.elapsed() < options.busy_timeout => {
                thread::sleep(BETWEEN_ATTEMPTS);
            }
            opened => return opened,
        }
    }
}

/// Opens a reading connection. The writing connection has to be open.
pub(super) fn reader(path: &Path, options: &SqliteOptions) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(store_error)?;
    prepare(&connection, options)?;
    Ok(connection)
}

fn writer_at_once(
    path: &Path,
    given: &Path,
    options: &SqliteOptions,
) -> Result<Connection, StoreError> {
    let found = file::look(path, given)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(store_error)?;
    prepare(&connection, options)?;
    if found == Found::Empty {
        mark(&mut connection, given)?;
    }
    refuse_newer(&connection)?;

    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(store_error)?;
    if mode != "wal" {
        let reason = format!("the file cannot have a write-ahead log, only the mode `{mode}`");
        return Err(StoreError::Other(reason.into()));
    }
    set_durability(&connection, options.durability).map_err(store_error)?;
    connection
        .pragma_update(None, "foreign_keys", true)
        .map_err(store_error)?;
    if let Some(pages) = options.max_pages {
        connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .map_err(store_error)?;
    }
    migrate(&mut connection)?;
    check_schema(&connection)?;
    Ok(connection)
}

fn prepare(connection: &Connection, options: &SqliteOptions) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Detects more damage where a page is read from the file.
    connection
        .pragma_update(None, "cell_size_check", true)
        .map_err(store_error)?;
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(store_error)
}

/// Marks an empty file as a store, before there is a log, so that the mark is in the file itself.
fn mark(connection: &mut Connection, given: &Path) -> Result<(), StoreError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(store_error)?;
    let number = |sql| transaction.query_row(sql, [], |row| row.get::<_, i64>(0));
    // Somebody else may have been faster.
    let application = number("PRAGMA application_id").map_err(store_error)?;
    let objects = number("SELECT count(*) FROM sqlite_schema").map_err(store_error)?;
    if application == 0 && objects == 0 {
        transaction
            .pragma_update(None, "application_id", APPLICATION)
            .map_err(store_error)?;
    } else if application != APPLICATION {
        return Err(file::of_another_program(given, application));
    }
    transaction.commit().map_err(store_error)
}

fn set_durability(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let (synchronous, flush_drive) = match durability {
        Durability::Full => ("full", true),
        Durability::Normal => ("normal", false),
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // On macOS, `fsync` alone leaves the data in the memory of the drive.
    connection.pragma_update(None, "fullfsync", flush_drive)?;
    connection.pragma_update(None, "checkpoint_fullfsync", flush_drive)
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    let Err(error) = Migrations::from_slice(STEPS).to_latest(connection) else {
        return Ok(());
    };
    // Another process may have done it after this one had read the version.
    if version(connection)? == KNOWN {
        return Ok(());
    }
    Err(match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => store_error(err),
        other => StoreError::Other(Box::new(other)),
    })
}

/// Compares the tables, indexes, triggers and views with those of this library. Others may exist as
/// well.
///
/// Their definitions decide how data is read: an index with another expression would hide rows.
fn check_schema(connection: &Connection) -> Result<(), StoreError> {
    let mut expected = Connection::open_in_memory().map_err(store_error)?;
    migrate(&mut expected)?;
    let found = schema(connection)?;
    for (name, sql) in schema(&expected)? {
        if found.get(&name) != Some(&sql) {
            let reason = "it is not what this library makes".to_owned();
            return Err(Damage(reason).at(format!("the schema of {name}")));
        }
    }
    Ok(())
}

/// Returns the definition of each object by its name. SQLite stores the text, but may change its
/// spaces.
fn schema(connection: &Connection) -> Result<BTreeMap<String, String>, StoreError> {
    let sql =
        "SELECT name, type || ' on ' || tbl_name || ': ' || coalesce(sql, '') FROM sqlite_schema";
    let mut statement = connection.prepare(sql).map_err(store_error)?;
    let objects = statement.query_map([], |row| {
        let text: String = row.get(1)?;
        Ok((row.get(0)?, text.split_whitespace().collect()))
    });
    let objects = objects.and_then(Iterator::collect);
    objects.map_err(|error| match error {
        rusqlite::Error::SqliteFailure(..) => store_error(error),
        error => Damage(error.to_string()).at("the schema".to_owned()),
    })
}

fn refuse_newer(connection: &Connection) -> Result<(), StoreError> {
    let found = version(connection)?;
    if found > KNOWN {
        return Err(StoreError::TooNew {
            found,
            known: KNOWN,
        });
    }
    Ok(())
}

fn version(connection: &Connection) -> Result<u64, StoreError> {
    let version: i64 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(store_error)?;
    u64::try_from(version).map_err(|error| StoreError::Corrupt {
        place: "the file's version".to_owned(),
        reason: format!("{version}: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durability_and_the_log_are_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("flows.db");
        let default = SqliteOptions::new();
        let normal = SqliteOptions::new().durability(Durability::Normal);
        for (options, expected) in [(default, (2, true)), (normal, (1, false))] {
            let connection = writer(&path, &path, &options).unwrap();
            let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
            let synchronous: i64 = pragma("synchronous").unwrap();
            let flush_drive = pragma("fullfsync").unwrap() == 1;
            assert_eq!((synchronous, flush_drive), expected);
            assert_eq!(pragma("foreign_keys").unwrap(), 1);
            let mode: String = connection
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
                .unwrap();
            assert_eq!(mode, "wal");
        }
    }
}
