//! Servers that are killed, and readers beside many writers: nothing is lost, nothing is written twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::Postgres;
use flow_store::suite::fixtures::{append, claimed, records};
use flow_store::{ExecutionId, Store as _};

use crate::servers::{options, shared};

/// The server is killed again and again while eight executions are written to: each append that
/// was confirmed is there, each once, and the log has all of them in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_killed_loses_and_doubles_nothing() {
    let Some(mut server) = Postgres::start() else {
        return;
    };
    let rounds = std::env::var("FLOW_POSTGRES_KILLS").ok();
    let rounds: usize = rounds.map_or(2, |rounds| rounds.parse().unwrap());
    let options = PostgresOptions::new().patience(Duration::from_secs(60));
    let store = PostgresStore::connect_with(&server.url(), options)
        .await
        .unwrap();
    let store = Arc::new(store);
    let (stop, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let mut writers = Vec::new();
    for _ in 0..8 {
        let (store, stop, written) = (store.clone(), stop.clone(), written.clone());
        writers.push(tokio::spawn(async move {
            let (id, fence) = claimed(&*store).await;
            let mut seq = 1;
            while !stop.load(Ordering::SeqCst) {
                store
                    .append(id, fence, append(records(seq..seq + 1)))
                    .await
                    .unwrap();
                seq += 1;
                written.fetch_add(1, Ordering::SeqCst);
            }
            (id, seq)
        }));
    }
    for round in 0..rounds {
        let before = written.load(Ordering::SeqCst);
        let began = Instant::now();
        while written.load(Ordering::SeqCst) < before + 200 {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "no progress in round {round}"
            );
            tokio::task::yield_now().await;
        }
        server = tokio::task::spawn_blocking(move || {
            server.kill();
            server.start_again();
            server
        })
        .await
        .unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    let mut expected = HashMap::new();
    for writer in writers {
        let (id, next_seq) = writer.await.unwrap();
        assert_eq!(
            store.execution(id).await.unwrap().unwrap().next_seq,
            next_seq
        );
        expected.insert(id, next_seq);
    }
    let mut seen: HashMap<ExecutionId, u64> = HashMap::new();
    for logged in store.log(None, 0, usize::MAX).await.unwrap() {
        let logged = logged.unwrap();
        let next = seen.entry(logged.execution).or_default();
        assert_eq!(logged.record.seq, *next);
        *next += 1;
    }
    assert_eq!(seen, expected);
    println!("{} appends, {rounds} kills", written.load(Ordering::SeqCst));
}

/// While many write over many connections, a reader that reads on after the last offset gets every
/// record.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reader_misses_nothing_while_many_write() {
    let Some(server) = shared() else {
        return;
    };
    const WRITERS: usize = 24;
    const APPENDS: u64 = 60;
    let options = options().connections(WRITERS + 2);
    let store = PostgresStore::connect_with(&server.url(), options)
        .await
        .unwrap();
    let store = Arc::new(store);
    let mut writers = Vec::new();
    for _ in 0..WRITERS {
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            let (id, fence) = claimed(&*store).await;
            for seq in 1..APPENDS {
                store
                    .append(id, fence, append(records(seq..seq + 1)))
                    .await
                    .unwrap();
            }
        }));
    }
    let expected = WRITERS * APPENDS as usize;
    let (mut count, mut after) = (0, 0);
    let mut empty = 0;
    while count < expected {
        let is_over = writers.iter().all(|writer| writer.is_finished());
        let page = store.log(None, after, 50).await.unwrap();
        empty = if is_over && page.is_empty() {
            empty + 1
        } else {
            0
        };
        assert!(empty < 2, "{count} of {expected} records came");
        for logged in page {
            let offset = logged.unwrap().offset;
            assert!(offset > after);
            (after, count) = (offset, count + 1);
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(store.last_offset().await.unwrap(), after);
}
