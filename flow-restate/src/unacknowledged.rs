//! Outcomes of steps that the server has not acknowledged.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

/// The maximum number of bytes that are kept. The oldest outcomes are removed first.
const ROOM: usize = 64 * 1024 * 1024;

/// The overhead of an outcome, in bytes: the entries of both maps.
const ENTRY: usize = 256;

/// The time for which an outcome is kept: longer than the server tries to reach this process again.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The outcomes of steps that ran here, until the server acknowledges them. If the connection
/// breaks before, the next attempt at the invocation uses them and does not run the steps again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unacknowledged(Arc<Mutex<Kept>>);

/// A run, and a step of it.
type Key = (Arc<str>, Arc<str>);

#[derive(Debug, Default)]
struct Kept {
    outcomes: HashMap<Key, Outcome>,
    by_age: BTreeMap<u64, Key>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Outcome {
    age: u64,
    until: Instant,
    text: Bytes,
}

impl Unacknowledged {
    pub(crate) fn keep(&self, run: &Arc<str>, step: &Arc<str>, outcome: Bytes) {
        self.kept().keep((run.clone(), step.clone()), outcome);
    }

    pub(crate) fn get(&self, run: &Arc<str>, step: &Arc<str>) -> Option<Bytes> {
        let mut kept = self.kept();
        kept.forget_old();
        let outcome = kept.outcomes.get(&(run.clone(), step.clone()))?;
        Some(outcome.text.clone())
    }

    pub(crate) fn forget(&self, run: &Arc<str>, step: &Arc<str>) {
        self.kept().forget(&(run.clone(), step.clone()));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn keep(&mut self, key: Key, text: Bytes) {
        self.forget(&key);
        self.forget_old();
        self.bytes += size(&key, &text);
        self.by_age.insert(self.next, key.clone());
        let outcome = Outcome {
            age: self.next,
            until: Instant::now() + LIFETIME,
            text,
        };
        self.outcomes.insert(key, outcome);
        self.next += 1;
        while self.bytes > ROOM
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, key: &Key) {
        if let Some(outcome) = self.outcomes.remove(key) {
            self.bytes -= size(key, &outcome.text);
            self.by_age.remove(&outcome.age);
        }
    }

    fn forget_old(&mut self) {
        let now = Instant::now();
        while let Some(oldest) = self.by_age.first_entry() {
            let kept = self.outcomes.get(oldest.get());
            if kept.is_some_and(|outcome| outcome.until > now) {
                return;
            }
            let oldest = oldest.remove();
            self.forget(&oldest);
        }
    }
}

/// The memory that an outcome needs, in bytes.
fn size((run, step): &Key, outcome: &Bytes) -> usize {
    ENTRY + run.len() + step.len() + outcome.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_there_until_it_is_forgotten() {
        let kept = Unacknowledged::default();
        let (run, step) = (Arc::from("inv_1-1"), Arc::from("flow.a"));
        kept.keep(&run, &step, Bytes::from_static(b"1"));
        assert_eq!(kept.get(&run, &step).as_deref(), Some(b"1".as_slice()));
        assert_eq!(kept.get(&Arc::from("inv_1-2"), &step), None);
        kept.forget(&run, &step);
        assert_eq!(kept.get(&run, &step), None);
    }

    #[test]
    fn the_oldest_outcomes_make_room() {
        let kept = Unacknowledged::default();
        let run = Arc::from("inv_1-1");
        for step in ["flow.a", "flow.b", "flow.c"] {
            let outcome = Bytes::from(vec![0; ROOM / 2 - 2 * ENTRY]);
            kept.keep(&run, &Arc::from(step), outcome);
        }
        assert_eq!(kept.get(&run, &Arc::from("flow.a")), None);
        assert!(kept.get(&run, &Arc::from("flow.b")).is_some());
        assert!(kept.get(&run, &Arc::from("flow.c")).is_some());
    }

    #[test]
    fn outcomes_without_a_byte_have_a_size_too() {
        let kept = Unacknowledged::default();
        let run = Arc::from("inv_1-1");
        let most = ROOM / ENTRY;
        for number in 0..most {
            kept.keep(&run, &Arc::from(number.to_string()), Bytes::new());
        }
        assert_eq!(kept.get(&run, &Arc::from("0")), None);
        let last = Arc::from((most - 1).to_string());
        assert!(kept.get(&run, &last).is_some());
        assert!(kept.kept().outcomes.len() < most);
    }

    #[tokio::test(start_paused = true)]
    async fn an_outcome_is_forgotten_after_its_time() {
        let kept = Unacknowledged::default();
        let (run, old, new) = (
            Arc::from("inv_1-1"),
            Arc::from("flow.a"),
            Arc::from("flow.b"),
        );
        kept.keep(&run, &old, Bytes::new());
        tokio::time::advance(LIFETIME / 2).await;
        kept.keep(&run, &new, Bytes::new());
        assert!(kept.get(&run, &old).is_some());
        tokio::time::advance(LIFETIME / 2).await;
        assert_eq!(kept.get(&run, &old), None);
        assert!(kept.get(&run, &new).is_some());
        kept.forget(&run, &new);
        assert_eq!(kept.kept().bytes, 0);
    }
}
