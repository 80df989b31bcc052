//! What a journal already knows of a run, handed out again in the order in which it was recorded.
//!
//! The hard thing is that order. Branches and items run at the same time, and which of them failed first decides where the run
//! goes on; so an outcome is handed out only when all earlier ones have been taken. One that nobody will take, because
//! its branch was dropped in the meantime, is passed over once nothing else moves.

use std::collections::{BTreeMap, HashMap};
use std::task::Waker;

use super::record::{Record, RecordKind};

/// Where a record belongs: a visit to a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) visit: u32,
    pub(crate) item: Option<u32>,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its value, as JSON.
    Value(String),
    /// Its error, as JSON.
    Failed(String),
    /// What a person answered, as JSON.
    Answer(String),
}

/// What is recorded of one visit.
#[derive(Debug, Default)]
struct Visited {
    started_ms: Option<u64>,
    finished: bool,
    ended: bool,
    failed: bool,
    /// By attempt: when it goes on.
    waits: Vec<(u32, u64)>,
    outcome: Option<(u64, Outcome)>,
    /// By attempt: the number of the record that says so.
    timed_out: Vec<(u32, u64)>,
}

/// The recorded part of a run.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    visited: HashMap<(String, u32), Visited>,
    /// The numbers of the records that somebody waits for, in order, and how many of them have been taken.
    order: Vec<u64>,
    taken: usize,
    /// Who waits for a record whose turn has not come.
    waiting: BTreeMap<u64, Waker>,
    /// Who waits for the end of the replay.
    live: Vec<Waker>,
    /// Records that nobody has taken.
    passed_over: Vec<u64>,
}

impl Replay {
    pub(crate) fn new(records: Vec<Record>) -> Self {
        let mut replay = Replay::default();
        for record in records {
            replay.add(record);
        }
        replay
    }

    fn add(&mut self, record: Record) {
        let Record {
            seq,
            at_ms,
            kind,
            path,
            visit,
            attempt,
            payload,
            ..
        } = record;
        let visited = self.visited.entry((path, visit)).or_default();
        let outcome = match kind {
            RecordKind::NodeStarted => {
                visited.started_ms.get_or_insert(at_ms);
                return;
            }
            RecordKind::NodeFinished => {
                visited.finished = true;
                return;
            }
            RecordKind::FlowEnded => {
                visited.ended = true;
                return;
            }
            RecordKind::FlowFailed => {
                visited.failed = true;
                return;
            }
            RecordKind::Waiting => {
                visited
                    .waits
                    .push((attempt, payload.parse().unwrap_or(at_ms)));
                return;
            }
            RecordKind::TimedOut => {
                visited.timed_out.push((attempt, seq));
                self.order.push(seq);
                return;
            }
            RecordKind::Outcome => Outcome::Value(payload),
            RecordKind::NodeFailed => Outcome::Failed(payload),
            RecordKind::Resumed => Outcome::Answer(payload),
            _ => return,
        };
        visited.outcome = Some((seq, outcome));
        self.order.push(seq);
    }

    fn visited(&self, place: &Place) -> Option<&Visited> {
        // Borrowed keys of a pair are not to be had; a place is looked up once for each step.
        self.visited.get(&(place.path.clone(), place.visit))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.taken == self.order.len()
    }

    /// How many records have not been taken yet.
    pub(crate) fn left(&self) -> usize {
        self.order.len() - self.taken
    }

    pub(crate) fn started_ms(&self, place: &Place) -> Option<u64> {
        self.visited(place)?.started_ms
    }

    pub(crate) fn is_finished(&self, place: &Place) -> bool {
        self.visited(place).is_some_and(|visited| visited.finished)
    }

    pub(crate) fn is_ended(&self, place: &Place) -> bool {
        self.visited(place).is_some_and(|visited| visited.ended)
    }

    pub(crate) fn has_failed(&self, place: &Place) -> bool {
        self.visited(place).is_some_and(|visited| visited.failed)
    }

    /// When a wait ends that has begun.
    pub(crate) fn waits_until(&self, place: &Place, attempt: u32) -> Option<u64> {
        let waits = &self.visited(place)?.waits;
        waits
            .iter()
            .find(|(of, _)| *of == attempt)
            .map(|(_, until)| *until)
    }

    /// The number of the record that says that an attempt took too long.
    pub(crate) fn timed_out(&self, place: &Place, attempt: u32) -> Option<u64> {
        let timed_out = &self.visited(place)?.timed_out;
        timed_out
            .iter()
            .find(|(of, _)| *of == attempt)
            .map(|(_, seq)| *seq)
    }

    /// The number of the record with the outcome of a step.
    pub(crate) fn outcome(&self, place: &Place) -> Option<u64> {
        let (seq, _) = self.visited(place)?.outcome.as_ref()?;
        (!self.passed_over.contains(seq)).then_some(*seq)
    }

    /// Whether a record is the next one to be taken. If not, the waker is called when it is.
    pub(crate) fn is_turn(&mut self, seq: u64, waker: &Waker) -> bool {
        let turn = self.order.get(self.taken) == Some(&seq);
        if !turn {
            self.waiting.insert(seq, waker.clone());
        }
        turn
    }

    /// The record whose turn it is has been taken.
    pub(crate) fn take(&mut self, place: &Place) -> Option<Outcome> {
        let visited = self.visited.get(&(place.path.clone(), place.visit));
        let outcome = visited.and_then(|visited| visited.outcome.as_ref());
        let outcome = outcome.map(|(_, outcome)| outcome.clone());
        self.advance();
        outcome
    }

    pub(crate) fn advance(&mut self) {
        self.taken += 1;
        if let Some(next) = self.order.get(self.taken) {
            if let Some(waker) = self.waiting.remove(next) {
                waker.wake();
            }
        } else {
            self.live.drain(..).for_each(Waker::wake);
        }
    }

    /// The waker is called when the replay is over.
    pub(crate) fn wake_when_over(&mut self, waker: &Waker) {
        self.live.push(waker.clone());
    }

    /// Nothing moves: passes over the records that nobody waits for, up to the next one that somebody does. Their numbers.
    pub(crate) fn pass_over(&mut self) -> Vec<u64> {
        let until = match self.waiting.first_key_value() {
            Some((seq, _)) => self
                .order
                .partition_point(|of| of < seq)
                .max(self.taken + 1),
            None => self.order.len(),
        };
        let passed = self.order[self.taken..until].to_vec();
        // Who waited for them may have been dropped.
        passed.iter().for_each(|seq| drop(self.waiting.remove(seq)));
        self.passed_over.extend(&passed);
        self.taken = until - 1;
        self.advance();
        passed
    }

    /// Where a record belongs.
    pub(crate) fn path_of(&self, seq: u64) -> String {
        let of = |visited: &Visited| {
            visited.outcome.as_ref().is_some_and(|(of, _)| *of == seq)
                || visited.timed_out.iter().any(|(_, of)| *of == seq)
        };
        let found = self.visited.iter().find(|(_, visited)| of(visited));
        found.map(|((path, _), _)| path.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seq: u64, kind: RecordKind, path: &str) -> Record {
        Record {
            seq,
            at_ms: 0,
            kind,
            path: path.to_owned(),
            visit: 1,
            item: None,
            attempt: 0,
            payload: format!("{seq}"),
        }
    }

    fn place(path: &str) -> Place {
        Place {
            path: path.to_owned(),
            visit: 1,
            item: None,
        }
    }

    #[test]
    fn outcomes_are_handed_out_in_the_order_recorded() {
        let records = vec![
            record(3, RecordKind::Outcome, "b"),
            record(7, RecordKind::NodeFailed, "a"),
        ];
        let mut replay = Replay::new(records);
        let waker = Waker::noop();
        assert_eq!(replay.outcome(&place("a")), Some(7));
        assert!(!replay.is_turn(7, waker));
        assert!(replay.is_turn(3, waker));
        assert_eq!(
            replay.take(&place("b")),
            Some(Outcome::Value("3".to_owned()))
        );
        assert!(replay.is_turn(7, waker));
        assert_eq!(
            replay.take(&place("a")),
            Some(Outcome::Failed("7".to_owned()))
        );
        assert!(replay.is_over());
    }

    #[test]
    fn what_nobody_takes_is_passed_over_up_to_what_somebody_waits_for() {
        let kind = RecordKind::Outcome;
        let mut replay = Replay::new(vec![
            record(1, kind, "a"),
            record(2, kind, "b"),
            record(3, kind, "c"),
        ]);
        assert!(!replay.is_turn(3, Waker::noop()));
        assert_eq!(replay.pass_over(), [1, 2]);
        assert!(replay.is_turn(3, Waker::noop()));
        assert_eq!(replay.outcome(&place("a")), None);
        replay.advance();
        assert!(replay.is_over());
    }

    #[test]
    fn all_is_passed_over_if_nobody_waits() {
        let mut replay = Replay::new(vec![
            record(1, RecordKind::Outcome, "a"),
            record(2, RecordKind::TimedOut, "b"),
        ]);
        assert_eq!(replay.pass_over(), [1, 2]);
        assert!(replay.is_over());
    }
}
