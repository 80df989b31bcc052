//! What processes tell each other of their writes.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{EventFilter, ExecutionEvent, Runtime, RuntimeOptions, StartOptions, Status};
use flow_redis::{RedisOptions, RedisStore};
use flow_runtime::prelude::*;
use flow_services::Redis;
use flow_store::Store;
use flow_store::suite::fixtures::started;
use flow_store::suite::hints::{each_write_is_told, listening, until};
use tokio::time::timeout;
use uuid::Uuid;

use crate::servers::{cluster, options, shared, with_its_clock};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Longer than anything takes that is told of.
const PATIENCE: Duration = Duration::from_secs(60);

async fn store(server: &Redis, options: &RedisOptions) -> Outcome<Arc<dyn Store>> {
    let store = RedisStore::connect_with(&server.url(), options.clone()).await?;
    Ok(Arc::new(store))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_write_is_told_to_another_process() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let options = options();
    let (writer, reader) = (
        store(server, &options).await?,
        store(server, &options).await?,
    );
    each_write_is_told(&writer, &reader).await;
    Ok(())
}

/// Whichever server of the cluster they listen to, and whichever has the keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_write_is_told_across_a_cluster() -> Outcome {
    let Some([one, other]) = cluster() else {
        return Ok(());
    };
    for (writer, reader) in [(one, other), (other, one)] {
        let options = options();
        let (writer, reader) = (
            store(writer, &options).await?,
            store(reader, &options).await?,
        );
        each_write_is_told(&writer, &reader).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_was_cut_off_says_so_and_begins_again() -> Outcome {
    // One of its own, since all that listen are cut off.
    let Some(server) = Redis::start() else {
        return Ok(());
    };
    let store = store(&server, &options()).await?;
    let mut told = listening(&*store).await;
    assert_eq!(server.command(&["CLIENT", "KILL", "TYPE", "pubsub"]), "1");
    until(&mut told, |it| !it.is_live).await;
    // What came meanwhile was not heard.
    until(&mut told, |it| it.is_live && it.records && it.work).await;
    started(&store).await;
    until(&mut told, |it| it.records).await;
    Ok(())
}

/// Redis 7 lets a new user listen to nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_who_may_not_listen_is_not_live_and_loses_nothing() -> Outcome {
    let Some(server) = Redis::start() else {
        return Ok(());
    };
    let rights = ["on", ">word", "~*", "+@all", "resetchannels"];
    server.command(&[&["ACL", "SETUSER", "ann"], &rights[..]].concat());
    let url = server.url().replace("://", "://ann:word@");
    let options = options();
    let store = RedisStore::connect_with(&url, options.clone()).await?;
    let mut nothing = store.changes().ok_or("it tries")?;
    let runtime = Runtime::new(store);
    let mut events = Box::pin(runtime.executions().events(EventFilter::new()).await?);
    let heard = timeout(Duration::from_secs(6), nothing.next()).await;
    assert!(heard.is_err(), "{heard:?}");
    started(&(self::store(&server, &options).await?)).await;
    // The fixture has no structure, which is told first.
    timeout(PATIENCE, async {
        while !matches!(events.next().await, Some(Ok(_))) {}
    })
    .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_without_hints_gives_none() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let store = store(server, &options().hints(false)).await?;
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

/// A process that takes nothing from the queue because it is time to look.
async fn process(server: &Redis, options: &RedisOptions, at_once: usize) -> Outcome<Runtime> {
    let settings = RuntimeOptions::new()
        .lease(Duration::from_secs(3600))
        .concurrent_executions(at_once);
    let runtime = Runtime::with_options(store(server, options).await?, settings);
    runtime.register(Twice::new())?;
    Ok(runtime)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_begins_elsewhere_at_once_and_its_events_are_seen_with_the_same_offsets() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let options = with_its_clock().name(format!("told {}", Uuid::new_v4().simple()));
    let (front, worker) = (
        process(server, &options, 0).await?,
        process(server, &options, 2).await?,
    );
    worker.recover().await?;
    let mut events = Box::pin(front.executions().events(EventFilter::new()).await?);
    for number in 0..3 {
        let start = front
            .executions()
            .start::<Twice>(TwiceInput { number }, StartOptions::new());
        let started = start.await?;
        assert_eq!(started.status(), Status::Queued);
        let settled = timeout(PATIENCE, started.settled()).await??;
        assert_eq!(settled.status(), Status::Completed);
    }
    for logged in store(server, &options).await?.log(None, 0, 99).await? {
        let event = timeout(PATIENCE, events.next()).await?;
        let Some(Ok(ExecutionEvent::Recorded(event))) = event else {
            panic!("no record: {event:?}");
        };
        assert_eq!(event.offset, logged.unwrap().offset);
    }
    Ok(())
}
