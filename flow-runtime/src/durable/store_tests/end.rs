use super::fixtures::*;
use crate::durable::record::{Record, RecordKind};
use crate::durable::store::{PauseState, Row, Status, StoreError};

fn cancelled() -> Record {
    Record {
        seq: 99,
        at_ms: NOW + 400,
        ..record(0, RecordKind::RunCancelled)
    }
}

/// The claim is void, and the row and the journal say that it has ended.
pub(super) async fn ends_whoever_has_a_claim(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let before = stored(&store, id).await;
    let ended = store.end(id, Status::Cancelled, "not needed", cancelled());
    let expected = Row {
        status: Status::Cancelled,
        result: Some("not needed".to_owned()),
        updated_ms: NOW + 400,
        next_seq: 2,
        fence: fence + 1,
        ..before
    };
    assert_eq!(ended.await.unwrap(), expected);
    assert_eq!(stored(&store, id).await, expected);
    let record = Record {
        seq: 1,
        ..cancelled()
    };
    let written = store.records(id, 1, 10).await.unwrap();
    assert_eq!(written, std::slice::from_ref(&record));
    assert_eq!(log(&store, 1, 10).await[0].record, record);
    for stale in [fence, fence + 1] {
        let write = store.append(id, stale, append(records(2..3))).await;
        assert!(matches!(write, Err(StoreError::LeaseLost(_))), "{write:?}");
    }
}

/// An execution that nobody has claimed ends just so.
pub(super) async fn ends_without_a_claim(store: Stored) {
    let id = started(&store).await;
    let ended = store.end(id, Status::Failed, "broken", cancelled()).await;
    let row = ended.unwrap();
    assert_eq!((row.status, row.fence), (Status::Failed, 1));
    let at = NOW + LEASE;
    let claim = store.claim(id, uuid::Uuid::new_v4(), at, at + 1).await;
    assert_eq!(claim.unwrap(), None);
}

/// Questions are closed, also such as have an answer.
pub(super) async fn closes_all_questions(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5), question(id)]).await;
    let asked = store.pauses(id).await.unwrap();
    let answer = crate::durable::store::Settlement::Answer("true".to_owned());
    store.settle(asked[1].token, answer, NOW).await.unwrap();
    let ended = store.end(id, Status::Cancelled, "", cancelled()).await;
    assert_eq!(ended.unwrap().wake_ms, None);
    assert!(store.pauses(id).await.unwrap().is_empty());
    for pause in asked {
        assert_eq!(state(&store, pause.token).await, PauseState::Closed);
    }
}

/// What is over stays as it is, and is returned.
pub(super) async fn writes_nothing_if_over(store: Stored) {
    let id = started(&store).await;
    let first = store.end(id, Status::Cancelled, "first", cancelled()).await;
    let before = everything(&store, id).await;
    let second = store.end(id, Status::Failed, "second", cancelled()).await;
    assert_eq!(second.unwrap(), first.unwrap());
    assert_eq!(everything(&store, id).await, before);
}

/// An execution that does not exist is not found.
pub(super) async fn is_refused_for_an_unknown_execution(store: Stored) {
    let id = new_id();
    let ended = store.end(id, Status::Cancelled, "", cancelled()).await;
    assert!(
        matches!(ended, Err(StoreError::NotFound(of)) if of == id),
        "{ended:?}"
    );
}

/// An execution does not end as one that goes on.
pub(super) async fn is_refused_for_a_status_that_goes_on(store: Stored) {
    let id = started(&store).await;
    let before = everything(&store, id).await;
    for status in [Status::Running, Status::Paused] {
        let ended = store.end(id, status, "", cancelled()).await;
        assert!(matches!(ended, Err(StoreError::Other(_))), "{ended:?}");
        assert_eq!(everything(&store, id).await, before);
    }
}

/// Of 20 that end an execution at once, one does, and all learn as what it ended.
pub(super) async fn succeeds_for_one_of_many(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let rows = at_once(20, |task| {
        let store = store.clone();
        let reason = format!("reason {task}");
        async move {
            let ended = store.end(id, Status::Cancelled, &reason, cancelled());
            ended.await.unwrap()
        }
    })
    .await;
    let row = stored(&store, id).await;
    assert_eq!((row.fence, row.next_seq), (fence + 1, 2));
    assert!(rows.iter().all(|it| *it == row));
}
