use super::fixtures::*;
use crate::{EndIf, Settlement};
use crate::{PauseState, Row, Status, StoreError};
use crate::{Record, RecordKind};

fn cancelled() -> Record {
    Record {
        seq: 99,
        at_ms: NOW + 400,
        ..record(0, RecordKind::RunCancelled)
    }
}

/// The claim is void, and the row and the journal record the end.
pub async fn ends_whoever_has_a_claim(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let before = stored(&store, id).await;
    let ended = store.end(
        id,
        Status::Cancelled,
        "not needed",
        cancelled(),
        EndIf::NotOver,
    );
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

/// An execution without a claim ends in the same way.
pub async fn ends_without_a_claim(store: Stored) {
    let id = started(&store).await;
    let ended = store
        .end(id, Status::Failed, "broken", cancelled(), EndIf::NotOver)
        .await;
    let row = ended.unwrap();
    assert_eq!((row.status, row.fence), (Status::Failed, 1));
    let at = NOW + LEASE;
    let claim = store.claim(id, uuid::Uuid::new_v4(), at, at + 1).await;
    assert_eq!(claim.unwrap(), None);
}

/// Questions are closed, including those that have an answer.
pub async fn closes_all_questions(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5), question(id)]).await;
    let asked = store.pauses(id).await.unwrap();
    let answer = Settlement::Answer("true".to_owned());
    store.settle(asked[1].token, answer, NOW).await.unwrap();
    let ended = store
        .end(id, Status::Cancelled, "", cancelled(), EndIf::NotOver)
        .await;
    assert_eq!(ended.unwrap().wake_ms, None);
    assert!(store.pauses(id).await.unwrap().is_empty());
    assert_eq!(state(&store, asked[0].token).await, PauseState::Withdrawn);
    assert_eq!(state(&store, asked[1].token).await, PauseState::Used);
}

/// Only an execution that is paused, untouched since the given time and without an answer ends
/// under this condition.
pub async fn ends_what_is_paused_and_untouched_only(store: Stored) {
    let end = async |id, since| {
        let condition = EndIf::PausedUntouchedSince(since);
        let ended = store.end(id, Status::Cancelled, "", cancelled(), condition);
        ended.await.unwrap().status
    };
    let running = started(&store).await;
    assert_eq!(end(running, NOW + LEASE).await, Status::Running);

    let id = paused(&store, |id| vec![question(id), question(id)]).await;
    let touched_ms = store.execution(id).await.unwrap().unwrap().updated_ms;
    let before = everything(&store, id).await;
    assert_eq!(end(id, touched_ms).await, Status::Paused);
    assert_eq!(everything(&store, id).await, before);

    let token = store.pauses(id).await.unwrap()[0].token;
    let answer = Settlement::Answer("1".to_owned());
    store.settle(token, answer, touched_ms).await.unwrap();
    assert_eq!(end(id, touched_ms + 1).await, Status::Paused, "answered");

    let id = paused(&store, |id| vec![question(id)]).await;
    assert_eq!(end(id, touched_ms + 1).await, Status::Cancelled);
}

/// An execution that is over stays as it is, and is returned.
pub async fn writes_nothing_if_over(store: Stored) {
    let id = started(&store).await;
    let first = store
        .end(id, Status::Cancelled, "first", cancelled(), EndIf::NotOver)
        .await;
    let before = everything(&store, id).await;
    let second = store
        .end(id, Status::Failed, "second", cancelled(), EndIf::NotOver)
        .await;
    assert_eq!(second.unwrap(), first.unwrap());
    assert_eq!(everything(&store, id).await, before);
}

/// An execution that does not exist is not found.
pub async fn is_refused_for_an_unknown_execution(store: Stored) {
    let id = new_id();
    let ended = store
        .end(id, Status::Cancelled, "", cancelled(), EndIf::NotOver)
        .await;
    assert!(
        matches!(ended, Err(StoreError::NotFound(of)) if of == id),
        "{ended:?}"
    );
}

/// An execution cannot end with a status that does not end it.
pub async fn is_refused_for_a_status_that_goes_on(store: Stored) {
    let id = started(&store).await;
    let before = everything(&store, id).await;
    for status in [Status::Running, Status::Paused] {
        let ended = store.end(id, status, "", cancelled(), EndIf::NotOver).await;
        assert!(matches!(ended, Err(StoreError::Other(_))), "{ended:?}");
        assert_eq!(everything(&store, id).await, before);
    }
}

/// If 20 tasks end an execution at once, one does, and all get the status with which it ended.
pub async fn succeeds_for_one_of_many(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let rows = at_once(20, |task| {
        let store = store.clone();
        let reason = format!("reason {task}");
        async move {
            let ended = store.end(id, Status::Cancelled, &reason, cancelled(), EndIf::NotOver);
            ended.await.unwrap()
        }
    })
    .await;
    let row = stored(&store, id).await;
    assert_eq!((row.fence, row.next_seq), (fence + 1, 2));
    assert!(rows.iter().all(|it| *it == row));
}
