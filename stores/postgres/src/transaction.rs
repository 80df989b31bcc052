//! Transactions in which steps write.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flow_store::{Append, ExecutionId, StoreError, StoreTransaction};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row};

use super::database::{Database, Held};
use super::errors::{self, CallError, Effect, Failure};
use super::write;

/// A transaction of the database for the writes of a step: the parameter of a node with the setting
/// `transaction`.
///
/// The writes of the step are committed together with its recorded outcome. Neither happens if the
/// step fails, its process crashes, or another process has taken over the execution. The rows of
/// each completed step are thus there exactly once.
///
/// The tables are your own, in the database of the store. Each value of a statement comes with its
/// type, so that statements work through a pooler such as PgBouncer.
///
/// As always in Postgres, a failed statement undoes the transaction. A step that continues
/// nevertheless fails at its end, unless it went back to its own `SAVEPOINT`. `DEFERRABLE`
/// constraints are checked at the end of the step, as part of it. The database ends a transaction
/// that is idle for longer than
/// [`PostgresOptions::transaction_idle_timeout`](crate::PostgresOptions::transaction_idle_timeout).
///
/// # Examples
///
/// ```no_run
/// use flow_durable::{Runtime, StartOptions};
/// use flow_postgres::tokio_postgres::types::Type;
/// use flow_postgres::{PostgresStore, Transaction, TransactionError};
/// use flow_runtime::prelude::*;
///
/// #[node(transaction)]
/// async fn post(tx: &mut Transaction, account: &str, amount: &i64) -> Result<i64, TransactionError> {
///     let values: [_; 2] = [(&account as _, Type::TEXT), (amount as _, Type::INT8)];
///     tx.execute("INSERT INTO postings VALUES ($1, $2)", &values).await?;
///     let sum = "SELECT sum(amount)::bigint FROM postings WHERE account = $1";
///     let found = tx.query(sum, &[(&account, Type::TEXT)]).await?;
///     Ok(found[0].get(0))
/// }
///
/// flow! {
///     Posting(account: String, amount: i64) -> (post: i64) {
///         start >> post >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::new(PostgresStore::connect("postgres://me@localhost/flows").await?);
/// runtime.register(Posting::new())?;
/// let input = PostingInput { account: "ann".into(), amount: 40 };
/// runtime.executions().start::<Posting>(input, StartOptions::new()).await?.settled().await?;
/// # Ok(()) }
/// ```
pub struct Transaction {
    client: Held,
}

impl Transaction {
    /// Runs one statement, and returns the number of changed rows. If the future is dropped, the
    /// statement may have been run.
    ///
    /// # Errors
    ///
    /// The statement failed, or the connection is lost. The transaction will not be committed then.
    pub async fn execute(
        &mut self,
        sql: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64, TransactionError> {
        Ok(self.client.execute_typed(sql, values).await?)
    }

    /// Runs one statement, and returns its rows. If the future is dropped, the statement may have
    /// been run.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`execute`](Transaction::execute).
    pub async fn query(
        &mut self,
        sql: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, TransactionError> {
        Ok(self.client.query_typed(sql, values).await?)
    }

    /// Returns the connection, for everything else, such as `COPY`. It returns to a pool of
    /// connections for steps, so change its settings by `SET LOCAL` only. Its methods that prepare
    /// statements, such as [`query`](tokio_postgres::Client::query), do not work through every
    /// pooler.
    pub fn client(&mut self) -> &tokio_postgres::Client {
        &self.client
    }
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").finish_non_exhaustive()
    }
}

/// An error of a step's [`Transaction`].
#[derive(Debug, thiserror::Error)]
#[error("a statement of the transaction failed")]
pub struct TransactionError(#[from] Error);

impl TransactionError {
    /// Returns the error of Postgres, for instance to read its [`code`](Error::code).
    pub fn postgres(&self) -> &Error {
        &self.0
    }
}

/// A transaction that has begun.
pub(super) struct Begun {
    database: Arc<Database>,
    transaction: Transaction,
}

/// The savepoint that reveals whether a step ended the transaction by its own statement.
const SAVEPOINT: &str = "SAVEPOINT transaction_of_step";
const RELEASE: &str = "RELEASE SAVEPOINT transaction_of_step";

pub(super) async fn begin(database: &Arc<Database>) -> Result<Begun, StoreError> {
    let limit = database.idle_in_transaction.as_millis().max(1);
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; \
         SET LOCAL idle_in_transaction_session_timeout = {}; {SAVEPOINT}",
        limit.min(i32::MAX as u128)
    );
    let client = database.connection_for_step(&begin).await?;
    Ok(Begun {
        database: database.clone(),
        transaction: Transaction { client },
    })
}

impl Begun {
    async fn run(&self, sql: &str) -> Result<(), CallError> {
        let client = &self.transaction.client;
        self.database.answered(client.batch_execute(sql)).await
    }

    /// Rolls the transaction back, and returns the connection.
    async fn undo(self) {
        // Closing the connection rolls back as well, so a slow answer is not worth waiting for.
        let undone = tokio::time::timeout(Duration::from_secs(1), self.run("ROLLBACK"));
        if matches!(undone.await, Ok(Ok(()))) {
            self.transaction.client.give_back();
        }
    }
}

/// Returns the error for a missing savepoint.
fn unreleased(error: CallError) -> StoreError {
    match errors::code(&error) {
        Some("25P01" | "3B001") => Failure::EndedByStep.into(),
        Some("25P02") => Failure::Aborted.into(),
        None if error.effect() == Effect::Unknown => Failure::TransactionLost.into(),
        _ => errors::store_error(error),
    }
}

#[async_trait]
impl StoreTransaction for Begun {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        &mut self.transaction
    }

    async fn check(&mut self) -> Result<(), StoreError> {
        let check = format!("{RELEASE}; SET CONSTRAINTS ALL IMMEDIATE; {SAVEPOINT}");
        self.run(&check).await.map_err(unreleased)
    }

    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        append: Append,
    ) -> Result<(), StoreError> {
        // Readers of the log wait for writers, so the rest must be quick.
        let release = format!("{RELEASE}; SET LOCAL idle_in_transaction_session_timeout = 5000");
        let written = match self.run(&release).await {
            Ok(()) => {
                let client = &self.transaction.client;
                write::append_in(&self.database, client, id, fence, &append).await
            }
            Err(error) => Err(unreleased(error)),
        };
        let told = match written {
            Ok(told) => told,
            Err(error) => {
                self.undo().await;
                return Err(error);
            }
        };
        match self.run("COMMIT").await {
            Ok(()) => {
                self.database.tell(told);
                self.transaction.client.give_back();
                Ok(())
            }
            Err(error) if error.effect() == Effect::Unknown => {
                let Begun {
                    database,
                    transaction,
                } = *self;
                drop(transaction);
                write::is_committed(&database, id, fence, &append).await?;
                database.tell(told);
                Ok(())
            }
            Err(error) => Err(errors::store_error(error)),
        }
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if let Err(error) = self.run(RELEASE).await {
            self.undo().await;
            return Err(unreleased(error));
        }
        match self.run("COMMIT").await {
            Ok(()) => {
                self.transaction.client.give_back();
                Ok(())
            }
            Err(error) if error.effect() == Effect::Unknown => {
                Err(Failure::CommitUnknown(Box::new(error)).into())
            }
            Err(error) => Err(errors::store_error(error)),
        }
    }

    async fn roll_back(self: Box<Self>) {
        self.undo().await;
    }
}
