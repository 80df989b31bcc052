//! Replays the records of an execution: returns them again in their recorded order.
//!
//! The difficulty is that order. Branches and items run at the same time, and the one that fails
//! first decides where the run continues. So an outcome is returned only when all earlier ones have
//! been used, and when every node reached before it has been reached again. At each of its records,
//! a replay is then where the original run was. All records are used, except those made in a frame
//! (a fork, a loop, an attempt at a flow) that was already failing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::task::Waker;

use flow_store::{Record, RecordKind};

use flow_runtime::engine::{EarlierAttempts, Place, StepKey};

use crate::entry::{Awaited, Kept, checked};
use crate::parts::Division;

/// The name of the signal of a cancellation. Its step has the name of the flow, followed by this.
pub(crate) use flow_store::CANCEL;

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its value.
    Value(Kept),
    /// Its error.
    Failed(Kept),
    /// The answer of a person.
    Answer(Kept),
    /// A signal.
    Signal(Kept),
}

/// The records of one step, or of one attempt at a flow.
#[derive(Debug, Default)]
struct Visited {
    started_ms: Option<u64>,
    /// The number of the record that says that it is finished.
    finished: Option<u64>,
    ended: bool,
    failed: bool,
    /// The attempts that failed.
    failed_attempts: BTreeSet<u32>,
    /// The number of these attempts if this is a step. A copy counts them anew.
    failed_count: u32,
    /// The node's error, as JSON, if it is not retried.
    gave_up: Option<String>,
    /// The time at which its wait ends.
    waits_until: Option<u64>,
    /// The number of the record that says that its wait is over.
    waited: Option<u64>,
    /// The signal for which it waits.
    awaited: Option<Awaited>,
    outcome: Option<(u64, Outcome)>,
    /// The visit as one that can be undone.
    undoable: Option<Undoable>,
    /// The number of the record that says that the flow forgot what it had done.
    committed: Option<u64>,
    /// The number of the record that says that the attempt took too long.
    timed_out: Option<u64>,
    /// The division of the items of a loop, if they run in parts, with the number of its record.
    division: Option<(u64, Division)>,
}

/// A visit that can be undone, as it was recorded.
#[derive(Debug, Clone)]
pub(crate) struct Undoable {
    pub(crate) place: Place,
    /// The number of the record.
    seq: u64,
    /// The number of the record with the outcome of the visit, which decides the order.
    pub(crate) number: u64,
    /// The values that the undo node reads, as JSON.
    pub(crate) values: String,
}

/// A record that a replay has to reach again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unused {
    /// The number of the record.
    pub(crate) seq: u64,
    pub(crate) kind: RecordKind,
    pub(crate) step: String,
    pub(crate) path: String,
}

/// The recorded part of an execution.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    visited: HashMap<String, Visited>,
    /// The records that somebody waits for and that have not been used, in order.
    order: BTreeMap<u64, Unused>,
    /// The steps of these records, with their numbers.
    steps: BTreeSet<(String, u64)>,
    /// By number: the records of reached nodes that have not been reached again.
    starts: BTreeSet<u64>,
    /// The numbers of these records, by step.
    started: BTreeMap<String, u64>,
    /// The records that this replay made and the earlier run had not, because it had not come that
    /// far.
    ahead: Vec<Record>,
    /// The running step of the outermost flow.
    outermost: Option<String>,
    /// The visits in the lost branches of a race that can be undone, by the step of the race.
    lost: BTreeMap<String, Vec<Undoable>>,
    /// The number of the record that says that the execution is a copy. What is recorded before was
    /// done by the original.
    copied: Option<u64>,
    /// The waiters for records whose turn has not come.
    waiting: BTreeMap<u64, Waker>,
    /// The waiters for the end of the replay.
    live: Vec<Waker>,
    /// The waiters for the end of what the original of a copy has recorded.
    own: Vec<Waker>,
}

impl Replay {
    pub(crate) fn new(records: Vec<Record>) -> Self {
        let mut replay = Replay::default();
        for record in records {
            replay.add(record);
        }
        // Nodes that were reached after the last outcome do not hold up anything.
        let last = replay.order.last_key_value().map_or(0, |(last, _)| *last);
        drop(replay.starts.split_off(&last));
        replay
    }

    fn add(&mut self, record: Record) {
        let Record {
            seq,
            at_ms,
            kind,
            path,
            step,
            visit,
            item,
            attempt,
            payload,
        } = record;
        let visited = self.visited.entry(step.clone()).or_default();
        let kept = |text| Kept { seq, kind, text };
        match kind {
            RecordKind::NodeStarted => {
                visited.started_ms.get_or_insert(at_ms);
                self.starts.insert(seq);
                // Another version of the flow may have begun it again, behind a snapshot.
                if let Some(earlier) = self.started.insert(step, seq) {
                    self.starts.remove(&earlier);
                }
                return;
            }
            RecordKind::NodeFinished => visited.finished = Some(seq),
            RecordKind::FlowEnded => visited.ended = true,
            RecordKind::FlowFailed => visited.failed = true,
            RecordKind::AttemptFailed => {
                visited.failed_attempts.insert(attempt);
                visited.failed_count = attempt + 1;
            }
            RecordKind::GaveUp => visited.gave_up = Some(payload),
            RecordKind::Undoable => {
                let number = visited.outcome.as_ref().map_or(seq, |(seq, _)| *seq);
                let place = Place {
                    path,
                    step,
                    visit,
                    item,
                };
                visited.undoable = Some(Undoable {
                    place,
                    seq,
                    number,
                    values: payload,
                });
                return;
            }
            RecordKind::Committed => {
                visited.committed = Some(seq);
                return;
            }
            RecordKind::RunCopied => {
                self.copied = Some(seq);
                // It is not cancelled with its original.
                let cancelled: Vec<(String, u64)> = (self.steps.iter())
                    .filter(|(step, _)| step.ends_with(CANCEL))
                    .cloned()
                    .collect();
                for cancelled in cancelled {
                    self.visited.remove(&cancelled.0);
                    self.order.remove(&cancelled.1);
                    self.steps.remove(&cancelled);
                }
                let tried = self.visited.values_mut();
                for visited in tried.filter(|visited| visited.failed_count > 0) {
                    visited.failed_count = 0;
                    visited.waits_until = None;
                }
                return;
            }
            RecordKind::Waiting => visited.waits_until = checked(&payload),
            RecordKind::Waited => visited.waited = Some(seq),
            RecordKind::TimedOut => visited.timed_out = Some(seq),
            RecordKind::Spread => {
                visited.division = checked(&payload).map(|division| (seq, division));
            }
            RecordKind::Outcome => visited.outcome = Some((seq, Outcome::Value(kept(payload)))),
            RecordKind::NodeFailed => visited.outcome = Some((seq, Outcome::Failed(kept(payload)))),
            RecordKind::Resumed => visited.outcome = Some((seq, Outcome::Answer(kept(payload)))),
            RecordKind::Awaiting => visited.awaited = checked(&payload),
            RecordKind::Received => visited.outcome = Some((seq, Outcome::Signal(kept(payload)))),
            _ => {}
        }
        if is_awaited(kind) {
            self.steps.insert((step.clone(), seq));
            let unused = Unused {
                seq,
                kind,
                step,
                path,
            };
            self.order.insert(seq, unused);
        }
    }

    fn visited(&self, place: &Place) -> Option<&Visited> {
        self.visited.get(&place.step)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns true if all records of the original have been used, if this is a copy.
    pub(crate) fn is_own(&self) -> bool {
        let next = self.next().map(|next| next.seq);
        self.copied
            .is_none_or(|copied| next.is_none_or(|next| next > copied))
    }

    /// The first record that has not been used.
    pub(crate) fn next(&self) -> Option<&Unused> {
        self.order.values().next()
    }

    /// All records that have not been used.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &Unused> {
        self.order.values()
    }

    pub(crate) fn started_ms(&self, place: &Place) -> Option<u64> {
        self.visited(place)?.started_ms
    }

    /// Returns true if a visit to a node, or a part of it, has a result. A node that only decides,
    /// such as a branch, has none until it is finished.
    pub(crate) fn has_come_of(&self, place: &Place) -> bool {
        let itself = self.visited(place).is_some_and(|visited| {
            visited.finished.is_some() || visited.outcome.is_some() || visited.waited.is_some()
        });
        itself || self.is_inside(place)
    }

    /// The division of the items of a loop, with the number of its record. `None` if they do not
    /// run in parts.
    pub(crate) fn division(&self, place: &Place) -> Option<(u64, Division)> {
        self.visited(place)?.division
    }

    /// Returns true if there are records of something inside a node.
    pub(crate) fn is_inside(&self, place: &Place) -> bool {
        let around = StepKey::new(&place.step);
        let mut steps = self.visited.keys();
        steps.any(|step| StepKey::new(step).is_inside(around))
    }

    pub(crate) fn is_finished(&self, place: &Place) -> bool {
        self.visited(place)
            .is_some_and(|visited| visited.finished.is_some())
    }

    pub(crate) fn is_ended(&self, place: &Place) -> bool {
        self.visited(place).is_some_and(|visited| visited.ended)
    }

    pub(crate) fn has_failed(&self, place: &Place) -> bool {
        self.visited(place).is_some_and(|visited| visited.failed)
    }

    /// The attempts at a step in earlier runs.
    pub(crate) fn attempts(&self, place: &Place) -> EarlierAttempts {
        let Some(visited) = self.visited(place) else {
            return EarlierAttempts::default();
        };
        EarlierAttempts {
            failed: visited.failed_count,
            given_up: visited.gave_up.as_deref().and_then(checked),
        }
    }

    /// Returns true if another attempt at a flow followed this one. `None` if that is not recorded.
    pub(crate) fn tried_again(&self, place: &Place, attempt: u32) -> Option<bool> {
        if self
            .waits_until(&place.clone().retry(attempt + 1))
            .is_some()
        {
            return Some(true);
        }
        self.visited(place)?.gave_up.as_ref().map(|_| false)
    }

    /// Returns true if this attempt at a flow has failed. Attempts at a step are not repeated.
    pub(crate) fn has_failed_attempt(&self, place: &Place, attempt: u32) -> bool {
        let flow = StepKey::new(&place.step).retry(attempt);
        let is_flow = self.visited.get(&flow);
        is_flow.is_some_and(|flow| flow.failed || flow.timed_out.is_some())
            && self
                .visited(place)
                .is_some_and(|visited| visited.failed_attempts.contains(&attempt))
    }

    /// The time at which a wait that has begun ends.
    pub(crate) fn waits_until(&self, place: &Place) -> Option<u64> {
        self.visited(place)?.waits_until
    }

    /// The time until which a step pauses before its next attempt. `None` if no attempt follows, or
    /// if there was no pause.
    pub(crate) fn rests_until(&self, place: &Place) -> Option<u64> {
        let visited = self.visited(place)?;
        visited.waits_until.filter(|_| visited.gave_up.is_none())
    }

    /// The signal for which a step waits, if it began to.
    pub(crate) fn awaited_signal(&self, place: &Place) -> Option<Awaited> {
        self.visited(place)?.awaited.clone()
    }

    /// The number of the record that says that a wait is over.
    pub(crate) fn waited(&self, place: &Place) -> Option<u64> {
        self.visited(place)?.waited
    }

    /// The number of the record that says that an attempt at a flow took too long.
    pub(crate) fn timed_out(&self, place: &Place) -> Option<u64> {
        self.visited(place)?.timed_out
    }

    /// The number of the record with the outcome of a step.
    pub(crate) fn outcome(&self, place: &Place) -> Option<u64> {
        let (seq, _) = self.visited(place)?.outcome.as_ref()?;
        Some(*seq)
    }

    /// Returns true if it is recorded that a visit can be undone.
    pub(crate) fn is_undoable(&self, place: &Place) -> bool {
        self.visited(place)
            .is_some_and(|visited| visited.undoable.is_some())
    }

    /// Returns true if it is recorded that a fork, a loop or an attempt at a flow that contains this
    /// step has failed, or took too long.
    pub(crate) fn is_dropped(&self, place: &Place) -> bool {
        let around = std::iter::successors(StepKey::new(&place.step).parent(), |it| it.parent());
        let loops = around
            .clone()
            .filter_map(|it| Some(it.without_retry().item()?.0));
        around.chain(loops).any(|step| {
            let visited = self.visited.get(step.as_str());
            visited.is_some_and(|visited| visited.failed || visited.timed_out.is_some())
        })
    }

    /// Returns true if it is recorded that a flow forgot what it had done.
    pub(crate) fn is_committed(&self, place: &Place) -> bool {
        self.visited(place)
            .is_some_and(|visited| visited.committed.is_some())
    }

    /// Takes the visits in the lost branches of a race that can be undone.
    pub(crate) fn take_lost(&mut self, race: &Place) -> Vec<Undoable> {
        self.lost.remove(&race.step).unwrap_or_default()
    }

    /// The number of the first record that is not a copy of one of another execution.
    pub(crate) fn copied(&self) -> Option<u64> {
        self.copied
    }

    /// Notes that a node has been reached. Returns the time at which that was recorded, if it was.
    pub(crate) fn start(&mut self, place: &Place) -> Option<u64> {
        if let Some(seq) = self.started.get(&place.step)
            && self.starts.remove(seq)
        {
            self.wake_next();
        }
        self.started_ms(place)
    }

    /// Keeps a record that the earlier run had not made. It is added when the replay is over,
    /// unless its step is dropped before.
    pub(crate) fn run_ahead(&mut self, record: Record) {
        self.ahead.push(record);
    }

    /// The records to add, now that the replay is over. Empty before.
    pub(crate) fn take_ahead(&mut self) -> Vec<Record> {
        if self.is_over() {
            std::mem::take(&mut self.ahead)
        } else {
            Vec::new()
        }
    }

    /// Returns true if a record is the next one to be used. Otherwise the waker is called when it
    /// is.
    pub(crate) fn is_turn(&mut self, seq: u64, waker: &Waker) -> bool {
        let turn = self.next_turn() == Some(seq);
        if !turn {
            self.waiting.insert(seq, waker.clone());
        }
        turn
    }

    /// The number of the record whose turn it is. `None` if a node has to be reached first.
    fn next_turn(&self) -> Option<u64> {
        let next = self.next()?.seq;
        let held_up = self.starts.first().is_some_and(|start| *start < next);
        (!held_up).then_some(next)
    }

    fn wake_next(&mut self) {
        if let Some(next) = self.next_turn()
            && let Some(waker) = self.waiting.remove(&next)
        {
            waker.wake();
        }
    }

    /// Uses the step's outcome, whose turn it is.
    pub(crate) fn take(&mut self, place: &Place) -> Option<Outcome> {
        let outcome = self.visited(place)?.outcome.as_ref();
        let outcome = outcome.map(|(_, outcome)| outcome.clone());
        self.advance();
        outcome
    }

    pub(crate) fn advance(&mut self) {
        if let Some((seq, taken)) = self.order.pop_first() {
            self.steps.remove(&(taken.step, seq));
        }
        self.moved();
    }

    fn moved(&mut self) {
        self.wake_next();
        if self.is_over() {
            self.live.drain(..).for_each(Waker::wake);
        }
        if !self.own.is_empty() && self.is_own() {
            self.own.drain(..).for_each(Waker::wake);
        }
    }

    /// Notes that the outermost flow is at this step.
    pub(crate) fn outermost_at(&mut self, step: &str) {
        if !self.is_over() {
            self.outermost = Some(step.to_owned());
        }
    }

    /// Notes that a fork or a loop has failed and its running parts are dropped. The replay then
    /// skips the records made there at the same moment, after the record of the failure.
    pub(crate) fn failed(&mut self, step: &str) {
        self.drop_inside(&StepKey::new(step).inside());
    }

    /// Notes that an attempt at a flow has failed or took too long. Other attempts may follow.
    pub(crate) fn attempt_failed(&mut self, step: &str) {
        self.drop_inside(&[StepKey::new(step).nodes()]);
    }

    /// Notes that the run has failed at the running node of the outermost flow.
    pub(crate) fn run_failed(&mut self) {
        if let Some(step) = self.outermost.take() {
            self.failed(&step);
        }
    }

    /// Returns true if there are records of an earlier run.
    pub(crate) fn has_records(&self) -> bool {
        !self.visited.is_empty()
    }

    /// The number of the branch of a race that was the first one in the earlier run. `branches` are
    /// the steps of the nodes in each. The replay skips the other branches: what they did has no
    /// consequences. `None` if no branch was the first one yet.
    pub(crate) fn first_branch(&mut self, race: &Place, branches: &[Vec<String>]) -> Option<usize> {
        if self.has_failed(race) {
            return None;
        }
        let done = |steps: &Vec<String>| {
            let last = steps.last().and_then(|last| self.visited.get(last));
            last.and_then(|last| last.finished)
        };
        // Others may have been done after it, while their steps with an undo node were finished.
        let all = branches.iter().enumerate();
        let first = all.filter_map(|(at, steps)| Some((done(steps)?, at))).min();
        let decided = self.visited(race).and_then(|visited| visited.finished);
        // Until the race is over, steps of other branches may still have to be finished.
        let decided = decided?;
        let Some((_, first)) = first else {
            // It was a branch that the race no longer has. So this record has no use, and the flow
            // does not fit.
            let unused = Unused {
                seq: decided,
                kind: RecordKind::NodeFinished,
                step: race.step.clone(),
                path: race.path.clone(),
            };
            self.order.insert(decided, unused);
            return None;
        };
        let others = branches.iter().enumerate().filter(|(at, _)| *at != first);
        let others = others.flat_map(|(_, steps)| steps).flat_map(|step| {
            let itself = step.clone()..format!("{step}\0");
            [itself].into_iter().chain(StepKey::new(step).inside())
        });
        let others: Vec<Range<String>> = others.collect();
        self.keep_lost(race, decided, &others);
        self.drop_inside(&others);
        self.drop_undone_before(decided, &others);
        Some(first)
    }

    /// Keeps what was done in the lost branches of a race, and was not undone there before the race
    /// was decided.
    fn keep_lost(&mut self, race: &Place, decided: u64, others: &[Range<String>]) {
        let mut lost: Vec<Undoable> = Vec::new();
        let commits = (self.visited.iter())
            .filter_map(|(step, visited)| Some((StepKey::new(step).parent()?, visited.committed?)));
        let commits: Vec<(StepKey<'_>, u64)> = commits.collect();
        let is_committed = |undoable: &Undoable| {
            let step = StepKey::new(&undoable.place.step);
            let mut commits = commits.iter();
            commits.any(|(flow, seq)| step.is_inside(*flow) && undoable.seq < *seq)
        };
        for (step, visited) in &self.visited {
            let Some(undoable) = visited.undoable.as_ref() else {
                continue;
            };
            let undo = self.visited.get(&StepKey::new(step).undo());
            let undone = undo.and_then(|undo| undo.outcome.as_ref());
            if undoable.seq < decided
                && others.iter().any(|inside| inside.contains(step))
                && undone.is_none_or(|(seq, _)| *seq > decided)
                && !is_committed(undoable)
            {
                lost.push(undoable.clone());
            }
        }
        if !lost.is_empty() {
            self.lost.insert(race.step.clone(), lost);
        }
    }

    /// Drops the records of what was undone in these steps before a record.
    fn drop_undone_before(&mut self, before: u64, steps: &[Range<String>]) {
        let undone: Vec<(String, u64)> = self
            .steps
            .iter()
            .filter(|(step, seq)| *seq < before && steps.iter().any(|inside| inside.contains(step)))
            .cloned()
            .collect();
        if undone.is_empty() {
            return;
        }
        for undone in undone {
            self.order.remove(&undone.1);
            if let Some(started) = self.started.get(&undone.0) {
                self.starts.remove(started);
            }
            self.steps.remove(&undone);
        }
        self.moved();
    }

    /// Notes that a step is over, which the earlier run has recorded. What only this run did inside
    /// it, such as a branch that another version of the flow has, comes too late for the journal.
    pub(crate) fn was_finished(&mut self, step: &str) {
        if !self.ahead.is_empty() {
            self.drop_ahead(&StepKey::new(step).inside());
        }
    }

    /// Drops what only this run did in these steps.
    fn drop_ahead(&mut self, steps: &[Range<String>]) {
        self.ahead
            .retain(|record| !steps.iter().any(|inside| inside.contains(&record.step)));
    }

    /// Drops records that can no longer be reached: those of the steps in these ranges. What was done
    /// there may be undone later, so the records of undo nodes stay.
    fn drop_inside(&mut self, steps: &[Range<String>]) {
        self.drop_ahead(steps);
        if self.is_over() {
            return;
        }
        for inside in steps {
            let numbered = (inside.start.clone(), 0)..(inside.end.clone(), 0);
            let unused = self.steps.range(numbered);
            let unused = unused.filter(|(step, _)| StepKey::new(step).undone().is_none());
            let unused: Vec<(String, u64)> = unused.cloned().collect();
            for unused in unused {
                self.order.remove(&unused.1);
                self.steps.remove(&unused);
            }
            for (step, seq) in self.started.range(inside.clone()) {
                if StepKey::new(step).undone().is_none() {
                    self.starts.remove(seq);
                }
            }
        }
        self.moved();
    }

    /// Calls the waker when the replay is over.
    pub(crate) fn wake_when_over(&mut self, waker: &Waker) {
        self.live.push(waker.clone());
    }

    /// Calls the waker when the replay [is that of the copy itself](Replay::is_own).
    pub(crate) fn wake_when_own(&mut self, waker: &Waker) {
        self.own.push(waker.clone());
    }

    /// Called when nothing moves: stops waiting for the nodes that should have been reached before
    /// the next record. Returns true if there were any. Otherwise, the replay takes another path
    /// than the earlier run.
    pub(crate) fn skip_starts(&mut self) -> bool {
        let Some(next) = self.next().map(|next| next.seq) else {
            return false;
        };
        let later = self.starts.split_off(&next);
        let skipped = std::mem::replace(&mut self.starts, later);
        self.wake_next();
        !skipped.is_empty()
    }
}

/// Returns true if a run waits for records of this kind in a replay.
pub(crate) fn is_awaited(kind: RecordKind) -> bool {
    matches!(
        kind,
        RecordKind::Outcome
            | RecordKind::NodeFailed
            | RecordKind::Resumed
            | RecordKind::Received
            | RecordKind::TimedOut
            | RecordKind::Waited
            | RecordKind::Spread
    )
}

#[cfg(test)]
mod tests;
