//! The tasks of a runtime, and how they are stopped.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The tasks of a runtime.
pub(crate) struct Tasks {
    /// Resumes executions whose time has come.
    pub(super) waking: Once,
    /// Begins queued executions.
    pub(super) taking: Once,
    /// Renews claims.
    pub(super) renewing: Once,
    /// Resumes executions that other processes have left.
    pub(super) recovering: Once,
    /// Listens to the hints of the store.
    pub(super) listening: Once,
    /// Cancelled when nothing may begin or continue here: before `shut_down`, or with it.
    pub(crate) draining: CancellationToken,
    pub(crate) shut_down: CancellationToken,
    /// Cancelled when the runtime is dropped or shut down.
    pub(super) gone: Gone,
}

impl Tasks {
    pub(super) fn new() -> Self {
        let shut_down = CancellationToken::new();
        let draining = shut_down.child_token();
        Tasks {
            waking: Once::default(),
            taking: Once::default(),
            renewing: Once::default(),
            recovering: Once::default(),
            listening: Once::default(),
            gone: Gone(draining.child_token()),
            draining,
            shut_down,
        }
    }

    /// Returns true if nothing may begin or continue here.
    pub(crate) fn are_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Returns when the tasks that begin and resume executions have ended. The claims that they
    /// were making when the runtime began to drain are then in use, or given up.
    pub(super) async fn begin_nothing(&self) {
        self.recovering.ended().await;
        self.taking.ended().await;
        self.waking.ended().await;
    }
}

/// Cancels its token when it is dropped.
pub(super) struct Gone(pub(super) CancellationToken);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A task that runs at most once at a time: it may be spawned again when it has ended, or when its
/// tokio runtime has.
pub(super) struct Once(Arc<watch::Sender<bool>>);

impl Default for Once {
    fn default() -> Self {
        Once(Arc::new(watch::Sender::new(false)))
    }
}

impl Once {
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let begins = |runs: &mut bool| !std::mem::replace(runs, true);
        if !self.0.send_if_modified(begins) {
            return;
        }
        let ended = Ended(self.0.clone());
        tokio::spawn(async move {
            let _ended = ended;
            task.await;
        });
    }

    /// Returns when the task does not run.
    async fn ended(&self) {
        let mut runs = self.0.subscribe();
        // The sender lives in `self`.
        let _ = runs.wait_for(|runs| !runs).await;
    }
}

struct Ended(Arc<watch::Sender<bool>>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}
