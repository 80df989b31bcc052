use uuid::Uuid;

use super::fixtures::*;
use crate::durable::store::{Row, Status, StoreError};

/// A claim returns the row as it is from then on, with a fence that is one more than before.
pub(super) async fn gives_the_next_fence(store: Stored) {
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
pub(super) async fn is_refused_while_one_is_valid(store: Stored) {
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

/// A claim is valid until its time, and not at it.
pub(super) async fn is_given_once_one_has_run_out(store: Stored) {
    let (id, _) = claimed(&store).await;
    let at = NOW + LEASE;
    let row = store.claim(id, Uuid::new_v4(), at, at + LEASE).await;
    assert_eq!(row.unwrap().expect("it has run out").fence, 2);
}

/// An execution that is over cannot be claimed.
pub(super) async fn is_refused_when_over(store: Stored) {
    for status in [Status::Completed, Status::Failed, Status::Cancelled] {
        let (id, fence) = claimed(&store).await;
        let over = crate::durable::store::Append {
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

/// Of 20 that claim an execution at once, one succeeds.
pub(super) async fn succeeds_for_one_of_many(store: Stored) {
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

/// A claim changes nothing of the row but the fence.
pub(super) async fn changes_nothing_else(store: Stored) {
    let id = paused(&store, |id| vec![expiring(id, NOW + 5)]).await;
    let before = stored(&store, id).await;
    let row = store.claim(id, Uuid::new_v4(), NOW + 9, NOW + LEASE).await;
    let expected = Row { fence: 2, ..before };
    assert_eq!(row.unwrap(), Some(expected));
}

/// All claims of a holder are prolonged, and named.
pub(super) async fn is_prolonged(store: Stored) {
    let holder = Uuid::new_v4();
    let mut held = Vec::new();
    for _ in 0..3 {
        let id = started(&store).await;
        store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
        held.push(id);
    }
    let released = crate::durable::store::Append {
        release: true,
        ..append(Vec::new())
    };
    store.append(held.remove(1), 1, released).await.unwrap();
    let mut renewed = store.renew(holder, NOW + 2 * LEASE).await.unwrap();
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
pub(super) async fn is_prolonged_after_it_ran_out(store: Stored) {
    let holder = Uuid::new_v4();
    let (kept, taken) = (started(&store).await, started(&store).await);
    for id in [kept, taken] {
        store.claim(id, holder, NOW, NOW + 1).await.unwrap();
    }
    let other = store
        .claim(taken, Uuid::new_v4(), NOW + 5, NOW + LEASE)
        .await;
    assert!(other.unwrap().is_some());
    assert_eq!(store.renew(holder, NOW + LEASE).await.unwrap(), [kept]);
    let claim = store
        .claim(kept, Uuid::new_v4(), NOW + 6, NOW + LEASE)
        .await;
    assert_eq!(claim.unwrap(), None);
    store.append(kept, 1, append(records(1..2))).await.unwrap();
    let stale = store.append(taken, 1, append(records(1..2))).await;
    assert!(matches!(stale, Err(StoreError::LeaseLost(id)) if id == taken));
}

/// A claim that is valid for longer stays so.
pub(super) async fn is_not_shortened(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(id, holder, NOW, NOW + LEASE).await.unwrap();
    assert_eq!(store.renew(holder, NOW + 1).await.unwrap(), [id]);
    let claim = store.claim(id, Uuid::new_v4(), NOW + 2, NOW + 3).await;
    assert_eq!(claim.unwrap(), None);
}

/// A holder that has no claim prolongs none, also not of what is over.
pub(super) async fn is_not_prolonged_for_another_holder(store: Stored) {
    let (id, _) = claimed(&store).await;
    let ended = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(ended, holder, NOW, NOW + LEASE).await.unwrap();
    let record = record(0, crate::durable::record::RecordKind::RunCancelled);
    let end = store.end(ended, Status::Cancelled, "stopped", record).await;
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

/// A claim that is valid for longer than it was made for comes from a clock that is ahead. Who wants the execution cuts it down
/// to its length, and can have it when that is over.
pub(super) async fn is_cut_down_if_its_clock_is_ahead(store: Stored) {
    let id = started(&store).await;
    let ahead = NOW + HOUR;
    let claim = store.claim(id, Uuid::new_v4(), ahead, ahead + LEASE).await;
    assert!(claim.unwrap().is_some());
    let before = stored(&store, id).await;
    for now in [NOW, NOW + 1, NOW + LEASE - 1] {
        let claim = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
        assert_eq!(claim.unwrap(), None);
        assert_eq!(stored(&store, id).await, before);
    }
    let now = NOW + LEASE;
    let row = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
    assert_eq!(row.unwrap().expect("it has run out").fence, 2);
}

/// A holder that lives prolongs its claim, however far its clock is ahead, and nobody else ever gets one.
pub(super) async fn is_kept_by_a_holder_whose_clock_is_ahead(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    let until = |now: u64| now + HOUR + LEASE;
    store
        .claim(id, holder, NOW + HOUR, until(NOW))
        .await
        .unwrap();
    for now in (NOW..NOW + 10 * LEASE).step_by(LEASE as usize / 3) {
        assert_eq!(store.renew(holder, until(now)).await.unwrap(), [id]);
        let claim = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
        assert_eq!(claim.unwrap(), None);
    }
    assert_eq!(stored(&store, id).await.fence, 1);
}

/// A claim keeps the length that it was made with: one that was made for longer than those of others is not cut down.
pub(super) async fn is_as_long_as_it_was_made_for(store: Stored) {
    let id = started(&store).await;
    let holder = Uuid::new_v4();
    store.claim(id, holder, NOW, NOW + 9 * LEASE).await.unwrap();
    for (now, is_free) in [
        (NOW, false),
        (NOW + 9 * LEASE - 1, false),
        (NOW + 9 * LEASE, true),
    ] {
        let claim = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
        assert_eq!(claim.unwrap().is_some(), is_free);
    }
}
