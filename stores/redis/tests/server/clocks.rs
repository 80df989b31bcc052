//! Claims are judged by the clock of the server, and other times by those that callers give.

use std::time::{Duration, Instant};

use flow_redis::RedisStore;
use flow_store::suite::fixtures::{HOUR, LEASE, append, claimed, started};
use flow_store::{Append, ExecutionId, Status, Store as _};
use uuid::Uuid;

use crate::servers::{shared, with_its_clock};

/// How long a case waits for a claim to run out.
const PATIENCE: Duration = Duration::from_secs(120);

/// A store with its clock, and the time there.
async fn store() -> Option<(RedisStore, u64)> {
    let store = RedisStore::connect_with(&shared()?.url(), with_its_clock()).await;
    let store = store.unwrap();
    let now = store.clock_ms().await.unwrap();
    Some((store, now.expect("the server has a clock")))
}

/// It is from when it was made, and can be broken.
#[tokio::test]
async fn a_claim_for_ever_keeps_its_times() {
    let Some((store, before)) = store().await else {
        return;
    };
    let id = started(&store).await;
    let claimed = store.claim(id, Uuid::new_v4(), 0, u64::MAX).await;
    assert!(claimed.unwrap().is_some());
    let claim = store.claim_of(id).await.unwrap().expect("it is claimed");
    let after = store.clock_ms().await.unwrap().unwrap();
    let at = claim.until_ms - claim.lease_ms;
    assert!((before..=after).contains(&at), "{at} {claim:?}");
    assert!(store.break_claim(id, claim).await.unwrap());
    let again = store.claim(id, Uuid::new_v4(), before, before + LEASE);
    assert!(again.await.unwrap().is_some());
}

async fn due(store: &RedisStore, now_ms: u64) -> Vec<ExecutionId> {
    let due = store.due(now_ms, None, 9).await.unwrap();
    due.into_iter().map(Result::unwrap).collect()
}

/// A timer is compared with the time of the caller, and a claim with that of the server.
#[tokio::test]
async fn timers_and_claims_are_judged_by_different_clocks() {
    let Some((store, now)) = store().await else {
        return;
    };
    let sleeping = {
        let (id, fence) = claimed(&store).await;
        let sleep = Append {
            status: Some(Status::Paused),
            timer_ms: Some(now + HOUR / 2),
            release: true,
            ..append(Vec::new())
        };
        store.append(id, fence, sleep).await.unwrap();
        id
    };
    assert_eq!(due(&store, now).await, []);
    assert_eq!(due(&store, now + HOUR).await, [sleeping]);

    // Somebody has it for a moment, and somebody else for long.
    let claim = async |lease_ms: u64| {
        let claim = store.claim(sleeping, Uuid::new_v4(), now, now + lease_ms);
        assert!(claim.await.unwrap().is_some(), "nobody has it");
    };
    claim(1).await;
    let began = Instant::now();
    while due(&store, now + HOUR).await != [sleeping] {
        assert!(began.elapsed() < PATIENCE);
    }
    claim(LEASE).await;
    assert_eq!(due(&store, now + 2 * HOUR).await, []);

    // What runs, and whose claim has run out, is due to all: also to one whose clock is behind.
    let running = started(&store).await;
    let claim = store.claim(running, Uuid::new_v4(), now, now + 1).await;
    assert!(claim.unwrap().is_some());
    let began = Instant::now();
    while due(&store, now - HOUR).await != [running] {
        assert!(began.elapsed() < PATIENCE);
    }
    assert_eq!(due(&store, now + 2 * HOUR).await, [running]);
}
