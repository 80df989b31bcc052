//! Connections that break after a write and before its answer: nothing is written twice, and who
//! repeats it learns what it did the first time.

use std::time::{Duration, Instant};

use flow_redis::{RedisOptions, RedisStore};
use flow_services::Redis;
use flow_store::suite::fixtures::{
    LEASE, NOW, append, claimed, new_id, question, record, records, row, started,
};
use flow_store::{
    Append, Claim, Created, EndIf, PauseRow, PauseState, RecordKind, Row, Settlement, Status,
    Store as _, StoreError, Take,
};
use uuid::Uuid;

use crate::proxy::Proxy;
use crate::servers::{options, shared};

/// A store behind a proxy. `None` if Redis is not installed.
async fn behind_a_proxy(options: RedisOptions) -> Option<(Proxy, RedisStore)> {
    let proxy = Proxy::before(shared()?).await;
    let store = RedisStore::connect_with(&proxy.url(), options).await;
    let store = store.unwrap();
    // The server knows the scripts then, so that the answers that are lost are those of writes.
    live(&store, || {}).await;
    Some((proxy, store))
}

/// All writes of an execution, each of which this function precedes.
async fn live(store: &RedisStore, before: impl Fn()) {
    let given = Row {
        idempotency_key: Some(Uuid::new_v4().to_string()),
        ..row(new_id())
    };
    let id = given.id;
    let asked = question(id);
    let offset = store.last_offset().await.unwrap();

    before();
    let holder = Uuid::new_v4();
    let claim = Claim::new(holder, NOW, NOW + LEASE);
    let created = store.create(given, records(0..1), Vec::new(), Some(claim));
    assert_eq!(created.await.unwrap(), Created::New);
    for seq in 1..20 {
        before();
        let write = append(records(seq..seq + 1));
        store.append(id, 1, write).await.unwrap();
    }
    before();
    assert_eq!(store.renew(holder, NOW + 2 * LEASE).await.unwrap(), [id]);
    before();
    let pause = Append {
        opened: vec![asked.clone()],
        status: Some(Status::Paused),
        release: true,
        ..append(records(20..21))
    };
    store.append(id, 1, pause).await.unwrap();
    before();
    let answer = Settlement::Answer("true".to_owned());
    let settled = store.settle(asked.token, answer, NOW).await.unwrap();
    assert_eq!(settled, asked);
    before();
    let last = record(0, RecordKind::RunCancelled);
    let ended = store.end(id, Status::Cancelled, "", last, EndIf::NotOver);
    assert_eq!(ended.await.unwrap().next_seq, 22);

    let stored = store.records(id, 0, 99).await.unwrap();
    let seqs: Vec<u64> = stored.iter().map(|it| it.seq).collect();
    assert_eq!(seqs, (0..22).collect::<Vec<_>>());
    assert_eq!(store.log(None, offset, 99).await.unwrap().len(), 22);

    before();
    assert!(store.delete(id).await.unwrap());
    before();
    assert!(!store.delete(id).await.unwrap());

    let (id, holder) = (started(store).await, Uuid::new_v4());
    before();
    let row = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(row.expect("it was free").fence, 1);
    // Another call of the same holder is refused, also if it comes twice.
    before();
    let row = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(row, None);
    let claim = store.claim_of(id).await.unwrap().unwrap();
    before();
    assert!(store.break_claim(id, claim).await.unwrap());
    before();
    let other = Claim::new(Uuid::new_v4(), NOW, NOW + LEASE);
    assert!(!store.break_claim(id, other).await.unwrap());
    assert!(store.delete(id).await.unwrap());
    take(store, before).await;
}

/// Takes four from the queue, two at a time.
async fn take(store: &RedisStore, before: impl Fn()) {
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
        before();
        let taken = store.take_queued(&take).await.unwrap();
        let taken: Vec<_> = taken.into_iter().map(|row| row.unwrap().id).collect();
        assert_eq!(taken, expected);
    }
    assert_eq!(store.renew(take.holder, NOW).await.unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_whose_answer_is_lost_is_there_once() {
    let Some((proxy, store)) = behind_a_proxy(options()).await else {
        return;
    };
    live(&store, || proxy.lose_the_next_answer()).await;
    assert_eq!(proxy.count(), 32);
}

/// A pause, a change of the status, and a write of the time only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_without_records_whose_answer_is_lost_is_done() {
    let Some((proxy, store)) = behind_a_proxy(options()).await else {
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
    assert_eq!(proxy.count(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_did_not_do_it_does_not_think_so_when_the_answer_is_lost() {
    let Some((proxy, store)) = behind_a_proxy(options()).await else {
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

    let taken = row(id);
    proxy.lose_the_next_answer();
    let created = store.create(taken, Vec::new(), Vec::new(), None).await;
    assert!(created.is_err(), "{created:?}");
    assert_eq!(proxy.count(), 2);
}

/// A process that writes with an old fence gets no further by a lost answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_write_whose_answer_is_lost_stays_refused() {
    let Some((proxy, store)) = behind_a_proxy(options()).await else {
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

/// The first try of a write comes when its repetition was done long ago, and others after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_try_that_comes_late_does_nothing() {
    let options = options().answer_timeout(Duration::from_millis(500));
    let Some((proxy, store)) = behind_a_proxy(options).await else {
        return;
    };
    let (id, fence) = claimed(&store).await;
    let of_status = |status| Append {
        status: Some(status),
        ..append(Vec::new())
    };
    proxy.hold_the_next_question();
    let pause = store.append(id, fence, of_status(Status::Paused));
    pause.await.unwrap();
    let row = store.execution(id).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Paused);
    let run = store.append(id, fence, of_status(Status::Running));
    run.await.unwrap();
    proxy.let_it_go().await;
    // The server takes what comes on one connection before what comes later on another.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let row = store.execution(id).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Running);
    assert_eq!(proxy.count(), 1);
}

/// A network that has lost the way says nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_comes_is_not_waited_for() {
    let options = options().answer_timeout(Duration::from_millis(500));
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
    assert_eq!(proxy.count(), 3);
    assert_eq!(store.records(id, 0, 9).await.unwrap().len(), 4);
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// Opening a store waits for a server that starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_connects_waits_for_a_server_that_starts() {
    let Some(mut server) = Redis::start() else {
        return;
    };
    server.kill();
    let options = RedisOptions::new().patience(Duration::from_secs(60));
    let url = server.url();
    let opening = tokio::spawn(async move { RedisStore::connect_with(&url, options).await });
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
