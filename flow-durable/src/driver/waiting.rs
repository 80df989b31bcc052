//! The events that a driver waits for, besides its run.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use flow_store::{ExecutionId, PauseState, Settlement, Store, StoreError};
use futures_util::task::AtomicWaker;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::Signals;
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

/// The write of the records of a run.
pub(super) enum WriteState {
    Idle,
    /// Records that nobody waits for are written at this time.
    Later(Pin<Box<Sleep>>),
    Writing {
        append: Appending,
        /// The number of the next record after them.
        next_seq: u64,
        /// The path of the first of them.
        path: Option<String>,
    },
}

impl WriteState {
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self, WriteState::Writing { .. })
    }

    /// Ready when records that nobody waits for have been unwritten for this long.
    pub(super) fn poll_time(&mut self, after: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if let WriteState::Idle = self {
            *self = WriteState::Later(Box::pin(tokio::time::sleep(after)));
        }
        match self {
            WriteState::Later(time) => time.as_mut().poll(cx),
            WriteState::Idle | WriteState::Writing { .. } => Poll::Pending,
        }
    }
}

/// The look for answers to the questions of a run, and for signals.
pub(super) enum LookState {
    Idle,
    /// The store is asked at this time.
    Later(Pin<Box<Sleep>>),
    Looking(Looking),
}

impl LookState {
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self, LookState::Looking(_))
    }

    /// Sets the time of the next look: after this duration at the latest.
    pub(super) fn set_time(&mut self, soon: Duration) {
        let at = Instant::now() + soon;
        match self {
            LookState::Idle => *self = LookState::Later(Box::pin(tokio::time::sleep(soon))),
            LookState::Later(time) if time.deadline() > at => time.as_mut().reset(at),
            LookState::Later(_) | LookState::Looking(_) => {}
        }
    }

    /// Ready when it is time to look.
    pub(super) fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self {
            LookState::Later(time) => time.as_mut().poll(cx),
            LookState::Idle | LookState::Looking(_) => Poll::Pending,
        }
    }
}

/// The events that a driver waits for, besides the run.
pub(super) struct Waiting {
    pub(super) run: Arc<RunWaker>,
    pub(super) waker: Waker,
    pub(super) write: WriteState,
    pub(super) look: LookState,
    /// Ready if the claim is lost. `None` unless a step waits for the lease to be renewed.
    pub(super) claim: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    pub(super) mail: Pin<Box<dyn Future<Output = ()> + Send>>,
    pub(super) lost: Pin<Box<WaitForCancellationFutureOwned>>,
    pub(super) shut_down: Pin<Box<WaitForCancellationFutureOwned>>,
    pub(super) draining: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Waiting {
    pub(super) fn new(signals: &Signals) -> Self {
        let run = Arc::new(RunWaker {
            woken: AtomicBool::new(true),
            ..RunWaker::default()
        });
        Waiting {
            waker: Waker::from(run.clone()),
            run,
            write: WriteState::Idle,
            look: LookState::Idle,
            claim: None,
            mail: signals.next_mail(),
            lost: Box::pin(signals.lost.clone().cancelled_owned()),
            shut_down: Box::pin(signals.shut_down.clone().cancelled_owned()),
            draining: Box::pin(signals.draining.clone().cancelled_owned()),
        }
    }

    /// Returns true if the store is not used.
    pub(super) fn is_idle(&self) -> bool {
        !self.write.is_under_way() && !self.look.is_under_way()
    }
}

/// Passes on the answers to the questions of the run, and the signals for which it waits. Questions
/// that have expired can no longer be answered.
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
    if !journal.awaited_signals().is_empty() {
        let signals = store.signals(journal.execution()).await?;
        journal.deliver(signals, now_ms);
    }
    if journal.asked().is_empty() {
        return Ok(());
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
