//! Signals that somebody else has written.

use flow_redis::{RedisOptions, RedisStore};
use flow_store::suite::fixtures::{NOW, append, claimed, keyed, record, signal, started};
use flow_store::{Append, EndIf, RecordKind, Sent, Status, Store as _, StoreError};

use crate::servers::shared;

/// Each damage, and where and why it is told of.
const DAMAGES: [(&[&str], &str, &str); 6] = [
    (
        &["SET", "{N}:signals:ID"],
        "the key `{N}:signals:ID`",
        "has to be a stream",
    ),
    (
        &["SET", "{N}:signal_names:ID"],
        "the key `{N}:signal_names:ID`",
        "has to be a hash",
    ),
    (
        &["HSET", "{N}:signal_names:ID", "paid"],
        "execution ID",
        "the number of its signals `paid` is x",
    ),
    (
        &["HSET", "{N}:signal_keys:ID", "k"],
        "execution ID",
        "the signal with the key `k` is x",
    ),
    (
        &["HSET", "{N}:execution:ID", "awaited"],
        "execution ID",
        "`awaited` is x",
    ),
    (
        &["HSET", "{N}:execution:ID", "signals"],
        "execution ID",
        "`signals` is x",
    ),
];

#[tokio::test]
async fn damage_is_told_of_and_writes_nothing() {
    let Some(server) = shared() else {
        return;
    };
    for (number, (command, place, reason)) in DAMAGES.into_iter().enumerate() {
        let name = format!("signals_{number}");
        let options = RedisOptions::new().callers_clocks().name(&name);
        let store = RedisStore::connect_with(&server.url(), options).await;
        let store = store.unwrap();
        let (id, fence) = claimed(&store).await;
        let pause = Append {
            status: Some(Status::Paused),
            awaited: vec!["paid".to_owned()],
            ..append(Vec::new())
        };
        store.append(id, fence, pause).await.unwrap();
        let named = |text: &str| {
            let text = text.replace("{N}", &format!("{{{name}}}"));
            text.replace("ID", &id.to_string())
        };
        let mut command: Vec<String> = command.iter().map(|part| named(part)).collect();
        command.push("x".to_owned());
        server.command(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let before = store.execution(id).await.unwrap();
        let error = store.signal(id, keyed("paid", "k")).await.unwrap_err();
        let StoreError::Corrupt {
            place: found,
            reason: why,
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(*found, named(place), "{error}");
        assert!(why.contains(reason), "{error}");
        assert_eq!(store.execution(id).await.unwrap(), before);
        // No other call panics, whatever it says.
        let take = Append {
            taken: vec![1],
            ..append(Vec::new())
        };
        let _ = store.signals(id).await;
        let _ = store.append(id, fence, take).await;
        let last = record(0, RecordKind::RunCancelled);
        let since = EndIf::PausedUntouchedSince(NOW + 9);
        let _ = store.end(id, Status::Cancelled, "", last, since).await;
        let _ = store.delete(id).await;
    }
}

#[tokio::test]
async fn a_signal_without_a_part_is_damaged() {
    let Some(server) = shared() else {
        return;
    };
    let options = RedisOptions::new().callers_clocks().name("signal_parts");
    let store = RedisStore::connect_with(&server.url(), options).await;
    let store = store.unwrap();
    let (id, fence) = claimed(&store).await;
    let key = format!("{{signal_parts}}:signals:{id}");
    server.command(&["XADD", &key, "1-0", "payload", "1"]);
    let error = store.signals(id).await.unwrap_err().to_string();
    assert!(error.contains("signal 1: it has no `name`"), "{error}");
    let take = Append {
        taken: vec![1],
        ..append(Vec::new())
    };
    let error = store.append(id, fence, take).await.unwrap_err().to_string();
    assert!(error.contains("signal 1: it has no `name`"), "{error}");
}

/// More than the server is asked for at once, and none of another execution.
#[tokio::test]
async fn many_signals_are_read_in_pages() {
    let Some(server) = shared() else {
        return;
    };
    let options = RedisOptions::new().callers_clocks().name("many_signals");
    let store = RedisStore::connect_with(&server.url(), options).await;
    let store = store.unwrap();
    let (id, other) = (started(&store).await, started(&store).await);
    store.signal(other, signal("paid")).await.unwrap();
    for number in 1..=1001 {
        let sent = store.signal(id, signal("paid")).await.unwrap();
        assert_eq!(sent, Sent::New(number));
    }
    let signals = store.signals(id).await.unwrap();
    let numbers = signals.iter().map(|signal| signal.number);
    assert!(numbers.eq(1..=1001));

    // Nothing of them is left when they are deleted.
    for id in [id, other] {
        assert!(store.delete(id).await.unwrap());
    }
    let left = server.command(&["KEYS", "{many_signals}:signal*"]);
    assert_eq!(left, "");
}
