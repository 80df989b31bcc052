//! The events that a driver waits for, besides its run.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use flow_store::{ExecutionId, PauseState, Settlement, Store, StoreError};
use futures_util::task::AtomicWaker;
use tokio::time::Sleep;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::journal::Journal;

type Appending = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;
type Looking = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// Wakes the driver, and remembers whether the run was woken: only then does the driver poll it.
#[derive(Default)]
pub(super) struct RunWaker {
    pub(super) woken: AtomicBool,
    pub(super) driver: AtomicWaker,
}

impl Wake for RunWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.driver.wake();
    }
}

/// The events that a driver waits for, besides the run.
pub(super) struct Waiting {
    pub(super) run: Arc<RunWaker>,
    pub(super) waker: Waker,
    pub(super) appending: Option<(Appending, u64, Option<String>)>,
    pub(super) looking: Option<Looking>,
    pub(super) flush: Option<Pin<Box<Sleep>>>,
    pub(super) look_at: Option<Pin<Box<Sleep>>>,
    /// Ready if the claim is lost. `None` unless a step waits for the lease to be renewed.
    pub(super) claim: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    pub(super) mail: Pin<Box<dyn Future<Output = ()> + Send>>,
    pub(super) lost: Pin<Box<WaitForCancellationFutureOwned>>,
    pub(super) shut_down: Pin<Box<WaitForCancellationFutureOwned>>,
    pub(super) draining: Pin<Box<WaitForCancellationFutureOwned>>,
}

/// Passes on the answers to the questions of the run. Questions that have expired can no longer be
/// answered.
pub(super) async fn look(store: Arc<dyn Store>, journal: Arc<Journal>) -> Result<(), StoreError> {
    let now_ms = journal.now_ms();
    for token in journal.expired(now_ms) {
        let before = store.settle(token, Settlement::TimedOut, now_ms).await?;
        // The process that now has the execution has closed the question. Without this check, the
        // driver would look at it again and again without a pause.
        if before.state.is_closed() && journal.is_asked(token) {
            return Err(StoreError::LeaseLost(journal.execution()));
        }
    }
    for row in store.pauses(journal.execution()).await? {
        match row.state {
            PauseState::Answered(answer) => journal.settle(row.token, Settlement::Answer(answer)),
            PauseState::TimedOut => journal.settle(row.token, Settlement::TimedOut),
            PauseState::Open | PauseState::Used | PauseState::Expired | PauseState::Withdrawn => {}
        }
    }
    Ok(())
}

/// Returns when the store says that the claim with this fence is over. Checks once per length of a
/// lease. While the store cannot be read, the claim may still be renewed.
pub(super) async fn claim_is_lost(
    store: Arc<dyn Store>,
    id: ExecutionId,
    fence: u64,
    length: Duration,
) {
    loop {
        tokio::time::sleep(length).await;
        if let Ok(row) = store.without_result(id).await
            && row.is_none_or(|row| row.fence != fence || row.status.is_over())
        {
            return;
        }
    }
}
