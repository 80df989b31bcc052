//! The ids of new executions.

use std::sync::Mutex;

use uuid::{ContextV7, Uuid};

use crate::lock::lock;

/// Makes the ids of new executions. Counts those of the same millisecond, so that executions are
/// listed as they were started.
pub(crate) struct Ids(Mutex<ContextV7>);

impl Default for Ids {
    fn default() -> Self {
        Ids(Mutex::new(ContextV7::new()))
    }
}

impl Ids {
    /// A UUID of version 7 with this time. It is greater than all earlier ones, even if the clock
    /// was set back.
    pub(crate) fn next(&self, now_ms: u64) -> Uuid {
        let nanos = u32::try_from(now_ms % 1000).unwrap_or(0) * 1_000_000;
        let time = uuid::Timestamp::from_unix(&*lock(&self.0), now_ms / 1000, nanos);
        Uuid::new_v7(time)
    }
}
