//! Lets steps begin, and counts those that have begun.

use std::future::pending;
use std::time::Duration;

use super::Journal;

/// A step that has begun, until this is dropped.
pub(crate) struct Begun<'a>(&'a Journal);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.state().gate.begun -= 1;
    }
}

/// A step that has begun and only waits, until this is dropped.
pub(crate) struct Aside<'a>(&'a Journal);

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        self.0.state().gate.aside -= 1;
    }
}

impl Journal {
    /// Returns when the execution belongs to this process.
    async fn leased(&self) {
        if let Some(lease) = &self.lease {
            lease.held().await;
        }
    }

    /// The length of the lease, if a step waits for it to be renewed.
    pub(crate) fn awaited_lease(&self) -> Option<Duration> {
        let lease = self.lease.as_ref().filter(|lease| lease.is_awaited())?;
        Some(lease.length())
    }

    /// Returns when the execution belongs to this process, so that a step may begin. If no further
    /// step may begin, this never returns: the driver drops the run.
    pub(crate) async fn begin(&self) -> Begun<'_> {
        self.leased().await;
        match self.enter() {
            Some(begun) => begun,
            None => pending().await,
        }
    }

    /// Returns when a step that has begun may be retried. The same conditions apply.
    pub(crate) async fn goes_on(&self) {
        self.leased().await;
        if self.begins_no_more() {
            let _aside = self.aside();
            pending::<()>().await;
        }
    }

    /// Returns true if a step may continue now: [`goes_on`](Journal::goes_on) would not wait.
    pub(super) fn may_go_on(&self) -> bool {
        !self.begins_no_more() && self.lease.as_ref().is_none_or(|lease| lease.is_held())
    }

    /// Marks that a step that has begun only waits, so that a drain does not wait for it.
    pub(crate) fn aside(&self) -> Aside<'_> {
        self.state().gate.aside += 1;
        Aside(self)
    }

    fn enter(&self) -> Option<Begun<'_>> {
        let mut state = self.state();
        if state.gate.is_closed {
            return None;
        }
        state.gate.begun += 1;
        Some(Begun(self))
    }

    /// Stops starting new steps.
    pub(crate) fn begin_no_more(&self) {
        self.state().gate.is_closed = true;
    }

    pub(crate) fn begins_no_more(&self) -> bool {
        self.state().gate.is_closed
    }

    /// Returns true if no further step begins, those that had begun have ended, and all records are
    /// stored.
    pub(crate) fn is_drained(&self) -> bool {
        let have_ended = {
            let gate = &self.state().gate;
            gate.is_closed && gate.begun == gate.aside
        };
        have_ended && !self.is_urgent() && !self.has_pending()
    }
}
