//! The executions that wait here: for a slot, for their time, or for both.

mod alarm;
mod slots;

use std::sync::Arc;

use crate::options::RuntimeOptions;
pub(crate) use alarm::Alarm;
pub(crate) use slots::{Slot, Slots};

/// The slots of this process, and the times at which executions need one.
pub(crate) struct Queue {
    pub(crate) slots: Arc<Slots>,
    /// The times at which executions that this process has paused continue by themselves.
    pub(crate) paused: Arc<Alarm>,
    /// The times at which executions that were queued here may begin.
    pub(crate) queued: Arc<Alarm>,
}

impl Queue {
    pub(super) fn new(options: &RuntimeOptions) -> Self {
        Queue {
            slots: Arc::new(Slots::new(options)),
            paused: Arc::default(),
            queued: Arc::default(),
        }
    }
}
