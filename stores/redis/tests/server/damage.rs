//! What somebody else has written under the keys of a store.

use flow_redis::{RedisOptions, RedisStore};
use flow_store::suite::fixtures::{LEASE, NOW, append, claimed, question, record, records};
use flow_store::{
    Append, EndIf, ExecutionId, ListQuery, RecordKind, Settlement, Status, Store as _, StoreError,
    Take,
};
use uuid::Uuid;

use crate::servers::shared;

/// A store with this name, and an execution in it that is claimed and has asked a question.
async fn store(name: &str) -> Option<(RedisStore, ExecutionId)> {
    let options = RedisOptions::new().callers_clocks().name(name);
    let store = RedisStore::connect_with(&shared()?.url(), options).await;
    let store = store.unwrap();
    let (id, fence) = claimed(&store).await;
    let ask = Append {
        opened: vec![question(id)],
        ..append(records(1..3))
    };
    store.append(id, fence, ask).await.unwrap();
    Some((store, id))
}

/// Each damage, and where and why it is told of.
const DAMAGES: [(&[&str], &str, &str); 12] = [
    (
        &["SET", "{N}:log"],
        "the key `{N}:log`",
        "it is a string, and has to be a stream",
    ),
    (
        &["SET", "{N}:due"],
        "the key `{N}:due`",
        "it is a string, and has to be a zset",
    ),
    (&["SET", "{N}:offset"], "the key `{N}:offset`", "it is x"),
    (
        &["SET", "{N}:execution:ID"],
        "the key `{N}:execution:ID`",
        "has to be a hash",
    ),
    (
        &["SET", "{N}:records:ID"],
        "the key `{N}:records:ID`",
        "has to be a stream",
    ),
    (
        &["SET", "{N}:open:ID"],
        "the key `{N}:open:ID`",
        "has to be a zset",
    ),
    (
        &["HSET", "{N}:execution:ID", "fence"],
        "execution ID",
        "`fence` is x",
    ),
    (
        &["HSET", "{N}:execution:ID", "status"],
        "execution ID",
        "the name `x` is not known",
    ),
    (
        &["HSET", "{N}:execution:ID", "next_seq"],
        "execution ID",
        "`next_seq` is x",
    ),
    (
        &["HSET", "{N}:execution:ID", "lease_ms"],
        "execution ID",
        "`lease_ms` is x",
    ),
    (
        &["HDEL", "{N}:execution:ID", "lease_ms"],
        "execution ID",
        "a part of its claim is missing",
    ),
    (
        &["HSET", "{N}:question:TOKEN", "state"],
        "a question of execution ID",
        "the state `x` is not known",
    ),
];

/// Every write that meets damage says so, and writes nothing at all.
#[tokio::test]
async fn a_write_that_meets_damage_says_where_and_writes_nothing() {
    for (number, (command, place, reason)) in DAMAGES.into_iter().enumerate() {
        let name = format!("damaged_{number}");
        let Some((store, id)) = store(&name).await else {
            return;
        };
        let server = shared().unwrap();
        let token = store.pauses(id).await.unwrap()[0].token;
        let named = |text: &str| {
            let text = text.replace("{N}", &format!("{{{name}}}"));
            text.replace("ID", &id.to_string())
                .replace("TOKEN", &token.to_string())
        };
        let mut command: Vec<String> = command.iter().map(|part| named(part)).collect();
        if command[0] != "HDEL" {
            command.push("x".to_owned());
        }
        server.command(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let before = dump(&name);
        let end = Append {
            status: Some(Status::Failed),
            ..append(records(3..4))
        };
        let error = store.append(id, 1, end).await.unwrap_err();
        let StoreError::Corrupt {
            place: found,
            reason: why,
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(*found, named(place), "{error}");
        assert!(why.contains(reason), "{error}");
        assert_eq!(dump(&name), before, "{error}");
        // No other call panics, whatever it says.
        let last = record(0, RecordKind::RunCancelled);
        let answer = Settlement::Answer("1".to_owned());
        let _ = store.settle(token, answer, NOW).await;
        let _ = store
            .end(id, Status::Cancelled, "", last, EndIf::NotOver)
            .await;
        let _ = store
            .claim(id, Uuid::new_v4(), NOW + LEASE, NOW + 2 * LEASE)
            .await;
        let _ = store.renew(Uuid::new_v4(), NOW).await;
        let _ = store.due(NOW + 9 * LEASE, None, 9).await;
        let _ = store.list(&ListQuery::default()).await;
        let _ = store.log(None, 0, 9).await;
        let _ = store.log(Some(id), 0, 9).await;
        let _ = store.records(id, 0, 9).await;
        let _ = store.pauses(id).await;
        let _ = store.claim_of(id).await;
        let _ = store.delete(id).await;
    }
}

/// All keys of a store with their contents.
fn dump(name: &str) -> Vec<(String, String)> {
    let server = shared().unwrap();
    let keys = server.command(&["KEYS", &format!("{{{name}}}:*")]);
    let mut keys: Vec<String> = keys.lines().map(str::to_owned).collect();
    keys.retain(|key| !key.contains(":call:"));
    keys.sort();
    keys.into_iter()
        .map(|key| {
            let dump = server.command(&["DUMP", &key]);
            (key, dump)
        })
        .collect()
}

/// A row that cannot be read is listed as damaged beside the others, is nobody's to take, and can be
/// deleted.
#[tokio::test]
async fn a_damaged_execution_does_not_keep_the_others_from_view() {
    let Some((store, damaged)) = store("among_others").await else {
        return;
    };
    let server = shared().unwrap();
    let (sound, _) = claimed(&store).await;
    let key = format!("{{among_others}}:execution:{damaged}");
    server.command(&["HSET", &key, "created_ms", "yesterday"]);
    let later = NOW + LEASE;

    let listed = store.list(&ListQuery::default()).await.unwrap();
    let kinds: Vec<_> = listed
        .iter()
        .map(|row| row.as_ref().map(|row| row.id).map_err(|it| it.execution))
        .collect();
    assert_eq!(kinds, [Ok(sound), Err(Some(damaged))]);
    let claim = store.claim(damaged, Uuid::new_v4(), later, later + 1).await;
    let error = claim.unwrap_err().to_string();
    assert!(error.contains("`created_ms` is yesterday"), "{error}");

    server.command(&["HDEL", &key, "options"]);
    let due = store.due(later, None, 9).await.unwrap();
    let reasons: Vec<_> = due.iter().filter_map(|it| it.as_ref().err()).collect();
    assert_eq!(reasons[0].execution, Some(damaged));
    assert_eq!(reasons[0].reason, "it has no `options`");
    assert!(due.contains(&Ok(sound)));

    // A process of an earlier version deletes an execution without the lists that it does not know.
    let deleted = Uuid::new_v4().to_string();
    server.command(&["ZADD", "{among_others}:cancelling", "0", &deleted]);
    let cancelling = ListQuery {
        cancelling: Some(true),
        ..ListQuery::default()
    };
    assert_eq!(store.list(&cancelling).await.unwrap(), []);
    server.command(&["ZREM", "{among_others}:cancelling", &deleted]);

    // Of the log, what belongs to nobody is told of.
    server.command(&["DEL", &format!("{{among_others}}:records:{sound}")]);
    let log = store.log(None, 0, 9).await.unwrap();
    let lost = log.last().unwrap().as_ref().unwrap_err();
    assert_eq!(lost.damaged.execution, Some(sound));
    assert_eq!(log.iter().filter(|it| it.is_ok()).count(), log.len() - 1);

    assert!(store.delete(damaged).await.unwrap());
    assert!(store.delete(sound).await.unwrap());
    let left = server.command(&["KEYS", "{among_others}:*"]);
    let kept = ["version", "server", "offset", "log", "deleted:"];
    let is_kept = |key: &str| kept.iter().any(|kept| key.contains(kept));
    assert!(left.lines().all(is_kept), "{left}");
}

/// In the queue, it does not keep back those behind it.
#[tokio::test]
async fn a_damaged_execution_does_not_stop_the_queue() {
    let Some((store, _)) = store("queue").await else {
        return;
    };
    let server = shared().unwrap();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let row = flow_store::Row {
            status: Status::Queued,
            ..flow_store::suite::fixtures::row(flow_store::suite::fixtures::new_id())
        };
        ids.push(row.id);
        store
            .create(row, records(0..1), Vec::new(), None)
            .await
            .unwrap();
    }
    ids.sort();
    server.command(&[
        "HDEL",
        &format!("{{queue}}:execution:{}", ids[0]),
        "options",
    ]);
    server.command(&["DEL", &format!("{{queue}}:execution:{}", ids[1])]);
    let take = Take {
        flows: [("orders".to_owned(), 9)].into(),
        limit: 1,
        holder: Uuid::new_v4(),
        now_ms: NOW,
        until_ms: NOW + LEASE,
    };
    let taken = store.take_queued(&take).await.unwrap();
    let taken: Vec<_> = taken
        .iter()
        .map(|row| row.as_ref().map(|row| row.id).map_err(|it| it.execution))
        .collect();
    assert_eq!(taken, [Err(Some(ids[0])), Err(Some(ids[1])), Ok(ids[2])]);
}

/// A record that somebody has removed is missed, and not passed over.
#[tokio::test]
async fn a_missing_record_is_told_of() {
    let Some((store, id)) = store("missing").await else {
        return;
    };
    let server = shared().unwrap();
    let key = format!("{{missing}}:records:{id}");
    let second = server.command(&["XRANGE", &key, "1", "1"]);
    let second = second.lines().next().unwrap();
    server.command(&["XDEL", &key, second]);
    let error = store.records(id, 0, 9).await.unwrap_err().to_string();
    assert!(error.contains("record 1: it is missing"), "{error}");

    // Also if it is the last one, to which the next one would be added.
    let last = server.command(&["XREVRANGE", &key, "+", "-", "COUNT", "1"]);
    server.command(&["XDEL", &key, last.lines().next().unwrap()]);
    let write = append(records(3..4));
    let error = store.append(id, 1, write).await.unwrap_err().to_string();
    assert!(error.contains("its last record is 0"), "{error}");
}
