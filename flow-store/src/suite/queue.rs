use std::collections::BTreeMap;

use uuid::Uuid;

use super::fixtures::*;
use crate::{
    Append, Claim, Concurrency, EndIf, ExecutionId, ListQuery, RecordKind, Row, Status, Take,
};

/// Takes up to this many executions of the flow `orders` at this time.
fn take(limit: usize, now_ms: u64) -> Take {
    Take {
        flows: BTreeMap::from([("orders".to_owned(), usize::MAX)]),
        limit,
        holder: Uuid::new_v4(),
        now_ms,
        until_ms: now_ms + LEASE,
    }
}

async fn put(store: &Stored, row: Row) -> ExecutionId {
    let id = row.id;
    let created = store.create(row, records(0..1), Vec::new(), None).await;
    assert_eq!(created.unwrap(), crate::Created::New);
    id
}

/// A queued execution.
fn queued() -> Row {
    Row {
        status: Status::Queued,
        ..row(new_id())
    }
}

fn keyed(key: &str, at_most: u32) -> Row {
    let key = key.to_owned();
    Row {
        concurrency: Some(Concurrency { key, at_most }),
        ..queued()
    }
}

/// Returns the ids of the taken executions, none of which may be damaged.
async fn taken(store: &Stored, take: &Take) -> Vec<ExecutionId> {
    let taken = store.take_queued(take).await.unwrap();
    taken.into_iter().map(|row| row.unwrap().id).collect()
}

/// A queued execution keeps its stored data, can be listed by its status, and is not due.
pub async fn keeps_what_it_is_given(store: Stored) {
    let given = Row {
        priority: -7,
        not_before_ms: Some(NOW + 5),
        next_seq: 1,
        ..keyed("a key of \u{1F98A}", u32::MAX)
    };
    let id = put(&store, given.clone()).await;
    assert_eq!(stored(&store, id).await, given);
    started(&store).await;
    let query = ListQuery {
        status: Some(Status::Queued),
        ..ListQuery::default()
    };
    assert_eq!(list(&store, &query).await, std::slice::from_ref(&given));
    let query = ListQuery {
        owner: Some(None),
        ..query
    };
    assert_eq!(list(&store, &query).await, [given]);
    let due = first_due(&store, NOW + HOUR, 9).await;
    assert!(!due.contains(&id));
}

/// A taken execution runs, claimed by the holder, and nothing else in it changes.
pub async fn gives_a_claim(store: Stored) {
    let id = put(&store, keyed("key", 1)).await;
    let before = stored(&store, id).await;
    let take = take(9, NOW + 3);
    let rows = store.take_queued(&take).await.unwrap();
    let expected = Row {
        status: Status::Running,
        fence: 1,
        updated_ms: NOW + 3,
        ..before
    };
    assert_eq!(stored(&store, id).await, expected);
    assert_eq!(
        rows.into_iter().map(Result::unwrap).collect::<Vec<_>>(),
        [expected]
    );
    let claim = Claim::new(take.holder, take.now_ms, take.until_ms);
    assert_eq!(store.claim_of(id).await.unwrap(), Some(claim));
    assert_eq!(renewed(&store, take.holder, NOW + 9).await, [id]);
    store.append(id, 1, append(records(1..2))).await.unwrap();
    assert!(first_due(&store, take.until_ms - 1, 9).await.is_empty());
    assert_eq!(first_due(&store, take.until_ms, 9).await, [id]);
}

/// A higher priority comes first, then the older execution; at most as many as asked for.
pub async fn is_left_by_priority_and_age(store: Stored) {
    let ids = new_ids(6);
    let priorities = [0, i32::MIN, 1, 0, i32::MAX, 1];
    for (id, priority) in ids.iter().zip(priorities).rev() {
        let row = Row {
            id: *id,
            priority,
            ..queued()
        };
        put(&store, row).await;
    }
    assert!(taken(&store, &take(0, NOW)).await.is_empty());
    assert_eq!(taken(&store, &take(2, NOW)).await, [ids[4], ids[2]]);
    let rest = [ids[5], ids[0], ids[3], ids[1]];
    assert_eq!(taken(&store, &take(9, NOW)).await, rest);
    assert!(taken(&store, &take(9, NOW)).await.is_empty());
}

/// An execution does not leave the queue before its time, and does not block others.
pub async fn is_not_left_before_the_time(store: Stored) {
    let later = Row {
        priority: 9,
        not_before_ms: Some(NOW + 5),
        ..queued()
    };
    let later = put(&store, later).await;
    let now = put(&store, queued()).await;
    assert_eq!(taken(&store, &take(9, NOW + 4)).await, [now]);
    assert_eq!(taken(&store, &take(9, NOW + 5)).await, [later]);
}

/// Only executions of the named flows are taken, each flow up to its number of places.
pub async fn is_left_by_flows_with_a_place(store: Stored) {
    let mut ids = Vec::new();
    for flow in ["orders", "orders", "mail", "other", "mail"] {
        let row = Row {
            flow: flow.to_owned(),
            ..queued()
        };
        ids.push(put(&store, row).await);
    }
    let flows = [("orders", 1), ("mail", 9), ("none", 9), ("other", 0)];
    let take = Take {
        flows: flows.map(|(flow, places)| (flow.to_owned(), places)).into(),
        ..take(9, NOW)
    };
    assert_eq!(taken(&store, &take).await, [ids[0], ids[2], ids[4]]);
    assert_eq!(taken(&store, &take).await, [ids[1]]);
    assert_eq!(stored(&store, ids[3]).await.status, Status::Queued);
}

/// The limit of each execution with a key holds, paused ones included. One that has to wait does
/// not block others.
pub async fn is_left_while_the_key_has_room(store: Stored) {
    let first = put(&store, keyed("ann", 2)).await;
    let second = put(&store, keyed("ann", 2)).await;
    let third = put(&store, keyed("ann", 2)).await;
    let narrow = put(&store, keyed("ann", 1)).await;
    let wide = put(&store, keyed("ann", 3)).await;
    let other = put(&store, keyed("bob", 1)).await;
    let free = put(&store, queued()).await;
    let now = taken(&store, &take(9, NOW)).await;
    assert_eq!(now, [first, second, wide, other, free]);

    let pause = Append {
        status: Some(Status::Paused),
        release: true,
        ..append(Vec::new())
    };
    store.append(first, 1, pause).await.unwrap();
    assert!(taken(&store, &take(9, NOW)).await.is_empty());
    let over = Append {
        status: Some(Status::Failed),
        ..append(Vec::new())
    };
    store.append(second, 1, over.clone()).await.unwrap();
    assert!(taken(&store, &take(9, NOW)).await.is_empty());
    store.append(wide, 1, over).await.unwrap();
    assert_eq!(taken(&store, &take(9, NOW)).await, [third]);

    let record = record(0, RecordKind::RunCancelled);
    let end = store.end(first, Status::Cancelled, "", record, EndIf::NotOver);
    assert_eq!(end.await.unwrap().status, Status::Cancelled);
    assert!(taken(&store, &take(9, NOW)).await.is_empty());
    assert!(store.delete(third).await.unwrap());
    assert_eq!(taken(&store, &take(9, NOW)).await, [narrow]);
}

/// An execution that was not queued counts towards the limit of its key.
pub async fn counts_what_began_without_it(store: Stored) {
    let began = Row {
        status: Status::Running,
        ..keyed("ann", 1)
    };
    let began = put(&store, began).await;
    let waits = put(&store, keyed("ann", 1)).await;
    assert!(taken(&store, &take(9, NOW)).await.is_empty());
    assert!(store.delete(began).await.unwrap());
    assert_eq!(taken(&store, &take(9, NOW)).await, [waits]);
}

/// An execution that somebody has claimed, or that was ended or deleted, is not taken.
pub async fn is_not_left_by_what_is_claimed_or_over(store: Stored) {
    let claimed = put(&store, queued()).await;
    let cancelled = put(&store, queued()).await;
    let deleted = put(&store, queued()).await;
    assert_eq!(claim(&store, claimed).await, 1);
    let record = record(0, RecordKind::RunCancelled);
    let end = store.end(cancelled, Status::Cancelled, "", record, EndIf::NotOver);
    assert_eq!(end.await.unwrap().status, Status::Cancelled);
    assert!(store.delete(deleted).await.unwrap());
    assert!(taken(&store, &take(9, NOW + LEASE - 1)).await.is_empty());
    assert_eq!(taken(&store, &take(9, NOW + LEASE)).await, [claimed]);
    assert_eq!(stored(&store, claimed).await.fence, 2);
}

/// If many take at once, each execution is taken once, and the limit of a key holds.
pub async fn gives_each_to_one_of_many(store: Stored) {
    let mut free = Vec::new();
    for _ in 0..20 {
        free.push(put(&store, queued()).await);
        put(&store, keyed("ann", 3)).await;
    }
    let takes = at_once(20, |_| {
        let store = store.clone();
        async move { taken(&store, &take(4, NOW)).await }
    });
    let mut all: Vec<ExecutionId> = takes.await.concat();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "each once");
    assert_eq!(count, 20 + 3);
    assert!(free.iter().all(|id| all.contains(id)));
    for id in all {
        assert_eq!(stored(&store, id).await.fence, 1);
    }
}
