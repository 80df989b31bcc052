//! Servers that are killed: with `appendfsync always`, nothing is lost and nothing is written twice.
//! Otherwise, what is lost is the end of all that was written, and runs go on from there.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flow_redis::{Durability, RedisOptions, RedisStore};
use flow_services::Redis;
use flow_store::suite::fixtures::{HOUR, LEASE, NOW, append, claimed, records, started};
use flow_store::{ExecutionId, Logged, Store as _, StoreError};
use uuid::Uuid;

use crate::servers::shared;

/// How often a server is killed.
fn rounds() -> usize {
    let rounds = std::env::var("FLOW_REDIS_KILLS").ok();
    rounds.map_or(2, |rounds| rounds.parse().unwrap())
}

fn patient() -> RedisOptions {
    let options = RedisOptions::new().callers_clocks();
    options.patience(Duration::from_secs(60))
}

/// Waits until so much more has been written.
async fn until(written: &AtomicU64, more: u64) {
    let (before, began) = (written.load(Ordering::SeqCst), Instant::now());
    while written.load(Ordering::SeqCst) < before + more {
        assert!(began.elapsed() < Duration::from_secs(60), "no progress");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The server is killed again and again while eight executions are written to: each append that was
/// confirmed is there, each once, and the log has all of them in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_killed_loses_and_doubles_nothing() {
    let Some(mut server) = Redis::start() else {
        return;
    };
    let store = RedisStore::connect_with(&server.url(), patient()).await;
    let store = Arc::new(store.unwrap());
    let (stop, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let mut writers = Vec::new();
    for _ in 0..8 {
        let (store, stop, written) = (store.clone(), stop.clone(), written.clone());
        writers.push(tokio::spawn(async move {
            let (id, fence) = claimed(&*store).await;
            let mut seq = 1;
            while !stop.load(Ordering::SeqCst) {
                let write = append(records(seq..seq + 1));
                store.append(id, fence, write).await.unwrap();
                seq += 1;
                written.fetch_add(1, Ordering::SeqCst);
            }
            (id, seq)
        }));
    }
    for _ in 0..rounds() {
        until(&written, 200).await;
        let killed = tokio::task::spawn_blocking(move || {
            server.kill();
            server.start_again();
            server
        });
        server = killed.await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    let mut expected = HashMap::new();
    for writer in writers {
        let (id, next_seq) = writer.await.unwrap();
        let row = store.execution(id).await.unwrap().unwrap();
        assert_eq!(row.next_seq, next_seq);
        expected.insert(id, next_seq);
    }
    assert_eq!(in_log(&store).await, expected);
    let written = written.load(Ordering::SeqCst);
    println!("{written} appends, {} kills", rounds());
}

/// How many records of each execution are in the log, where they have to come in order.
async fn in_log(store: &RedisStore) -> HashMap<ExecutionId, u64> {
    let mut seen: HashMap<ExecutionId, u64> = HashMap::new();
    for logged in store.log(None, 0, usize::MAX).await.unwrap() {
        let logged = logged.unwrap();
        let next = seen.entry(logged.execution).or_default();
        assert_eq!(logged.record.seq, *next);
        *next += 1;
    }
    seen
}

/// Kills the server, and takes from its file what it has written since the file was so long, as when
/// the machine fails before that is on the disk.
async fn lose(mut server: Redis, length: u64) -> Redis {
    let lost = tokio::task::spawn_blocking(move || {
        server.kill();
        let file = File::options().write(true).open(server.log_file()).unwrap();
        // What was killed may not have written all that it had confirmed either.
        if file.metadata().unwrap().len() > length {
            file.set_len(length).unwrap();
        }
        server.start_again();
        // As the README says: a write of which the file has only the beginning would come back.
        server.rewrite_log();
        server
    });
    lost.await.unwrap()
}

fn length(server: &Redis) -> u64 {
    server.log_file().metadata().unwrap().len()
}

fn every_second() -> Option<Redis> {
    Redis::start_with(&["--appendonly", "yes", "--appendfsync", "everysec"])
}

/// Reads the log on and on, and checks that an offset never gets another record.
async fn read_log(
    store: Arc<RedisStore>,
    stop: Arc<AtomicBool>,
) -> HashMap<u64, (ExecutionId, u64)> {
    let (mut seen, mut after) = (HashMap::new(), 0);
    loop {
        let is_last = stop.load(Ordering::SeqCst);
        for logged in store.log(None, after, 100).await.unwrap() {
            let Logged {
                offset,
                execution,
                record,
                ..
            } = logged.unwrap();
            assert!(offset > after);
            after = offset;
            seen.insert(offset, (execution, record.seq));
        }
        if is_last {
            return seen;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Writes to an execution. When it has lost records or its claim, it claims it again, and goes on from
/// what is there. Returns how often that was so.
async fn write_on(
    store: Arc<RedisStore>,
    stop: Arc<AtomicBool>,
    written: Arc<AtomicU64>,
) -> (ExecutionId, u64) {
    let id = started(&*store).await;
    let (mut now, mut setbacks) = (NOW, 0);
    while !stop.load(Ordering::SeqCst) {
        now += HOUR;
        let Some(row) = store
            .claim(id, Uuid::new_v4(), now, now + LEASE)
            .await
            .unwrap()
        else {
            continue; // a claim that was made later was lost: the clock of this test has gone on
        };
        let mut seq = row.next_seq;
        while !stop.load(Ordering::SeqCst) {
            match store
                .append(id, row.fence, append(records(seq..seq + 1)))
                .await
            {
                Ok(()) => seq += 1,
                Err(StoreError::Other(gap)) => {
                    assert!(
                        gap.to_string().contains("the next record has the number"),
                        "{gap}"
                    );
                    break;
                }
                Err(StoreError::LeaseLost(_)) => break,
                Err(error) => panic!("{error}"),
            }
            written.fetch_add(1, Ordering::SeqCst);
        }
        setbacks += 1;
    }
    (id, setbacks - 1)
}

/// What is lost is a suffix: of each execution what is left has no gaps, and so has the log. Who was
/// writing goes on, and who was reading the log misses nothing that is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_lost_is_the_end_of_all() {
    let Some(mut server) = every_second() else {
        return;
    };
    let options = patient().durability(Durability::EverySecond);
    let store = RedisStore::connect_with(&server.url(), options).await;
    let store = Arc::new(store.unwrap());
    let (stop, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
    let reader = tokio::spawn(read_log(store.clone(), stop.clone()));
    let write = || tokio::spawn(write_on(store.clone(), stop.clone(), written.clone()));
    let writers: Vec<_> = (0..8).map(|_| write()).collect();
    until(&written, 200).await;
    // No loss reaches back to when the executions were started.
    server.rewrite_log();
    for _ in 0..rounds() {
        until(&written, 200).await;
        let length = length(&server);
        until(&written, 200).await;
        server = lose(server, length).await;
    }
    until(&written, 200).await;
    stop.store(true, Ordering::SeqCst);
    let (mut expected, mut setbacks) = (HashMap::new(), 0);
    for writer in writers {
        let (id, times) = writer.await.unwrap();
        setbacks += times;
        let row = store.execution(id).await.unwrap().unwrap();
        let stored = store.records(id, 0, usize::MAX).await.unwrap();
        assert_eq!(stored.len() as u64, row.next_seq);
        expected.insert(id, row.next_seq);
    }
    assert_eq!(in_log(&store).await, expected);
    assert!(setbacks > 0, "nothing was lost");
    let read = reader.await.unwrap();
    for logged in store.log(None, 0, usize::MAX).await.unwrap() {
        let logged = logged.unwrap();
        let seen = read.get(&logged.offset);
        assert_eq!(seen, Some(&(logged.execution, logged.record.seq)));
    }
    println!("{setbacks} setbacks, {} losses", rounds());
}

/// What the store writes about a start can be lost too, when the server crashes again soon: the next
/// start begins from the same, and gives no offset again.
#[tokio::test]
async fn losses_in_a_row_give_no_offset_twice() {
    let Some(server) = shared() else {
        return;
    };
    let name = "losses";
    let key = |key: &str| format!("{{{name}}}:{key}");
    let options = RedisOptions::new().name(name);
    let open = async || {
        RedisStore::connect_with(&server.url(), options.clone())
            .await
            .unwrap()
    };
    started(&open().await).await;
    let offset = server.command(&["GET", &key("offset")]);
    let mut given = Vec::new();
    for _ in 0..3 {
        // As the server found it in its file: it was another start that had written it.
        server.command(&["DEL", &key("log")]);
        server.command(&["SET", &key("offset"), offset.trim()]);
        server.command(&["SET", &key("server"), "the start before"]);
        let store = open().await;
        started(&store).await;
        let log = store.log(None, 0, 99).await.unwrap();
        assert!(!log.is_empty());
        given.extend(log.into_iter().map(|logged| logged.unwrap().offset));
        let now = store.clock_ms().await.unwrap();
        while store.clock_ms().await.unwrap() == now {}
    }
    let is_in_order = given.is_sorted_by(|one, next| one < next);
    assert!(is_in_order, "{given:?}");
}

/// A claim that was lost is given again with the same fence. Who had it before cannot write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_claim_that_somebody_else_gets_is_not_shared() {
    // One that writes to its file at once, so that it is known where to cut.
    let Some(server) = Redis::start() else {
        return;
    };
    let options = patient();
    let open = async || {
        RedisStore::connect_with(&server.url(), options.clone())
            .await
            .unwrap()
    };
    let (first, second) = (open().await, open().await);
    let id = started(&first).await;
    let length = length(&server);
    let claim = async |store: &RedisStore| {
        let row = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
        row.unwrap().expect("nobody has it").fence
    };
    assert_eq!(claim(&first).await, 1);
    let _server = lose(server, length).await;
    assert_eq!(claim(&second).await, 1);
    for late in [append(records(1..2)), append(Vec::new())] {
        let late = first.append(id, 1, late).await;
        assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    }
    let write = append(records(1..2));
    second.append(id, 1, write).await.unwrap();
}
