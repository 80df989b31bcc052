//! SQLite files that belong to this crate.

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The error of a file.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The layout of a file.
pub(crate) struct Layout {
    /// The number that marks a file of this kind.
    pub(crate) application: i32,
    /// The version of the tables.
    pub(crate) version: i32,
    /// The SQL that creates the tables.
    pub(crate) tables: &'static str,
    /// The SQL that adds what later programs of the same version need, if it is missing.
    pub(crate) added: &'static str,
}

/// A file that several processes may have open.
#[derive(Debug)]
pub(crate) struct SqliteFile {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteFile {
    /// Opens a file, and creates it if it does not exist. Waits for the disk.
    pub(crate) fn open(path: &Path, layout: &Layout) -> Result<SqliteFile, Failure> {
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        let immediate = TransactionBehavior::Immediate;
        let transaction = connection.transaction_with_behavior(immediate)?;
        prepare(&transaction, layout)?;
        transaction.execute_batch(layout.added)?;
        transaction.commit()?;
        Ok(SqliteFile {
            connection: Arc::new(Mutex::new(connection)),
        })
    }

    /// Runs a call in one transaction, on a blocking thread. Nobody else writes between its reads
    /// and writes. `failed` converts errors of the file.
    pub(crate) async fn within<T: Send + 'static, E: Send + 'static>(
        &self,
        failed: fn(Failure) -> E,
        call: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.carry_out(TransactionBehavior::Immediate, failed, call)
            .await
    }

    /// Runs a call that reads, on a blocking thread. Other processes may read meanwhile.
    pub(crate) async fn read<T: Send + 'static, E: Send + 'static>(
        &self,
        failed: fn(Failure) -> E,
        call: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.carry_out(TransactionBehavior::Deferred, failed, call)
            .await
    }

    async fn carry_out<T: Send + 'static, E: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        failed: fn(Failure) -> E,
        call: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let connection = Arc::clone(&self.connection);
        let done = tokio::task::spawn_blocking(move || {
            // A transaction that a panic has left open was rolled back.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = connection.transaction_with_behavior(behavior);
            let transaction = transaction.map_err(|error| failed(error.into()))?;
            let result = call(&transaction)?;
            transaction.commit().map_err(|error| failed(error.into()))?;
            Ok(result)
        });
        done.await.map_err(|error| failed(error.into()))?
    }
}

/// Creates the tables in a new file, and refuses files of other kinds.
fn prepare(transaction: &Transaction<'_>, layout: &Layout) -> Result<(), Failure> {
    let number = |pragma: &str| -> rusqlite::Result<i32> {
        transaction.pragma_query_value(None, pragma, |row| row.get(0))
    };
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = transaction.query_row(count, [], |row| row.get(0))?;
    match (number("application_id")?, number("user_version")?) {
        (0, 0) if tables == 0 => {
            transaction.execute_batch(layout.tables)?;
            transaction.pragma_update(None, "application_id", layout.application)?;
            transaction.pragma_update(None, "user_version", layout.version)?;
            Ok(())
        }
        (application, version) if application == layout.application => {
            if version == layout.version {
                return Ok(());
            }
            let known = layout.version;
            Err(format!(
                "the file has the version {version}, and this program knows the version {known}"
            )
            .into())
        }
        _ => Err("the file is a database of something else".into()),
    }
}
