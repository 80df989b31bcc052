use uuid::Uuid;

use super::fixtures::*;
use crate::EndIf;
use crate::RecordKind;
use crate::{Append, Row, Settlement, Status};

async fn due(store: &Stored, now_ms: u64) -> Vec<crate::ExecutionId> {
    first_due(store, now_ms, usize::MAX).await
}

/// A running execution can continue if it was never claimed, or if its claim was released or has
/// expired.
pub async fn are_those_running_without_a_valid_claim(store: Stored) {
    let never = started(&store).await;
    let (given_up, fence) = claimed(&store).await;
    let release = Append {
        release: true,
        ..append(Vec::new())
    };
    store.append(given_up, fence, release).await.unwrap();
    let (runs_out, _) = claimed(&store).await;
    let (prolonged, holder) = (started(&store).await, Uuid::new_v4());
    let before = NOW - 2 * LEASE;
    store.claim(prolonged, holder, before, NOW).await.unwrap();
    store.renew(holder, NOW + 2 * LEASE).await.unwrap();

    let mut expected = vec![never, given_up];
    expected.sort();
    assert_eq!(due(&store, NOW + LEASE - 1).await, expected);
    expected.push(runs_out);
    expected.sort();
    assert_eq!(due(&store, NOW + LEASE).await, expected);
    expected.push(prolonged);
    expected.sort();
    assert_eq!(due(&store, NOW + 2 * LEASE).await, expected);
}

/// A paused execution can continue once one of its questions has an answer.
pub async fn are_those_with_an_answer(store: Stored) {
    let id = paused(&store, |id| vec![question(id), question(id)]).await;
    assert!(due(&store, NOW).await.is_empty());
    let token = store.pauses(id).await.unwrap()[1].token;
    let answer = Settlement::Answer("1".to_owned());
    store.settle(token, answer, NOW).await.unwrap();
    assert_eq!(due(&store, NOW).await, [id]);
}

/// A paused execution can continue once the time for one of its questions ran out.
pub async fn are_those_with_a_time_out(store: Stored) {
    let id = paused(&store, |id| vec![question(id), expiring(id, NOW + 9)]).await;
    let token = store.pauses(id).await.unwrap()[1].token;
    store
        .settle(token, Settlement::TimedOut, NOW + 9)
        .await
        .unwrap();
    assert_eq!(due(&store, NOW).await, [id]);
}

/// A paused execution can continue from the time set at its pause, until the next write.
pub async fn are_those_with_a_timer(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let at = NOW + 500;
    let pause = Append {
        opened: vec![expiring(id, at + 9)],
        status: Some(Status::Paused),
        timer_ms: Some(at),
        release: true,
        ..append(Vec::new())
    };
    store.append(id, fence, pause).await.unwrap();
    let wake_ms = async || store.execution(id).await.unwrap().unwrap().wake_ms;
    assert_eq!(wake_ms().await, Some(at));
    assert!(due(&store, at - 1).await.is_empty());
    assert_eq!(due(&store, at).await, [id]);

    let claimed = store.claim(id, Uuid::new_v4(), at, at + 1).await.unwrap();
    let goes_on = Append {
        status: Some(Status::Running),
        ..append(Vec::new())
    };
    let fence = claimed.unwrap().fence;
    store.append(id, fence, goes_on).await.unwrap();
    assert_eq!(wake_ms().await, Some(at + 9));
    let pause = Append {
        status: Some(Status::Paused),
        release: true,
        ..append(Vec::new())
    };
    store.append(id, fence, pause).await.unwrap();
    assert!(due(&store, at + 8).await.is_empty());
    assert_eq!(due(&store, at + 9).await, [id]);
}

/// A paused execution can continue from the time at which the first of its open questions expires.
pub async fn are_those_with_an_expired_question(store: Stored) {
    let at = NOW + 500;
    let id = paused(&store, |id| vec![expiring(id, at + 9), expiring(id, at)]).await;
    assert!(due(&store, at - 1).await.is_empty());
    assert_eq!(due(&store, at).await, [id]);
    let fence = claim(&store, id).await;
    let closed = store.pauses(id).await.unwrap()[1].token;
    let go_on = Append {
        closed: vec![closed],
        release: true,
        ..append(Vec::new())
    };
    store.append(id, fence, go_on).await.unwrap();
    assert!(due(&store, at + 8).await.is_empty());
    assert_eq!(due(&store, at + 9).await, [id]);
}

/// An execution with a valid claim is not due, whatever it waits for: the holder resumes it.
pub async fn are_not_those_with_a_valid_claim(store: Stored) {
    let expired = paused(&store, |id| vec![expiring(id, NOW + 1)]).await;
    let answered = paused(&store, |id| vec![question(id)]).await;
    let token = store.pauses(answered).await.unwrap()[0].token;
    store
        .settle(token, Settlement::TimedOut, NOW)
        .await
        .unwrap();
    let running = started(&store).await;
    let mut all = vec![expired, answered, running];
    all.sort();
    assert_eq!(due(&store, NOW + 5).await, all);
    for id in &all {
        claim(&store, *id).await;
    }
    assert!(due(&store, NOW + LEASE - 1).await.is_empty());
    assert_eq!(due(&store, NOW + LEASE).await, all);
}

/// An execution that waits for an answer without a time limit, or that is over, cannot continue.
pub async fn are_none_that_wait_or_are_over(store: Stored) {
    paused(&store, |id| vec![question(id)]).await;
    for status in [Status::Completed, Status::Failed, Status::Cancelled] {
        let id = paused(&store, |id| vec![expiring(id, NOW + 1)]).await;
        let fence = claim(&store, id).await;
        let over = Append {
            status: Some(status),
            ..append(Vec::new())
        };
        store.append(id, fence, over).await.unwrap();

        let given = Row {
            status,
            ..row(new_id())
        };
        store
            .create(given, Vec::new(), Vec::new(), None)
            .await
            .unwrap();
    }
    let ended = paused(&store, |id| vec![expiring(id, NOW + 1)]).await;
    let record = record(0, RecordKind::RunCancelled);
    let end = store
        .end(ended, Status::Cancelled, "", record, EndIf::NotOver)
        .await;
    assert!(end.is_ok());
    assert!(due(&store, NOW + 99 * LEASE).await.is_empty());
}

/// A settled question that was closed does not let an execution continue.
pub async fn are_none_that_closed_what_was_settled(store: Stored) {
    let id = paused(&store, |id| vec![question(id), question(id)]).await;
    let token = store.pauses(id).await.unwrap()[0].token;
    let answer = Settlement::Answer("1".to_owned());
    store.settle(token, answer, NOW).await.unwrap();
    let fence = claim(&store, id).await;
    let close = Append {
        closed: vec![token],
        release: true,
        ..append(Vec::new())
    };
    store.append(id, fence, close).await.unwrap();
    assert!(due(&store, NOW + 99 * LEASE).await.is_empty());
}

/// The oldest come first, whatever the reason, and at most as many as requested.
pub async fn come_oldest_first_and_limited(store: Stored) {
    let ids = new_ids(5);
    for (place, id) in ids.iter().enumerate().rev() {
        let (status, asked) = match place % 2 {
            0 => (Status::Running, Vec::new()),
            _ => (Status::Paused, vec![expiring(*id, NOW - place as u64)]),
        };
        let given = Row { status, ..row(*id) };
        store
            .create(given, records(0..1), asked, None)
            .await
            .unwrap();
    }
    assert_eq!(due(&store, NOW).await, ids);
    assert_eq!(first_due(&store, NOW, 3).await, ids[..3]);
    assert_eq!(due_after(&store, NOW, Some(ids[1]), 2).await, ids[2..4]);
    let last = ids.last().copied();
    assert!(due_after(&store, NOW, last, 9).await.is_empty());
    assert!(first_due(&store, NOW, 0).await.is_empty());
}

/// The holder of a claim from a clock that is ahead may be long gone: the execution is listed until
/// somebody has broken that claim.
pub async fn are_those_with_a_claim_from_a_clock_that_is_ahead(store: Stored) {
    let ahead = NOW + HOUR;
    let expiring = paused(&store, |id| vec![expiring(id, NOW + 5)]).await;
    let running = started(&store).await;
    for id in [expiring, running] {
        let claim = store.claim(id, Uuid::new_v4(), ahead, ahead + LEASE).await;
        assert!(claim.unwrap().is_some());
    }
    assert_eq!(due(&store, NOW).await, [running]);
    let mut both = [expiring, running];
    both.sort();
    assert_eq!(due(&store, NOW + 5).await, both);
    assert_eq!(first_due(&store, NOW + 5, 1).await, both[..1]);
    // For the clock that is ahead, they are claimed like any other.
    assert!(due(&store, ahead).await.is_empty());
    for id in both {
        let claim = store.claim_of(id).await.unwrap().unwrap();
        assert!(store.break_claim(id, claim).await.unwrap());
    }
    assert_eq!(due(&store, NOW + 5).await, both, "each once");
}
