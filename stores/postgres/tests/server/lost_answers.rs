//! Connections that break after a write and before its answer: nothing is written twice, and who
//! repeats it learns what it did the first time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::Postgres;
use flow_store::suite::fixtures::{LEASE, NOW, append, claimed, new_id, records, row};
use flow_store::suite::lost_answers::Line;
use flow_store::{Concurrency, Created, Row, Status, Store, Take};
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::servers::{options_with_given_times, shared};

/// A store, and the proxy before its server.
pub(crate) struct Behind(pub(crate) Proxy, pub(crate) Arc<dyn Store>);

impl Line for Behind {
    fn store(&self) -> Arc<dyn Store> {
        self.1.clone()
    }

    fn lose_the_next_answer(&self) {
        self.0.lose_the_next_answer();
    }

    fn lost(&self) -> usize {
        self.0.lost()
    }
}

mod suite {
    use std::sync::Arc;

    use super::{Behind, behind_a_proxy, options_with_given_times};

    flow_store::lost_answer_suite!(|_folder| async {
        let (proxy, store) = behind_a_proxy(options_with_given_times()).await?;
        Some(Behind(proxy, Arc::new(store)))
    });
}

/// A store behind a proxy. `None` if Postgres is not installed.
pub(crate) async fn behind_a_proxy(options: PostgresOptions) -> Option<(Proxy, PostgresStore)> {
    let proxy = Proxy::before(shared()?).await;
    let store = PostgresStore::connect_with(&proxy.url(), options).await;
    Some((proxy, store.unwrap()))
}

/// A network that has lost the way says nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_comes_is_not_waited_for() {
    let options = options_with_given_times().answer_timeout(Duration::from_millis(500));
    let Some((proxy, store)) = behind_a_proxy(options).await else {
        return;
    };
    let (id, fence) = claimed(&store).await;
    let began = Instant::now();
    for seq in 1..4 {
        proxy.swallow_the_next_answer();
        let write = append(records(seq..seq + 1));
        store.append(id, fence, write).await.unwrap();
    }
    let begun = store.begin().await.unwrap();
    proxy.swallow_the_next_answer();
    let error = begun.append(id, fence, append(records(4..5))).await;
    assert!(error.is_err());
    let begun = store.begin().await.unwrap();
    begun
        .append(id, fence, append(records(4..5)))
        .await
        .unwrap();
    assert_eq!(proxy.lost(), 4);
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 5);
    // Each answer would take 30 s by default.
    assert!(began.elapsed() < Duration::from_secs(80));
}

/// A statement for whose answer nobody waits holds no locks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_whose_answer_is_not_waited_for_is_cancelled() {
    let Some(server) = shared() else {
        return;
    };
    let schema = format!("cancelled_{}", Uuid::new_v4().simple());
    let options = PostgresOptions::new()
        .schema(&schema)
        .callers_clocks()
        .patience(Duration::ZERO)
        .answer_timeout(Duration::from_secs(5));
    let store = PostgresStore::connect_with(&server.url(), options).await;
    let store = store.unwrap();
    let (id, fence) = claimed(&store).await;
    let (holds, connection) =
        flow_postgres::tokio_postgres::connect(&server.url(), flow_postgres::tokio_postgres::NoTls)
            .await
            .unwrap();
    tokio::spawn(connection);
    let lock = format!("BEGIN; SELECT FROM {schema}.executions FOR UPDATE");
    holds.batch_execute(&lock).await.unwrap();
    let late = store.append(id, fence, append(records(1..2))).await;
    assert!(late.is_err());
    let waiting = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%{schema}%'"
    );
    let began = Instant::now();
    while server.query(&waiting) != "0" {
        assert!(began.elapsed() < Duration::from_secs(200));
    }
    holds.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 1);
}

/// A row that has to wait is passed without a lock, which would be a write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_look_at_the_queue_writes_nothing_that_it_does_not_take() {
    let Some(server) = shared() else {
        return;
    };
    let options = PostgresOptions::new()
        .schema("look_at_the_queue")
        .callers_clocks();
    let store = PostgresStore::connect_with(&server.url(), options).await;
    let store = store.unwrap();
    for flow in ["orders", "orders", "orders", "other"] {
        let queued = Row {
            flow: flow.to_owned(),
            status: Status::Queued,
            concurrency: Some(Concurrency {
                key: "ann".to_owned(),
                at_most: 1,
            }),
            ..row(new_id())
        };
        let created = store.create(queued, records(0..1), Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New);
    }
    let take = Take {
        flows: [("orders".to_owned(), 9)].into(),
        limit: 9,
        holder: Uuid::new_v4(),
        now_ms: NOW,
        until_ms: NOW + LEASE,
    };
    assert_eq!(store.take_queued(&take).await.unwrap().len(), 1);
    assert!(store.take_queued(&take).await.unwrap().is_empty());
    let locked =
        "SELECT count(*) FROM look_at_the_queue.executions WHERE status = 'queued' AND xmax <> 0";
    assert_eq!(server.query(locked), "0");
}

/// Opening a store waits for a server that starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_connects_waits_for_a_server_that_starts() {
    let Some(mut server) = Postgres::start() else {
        return;
    };
    server.kill();
    let options = PostgresOptions::new().patience(Duration::from_secs(60));
    let url = server.url();
    let opening = tokio::spawn(async move { PostgresStore::connect_with(&url, options).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!opening.is_finished(), "it is patient");
    let server = tokio::task::spawn_blocking(move || {
        server.start_again();
        server
    });
    let _server = server.await.unwrap();
    let store = opening.await.unwrap().unwrap();
    assert_eq!(store.last_offset().await.unwrap(), 0);
}
