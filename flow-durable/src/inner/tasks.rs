//! The tasks of a runtime, and the times at which they wake.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use flow_store::ExecutionId;
use futures_util::future::{Either, select};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::lock;
use crate::clock::{Clock, sleep_until};

/// Cancels its token when it is dropped.
pub(crate) struct Gone(pub(crate) CancellationToken);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A task that runs at most once at a time: it may be spawned again when it has ended, or when its
/// tokio runtime has.
pub(crate) struct Once(Arc<watch::Sender<bool>>);

impl Default for Once {
    fn default() -> Self {
        Once(Arc::new(watch::Sender::new(false)))
    }
}

impl Once {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
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
    pub(crate) async fn ended(&self) {
        let mut runs = self.0.subscribe();
        // The sender lives in `self`.
        let _ = runs.wait_for(|runs| !runs).await;
    }
}

pub(crate) struct Ended(Arc<watch::Sender<bool>>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// Executions by the time at which they continue by themselves.
#[derive(Default)]
pub(crate) struct Alarm {
    times: Mutex<BTreeSet<(u64, ExecutionId)>>,
    changed: Notify,
}

impl Alarm {
    pub(crate) fn set(&self, at_ms: u64, id: ExecutionId) {
        lock(&self.times).insert((at_ms, id));
        self.changed.notify_one();
    }

    /// Waits for the next execution whose time has come.
    pub(crate) async fn next(&self, clock: &Clock) -> ExecutionId {
        loop {
            let first = lock(&self.times).first().copied();
            let Some((at_ms, id)) = first else {
                self.changed.notified().await;
                continue;
            };
            let time = pin!(sleep_until(clock, at_ms));
            if let Either::Left(_) = select(time, pin!(self.changed.notified())).await {
                lock(&self.times).remove(&(at_ms, id));
                return id;
            }
        }
    }
}
