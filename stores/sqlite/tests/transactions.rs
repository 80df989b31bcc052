//! Steps that write in the file of the store. What deaths of the process do to them is a test of
//! the whole workspace.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flow_durable::{
    Execution, MemoryStore, Runtime, RuntimeError, StartOptions, Status, StoreTransactions,
};
use flow_runtime::prelude::*;
use flow_sqlite::rusqlite::{self, Connection};
use flow_sqlite::{SqliteOptions, SqliteStore, Transaction, TransactionError};
use tokio::sync::Notify;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// What a step does after it has written a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Then {
    Succeeds,
    Fails,
    Commits,
    Panics,
    Waits,
}

#[derive(Debug, Default, Clone)]
struct Post {
    has_written: Arc<Notify>,
}

#[node(transaction)]
impl Post {
    async fn exec(&self, tx: &mut Transaction, then: &Then) -> Result<i64, TransactionError> {
        tx.execute("INSERT INTO postings VALUES (?1)", (7,)).await?;
        self.has_written.notify_one();
        match then {
            Then::Succeeds => {}
            Then::Fails => {
                tx.execute("INSERT INTO nowhere VALUES (?1)", (7,)).await?;
            }
            Then::Commits => {
                tx.execute("COMMIT", ()).await?;
            }
            Then::Panics => tx.call(|_| panic!("in the middle of it")).await?,
            Then::Waits => std::future::pending().await,
        }
        let sum = |connection: &Connection| {
            connection.query_row("SELECT sum(amount) FROM postings", [], |row| row.get(0))
        };
        tx.call(sum).await
    }
}

flow! {
    Posting(then: Then) -> (post: i64) {
        node post: Post;
        start >> post >> end;
    }
}

flow! {
    Around(then: Then) -> (post: i64) {
        node posting: Posting;
        start >> posting >> end;
    }
}

struct Bench {
    runtime: Runtime,
    has_written: Arc<Notify>,
    tables: Connection,
    folder: tempfile::TempDir,
}

impl Bench {
    async fn new(options: SqliteOptions) -> Outcome<Bench> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("runs.db");
        let runtime = Runtime::new(SqliteStore::open_with(&path, options).await?);
        let has_written = Arc::new(Notify::new());
        let post = Post {
            has_written: has_written.clone(),
        };
        runtime.register(Posting::builder().post(post).build())?;
        Ok(Bench {
            runtime,
            has_written,
            tables: tables(&path)?,
            folder,
        })
    }

    async fn start(&self, then: Then) -> Outcome<Execution> {
        let input = PostingInput { then };
        let started = self
            .runtime
            .executions()
            .start::<Posting>(input, StartOptions::new());
        Ok(started.await?)
    }

    /// Runs an execution to its end, and returns its reason.
    async fn failure(&self, then: Then) -> Outcome<String> {
        let execution = self.start(then).await?.settled().await?;
        assert_eq!(execution.status(), Status::Failed);
        Ok(execution.reason().unwrap_or_default().to_owned())
    }

    fn rows(&self) -> rusqlite::Result<i64> {
        rows(&self.tables)
    }
}

fn tables(path: &Path) -> rusqlite::Result<Connection> {
    let tables = Connection::open(path)?;
    tables.execute_batch("CREATE TABLE postings (amount INTEGER)")?;
    Ok(tables)
}

mod suite {
    use std::any::Any;
    use std::path::PathBuf;
    use std::sync::Arc;

    use flow_durable::Store;
    use flow_sqlite::{SqliteStore, Transaction};
    use flow_store::suite::transactions::Ledger;

    struct Postings(PathBuf, Arc<dyn Store>);

    #[async_trait::async_trait]
    impl Ledger for Postings {
        fn store(&self) -> Arc<dyn Store> {
            self.1.clone()
        }

        async fn write(&self, handle: &mut (dyn Any + Send)) {
            let tx: &mut Transaction = handle.downcast_mut().unwrap();
            let written = tx.execute("INSERT INTO postings VALUES (?1)", (7,));
            assert_eq!(written.await.unwrap(), 1);
        }

        async fn rows(&self) -> usize {
            let tables = rusqlite::Connection::open(&self.0).unwrap();
            super::rows(&tables).unwrap().try_into().unwrap()
        }
    }

    flow_store::transaction_suite!(|folder| async move {
        let path = folder.join("runs.db");
        let store = SqliteStore::open(&path).await.unwrap();
        super::tables(&path).unwrap();
        Some(Postings(path, Arc::new(store)))
    });

    /// All values are beside the file.
    mod with_blobs {
        use flow_store::{BlobStore, MemoryBlobs};

        use super::*;

        flow_store::transaction_suite!(|folder| async move {
            let path = folder.join("runs.db");
            let store = SqliteStore::open(&path).await.unwrap();
            crate::tables(&path).unwrap();
            let store = BlobStore::new(store, MemoryBlobs::new()).above(0);
            Some(Postings(path, Arc::new(store)))
        });
    }
}

fn rows(tables: &Connection) -> rusqlite::Result<i64> {
    tables.query_row("SELECT count(*) FROM postings", [], |row| row.get(0))
}

#[tokio::test]
async fn rows_are_there_when_the_step_has_succeeded() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    let execution = bench.start(Then::Succeeds).await?.settled().await?;
    assert_eq!(execution.output::<Posting>()?.map(|it| it.post), Some(7));
    assert_eq!(bench.rows()?, 1);
    Ok(())
}

#[tokio::test]
async fn a_step_that_fails_leaves_nothing() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    let reason = bench.failure(Then::Fails).await?;
    assert!(reason.contains("no such table: nowhere"), "{reason}");
    assert_eq!(bench.rows()?, 0);
    Ok(())
}

#[tokio::test]
async fn a_step_that_panics_leaves_nothing_and_the_store_goes_on() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    let halted = bench.start(Then::Panics).await?.settled().await;
    let halted = halted.unwrap_err().to_string();
    assert!(halted.contains("in the middle of it"), "{halted}");
    assert_eq!(bench.rows()?, 0);
    let execution = bench.start(Then::Succeeds).await?.settled().await?;
    assert_eq!(execution.status(), Status::Completed);
    Ok(())
}

#[tokio::test]
async fn a_step_cannot_end_its_transaction_by_itself() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    let reason = bench.failure(Then::Commits).await?;
    let expected = "the step ended its transaction by a statement of its own";
    assert!(reason.contains(expected), "{reason}");
    Ok(())
}

#[tokio::test]
async fn a_step_that_is_dropped_leaves_nothing() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    let execution = bench.start(Then::Waits).await?;
    bench.has_written.notified().await;
    // This write waits until the step has been dropped: only the run's own process drops it first.
    bench.runtime.shut_down().await;
    assert_eq!(bench.rows()?, 0);
    let row = bench.runtime.executions().get(execution.id()).await?;
    assert_eq!(row.status(), Status::Running, "another process goes on");
    Ok(())
}

#[tokio::test]
async fn a_transaction_that_takes_too_long_is_rolled_back() -> Outcome {
    let options = SqliteOptions::new().transaction_timeout(Duration::ZERO);
    let bench = Bench::new(options).await?;
    let reason = bench.failure(Then::Succeeds).await?;
    assert!(
        reason.contains("the transaction took longer than 0ns"),
        "{reason}"
    );
    assert_eq!(bench.rows()?, 0);
    Ok(())
}

/// Whoever cancels waits for the transaction, and the step for nobody.
#[tokio::test]
async fn a_step_whose_execution_is_cancelled_leaves_nothing_and_the_store_goes_on() -> Outcome {
    let options = SqliteOptions::new().transaction_timeout(Duration::from_millis(300));
    let bench = Bench::new(options).await?;
    let execution = bench.start(Then::Waits).await?;
    bench.has_written.notified().await;
    let cancelled = bench
        .runtime
        .executions()
        .cancel(execution.id(), "no more")
        .await?;
    assert_eq!(cancelled.status(), Status::Cancelled);
    assert_eq!(execution.settled().await?.status(), Status::Cancelled);
    assert_eq!(bench.rows()?, 0);
    let other = bench.start(Then::Succeeds).await?.settled().await?;
    assert_eq!(other.status(), Status::Completed);
    assert_eq!(bench.rows()?, 1);
    Ok(())
}

/// Writes, and takes too long for its first attempts.
#[node(transaction, timeout = "100ms", retry(attempts = 3))]
async fn post_late(
    tx: &mut Transaction,
    cx: &Context,
    late: &u32,
) -> Result<u32, TransactionError> {
    tx.execute("INSERT INTO postings VALUES (?1)", (7,)).await?;
    if cx.attempt() < *late {
        std::future::pending::<()>().await;
    }
    Ok(cx.attempt())
}

flow! {
    Late(late: u32) -> (post_late: Option<u32>) {
        start >> post_late >> end;
        post_late - "error" >> end("failed");
    }
}

#[tokio::test]
async fn an_attempt_that_times_out_after_writing_leaves_nothing() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    bench.runtime.register(Late::new())?;
    for (late, rows, last) in [(0, 1, Some(0)), (2, 2, Some(2)), (3, 2, None)] {
        let input = LateInput { late };
        let started = bench
            .runtime
            .executions()
            .start::<Late>(input, StartOptions::new());
        let execution = started.await?.settled().await?;
        let output = execution.output::<Late>()?.and_then(|it| it.post_late);
        assert_eq!(
            (output, bench.rows()?),
            (last, rows),
            "{late} late attempts"
        );
    }
    Ok(())
}

/// The next process runs the step again, whose rows are then there once.
#[tokio::test]
async fn a_step_that_was_dropped_writes_once_when_its_execution_continues() -> Outcome {
    let bench = Bench::new(SqliteOptions::new()).await?;
    let execution = bench.start(Then::Waits).await?;
    bench.has_written.notified().await;
    bench.runtime.shut_down().await;

    /// As [`Post`], and waits for nothing.
    #[node(transaction)]
    async fn post(tx: &mut Transaction, then: &Then) -> Result<i64, TransactionError> {
        assert_eq!(*then, Then::Waits);
        tx.execute("INSERT INTO postings VALUES (?1)", (7,)).await?;
        Ok(7)
    }

    let path = bench.folder.path().join("runs.db");
    let next = Runtime::new(SqliteStore::open(&path).await?);
    let flow = {
        flow! {
            Posting(then: Then) -> (post: i64) {
                start >> post >> end;
            }
        }
        Posting::new()
    };
    next.register(flow)?;
    next.recover().await?;
    let ended = next
        .executions()
        .get(execution.id())
        .await?
        .settled()
        .await?;
    assert_eq!((ended.status(), bench.rows()?), (Status::Completed, 1));
    Ok(())
}

#[tokio::test]
async fn a_plain_run_commits_each_step() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("runs.db");
    let store = Arc::new(SqliteStore::open(&path).await?);
    let tables = tables(&path)?;
    let flow = Around::builder()
        .posting(Posting::builder().post(Post::default()).build())
        .build();
    for (then, rows_then) in [(Then::Succeeds, 1), (Then::Fails, 1), (Then::Succeeds, 2)] {
        let options = RunOptions::new().transactions(StoreTransactions::new(store.clone()));
        let run = flow.run_with(AroundInput { then }, options).await;
        assert_eq!(run.is_ok(), then == Then::Succeeds);
        assert_eq!(rows(&tables)?, rows_then);
    }
    Ok(())
}

#[tokio::test]
async fn a_store_without_a_database_refuses_the_flow() {
    let runtime = Runtime::new(MemoryStore::new());
    let flow = || {
        Around::builder()
            .posting(Posting::builder().post(Post::default()).build())
            .build()
    };
    let registered = [
        runtime.register(flow()),
        runtime.register(Arc::new(flow())),
        runtime.replace(Arc::new(flow())),
    ];
    for refused in registered {
        let error = refused.unwrap_err();
        assert!(
            matches!(error, RuntimeError::NoTransactions { .. }),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            "the flow `Around` cannot run on this store: `posting.post` writes in a transaction, and the store \
             has no database"
        );
    }
}
