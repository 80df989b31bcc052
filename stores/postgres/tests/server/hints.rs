//! What processes tell each other of their writes.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{EventFilter, ExecutionEvent, Runtime, RuntimeOptions, StartOptions, Status};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_runtime::prelude::*;
use flow_services::Postgres;
use flow_store::Store;
use flow_store::suite::fixtures::started;
use flow_store::suite::hints::{each_write_is_told, listening, until};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::servers::{options, pooler, shared};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Longer than anything takes that is told of.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_write_is_told_to_another_process() -> Outcome {
    let Some(url) = shared().map(Postgres::url) else {
        return Ok(());
    };
    let options = options();
    let writer: Arc<dyn Store> =
        Arc::new(PostgresStore::connect_with(&url, options.clone()).await?);
    let reader: Arc<dyn Store> = Arc::new(PostgresStore::connect_with(&url, options).await?);
    each_write_is_told(&writer, &reader).await;

    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_was_cut_off_says_so_and_begins_again() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let name = format!("cut_off_{}", Uuid::new_v4().simple());
    let url = format!("{}?application_name={name}", server.url());
    let store = PostgresStore::connect_with(&url, options()).await?;
    let mut told = listening(&store).await;
    let cut = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name = '{name}' AND query LIKE 'LISTEN%'"
    );
    assert_eq!(server.query(&cut), "1");
    until(&mut told, |it| !it.is_live).await;
    // What came meanwhile was not heard.
    until(&mut told, |it| it.is_live && it.records && it.work).await;
    started(&store).await;
    until(&mut told, |it| it.records).await;
    Ok(())
}

/// What was sent on it next would wait as long, and be lost too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_whose_answer_never_comes_sends_no_other_hint() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let proxy = Proxy::before(server).await;
    let name = format!("sends_{}", Uuid::new_v4().simple());
    let url = format!("{}?application_name={name}", proxy.url());
    let options = options().answer_timeout(Duration::from_secs(3));
    let store = PostgresStore::connect_with(&url, options).await?;
    let sender = format!(
        "SELECT coalesce(min(pid), 0) FROM pg_stat_activity \
         WHERE application_name = '{name}' AND query LIKE '%pg_notify%'"
    );
    started(&store).await;
    let began = Instant::now();
    let first = loop {
        let pid = server.query(&sender);
        if pid != "0" {
            break pid;
        }
        assert!(began.elapsed() < PATIENCE, "nothing is sent");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    // The answer to another message may be the one that is lost.
    for _ in 0..20 {
        started(&store).await;
        proxy.swallow_the_next_answer();
        tokio::time::sleep(Duration::from_millis(3500)).await;
        if server.query(&sender) != first {
            return Ok(());
        }
    }
    panic!("the connection is still there");
}

/// LISTEN succeeds there, and nothing ever arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_behind_a_pooler_is_not_live_unless_it_listens_elsewhere() -> Outcome {
    let (Some(server), Some(pooler)) = (shared(), pooler()) else {
        return Ok(());
    };
    let options = options();
    let deaf = PostgresStore::connect_with(&pooler.url(), options.clone()).await?;
    let mut nothing = deaf.changes().ok_or("it tries")?;
    let elsewhere = options.clone().listen_at(server.url());
    let hears = PostgresStore::connect_with(&pooler.url(), elsewhere).await?;
    let mut told = listening(&hears).await;
    // It is told through the pooler.
    started(&deaf).await;
    until(&mut told, |it| it.records).await;
    let longer_than_a_test = Duration::from_secs(6);
    let heard = timeout(longer_than_a_test, nothing.next()).await;
    assert!(heard.is_err(), "{heard:?}");

    let events = Runtime::new(deaf)
        .executions()
        .events(EventFilter::new())
        .await?;
    let mut events = Box::pin(events);
    started(&hears).await;
    // The fixture has no structure, which is told first.
    timeout(PATIENCE, async {
        while !matches!(events.next().await, Some(Ok(_))) {}
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_without_hints_gives_none() -> Outcome {
    let Some(url) = shared().map(Postgres::url) else {
        return Ok(());
    };
    let store = PostgresStore::connect_with(&url, options().hints(false)).await?;
    assert!(store.changes().is_none());
    Ok(())
}

#[node]
fn double(number: &u64) -> u64 {
    number * 2
}

flow! {
    Twice(number: u64) -> (double: u64) {
        start >> double >> end;
    }
}

async fn process(url: &str, options: PostgresOptions, at_once: Option<usize>) -> Outcome<Runtime> {
    let store = PostgresStore::connect_with(url, options).await?;
    // Nobody looks for work by itself as long as the test lasts.
    let mut options = RuntimeOptions::new().lease(Duration::from_secs(3600));
    if let Some(at_once) = at_once {
        options = options.concurrent_executions(at_once);
    }
    let runtime = Runtime::with_options(store, options);
    runtime.register(Twice::new())?;
    Ok(runtime)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_begins_elsewhere_at_once_and_its_events_are_seen_with_the_same_offsets() -> Outcome {
    let Some(url) = shared().map(Postgres::url) else {
        return Ok(());
    };
    for limit in [None, Some(2)] {
        let options = options();
        let store = PostgresStore::connect_with(&url, options.clone()).await?;
        let front = process(&url, options.clone(), Some(0)).await?;
        let worker = process(&url, options, limit).await?;
        worker.recover().await?;
        let mut events = front.executions().events(EventFilter::new()).await?;
        for number in 0..3 {
            let input = TwiceInput { number };
            let started = front
                .executions()
                .start::<Twice>(input, StartOptions::new())
                .await?;
            assert_eq!(started.status(), Status::Queued);
            let settled = timeout(PATIENCE, started.settled()).await??;
            assert_eq!(settled.status(), Status::Completed);
        }
        let log = store.log(None, 0, 99).await?;
        for logged in log {
            let event = timeout(PATIENCE, events.next()).await?;
            let Some(Ok(ExecutionEvent::Recorded(event))) = event else {
                panic!("no record: {event:?}");
            };
            assert_eq!(event.offset, logged.unwrap().offset);
        }
    }
    Ok(())
}
