//! Connections that break after a write and before its answer: nothing is written twice, and who
//! repeats it learns what it did the first time.

use std::time::{Duration, Instant};

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::Postgres;
use flow_store::suite::fixtures::{
    LEASE, NOW, append, claimed, new_id, question, record, records, row, started,
};
use flow_store::{
    Append, Claim, Concurrency, Created, EndIf, PauseRow, PauseState, RecordKind, Row, Settlement,
    Status, Store as _, StoreError, Take,
};
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::servers::{options_with_given_times, shared};

/// A store behind a proxy. `None` if Postgres is not installed.
async fn behind_a_proxy(options: PostgresOptions) -> Option<(Proxy, PostgresStore)> {
    let proxy = Proxy::before(shared()?).await;
    let store = PostgresStore::connect_with(&proxy.url(), options).await;
    Some((proxy, store.unwrap()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_lost_is_there_once() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    let given = Row {
        idempotency_key: Some("key".to_owned()),
        ..row(new_id())
    };
    let id = given.id;
    let asked = question(id);

    proxy.lose_the_next_answer();
    let claim = Claim::new(Uuid::new_v4(), NOW, NOW + LEASE);
    let created = store.create(given, records(0..1), Vec::new(), Some(claim));
    assert_eq!(created.await.unwrap(), Created::New);

    for seq in 1..20 {
        proxy.lose_the_next_answer();
        let write = append(records(seq..seq + 1));
        store.append(id, 1, write).await.unwrap();
    }
    proxy.lose_the_next_answer();
    let pause = Append {
        opened: vec![asked.clone()],
        status: Some(Status::Paused),
        release: true,
        ..append(records(20..21))
    };
    store.append(id, 1, pause).await.unwrap();

    proxy.lose_the_next_answer();
    let answer = Settlement::Answer("true".to_owned());
    let before = store.settle(asked.token, answer, NOW).await.unwrap();
    assert_eq!(before, asked);

    proxy.lose_the_next_answer();
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(id, Status::Cancelled, "", last, EndIf::NotOver);
    assert_eq!(ended.await.unwrap().next_seq, 22);

    let stored = store.records(id, 0, 99).await.unwrap();
    let seqs: Vec<u64> = stored.iter().map(|it| it.seq).collect();
    assert_eq!(seqs, (0..22).collect::<Vec<_>>());
    assert_eq!(store.log(None, 0, 99).await.unwrap().len(), 22);

    // It looks, and then deletes.
    proxy.lose_the_next_answer();
    assert!(store.delete(id).await.unwrap());
    assert_eq!(proxy.lost(), 24);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_whose_answer_is_lost_is_given() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    let (id, holder) = (started(&store).await, Uuid::new_v4());
    proxy.lose_the_next_answer();
    let row = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(row.expect("it was free").fence, 1);
    // Another call of the same holder is refused, also if it comes twice.
    proxy.lose_the_next_answer();
    let row = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(row, None);

    let claim = store.claim_of(id).await.unwrap().unwrap();
    proxy.lose_the_next_answer();
    assert!(store.break_claim(id, claim).await.unwrap());
    proxy.lose_the_next_answer();
    let other = Claim::new(Uuid::new_v4(), NOW, NOW + LEASE);
    assert!(!store.break_claim(id, other).await.unwrap());
    assert_eq!(proxy.lost(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_takes_from_the_queue_gets_what_was_taken_when_the_answer_is_lost() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    let mut ids = Vec::new();
    for priority in [0, 3, 2, 1] {
        let queued = Row {
            status: Status::Queued,
            priority,
            ..row(new_id())
        };
        ids.push(queued.id);
        let created = store.create(queued, records(0..1), Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New);
    }
    let take = Take {
        flows: [("orders".to_owned(), 9)].into(),
        limit: 2,
        holder: Uuid::new_v4(),
        now_ms: NOW,
        until_ms: NOW + LEASE,
    };
    for expected in [[ids[1], ids[2]], [ids[3], ids[0]]] {
        proxy.lose_the_next_answer();
        let taken = store.take_queued(&take).await.unwrap();
        let taken: Vec<_> = taken.into_iter().map(|row| row.unwrap().id).collect();
        assert_eq!(taken, expected);
    }
    assert_eq!(store.renew(take.holder, NOW).await.unwrap().len(), 4);
    assert_eq!(proxy.lost(), 2);
}

/// A pause, a change of the status, and a write of the time only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_without_records_whose_answer_is_lost_is_done() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    for status in [None, Some(Status::Paused), Some(Status::Failed)] {
        let (id, fence) = claimed(&store).await;
        let pause = Append {
            status,
            release: true,
            now_ms: NOW + 7,
            ..Append::default()
        };
        proxy.lose_the_next_answer();
        store.append(id, fence, pause.clone()).await.unwrap();
        // A later one is refused, also if it comes twice.
        proxy.lose_the_next_answer();
        let later = Append {
            now_ms: NOW + 8,
            ..pause
        };
        let late = store.append(id, fence, later).await;
        assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    }
    assert_eq!(proxy.lost(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_did_not_do_it_does_not_think_so_when_the_answer_is_lost() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    let (id, fence) = claimed(&store).await;
    let asked = question(id);
    let ask = Append {
        opened: vec![asked.clone()],
        ..append(Vec::new())
    };
    store.append(id, fence, ask).await.unwrap();
    let answer = Settlement::Answer("true".to_owned());
    let settled = store.settle(asked.token, answer.clone(), NOW).await;
    assert_eq!(settled.unwrap().state, PauseState::Open);
    proxy.lose_the_next_answer();
    let again = store.settle(asked.token, answer, NOW).await.unwrap();
    let state = PauseState::Answered("true".to_owned());
    assert_eq!(again, PauseRow { state, ..asked });

    proxy.lose_the_next_answer();
    assert!(!store.delete(new_id()).await.unwrap());
    assert_eq!(proxy.lost(), 2);
}

/// A process that writes with an old fence gets no further by a lost answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_write_whose_answer_is_lost_stays_refused() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    let (id, fence) = claimed(&store).await;
    let later = NOW + LEASE;
    let other = store.claim(id, Uuid::new_v4(), later, later + 1).await;
    assert!(other.unwrap().is_some());
    for late in [append(records(1..2)), append(Vec::new())] {
        proxy.lose_the_next_answer();
        let late = store.append(id, fence, late).await;
        assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    }
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 1);
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
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// The id is that of another execution, which this call did not make.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_is_taken_is_not_ones_own_when_the_answer_is_lost() {
    let Some((proxy, store)) = behind_a_proxy(options_with_given_times()).await else {
        return;
    };
    for idempotency_key in [None, Some("key".to_owned())] {
        let given = Row {
            idempotency_key,
            ..row(new_id())
        };
        let id = given.id;
        let create = async || {
            let created = store.create(given.clone(), records(0..1), Vec::new(), None);
            created.await
        };
        proxy.lose_the_next_answer();
        assert_eq!(create().await.unwrap(), Created::New);
        proxy.lose_the_next_answer();
        match (create().await, &given.idempotency_key) {
            (Ok(Created::Existing(existing)), Some(_)) => assert_eq!(existing, id),
            (Err(StoreError::Other(error)), None) => {
                assert!(error.to_string().contains("already"), "{error}");
            }
            (created, _) => panic!("{created:?}"),
        }
    }
    assert_eq!(proxy.lost(), 4);
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
        .answer_timeout(Duration::from_millis(500));
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
        assert!(began.elapsed() < Duration::from_secs(20));
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
