//! The engine of durable runs: it returns recorded outcomes, and runs and records the steps that
//! have none.

mod failures;
mod parts;
mod people;
mod relay;
mod signals;
mod snapshot;
mod spread;
mod undo;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flow_runtime::engine::{
    Engine, ExternalType, Failed, FlowInfo, Hooks, Path, Place, RaceBranch, Run, SameOrder, Saved,
    Scope, Step, StepKey, Stored, Visit, carry_out, finish_under_way, to_json_text, unchanged,
};
use flow_runtime::{EventKind, FlowError, NodeError, RunId, RunOptions};
use flow_spec::{DEFAULT_ACTION, short_name};
use flow_store::RecordKind;
use futures_util::future::{Either, FutureExt as _, select};
use serde_json::Value;

use self::failures::caught;
use self::spread::OfPart;
use self::undo::undoes;
use super::entry::{Kept, Payload, Snapshot};
use super::error::RuntimeError;
use super::journal::{Journal, NewRecord};
use super::names::Names;
use super::payload::{self, VALUE_DEPTH};
use super::replay::{Outcome, Replay};
use crate::clock::millis;

pub(crate) use parts::{results_of, with_steps};
pub(crate) use relay::Relay;
pub(crate) use snapshot::{AtNode, Captured, Snapshots, UNFIT};
pub(crate) use spread::{NewPart, PartResult, Parts, Spreads};

/// The action of a node that failed.
const ERROR: &str = "error";

/// The engine of one durable run.
#[derive(Debug)]
pub struct Durable {
    run: Run,
    journal: Arc<Journal>,
    input: serde_json::Map<String, Value>,
    snapshots: Snapshots,
    /// The state from which the run begins, unless it begins at its start.
    restored: Mutex<Option<Snapshot>>,
    captured: Option<Arc<Mutex<Captured>>>,
    relay: Arc<Relay>,
    /// The part of a loop that the execution runs, and its result. `None` if it does not run one.
    of_part: Option<OfPart>,
    /// The number of steps taken when it began, or was continued from a snapshot.
    began_with: u64,
    /// The former names of its nodes, if it continues under them.
    names: Option<Arc<Names>>,
    /// Creates the parts of loops. `None` for a look into the past.
    spreads: Option<Spreads>,
}

impl Durable {
    pub(crate) fn new<A>(
        journal: Arc<Journal>,
        options: RunOptions<A>,
        relay: Relay,
        input: &Saved,
        snapshots: Snapshots,
        restored: Option<Snapshot>,
    ) -> Self {
        let relay = Arc::new(relay);
        let options = options.observer(relay.clone());
        let run = Run::with_history(run_id(&journal), options, journal.clone());
        if let Some(snapshot) = &restored {
            run.take_steps(snapshot.steps);
            undo::restore(&run, &snapshot.undoable);
        }
        let began_with = restored.as_ref().map_or(0, |snapshot| snapshot.steps);
        Durable {
            run,
            began_with,
            journal,
            input: input.0.clone(),
            snapshots,
            restored: Mutex::new(restored),
            captured: None,
            relay,
            of_part: None,
            names: None,
            spreads: None,
        }
    }

    /// Continues under these former names.
    pub(crate) fn under(self, names: Option<Arc<Names>>) -> Self {
        Durable { names, ..self }
    }

    /// Looks into the past: captures the states of the running flows, and runs no step.
    pub(crate) fn capturing(self, captured: Arc<Mutex<Captured>>) -> Self {
        Durable {
            captured: Some(captured),
            ..self
        }
    }

    /// Passes on the events of all records that are stored by now.
    pub(crate) fn tell_stored(&self) {
        self.relay.tell_before(self.journal.stored_seq());
    }

    /// Reports the failure of the run, which is already stored.
    pub(crate) fn tell_failed(&self, path: &str, error: &FlowError) {
        self.run
            .emit(Path::of_text(path), EventKind::RunFailed { error });
    }

    /// The decoded value. Halts the run if it could not be decoded.
    async fn or_halt<T>(&self, decoded: Result<T, RuntimeError>) -> T {
        match decoded {
            Ok(value) => value,
            Err(error) => self.journal.halt(error).await,
        }
    }

    /// The payload of a record of this place.
    fn payload<'a>(&self, place: &'a Place, kept: &'a Kept) -> Payload<'a> {
        kept.at(self.journal.execution(), &place.path)
    }

    fn unreadable_at(&self, place: &Place, reason: String) -> RuntimeError {
        RuntimeError::Unreadable {
            execution: self.journal.execution(),
            path: place.path.clone(),
            reason,
        }
    }

    fn unstorable(&self, path: String, reason: String) -> RuntimeError {
        RuntimeError::Unstorable {
            execution: Some(self.journal.execution()),
            path,
            reason,
        }
    }

    /// The recorded failure.
    async fn failed<T>(&self, place: &Place, recorded: &Kept) -> Result<T, Failed> {
        let error = self.or_halt(self.payload(place, recorded).error()).await;
        Err(Box::new(FlowError::Node(error)))
    }

    /// Records a step's failure, and returns the failure that a replay will return. The next step
    /// waits until it is stored.
    fn record_failure(&self, place: &Place, error: NodeError) -> Failed {
        self.journal.add_urgent(NewRecord {
            kind: RecordKind::NodeFailed,
            place,
            attempt: 0,
            payload: payload::of_error(&error),
        });
        error.into_stored().into()
    }

    /// Records a step's outcome, and returns the value that a replay will return. The next step
    /// waits until it is stored.
    async fn record<N: Step<Outcome: Stored>>(
        &self,
        place: &Place,
        outcome: N::Outcome,
    ) -> N::Outcome {
        let stored = to_json_text(&outcome)
            .map_err(|error| error.to_string())
            .and_then(|payload| {
                payload::check(&payload, VALUE_DEPTH)?;
                let read = serde_json::from_str(&payload).map_err(|error| payload::reason(&error));
                let read = N::read_back(&outcome, read?)?;
                unchanged(&payload, &outcome, &read).map_err(|inexact| inexact.to_string())?;
                Ok((read, payload))
            });
        match stored {
            Ok((outcome, payload)) => {
                let entry = NewRecord {
                    kind: RecordKind::Outcome,
                    place,
                    attempt: 0,
                    payload,
                };
                self.journal.add_outcome(entry);
                outcome
            }
            Err(reason) => {
                let ty = short_name(N::outcome_type(&outcome));
                let reason = format!("`{ty}` does not survive as JSON: {reason}");
                self.halt_unstorable(place, reason).await
            }
        }
    }

    /// Halts the run because a value cannot be stored.
    async fn halt_unstorable<T>(&self, place: &Place, reason: String) -> T {
        let error = self.unstorable(place.path.clone(), reason);
        self.journal.halt(error).await
    }

    /// Waits until the recorded time, or records the time if there is none. The end of the wait is
    /// recorded as well, so that a replay keeps the order of later events.
    async fn wait_at(&self, place: &Place, attempt: u32, wait: Duration) {
        let (recorded, waited) = self
            .journal
            .replaying(|replay| (replay.waits_until(place), replay.waited(place)));
        if let Some(seq) = waited {
            return self.journal.passed(seq).await;
        }
        self.journal.live().await;
        let entry = |kind, payload| NewRecord {
            kind,
            place,
            attempt,
            payload,
        };
        let until = match recorded {
            Some(until) => until,
            None => {
                let wait = millis(wait);
                let until = self.journal.now_ms().saturating_add(wait);
                self.journal
                    .write(entry(RecordKind::Waiting, until.to_string()))
                    .await;
                until
            }
        };
        self.sleep_until(until).await;
        self.journal.add(entry(RecordKind::Waited, String::new()));
    }

    /// Sleeps until a time. A look into the past ends here, whatever the time is now: the wait was
    /// not over then.
    async fn sleep_until(&self, until_ms: u64) {
        match self.captured {
            Some(_) => std::future::pending().await,
            None => self.journal.sleep_until(until_ms).await,
        }
    }
}

/// The run number for observers. It stays the same when the execution is resumed.
fn run_id(journal: &Journal) -> RunId {
    let (_, low) = journal.execution().as_uuid().as_u64_pair();
    RunId::new(low)
}

impl Hooks for Durable {
    type Order = SameOrder;

    fn run(&self) -> &Run {
        &self.run
    }

    fn names<'a>(&'a self, around: Option<&Scope<'_>>, flow: &'a FlowInfo) -> &'a FlowInfo {
        let Some(names) = &self.names else {
            return flow;
        };
        match around {
            Some(around) => names.of(&around.frame().path().to_string(), flow),
            None => names.of(flow.namespace(), flow),
        }
    }

    fn in_present_names<'a>(&self, scope: &Scope<'_>, step: StepKey<'a>) -> Cow<'a, str> {
        match &self.names {
            Some(names) => {
                let flow = scope.frame().flow_path().to_string();
                Cow::Owned(names.present_step(&flow, step))
            }
            None => Cow::Borrowed(step.as_str()),
        }
    }

    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        let frame = scope.frame();
        frame.enter(node);
        let place = self.journal.visit(frame, node);
        self.run.count_step(frame)?;
        self.started(frame, &place);
        Ok(())
    }

    fn first_item(&self, scope: &Scope<'_>) -> u32 {
        let of_part = self.part_at(scope.frame());
        of_part.map_or(0, |of_part| of_part.part.first())
    }

    fn item_started(&self, scope: &Scope<'_>) {
        self.started(scope.frame(), &scope.frame().place());
    }

    async fn within_timeout<T: Send>(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        after: Duration,
        work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Option<T> {
        let place = scope.frame().place().retry(attempt);
        let (recorded, began) = self.journal.replaying(|replay| {
            let began = match attempt {
                0 => replay.started_ms(&place),
                _ => replay.waits_until(&place),
            };
            (replay.timed_out(&place), began)
        });
        if let Some(seq) = recorded {
            let timed_out = std::pin::pin!(self.journal.passed(seq));
            return match select(timed_out, work).await {
                Either::Left(((), work)) => {
                    finish_under_way(&self.run, scope.frame(), work).await;
                    self.journal.attempt_failed(&place);
                    None
                }
                Either::Right((output, _)) => Some(output),
            };
        }
        let after = millis(after);
        let deadline = began
            .unwrap_or_else(|| self.journal.now_ms())
            .saturating_add(after);
        let timer = std::pin::pin!(async {
            self.journal.live().await;
            self.sleep_until(deadline).await;
        });
        match select(work, timer).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(((), work)) => {
                let entry = NewRecord {
                    kind: RecordKind::TimedOut,
                    place: &place,
                    attempt,
                    payload: String::new(),
                };
                self.journal.add_urgent(entry);
                finish_under_way(&self.run, scope.frame(), work).await;
                None
            }
        }
    }

    async fn wait_to_retry(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        wait: Duration,
    ) -> Result<(), Failed> {
        self.wait_at(&scope.frame().place().retry(attempt), attempt, wait)
            .await;
        Ok(())
    }

    fn tries_again(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        error: &NodeError,
        decides: fn(&NodeError) -> bool,
    ) -> bool {
        let place = scope.frame().place();
        let recorded = self
            .journal
            .replaying(|replay| replay.tried_again(&place, attempt));
        recorded.unwrap_or_else(|| {
            let again = decides(error.as_returned());
            if !again {
                self.journal.add_gave_up(&place, attempt, error);
            }
            again
        })
    }

    async fn ask_any(
        &self,
        visit: Visit<'_>,
        question: ExternalType,
        prompt: String,
    ) -> Result<Value, Failed> {
        self.ask_and_record(visit, question, prompt).await
    }

    async fn receive_any(
        &self,
        visit: Visit<'_>,
        name: &str,
        signal: ExternalType,
    ) -> Result<Value, Failed> {
        self.receive_and_record(visit, name, signal).await
    }

    async fn unreadable(&self, scope: &Scope<'_>, reason: String) -> Failed {
        let place = scope.frame().place();
        self.journal.halt(self.unreadable_at(&place, reason)).await
    }

    async fn wait(&self, scope: &Scope<'_>, duration: Duration) -> Result<(), Failed> {
        self.wait_at(&scope.frame().place(), 0, duration).await;
        Ok(())
    }

    fn race_started(&self, scope: &Scope<'_>, branches: &[RaceBranch<'_>]) -> Option<usize> {
        if !self.journal.replaying(Replay::has_records) {
            return None;
        }
        let step = |node: &u16| {
            let branch = scope.branch();
            branch.frame().enter(*node);
            branch.frame().set_visit(1);
            let place = branch.frame().place();
            branch.leave();
            place.step
        };
        let branches = branches.iter();
        let branches: Vec<Vec<String>> = branches
            .map(|branch| branch.nodes.iter().map(step).collect())
            .collect();
        self.journal.first_branch(&scope.frame().place(), &branches)
    }

    fn race_decided(&self, scope: &Scope<'_>) {
        self.journal.await_records();
        self.keep_lost(scope);
    }

    fn node_finished(&self, scope: &Scope<'_>, action: &str) {
        let place = scope.frame().place();
        self.journal.close_inside(&place);
        if action == ERROR {
            self.journal.failed(&place);
        }
        if !self.journal.was_finished(&place) {
            let payload = action.to_owned();
            self.journal.add(NewRecord {
                kind: RecordKind::NodeFinished,
                place: &place,
                attempt: 0,
                payload,
            });
            self.run
                .emit(scope.frame().path(), EventKind::NodeFinished { action });
        }
    }

    fn flow_failed(&self, scope: &Scope<'_>, failed: &Failed) {
        let frame = scope.frame();
        let place = frame.flow_place();
        self.journal.forget_visits(&place.step);
        self.journal.attempt_failed(&place);
        if self.record_failed(&place, frame.flow_attempt(), failed) {
            let (path, error) = (frame.flow_path(), failed);
            self.run.emit(path, EventKind::FlowFailed { error });
        }
    }

    fn composite_failed(&self, scope: &Scope<'_>, failed: &Failed) {
        let frame = scope.frame();
        let place = frame.place();
        self.journal.close_inside(&place);
        self.journal.failed(&place);
        if self.record_failed(&place, 0, failed) {
            if let (Some(_), FlowError::Node(error)) = (self.part_at(frame), &**failed) {
                // The execution with the loop fails with it.
                self.journal.add_gave_up(&place, 0, error);
            }
            let (path, error) = (frame.path(), failed);
            self.run.emit(path, EventKind::CompositeFailed { error });
        }
    }

    fn undoes(&self, failed: &FlowError, is_handled: bool) -> bool {
        undoes(failed, is_handled)
    }

    fn committed(&self, scope: &Scope<'_>) {
        self.record_commit(&scope.frame().place());
    }

    async fn before_commit(&self, scope: &Scope<'_>) {
        self.may_commit(&scope.frame().place()).await;
    }

    async fn before_undo(&self, number: u64, undo: &Place) -> bool {
        self.is_own(number, undo).await
    }

    fn undo_started(&self, scope: &Scope<'_>) {
        let place = scope.frame().place();
        self.started(scope.frame(), &place);
    }

    fn undo_finished(&self, scope: &Scope<'_>) {
        Hooks::node_finished(self, scope, DEFAULT_ACTION);
    }

    async fn undo_failed(&self, _scope: &Scope<'_>, failed: Failed) -> Failed {
        self.halt_not_undone(failed).await
    }

    fn cancelled(&self, scope: &Scope<'_>) -> impl Future<Output = Failed> + Send {
        self.until_cancelled(scope)
    }

    fn flow_ended(&self, scope: &Scope<'_>, end: &str) {
        scope.leave();
        let frame = scope.frame();
        let place = frame.flow_place();
        self.journal.forget_visits(&place.step);
        if !self.journal.replaying(|replay| replay.is_ended(&place)) {
            let payload = end.to_owned();
            self.journal.add(NewRecord {
                kind: RecordKind::FlowEnded,
                place: &place,
                attempt: scope.frame().flow_attempt(),
                payload,
            });
            self.run
                .emit(frame.flow_path(), EventKind::FlowEnded { end });
        }
        if let Some(captured) = &self.captured
            && frame.around_flow().is_some()
        {
            captured
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .flows
                .remove(&place.path);
        }
    }
}

impl<N: Step<Outcome: Stored>> Engine<N> for Durable {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        let place = scope.frame().place();
        self.rest_if_dropped(scope.frame(), &place).await;
        match self.journal.recorded(&place).await {
            Some(Outcome::Value(recorded)) => {
                let value = self.payload(&place, &recorded).of_type();
                return Ok(self.or_halt(value).await);
            }
            Some(Outcome::Failed(recorded)) => return self.failed(&place, &recorded).await,
            Some(Outcome::Answer(_) | Outcome::Signal(_)) | None => {}
        }
        if self.captured.is_some() {
            // A look into the past ends here: it runs no step.
            return std::future::pending().await;
        }
        if self.run.is_under_way(scope.frame()) {
            // Also that it has begun: after a crash, a cancelled execution finishes it, because what
            // it has done has to be undone.
            self.journal.all_stored().await;
        } else {
            self.journal.outcomes_stored().await;
        }
        if self
            .journal
            .replaying(|replay| replay.rests_until(&place).is_some())
        {
            self.run.rest(scope.frame());
        }
        self.journal.rested(&place).await;
        if !self.run.goes_on(scope.frame()) {
            return std::future::pending().await;
        }
        let _transaction = self.journal.transaction_of(&place);
        let is_undo = StepKey::new(&place.step).undone().is_some();
        let result = {
            let _active = self.journal.active();
            let work = caught(&place, work);
            // As late as possible, because there may have been a long wait until here.
            let work = self.journal.begin().then(|begun| {
                work.map(move |result| {
                    drop(begun);
                    result
                })
            });
            carry_out(scope, self.run.is_limited(), work).await
        };
        match result {
            Ok(outcome) => Ok(self.record::<N>(&place, outcome).await),
            // It halts the execution, and is tried again when that continues.
            Err(failed) if is_undo => Err(failed),
            Err(failed) => Err(match *failed {
                FlowError::Node(error) => self.record_failure(&place, error),
                // It ends the run and is recorded there.
                other => Box::new(other),
            }),
        }
    }
}
