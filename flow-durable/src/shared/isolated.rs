//! Observers whose panics are counted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flow_runtime::{Event, Observer};

/// An observer whose panics are caught and counted.
pub(crate) struct Isolated {
    observer: Arc<dyn Observer>,
    failures: Arc<AtomicU64>,
}

impl Isolated {
    pub(crate) fn new(observer: Arc<dyn Observer>, failures: Arc<AtomicU64>) -> Self {
        Isolated { observer, failures }
    }
}

impl Observer for Isolated {
    fn on_event(&self, event: &Event<'_>) {
        if catch_unwind(AssertUnwindSafe(|| self.observer.on_event(event))).is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }
}
