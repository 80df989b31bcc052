//! Outcomes of steps that the server has not acknowledged.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// The largest number of bytes that are kept. What was kept first goes first.
const ROOM: usize = 64 * 1024 * 1024;

/// The outcomes of steps that ran here, until the server says that it has them. When the connection
/// breaks off in between, the next attempt at the invocation takes them from here, and does not run
/// the steps again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unacknowledged(Arc<Mutex<Kept>>);

/// An invocation, and a step of it.
type Key = (Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct Kept {
    outcomes: HashMap<Key, (u64, Bytes)>,
    by_age: BTreeMap<u64, Key>,
    next: u64,
    bytes: usize,
}

impl Unacknowledged {
    pub(crate) fn keep(&self, invocation: &Arc<str>, step: &Arc<str>, outcome: Bytes) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .keep((invocation.clone(), step.clone()), outcome);
    }

    pub(crate) fn get(&self, invocation: &Arc<str>, step: &Arc<str>) -> Option<Bytes> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, outcome) = kept.outcomes.get(&(invocation.clone(), step.clone()))?;
        Some(outcome.clone())
    }

    pub(crate) fn forget(&self, invocation: &Arc<str>, step: &Arc<str>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .forget(&(invocation.clone(), step.clone()));
    }
}

impl Kept {
    fn keep(&mut self, key: Key, outcome: Bytes) {
        self.forget(&key);
        self.bytes += outcome.len();
        self.by_age.insert(self.next, key.clone());
        self.outcomes.insert(key, (self.next, outcome));
        self.next += 1;
        while self.bytes > ROOM
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, key: &Key) {
        if let Some((age, outcome)) = self.outcomes.remove(key) {
            self.bytes -= outcome.len();
            self.by_age.remove(&age);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_there_until_it_is_forgotten() {
        let kept = Unacknowledged::default();
        let (invocation, step) = (Arc::from("inv_1"), Arc::from("flow.a"));
        kept.keep(&invocation, &step, Bytes::from_static(b"1"));
        assert_eq!(
            kept.get(&invocation, &step).as_deref(),
            Some(b"1".as_slice())
        );
        assert_eq!(kept.get(&Arc::from("inv_2"), &step), None);
        kept.forget(&invocation, &step);
        assert_eq!(kept.get(&invocation, &step), None);
    }

    #[test]
    fn the_oldest_outcomes_make_room() {
        let kept = Unacknowledged::default();
        let invocation = Arc::from("inv_1");
        for step in ["flow.a", "flow.b", "flow.c"] {
            let outcome = Bytes::from(vec![0; ROOM / 2]);
            kept.keep(&invocation, &Arc::from(step), outcome);
        }
        assert_eq!(kept.get(&invocation, &Arc::from("flow.a")), None);
        assert!(kept.get(&invocation, &Arc::from("flow.b")).is_some());
        assert!(kept.get(&invocation, &Arc::from("flow.c")).is_some());
    }
}
