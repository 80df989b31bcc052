//! Transactions for the writes of steps: sessions on the writing thread.
//!
//! A session occupies the thread, so its time is limited.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use flow_store::{Append, ExecutionId, StoreError, StoreTransaction};
use rusqlite::{Connection, Params};
use tokio::sync::oneshot;

use crate::errors::shared_error;
use crate::write;
use crate::writer::execute;

/// A transaction of the file for the writes of a step: the parameter of a node with the setting
/// `transaction`.
///
/// The writes of the step are committed together with its recorded outcome. Neither happens if the
/// step fails, its process crashes, or another process has taken over the execution. The rows of
/// each completed step are thus there exactly once.
///
/// The tables are your own, in the file of the store. Nobody else can write to the file during the
/// transaction, so keep it short. It is rolled back after
/// [`SqliteOptions::transaction_timeout`](crate::SqliteOptions::transaction_timeout). A step that
/// writes to the store in another way meanwhile, for instance by starting an execution, blocks
/// itself until then.
///
/// A constraint that is `DEFERRABLE INITIALLY DEFERRED` is checked too late to be an error of the
/// step. If it fails, the execution stops before the step, as if the disk were full.
///
/// # Examples
///
/// ```
/// use flow_durable::{Runtime, StartOptions};
/// use flow_runtime::prelude::*;
/// use flow_sqlite::{SqliteStore, Transaction, TransactionError};
///
/// #[node(transaction)]
/// async fn post(tx: &mut Transaction, account: &str, amount: &i64) -> Result<i64, TransactionError> {
///     let (account, amount) = (account.to_owned(), *amount);
///     tx.call(move |connection| {
///         connection.execute("INSERT INTO postings VALUES (?1, ?2)", (&account, amount))?;
///         let sum = "SELECT sum(amount) FROM postings WHERE account = ?1";
///         connection.query_row(sum, [&account], |row| row.get(0))
///     })
///     .await
/// }
///
/// flow! {
///     Posting(account: String, amount: i64) -> (post: i64) {
///         start >> post >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.db");
/// let store = SqliteStore::open(&path).await?;
/// let tables = flow_sqlite::rusqlite::Connection::open(&path)?;
/// tables.execute_batch("CREATE TABLE IF NOT EXISTS postings (account TEXT, amount INTEGER)")?;
/// let runtime = Runtime::new(store);
/// runtime.register(Posting::new())?;
/// let input = PostingInput { account: "ann".into(), amount: 40 };
/// let execution = runtime.executions().start::<Posting>(input, StartOptions::new()).await?;
/// assert_eq!(execution.settled().await?.output::<Posting>()?.unwrap().post, 40);
/// # Ok(()) }
/// ```
pub struct Transaction {
    commands: Sender<Command>,
    limit: Duration,
}

impl Transaction {
    /// Runs statements, and returns the result of the function. If the future is dropped, the
    /// statements may have been run; the step can continue.
    ///
    /// # Errors
    ///
    /// The function's error, after which the transaction continues, or the transaction has ended.
    ///
    /// # Panics
    ///
    /// Panics if the function panics.
    pub async fn call<T: Send + 'static>(
        &mut self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, TransactionError> {
        let (reply, outcome) = oneshot::channel();
        let run = move |connection: &Connection| {
            let result = catch_unwind(AssertUnwindSafe(|| run(connection)));
            // The caller may have stopped waiting.
            let _ = reply.send(result);
        };
        let _ = self.commands.send(Command::Call(Box::new(run)));
        match outcome.await {
            Ok(Ok(result)) => result.map_err(TransactionError::Sqlite),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(TransactionError::TimedOut(self.limit)),
        }
    }

    /// Runs one statement, and returns the number of changed rows.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`call`](Transaction::call).
    ///
    /// # Examples
    ///
    /// ```
    /// # use flow_sqlite::{Transaction, TransactionError};
    /// # async fn example(tx: &mut Transaction, sku: String) -> Result<(), TransactionError> {
    /// let sold = tx.execute("UPDATE stock SET left = left - 1 WHERE sku = ?1 AND left > 0", (sku,)).await?;
    /// # Ok(()) }
    /// ```
    pub async fn execute(
        &mut self,
        sql: impl Into<String>,
        values: impl Params + Send + 'static,
    ) -> Result<usize, TransactionError> {
        let sql = sql.into();
        self.call(move |connection| connection.prepare_cached(&sql)?.execute(values))
            .await
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

/// An error of a step's [`Transaction`].
#[derive(Debug)]
#[non_exhaustive]
pub enum TransactionError {
    /// A statement failed.
    Sqlite(rusqlite::Error),
    /// The transaction took longer than this, and was rolled back.
    TimedOut(Duration),
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionError::Sqlite(_) => f.write_str("a statement of the transaction failed"),
            TransactionError::TimedOut(limit) => write!(
                f,
                "the transaction took longer than {limit:?}, and was rolled back: nobody else could write meanwhile"
            ),
        }
    }
}

impl Error for TransactionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TransactionError::Sqlite(error) => Some(error),
            TransactionError::TimedOut(_) => None,
        }
    }
}

type Run = Box<dyn FnOnce(&Connection) + Send>;
type End = Box<dyn Fn(&Connection) -> Result<(), StoreError> + Send>;
type Reply = oneshot::Sender<Result<(), StoreError>>;

enum Command {
    /// Runs statements.
    Call(Run),
    /// Runs the last statements, and commits.
    Commit(End, Reply),
    /// Undoes all statements.
    RollBack(oneshot::Sender<()>),
}

/// The savepoint that reveals whether a step ended the transaction by its own statement.
const SAVEPOINT: &str = "SAVEPOINT transaction_of_step";

/// A transaction that is to begin on the writing thread.
pub(crate) struct Session {
    commands: Receiver<Command>,
    began: Reply,
    limit: Duration,
}

/// Creates a session for a step, and a receiver that waits for its start.
pub(crate) fn session(
    limit: Duration,
) -> (Session, Begun, oneshot::Receiver<Result<(), StoreError>>) {
    let (to_session, commands) = channel();
    let (began, begins) = oneshot::channel();
    let session = Session {
        commands,
        began,
        limit,
    };
    let handle = Transaction {
        commands: to_session,
        limit,
    };
    (session, Begun(handle), begins)
}

impl Session {
    /// Serves the step until its transaction ends.
    pub(crate) fn serve(self, connection: &Connection) {
        let Session {
            commands,
            began,
            limit,
        } = self;
        let begins =
            execute(connection, "BEGIN IMMEDIATE").and_then(|()| execute(connection, SAVEPOINT));
        let begins = begins.map_err(|error| shared_error(&error));
        let has_begun = begins.is_ok();
        let is_wanted = began.send(begins).is_ok();
        let mut waiting = None;
        if has_begun && is_wanted {
            waiting = serve(connection, &commands, limit);
        }
        if !connection.is_autocommit() {
            // If this fails, the next `BEGIN` fails too, with the reason.
            let _ = execute(connection, "ROLLBACK");
        }
        if let Some(waiting) = waiting {
            // The caller may have stopped waiting.
            let _ = waiting.send(());
        }
    }
}

/// Serves commands until the transaction is committed or has to be rolled back. Returns the sender
/// to notify after that.
fn serve(
    connection: &Connection,
    commands: &Receiver<Command>,
    limit: Duration,
) -> Option<oneshot::Sender<()>> {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // A waiting command would be returned even then.
        if left.is_zero() {
            return None;
        }
        match commands.recv_timeout(left) {
            Ok(Command::Call(run)) => run(connection),
            Ok(Command::Commit(end, reply)) => {
                let committed = commit(connection, &end);
                let _ = reply.send(committed);
                return None;
            }
            Ok(Command::RollBack(reply)) => return Some(reply),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        }
    }
}

fn commit(connection: &Connection, end: &End) -> Result<(), StoreError> {
    release(connection)?;
    end(connection)?;
    execute(connection, "COMMIT").map_err(|error| shared_error(&error))
}

/// Removes the savepoint, which fails if the step removed it.
fn release(connection: &Connection) -> Result<(), StoreError> {
    execute(connection, "RELEASE transaction_of_step").map_err(|_| {
        let reason = "the step ended its transaction by a statement of its own";
        StoreError::Other(reason.into())
    })
}

fn checked(connection: &Connection) -> Result<(), StoreError> {
    release(connection)?;
    execute(connection, SAVEPOINT).map_err(|error| shared_error(&error))
}

/// A transaction that has begun.
pub(crate) struct Begun(Transaction);

impl Begun {
    async fn end(
        self,
        last: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (reply, ended) = oneshot::channel();
        let _ = self.0.commands.send(Command::Commit(Box::new(last), reply));
        ended.await.unwrap_or_else(|_| Err(self.timed_out()))
    }

    fn timed_out(&self) -> StoreError {
        StoreError::Other(Box::new(TransactionError::TimedOut(self.0.limit)))
    }
}

#[async_trait]
impl StoreTransaction for Begun {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        &mut self.0
    }

    async fn check(&mut self) -> Result<(), StoreError> {
        let (reply, outcome) = oneshot::channel();
        let check = move |connection: &Connection| {
            let _ = reply.send(checked(connection));
        };
        let _ = self.0.commands.send(Command::Call(Box::new(check)));
        outcome.await.unwrap_or_else(|_| Err(self.timed_out()))
    }

    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        append: Append,
    ) -> Result<(), StoreError> {
        self.end(move |connection| write::append(connection, id, fence, &append))
            .await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.end(|_| Ok(())).await
    }

    async fn roll_back(self: Box<Self>) {
        let (reply, ended) = oneshot::channel();
        let _ = self.0.commands.send(Command::RollBack(reply));
        // If the session has ended, its transaction has too.
        let _ = ended.await;
    }
}
