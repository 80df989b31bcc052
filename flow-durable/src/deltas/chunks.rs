//! The numbers of deltas.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use flow_runtime::{Event, EventKind};

/// Counts the deltas of each running node. The count starts again with each attempt.
#[derive(Debug, Default)]
pub(crate) struct Chunks(Mutex<HashMap<String, u64>>);

impl Chunks {
    /// Counts an event. Returns the number of a delta, from 0.
    pub(crate) fn count(&self, event: &Event<'_>) -> Option<u64> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let EventKind::Delta(_) | EventKind::DeltaJson(_) | EventKind::Progress { .. } =
            event.kind()
        {
            let next = counts.entry(event.path().to_string()).or_default();
            let index = *next;
            *next += 1;
            return Some(index);
        }
        if !counts.is_empty() {
            counts.remove(&event.path().to_string());
        }
        None
    }
}
