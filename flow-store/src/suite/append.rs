use uuid::Uuid;

use super::fixtures::*;
use crate::RecordKind;
use crate::{Append, ExecutionId, PauseRow, PauseState, Row, Status, StoreError};

/// Records, questions, status, result, structure and time are all written.
pub async fn writes_all_of_it(store: Stored) {
    let id = paused(&store, |id| vec![question(id)]).await;
    let asked = store.pauses(id).await.unwrap().remove(0);
    let fence = claim(&store, id).await;
    let before = stored(&store, id).await;
    let opened = vec![expiring(id, NOW + 90), question(id)];
    let write = Append {
        records: records(2..5),
        opened: opened.clone(),
        closed: vec![asked.token],
        status: Some(Status::Running),
        result: Some("\"half\"".to_owned()),
        structure: Some("newer".to_owned()),
        now_ms: NOW + 77,
        ..Append::default()
    };
    store.append(id, fence, write).await.unwrap();
    let expected = Row {
        status: Status::Running,
        result: Some("\"half\"".to_owned()),
        structure: "newer".to_owned(),
        updated_ms: NOW + 77,
        wake_ms: Some(NOW + 90),
        next_seq: 5,
        ..before
    };
    assert_eq!(stored(&store, id).await, expected);
    assert_eq!(store.records(id, 0, 10).await.unwrap(), records(0..5));
    assert_eq!(store.pauses(id).await.unwrap(), opened);
    assert_eq!(state(&store, asked.token).await, PauseState::Withdrawn);
}

/// Everything that an append leaves out stays as it was.
pub async fn leaves_what_it_does_not_name(store: Stored) {
    let id = new_id();
    let given = Row {
        owner: Some("ana".to_owned()),
        idempotency_key: Some("key".to_owned()),
        result: Some("1".to_owned()),
        snapshot_seq: Some(0),
        copied_from: Some(new_id()),
        ..row(id)
    };
    let pauses = vec![expiring(id, NOW + 9)];
    let created = store.create(given, records(0..1), pauses.clone(), None);
    created.await.unwrap();
    let fence = claim(&store, id).await;
    let before = stored(&store, id).await;
    store.append(id, fence, append(Vec::new())).await.unwrap();
    let expected = Row {
        updated_ms: NOW + 1,
        ..before
    };
    assert_eq!(stored(&store, id).await, expected);
    assert_eq!(store.pauses(id).await.unwrap(), pauses);
    assert_eq!(store.records(id, 0, 10).await.unwrap(), records(0..1));

    let structure = Append {
        structure: Some("newer".to_owned()),
        ..append(Vec::new())
    };
    store.append(id, fence, structure).await.unwrap();
    let expected = Row {
        structure: "newer".to_owned(),
        ..expected
    };
    assert_eq!(stored(&store, id).await, expected);
    let result = Append {
        result: Some("2".to_owned()),
        ..append(Vec::new())
    };
    store.append(id, fence, result).await.unwrap();
    let expected = Row {
        result: Some("2".to_owned()),
        ..expected
    };
    assert_eq!(stored(&store, id).await, expected);
}

/// A process that has lost its claim to another one writes nothing.
pub async fn is_refused_with_an_old_fence(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let at = NOW + LEASE;
    store
        .claim(id, Uuid::new_v4(), at, at + LEASE)
        .await
        .unwrap();
    for wrong in [0, fence, fence + 2, u64::MAX] {
        is_refused(&store, id, wrong).await;
    }
    store
        .append(id, fence + 1, append(records(1..2)))
        .await
        .unwrap();
}

/// A process that has released its claim, or never had one, writes nothing.
pub async fn is_refused_without_a_claim(store: Stored) {
    let id = started(&store).await;
    is_refused(&store, id, 0).await;
    let fence = claim(&store, id).await;
    let release = Append {
        release: true,
        ..append(records(1..2))
    };
    store.append(id, fence, release).await.unwrap();
    is_refused(&store, id, fence).await;
}

/// Nothing is written to an execution that is over.
pub async fn is_refused_when_over(store: Stored) {
    for status in [Status::Completed, Status::Failed, Status::Cancelled] {
        let (id, fence) = claimed(&store).await;
        let over = Append {
            status: Some(status),
            ..append(records(1..2))
        };
        store.append(id, fence, over).await.unwrap();
        assert_eq!(stored(&store, id).await.status, status);
        is_refused(&store, id, fence).await;
    }
}

async fn is_refused(store: &Stored, id: ExecutionId, fence: u64) {
    let before = everything(store, id).await;
    let opened = vec![question(id)];
    let token = opened[0].token;
    let write = Append {
        opened,
        status: Some(Status::Paused),
        result: Some("1".to_owned()),
        structure: Some("newer".to_owned()),
        release: true,
        ..append(records(1..2))
    };
    let stale = store.append(id, fence, write).await;
    assert!(
        matches!(stale, Err(StoreError::LeaseLost(of)) if of == id),
        "{stale:?}"
    );
    assert_eq!(everything(store, id).await, before);
    assert_eq!(store.pause(token).await.unwrap(), None);
}

/// An execution that does not exist is not found.
pub async fn is_refused_for_an_unknown_execution(store: Stored) {
    let id = new_id();
    let write = store.append(id, 0, append(records(0..1))).await;
    assert!(
        matches!(write, Err(StoreError::NotFound(of)) if of == id),
        "{write:?}"
    );
    assert_eq!(store.last_offset().await.unwrap(), 0);
}

/// A process may write after its claim has run out, as long as nobody else has claimed the
/// execution.
pub async fn goes_on_after_the_claim_ran_out(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let late = Append {
        now_ms: NOW + 9 * LEASE,
        ..append(records(1..2))
    };
    store.append(id, fence, late).await.unwrap();
    assert_eq!(stored(&store, id).await.next_seq, 2);
}

/// Records that skip numbers, before them or among them, are refused together with the rest of the
/// append.
pub async fn is_refused_with_a_gap(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let among = vec![
        record(1, RecordKind::Outcome),
        record(3, RecordKind::Outcome),
    ];
    for with_gap in [records(2..3), among] {
        breaks_the_sequence(&store, id, fence, with_gap).await;
    }
}

/// Records with a number that already exists are refused together with the rest of the append.
pub async fn is_refused_with_a_record_twice(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let twice = vec![
        record(1, RecordKind::Outcome),
        record(1, RecordKind::Outcome),
    ];
    for again in [records(0..1), records(0..3), twice] {
        breaks_the_sequence(&store, id, fence, again).await;
    }
}

async fn breaks_the_sequence(
    store: &Stored,
    id: ExecutionId,
    fence: u64,
    records: Vec<crate::Record>,
) {
    let before = everything(store, id).await;
    let write = Append {
        opened: vec![question(id)],
        status: Some(Status::Paused),
        ..append(records)
    };
    let write = store.append(id, fence, write).await;
    assert!(matches!(write, Err(StoreError::Other(_))), "{write:?}");
    assert_eq!(everything(store, id).await, before);
}

/// If the token of a question is taken, nothing else is written either.
pub async fn writes_nothing_if_a_question_is_taken(store: Stored) {
    let other = paused(&store, |id| vec![question(id)]).await;
    let taken = store.pauses(other).await.unwrap().remove(0).token;
    let (id, fence) = claimed(&store).await;
    let before = everything(&store, id).await;
    let again = PauseRow {
        token: taken,
        ..question(id)
    };
    let fresh = question(id);
    for opened in [vec![fresh.clone(), again], vec![fresh.clone(), fresh]] {
        let write = Append {
            opened,
            status: Some(Status::Paused),
            ..append(records(1..2))
        };
        let write = store.append(id, fence, write).await;
        assert!(matches!(write, Err(StoreError::Other(_))), "{write:?}");
        assert_eq!(everything(&store, id).await, before);
    }
    assert_eq!(store.pauses(other).await.unwrap().len(), 1);
}

/// If a question to be closed does not belong to the execution, nothing else is written either.
pub async fn writes_nothing_if_a_question_is_unknown(store: Stored) {
    let other = paused(&store, |id| vec![question(id)]).await;
    let of_other = store.pauses(other).await.unwrap().remove(0).token;
    let (id, fence) = claimed(&store).await;
    let before = everything(&store, id).await;
    for token in [of_other, new_token()] {
        let write = Append {
            closed: vec![token],
            status: Some(Status::Paused),
            ..append(records(1..2))
        };
        let write = store.append(id, fence, write).await;
        assert!(
            matches!(write, Err(StoreError::UnknownToken(of)) if of == token),
            "{write:?}"
        );
        assert_eq!(everything(&store, id).await, before);
    }
    assert_eq!(state(&store, of_other).await, PauseState::Open);
}

/// Questions of another execution are refused together with the rest of the append.
pub async fn refuses_questions_of_others(store: Stored) {
    let other = started(&store).await;
    let (id, fence) = claimed(&store).await;
    let before = everything(&store, id).await;
    let write = Append {
        opened: vec![question(other)],
        ..append(records(1..2))
    };
    let write = store.append(id, fence, write).await;
    assert!(matches!(write, Err(StoreError::Other(_))), "{write:?}");
    assert_eq!(everything(&store, id).await, before);
    assert!(store.pauses(other).await.unwrap().is_empty());
}

/// Once the claim is released, anybody can claim the execution.
pub async fn gives_the_claim_up(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let release = Append {
        release: true,
        ..append(records(1..2))
    };
    store.append(id, fence, release).await.unwrap();
    assert_eq!(stored(&store, id).await.fence, fence);
    assert_eq!(claim(&store, id).await, fence + 1);
}

/// Once an execution is over, all its questions are closed, including those that the same append
/// opened, and nobody has a claim to it.
pub async fn closes_all_questions_when_over(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5), question(id)]).await;
    let mut asked = store.pauses(id).await.unwrap();
    let holder = Uuid::new_v4();
    let claim = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    asked.push(expiring(id, NOW + 3));
    let over = Append {
        opened: asked[2..].to_vec(),
        status: Some(Status::Completed),
        ..append(records(2..3))
    };
    store.append(id, claim.unwrap().fence, over).await.unwrap();
    assert!(store.pauses(id).await.unwrap().is_empty());
    for pause in asked {
        assert_eq!(state(&store, pause.token).await, PauseState::Withdrawn);
    }
    assert_eq!(stored(&store, id).await.wake_ms, None);
    assert!(
        store
            .renew(holder, NOW + 2 * LEASE)
            .await
            .unwrap()
            .is_empty()
    );
}

/// A question that is opened and closed by the same append is closed.
pub async fn opens_and_closes_at_once(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let asked = expiring(id, NOW + 5);
    let write = Append {
        closed: vec![asked.token],
        opened: vec![asked.clone()],
        ..append(Vec::new())
    };
    store.append(id, fence, write).await.unwrap();
    assert_eq!(state(&store, asked.token).await, PauseState::Withdrawn);
    assert!(store.pauses(id).await.unwrap().is_empty());
    assert_eq!(stored(&store, id).await.wake_ms, None);
}

/// The records before a snapshot are removed, from the log too. The records after it stay, and the
/// numbers continue.
pub async fn removes_records_before_a_snapshot(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let mut history = records(1..6);
    history[2].kind = RecordKind::Snapshot;
    let write = Append {
        prune_before: Some(3),
        ..append(history.clone())
    };
    store.append(id, fence, write).await.unwrap();
    assert_eq!(store.records(id, 0, 10).await.unwrap(), history[2..]);
    assert_eq!(store.records(id, 4, 10).await.unwrap(), history[3..]);
    let logged = log(&store, 0, 10).await;
    let logged: Vec<u64> = logged.iter().map(|it| it.record.seq).collect();
    assert_eq!(logged, [3, 4, 5]);
    assert_eq!(stored(&store, id).await.next_seq, 6);
    store
        .append(id, fence, append(records(6..7)))
        .await
        .unwrap();
    assert_eq!(store.records(id, 5, 10).await.unwrap(), records(5..7));
}

/// Nothing is removed before a record that is not a snapshot.
pub async fn removes_nothing_before_anything_else(store: Stored) {
    let (id, fence) = claimed(&store).await;
    store
        .append(id, fence, append(records(1..3)))
        .await
        .unwrap();
    let before = everything(&store, id).await;
    for seq in [2, 3, 99] {
        let write = Append {
            prune_before: Some(seq),
            ..append(records(3..4))
        };
        let write = store.append(id, fence, write).await;
        assert!(matches!(write, Err(StoreError::Other(_))), "{write:?}");
        assert_eq!(everything(&store, id).await, before);
    }
}

/// The row has the number of the newest snapshot.
pub async fn knows_the_newest_snapshot(store: Stored) {
    let (id, fence) = claimed(&store).await;
    assert_eq!(stored(&store, id).await.snapshot_seq, None);
    let mut history = records(1..6);
    history[1].kind = RecordKind::Snapshot;
    history[3].kind = RecordKind::Snapshot;
    store.append(id, fence, append(history)).await.unwrap();
    assert_eq!(stored(&store, id).await.snapshot_seq, Some(4));
    store
        .append(id, fence, append(records(6..7)))
        .await
        .unwrap();
    assert_eq!(stored(&store, id).await.snapshot_seq, Some(4));
    let snapshot = record(7, RecordKind::Snapshot);
    store
        .append(id, fence, append(vec![snapshot]))
        .await
        .unwrap();
    assert_eq!(stored(&store, id).await.snapshot_seq, Some(7));
}
