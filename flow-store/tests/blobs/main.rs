//! What is in a store and what is beside it, when values are kept as blobs.

mod damage;
mod places;
mod signals;

use std::sync::Arc;

use flow_store::suite::fixtures::{
    LEASE, NOW, append, claimed, list, log, new_id, question, record, records, row, stored,
};
use flow_store::{
    Append, BlobStore, Blobs, Created, EndIf, ExecutionId, ListQuery, MemoryBlobs, MemoryStore,
    PauseState, Record, RecordKind, Row, Settlement, Status, Store, StoreError, is_blob_marker,
};
use uuid::Uuid;

/// What is large here.
const ABOVE: usize = 200;

/// A store with its blobs, and both by themselves.
struct Kept {
    store: Arc<dyn Store>,
    inner: Arc<MemoryStore>,
    blobs: Arc<MemoryBlobs>,
}

impl Kept {
    fn new() -> Kept {
        let (inner, blobs) = (Arc::new(MemoryStore::new()), Arc::new(MemoryBlobs::new()));
        let store = BlobStore::new(inner.clone(), blobs.clone()).above(ABOVE);
        Kept {
            store: Arc::new(store),
            inner,
            blobs,
        }
    }

    /// The names of the blobs of an execution, without its own.
    async fn names(&self, id: ExecutionId) -> Vec<String> {
        let names = self.blobs.names(&id.to_string()).await.unwrap();
        let inside = |name: String| name.split_once('/').unwrap().1.to_owned();
        names.into_iter().map(inside).collect()
    }

    async fn inside(&self, id: ExecutionId) -> Vec<Record> {
        self.inner.records(id, 0, 99).await.unwrap()
    }
}

fn large(letter: char) -> String {
    format!("\"{}\"", letter.to_string().repeat(ABOVE))
}

fn with_payload(seq: u64, payload: impl Into<String>) -> Record {
    Record {
        payload: payload.into(),
        ..record(seq, RecordKind::Outcome)
    }
}

#[tokio::test]
async fn only_what_is_large_is_beside_the_store() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let given = vec![
        with_payload(1, large('a')),
        with_payload(2, "x".repeat(ABOVE)),
        with_payload(3, "x".repeat(ABOVE + 1)),
        with_payload(4, ""),
    ];
    let write = append(given.clone());
    kept.store.append(id, fence, write).await.unwrap();
    assert_eq!(kept.store.records(id, 1, 9).await.unwrap(), given);
    let inside = kept.inside(id).await;
    let are_markers: Vec<bool> = inside
        .iter()
        .map(|it| is_blob_marker(&it.payload))
        .collect();
    assert_eq!(are_markers, [false, true, false, true, false]);
    assert!(inside.iter().all(|it| it.payload.len() <= ABOVE));
    let names = kept.names(id).await;
    assert_eq!(names.len(), 2);
    assert!(names[0].starts_with("00000000000000000001-"), "{names:?}");
    assert!(names[1].starts_with("00000000000000000003-"), "{names:?}");
}

#[tokio::test]
async fn the_output_is_there_once_as_record_and_as_result() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let end = Append {
        status: Some(Status::Completed),
        result: Some(large('a')),
        ..append(vec![with_payload(1, large('a'))])
    };
    kept.store.append(id, fence, end).await.unwrap();
    assert_eq!(stored(&kept.store, id).await.result, Some(large('a')));
    assert_eq!(kept.names(id).await.len(), 1);
    assert_eq!(
        list(&kept.store, &ListQuery::default()).await[0].result,
        Some(large('a'))
    );
    let (inside, listed) = (kept.inner.execution(id).await, kept.inside(id).await);
    assert_eq!(inside.unwrap().unwrap().result.unwrap(), listed[1].payload);
}

/// The result of an execution that goes on outlives the record with the same text.
#[tokio::test]
async fn a_result_of_what_goes_on_is_not_pruned_with_a_record() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let write = Append {
        result: Some(large('a')),
        ..append(vec![with_payload(1, large('a'))])
    };
    kept.store.append(id, fence, write).await.unwrap();
    let snapshot = Append {
        prune_before: Some(2),
        ..append(vec![record(2, RecordKind::Snapshot)])
    };
    kept.store.append(id, fence, snapshot).await.unwrap();
    assert_eq!(stored(&kept.store, id).await.result, Some(large('a')));
    assert_eq!(kept.names(id).await.len(), 1);
}

/// The result does not share the blob of a record that goes in the same write.
#[tokio::test]
async fn a_result_is_not_pruned_in_the_write_that_stores_it() {
    for last in [large('a'), "2".to_owned()] {
        let kept = Kept::new();
        let (id, fence) = claimed(&kept.store).await;
        let end = Append {
            status: Some(Status::Completed),
            result: Some(large('a')),
            prune_before: Some(2),
            ..append(vec![
                with_payload(1, large('a')),
                record(2, RecordKind::Snapshot),
                with_payload(3, last),
            ])
        };
        kept.store.append(id, fence, end).await.unwrap();
        assert_eq!(stored(&kept.store, id).await.result, Some(large('a')));
        assert_eq!(kept.names(id).await.len(), 1);
    }
}

/// Nobody can make the store fetch what was never put, or show one value in the place of another.
#[tokio::test]
async fn what_looks_like_a_marker_is_kept_as_a_blob() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let write = append(vec![with_payload(1, large('a'))]);
    kept.store.append(id, fence, write).await.unwrap();
    let marker = kept.inside(id).await[1].payload.clone();
    assert!(is_blob_marker(&marker));
    let asked = question(id);
    let look_alikes = [
        marker.clone(),
        "flow-blob:".to_owned(),
        "flow-blob::..:1".to_owned(),
    ];
    let given = look_alikes
        .iter()
        .zip(2..)
        .map(|(text, seq)| with_payload(seq, text));
    let write = Append {
        opened: vec![asked.clone()],
        ..append(given.clone().collect())
    };
    kept.store.append(id, fence, write).await.unwrap();
    let read = kept.store.records(id, 2, 9).await.unwrap();
    assert_eq!(read, given.collect::<Vec<_>>());

    let answer = Settlement::Answer(marker.clone());
    kept.store.settle(asked.token, answer, NOW).await.unwrap();
    let answered = kept.store.pause(asked.token).await.unwrap().unwrap();
    assert_eq!(answered.state, PauseState::Answered(marker.clone()));

    let last = with_payload(0, marker.clone());
    let ended = kept
        .store
        .end(id, Status::Cancelled, &marker, last, EndIf::NotOver);
    assert_eq!(ended.await.unwrap().result, Some(marker.clone()));
    let read = kept.store.records(id, 5, 9).await.unwrap();
    assert_eq!(read[0].payload, marker);
}

#[tokio::test]
async fn answers_are_kept_by_what_they_say_and_not_by_their_tokens() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let asked = question(id);
    let write = Append {
        opened: vec![asked.clone()],
        ..append(Vec::new())
    };
    kept.store.append(id, fence, write).await.unwrap();
    let settle = |answer: String| {
        kept.store
            .settle(asked.token, Settlement::Answer(answer), NOW)
    };
    assert_eq!(settle(large('a')).await.unwrap(), asked);
    // Who comes later learns what was answered, and leaves nothing behind.
    let state = PauseState::Answered(large('a'));
    for late in [large('b'), "1".to_owned(), large('a')] {
        assert_eq!(settle(late).await.unwrap().state, state);
    }
    assert_eq!(kept.store.pauses(id).await.unwrap()[0].state, state);
    let names = kept.names(id).await;
    assert_eq!(names.len(), 1);
    assert!(names[0].starts_with("value-"), "{names:?}");
    let token = asked.token.to_string();
    assert!(!names[0].contains(&token));
    let unknown = kept
        .store
        .settle(Uuid::new_v4().into(), Settlement::Answer(large('a')), NOW);
    assert!(matches!(unknown.await, Err(StoreError::UnknownToken(_))));
}

#[tokio::test]
async fn a_late_writer_overwrites_nothing() {
    let kept = Kept::new();
    let (id, late) = claimed(&kept.store).await;
    let (now, until) = (NOW + LEASE, NOW + 2 * LEASE);
    let row = kept.store.claim(id, Uuid::new_v4(), now, until).await;
    let fence = row.unwrap().expect("the first one has run out").fence;
    let write = |letter| append(vec![with_payload(1, large(letter))]);
    kept.store.append(id, fence, write('b')).await.unwrap();
    // With another value, and with the same.
    for letter in ['a', 'b'] {
        let refused = kept.store.append(id, late, write(letter)).await;
        assert!(
            matches!(refused, Err(StoreError::LeaseLost(_))),
            "{refused:?}"
        );
        let read = kept.store.records(id, 1, 9).await.unwrap();
        assert_eq!(read, [with_payload(1, large('b'))]);
    }
    assert!(kept.store.delete(id).await.unwrap());
    assert!(kept.names(id).await.is_empty(), "what it left goes as well");
}

#[tokio::test]
async fn what_is_pruned_goes_and_the_rest_stays() {
    let kept = Kept::new();
    let (id, fence) = claimed(&kept.store).await;
    let write = append((1..12).map(|seq| with_payload(seq, large('a'))).collect());
    kept.store.append(id, fence, write).await.unwrap();
    let snapshot = Record {
        kind: RecordKind::Snapshot,
        ..with_payload(12, large('s'))
    };
    let asked = question(id);
    let prune = Append {
        opened: vec![asked.clone()],
        prune_before: Some(12),
        ..append(vec![snapshot.clone(), with_payload(13, large('b'))])
    };
    kept.store.append(id, fence, prune).await.unwrap();
    let names = kept.names(id).await;
    assert_eq!(names.len(), 2, "{names:?}");
    let read = kept.store.records(id, 0, 99).await.unwrap();
    assert_eq!(read, [snapshot, with_payload(13, large('b'))]);
    // A prune that is refused removes nothing.
    let refused = Append {
        prune_before: Some(13),
        ..append(Vec::new())
    };
    kept.store.append(id, fence, refused).await.unwrap_err();
    assert_eq!(kept.names(id).await, names);
}

#[tokio::test]
async fn each_execution_has_its_own() {
    let kept = Kept::new();
    let ids = [new_id(), new_id()];
    for id in ids {
        let records = vec![with_payload(0, large('a'))];
        let created = kept.store.create(row(id), records, Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New);
    }
    assert!(kept.store.delete(ids[0]).await.unwrap());
    assert!(kept.names(ids[0]).await.is_empty());
    let read = kept.store.records(ids[1], 0, 9).await.unwrap();
    assert_eq!(read, [with_payload(0, large('a'))]);
}

/// A start that is repeated with its key leaves nothing behind.
#[tokio::test]
async fn what_is_not_created_again_has_no_blobs() {
    let kept = Kept::new();
    let with_key = |id| Row {
        idempotency_key: Some("key".to_owned()),
        ..row(id)
    };
    let (id, other) = (new_id(), new_id());
    for (given, expected) in [
        (id, Created::New),
        (other, Created::Existing(id)),
        (id, Created::Existing(id)),
    ] {
        let records = vec![with_payload(0, large('a'))];
        let created = kept
            .store
            .create(with_key(given), records, Vec::new(), None);
        assert_eq!(created.await.unwrap(), expected);
    }
    assert!(kept.names(other).await.is_empty());
    let read = kept.store.records(id, 0, 9).await.unwrap();
    assert_eq!(read, [with_payload(0, large('a'))]);
}

#[tokio::test]
async fn orphans_are_of_old_executions_that_are_gone() {
    let (inner, blobs) = (Arc::new(MemoryStore::new()), Arc::new(MemoryBlobs::new()));
    let store = BlobStore::new(inner.clone(), blobs.clone()).above(0);
    let (there, fence) = claimed(&store).await;
    store
        .append(there, fence, append(records(1..3)))
        .await
        .unwrap();
    let gone = claimed(&store).await.0;
    assert!(inner.delete(gone).await.unwrap());
    let now = new_id().as_uuid().get_timestamp().unwrap().to_unix().0 * 1000;
    let foreign = ["letters/a", "00000000000000000000000000000000/a"];
    for name in foreign {
        blobs.put(name, Vec::new()).await.unwrap();
    }
    // The row of a new one may just be on its way.
    assert_eq!(store.delete_orphans(now - 1000).await.unwrap(), 0);
    assert_eq!(blobs.names(&gone.to_string()).await.unwrap().len(), 1);
    assert_eq!(store.delete_orphans(now + 2000).await.unwrap(), 1);
    assert!(blobs.names(&gone.to_string()).await.unwrap().is_empty());
    assert_eq!(store.delete_orphans(now + 2000).await.unwrap(), 0);
    assert_eq!(store.records(there, 0, 9).await.unwrap().len(), 3);
    for name in foreign {
        assert!(blobs.get(name).await.unwrap().is_some(), "{name}");
    }
}

/// Rows that were written without blobs are read with them, and whatever the size is now.
#[tokio::test]
async fn a_store_can_get_blobs_later_and_another_size() {
    let inner = Arc::new(MemoryStore::new());
    let blobs = Arc::new(MemoryBlobs::new());
    let (id, fence) = claimed(&inner).await;
    let write = append(vec![with_payload(1, large('a'))]);
    inner.append(id, fence, write).await.unwrap();
    for (seq, above) in [(2, 0), (3, ABOVE), (4, 1 << 20)] {
        let store = BlobStore::new(inner.clone(), blobs.clone()).above(above);
        let write = append(vec![with_payload(seq, large('a'))]);
        store.append(id, fence, write).await.unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let logged = log(&store, 0, 99).await;
        let payloads = logged[1..].iter().map(|it| it.record.payload.clone());
        assert!(payloads.eq((1..=seq).map(|_| large('a'))));
    }
    assert_eq!(blobs.names(&id.to_string()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_claim_and_a_queue_return_whole_rows() {
    let kept = Kept::new();
    let queued = Row {
        status: Status::Queued,
        result: Some(large('r')),
        ..row(new_id())
    };
    let id = queued.id;
    let created = kept.store.create(queued, records(0..1), Vec::new(), None);
    created.await.unwrap();
    let take = flow_store::Take {
        flows: [("orders".to_owned(), 1)].into(),
        limit: 1,
        holder: Uuid::new_v4(),
        now_ms: NOW,
        until_ms: NOW + 1,
    };
    let taken = kept.store.take_queued(&take).await.unwrap();
    assert_eq!(taken[0].as_ref().unwrap().result, Some(large('r')));
    let row = kept.store.claim(id, Uuid::new_v4(), NOW + 1, NOW + 2).await;
    assert_eq!(row.unwrap().unwrap().result, Some(large('r')));
}
