//! The databases of processes, in whichever store, and what is in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use flow_durable::{Claim, ListQuery, PauseRow, Record, Row, Store};
use flow_services::{Postgres, Redis};
use flow_survivor::store_at;
use rusqlite::{Connection, ErrorCode};

use crate::support::Outcome;

/// Where databases are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Server {
    /// Nowhere: they are files.
    Sqlite,
    Postgres(&'static Postgres),
    Redis(&'static Redis),
}

impl Server {
    /// The Postgres server of all tests. `None` if it is not installed.
    pub(crate) fn postgres() -> Option<Server> {
        static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
        let server = SERVER.get_or_init(Postgres::start);
        server.as_ref().map(Server::Postgres)
    }

    /// The Redis server of all tests. `None` if it is not installed.
    pub(crate) fn redis() -> Option<Server> {
        static SERVER: OnceLock<Option<Redis>> = OnceLock::new();
        let server = SERVER.get_or_init(Redis::start);
        server.as_ref().map(Server::Redis)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Server::Sqlite => "SQLite",
            Server::Postgres(_) => "Postgres",
            Server::Redis(_) => "Redis",
        }
    }

    /// Whether steps can write in its transactions.
    pub(crate) fn has_transactions(self) -> bool {
        !matches!(self, Server::Redis(_))
    }

    pub(crate) fn is_file(self) -> bool {
        matches!(self, Server::Sqlite)
    }
}

/// A database of its own, and a folder for what processes note.
pub(crate) struct Database {
    server: Server,
    folder: tempfile::TempDir,
    /// Of the schema of Postgres, or of the store on Redis.
    name: String,
}

/// What is stored of an execution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) row: Row,
    pub(crate) claim: Option<Claim>,
    pub(crate) records: Vec<Record>,
    /// The questions with which it is not done.
    pub(crate) questions: Vec<PauseRow>,
}

impl Database {
    pub(crate) fn new(server: Server) -> Outcome<Database> {
        Ok(Database {
            server,
            folder: tempfile::tempdir()?,
            name: format!("survivor_{}", uuid::Uuid::now_v7().simple()),
        })
    }

    pub(crate) fn server(&self) -> Server {
        self.server
    }

    /// A file in its folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn database_file(&self) -> PathBuf {
        self.file("survivor.db")
    }

    /// As [`store_at`] takes it.
    pub(crate) fn place(&self) -> String {
        match self.server {
            Server::Sqlite => self.database_file().to_string_lossy().into_owned(),
            Server::Postgres(server) => format!("{}?schema={}", server.url(), self.name),
            Server::Redis(server) => format!("{}?name={}", server.url(), self.name),
        }
    }

    /// A program of the store, whose first argument says where that is. What its steps do, it notes
    /// in the file with this name.
    pub(crate) fn command(&self, program: &str, notes: &str) -> Command {
        let mut command = Command::new(program);
        command
            .arg(self.place())
            .env("EFFECTS", self.file(notes))
            .env("RUST_BACKTRACE", "0")
            .env_remove("DIE")
            .env_remove("STOP")
            .env_remove("HOLD")
            .stdout(Stdio::piped());
        command
    }

    pub(crate) async fn store(&self) -> Outcome<Arc<dyn Store>> {
        store_at(&self.place()).await
    }

    /// All executions, in the order of their ids.
    pub(crate) fn contents(&self) -> Outcome<Vec<Stored>> {
        block_on(async {
            let store = self.store().await?;
            let mut contents = Vec::new();
            for row in store.list(&ListQuery::default()).await? {
                let row = row?;
                contents.push(Stored {
                    claim: store.claim_of(row.id).await?,
                    records: store.records(row.id, 0, usize::MAX).await?,
                    questions: store.pauses(row.id).await?,
                    row,
                });
            }
            contents.reverse();
            Ok(contents)
        })
    }

    /// The rows that steps have written in transactions: each step, and how many it has.
    pub(crate) fn postings(&self) -> Outcome<Vec<(String, i64)>> {
        let rows = |table: &str| format!("SELECT step, count(*) FROM {table} GROUP BY step");
        match self.server {
            Server::Sqlite => {
                let database = Connection::open(self.database_file())?;
                let mut query = database.prepare(&rows("postings"))?;
                let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(rows.collect::<Result<_, _>>()?)
            }
            Server::Postgres(server) => {
                let printed = server.query(&rows(&format!("{}.postings", self.name)));
                let parse = |line: &str| {
                    let (step, count) = line.rsplit_once('|').ok_or("it is no row")?;
                    Ok((step.to_owned(), count.parse()?))
                };
                printed.lines().map(parse).collect()
            }
            Server::Redis(_) => Err("Redis has no transactions of steps".into()),
        }
    }

    /// What is wrong with the database itself, as far as it can say.
    pub(crate) fn damage(&self) -> Outcome<Option<String>> {
        if !self.server.is_file() {
            return Ok(None);
        }
        let database = Connection::open(self.database_file())?;
        let found: String = database.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
        Ok((found != "ok").then_some(found))
    }

    /// Whether nobody has the database to themselves for longer than a transaction takes.
    pub(crate) fn can_be_written(&self) -> Outcome<bool> {
        if !self.server.is_file() {
            return Ok(true);
        }
        let database = Connection::open(self.database_file())?;
        database.busy_timeout(Duration::from_millis(200))?;
        match database.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
            Ok(()) => Ok(true),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Keeps the database and everything that was noted: of Postgres the statements that make it, of
    /// Redis what is stored, as text.
    pub(crate) fn keep(&self, to: &Path) -> Outcome {
        fs::create_dir_all(to)?;
        for file in fs::read_dir(self.folder.path())? {
            let file = file?;
            fs::copy(file.path(), to.join(file.file_name()))?;
        }
        match self.server {
            Server::Sqlite => {}
            Server::Postgres(server) => {
                fs::write(to.join("schema.sql"), server.dump(&self.name))?;
            }
            Server::Redis(_) => {
                fs::write(to.join("stored"), format!("{:#?}", self.contents()?))?;
            }
        }
        Ok(())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What is on Redis stays until the server is removed.
        if let Server::Postgres(server) = self.server {
            server.query(&format!(
                "SET client_min_messages = warning; DROP SCHEMA IF EXISTS {} CASCADE",
                self.name
            ));
        }
    }
}

/// Waits for it on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio.block_on(future)
}
