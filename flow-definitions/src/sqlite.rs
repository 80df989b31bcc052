//! Definitions in an SQLite file.

use std::error::Error;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use crate::definition::{Definition, DefinitionId};
use crate::error::{DamagedDefinition, DefinitionError};
use crate::store::DefinitionStore;

/// Marks a file as one with definitions: `fldf`.
const APPLICATION: i32 = 0x666c_6466;

/// The version of the table.
const VERSION: i32 = 1;

/// `number` is the order in which definitions were inserted; a number is never given twice.
const TABLE: &str = "
    CREATE TABLE definitions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL UNIQUE,
        revision INTEGER NOT NULL,
        definition TEXT NOT NULL
    ) STRICT;
";

/// Definitions in an SQLite file, which several processes may have open.
///
/// Calls wait for the disk on tokio's threads for blocking work, so they need a tokio runtime. A
/// process waits up to five seconds for another one that writes.
///
/// # Examples
///
/// ```
/// use flow_definitions::{Content, Definitions, SqliteDefinitions};
/// use flow_loader::registry;
/// use serde_json::json;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("definitions.db");
/// let definitions = Definitions::new(SqliteDefinitions::open(&path)?, registry![]);
/// definitions.create(Content::new(json!({ "name": "Greeting" }))).await?;
///
/// let again = Definitions::new(SqliteDefinitions::open(&path)?, registry![]);
/// let listed = again.list().await?;
/// assert_eq!(listed[0].as_ref().map(|it| it.name()), Ok("Greeting"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct SqliteDefinitions {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteDefinitions {
    /// Opens a file, which is created if it does not exist. Waits for the disk.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Store`]: the file cannot be opened, is a database of something else, or
    /// comes from a later version of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DefinitionError> {
        let mut connection = Connection::open(path).map_err(failed)?;
        let transaction = begun(&mut connection)?;
        prepare(&transaction)?;
        transaction.commit().map_err(failed)?;
        Ok(SqliteDefinitions {
            connection: Arc::new(Mutex::new(connection)),
        })
    }

    /// Runs a call in one transaction, on a thread that may wait.
    async fn within<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Transaction<'_>) -> Result<T, DefinitionError> + Send + 'static,
    ) -> Result<T, DefinitionError> {
        let connection = self.connection.clone();
        let done = tokio::task::spawn_blocking(move || {
            // A transaction that a panic has left was rolled back.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let transaction = begun(&mut connection)?;
            let result = call(&transaction)?;
            transaction.commit().map_err(failed)?;
            Ok(result)
        });
        done.await.map_err(failed)?
    }
}

/// Begins a write transaction, which does not fail later because of another writer.
fn begun(connection: &mut Connection) -> Result<Transaction<'_>, DefinitionError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    transaction.map_err(failed)
}

/// Makes the table in a new file, and refuses any other file.
fn prepare(transaction: &Transaction<'_>) -> Result<(), DefinitionError> {
    let number = |pragma: &str| -> Result<i32, DefinitionError> {
        let read = transaction.pragma_query_value(None, pragma, |row| row.get(0));
        read.map_err(failed)
    };
    let tables: i64 = transaction
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    match (number("application_id")?, number("user_version")?) {
        (0, 0) if tables == 0 => {
            transaction.execute_batch(TABLE).map_err(failed)?;
            let set = |pragma, value: i32| transaction.pragma_update(None, pragma, value);
            set("application_id", APPLICATION).map_err(failed)?;
            set("user_version", VERSION).map_err(failed)
        }
        (APPLICATION, VERSION) => Ok(()),
        (APPLICATION, version) => Err(failed(format!(
            "the file has the version {version}, and this program knows the version {VERSION}"
        ))),
        _ => Err(failed("the file is a database of something else")),
    }
}

fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> DefinitionError {
    DefinitionError::Store(error.into())
}

fn parsed(text: &str) -> Result<Definition, DefinitionError> {
    let read = serde_json::from_str(text);
    read.map_err(|error| failed(format!("a stored definition is damaged: {error}")))
}

fn written(definition: &Definition) -> Result<String, DefinitionError> {
    serde_json::to_string(definition).map_err(failed)
}

/// Refuses a definition that does not exist or has another revision.
fn check_revision(
    transaction: &Transaction<'_>,
    id: DefinitionId,
    expected: u64,
) -> Result<(), DefinitionError> {
    let sql = "SELECT revision FROM definitions WHERE id = ?1";
    let stored: Option<i64> = transaction
        .query_row(sql, [id.to_string()], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    let stored = stored.ok_or(DefinitionError::NotFound(id))?;
    match u64::try_from(stored).map_err(failed)? {
        stored if stored == expected => Ok(()),
        stored => Err(DefinitionError::Conflict { expected, stored }),
    }
}

/// Refuses a definition with the name of another one.
fn check_name(
    transaction: &Transaction<'_>,
    definition: &Definition,
) -> Result<(), DefinitionError> {
    let sql = "SELECT 1 FROM definitions WHERE name = ?1 AND id <> ?2";
    let values = params![definition.name(), definition.id.to_string()];
    let taken = transaction.query_row(sql, values, |_| Ok(()));
    match taken.optional().map_err(failed)? {
        Some(()) => Err(DefinitionError::NameTaken(definition.name().to_owned())),
        None => Ok(()),
    }
}

#[async_trait]
impl DefinitionStore for SqliteDefinitions {
    async fn list(&self) -> Result<Vec<Result<Definition, DamagedDefinition>>, DefinitionError> {
        self.within(|transaction| {
            let sql = "SELECT id, name, definition FROM definitions ORDER BY number DESC";
            let mut statement = transaction.prepare_cached(sql).map_err(failed)?;
            let rows = statement.query_map([], |row| {
                let (id, name): (String, String) = (row.get(0)?, row.get(1)?);
                let read = serde_json::from_str(row.get_ref(2)?.as_str()?);
                Ok(read.map_err(|error: serde_json::Error| DamagedDefinition {
                    id,
                    name,
                    reason: error.to_string(),
                }))
            });
            rows.map_err(failed)?
                .map(|row| row.map_err(failed))
                .collect()
        })
        .await
    }

    async fn get(&self, id: DefinitionId) -> Result<Option<Definition>, DefinitionError> {
        self.within(move |transaction| {
            let sql = "SELECT definition FROM definitions WHERE id = ?1";
            let text = transaction
                .query_row(sql, [id.to_string()], |row| row.get::<_, String>(0))
                .optional()
                .map_err(failed)?;
            text.as_deref().map(parsed).transpose()
        })
        .await
    }

    async fn insert(&self, definition: &Definition) -> Result<(), DefinitionError> {
        let definition = definition.clone();
        self.within(move |transaction| {
            check_name(transaction, &definition)?;
            let sql =
                "INSERT INTO definitions (id, name, revision, definition) VALUES (?1, ?2, ?3, ?4)";
            let (id, name) = (definition.id.to_string(), definition.name());
            let revision = i64::try_from(definition.revision).map_err(failed)?;
            let values = params![id, name, revision, written(&definition)?];
            transaction.execute(sql, values).map_err(failed)?;
            Ok(())
        })
        .await
    }

    async fn replace(&self, definition: &Definition, expected: u64) -> Result<(), DefinitionError> {
        let definition = definition.clone();
        self.within(move |transaction| {
            check_revision(transaction, definition.id, expected)?;
            check_name(transaction, &definition)?;
            let sql =
                "UPDATE definitions SET name = ?2, revision = ?3, definition = ?4 WHERE id = ?1";
            let (id, name) = (definition.id.to_string(), definition.name());
            let revision = i64::try_from(definition.revision).map_err(failed)?;
            let values = params![id, name, revision, written(&definition)?];
            transaction.execute(sql, values).map_err(failed)?;
            Ok(())
        })
        .await
    }

    async fn remove(&self, id: DefinitionId, expected: u64) -> Result<(), DefinitionError> {
        self.within(move |transaction| {
            check_revision(transaction, id, expected)?;
            let sql = "DELETE FROM definitions WHERE id = ?1";
            transaction.execute(sql, [id.to_string()]).map_err(failed)?;
            Ok(())
        })
        .await
    }
}
