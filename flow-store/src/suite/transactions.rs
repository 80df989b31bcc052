use std::any::Any;
use std::path::PathBuf;

use async_trait::async_trait;
use uuid::Uuid;

use super::fixtures::*;
use crate::{Append, ExecutionId, Status, StoreError, StoreTransaction};

/// A store with transactions, and a table of a step in its database.
#[async_trait]
pub trait Ledger: Send + Sync + 'static {
    /// The store.
    fn store(&self) -> Stored;

    /// Adds a row to the table through the handle of a transaction.
    async fn write(&self, handle: &mut (dyn Any + Send));

    /// Returns the number of committed rows.
    async fn rows(&self) -> usize;
}

pub type Kept = std::sync::Arc<dyn Ledger>;

/// Runs a case on a separate store. `None` skips it.
///
/// # Panics
///
/// The case fails.
pub fn test<L: Ledger, FreshFuture, CaseFuture>(
    fresh: impl FnOnce(PathBuf) -> FreshFuture,
    case: impl FnOnce(Kept) -> CaseFuture,
) where
    FreshFuture: Future<Output = Option<L>>,
    CaseFuture: Future<Output = ()>,
{
    super::run(fresh, async |ledger| {
        if let Some(ledger) = ledger {
            case(std::sync::Arc::new(ledger)).await;
        }
    });
}

/// Begins a transaction and writes a row in it.
async fn begun(ledger: &Kept) -> Box<dyn StoreTransaction> {
    let mut begun = ledger.store().begin().await.unwrap();
    ledger.write(begun.handle()).await;
    begun.check().await.unwrap();
    begun
}

/// Checks that a transaction can be committed now, as the first one.
async fn is_the_first(ledger: &Kept, id: ExecutionId, fence: u64) {
    let write = append(records(1..2));
    begun(ledger).await.append(id, fence, write).await.unwrap();
    assert_eq!(ledger.rows().await, 1);
    let records = ledger.store().records(id, 0, 9).await.unwrap();
    assert_eq!(records.len(), 2);
}

/// The store names the type that its steps write with.
pub async fn name_their_handle(ledger: Kept) {
    let name = ledger.store().transactions();
    assert!(name.is_some_and(|name| name.contains("::")), "{name:?}");
}

/// The writes of the step are committed with its record. The execution is as after any write.
pub async fn commit_the_rows_with_the_record(ledger: Kept) {
    let store = ledger.store();
    let (id, fence) = claimed(&store).await;
    is_the_first(&ledger, id, fence).await;
    let end = Append {
        status: Some(Status::Completed),
        ..append(records(2..3))
    };
    begun(&ledger).await.append(id, fence, end).await.unwrap();
    assert_eq!(ledger.rows().await, 2);
    let row = stored(&store, id).await;
    assert_eq!((row.status, row.next_seq), (Status::Completed, 3));
    assert_eq!(store.claim_of(id).await.unwrap(), None);
    assert_eq!(log(&store, 0, 9).await.len(), 3);
}

/// A process that has lost the execution commits nothing.
pub async fn commit_nothing_with_an_old_fence(ledger: Kept) {
    let store = ledger.store();
    let (id, fence) = claimed(&store).await;
    let (now, until) = (NOW + LEASE, NOW + 2 * LEASE);
    let claim = store.claim(id, Uuid::new_v4(), now, until).await.unwrap();
    let before = everything(&store, id).await;
    let late = begun(&ledger).await;
    let late = late.append(id, fence, append(records(1..2))).await;
    assert!(matches!(late, Err(StoreError::LeaseLost(_))), "{late:?}");
    assert_eq!(ledger.rows().await, 0);
    assert_eq!(everything(&store, id).await, before);
    let claim = claim.expect("the other one has run out");
    is_the_first(&ledger, id, claim.fence).await;
}

/// A write that is refused for any other reason commits nothing either.
pub async fn commit_nothing_with_a_gap(ledger: Kept) {
    let store = ledger.store();
    let (id, fence) = claimed(&store).await;
    let before = everything(&store, id).await;
    let gap = begun(&ledger).await;
    let gap = gap.append(id, fence, append(records(5..6))).await;
    assert!(matches!(gap, Err(StoreError::Other(_))), "{gap:?}");
    assert_eq!(ledger.rows().await, 0);
    assert_eq!(everything(&store, id).await, before);
    is_the_first(&ledger, id, fence).await;
}

/// Signals are taken together with the writes of the step. If one is not there, nothing is
/// committed.
pub async fn take_signals_with_the_record(ledger: Kept) {
    let store = ledger.store();
    let (id, fence) = claimed(&store).await;
    for name in ["paid", "called"] {
        store.signal(id, signal(name)).await.unwrap();
    }
    let taking = |number| Append {
        taken: vec![number],
        status: Some(Status::Paused),
        awaited: vec!["called".to_owned()],
        ..append(records(1..2))
    };
    let before = everything(&store, id).await;
    let refused = begun(&ledger).await.append(id, fence, taking(3)).await;
    assert!(matches!(refused, Err(StoreError::Other(_))), "{refused:?}");
    assert_eq!(ledger.rows().await, 0);
    assert_eq!(everything(&store, id).await, before);
    begun(&ledger)
        .await
        .append(id, fence, taking(1))
        .await
        .unwrap();
    assert_eq!(ledger.rows().await, 1);
    let signals = store.signals(id).await.unwrap();
    assert_eq!(signals.iter().map(|it| it.number).collect::<Vec<_>>(), [2]);
    assert_eq!(stored(&store, id).await.wake_ms, Some(NOW + 1));
}

/// A transaction that is rolled back leaves nothing.
pub async fn leave_nothing_when_rolled_back(ledger: Kept) {
    let (id, fence) = claimed(&ledger.store()).await;
    begun(&ledger).await.roll_back().await;
    assert_eq!(ledger.rows().await, 0);
    is_the_first(&ledger, id, fence).await;
}

/// A transaction that is dropped leaves nothing.
pub async fn leave_nothing_when_dropped(ledger: Kept) {
    let (id, fence) = claimed(&ledger.store()).await;
    drop(begun(&ledger).await);
    assert_eq!(ledger.rows().await, 0);
    is_the_first(&ledger, id, fence).await;
}

/// Without an execution, the rows are committed alone.
pub async fn commit_rows_alone(ledger: Kept) {
    begun(&ledger).await.commit().await.unwrap();
    assert_eq!(ledger.rows().await, 1);
    assert_eq!(ledger.store().last_offset().await.unwrap(), 0);
}

/// Many concurrent transactions all commit, each for its own execution.
pub async fn commit_beside_each_other(ledger: Kept) {
    let ids = at_once(12, |_| {
        let ledger = ledger.clone();
        async move {
            let (id, fence) = claimed(&ledger.store()).await;
            let begun = begun(&ledger).await;
            let written = begun.append(id, fence, append(records(1..2))).await;
            written.map(|()| id)
        }
    });
    for id in ids.await {
        assert_eq!(stored(&ledger.store(), id.unwrap()).await.next_seq, 2);
    }
    assert_eq!(ledger.rows().await, 12);
}
