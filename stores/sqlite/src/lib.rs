#![doc = include_str!("../README.md")]

mod cells;
mod errors;
mod file;
mod log;
mod open;
mod queue;
mod read;
mod readers;
mod rows;
mod signals;
mod transaction;
mod write;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::oneshot;
use uuid::Uuid;

use self::readers::Read;
use self::writer::Job;
use flow_store::Record;
use flow_store::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, Renewal, Row, Sent, Settlement, SignalRow, Status, Store, StoreError,
    StoreTransaction, Take, Token,
};
/// The SQLite interface of a [`Transaction`].
pub use rusqlite;
pub use transaction::{Transaction, TransactionError};

/// The options of an SQLite file.
#[derive(Debug, Clone)]
#[must_use]
pub struct SqliteOptions {
    busy_timeout: Duration,
    durability: Durability,
    transaction_timeout: Duration,
    max_pages: Option<u32>,
}

impl SqliteOptions {
    /// Creates the defaults: waits up to five seconds for other processes, and survives a loss of
    /// power.
    pub fn new() -> SqliteOptions {
        SqliteOptions {
            busy_timeout: Duration::from_secs(5),
            durability: Durability::Full,
            transaction_timeout: Duration::from_secs(10),
            max_pages: None,
        }
    }

    /// Sets how long to wait for another writing process. After that, calls return
    /// [`StoreError::Locked`].
    pub fn busy_timeout(mut self, timeout: Duration) -> SqliteOptions {
        self.busy_timeout = timeout;
        self
    }

    /// Sets which writes survive a crash or a loss of power.
    pub fn durability(mut self, durability: Durability) -> SqliteOptions {
        self.durability = durability;
        self
    }

    /// Sets how long the [`Transaction`] of a step may last. Meanwhile, nobody else can write or
    /// renew a claim, so stay well below the lease. The default is ten seconds.
    pub fn transaction_timeout(mut self, timeout: Duration) -> SqliteOptions {
        self.transaction_timeout = timeout;
        self
    }

    /// Sets the maximum number of pages in the file.
    #[doc(hidden)]
    pub fn max_pages(mut self, pages: u32) -> SqliteOptions {
        self.max_pages = Some(pages);
        self
    }
}

impl Default for SqliteOptions {
    fn default() -> SqliteOptions {
        SqliteOptions::new()
    }
}

/// The writes that survive a crash or a loss of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// All writes, even if the machine loses power.
    Full,
    /// All writes if the process ends in any way. After a loss of power, the last writes can be
    /// missing, but never a part of one, and never one before others that are kept. This is much
    /// faster on slow disks.
    Normal,
}

/// Keeps executions in an SQLite file.
///
/// You can inspect the file with the `sqlite3` shell, even while it is in use: the view `journal`
/// contains the history, with readable times. Several processes of one machine may use the file,
/// but it should not be on a network drive. Times after the year 292,278,994 are stored as that
/// year.
///
/// Dropping the store completes its pending writes.
///
/// # Examples
///
/// ```
/// use flow_sqlite::SqliteStore;
/// use flow_store::Store;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("flows.db");
/// let store = SqliteStore::open(path).await?;
/// assert_eq!(store.last_offset().await?, 0);
/// # Ok(()) }
/// ```
pub struct SqliteStore {
    path: PathBuf,
    jobs: Sender<Job>,
    reads: Sender<Read>,
    transaction_timeout: Duration,
}

impl SqliteStore {
    /// Opens a file, or creates one. Only the owner can read and write a new file, if the system
    /// has such permissions; an existing file keeps its permissions. An empty file becomes a store.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAStore`] if the path is a file that is neither empty nor a store, or not a
    /// file: it is left as it was. [`StoreError::TooNew`] if a newer version of this library wrote
    /// it, [`StoreError::Corrupt`] if it is damaged; or the file or its folder cannot be written
    /// to.
    pub async fn open(path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path, SqliteOptions::new()).await
    }

    /// Opens a file, or creates one, with options.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`open`](SqliteStore::open).
    pub async fn open_with(
        path: impl AsRef<Path>,
        options: SqliteOptions,
    ) -> Result<SqliteStore, StoreError> {
        let path = path.as_ref().to_owned();
        let transaction_timeout = options.transaction_timeout;
        let (jobs, to_write) = mpsc::channel();
        let (reads, to_read) = mpsc::channel();
        let (opened, opening) = oneshot::channel();
        let place = path.clone();
        spawn("flow-writer", move || {
            let (writer, threads) = match start(&place, &options, to_read) {
                Ok(started) => started,
                Err(error) => {
                    let _ = opened.send(Err(error));
                    return;
                }
            };
            let _ = opened.send(Ok(()));
            writer::serve(&writer, &to_write);
            // The writing connection has to close last: it moves the log into the file.
            for thread in threads {
                let _ = thread.join();
            }
        })?;
        opening.await.map_err(|_| writer::thread_ended())??;
        Ok(SqliteStore {
            path,
            jobs,
            reads,
            transaction_timeout,
        })
    }

    async fn write<T: Send + 'static>(
        &self,
        run: impl Fn(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        writer::write(&self.jobs, run).await
    }

    async fn read<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        readers::read(&self.reads, run).await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Opens the connection that writes, and starts the threads that read.
fn start(
    path: &Path,
    options: &SqliteOptions,
    reads: Receiver<Read>,
) -> Result<(Connection, Vec<JoinHandle<()>>), StoreError> {
    let given = path;
    let path = &file::absolute(given)?;
    let writer = open::writer(path, given, options)?;
    let reads = Arc::new(Mutex::new(reads));
    let mut threads = Vec::new();
    for _ in 0..readers::READERS {
        let reader = open::reader(path, options)?;
        let reads = Arc::clone(&reads);
        let serve = move || readers::serve(&reader, &reads);
        threads.push(spawn("flow-reader", serve)?);
    }
    Ok((writer, threads))
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|error| StoreError::Other(Box::new(error)))
}

#[async_trait]
impl Store for SqliteStore {
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        self.write(move |connection| write::create(connection, &row, &records, &pauses, claim))
            .await
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        self.write(move |connection| write::create_part(connection, of, fence, &row, &records))
            .await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        let (hash, structure) = (hash.to_owned(), structure.to_owned());
        self.write(move |connection| write::put_structure(connection, &hash, &structure))
            .await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        let hash = hash.to_owned();
        self.read(move |connection| read::structure(connection, &hash))
            .await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        let found = self.read(move |connection| read::execution(connection, id));
        Ok(found.await?.map(|execution| execution.row))
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let query = query.clone();
        self.read(move |connection| read::list(connection, &query))
            .await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        self.write(move |connection| write::claim(connection, id, holder, now_ms, until_ms))
            .await
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let (seen, take) = (take.clone(), take.clone());
        // Most looks find nothing, and must not keep others from writing.
        let found = self.read(move |connection| queue::look(connection, &seen));
        match found.await? {
            queue::Found::Nothing(damaged) => Ok(damaged),
            queue::Found::Some => {
                self.write(move |connection| queue::take_queued(connection, &take))
                    .await
            }
        }
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        self.read(move |connection| Ok(read::execution(connection, id)?.and_then(|it| it.claim)))
            .await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        self.write(move |connection| write::mark(connection, id, fence, &mark))
            .await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        self.write(move |connection| write::break_claim(connection, id, claim))
            .await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        self.write(move |connection| write::renew(connection, holder, until_ms))
            .await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        self.write(move |connection| write::append(connection, id, fence, &append))
            .await
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        let reason = reason.to_owned();
        self.write(move |connection| {
            write::end(connection, id, status, &reason, &record, condition)
        })
        .await
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        self.write(move |connection| write::reopen(connection, id, status, &record))
            .await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.read(move |connection| read::records(connection, id, from_seq, limit))
            .await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        self.read(move |connection| {
            let Some(execution) = read::execution(connection, id)? else {
                return Ok(Vec::new());
            };
            let questions = read::questions(connection, &execution)?;
            Ok(questions.into_iter().map(|question| question.row).collect())
        })
        .await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        let found = self.read(move |connection| read::question(connection, token));
        Ok(found.await?.map(|question| question.row))
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        self.write(move |connection| write::settle(connection, token, &settlement, now_ms))
            .await
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        self.write(move |connection| signals::signal(connection, id, &signal))
            .await
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        self.read(move |connection| signals::signals(connection, id))
            .await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        self.read(move |connection| read::due(connection, now_ms, after, limit))
            .await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        self.read(move |connection| log::log(connection, execution, after, limit))
            .await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.read(log::last_offset).await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        self.write(move |connection| write::delete(connection, id))
            .await
    }

    fn transactions(&self) -> Option<&'static str> {
        Some(std::any::type_name::<Transaction>())
    }

    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        let (session, begun, begins) = transaction::session(self.transaction_timeout);
        // If the thread is gone, the session is too.
        let _ = self.jobs.send(Job::Session(session));
        begins
            .await
            .unwrap_or_else(|_| Err(writer::thread_ended()))?;
        Ok(Box::new(begun))
    }
}
