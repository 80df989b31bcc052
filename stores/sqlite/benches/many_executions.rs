//! The cost of shutting down, recovering and reading events, with more and more executions and
//! readers.
//!
//! `cargo bench --all-features --bench many_executions`, with numbers of executions as arguments.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flow_durable::{EventFilter, MemoryStore, Runtime, StartOptions, Store};
use flow_runtime::prelude::*;
use flow_sqlite::{Durability, SqliteOptions, SqliteStore};
use tokio::task::JoinSet;

#[node(writes = number)]
async fn sleep_long(number: &u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(3600)).await;
    *number
}

flow! {
    Sleeps(number: u64) -> (number: u64) {
        start >> sleep_long >> end;
    }
}

#[node(writes = number)]
fn increase(number: &u64) -> u64 {
    number + 1
}

flow! {
    Counts(number: u64) -> (number: u64) {
        branch enough(number) {
            *number >= 100 => "enough",
            else => "more",
        }
        start >> enough;
        enough - "more" >> increase >> enough;
        enough - "enough" >> end;
    }
}

/// How long it takes to shut down so many running executions, and to recover them.
async fn shut_down_and_recover(store: Arc<dyn Store>, executions: u64) -> (Duration, Duration) {
    let first = Runtime::new(store.clone());
    first.register(Sleeps::new()).expect("it is new");
    for number in 0..executions {
        let started = first
            .executions()
            .start::<Sleeps>(SleepsInput { number }, StartOptions::new());
        started.await.expect("it starts");
    }
    let began = Instant::now();
    first.shut_down().await;
    let shut_down = began.elapsed();

    let second = Runtime::new(store);
    second.register(Sleeps::new()).expect("it is new");
    let began = Instant::now();
    let recovered = second.recover().await.expect("it recovers");
    let recovery = began.elapsed();
    assert_eq!(recovered.resumed.len() as u64, executions);
    second.shut_down().await;
    (shut_down, recovery)
}

/// The time until this number of subscribers has read all events of executions that run meanwhile,
/// and the number of events.
async fn events(store: Arc<dyn Store>, subscribers: usize) -> (Duration, usize) {
    let runtime = Runtime::new(store);
    runtime.register(Counts::new()).expect("it is new");
    let mut readers = JoinSet::new();
    for _ in 0..subscribers {
        let mut events = runtime
            .executions()
            .events(EventFilter::new())
            .await
            .expect("it reads");
        readers.spawn(async move {
            let (mut read, mut over) = (0, 0);
            while over < 9 {
                let event = events.next().await.expect("it goes on").expect("it reads");
                read += 1;
                let kind = event.record().map(|record| record.kind.as_str());
                over += usize::from(kind == Some("run_completed"));
            }
            read
        });
    }
    let began = Instant::now();
    for _ in 0..9 {
        let started = runtime
            .executions()
            .start::<Counts>(CountsInput { number: 0 }, StartOptions::new());
        started.await.expect("it starts");
    }
    let mut read = 0;
    while let Some(count) = readers.join_next().await {
        read = count.expect("it reads to the end");
    }
    (began.elapsed(), read)
}

#[tokio::main]
async fn main() {
    let numbers: Vec<u64> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let numbers = if numbers.is_empty() {
        vec![100, 800]
    } else {
        numbers
    };
    for number in numbers {
        let memory = Arc::new(MemoryStore::new());
        let (shut_down, recovery) = shut_down_and_recover(memory, number).await;
        println!("memory, {number} executions: shut down {shut_down:.2?}, recover {recovery:.2?}");
        let folder = tempfile::tempdir().expect("a folder");
        let options = SqliteOptions::new().durability(Durability::Normal);
        let path = folder.path().join("runs.db");
        let sqlite = SqliteStore::open_with(path, options)
            .await
            .expect("it opens");
        let (shut_down, recovery) = shut_down_and_recover(Arc::new(sqlite), number).await;
        println!("SQLite, {number} executions: shut down {shut_down:.2?}, recover {recovery:.2?}");
    }
    for subscribers in [1, 20, 200] {
        let (took, read) = events(Arc::new(MemoryStore::new()), subscribers).await;
        println!("memory, {subscribers} subscribers of {read} events: {took:.2?}");
    }
}
