use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::fixtures::*;
use crate::{Claim, ExecutionId, Row, Status, Store, Take};

/// The time that a case waits for a claim to expire.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a case on a separate store. `None` skips it.
///
/// # Panics
///
/// The case fails.
pub fn test<S: Store, FreshFuture, CaseFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    case: impl FnOnce(Stored) -> CaseFuture,
) where
    FreshFuture: Future<Output = Option<S>>,
    CaseFuture: Future<Output = ()>,
{
    super::run(fresh, async |store| {
        if let Some(store) = store {
            case(Arc::new(store)).await;
        }
    });
}

/// Returns the time of the store's clock.
async fn clock(store: &Stored) -> u64 {
    let now = store.clock_ms().await.unwrap();
    now.expect("the store has a clock of its own")
}

/// Returns the times of three callers: one whose clock is right, and two whose clocks are wrong.
async fn callers(store: &Stored) -> [u64; 3] {
    let now = clock(store).await;
    [now - HOUR, now, now + HOUR]
}

/// Checks that nobody can claim an execution, whatever their own clock shows.
async fn is_kept_from_all(store: &Stored, id: ExecutionId) {
    let fence = stored(store, id).await.fence;
    for now in callers(store).await {
        let claim = store.claim(id, Uuid::new_v4(), now, now + LEASE).await;
        assert_eq!(claim.unwrap(), None, "at {now}");
        assert!(!first_due(store, now, 99).await.contains(&id), "at {now}");
    }
    assert_eq!(stored(store, id).await.fence, fence);
}

/// Returns the end of an execution's claim.
async fn claimed_until(store: &Stored, id: ExecutionId) -> u64 {
    let claim = store.claim_of(id).await.unwrap();
    claim.expect("it is claimed").until_ms
}

/// The clock runs as fast as any other.
pub async fn goes_on(store: Stored) {
    // Before the first reading, so that a late answer is not blamed on the clock.
    let began = Instant::now();
    let before = clock(&store).await;
    let mut now = before;
    while now == before {
        assert!(began.elapsed() < PATIENCE);
        now = clock(&store).await;
    }
    assert!(now > before);
    let since = Duration::from_millis(now - before);
    assert!(since <= began.elapsed() + Duration::from_millis(2));
}

/// A claim is valid for all callers alike, whatever the clock of its holder shows.
pub async fn keeps_claims_from_all(store: Stored) {
    for at_holder in callers(&store).await {
        let (id, holder) = (started(&store).await, Uuid::new_v4());
        let before = clock(&store).await;
        let claim = store.claim(id, holder, at_holder, at_holder + LEASE).await;
        assert!(claim.unwrap().is_some());
        let until = claimed_until(&store, id).await;
        let after = clock(&store).await;
        assert!((before + LEASE..=after + LEASE).contains(&until));
        is_kept_from_all(&store, id).await;
    }
}

/// A claim expires when its length has passed, and not before.
pub async fn ends_claims_after_their_length(store: Stored) {
    for at_holder in callers(&store).await {
        for at_other in callers(&store).await {
            let id = started(&store).await;
            let began = Instant::now();
            let claim = store.claim(id, Uuid::new_v4(), at_holder, at_holder + 100);
            assert!(claim.await.unwrap().is_some());
            loop {
                let claim = store.claim(id, Uuid::new_v4(), at_other, at_other + LEASE);
                if claim.await.unwrap().is_some() {
                    break;
                }
                assert!(began.elapsed() < PATIENCE);
            }
            // The store's clock counts whole milliseconds.
            assert!(began.elapsed() >= Duration::from_millis(99));
        }
    }
}

/// A claim is prolonged by its length, counted from the call.
pub async fn prolongs_claims_by_their_length(store: Stored) {
    for at_holder in callers(&store).await {
        let (id, holder) = (started(&store).await, Uuid::new_v4());
        let claim = store.claim(id, holder, at_holder, at_holder + LEASE).await;
        assert!(claim.unwrap().is_some());
        let first = claimed_until(&store, id).await;
        while clock(&store).await + LEASE <= first {}
        let before = clock(&store).await;
        assert_eq!(renewed(&store, holder, at_holder + LEASE).await, [id]);
        let until = claimed_until(&store, id).await;
        let after = clock(&store).await;
        assert!((before + LEASE..=after + LEASE).contains(&until));
        assert!(until > first);
        is_kept_from_all(&store, id).await;
    }
}

/// The first claim of a new execution is made by the store's clock.
pub async fn makes_first_claims(store: Stored) {
    for at_holder in callers(&store).await {
        let given = row(new_id());
        let id = given.id;
        let claim = Claim::new(Uuid::new_v4(), at_holder, at_holder + LEASE);
        let created = store.create(given, records(0..1), Vec::new(), Some(claim));
        created.await.unwrap();
        assert!(claimed_until(&store, id).await <= clock(&store).await + LEASE);
        is_kept_from_all(&store, id).await;
    }
}

/// Claims of executions from the queue are made by the store's clock.
pub async fn makes_claims_of_the_queue(store: Stored) {
    for at_holder in callers(&store).await {
        let queued = Row {
            status: Status::Queued,
            ..row(new_id())
        };
        let id = queued.id;
        let created = store.create(queued, records(0..1), Vec::new(), None);
        created.await.unwrap();
        let take = Take {
            flows: [("orders".to_owned(), 9)].into(),
            limit: 9,
            holder: Uuid::new_v4(),
            now_ms: at_holder,
            until_ms: at_holder + LEASE,
        };
        assert_eq!(store.take_queued(&take).await.unwrap().len(), 1);
        assert!(claimed_until(&store, id).await <= clock(&store).await + LEASE);
        is_kept_from_all(&store, id).await;
    }
}

/// A queued execution with a claim is not taken, whatever the caller's clock shows.
pub async fn keeps_claimed_ones_in_the_queue(store: Stored) {
    let queued = Row {
        status: Status::Queued,
        ..row(new_id())
    };
    let now = clock(&store).await;
    let claim = Claim::new(Uuid::new_v4(), now - HOUR, now - HOUR + LEASE);
    let created = store.create(queued, records(0..1), Vec::new(), Some(claim));
    created.await.unwrap();
    for now_ms in callers(&store).await {
        let take = Take {
            flows: [("orders".to_owned(), 9)].into(),
            limit: 9,
            holder: Uuid::new_v4(),
            now_ms,
            until_ms: now_ms + LEASE,
        };
        assert!(store.take_queued(&take).await.unwrap().is_empty());
    }
}
