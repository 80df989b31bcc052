//! The hints of the store, with which the writes of other processes are noticed at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// The interval at which waiters look for records if there are no hints.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The interval if there are hints. A crash can lose a hint.
const LOOK_AGAIN_WITH_HINTS: Duration = Duration::from_secs(2);

/// The hints of the store.
#[derive(Default)]
pub(crate) struct Hints {
    pub(super) are_live: Arc<AtomicBool>,
    /// Notified when there may be work that another process has left.
    pub(crate) work: Arc<Notify>,
}

impl Hints {
    /// The time to wait before looking for records that another process has written without a
    /// notification.
    pub(crate) fn look_again(&self) -> Duration {
        if self.are_live.load(Ordering::Acquire) {
            LOOK_AGAIN_WITH_HINTS
        } else {
            LOOK_AGAIN
        }
    }
}
