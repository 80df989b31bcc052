//! The journal of a running execution: the existing records, and those still to be written.
//!
//! Steps add records, and each step waits until all outcomes before it are stored. The driver,
//! which polls the run, passes the records to the store. So the last outcome of a run is stored
//! together with the run's end. A step that is dropped while it waits, because another branch
//! failed, does not leave a half-written record.

pub(crate) mod begun;
mod gate;
mod looks;
mod questions;
mod signals;
mod timers;
pub(crate) mod transaction;
mod turns;
mod visits;

use std::collections::{BTreeMap, HashMap};
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use flow_store::{
    Append, ExecutionId, PauseRow, Record, RecordKind, StoreTransaction, Token, to_ms,
};

use super::clock::Clock;
use super::entry::Visits;
use super::error::RuntimeError;
use super::lease::Lease;
use super::payload;
use super::replay::{Outcome, Replay, Undoable};
use gate::Gate;
use looks::Looks;
use questions::Asking;
use signals::Signals;

pub(crate) use crate::replay::CANCEL;
use flow_runtime::NodeError;
use flow_runtime::engine::Place;
pub(crate) use questions::AskingGuard;
pub(crate) use signals::Found;
use turns::Turns;
pub(crate) use visits::name_of;

/// The journal of one execution, for its run in this process.
pub(crate) struct Journal {
    execution: ExecutionId,
    clock: Clock,
    /// The lease. A look into the past has none.
    lease: Option<Arc<Lease>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    replay: Replay,
    /// The number of visits to each node, by attempt at its flow. Only for running flows.
    visits: BTreeMap<String, Visits>,
    next_seq: u64,
    /// Records before this number are stored.
    stored: u64,
    /// Records before this number have to be stored before another step starts.
    awaited: u64,
    pending: Append,
    /// True if somebody waits for the pending records.
    urgent: bool,
    waiting: Vec<(u64, Waker)>,
    /// The number of running steps.
    active: usize,
    /// The times at which something wakes, in milliseconds since 1970 (UTC), with the number of
    /// waiters of each.
    timers: BTreeMap<u64, usize>,
    /// The parts of a loop whose end somebody waits for.
    parts: Vec<ExecutionId>,
    /// The questions that somebody waits for, with their outcomes.
    questions: HashMap<Token, Asking>,
    /// Questions that were open when the run was loaded.
    open: Vec<PauseRow>,
    signals: Signals,
    looks: Looks,
    since_snapshot: SinceSnapshot,
    halt: Option<RuntimeError>,
    turns: Turns,
    gate: Gate,
    /// The reason for which the execution was cancelled.
    cancelled: Option<String>,
    /// The steps without an outcome that wait for the end of a replay, and how often they were told that
    /// it cannot go on.
    stuck: (u64, Vec<Waker>),
}

/// The size of a snapshot, in bytes, up to which only the number of records counts.
const SMALL_SNAPSHOT: usize = 16 * 1024;

/// The records since the last snapshot. The next one waits until they are as large as the last one,
/// unless that was small, so that the size of a journal is linear in its records.
#[derive(Default)]
struct SinceSnapshot {
    records: usize,
    bytes: usize,
    /// The size of the last snapshot in bytes. 0 if there is none.
    snapshot_bytes: usize,
}

impl SinceSnapshot {
    /// Counts from a snapshot of this size on.
    fn after(snapshot_bytes: usize) -> Self {
        SinceSnapshot {
            snapshot_bytes,
            ..SinceSnapshot::default()
        }
    }

    fn add(&mut self, record: &Record) {
        self.records += 1;
        self.bytes += record.path.len() + record.step.len() + record.payload.len();
    }

    fn is_due(&self, every: usize) -> bool {
        let is_small = self.snapshot_bytes <= SMALL_SNAPSHOT;
        self.records >= every && (is_small || self.bytes >= self.snapshot_bytes)
    }
}

impl State {
    /// Returns true if a step waits for an answer or a signal.
    fn waits_for_outside(&self) -> bool {
        let mut questions = self.questions.values();
        self.signals.open() > 0 || questions.any(|asking| asking.settled.is_none())
    }

    /// Adds the records that the replay made beyond the existing ones, if it is over.
    fn push_ahead(&mut self) {
        for record in self.replay.take_ahead() {
            self.push(record);
        }
    }

    /// Adds a record, under the next number.
    fn push(&mut self, record: Record) {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.since_snapshot.add(&record);
        self.pending.records.push(Record { seq, ..record });
    }
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal")
            .field("execution", &self.execution)
            .finish_non_exhaustive()
    }
}

/// The records to write.
pub(crate) struct Pending {
    pub(crate) append: Append,
    /// The number after that of the last record.
    pub(crate) next_seq: u64,
    /// The transaction in which to write.
    pub(crate) transaction: Option<Box<dyn StoreTransaction>>,
}

/// A record that has not been written yet.
pub(crate) struct NewRecord<'a> {
    pub(crate) kind: RecordKind,
    pub(crate) place: &'a Place,
    pub(crate) attempt: u32,
    pub(crate) payload: String,
}

impl Journal {
    pub(crate) fn new(execution: ExecutionId, clock: Clock, next_seq: u64) -> Self {
        Journal {
            execution,
            clock,
            lease: None,
            state: Mutex::new(State {
                next_seq,
                stored: next_seq,
                ..State::default()
            }),
        }
    }

    /// Sets the lease: the run may begin steps while it is held.
    pub(crate) fn with_lease(self, lease: Arc<Lease>) -> Self {
        Journal {
            lease: Some(lease),
            ..self
        }
    }

    /// Loads the existing records, from the newest snapshot on, and the visits of the outermost
    /// flow before it.
    pub(crate) fn load(
        &self,
        records: Vec<Record>,
        snapshot_bytes: usize,
        visits: Option<(String, Visits)>,
        open: Vec<PauseRow>,
    ) {
        let mut state = self.state();
        state.since_snapshot = SinceSnapshot::after(snapshot_bytes);
        for record in &records {
            state.since_snapshot.add(record);
        }
        state.replay = Replay::new(records);
        state.visits = visits.into_iter().collect();
        state.open = open;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn execution(&self) -> ExecutionId {
        self.execution
    }

    pub(crate) fn now_ms(&self) -> u64 {
        to_ms((self.clock)())
    }

    /// Notes that a fork or a loop has failed: see [`Replay::failed`].
    pub(crate) fn failed(&self, place: &Place) {
        self.replay(|replay| replay.failed(&place.step));
    }

    /// The branch of a race that was the first one: see [`Replay::first_branch`].
    pub(crate) fn first_branch(&self, race: &Place, branches: &[Vec<String>]) -> Option<usize> {
        self.replay(|replay| replay.first_branch(race, branches))
    }

    /// The visits of the lost branches of a race: see [`Replay::take_lost`].
    pub(crate) fn take_lost(&self, race: &Place) -> Vec<Undoable> {
        self.replay(|replay| replay.take_lost(race))
    }

    /// Notes that the execution is cancelled for this reason: it is undone, and then ends so.
    pub(crate) fn cancel(&self, reason: String) {
        self.state().cancelled = Some(reason);
    }

    /// The reason for which the execution was cancelled.
    pub(crate) fn cancelled(&self) -> Option<String> {
        self.state().cancelled.clone()
    }

    /// Lets the next step wait until all records so far are stored.
    pub(crate) fn await_records(&self) {
        let mut state = self.state();
        state.push_ahead();
        state.urgent |= !state.pending.records.is_empty();
        state.awaited = state.next_seq;
    }

    /// Returns true if the end of a step is recorded: see [`Replay::was_finished`].
    pub(crate) fn was_finished(&self, place: &Place) -> bool {
        self.replay(|replay| {
            let was_finished = replay.is_finished(place);
            if was_finished {
                replay.was_finished(&place.step);
            }
            was_finished
        })
    }

    /// Notes that an attempt at a flow has failed or took too long: see [`Replay::attempt_failed`].
    pub(crate) fn attempt_failed(&self, place: &Place) {
        self.replay(|replay| replay.attempt_failed(&place.step));
    }

    /// Notes that the run has failed: see [`Replay::run_failed`].
    pub(crate) fn run_failed(&self) {
        self.replay(Replay::run_failed);
    }

    /// Continues the replay. If that ends it, the records that the replay made beyond the existing
    /// ones are added with the next record, or written when the run has been polled: the last
    /// outcome may drop what made them.
    fn replay<T>(&self, go_on: impl FnOnce(&mut Replay) -> T) -> T {
        go_on(&mut self.state().replay)
    }

    /// The number of the next record.
    pub(crate) fn next_seq(&self) -> u64 {
        let mut state = self.state();
        state.push_ahead();
        state.next_seq
    }

    pub(crate) fn replaying<T>(&self, look: impl FnOnce(&Replay) -> T) -> T {
        look(&self.state().replay)
    }

    /// Adds a record and returns its number. The record is stored with the next one for which
    /// somebody waits, or soon. During a replay, it is added when the replay is over, and the
    /// returned number is not the final one.
    pub(crate) fn add(&self, entry: NewRecord<'_>) -> u64 {
        let at_ms = self.now_ms();
        let mut state = self.state();
        state.push_ahead();
        let seq = state.next_seq;
        let record = Record {
            seq,
            at_ms,
            kind: entry.kind,
            path: entry.place.path.clone(),
            step: entry.place.step.clone(),
            visit: entry.place.visit,
            item: entry.place.item,
            attempt: entry.attempt,
            payload: entry.payload,
        };
        if state.replay.is_over() {
            state.push(record)
        } else {
            state.replay.run_ahead(record)
        }
        seq
    }

    /// Adds a record and returns its number. It is stored when the run has nothing more to do at
    /// once.
    pub(crate) fn add_urgent(&self, entry: NewRecord<'_>) -> u64 {
        let seq = self.add(entry);
        let mut state = self.state();
        state.urgent = true;
        state.awaited = seq + 1;
        seq
    }

    /// Adds a record, and returns when it is stored.
    pub(crate) async fn write(&self, entry: NewRecord<'_>) {
        let seq = self.add_urgent(entry);
        self.stored_before(seq + 1).await;
    }

    /// Returns when every outcome so far is stored, so that another step may start.
    pub(crate) async fn outcomes_stored(&self) {
        let awaited = self.state().awaited;
        self.stored_before(awaited).await;
    }

    /// Returns when every record so far is stored.
    pub(crate) async fn all_stored(&self) {
        let next_seq = {
            let mut state = self.state();
            state.push_ahead();
            state.urgent |= !state.pending.records.is_empty();
            state.next_seq
        };
        self.stored_before(next_seq).await;
    }

    /// Adds a record which says that no attempt follows this one.
    pub(crate) fn add_gave_up(&self, place: &Place, attempt: u32, error: &NodeError) {
        self.add(NewRecord {
            kind: RecordKind::GaveUp,
            place,
            attempt,
            payload: payload::of_error(error),
        });
    }

    /// The number up to which records have to be stored before another step starts. `None` if they
    /// already are.
    pub(crate) fn awaited(&self) -> Option<u64> {
        let state = self.state();
        (state.awaited > state.stored).then_some(state.awaited)
    }

    /// The number before which all records are stored.
    pub(crate) fn stored_seq(&self) -> u64 {
        self.state().stored
    }

    fn stored_before(&self, next_seq: u64) -> impl Future<Output = ()> + Send {
        poll_fn(move |cx| {
            let mut state = self.state();
            if next_seq <= state.stored {
                return Poll::Ready(());
            }
            state.waiting.push((next_seq, cx.waker().clone()));
            Poll::Pending
        })
    }

    /// Returns true if there are this many records since the last snapshot, that one was small or
    /// they are as large, and a snapshot may follow them.
    pub(crate) fn snapshot_is_due(&self, every: usize) -> bool {
        let mut state = self.state();
        state.push_ahead();
        state.replay.is_over() && state.since_snapshot.is_due(every)
    }

    /// Adds a snapshot of the outermost flow between two of its nodes, once the replay is over.
    pub(crate) fn add_snapshot(&self, place: &Place, payload: String, prune: bool) {
        let since_snapshot = SinceSnapshot::after(payload.len());
        let seq = self.add(NewRecord {
            kind: RecordKind::Snapshot,
            place,
            attempt: 0,
            payload,
        });
        let mut state = self.state();
        state.since_snapshot = since_snapshot;
        // Steps after the snapshot have no records, as in a run that begins with it. Only another
        // version of the flow can have left some.
        state.replay = Replay::default();
        if prune {
            state.pending.prune_before = Some(seq);
        }
    }

    /// The recorded outcome of a step, when its turn has come. `None` if all records have been used
    /// and the step has no outcome.
    pub(crate) fn recorded(&self, place: &Place) -> impl Future<Output = Option<Outcome>> + Send {
        poll_fn(move |cx| {
            self.replay(|replay| match replay.outcome(place) {
                Some(seq) if replay.is_turn(seq, cx.waker()) => Poll::Ready(replay.take(place)),
                Some(_) => Poll::Pending,
                None => poll_over(replay, cx).map(|()| None),
            })
        })
    }

    /// Notes that a node has been reached. Returns true if this is new, and is recorded.
    pub(crate) fn start(&self, place: &Place) -> bool {
        let is_new = self.state().replay.start(place).is_none();
        if is_new {
            self.add(NewRecord {
                kind: RecordKind::NodeStarted,
                place,
                attempt: 0,
                payload: String::new(),
            });
        }
        is_new
    }

    /// Uses a record when its turn has come: the end of a wait, a timeout, or the division of a
    /// loop.
    pub(crate) fn passed(&self, seq: u64) -> impl Future<Output = ()> + Send {
        poll_fn(move |cx| {
            self.replay(|replay| {
                if replay.is_turn(seq, cx.waker()) {
                    replay.advance();
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
        })
    }

    /// Returns when all records have been used.
    pub(crate) fn live(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| poll_over(&mut self.state().replay, cx))
    }

    /// Returns when all records of the original have been used, if the execution is a copy.
    pub(crate) fn own(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| {
            let replay = &mut self.state().replay;
            if replay.is_own() {
                return Poll::Ready(());
            }
            replay.wake_when_own(cx.waker());
            Poll::Pending
        })
    }

    /// Returns false when all records have been used, or true when nothing moves before that.
    pub(crate) fn live_or_stuck(&self) -> impl Future<Output = bool> + Send {
        let mut since = None;
        poll_fn(move |cx| {
            let mut state = self.state();
            let since = *since.get_or_insert(state.stuck.0);
            if poll_over(&mut state.replay, cx).is_ready() {
                return Poll::Ready(false);
            }
            if state.stuck.0 != since {
                return Poll::Ready(true);
            }
            state.stuck.1.push(cx.waker().clone());
            Poll::Pending
        })
    }

    /// Called when nothing moves in a replay: tells the steps that have no outcome. Returns false if
    /// all were told before.
    pub(crate) fn release_stuck(&self) -> bool {
        let mut state = self.state();
        let stuck = std::mem::take(&mut state.stuck.1);
        state.stuck.0 += 1;
        drop(state);
        let has_some = !stuck.is_empty();
        stuck.into_iter().for_each(Waker::wake);
        has_some
    }

    /// Marks something as running until the result is dropped.
    pub(crate) fn active(&self) -> Active<'_> {
        self.state().active += 1;
        Active(self)
    }

    /// Marks something that runs as resting until the result is dropped.
    fn resting(&self) -> Resting<'_> {
        self.state().active -= 1;
        Resting(self)
    }

    /// Halts the run. This never returns: the driver drops the run.
    pub(crate) async fn halt<T>(&self, error: RuntimeError) -> T {
        self.stop_with(error);
        std::future::pending().await
    }

    /// Notes that the run cannot continue.
    pub(crate) fn stop_with(&self, error: RuntimeError) {
        self.state().halt.get_or_insert(error);
    }

    /// Takes the error with which the run cannot continue, if there is one.
    pub(crate) fn take_halt(&self) -> Option<RuntimeError> {
        self.state().halt.take()
    }

    /// Returns true if no step is running and nobody waits for a write.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state();
        state.active == 0 && !state.urgent
    }

    /// Returns true if the run only waits: for answers or signals that have not arrived, for
    /// parts of a loop, or for a long time.
    pub(crate) fn only_waits(&self) -> bool {
        let waits_long = self.waits_long();
        let state = self.state();
        let mut asking = state.questions.values();
        let waits = waits_long
            || !state.questions.is_empty()
            || !state.parts.is_empty()
            || state.signals.open() > 0;
        waits && asking.all(|asking| asking.settled.is_none()) && !state.signals.has_found()
    }

    /// Marks these parts as awaited until the result is dropped.
    pub(crate) fn waits_for_parts(&self, parts: Vec<ExecutionId>) -> Parts<'_> {
        self.state().parts = parts;
        Parts(self)
    }

    /// The parts that are awaited.
    pub(crate) fn awaited_parts(&self) -> Vec<ExecutionId> {
        self.state().parts.clone()
    }

    /// Called when nothing moves in a replay: see [`Replay::skip_starts`].
    pub(crate) fn skip_starts(&self) -> bool {
        self.state().replay.skip_starts()
    }

    pub(crate) fn is_urgent(&self) -> bool {
        self.state().urgent
    }

    /// Returns true if nothing may be written now, because a step has a transaction.
    pub(crate) fn keeps_writes(&self) -> bool {
        self.state().turns.keep_writes()
    }

    /// Returns true if there is something to write. Returns false during a replay: if the replay
    /// fails, the journal stays as it was.
    pub(crate) fn has_pending(&self) -> bool {
        let mut state = self.state();
        if !state.replay.is_over() {
            return false;
        }
        state.push_ahead();
        !state.pending.records.is_empty() || !state.pending.closed.is_empty()
    }

    /// Takes all pending records.
    pub(crate) fn take_pending(&self) -> Pending {
        let now_ms = self.now_ms();
        let mut state = self.state();
        state.push_ahead();
        state.urgent = false;
        let append = Append {
            now_ms,
            ..std::mem::take(&mut state.pending)
        };
        Pending {
            append,
            next_seq: state.next_seq,
            transaction: state.turns.take(),
        }
    }

    /// Notes that the records before this number are stored.
    pub(crate) fn stored(&self, next_seq: u64) {
        let mut state = self.state();
        state.stored = next_seq;
        let (ready, waiting) = std::mem::take(&mut state.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|(awaited, _)| *awaited <= next_seq);
        state.waiting = waiting;
        drop(state);
        ready.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// The path of the first record to write, preferably not the start of a node.
    pub(crate) fn first_pending_path(append: &Append) -> Option<String> {
        let urgent = append
            .records
            .iter()
            .find(|record| record.kind != RecordKind::NodeStarted);
        urgent
            .or(append.records.first())
            .map(|record| record.path.clone())
    }
}

fn poll_over(replay: &mut Replay, cx: &Context<'_>) -> Poll<()> {
    if replay.is_over() {
        return Poll::Ready(());
    }
    replay.wake_when_over(cx.waker());
    Poll::Pending
}

/// Marks parts of a loop as awaited, until this is dropped.
pub(crate) struct Parts<'a>(&'a Journal);

impl Drop for Parts<'_> {
    fn drop(&mut self) {
        self.0.state().parts.clear();
    }
}

/// Marks something as running.
pub(crate) struct Active<'a>(&'a Journal);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.state().active -= 1;
    }
}

/// Marks something that runs as resting.
struct Resting<'a>(&'a Journal);

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.0.state().active += 1;
    }
}
