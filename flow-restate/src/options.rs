//! The options of an endpoint for each of its runs.

use std::sync::Arc;

use flow_runtime::engine::Path;
use flow_runtime::{DEFAULT_STEP_BUDGET, Event, EventKind, Observer, RunId, RunOptions};

use crate::operations::Operations;

/// The number of journal entries after which a run continues in a new invocation.
pub(crate) const ENTRIES: u64 = 4000;

#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) step_budget: u64,
    pub(crate) entries: u64,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            step_budget: DEFAULT_STEP_BUDGET,
            entries: ENTRIES,
            observers: Vec::new(),
        }
    }
}

impl Options {
    /// The options of a run with this step budget and these operations.
    pub(crate) fn of_run(&self, steps: u64, operations: &Operations) -> RunOptions {
        let options = RunOptions::new().step_budget(steps);
        let told = |observer: &Arc<dyn Observer>| -> Arc<dyn Observer> {
            Arc::new(Told {
                observer: observer.clone(),
                operations: operations.clone(),
            })
        };
        self.observers
            .iter()
            .map(told)
            .fold(options, RunOptions::observer)
    }
}

/// An observer that ignores two kinds of errors: those that leave a flow because it continues
/// elsewhere, and those caused by another failure.
struct Told {
    observer: Arc<dyn Observer>,
    operations: Operations,
}

impl Observer for Told {
    fn on_event(&self, event: &Event<'_>) {
        let failed = matches!(event.kind(), EventKind::RunFailed { .. });
        if !(failed && self.operations.is_left()) {
            self.observer.on_event(event);
        }
    }

    fn on_loop(&self, run: RunId, path: Path<'_>, items: usize) {
        self.observer.on_loop(run, path, items);
    }
}
