//! Connections that break, and servers that are killed: nothing is lost, nothing is written twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::Postgres;
use flow_store::{
    Append, Created, EndIf, ExecutionId, PauseRow, PauseState, Row, Settlement, Status, Store,
    Token,
};
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::samples::{NOW, append, claim, record, row};
use crate::servers::{options, shared};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_lost_is_there_once() {
    let Some(server) = shared() else {
        return;
    };
    let proxy = Proxy::before(server).await;
    let store = PostgresStore::connect_with(&proxy.url(), options())
        .await
        .unwrap();
    let given = row();
    let id = given.id;
    let asked = PauseRow {
        token: Token::from(Uuid::new_v4()),
        execution: id,
        path: "orders.approve".to_owned(),
        step: "orders.approve".to_owned(),
        prompt: "Approve?".to_owned(),
        expected: "bool".to_owned(),
        schema: None,
        created_ms: NOW,
        expires_ms: None,
        state: PauseState::Open,
    };

    proxy.lose_the_next_answer();
    let keyed = Row {
        idempotency_key: Some("key".to_owned()),
        ..given
    };
    let created = store
        .create(keyed, vec![record(0)], Vec::new(), claim())
        .await;
    assert_eq!(created.unwrap(), Created::New);

    for seq in 1..20 {
        proxy.lose_the_next_answer();
        store.append(id, 1, append(seq)).await.unwrap();
    }
    proxy.lose_the_next_answer();
    let pause = Append {
        opened: vec![asked.clone()],
        status: Some(Status::Paused),
        release: true,
        ..append(20)
    };
    store.append(id, 1, pause).await.unwrap();

    proxy.lose_the_next_answer();
    let answer = Settlement::Answer("true".to_owned());
    let before = store.settle(asked.token, answer, NOW).await.unwrap();
    assert_eq!(before, asked);

    proxy.lose_the_next_answer();
    let ended = store
        .end(id, Status::Cancelled, "", record(0), EndIf::NotOver)
        .await;
    assert_eq!(ended.unwrap().next_seq, 22);

    let seqs: Vec<u64> = store
        .records(id, 0, 99)
        .await
        .unwrap()
        .iter()
        .map(|it| it.seq)
        .collect();
    assert_eq!(seqs, (0..22).collect::<Vec<_>>());
    assert_eq!(store.log(None, 0, 99).await.unwrap().len(), 22);

    proxy.lose_the_next_answer();
    assert!(store.delete(id).await.unwrap());
    assert_eq!(proxy.lost(), 24);
}

/// A process that writes with an old fence gets no further by a lost answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_write_whose_answer_is_lost_stays_refused() {
    let Some(server) = shared() else {
        return;
    };
    let proxy = Proxy::before(server).await;
    let store = PostgresStore::connect_with(&proxy.url(), options())
        .await
        .unwrap();
    let given = row();
    let id = given.id;
    store
        .create(given, vec![record(0)], Vec::new(), claim())
        .await
        .unwrap();
    let later = NOW + 60_000;
    store
        .claim(id, Uuid::new_v4(), later, later + 1)
        .await
        .unwrap()
        .unwrap();
    proxy.lose_the_next_answer();
    let late = store.append(id, 1, append(1)).await;
    assert!(
        matches!(late, Err(flow_store::StoreError::LeaseLost(_))),
        "{late:?}"
    );
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 1);
}

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
            let row = row();
            let id = row.id;
            store
                .create(row, vec![record(0)], Vec::new(), claim())
                .await
                .unwrap();
            let mut seq = 1;
            while !stop.load(Ordering::SeqCst) {
                store.append(id, 1, append(seq)).await.unwrap();
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
            let row = row();
            let id = row.id;
            store
                .create(row, vec![record(0)], Vec::new(), claim())
                .await
                .unwrap();
            for seq in 1..APPENDS {
                store.append(id, 1, append(seq)).await.unwrap();
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
