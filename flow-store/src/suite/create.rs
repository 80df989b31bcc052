use super::fixtures::*;
use crate::RecordKind;
use crate::{Claim, Concurrency, Created, ListQuery, PauseState, Row, Status, StoreError};

/// An execution is read back as it was stored, with its records and questions.
pub async fn stores_what_it_is_given(store: Stored) {
    let id = new_id();
    let pauses = vec![expiring(id, NOW + 500), question(id)];
    let given = Row {
        flow: "orders".to_owned(),
        structure: "5f2c".to_owned(),
        owner: Some("ana".to_owned()),
        idempotency_key: Some("order 7".to_owned()),
        status: Status::Paused,
        options: "{\"steps\":3}".to_owned(),
        created_ms: NOW + 1,
        updated_ms: NOW + 2,
        wake_ms: Some(NOW + 500),
        next_seq: 2,
        copied_from: Some(new_id()),
        result: Some("null".to_owned()),
        ..row(id)
    };
    let created = store.create(given.clone(), records(0..2), pauses.clone(), None);
    assert_eq!(created.await.unwrap(), Created::New);
    assert_eq!(stored(&store, id).await, given);
    assert_eq!(store.records(id, 0, 10).await.unwrap(), records(0..2));
    assert_eq!(store.pauses(id).await.unwrap(), pauses);
}

/// The row's numbers follow from the records and questions, whatever the row says.
pub async fn follows_the_records_and_questions(store: Stored) {
    let id = new_id();
    let mut history = records(4..7);
    history[1].kind = RecordKind::Snapshot;
    let answered = crate::PauseRow {
        state: PauseState::Answered("1".to_owned()),
        ..expiring(id, NOW + 1)
    };
    let pauses = vec![expiring(id, NOW + 9), expiring(id, NOW + 5), answered];
    store.create(row(id), history, pauses, None).await.unwrap();
    let row = stored(&store, id).await;
    assert_eq!(row.next_seq, 7);
    assert_eq!(row.snapshot_seq, Some(5));
    assert_eq!(row.wake_ms, Some(NOW + 5));
}

/// A new execution has the fence 0, whatever the row says, and can be claimed.
pub async fn is_claimed_by_nobody(store: Stored) {
    let id = new_id();
    let given = Row {
        fence: 7,
        ..row(id)
    };
    store
        .create(given, Vec::new(), Vec::new(), None)
        .await
        .unwrap();
    assert_eq!(stored(&store, id).await.fence, 0);
    assert_eq!(claim(&store, id).await, 1);
}

fn until_the_lease_ends() -> Claim {
    Claim::new(uuid::Uuid::new_v4(), NOW, NOW + LEASE)
}

/// A claim made together with a new execution is like one that is made afterwards.
pub async fn is_claimed_at_once(store: Stored) {
    let (id, given) = (new_id(), until_the_lease_ends());
    store
        .create(row(id), records(0..1), Vec::new(), Some(given))
        .await
        .unwrap();
    assert_eq!(stored(&store, id).await.fence, 1);
    let other = uuid::Uuid::new_v4();
    let claim = store.claim(id, other, NOW + LEASE - 1, NOW + 2 * LEASE);
    assert_eq!(claim.await.unwrap(), None);
    assert!(first_due(&store, NOW + LEASE - 1, 10).await.is_empty());
    store.append(id, 1, append(records(1..2))).await.unwrap();
    assert_eq!(renewed(&store, given.holder, NOW + 2 * LEASE).await, [id]);
    assert!(first_due(&store, NOW + LEASE, 10).await.is_empty());
    assert_eq!(first_due(&store, NOW + 2 * LEASE, 10).await, [id]);

    let at = NOW + 2 * LEASE;
    let taken_over = store.claim(id, other, at, at + LEASE).await.unwrap();
    assert_eq!(taken_over.expect("it has run out").fence, 2);
    let late = store.append(id, 1, append(records(2..3))).await;
    assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
}

/// An execution that is over when it is created has no claim.
pub async fn is_not_claimed_if_over(store: Stored) {
    for status in [Status::Completed, Status::Failed, Status::Cancelled] {
        let (id, given) = (new_id(), until_the_lease_ends());
        let over = Row { status, ..row(id) };
        let created = store.create(over, records(0..1), Vec::new(), Some(given));
        assert_eq!(created.await.unwrap(), Created::New);
        assert_eq!(stored(&store, id).await.fence, 0, "{status}");
        let held = store.renew(given.holder, NOW + 2 * LEASE).await.unwrap();
        assert!(held.is_empty(), "{status}");
    }
}

/// If an execution with the key already exists, it is not claimed.
pub async fn leaves_the_claim_of_the_one_with_the_same_key(store: Stored) {
    let with_key = |id| Row {
        idempotency_key: Some("key".to_owned()),
        ..row(id)
    };
    let (first, given) = (new_id(), until_the_lease_ends());
    let created = store.create(with_key(first), Vec::new(), Vec::new(), None);
    assert_eq!(created.await.unwrap(), Created::New);
    let created = store.create(with_key(new_id()), Vec::new(), Vec::new(), Some(given));
    assert_eq!(created.await.unwrap(), Created::Existing(first));
    assert_eq!(stored(&store, first).await.fence, 0);
    assert!(
        store
            .renew(given.holder, NOW + LEASE)
            .await
            .unwrap()
            .is_empty()
    );
}

/// A second start with the same flow, owner and key writes nothing, and returns the existing
/// execution.
pub async fn returns_the_execution_with_the_same_key(store: Stored) {
    let (first, second) = (new_id(), new_id());
    let with_key = |id| Row {
        owner: Some("ana".to_owned()),
        idempotency_key: Some("order 7".to_owned()),
        ..row(id)
    };
    let created = store.create(with_key(first), records(0..1), Vec::new(), None);
    assert_eq!(created.await.unwrap(), Created::New);
    let before = everything(&store, first).await;
    let created = store.create(
        with_key(second),
        records(0..2),
        vec![question(second)],
        None,
    );
    assert_eq!(created.await.unwrap(), Created::Existing(first));
    assert_eq!(everything(&store, first).await, before);
    assert_eq!(store.execution(second).await.unwrap(), None);
    assert!(store.records(second, 0, 10).await.unwrap().is_empty());
    assert!(store.pauses(second).await.unwrap().is_empty());
}

/// The same key with another flow, another owner or no owner is another key, and a missing key
/// equals no other.
pub async fn keeps_keys_of_flows_and_owners_apart(store: Stored) {
    let flows_and_owners = [
        ("orders", None),
        ("orders", Some("")),
        ("orders", Some("ana")),
        ("orders", Some("ben")),
        ("returns", None),
        ("returns", Some("ana")),
    ];
    let with_key = |flow: &str, owner: Option<&str>| Row {
        flow: flow.to_owned(),
        owner: owner.map(str::to_owned),
        idempotency_key: Some("key".to_owned()),
        ..row(new_id())
    };
    let mut stored = Vec::new();
    for (flow, owner) in flows_and_owners {
        let given = with_key(flow, owner);
        stored.push(given.id);
        let created = store.create(given, Vec::new(), Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New, "{flow} of {owner:?}");
    }
    for ((flow, owner), id) in flows_and_owners.into_iter().zip(stored) {
        let created = store.create(with_key(flow, owner), Vec::new(), Vec::new(), None);
        assert_eq!(created.await.unwrap(), Created::Existing(id));
    }
    started(&store).await;
    started(&store).await;
}

/// If 20 tasks start with the same key at once, one succeeds, and the others get its execution.
pub async fn stores_one_of_many_with_the_same_key(store: Stored) {
    let created = at_once(20, |_| {
        let store = store.clone();
        async move {
            let given = Row {
                idempotency_key: Some("key".to_owned()),
                ..row(new_id())
            };
            let id = given.id;
            let created = store.create(given, records(0..1), Vec::new(), None).await;
            (id, created.unwrap())
        }
    })
    .await;
    let new: Vec<_> = created
        .iter()
        .filter(|(_, created)| *created == Created::New)
        .collect();
    assert_eq!(new.len(), 1);
    let existing = Created::Existing(new[0].0);
    assert_eq!(created.iter().filter(|(_, it)| *it == existing).count(), 19);
    assert_eq!(log(&store, 0, 100).await.len(), 1);
}

/// The same key takes precedence over the same id, even if both appear during the call.
pub async fn stores_one_of_many_that_are_the_same(store: Stored) {
    for _ in 0..20 {
        let given = Row {
            idempotency_key: Some(new_id().to_string()),
            ..row(new_id())
        };
        let created = at_once(8, |_| {
            let (store, given) = (store.clone(), given.clone());
            async move {
                let created = store.create(given, records(0..1), Vec::new(), None);
                created.await.unwrap()
            }
        })
        .await;
        let is_new = |created: &&Created| **created == Created::New;
        assert_eq!(created.iter().filter(is_new).count(), 1);
        let existing = Created::Existing(given.id);
        assert_eq!(created.iter().filter(|it| **it == existing).count(), 7);
    }
}

/// An id that is taken is refused, and the existing execution stays.
pub async fn refuses_an_id_that_is_taken(store: Stored) {
    let id = started(&store).await;
    let before = everything(&store, id).await;
    let created = store
        .create(row(id), records(0..2), vec![question(id)], None)
        .await;
    assert!(matches!(created, Err(StoreError::Other(_))), "{created:?}");
    assert_eq!(everything(&store, id).await, before);
}

/// Records whose numbers are not consecutive are refused.
pub async fn refuses_records_with_a_gap(store: Stored) {
    let id = new_id();
    let with_gap = vec![
        record(0, RecordKind::RunStarted),
        record(2, RecordKind::Outcome),
    ];
    let created = store.create(row(id), with_gap, Vec::new(), None).await;
    assert!(matches!(created, Err(StoreError::Other(_))), "{created:?}");
    assert_eq!(store.execution(id).await.unwrap(), None);
    assert_eq!(store.last_offset().await.unwrap(), 0);
}

/// Questions of another execution are refused.
pub async fn refuses_questions_of_others(store: Stored) {
    let (id, other) = (new_id(), started(&store).await);
    let created = store
        .create(row(id), records(0..1), vec![question(other)], None)
        .await;
    assert!(matches!(created, Err(StoreError::Other(_))), "{created:?}");
    assert_eq!(store.execution(id).await.unwrap(), None);
    assert!(store.pauses(other).await.unwrap().is_empty());
}

/// A text of the maximum length that cannot be compressed.
fn long_name() -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    while name.len() < crate::refusal::LONGEST_NAME {
        write!(name, "{}", uuid::Uuid::new_v4().simple()).unwrap();
    }
    name
}

/// An execution with four texts of the given kind.
fn named(name: impl Fn() -> String) -> Row {
    Row {
        flow: name(),
        owner: Some(name()),
        idempotency_key: Some(name()),
        concurrency: Some(Concurrency {
            key: name(),
            at_most: 1,
        }),
        ..row(new_id())
    }
}

/// The texts that executions are found by can have 512 bytes.
pub async fn keeps_long_names(store: Stored) {
    let long = named(long_name);
    let (id, same) = (
        long.id,
        Row {
            id: new_id(),
            ..long.clone()
        },
    );
    let created = store.create(long.clone(), Vec::new(), Vec::new(), None);
    assert_eq!(created.await.unwrap(), Created::New);
    assert_eq!(stored(&store, id).await, long);
    let query = ListQuery {
        flow: Some(long.flow.clone()),
        owner: Some(long.owner.clone()),
        ..ListQuery::default()
    };
    assert_eq!(list(&store, &query).await, [long]);
    let created = store.create(same, Vec::new(), Vec::new(), None);
    assert_eq!(created.await.unwrap(), Created::Existing(id));
}

/// Each of these texts is refused if it is longer.
pub async fn refuses_names_that_are_too_long(store: Stored) {
    let long = named(|| long_name() + "x");
    let short = row(new_id());
    let rows = [
        Row {
            flow: long.flow,
            ..short.clone()
        },
        Row {
            owner: long.owner,
            ..short.clone()
        },
        Row {
            idempotency_key: long.idempotency_key,
            ..short.clone()
        },
        Row {
            concurrency: long.concurrency,
            ..short
        },
    ];
    for row in rows {
        let id = row.id;
        let created = store.create(row, Vec::new(), Vec::new(), None).await;
        let Err(StoreError::Other(reason)) = created else {
            panic!("{created:?}");
        };
        let reason = reason.to_string();
        assert!(
            reason.ends_with("has 513 bytes, and can have 512"),
            "{reason}"
        );
        assert_eq!(store.execution(id).await.unwrap(), None);
    }
}

/// A structure is found by its hash, and stays as it was put first.
pub async fn keeps_the_first_structure(store: Stored) {
    assert_eq!(store.structure("5f2c").await.unwrap(), None);
    store.put_structure("5f2c", "{\"nodes\":[]}").await.unwrap();
    store.put_structure("5f2c", "{}").await.unwrap();
    store.put_structure("aa01", "{\"edges\":[]}").await.unwrap();
    let found = store.structure("5f2c").await.unwrap();
    assert_eq!(found.as_deref(), Some("{\"nodes\":[]}"));
    let found = store.structure("aa01").await.unwrap();
    assert_eq!(found.as_deref(), Some("{\"edges\":[]}"));
}

/// Looking up an execution that was not created finds nothing, and is not an error.
pub async fn finds_nothing_that_was_not_created(store: Stored) {
    let id = new_id();
    assert_eq!(store.execution(id).await.unwrap(), None);
    assert!(store.records(id, 0, 10).await.unwrap().is_empty());
    assert!(store.pauses(id).await.unwrap().is_empty());
    assert_eq!(store.pause(new_token()).await.unwrap(), None);
    assert!(!store.delete(id).await.unwrap());
    assert_eq!(store.last_offset().await.unwrap(), 0);
    let claim = store.claim(id, uuid::Uuid::new_v4(), NOW, NOW + 1).await;
    assert_eq!(claim.unwrap(), None);
}
