use uuid::Uuid;

use super::fixtures::*;
use crate::{
    Append, Created, EndIf, ExecutionId, NewSignal, Record, RecordKind, Row, Sent, SignalRow,
    Status, StoreError,
};

pub(super) async fn numbers(store: &Stored, id: ExecutionId) -> Vec<u64> {
    let signals = store.signals(id).await.unwrap();
    signals.into_iter().map(|signal| signal.number).collect()
}

pub(super) async fn is_due(store: &Stored, now_ms: u64) -> bool {
    !first_due(store, now_ms, usize::MAX).await.is_empty()
}

pub(super) fn taking(taken: impl Into<Vec<u64>>) -> Append {
    Append {
        taken: taken.into(),
        ..append(Vec::new())
    }
}

/// A pause at `NOW + 1` that waits for signals with these names.
pub(super) fn waiting(names: &[&str]) -> Append {
    Append {
        status: Some(Status::Paused),
        awaited: names.iter().map(|name| (*name).to_owned()).collect(),
        release: true,
        ..append(Vec::new())
    }
}

/// Creates an execution that waits for signals with these names, without a claim.
pub(super) async fn waits(store: &Stored, names: &[&str]) -> ExecutionId {
    let (id, fence) = claimed(store).await;
    store.append(id, fence, waiting(names)).await.unwrap();
    id
}

pub(super) fn cancelled() -> Record {
    Record {
        at_ms: NOW + 400,
        ..record(0, RecordKind::RunCancelled)
    }
}

/// Each execution has its own numbers, from 1.
pub async fn come_in_the_order_accepted(store: Stored) {
    let (id, other) = (started(&store).await, started(&store).await);
    let names = ["paid", "called", "paid", "", "Käse \u{1F9C0}"];
    for (number, name) in (1..).zip(names) {
        let sent = store.signal(id, signal(name)).await.unwrap();
        assert_eq!(sent, Sent::New(number));
    }
    let sent = store.signal(other, signal("paid")).await.unwrap();
    assert_eq!(sent, Sent::New(1));
    let stored = store.signals(id).await.unwrap();
    let stored: Vec<_> = stored.iter().map(|it| (it.number, &*it.name)).collect();
    assert_eq!(stored, (1..).zip(names).collect::<Vec<_>>());
    assert_eq!(numbers(&store, other).await, [1]);
}

/// Every part of a signal is read back. The execution has the time of the last one, and is
/// otherwise as before.
pub async fn keep_every_part(store: Stored) {
    let (id, _) = claimed(&store).await;
    let before = stored(&store, id).await;
    let texts = [
        "null".to_owned(),
        "{\"a\":\"\\u0000 'b' \u{e4} \u{1F9C0}\"}".to_owned(),
        format!("\"{}\"", "a".repeat(1 << 20)),
    ];
    let mut expected = Vec::new();
    for (number, payload) in (1..).zip(texts) {
        let key = (number == 2).then(|| "a 'key'".to_owned());
        let now_ms = NOW + 10 * number;
        let given = NewSignal {
            payload: payload.clone(),
            key: key.clone(),
            now_ms,
            ..signal("paid")
        };
        store.signal(id, given).await.unwrap();
        let now = Row {
            updated_ms: now_ms,
            ..before.clone()
        };
        assert_eq!(stored(&store, id).await, now);
        expected.push(SignalRow {
            number,
            name: "paid".to_owned(),
            payload,
            key,
            sent_ms: now_ms,
        });
    }
    assert!(store.signals(id).await.unwrap() == expected);
}

/// Executions that are queued, running, paused or halted accept them, claimed or not. One that is
/// over does not.
pub async fn are_accepted_until_it_is_over(store: Stored) {
    for status in Status::STORED {
        let given = Row {
            status,
            halted: (status == Status::Paused).then(|| "broken".to_owned()),
            ..row(new_id())
        };
        let id = given.id;
        let created = store.create(given, records(0..1), Vec::new(), None);
        created.await.unwrap();
        let before = everything(&store, id).await;
        let sent = store.signal(id, signal("paid")).await.unwrap();
        if status.is_over() {
            assert_eq!(sent, Sent::Over(status));
            assert_eq!(everything(&store, id).await, before, "{status}");
            continue;
        }
        assert_eq!(sent, Sent::New(1), "{status}");
        let claimed = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
        assert!(claimed.unwrap().is_some());
        let sent = store.signal(id, signal("paid")).await.unwrap();
        assert_eq!(sent, Sent::New(2), "{status}");
        assert_eq!(numbers(&store, id).await, [1, 2], "{status}");
    }
}

/// A second one with the same key is not stored. Its sender gets the number and digest of the
/// first.
pub async fn are_accepted_once_with_a_key(store: Stored) {
    let (id, other) = (started(&store).await, started(&store).await);
    store.signal(id, signal("called")).await.unwrap();
    let first = store.signal(id, keyed("paid", "k")).await.unwrap();
    assert_eq!(first, Sent::New(2));
    let before = everything(&store, id).await;
    let existing = Sent::Existing {
        number: 2,
        digest: signal("paid").digest,
    };
    for name in ["paid", "called"] {
        let again = NewSignal {
            payload: "\"another\"".to_owned(),
            now_ms: NOW + 50,
            ..keyed(name, "k")
        };
        assert_eq!(store.signal(id, again).await.unwrap(), existing);
        assert_eq!(everything(&store, id).await, before);
    }
    // Keys are of one execution, an empty one is a key, and none is a number.
    let sent = store.signal(other, keyed("paid", "k")).await.unwrap();
    assert_eq!(sent, Sent::New(1));
    for (number, key) in [(3, ""), (4, "K"), (5, "2")] {
        let sent = store.signal(id, keyed("paid", key)).await.unwrap();
        assert_eq!(sent, Sent::New(number), "{key}");
    }
    let again = store.signal(id, keyed("paid", "")).await.unwrap();
    assert!(matches!(again, Sent::Existing { number: 3, .. }));
}

/// A key is known for as long as its execution is there, even if that is over.
pub async fn are_known_by_their_key_once_taken(store: Stored) {
    let (id, fence) = claimed(&store).await;
    for name in ["paid", "called"] {
        store.signal(id, keyed(name, name)).await.unwrap();
    }
    let both_are_known = async || {
        let before = everything(&store, id).await;
        for (number, name) in [(1, "paid"), (2, "called")] {
            let existing = Sent::Existing {
                number,
                digest: signal(name).digest,
            };
            assert_eq!(store.signal(id, keyed(name, name)).await.unwrap(), existing);
        }
        assert_eq!(everything(&store, id).await, before);
    };
    store.append(id, fence, taking([1])).await.unwrap();
    both_are_known().await;
    let ended = store.end(id, Status::Cancelled, "", cancelled(), EndIf::NotOver);
    ended.await.unwrap();
    both_are_known().await;
    let sent = store.signal(id, keyed("paid", "new")).await.unwrap();
    assert_eq!(sent, Sent::Over(Status::Cancelled));
}

/// What is taken is gone, in the same write as the records, and its number is not used again.
pub async fn are_taken_with_the_records(store: Stored) {
    let (id, fence) = claimed(&store).await;
    for _ in 0..3 {
        store.signal(id, signal("paid")).await.unwrap();
    }
    store.signal(id, keyed("paid", "k")).await.unwrap();
    let write = Append {
        taken: vec![4, 2],
        ..append(records(1..2))
    };
    store.append(id, fence, write).await.unwrap();
    assert_eq!(numbers(&store, id).await, [1, 3]);
    assert_eq!(stored(&store, id).await.next_seq, 2);
    let sent = store.signal(id, signal("paid")).await.unwrap();
    assert_eq!(sent, Sent::New(5));
    store.append(id, fence, taking([1, 3, 5])).await.unwrap();
    assert!(numbers(&store, id).await.is_empty());
    let sent = store.signal(id, signal("paid")).await.unwrap();
    assert_eq!(sent, Sent::New(6));
}

/// A write that takes what is not there writes nothing.
pub async fn are_taken_once(store: Stored) {
    let (id, fence) = claimed(&store).await;
    for _ in 0..3 {
        store.signal(id, signal("paid")).await.unwrap();
    }
    store.signal(id, keyed("paid", "k")).await.unwrap();
    let other = started(&store).await;
    for _ in 0..9 {
        store.signal(other, signal("paid")).await.unwrap();
    }
    store.append(id, fence, taking([2, 4])).await.unwrap();
    let before = everything(&store, id).await;
    for taken in [
        vec![2],
        vec![4],
        vec![1, 4],
        vec![1, 1],
        vec![5],
        vec![0],
        vec![3, u64::MAX],
    ] {
        let write = Append {
            taken: taken.clone(),
            status: Some(Status::Completed),
            ..append(records(1..2))
        };
        let refused = store.append(id, fence, write).await.unwrap_err();
        assert!(matches!(refused, StoreError::Other(_)), "{refused:?}");
        let told = told(&refused);
        assert!(told.contains("cannot be taken"), "{taken:?}: {told}");
        assert_eq!(everything(&store, id).await, before, "{taken:?}");
    }
    assert_eq!(numbers(&store, other).await.len(), 9);
}

/// A process that has lost the execution takes nothing.
pub async fn are_not_taken_with_an_old_fence(store: Stored) {
    let (id, fence) = claimed(&store).await;
    store.signal(id, signal("paid")).await.unwrap();
    let later = NOW + LEASE;
    let claim = store.claim(id, Uuid::new_v4(), later, later + 1).await;
    assert!(claim.unwrap().is_some());
    for taken in [1, 2] {
        let late = store.append(id, fence, taking([taken])).await;
        assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    }
    assert_eq!(numbers(&store, id).await, [1]);
}

/// If 20 tasks send at once, each signal has a number of its own.
pub async fn get_numbers_of_their_own(store: Stored) {
    let id = waits(&store, &["paid"]).await;
    let mut sent = at_once(20, |task| {
        let store = store.clone();
        let given = NewSignal {
            payload: task.to_string(),
            ..signal("paid")
        };
        async move {
            match store.signal(id, given).await.unwrap() {
                Sent::New(number) => (number, task.to_string()),
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    sent.sort();
    let stored = store.signals(id).await.unwrap();
    let stored = stored.into_iter().map(|it| (it.number, it.payload));
    assert_eq!(sent, stored.collect::<Vec<_>>());
    let numbers: Vec<u64> = sent.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
    assert_eq!(first_due(&store, NOW + LEASE, 9).await, [id]);
}

/// If 20 tasks send with the same key at once, one signal is stored.
pub async fn are_sent_by_one_of_many_with_the_same_key(store: Stored) {
    let id = started(&store).await;
    let sent = at_once(20, |_| {
        let store = store.clone();
        async move { store.signal(id, keyed("paid", "k")).await.unwrap() }
    })
    .await;
    let existing = Sent::Existing {
        number: 1,
        digest: signal("paid").digest,
    };
    let new = sent.iter().filter(|it| **it == Sent::New(1)).count();
    let known = sent.iter().filter(|it| **it == existing).count();
    assert_eq!((new, known), (1, 19));
    assert_eq!(numbers(&store, id).await, [1]);
}

/// Nothing is left of those of a deleted execution, and other executions have theirs.
pub async fn go_with_their_execution(store: Stored) {
    let (gone, stays) = (waits(&store, &["paid"]).await, started(&store).await);
    for id in [gone, stays] {
        store.signal(id, keyed("paid", "k")).await.unwrap();
        store.signal(id, keyed("called", "c")).await.unwrap();
    }
    let fence = claim(&store, gone).await;
    store.append(gone, fence, taking([1])).await.unwrap();
    let before = everything(&store, stays).await;
    assert!(store.delete(gone).await.unwrap());
    assert_eq!(everything(&store, stays).await, before);
    assert!(numbers(&store, gone).await.is_empty());
    let sent = store.signal(gone, signal("paid")).await;
    assert!(matches!(sent, Err(StoreError::NotFound(of)) if of == gone));

    let again = Row {
        status: Status::Paused,
        copied_from: Some(stays),
        ..row(gone)
    };
    let created = store.create(again, records(0..1), Vec::new(), None).await;
    assert_eq!(created.unwrap(), Created::New);
    assert!(numbers(&store, gone).await.is_empty(), "a copy has none");
    let sent = store.signal(gone, keyed("paid", "k")).await.unwrap();
    assert_eq!(sent, Sent::New(1));
    assert!(!first_due(&store, NOW + HOUR, 9).await.contains(&gone));
}

/// People see what was not taken.
pub async fn stay_when_it_is_over(store: Stored) {
    let ended = async |by_the_run: bool| {
        let id = waits(&store, &["paid"]).await;
        for name in ["paid", "called"] {
            store.signal(id, signal(name)).await.unwrap();
        }
        if by_the_run {
            let fence = claim(&store, id).await;
            let over = Append {
                status: Some(Status::Completed),
                awaited: vec!["paid".to_owned()],
                ..taking([1])
            };
            store.append(id, fence, over).await.unwrap();
        } else {
            let ended = store.end(id, Status::Failed, "", cancelled(), EndIf::NotOver);
            assert_eq!(ended.await.unwrap().wake_ms, None);
        }
        id
    };
    let (completed, failed) = (ended(true).await, ended(false).await);
    assert_eq!(numbers(&store, completed).await, [2]);
    assert_eq!(numbers(&store, failed).await, [1, 2]);
    assert_eq!(stored(&store, completed).await.wake_ms, None);
    assert!(!is_due(&store, NOW + HOUR).await);
}

/// An execution that does not exist is not found, and has none.
pub async fn are_refused_for_an_unknown_execution(store: Stored) {
    let id = new_id();
    for given in [signal("paid"), keyed("paid", "k")] {
        let sent = store.signal(id, given).await;
        assert!(
            matches!(sent, Err(StoreError::NotFound(of)) if of == id),
            "{sent:?}"
        );
    }
    assert!(numbers(&store, id).await.is_empty());
}

/// Names and keys have at most 512 bytes.
pub async fn are_refused_with_names_that_are_too_long(store: Stored) {
    let id = started(&store).await;
    let longest = "ä".repeat(256);
    let too_long = format!("{longest}a");
    let before = everything(&store, id).await;
    for (given, what) in [
        (signal(&too_long), "the name of the signal has 513 bytes"),
        (
            keyed("paid", &too_long),
            "the key of the signal has 513 bytes",
        ),
    ] {
        let refused = store.signal(id, given).await.unwrap_err();
        assert!(matches!(refused, StoreError::Other(_)), "{refused:?}");
        let told = told(&refused);
        assert!(told.contains(what), "{told}");
        assert_eq!(everything(&store, id).await, before);
    }
    let sent = store.signal(id, keyed(&longest, &longest)).await.unwrap();
    assert_eq!(sent, Sent::New(1));
}
