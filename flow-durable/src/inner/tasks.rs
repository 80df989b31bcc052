//! Tasks of a runtime, and how they are woken.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use flow_store::ExecutionId;
use futures_util::future::{Either, select};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::lock;
use crate::clock::{Clock, sleep_until};

/// Cancels when it is dropped.
pub(crate) struct Gone(pub(crate) CancellationToken);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A task that runs at most once at a time: it may be spawned again when it has ended, or when its
/// tokio runtime has.
#[derive(Default)]
pub(crate) struct Once(Arc<AtomicBool>);

impl Once {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if self.0.swap(true, Ordering::AcqRel) {
            return;
        }
        let ended = Ended(self.0.clone());
        tokio::spawn(async move {
            let _ended = ended;
            task.await;
        });
    }
}

pub(crate) struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
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
