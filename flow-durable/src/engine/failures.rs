//! Records of starts and failures, and panics as failures of steps.

use std::future::Future;

use flow_runtime::engine::{Failed, Failure, Frame, Guarded, Place};
use flow_runtime::{EventKind, NodeError};
use flow_store::RecordKind;
use futures_util::future::FutureExt as _;

use crate::engine::Durable;
use crate::journal::NewRecord;

/// The work of a step, in which a panic is a failure of the step. Attempts catch their own panics:
/// this catches those of `prep`, of a fallback, or of a node that cannot fail.
pub(super) fn caught<'a, T: Send>(
    place: &'a Place,
    work: impl Future<Output = Result<T, Failed>> + Send + 'a,
) -> impl Future<Output = Result<T, Failed>> + Send + 'a {
    Guarded::new(work, true).map(|result| {
        result.unwrap_or_else(|panicked| {
            let path = place.path.clone();
            Err(NodeError::new(path, 1, Failure::Panicked(panicked)).into())
        })
    })
}

impl Durable {
    /// Records that an attempt at a flow, a fork or a loop has failed. Returns false if it was
    /// already recorded.
    pub(super) fn record_failed(&self, place: &Place, attempt: u32, failed: &Failed) -> bool {
        let is_new = !self.journal.replaying(|replay| replay.has_failed(place));
        if is_new {
            self.journal.add(NewRecord {
                kind: RecordKind::FlowFailed,
                place,
                attempt,
                payload: format!("{failed:#}"),
            });
        }
        is_new
    }

    pub(super) fn started(&self, frame: &Frame<'_>, place: &Place) {
        if self.journal.start(place) {
            self.run.emit(frame.path(), EventKind::NodeStarted);
        }
    }
}
