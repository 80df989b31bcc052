//! The times at which executions continue or begin.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Mutex;

use flow_store::ExecutionId;
use futures_util::future::{Either, select};
use tokio::sync::Notify;

use crate::clock::{Clock, sleep_until};
use crate::lock::lock;

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
