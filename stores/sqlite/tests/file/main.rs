//! The store in a file: that it passes the suite, and what only such a one can do.

mod damage;
mod flips;
mod opening;
mod signals;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use flow_durable::{Append, Created, PauseRow, Row, Status, Store, StoreError, Token};
use flow_sqlite::{SqliteOptions, SqliteStore};
use flow_store::Take;
use flow_store::suite::fixtures::{
    LEASE, NOW, append, claimed, new_id, question, records, row, started,
};
use rusqlite::Connection;
use tempfile::TempDir;
use uuid::Uuid;

mod suite {
    use flow_sqlite::SqliteStore;

    flow_store::suite!(|folder| async move {
        SqliteStore::open(folder.join("store.db")).await.unwrap()
    });

    /// All values are beside the file.
    mod with_blobs {
        use flow_store::{BlobStore, MemoryBlobs};

        use super::SqliteStore;

        flow_store::suite!(|folder| async move {
            let store = SqliteStore::open(folder.join("store.db")).await.unwrap();
            BlobStore::new(store, MemoryBlobs::new()).above(0)
        });
    }
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, fence) = claimed(&store).await;
    let token = Token::from(Uuid::new_v4());
    let pause = Append {
        opened: vec![PauseRow {
            token,
            ..question(id)
        }],
        status: Some(Status::Paused),
        release: true,
        ..append(records(1..4))
    };
    store.append(id, fence, pause).await.unwrap();
    store.put_structure("5f2c", "{}").await.unwrap();
    let row = store.execution(id).await.unwrap();
    let records = store.records(id, 0, 10).await.unwrap();
    let log = store.log(None, 0, 10).await.unwrap();
    drop(store);

    for _ in 0..3 {
        let store = folder.open().await;
        assert_eq!(store.execution(id).await.unwrap(), row);
        assert_eq!(store.records(id, 0, 10).await.unwrap(), records);
        assert_eq!(store.log(None, 0, 10).await.unwrap(), log);
        let asked = store.pauses(id).await.unwrap();
        assert_eq!(
            asked,
            [PauseRow {
                token,
                ..question(id)
            }]
        );
        let structure = store.structure("5f2c").await.unwrap();
        assert_eq!(structure.as_deref(), Some("{}"));
        let version = number(&folder.raw(), "PRAGMA user_version");
        assert_eq!(version, 5);
    }
}

#[tokio::test]
async fn what_was_asked_for_is_written_though_the_store_is_dropped() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    let id = new_id();
    let mut creating = Box::pin({
        let store = Arc::clone(&store);
        async move { store.create(row(id), records(0..1), Vec::new(), None).await }
    });
    // It asks, and then nobody waits.
    let _ = creating
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    drop((creating, store));
    let again = folder.open().await;
    until(async || again.execution(id).await.unwrap().is_some()).await;
}

#[tokio::test]
async fn the_log_is_put_into_the_file_when_the_store_is_dropped() {
    let folder = Folder::new();
    let store = folder.open().await;
    started(&store).await;
    let log = folder.path().with_extension("db-wal");
    assert!(log.exists());
    drop(store);
    until(async || !log.exists()).await;
    let count = number(&folder.raw(), "SELECT count(*) FROM records");
    assert_eq!(count, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_stores_share_a_file() {
    let folder = Arc::new(Folder::new());
    let opening: Vec<_> = (0..6)
        .map(|_| {
            let folder = Arc::clone(&folder);
            tokio::spawn(async move { folder.open().await })
        })
        .collect();
    let mut stores = Vec::new();
    for store in opening {
        stores.push(Arc::new(store.await.unwrap()));
    }
    let id = started(&stores[0]).await;
    for store in &stores {
        assert!(store.execution(id).await.unwrap().is_some());
    }
    let claims: Vec<_> = stores
        .iter()
        .map(|store| {
            let store = Arc::clone(store);
            tokio::spawn(async move { store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await })
        })
        .collect();
    let mut given = 0;
    for claim in claims {
        given += usize::from(claim.await.unwrap().unwrap().is_some());
    }
    assert_eq!(given, 1);

    let writing: Vec<_> = stores
        .iter()
        .map(|store| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let (id, fence) = claimed(&store).await;
                for seq in 1..20 {
                    store
                        .append(id, fence, append(records(seq..seq + 1)))
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for writing in writing {
        writing.await.unwrap();
    }
    assert_eq!(
        stores[5].log(None, 0, 1000).await.unwrap().len(),
        1 + 6 * 20
    );
}

#[tokio::test]
async fn another_program_can_read_the_file() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, fence) = claimed(&store).await;
    store
        .append(id, fence, append(records(1..2)))
        .await
        .unwrap();
    let sql = "SELECT time, flow, execution, kind, path, payload FROM journal WHERE seq = 1";
    let line: (String, String, String, String, String, String) = folder
        .raw()
        .query_row(sql, [], |row| row.try_into())
        .unwrap();
    let expected = (
        "2023-11-14 22:13:20.001".to_owned(),
        "orders".to_owned(),
        id.to_string(),
        "outcome".to_owned(),
        "orders.payment.charge".to_owned(),
        "{\"seq\":1}".to_owned(),
    );
    assert_eq!(line, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_refuses_writes_and_works_afterwards() {
    let folder = Folder::new();
    let options = SqliteOptions::new().busy_timeout(Duration::from_millis(20));
    let store = SqliteStore::open_with(folder.path(), options)
        .await
        .unwrap();
    let (id, fence) = claimed(&store).await;
    let before = store.execution(id).await.unwrap();
    let other = folder.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let write = store.append(id, fence, append(records(1..2))).await;
    assert!(matches!(write, Err(StoreError::Locked(_))), "{write:?}");
    let created = store
        .create(row(new_id()), records(0..1), Vec::new(), None)
        .await;
    assert!(matches!(created, Err(StoreError::Locked(_))), "{created:?}");
    assert_eq!(store.execution(id).await.unwrap(), before);
    assert_eq!(store.log(None, 0, 10).await.unwrap().len(), 1);

    other.execute_batch("COMMIT").unwrap();
    store
        .append(id, fence, append(records(1..2)))
        .await
        .unwrap();
    assert_eq!(store.records(id, 0, 10).await.unwrap().len(), 2);
}

/// Whoever looks for work and finds none keeps nobody from writing, and waits for nobody who writes.
#[tokio::test]
async fn looking_into_an_empty_queue_writes_nothing() {
    let folder = Folder::new();
    let options = SqliteOptions::new().busy_timeout(Duration::ZERO);
    let store = SqliteStore::open_with(folder.path(), options)
        .await
        .unwrap();
    let take = |now_ms| Take {
        flows: [("orders".to_owned(), 9)].into(),
        limit: 9,
        holder: Uuid::new_v4(),
        now_ms,
        until_ms: now_ms + LEASE,
    };
    let later = Row {
        status: Status::Queued,
        not_before_ms: Some(NOW + 10),
        ..row(new_id())
    };
    let created = store.create(later.clone(), records(0..1), Vec::new(), None);
    created.await.unwrap();
    let other = folder.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.take_queued(&take(NOW)).await.unwrap(), []);
    let its_time = store.take_queued(&take(NOW + 10)).await;
    assert!(
        matches!(its_time, Err(StoreError::Locked(_))),
        "what is taken is written: {its_time:?}"
    );
    other.execute_batch("ROLLBACK").unwrap();
    let taken = store.take_queued(&take(NOW + 10)).await.unwrap();
    let ids: Vec<_> = taken.into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!(ids, [later.id]);
}

/// The second of them comes when the first one waits already, with all others: one more wait.
#[tokio::test]
async fn who_wait_for_a_lock_together_do_not_wait_one_after_the_other() {
    let folder = Folder::new();
    let wait = Duration::from_millis(200);
    let options = SqliteOptions::new().busy_timeout(wait);
    let store = SqliteStore::open_with(folder.path(), options)
        .await
        .unwrap();
    let other = folder.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writes = (0..20).map(|_| store.create(row(new_id()), records(0..1), Vec::new(), None));
    let before = Instant::now();
    for write in futures_util::future::join_all(writes).await {
        assert!(matches!(write, Err(StoreError::Locked(_))), "{write:?}");
    }
    let waited = before.elapsed();
    assert!(waited < 10 * wait, "{waited:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_full_file_loses_nothing_and_works_once_there_is_room() {
    let folder = Folder::new();
    let options = SqliteOptions::new().max_pages(100);
    let store = SqliteStore::open_with(folder.path(), options)
        .await
        .unwrap();
    let (large, large_fence) = claimed(&store).await;
    let (small, small_fence) = claimed(&store).await;
    let mut written = 1;
    let error = loop {
        let mut write = append(records(written..written + 1));
        write.records[0].payload = "x".repeat(50_000);
        match store.append(large, large_fence, write).await {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 100, "the file never gets full");
    };
    assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    assert!(error.source().is_some());
    let kept = store.records(large, 0, 100).await.unwrap();
    assert_eq!(kept.len() as u64, written);
    let row = store.execution(large).await.unwrap().unwrap();
    assert_eq!(row.next_seq, written);

    // Many at once: what is too large fails, and takes none of the others with it.
    let store = Arc::new(store);
    let mut large_ones = Vec::new();
    let mut small_ones = Vec::new();
    for seq in 1..6 {
        let task = Arc::clone(&store);
        large_ones.push(tokio::spawn(async move {
            let mut write = append(records(written..written + 1));
            write.records[0].payload = "x".repeat(500_000);
            task.append(large, large_fence, write).await
        }));
        let write = append(records(seq..seq + 1));
        small_ones.push(store.append(small, small_fence, write));
    }
    for write in futures_util::future::join_all(small_ones).await {
        write.unwrap();
    }
    for write in large_ones {
        let write = write.await.unwrap();
        assert!(matches!(write, Err(StoreError::Full(_))), "{write:?}");
    }
    assert_eq!(store.records(small, 0, 10).await.unwrap(), records(0..6));

    assert!(store.delete(large).await.unwrap());
    let mut write = append(records(6..7));
    write.records[0].payload = "x".repeat(50_000);
    store.append(small, small_fence, write).await.unwrap();
    assert_eq!(store.records(small, 0, 10).await.unwrap().len(), 7);
}

#[tokio::test]
async fn a_failed_request_does_not_spoil_those_beside_it() {
    let folder = Folder::new();
    let options = SqliteOptions::new().busy_timeout(Duration::from_secs(60));
    let store = SqliteStore::open_with(folder.path(), options)
        .await
        .unwrap();
    let (id, fence) = claimed(&store).await;
    let token = Token::from(Uuid::new_v4());
    let other = folder.raw();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let asks = |seq: u64| Append {
        opened: vec![PauseRow {
            token,
            ..question(id)
        }],
        ..append(records(seq..seq + 1))
    };
    // The first waits for the lock, and the others for the first: they come into one transaction.
    let waiting = store.create(row(new_id()), records(0..1), Vec::new(), None);
    let writes = async {
        tokio::join!(
            store.append(id, fence, asks(1)),
            store.append(id, fence, asks(2)),
            store.append(id, fence, append(records(2..4))),
            store.append(id, fence + 1, append(records(4..5))),
            store.append(id, fence, append(records(4..5))),
        )
    };
    let unlock = async { other.execute_batch("COMMIT").unwrap() };
    let (created, writes, ()) = tokio::join!(waiting, writes, unlock);
    assert_eq!(created.unwrap(), Created::New);
    assert!(writes.0.is_ok());
    assert!(matches!(writes.1, Err(StoreError::Other(_))));
    assert!(writes.2.is_ok());
    assert!(matches!(writes.3, Err(StoreError::LeaseLost(_))));
    assert!(writes.4.is_ok());
    assert_eq!(store.records(id, 0, 10).await.unwrap(), records(0..5));
    assert_eq!(store.pauses(id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn lists_and_what_is_due_are_found_by_an_index() {
    let folder = Folder::new();
    drop(folder.open().await);
    let raw = folder.raw();
    let plans = [
        (
            "* FROM executions WHERE id = ?",
            "sqlite_autoindex_executions_1 (id=?)",
        ),
        (
            "id FROM executions INDEXED BY executions_by_flow WHERE owner IS ? AND flow = ? ORDER BY id DESC",
            "COVERING INDEX executions_by_flow (owner=? AND flow=?)",
        ),
        (
            "id FROM executions INDEXED BY executions_by_status WHERE owner IS ? AND status = ? ORDER BY id DESC",
            "COVERING INDEX executions_by_status (owner=? AND status=?)",
        ),
        (
            "id FROM executions INDEXED BY executions_by_status WHERE owner IS ? AND status = ? AND id < ? \
             ORDER BY id DESC",
            "COVERING INDEX executions_by_status (owner=? AND status=? AND id<?)",
        ),
        (
            "id FROM executions INDEXED BY executions_by_owner WHERE owner IS ? ORDER BY id DESC",
            "COVERING INDEX executions_by_owner (owner=?)",
        ),
        (
            "id FROM executions INDEXED BY sqlite_autoindex_executions_1 ORDER BY id DESC",
            "COVERING INDEX sqlite_autoindex_executions_1",
        ),
        (
            "id FROM executions INDEXED BY executions_halted WHERE owner IS ? AND halted IS NOT NULL AND id < ? \
             ORDER BY id DESC",
            "executions_halted (id<?)",
        ),
        (
            "id FROM executions INDEXED BY executions_cancelling WHERE owner IS ? AND cancelled_ms IS NOT NULL \
             AND status NOT IN ('completed', 'failed', 'cancelled') AND id < ? ORDER BY id DESC",
            "executions_cancelling (id<?)",
        ),
        (
            "* FROM executions INDEXED BY executions_by_idempotency_key \
             WHERE flow = ? AND idempotency_key = ? AND owner IS ?",
            "executions_by_idempotency_key (flow=? AND idempotency_key=?)",
        ),
        (
            "id FROM executions WHERE holder = ? ORDER BY id",
            "COVERING INDEX executions_by_holder (holder=?)",
        ),
        (
            "id, due_ms FROM executions INDEXED BY executions_due WHERE due_ms IS NOT NULL ORDER BY due_ms, id",
            "COVERING INDEX executions_due",
        ),
        (
            "id, claimed_ms FROM executions INDEXED BY executions_claimed WHERE claimed_ms IS NOT NULL \
             ORDER BY claimed_ms DESC, id DESC",
            "COVERING INDEX executions_claimed",
        ),
        (
            "id, flow, concurrency_key, concurrency_limit FROM executions INDEXED BY executions_queued \
             WHERE status = 'queued' AND (not_before_ms IS NULL OR not_before_ms <= ?) \
             ORDER BY coalesce(priority, 0) DESC, id",
            "executions_queued",
        ),
        (
            "count(*) FROM executions INDEXED BY executions_by_concurrency \
             WHERE concurrency_key = ? AND status IN ('running', 'paused')",
            "COVERING INDEX executions_by_concurrency (concurrency_key=? AND status=?)",
        ),
        (
            "* FROM pauses WHERE execution = ? AND state NOT IN ('used', 'expired', 'withdrawn') ORDER BY number",
            "pauses_by_execution (execution=?)",
        ),
        (
            "* FROM pauses WHERE token < ? ORDER BY token DESC LIMIT 1",
            "sqlite_autoindex_pauses_1 (token<?)",
        ),
        (
            "* FROM signals INDEXED BY signals_untaken \
             WHERE execution = ? AND payload IS NOT NULL ORDER BY number",
            "signals_untaken (execution=?)",
        ),
        (
            "* FROM signals INDEXED BY signals_untaken \
             WHERE execution = ? AND name = ? AND payload IS NOT NULL LIMIT 1",
            "signals_untaken (execution=? AND name=?)",
        ),
        (
            "* FROM signals WHERE execution = ? AND \"key\" = ?",
            "signals_by_key (execution=? AND key=?)",
        ),
        (
            "* FROM signals WHERE execution = ? AND number = ?",
            "signals USING PRIMARY KEY (execution=? AND number=?)",
        ),
        (
            "* FROM records WHERE execution = ? AND seq >= ? ORDER BY seq",
            "sqlite_autoindex_records_1 (execution=? AND seq>?)",
        ),
        (
            "* FROM records WHERE \"offset\" > ? ORDER BY \"offset\"",
            "records USING INTEGER PRIMARY KEY (rowid>?)",
        ),
    ];
    for (query, index) in plans {
        let plan = plan(&raw, query);
        assert!(plan.contains(index), "{query}:\n{plan}");
        let sorted = plan.contains("TEMP B-TREE");
        let few = query.contains("number");
        assert!(!sorted || few, "{query}:\n{plan}");
    }
}

fn plan(raw: &Connection, query: &str) -> String {
    let sql = format!("EXPLAIN QUERY PLAN SELECT {query}");
    let mut statement = raw.prepare(&sql).unwrap();
    let values = vec![rusqlite::types::Null; statement.parameter_count()];
    let steps = statement
        .query_map(rusqlite::params_from_iter(values), |row| {
            row.get::<_, String>(3)
        })
        .unwrap();
    steps.map(|step| step.unwrap() + "\n").collect()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("flows.db")
    }

    /// A store that waits for the others of its test also on a busy machine.
    async fn open(&self) -> SqliteStore {
        let options = SqliteOptions::new().busy_timeout(Duration::from_secs(60));
        SqliteStore::open_with(self.path(), options).await.unwrap()
    }

    /// A connection past the store.
    fn raw(&self) -> Connection {
        open_raw(&self.path())
    }
}

fn open_raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(60)).unwrap();
    connection
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Waits for other threads, without a limit on time.
async fn until(mut condition: impl AsyncFnMut() -> bool) {
    while !condition().await {
        tokio::task::yield_now().await;
    }
}
