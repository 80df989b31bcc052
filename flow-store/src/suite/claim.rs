use uuid::Uuid;

use super::fixtures::*;
use crate::{Claim, EndIf, Renewal, Row, Status, StoreError};

/// A claim returns the row with the claim, and with a fence that is one more than before.
pub async fn gives_the_next_fence(store: Stored) {
    let id = started(&store).await;
    for fence in 1..4 {
        let at = NOW + fence * LEASE;
        let row = store.claim(id, Uuid::new_v4(), at, at + LEASE).await;
        let row = row.unwrap().expect("the claim before has run out");
        assert_eq!(row.fence, fence);
        assert_eq!(stored(&store, id).await, row);
    }
}

/// Nobody gets a claim while there is a valid one, not even its holder.
pub async fn is_refused_while_one_is_valid(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    let first = store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert!(first.is_some());
    for who in [Uuid::new_v4(), holder] {
        for now in [NOW, NOW + LEASE - 1] {
            let claim = store.claim(id, who, now, now + LEASE).await.unwrap();
            assert_eq!(claim, None);
        }
    }
    assert_eq!(stored(&store, id).await.fence, 1);
}

/// A claim ends exactly at its time.
pub async fn is_given_once_one_has_run_out(store: Stored) {
    let (id, _) = claimed(&store).await;
    let at = NOW + LEASE;
    let row = store.claim(id, Uuid::new_v4(), at, at + LEASE).await;
    assert_eq!(row.unwrap().expect("it has run out").fence, 2);
}

/// An execution that is over cannot be claimed.
pub async fn is_refused_when_over(store: Stored) {
    for status in [Status::Completed, Status::Failed, Status::Cancelled] {
        let (id, fence) = claimed(&store).await;
        let over = crate::Append {
            status: Some(status),
            ..append(Vec::new())
        };
        store.append(id, fence, over).await.unwrap();
        let at = NOW + 2 * LEASE;
        let claim = store.claim(id, Uuid::new_v4(), at, at + 1).await.unwrap();
        assert_eq!(claim, None, "{status}");

        let id = new_id();
        let given = Row { status, ..row(id) };
        store
            .create(given, Vec::new(), Vec::new(), None)
            .await
            .unwrap();
        let claim = store.claim(id, Uuid::new_v4(), at, at + 1).await.unwrap();
        assert_eq!(claim, None, "{status}");
    }
}

/// If 20 tasks claim an execution at once, one succeeds.
pub async fn succeeds_for_one_of_many(store: Stored) {
    let id = started(&store).await;
    let claims = at_once(20, |_| {
        let store = store.clone();
        async move { store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await }
    })
    .await;
    let given = claims.iter().filter(|it| matches!(it, Ok(Some(_)))).count();
    assert_eq!(given, 1);
    assert!(claims.iter().all(Result::is_ok));
    assert_eq!(stored(&store, id).await.fence, 1);
}

/// A claim changes nothing in the row but the fence.
pub async fn changes_nothing_else(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5)]).await;
    let before = stored(&store, id).await;
    let row = store.claim(id, Uuid::new_v4(), NOW + 9, NOW + LEASE).await;
    let expected = Row { fence: 2, ..before };
    assert_eq!(row.unwrap(), Some(expected));
}

/// A prolonged claim is returned with its fence: a holder that has lost an execution and claimed it
/// again learns that its first claim is over.
pub async fn is_prolonged_with_its_fence(store: Stored) {
    let holder = Uuid::new_v4();
    let id = started(&store).await;
    for (who, now) in [
        (holder, NOW),
        (Uuid::new_v4(), NOW + LEASE),
        (holder, NOW + 2 * LEASE),
    ] {
        let claimed = store.claim(id, who, now, now + LEASE).await.unwrap();
        assert!(claimed.is_some());
    }
    let renewed = store.renew(holder, NOW + 4 * LEASE).await.unwrap();
    assert_eq!(renewed, [Renewal { id, fence: 3 }]);
}

/// All claims of a holder are prolonged and returned.
pub async fn is_prolonged(store: Stored) {
    let holder = Uuid::new_v4();
    let mut held = Vec::new();
    for _ in 0..3 {
        let id = started(&store).await;
        store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
        held.push(id);
    }
    let released = crate::Append {
        release: true,
        ..append(Vec::new())
    };
    store.append(held.remove(1), 1, released).await.unwrap();
    let mut renewed = renewed(&store, holder, NOW + 2 * LEASE).await;
    renewed.sort();
    assert_eq!(renewed, held);
    let before_end = NOW + 2 * LEASE - 1;
    for id in held {
        let claim = store
            .claim(id, Uuid::new_v4(), before_end, before_end + 1)
            .await;
        assert_eq!(claim.unwrap(), None);
        assert_eq!(stored(&store, id).await.fence, 1);
        let claim = store.claim(id, Uuid::new_v4(), before_end + 1, before_end + 2);
        assert!(claim.await.unwrap().is_some());
    }
}

/// A claim that has run out is prolonged, unless somebody else has taken it.
pub async fn is_prolonged_after_it_ran_out(store: Stored) {
    let holder = Uuid::new_v4();
    let (kept, taken) = (started(&store).await, started(&store).await);
    for id in [kept, taken] {
        store.claim(id, holder, NOW, NOW + 1).await.unwrap();
    }
    let other = store
        .claim(taken, Uuid::new_v4(), NOW + 5, NOW + LEASE)
        .await;
    assert!(other.unwrap().is_some());
    assert_eq!(renewed(&store, holder, NOW + LEASE).await, [kept]);
    let claim = store
        .claim(kept, Uuid::new_v4(), NOW + 6, NOW + LEASE)
        .await;
    assert_eq!(claim.unwrap(), None);
    store.append(kept, 1, append(records(1..2))).await.unwrap();
    let stale = store.append(taken, 1, append(records(1..2))).await;
    assert!(matches!(stale, Err(StoreError::LeaseLost(id)) if id == taken));
}

/// A claim that is valid for longer stays so.
pub async fn is_not_shortened(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(renewed(&store, holder, NOW + 1).await, [id]);
    let claim = store.claim(id, Uuid::new_v4(), NOW + 2, NOW + 3).await;
    assert_eq!(claim.unwrap(), None);
}

/// A holder without claims prolongs none. Claims to executions that are over are not prolonged
/// either.
pub async fn is_not_prolonged_for_another_holder(store: Stored) {
    let (id, _) = claimed(&store).await;
    let ended = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(ended, holder, NOW, NOW + LEASE).await.unwrap();
    let record = record(0, crate::RecordKind::RunCancelled);
    let end = store
        .end(ended, Status::Cancelled, "stopped", record, EndIf::NotOver)
        .await;
    assert_eq!(end.unwrap().status, Status::Cancelled);
    assert!(
        store
            .renew(holder, NOW + 9 * LEASE)
            .await
            .unwrap()
            .is_empty()
    );
    let at = NOW + LEASE;
    assert!(store.claim(id, holder, at, at + 1).await.unwrap().is_some());
}

/// A caller who knows that a holder is gone can break its claim: only that claim, and once.
pub async fn is_broken_if_it_is_still_the_same(store: Stored) {
    let id = started(&store).await;
    let (holder, ahead) = (Uuid::new_v4(), NOW + HOUR);
    assert_eq!(store.claim_of(id).await.unwrap(), None);
    let claim = store.claim(id, holder, ahead, ahead + LEASE).await;
    assert!(claim.unwrap().is_some());
    let claim = store.claim_of(id).await.unwrap().unwrap();
    assert_eq!(claim, Claim::new(holder, ahead, ahead + LEASE));
    assert!(claim.is_ahead(NOW) && !claim.is_ahead(ahead));

    assert_eq!(renewed(&store, holder, ahead + 2 * LEASE).await, [id]);
    let before = everything(&store, id).await;
    assert!(!store.break_claim(id, claim).await.unwrap());
    assert_eq!(everything(&store, id).await, before);
    let refused = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
    assert_eq!(refused.unwrap(), None);

    let renewed = store.claim_of(id).await.unwrap().unwrap();
    assert_eq!(
        renewed,
        Claim::new(holder, ahead + LEASE, ahead + 2 * LEASE)
    );
    assert!(store.break_claim(id, renewed).await.unwrap());
    assert_eq!(everything(&store, id).await, before, "but for the claim");
    assert!(!store.break_claim(id, renewed).await.unwrap());
    let row = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
    assert_eq!(row.unwrap().expect("it is free").fence, 2);
    assert!(!store.break_claim(new_id(), renewed).await.unwrap());
    assert_eq!(store.claim_of(new_id()).await.unwrap(), None);
}

/// If nobody has taken over a broken claim, a holder that was not gone after all can prolong it.
pub async fn is_prolonged_after_it_was_broken(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    let claim = store.claim_of(id).await.unwrap().unwrap();
    assert!(store.break_claim(id, claim).await.unwrap());
    assert_eq!(first_due(&store, NOW, 9).await, [id]);
    store.append(id, 1, append(records(1..2))).await.unwrap();
    assert_eq!(renewed(&store, holder, NOW + LEASE).await, [id]);
    assert_eq!(store.claim_of(id).await.unwrap(), Some(claim));
    assert!(first_due(&store, NOW, 9).await.is_empty());
}

/// A claim keeps its length: one that is longer than others is not ahead.
pub async fn is_as_long_as_it_was_made_for(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(id, holder, NOW, NOW + 9 * LEASE).await.unwrap();
    assert!(first_due(&store, NOW, 9).await.is_empty());
    for (now, is_free) in [
        (NOW, false),
        (NOW + 9 * LEASE - 1, false),
        (NOW + 9 * LEASE, true),
    ] {
        let claim = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
        assert_eq!(claim.unwrap().is_some(), is_free);
    }
}
