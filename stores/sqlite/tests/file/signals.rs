//! Signals that are damaged.

use flow_durable::{Append, NewSignal, Store, StoreError};
use flow_store::suite::fixtures::{LEASE, NOW, append, claimed, keyed, signal, started};

use crate::Folder;

fn is_corrupt<T: std::fmt::Debug>(read: Result<T, StoreError>, place: &str, because: &str) {
    match read {
        Err(StoreError::Corrupt { place: at, reason }) => {
            assert_eq!(at, place);
            assert!(reason.contains(because), "{reason}");
        }
        other => panic!("expected {place} to be damaged: {other:?}"),
    }
}

#[tokio::test]
async fn a_signal_that_was_changed_is_damaged() {
    for (damage, reason) in [
        ("payload = '2'", "its checksum does not fit"),
        ("name = 'paid '", "its checksum does not fit"),
        ("number = 7", "its checksum does not fit"),
        ("sent_ms = -1", "column `sent_ms`"),
        ("name = CAST(x'ff' AS TEXT)", "column `name`"),
    ] {
        let folder = Folder::new();
        let store = folder.open().await;
        let (id, fence) = claimed(&store).await;
        for _ in 0..2 {
            store.signal(id, signal("paid")).await.unwrap();
        }
        let other = started(&store).await;
        store.signal(other, signal("paid")).await.unwrap();
        let sql = format!("UPDATE signals SET {damage} WHERE execution = ?1 AND number = 2");
        folder.raw().execute(&sql, [id.to_string()]).unwrap();
        let number = if damage == "number = 7" { 7 } else { 2 };
        let place = format!("execution {id}, signal {number}");
        is_corrupt(store.signals(id).await, &place, reason);
        let take = Append {
            taken: vec![number],
            ..append(Vec::new())
        };
        let taken = store.append(id, fence, take).await;
        is_corrupt(taken, &place, reason);
        assert_eq!(store.signals(other).await.unwrap().len(), 1);
        // One that is not read does not matter.
        store.signal(id, signal("paid")).await.unwrap();
    }
}

#[tokio::test]
async fn a_signal_that_is_gone_is_missed() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, _) = claimed(&store).await;
    for name in ["paid", "called"] {
        store.signal(id, signal(name)).await.unwrap();
    }
    let sql = "DELETE FROM signals WHERE number = 2";
    folder.raw().execute_batch(sql).unwrap();
    let place = format!("execution {id}");
    is_corrupt(
        store.signals(id).await,
        &place,
        "of its 2 signals there are 1",
    );
}

#[tokio::test]
async fn a_key_that_was_changed_is_damaged() {
    let folder = Folder::new();
    let store = folder.open().await;
    let (id, fence) = claimed(&store).await;
    store.signal(id, keyed("paid", "k")).await.unwrap();
    let take = Append {
        taken: vec![1],
        ..append(Vec::new())
    };
    store.append(id, fence, take).await.unwrap();
    let raw = folder.raw();
    let place = format!("execution {id}, signal 1");
    for change in ["digest = 'another'", "\"key\" = 'j'"] {
        let sql = format!("UPDATE signals SET {change}");
        raw.execute_batch(&sql).unwrap();
        let key = if change.contains("key") { "j" } else { "k" };
        let sent = store.signal(id, keyed("paid", key)).await;
        is_corrupt(sent, &place, "its checksum does not fit");
    }
}

/// What an execution waits for, and how many signals it has, is part of its checksum.
#[tokio::test]
async fn what_is_awaited_cannot_be_changed() {
    for change in [
        "awaited = 'called'",
        "awaited = NULL",
        "untaken = 1",
        "signals = 9",
    ] {
        let folder = Folder::new();
        let store = folder.open().await;
        let (id, fence) = claimed(&store).await;
        let pause = Append {
            status: Some(flow_durable::Status::Paused),
            awaited: vec!["paid".to_owned()],
            release: true,
            ..append(Vec::new())
        };
        store.append(id, fence, pause).await.unwrap();
        folder
            .raw()
            .execute_batch(&format!("UPDATE executions SET {change}"))
            .unwrap();
        let given = NewSignal {
            now_ms: NOW + LEASE,
            ..signal("paid")
        };
        let sent = store.signal(id, given).await;
        is_corrupt(
            sent,
            &format!("execution {id}"),
            "its checksum does not fit",
        );
    }
}
