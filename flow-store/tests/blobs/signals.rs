//! Signals with large bodies.

use flow_store::suite::fixtures::{
    LEASE, NOW, append, claimed, keyed, new_id, record, signal, started, told,
};
use flow_store::{
    Append, Blobs as _, EndIf, NewSignal, RecordKind, Sent, SignalRow, Status, Store as _,
    StoreError, is_blob_marker,
};

use crate::{ABOVE, Kept, large};

fn with_body(payload: impl Into<String>) -> NewSignal {
    NewSignal {
        payload: payload.into(),
        ..signal("paid")
    }
}

fn bodies(signals: Vec<SignalRow>) -> Vec<String> {
    signals.into_iter().map(|signal| signal.payload).collect()
}

#[tokio::test]
async fn large_bodies_are_beside_the_store_until_the_execution_is_deleted() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let given = [large('a'), "1".to_owned(), large('b'), "x".repeat(ABOVE)];
    for body in &given {
        let sent = kept.store.signal(id, with_body(body)).await;
        assert!(matches!(sent.unwrap(), Sent::New(_)));
    }
    assert_eq!(bodies(kept.store.signals(id).await.unwrap()), given);
    let inside = bodies(kept.inner.signals(id).await.unwrap());
    let are_markers: Vec<bool> = inside.iter().map(|it| is_blob_marker(it)).collect();
    assert_eq!(are_markers, [true, false, true, false]);
    let names = kept.names(id).await;
    assert_eq!(names.len(), 2);
    assert!(names.iter().all(|name| name.starts_with("value-")));

    // They are kept by what they say, which other values may say too.
    let take = Append {
        taken: vec![1],
        ..append(Vec::new())
    };
    kept.store.append(id, fence, take).await.unwrap();
    let left = bodies(kept.store.signals(id).await.unwrap());
    assert_eq!(left, given[1..]);
    assert!(kept.store.delete(id).await.unwrap());
    assert!(kept.names(id).await.is_empty());
}

/// Nobody can make the store fetch what was never put.
#[tokio::test]
async fn a_body_that_looks_like_a_marker_is_kept_as_a_blob() {
    let kept = Kept::new();
    let id = started(&kept.store).await;
    kept.store.signal(id, with_body(large('a'))).await.unwrap();
    let marker = kept.inner.signals(id).await.unwrap()[0].payload.clone();
    for body in [&*marker, "flow-blob:"] {
        kept.store.signal(id, with_body(body)).await.unwrap();
    }
    let read = bodies(kept.store.signals(id).await.unwrap());
    assert_eq!(read, [large('a'), marker, "flow-blob:".to_owned()]);
}

#[tokio::test]
async fn a_repetition_learns_of_the_first_one() {
    let kept = Kept::new();
    let id = started(&kept.store).await;
    let given = NewSignal {
        payload: large('a'),
        ..keyed("paid", "k")
    };
    let first = kept.store.signal(id, given.clone()).await.unwrap();
    assert_eq!(first, Sent::New(1));
    let existing = Sent::Existing {
        number: 1,
        digest: given.digest.clone(),
    };
    assert_eq!(
        kept.store.signal(id, given.clone()).await.unwrap(),
        existing
    );
    assert_eq!(kept.names(id).await.len(), 1);
    let last = record(0, RecordKind::RunCancelled);
    let ended = kept.store.end(id, Status::Failed, "", last, EndIf::NotOver);
    ended.await.unwrap();
    assert_eq!(kept.store.signal(id, given).await.unwrap(), existing);
}

/// What is refused leaves nothing behind.
#[tokio::test]
async fn a_body_that_nobody_takes_is_not_put() {
    let kept = Kept::new();
    let id = started(&kept.store).await;
    let last = record(0, RecordKind::RunCancelled);
    let ended = kept.store.end(id, Status::Failed, "", last, EndIf::NotOver);
    ended.await.unwrap();
    let sent = kept.store.signal(id, with_body(large('a'))).await.unwrap();
    assert_eq!(sent, Sent::Over(Status::Failed));
    let nobody = new_id();
    let sent = kept.store.signal(nobody, with_body(large('a'))).await;
    assert!(matches!(sent, Err(StoreError::NotFound(_))), "{sent:?}");
    let long = NewSignal {
        name: "n".repeat(513),
        ..with_body(large('a'))
    };
    let other = started(&kept.store).await;
    kept.store.signal(other, long).await.unwrap_err();
    for id in [id, nobody, other] {
        assert!(kept.names(id).await.is_empty());
    }
}

#[tokio::test]
async fn a_body_that_is_missing_or_changed_is_damage() {
    let kept = Kept::new();
    let id = started(&kept.store).await;
    let given = NewSignal {
        now_ms: NOW + LEASE,
        ..with_body(large('a'))
    };
    kept.store.signal(id, given).await.unwrap();
    let name = format!("{id}/{}", kept.names(id).await[0]);
    let changed = large('b').into_bytes();
    kept.blobs.put(&name, changed).await.unwrap();
    let error = told(&kept.store.signals(id).await.unwrap_err());
    assert!(
        error.contains("signal 1") && error.contains("has changed"),
        "{error}"
    );
    kept.blobs.delete(&name).await.unwrap();
    let error = told(&kept.store.signals(id).await.unwrap_err());
    assert!(error.contains("is missing"), "{error}");
}
