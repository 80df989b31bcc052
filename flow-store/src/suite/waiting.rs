use super::fixtures::*;
use super::signals::{cancelled, is_due, numbers, taking, waiting, waits};
use crate::{Append, EndIf, Mark, NewSignal, PauseRow, Sent, Status};

/// A paused execution is due from the time of the first signal with a name that it waits for.
pub async fn ends_with_a_signal_of_the_name(store: Stored) {
    for name in ["paid", "called"] {
        let id = waits(&store, &["paid", "called"]).await;
        assert!(!is_due(&store, NOW + HOUR).await);
        assert_eq!(stored(&store, id).await.wake_ms, None);
        for now_ms in [NOW + 50, NOW + 70] {
            let given = NewSignal {
                now_ms,
                ..signal(name)
            };
            store.signal(id, given).await.unwrap();
        }
        assert_eq!(stored(&store, id).await.wake_ms, Some(NOW + 50));
        assert!(!is_due(&store, NOW + 49).await);
        assert_eq!(first_due(&store, NOW + 50, 9).await, [id]);
        assert!(store.delete(id).await.unwrap());
    }
}

/// An execution that pauses for a signal that has come is due at once.
pub async fn ends_at_once_if_one_is_there(store: Stored) {
    let (id, fence) = claimed(&store).await;
    for name in ["called", "paid"] {
        store.signal(id, signal(name)).await.unwrap();
    }
    assert!(!is_due(&store, NOW + 5).await, "it is claimed");
    let pause = waiting(&["other", "paid"]);
    store.append(id, fence, pause).await.unwrap();
    assert_eq!(stored(&store, id).await.wake_ms, Some(NOW + 1));
    assert!(!is_due(&store, NOW).await);
    assert_eq!(first_due(&store, NOW + 1, 9).await, [id]);
}

/// A signal with a name that nobody waits for changes nothing, whenever it comes.
pub async fn goes_on_after_other_signals(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let others = ["called", "Paid", "pai", "paid "];
    for name in others {
        store.signal(id, signal(name)).await.unwrap();
    }
    store.append(id, fence, waiting(&["paid"])).await.unwrap();
    for name in others {
        store.signal(id, signal(name)).await.unwrap();
    }
    assert_eq!(stored(&store, id).await.wake_ms, None);
    assert!(!is_due(&store, NOW + HOUR).await);
    let asks = paused(&store, |id| vec![question(id)]).await;
    store.signal(asks, signal("paid")).await.unwrap();
    assert!(!is_due(&store, NOW + HOUR).await);
}

/// What the pausing write takes does not count, and neither does what was taken before.
pub async fn goes_on_after_those_that_were_taken(store: Stored) {
    let (id, fence) = claimed(&store).await;
    store.signal(id, signal("paid")).await.unwrap();
    store.signal(id, keyed("paid", "k")).await.unwrap();
    store.append(id, fence, taking([2])).await.unwrap();
    let pause = Append {
        taken: vec![1],
        ..waiting(&["paid"])
    };
    store.append(id, fence, pause).await.unwrap();
    assert!(!is_due(&store, NOW + HOUR).await);
    // A repetition is no new signal.
    store.signal(id, keyed("paid", "k")).await.unwrap();
    assert!(!is_due(&store, NOW + HOUR).await);
    store.signal(id, signal("paid")).await.unwrap();
    assert!(is_due(&store, NOW + HOUR).await);
}

/// The first of a timer, an expiry and a signal counts.
pub async fn ends_with_what_comes_first(store: Stored) {
    let at = NOW + 500;
    for (timer_ms, expires_ms, now_ms, expected) in [
        (Some(at), None, at + 1, at),
        (Some(at), None, at - 1, at - 1),
        (None, Some(at), at + 1, at),
        (None, Some(at), at - 1, at - 1),
        (Some(at + 5), Some(at), at + 3, at),
    ] {
        let (id, fence) = claimed(&store).await;
        let asked = PauseRow {
            expires_ms,
            ..question(id)
        };
        let pause = Append {
            opened: vec![asked],
            timer_ms,
            ..waiting(&["paid"])
        };
        store.append(id, fence, pause).await.unwrap();
        let given = NewSignal {
            now_ms,
            ..signal("paid")
        };
        store.signal(id, given).await.unwrap();
        assert_eq!(stored(&store, id).await.wake_ms, Some(expected));
        assert!(!is_due(&store, expected - 1).await);
        assert!(is_due(&store, expected).await);
        assert!(store.delete(id).await.unwrap());

        let (id, fence) = claimed(&store).await;
        store.signal(id, signal("paid")).await.unwrap();
        let pause = Append {
            timer_ms,
            now_ms,
            ..waiting(&["paid"])
        };
        store.append(id, fence, pause).await.unwrap();
        let expected = timer_ms.map_or(now_ms, |ms| ms.min(now_ms));
        assert_eq!(stored(&store, id).await.wake_ms, Some(expected));
        assert!(store.delete(id).await.unwrap());
    }
}

/// An execution that no longer waits for the signal that it has is not due.
pub async fn is_over_after_the_next_write(store: Stored) {
    let (id, fence) = claimed(&store).await;
    store.signal(id, signal("paid")).await.unwrap();
    store.append(id, fence, waiting(&["paid"])).await.unwrap();
    let now_ms = NOW + 5;
    for last in [waiting(&["called"]), waiting(&[])] {
        assert_eq!(first_due(&store, now_ms, 9).await, [id]);
        let fence = claim(&store, id).await;
        let goes_on = Append {
            status: Some(Status::Running),
            // Nothing that runs waits.
            awaited: vec!["paid".to_owned()],
            ..append(Vec::new())
        };
        store.append(id, fence, goes_on).await.unwrap();
        assert_eq!(stored(&store, id).await.wake_ms, None);
        store.append(id, fence, last).await.unwrap();
        assert!(!is_due(&store, NOW + HOUR).await);
        store.signal(id, signal("paid")).await.unwrap();
        assert!(!is_due(&store, NOW + HOUR).await);
        let fence = claim(&store, id).await;
        store.append(id, fence, waiting(&["paid"])).await.unwrap();
    }
    // Nor if it pauses again without having run.
    let fence = claim(&store, id).await;
    store.append(id, fence, waiting(&[])).await.unwrap();
    assert!(!is_due(&store, NOW + HOUR).await);
    assert_eq!(numbers(&store, id).await, [1, 2, 3]);
}

/// A process that claims a paused execution and gives it up leaves it waiting.
pub async fn outlasts_a_claim_that_is_given_up(store: Stored) {
    let give_up = Append {
        release: true,
        ..append(Vec::new())
    };
    for comes_while_claimed in [false, true] {
        let id = waits(&store, &["paid"]).await;
        let fence = claim(&store, id).await;
        if comes_while_claimed {
            store.signal(id, signal("paid")).await.unwrap();
        }
        store.append(id, fence, give_up.clone()).await.unwrap();
        assert_eq!(is_due(&store, NOW + HOUR).await, comes_while_claimed);
        store.signal(id, signal("paid")).await.unwrap();
        assert_eq!(first_due(&store, NOW + HOUR, 9).await, [id]);
        assert!(store.delete(id).await.unwrap());
    }
}

/// A halted execution is due once it is no longer halted.
pub async fn does_not_resume_what_is_halted(store: Stored) {
    let (id, fence) = claimed(&store).await;
    let halt = Mark {
        halted: Some("broken".to_owned()),
        ..Mark::default()
    };
    store.mark(id, fence, halt).await.unwrap();
    store.append(id, fence, waiting(&["paid"])).await.unwrap();
    let sent = store.signal(id, signal("paid")).await.unwrap();
    assert_eq!(sent, Sent::New(1));
    assert!(!is_due(&store, NOW + HOUR).await);
    let fence = claim(&store, id).await;
    store.mark(id, fence, Mark::default()).await.unwrap();
    assert_eq!(first_due(&store, NOW + LEASE, 9).await, [id]);
}

/// Somebody has answered an execution that has a signal for which it waits.
pub async fn keeps_from_ending_once_there_is_one(store: Stored) {
    let end = async |id| {
        let condition = EndIf::PausedUntouchedSince(NOW + HOUR);
        let ended = store.end(id, Status::Cancelled, "", cancelled(), condition);
        ended.await.unwrap().status
    };
    let id = waits(&store, &["called", "paid"]).await;
    store.signal(id, signal("paid")).await.unwrap();
    let before = everything(&store, id).await;
    assert_eq!(end(id).await, Status::Paused);
    assert_eq!(everything(&store, id).await, before);

    let (id, fence) = claimed(&store).await;
    store.signal(id, signal("paid")).await.unwrap();
    store.append(id, fence, waiting(&["paid"])).await.unwrap();
    assert_eq!(end(id).await, Status::Paused);
    let fence = claim(&store, id).await;
    let pause = Append {
        taken: vec![1],
        ..waiting(&["paid"])
    };
    store.append(id, fence, pause).await.unwrap();
    store.signal(id, signal("called")).await.unwrap();
    assert_eq!(end(id).await, Status::Cancelled);
    assert_eq!(numbers(&store, id).await, [2]);
}
