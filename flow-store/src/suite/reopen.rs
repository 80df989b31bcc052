use super::fixtures::*;
use crate::{CANCEL, Concurrency, Created, EndIf, Mark, Row, Settlement, Status, StoreError, Take};
use crate::{ExecutionId, PauseState, Record, RecordKind};

fn failed() -> Record {
    Record {
        at_ms: NOW + 400,
        ..record(0, RecordKind::RunFailed)
    }
}

fn retried(seq: u64) -> Record {
    Record {
        at_ms: NOW + 500,
        ..record(seq, RecordKind::RunRetried)
    }
}

async fn fail(store: &Stored, id: ExecutionId) -> Row {
    let ended = store.end(id, Status::Failed, "broken", failed(), EndIf::NotOver);
    ended.await.unwrap()
}

/// The row and the journal record that it continues, and the row has no result any more.
pub async fn continues_what_is_over(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let before = fail(&store, id).await;
    let reopened = store.reopen(id, Status::Running, retried(2)).await;
    let expected = Row {
        status: Status::Running,
        result: None,
        updated_ms: NOW + 500,
        next_seq: 3,
        fence: fence + 1,
        ..before
    };
    assert_eq!(reopened.unwrap(), expected);
    assert_eq!(stored(&store, id).await, expected);
    assert_eq!(store.records(id, 2, 10).await.unwrap(), [retried(2)]);
    assert_eq!(log(&store, 2, 10).await[0].record, retried(2));
}

/// Nobody has a claim to it: it is due, and the old claim stays void.
pub async fn lets_it_be_claimed_and_written_to(store: Stored) {
    let (id, fence) = claimed(&store).await;
    fail(&store, id).await;
    store.reopen(id, Status::Running, retried(2)).await.unwrap();
    assert_eq!(store.claim_of(id).await.unwrap(), None);
    assert_eq!(first_due(&store, NOW + 500, 10).await, [id]);
    for stale in [fence, fence + 1] {
        let write = store.append(id, stale, append(records(3..4))).await;
        assert!(matches!(write, Err(StoreError::LeaseLost(_))), "{write:?}");
    }
    let fence = claim(&store, id).await;
    store
        .append(id, fence, append(records(3..4)))
        .await
        .unwrap();
    assert_eq!(stored(&store, id).await.next_seq, 4);
}

/// With the status `queued`, it waits for its turn like one that has not begun.
pub async fn puts_it_in_the_queue(store: Stored) {
    let id = started(&store).await;
    fail(&store, id).await;
    store.reopen(id, Status::Queued, retried(2)).await.unwrap();
    assert!(first_due(&store, NOW + 500, 10).await.is_empty());
    let taken = take(&store).await;
    assert_eq!((taken.len(), taken[0].id), (1, id));
    assert_eq!((taken[0].status, taken[0].next_seq), (Status::Running, 3));
}

async fn take(store: &Stored) -> Vec<Row> {
    let take = Take {
        holder: uuid::Uuid::new_v4(),
        flows: [("orders".to_owned(), 10)].into(),
        limit: 10,
        now_ms: NOW + 600,
        until_ms: NOW + 600 + LEASE,
    };
    let taken = store.take_queued(&take).await.unwrap();
    taken.into_iter().map(Result::unwrap).collect()
}

/// A running one counts towards the limit of its key, and a queued one waits for its place.
pub async fn counts_towards_the_limit_of_its_key(store: Stored) {
    let mut ids = new_ids(2);
    for id in &ids {
        let row = Row {
            concurrency: Some(Concurrency {
                key: "bank".to_owned(),
                at_most: 1,
            }),
            ..row(*id)
        };
        let created = store.create(row, records(0..1), Vec::new(), None).await;
        assert_eq!(created.unwrap(), Created::New);
        fail(&store, *id).await;
    }
    let (second, first) = (ids.pop().unwrap(), ids.pop().unwrap());
    let running = store.reopen(first, Status::Running, retried(2)).await;
    assert_eq!(running.unwrap().status, Status::Running);
    let queued = store.reopen(second, Status::Queued, retried(2)).await;
    assert_eq!(queued.unwrap().status, Status::Queued);
    assert!(take(&store).await.is_empty());
    fail(&store, first).await;
    assert_eq!(take(&store).await[0].id, second);
}

/// Questions that were closed stay so, and signals that were not taken are still there.
pub async fn leaves_questions_closed_and_signals_kept(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5), question(id)]).await;
    let asked = store.pauses(id).await.unwrap();
    let answer = Settlement::Answer("true".to_owned());
    store.settle(asked[1].token, answer, NOW).await.unwrap();
    store.signal(id, signal("paid")).await.unwrap();
    let seq = fail(&store, id).await.next_seq;
    let reopened = store.reopen(id, Status::Running, retried(seq)).await;
    assert_eq!(reopened.unwrap().wake_ms, None);
    assert!(store.pauses(id).await.unwrap().is_empty());
    assert_eq!(state(&store, asked[0].token).await, PauseState::Withdrawn);
    assert_eq!(store.signals(id).await.unwrap().len(), 1);
}

/// An execution that was halted or being cancelled when it ended is neither when it continues.
pub async fn forgets_the_halt_and_the_cancellation(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let mark = Mark {
        halted: Some("no bread".to_owned()),
        ..Mark::default()
    };
    store.mark(id, fence, mark).await.unwrap();
    store.signal(id, signal(CANCEL)).await.unwrap();
    assert!(stored(&store, id).await.cancelled_ms.is_some());
    fail(&store, id).await;
    let reopened = store.reopen(id, Status::Running, retried(2)).await.unwrap();
    assert_eq!(reopened.halted, None);
    assert_eq!((reopened.take_overs, reopened.cancelled_ms), (None, None));
    assert_eq!(stored(&store, id).await, reopened);
    assert_eq!(first_due(&store, NOW + 500, 10).await, [id]);
}

/// An execution that is not over stays as it is, and so does one with another next record.
pub async fn writes_nothing_if_not_over_or_elsewhere(store: Stored) {
    let id = started(&store).await;
    let before = everything(&store, id).await;
    store.reopen(id, Status::Running, retried(1)).await.unwrap();
    assert_eq!(everything(&store, id).await, before);
    fail(&store, id).await;
    let before = everything(&store, id).await;
    for seq in [1, 3] {
        let row = store.reopen(id, Status::Running, retried(seq)).await;
        assert_eq!(row.unwrap(), stored(&store, id).await);
        assert_eq!(everything(&store, id).await, before);
    }
}

/// An execution that does not exist is not found.
pub async fn is_refused_for_an_unknown_execution(store: Stored) {
    let id = new_id();
    let reopened = store.reopen(id, Status::Running, retried(0)).await;
    assert!(
        matches!(reopened, Err(StoreError::NotFound(of)) if of == id),
        "{reopened:?}"
    );
}

/// An execution cannot continue with a status with which it waits or is over.
pub async fn is_refused_for_another_status(store: Stored) {
    let id = started(&store).await;
    fail(&store, id).await;
    let before = everything(&store, id).await;
    for status in [Status::Paused, Status::Cancelling, Status::Completed] {
        let reopened = store.reopen(id, status, retried(2)).await;
        assert!(
            matches!(reopened, Err(StoreError::Other(_))),
            "{reopened:?}"
        );
        assert_eq!(everything(&store, id).await, before);
    }
}

/// If 20 tasks continue an execution at once, it continues once.
pub async fn succeeds_for_one_of_many(store: Stored) {
    let id = started(&store).await;
    fail(&store, id).await;
    let rows = at_once(20, |_| {
        let store = store.clone();
        async move { store.reopen(id, Status::Running, retried(2)).await.unwrap() }
    })
    .await;
    let row = stored(&store, id).await;
    assert_eq!((row.status, row.next_seq), (Status::Running, 3));
    assert!(rows.iter().all(|it| *it == row));
    assert_eq!(store.records(id, 2, 10).await.unwrap().len(), 1);
}
