//! Steps that write in the database of the store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flow_durable::{Execution, Runtime, StartOptions, Status, StoreTransactions};
use flow_postgres::tokio_postgres::types::Type;
use flow_postgres::{PostgresOptions, PostgresStore, Transaction, TransactionError};
use flow_runtime::prelude::*;
use flow_services::Postgres;
use flow_store::suite::fixtures::{LEASE, NOW, append, claimed, records};
use flow_store::{ExecutionId, Store as _, StoreError, StoreTransaction};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::servers::{options, pooler, shared};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// What a step does after it has written a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
enum Then {
    Succeeds,
    Fails,
    GoesOnAfterAFailure,
    GoesBackAfterAFailure,
    BreaksALateConstraint,
    Commits,
    CommitsAndBegins,
    Panics,
    Sleeps,
    Waits,
}

/// Writes to a table that is its own, so that tests can run beside each other.
#[derive(Debug, Default, Clone)]
struct Post {
    table: String,
    has_written: Arc<Notify>,
}

#[node(transaction)]
impl Post {
    async fn exec(&self, tx: &mut Transaction, then: &Then) -> Result<i64, TransactionError> {
        let insert = format!("INSERT INTO {} VALUES ($1)", self.table);
        let written = tx.execute(&insert, &[(&7_i64, Type::INT8)]).await?;
        assert_eq!(written, 1);
        self.has_written.notify_one();
        let wrong = "INSERT INTO nowhere VALUES (7)";
        match then {
            Then::Succeeds => {}
            Then::Fails => {
                tx.execute(wrong, &[]).await?;
            }
            Then::GoesOnAfterAFailure => {
                let _ = tx.execute(wrong, &[]).await;
                return Ok(7);
            }
            Then::GoesBackAfterAFailure => {
                tx.execute("SAVEPOINT before", &[]).await?;
                let error = tx.execute(wrong, &[]).await.unwrap_err();
                assert_eq!(error.postgres().code().map(|it| it.code()), Some("42P01"));
                tx.execute("ROLLBACK TO before", &[]).await?;
            }
            Then::BreaksALateConstraint => {
                tx.execute(&insert, &[(&7_i64, Type::INT8)]).await?;
            }
            Then::Commits => {
                tx.execute("COMMIT", &[]).await?;
            }
            Then::CommitsAndBegins => tx.client().batch_execute("COMMIT; BEGIN").await?,
            Then::Panics => panic!("in the middle of it"),
            Then::Sleeps => tokio::time::sleep(Duration::from_millis(400)).await,
            Then::Waits => std::future::pending().await,
        }
        let sum = format!("SELECT sum(amount)::bigint FROM {}", self.table);
        Ok(tx.query(&sum, &[]).await?[0].get(0))
    }
}

flow! {
    Posting(then: Then) -> (post: i64) {
        node post: Post;
        start >> post >> end;
    }
}

struct Bench {
    server: &'static Postgres,
    runtime: Runtime,
    post: Post,
}

/// A table of numbers, each once, which is checked when a transaction ends.
fn table(server: &Postgres) -> String {
    let name = format!("postings_{}", Uuid::new_v4().simple());
    server.query(&format!(
        "CREATE TABLE {name} (amount bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)"
    ));
    name
}

fn rows(server: &Postgres, table: &str) -> String {
    server.query(&format!("SELECT count(*) FROM {table}"))
}

impl Bench {
    /// `None` if Postgres is not installed.
    async fn new(options: PostgresOptions) -> Outcome<Option<Bench>> {
        match shared() {
            Some(server) => Ok(Some(Bench::at(server, &server.url(), options).await?)),
            None => Ok(None),
        }
    }

    async fn at(server: &'static Postgres, url: &str, options: PostgresOptions) -> Outcome<Bench> {
        let post = Post {
            table: table(server),
            has_written: Arc::default(),
        };
        let runtime = Runtime::new(PostgresStore::connect_with(url, options).await?);
        runtime.register(Posting::builder().post(post.clone()).build())?;
        Ok(Bench {
            server,
            runtime,
            post,
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

    async fn sum(&self, then: Then) -> Outcome<Option<i64>> {
        let execution = self.start(then).await?.settled().await?;
        Ok(execution.output::<Posting>()?.map(|it| it.post))
    }

    /// Runs an execution to its end, and checks its reason.
    async fn fails(&self, then: Then, expected: &str) -> Outcome {
        let execution = self.start(then).await?.settled().await?;
        assert_eq!(execution.status(), Status::Failed, "{then:?}");
        let reason = execution.reason().unwrap_or_default();
        assert!(reason.contains(expected), "{then:?}: {reason}");
        Ok(())
    }

    fn rows(&self) -> String {
        rows(self.server, &self.post.table)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_there_when_the_step_has_succeeded_only() -> Outcome {
    let Some(bench) = Bench::new(options()).await? else {
        return Ok(());
    };
    for (then, reason) in [
        (Then::Fails, "relation \"nowhere\" does not exist"),
        (
            Then::GoesOnAfterAFailure,
            "a statement of the step failed, which undid its transaction",
        ),
        (
            Then::BreaksALateConstraint,
            "duplicate key value violates unique constraint",
        ),
    ] {
        bench.fails(then, reason).await?;
        assert_eq!(bench.rows(), "0", "{then:?}");
    }
    let halted = bench
        .start(Then::Panics)
        .await?
        .settled()
        .await
        .unwrap_err();
    assert!(
        halted.to_string().contains("in the middle of it"),
        "{halted}"
    );
    assert_eq!(bench.rows(), "0");
    assert_eq!(bench.sum(Then::GoesBackAfterAFailure).await?, Some(7));
    assert_eq!(bench.rows(), "1");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_cannot_end_its_transaction_by_itself() -> Outcome {
    let expected = "the step ended its transaction by a statement of its own";
    for then in [Then::Commits, Then::CommitsAndBegins] {
        let Some(bench) = Bench::new(options()).await? else {
            return Ok(());
        };
        bench.fails(then, expected).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_dropped_leaves_nothing_and_no_connection() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let url = format!("{}?application_name=dropped", server.url());
    let bench = Bench::at(server, &url, options().connections(1)).await?;
    let execution = bench.start(Then::Waits).await?;
    bench.post.has_written.notified().await;
    bench.runtime.shut_down().await;
    let row = bench.runtime.executions().get(execution.id()).await?;
    assert_eq!(row.status(), Status::Running, "another process goes on");
    let left = "SELECT count(*) FROM pg_stat_activity \
        WHERE application_name = 'dropped' AND state LIKE 'idle in transaction%'";
    let began = Instant::now();
    while server.query(left) != "0" {
        assert!(began.elapsed() < Duration::from_secs(200));
    }
    assert_eq!(bench.rows(), "0");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_does_nothing_for_too_long_is_undone() -> Outcome {
    let options = options().transaction_idle_timeout(Duration::from_millis(50));
    let Some(bench) = Bench::new(options).await? else {
        return Ok(());
    };
    bench
        .fails(Then::Sleeps, "a statement of the transaction failed")
        .await?;
    assert_eq!(bench.rows(), "0");
    assert_eq!(bench.sum(Then::Succeeds).await?, Some(7));
    Ok(())
}

/// The pool of the store itself stays free, and each step waits for its turn, longer than the patience.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_steps_share_one_connection() -> Outcome {
    let options = options().connections(1).patience(Duration::from_secs(1));
    let Some(bench) = Bench::new(options).await? else {
        return Ok(());
    };
    let table = &bench.post.table;
    let several = format!("ALTER TABLE {table} DROP CONSTRAINT {table}_amount_key");
    bench.server.query(&several);
    let mut started = Vec::new();
    for _ in 0..6 {
        started.push(bench.start(Then::Sleeps).await?);
    }
    for execution in started {
        let settled = execution.settled().await?;
        assert_eq!(
            settled.status(),
            Status::Completed,
            "{:?}",
            settled.reason()
        );
    }
    assert_eq!(bench.rows(), "6");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_go_through_a_pooler() -> Outcome {
    let (Some(server), Some(pooler)) = (shared(), pooler()) else {
        return Ok(());
    };
    let bench = Bench::at(server, &pooler.url(), options()).await?;
    bench.fails(Then::Fails, "nowhere").await?;
    let ended = "the step ended its transaction";
    assert_eq!(bench.sum(Then::Succeeds).await?, Some(7));
    let other = Bench::at(server, &pooler.url(), options()).await?;
    other.fails(Then::Commits, ended).await?;
    let other = Bench::at(server, &pooler.url(), options()).await?;
    let execution = other.start(Then::Waits).await?;
    other.post.has_written.notified().await;
    other
        .runtime
        .executions()
        .cancel(execution.id(), "no more")
        .await?;
    assert_eq!(other.sum(Then::Succeeds).await?, Some(7));
    assert_eq!((bench.rows(), other.rows()), ("1".into(), "1".into()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plain_run_commits_each_step() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let store = Arc::new(PostgresStore::connect_with(&server.url(), options()).await?);
    let post = Post {
        table: table(server),
        ..Post::default()
    };
    let flow = Posting::builder().post(post.clone()).build();
    for (then, rows_then) in [
        (Then::Fails, "0"),
        (Then::BreaksALateConstraint, "0"),
        (Then::GoesOnAfterAFailure, "0"),
        (Then::Succeeds, "1"),
    ] {
        let options = RunOptions::new().transactions(StoreTransactions::new(store.clone()));
        let run = flow.run_with(PostingInput { then }, options).await;
        assert_eq!(run.is_ok(), then == Then::Succeeds, "{then:?}");
        assert_eq!(rows(server, &post.table), rows_then, "{then:?}");
    }
    Ok(())
}

mod suite {
    use std::any::Any;
    use std::sync::Arc;

    use flow_postgres::PostgresStore;
    use flow_postgres::tokio_postgres::types::Type;
    use flow_services::Postgres;
    use flow_store::Store;
    use flow_store::suite::transactions::Ledger;

    use super::{Transaction, table};
    use crate::servers::{options_with_given_times, pooler, shared};

    struct Postings {
        server: &'static Postgres,
        store: Arc<dyn Store>,
        table: String,
    }

    impl Postings {
        async fn at(url: &str) -> Option<Postings> {
            let server = shared()?;
            // Fewer connections than cases have transactions at once.
            let options = options_with_given_times().connections(3);
            let store = PostgresStore::connect_with(url, options).await;
            let table = table(server);
            server.query(&format!(
                "ALTER TABLE {table} DROP CONSTRAINT {table}_amount_key"
            ));
            let store = Arc::new(store.unwrap());
            Some(Postings {
                server,
                store,
                table,
            })
        }
    }

    #[async_trait::async_trait]
    impl Ledger for Postings {
        fn store(&self) -> Arc<dyn Store> {
            self.store.clone()
        }

        async fn write(&self, handle: &mut (dyn Any + Send)) {
            let tx: &mut Transaction = handle.downcast_mut().unwrap();
            let insert = format!("INSERT INTO {} VALUES ($1)", self.table);
            let written = tx.execute(&insert, &[(&7_i64, Type::INT8)]).await;
            assert_eq!(written.unwrap(), 1);
        }

        async fn rows(&self) -> usize {
            super::rows(self.server, &self.table).parse().unwrap()
        }
    }

    mod direct {
        use super::{Postings, shared};

        flow_store::transaction_suite!(|_folder| async { Postings::at(&shared()?.url()).await });
    }

    /// All values are beside the database.
    mod with_blobs {
        use std::sync::Arc;

        use flow_store::{BlobStore, MemoryBlobs};

        use super::{Postings, shared};

        flow_store::transaction_suite!(|_folder| async {
            let postings = Postings::at(&shared()?.url()).await?;
            let store = BlobStore::new(postings.store, MemoryBlobs::new()).above(0);
            Some(Postings {
                store: Arc::new(store),
                ..postings
            })
        });
    }

    mod through_a_pooler {
        use super::{Postings, pooler};

        flow_store::transaction_suite!(|_folder| async { Postings::at(&pooler()?.url()).await });
    }
}

/// A store whose connections go through a proxy, with one execution that is claimed.
struct Cut {
    server: &'static Postgres,
    proxy: Proxy,
    store: PostgresStore,
    id: ExecutionId,
    table: String,
    schema: String,
}

impl Cut {
    async fn new() -> Outcome<Option<Cut>> {
        let Some(server) = shared() else {
            return Ok(None);
        };
        let proxy = Proxy::before(server).await;
        let schema = format!("cut_{}", Uuid::new_v4().simple());
        let url = format!("{}?application_name={schema}", proxy.url());
        let options = PostgresOptions::new().schema(&schema).callers_clocks();
        let store = PostgresStore::connect_with(&url, options).await?;
        let (id, _) = claimed(&store).await;
        Ok(Some(Cut {
            server,
            proxy,
            store,
            id,
            table: table(server),
            schema,
        }))
    }

    /// A transaction in which a row was written.
    async fn begun(&self, amount: i64) -> Outcome<Box<dyn StoreTransaction>> {
        let mut begun = self.store.begin().await?;
        let tx: &mut Transaction = begun.handle().downcast_mut().unwrap();
        let insert = format!("INSERT INTO {} VALUES ($1)", self.table);
        tx.execute(&insert, &[(&amount, Type::INT8)]).await?;
        begun.check().await?;
        Ok(begun)
    }

    /// How many rows of the step, and how many records there are.
    async fn counts(&self) -> Outcome<(String, usize)> {
        let records = self.store.records(self.id, 0, 99).await?.len();
        Ok((rows(self.server, &self.table), records))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_found() -> Outcome {
    let Some(cut) = Cut::new().await? else {
        return Ok(());
    };
    for seq in 1..10 {
        let begun = cut.begun(seq.try_into()?).await?;
        cut.proxy.lose_the_answer_to_the_next_commit();
        begun
            .append(cut.id, 1, append(records(seq..seq + 1)))
            .await?;
    }
    assert_eq!(cut.proxy.lost(), 9);
    assert_eq!(cut.counts().await?, ("9".into(), 10));

    let begun = cut.begun(99).await?;
    cut.proxy.lose_the_answer_to_the_next_commit();
    let error = begun.commit().await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("it is not known whether it was"), "{cause}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_does_not_come_to_the_server_is_an_error() -> Outcome {
    let Some(cut) = Cut::new().await? else {
        return Ok(());
    };
    for _ in 0..5 {
        let begun = cut.begun(1).await?;
        cut.proxy.lose_the_next_commit();
        let error = begun
            .append(cut.id, 1, append(records(1..2)))
            .await
            .unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("which was undone"), "{cause}");
        assert_eq!(cut.counts().await?, ("0".into(), 1));
    }
    cut.begun(1)
        .await?
        .append(cut.id, 1, append(records(1..2)))
        .await?;
    assert_eq!(cut.counts().await?, ("1".into(), 2));
    Ok(())
}

/// The connection is lost before the commit, and somebody takes the execution over before the store
/// can look: what became of the step's rows is then his.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_lost_to_who_takes_over_is_a_lost_execution() -> Outcome {
    let Some(cut) = Cut::new().await? else {
        return Ok(());
    };
    let mut begun = cut.begun(1).await?;
    let tx: &mut Transaction = begun.handle().downcast_mut().unwrap();
    let lock = format!("SELECT FROM {}.executions FOR UPDATE", cut.schema);
    tx.execute(&lock, &[]).await?;
    let options = PostgresOptions::new().schema(&cut.schema).callers_clocks();
    let other = PostgresStore::connect_with(&cut.server.url(), options).await?;
    let (id, later) = (cut.id, NOW + 2 * LEASE);
    let claim =
        tokio::spawn(async move { other.claim(id, Uuid::new_v4(), later, later + 1).await });
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{}%'",
        cut.schema
    );
    let began = Instant::now();
    while cut.server.query(&waiting) != "1" {
        assert!(began.elapsed() < Duration::from_secs(200));
    }
    cut.proxy.lose_the_next_commit();
    cut.proxy.keep_ends(true);
    let late = tokio::spawn(begun.append(id, 1, append(records(1..2))));
    assert!(claim.await??.is_some());
    cut.proxy.keep_ends(false);
    let late = late.await?;
    assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    assert_eq!(cut.counts().await?, ("0".into(), 1));
    Ok(())
}

/// Who stops to wait for a transaction leaves none behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_begin_that_is_dropped_leaves_no_connection() -> Outcome {
    let Some(cut) = Cut::new().await? else {
        return Ok(());
    };
    cut.begun(1).await?.roll_back().await;
    cut.proxy.swallow_the_next_answer();
    let begun = tokio::time::timeout(Duration::from_secs(2), cut.store.begin()).await;
    assert!(begun.is_err(), "its answer does not come");
    assert_eq!(cut.proxy.lost(), 1);
    let left = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' \
         AND application_name = '{}'",
        cut.schema
    );
    let began = Instant::now();
    while cut.server.query(&left) != "0" {
        assert!(began.elapsed() < Duration::from_secs(60));
    }
    let begun = cut.begun(1).await?;
    begun.append(cut.id, 1, append(records(1..2))).await?;
    assert_eq!(cut.counts().await?, ("1".into(), 2));
    Ok(())
}
