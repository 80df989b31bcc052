//! The engine of runs that survive: what is recorded is returned, and what is not is done and recorded.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flow_store::{ExecutionId, PauseRow, PauseState, RecordKind, Settlement, Token};
use futures_util::future::{Either, FutureExt as _, select};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::RuntimeError;
use super::events::{Chunks, Emitter};
use super::journal::{AskingGuard, Entry, Journal, Visits, name_of};
use super::payload::{self, PAYLOAD_DEPTH, VALUE_DEPTH};
use super::replay::Outcome;
use flow_runtime::engine::{
    Engine, Failed, Failure, Frame, Hooks, Json, Path, Place, QuestionType, Run, Saved, Scope,
    StateHooks, Step, Stored, StoredState, Unstorable, Visit, carry_out,
};
use flow_runtime::{
    Event, EventKind, FlowError, Human, NodeError, Observer, RunId, RunOptions, TimedOut,
};

/// The state of a flow before one of its nodes: what a recovery begins with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// The namespace of the flow.
    pub(crate) namespace: String,
    /// The node.
    pub(crate) node: String,
    /// The values by key.
    pub(crate) state: serde_json::Map<String, serde_json::Value>,
    /// What the run was given.
    pub(crate) input: serde_json::Map<String, serde_json::Value>,
    /// How often each node of the outermost flow had been visited.
    pub(crate) visits: Visits,
    /// How many steps had been counted.
    pub(crate) steps: u64,
}

/// The action of a node that has failed.
const ERROR: &str = "error";

/// What became of a question, as recorded.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) timed_out: bool,
}

/// What a question says, as recorded: not its token, since whoever may look at a journal may not answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asked {
    pub(crate) prompt: String,
    pub(crate) expected: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_ms: Option<u64>,
}

/// How the engine keeps snapshots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snapshots {
    /// After how many records.
    pub(crate) every: usize,
    /// Whether the records before are removed.
    pub(crate) prune: bool,
}

/// The states of the flows under way, by path: what a look into the past is for.
pub(crate) type Captured = Mutex<BTreeMap<String, serde_json::Map<String, serde_json::Value>>>;

/// The engine of one durable run.
#[derive(Debug)]
pub struct Durable {
    run: Run,
    journal: Arc<Journal>,
    input: serde_json::Map<String, serde_json::Value>,
    snapshots: Snapshots,
    /// Where the run begins, unless at its start.
    restored: Mutex<Option<Snapshot>>,
    captured: Option<Arc<Captured>>,
    relay: Arc<Relay>,
}

impl Durable {
    pub(crate) fn new(
        journal: Arc<Journal>,
        options: RunOptions,
        observers: Vec<Arc<dyn Observer>>,
        input: &Saved,
        snapshots: Snapshots,
        restored: Option<Snapshot>,
        captured: Option<Arc<Captured>>,
        deltas: Option<Emitter>,
    ) -> Self {
        let relay = Arc::new(Relay {
            journal: journal.clone(),
            observers,
            held: Mutex::default(),
            deltas,
            chunks: Chunks::default(),
        });
        let options = options.observer(relay.clone());
        let run = Run::with_history(run_id(&journal), options, journal.clone());
        if let Some(snapshot) = &restored {
            run.take_steps(snapshot.steps);
        }
        Durable {
            run,
            journal,
            input: input.0.clone(),
            snapshots,
            restored: Mutex::new(restored),
            captured,
            relay,
        }
    }

    /// Hands on the events of what is stored by now.
    pub(crate) fn tell_stored(&self) {
        self.relay.tell_before(self.journal.stored_seq());
    }

    /// Tells that the run has failed, which is stored.
    pub(crate) fn tell_failed(&self, path: &str, error: &FlowError) {
        self.run
            .emit(Path::of_text(path), EventKind::RunFailed { error });
    }

    /// A value of a record, or the end of the run if it is none.
    async fn read<T: Stored>(&self, place: &Place, text: &str) -> T {
        match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                let reason = format!(
                    "the recorded value is not a `{}`: {error}",
                    short_name::<T>()
                );
                self.journal.halt(self.unreadable(place, reason)).await
            }
        }
    }

    fn unreadable(&self, place: &Place, reason: String) -> RuntimeError {
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

    /// The failure that is recorded.
    async fn failed<T>(&self, place: &Place, text: &str) -> Result<T, Failed> {
        let error: NodeError = self.read(place, text).await;
        Err(Box::new(FlowError::Node(error)))
    }

    /// Records a step's failure, for which the next step waits. What is no node's error ends the run, and is recorded with
    /// it.
    async fn record_failure(&self, place: &Place, failed: &Failed) {
        if let FlowError::Node(error) = &**failed {
            let payload = match serde_json::to_string(error) {
                Ok(payload) => payload,
                Err(error) => return self.halt_unstorable(place, error.to_string()).await,
            };
            if let Err(reason) = payload::check(&payload, PAYLOAD_DEPTH) {
                return self.halt_unstorable(place, reason).await;
            }
            self.journal.add_urgent(Entry {
                kind: RecordKind::NodeFailed,
                place,
                attempt: 0,
                payload,
            });
        }
    }

    /// Records a step's outcome, for which the next step waits, and returns what a replay will return.
    async fn record<T: Stored>(&self, place: &Place, outcome: T) -> T {
        let stored = serde_json::to_string(&outcome)
            .map_err(|error| error.to_string())
            .and_then(|payload| {
                payload::check(&payload, VALUE_DEPTH)?;
                let read =
                    serde_json::from_str::<T>(&payload).map_err(|error| error.to_string())?;
                Ok((read, payload))
            });
        match stored {
            Ok((outcome, payload)) => {
                let entry = Entry {
                    kind: RecordKind::Outcome,
                    place,
                    attempt: 0,
                    payload,
                };
                self.journal.add_urgent(entry);
                outcome
            }
            Err(reason) => {
                let reason = format!("`{}` does not survive as JSON: {reason}", short_name::<T>());
                self.halt_unstorable(place, reason).await
            }
        }
    }

    /// The run cannot go on, since a value cannot be stored.
    async fn halt_unstorable<T>(&self, place: &Place, reason: String) -> T {
        let error = self.unstorable(place.path.clone(), reason);
        self.journal.halt(error).await
    }

    /// Waits until the time that is recorded, or for this long and records it. That the wait is over is recorded as well: what
    /// comes after it is in the right order in a replay only so.
    async fn wait_at(&self, place: &Place, attempt: u32, wait: Duration) {
        let (recorded, waited) = self
            .journal
            .replaying(|replay| (replay.waits_until(place), replay.waited(place)));
        if let Some(seq) = waited {
            return self.journal.passed(seq).await;
        }
        self.journal.live().await;
        let entry = |kind, payload| Entry {
            kind,
            place,
            attempt,
            payload,
        };
        let until = match recorded {
            Some(until) => until,
            None => {
                let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
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

    /// Sleeps until a time. A look into the past ends here: what was waited for then is still to come, whatever the time is now.
    async fn sleep_until(&self, until_ms: u64) {
        match self.captured {
            Some(_) => std::future::pending().await,
            None => self.journal.sleep_until(until_ms).await,
        }
    }

    /// The question that is open at a visit, asked before or now, and until when it can be answered.
    async fn question<N: Human>(
        &self,
        place: &Place,
        prompt: String,
        timeout: Option<Duration>,
    ) -> (AskingGuard<'_>, Option<u64>) {
        if let Some(row) = self.journal.open_question(place) {
            return (self.journal.asking(row.token), row.expires_ms);
        }
        self.journal.live().await;
        let created_ms = self.journal.now_ms();
        let kind = QuestionType::of::<N>();
        let row = PauseRow {
            token: Token::from(Uuid::new_v4()),
            execution: self.journal.execution(),
            path: place.path.clone(),
            step: place.step.clone(),
            prompt,
            expected: kind.name().to_owned(),
            schema: kind.schema().map(|schema| schema.to_string()),
            created_ms,
            expires_ms: timeout.map(|timeout| {
                created_ms.saturating_add(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
            }),
            state: PauseState::Open,
        };
        let asked = Asked {
            prompt: row.prompt.clone(),
            expected: row.expected.clone(),
            expires_ms: row.expires_ms,
        };
        let payload = match serde_json::to_string(&asked) {
            Ok(payload) => payload,
            Err(error) => return self.halt_unstorable(place, error.to_string()).await,
        };
        let (asking, expires_ms) = (self.journal.asking(row.token), row.expires_ms);
        self.journal.add_question(row);
        self.journal
            .write(Entry {
                kind: RecordKind::Paused,
                place,
                attempt: 0,
                payload,
            })
            .await;
        (asking, expires_ms)
    }

    /// The value of an answer.
    async fn answered<N: Human>(
        &self,
        visit: Visit<'_>,
        place: &Place,
        answered: Answered,
    ) -> Result<N, Failed> {
        if answered.timed_out {
            // Only a program whose flow has changed has no timeout here: nobody knows how long the old one was.
            let after = visit.timeout().unwrap_or_default();
            let failure = Failure::Deadline(TimedOut { after });
            let error = NodeError::new(place.path.clone(), 1, failure);
            return Err(Box::new(FlowError::Node(error)));
        }
        // `null` is an answer as well, and is read as `None`.
        let answer = answered.answer.unwrap_or_default();
        match N::FORM.give(answer) {
            Ok(value) => Ok(value),
            Err(error) => {
                let reason = format!("the recorded answer is not a `{}`: {error}", N::NAME);
                self.journal.halt(self.unreadable(place, reason)).await
            }
        }
    }
}

/// A number for observers, the same in each life of the run.
fn run_id(journal: &Journal) -> RunId {
    let (_, low) = journal.execution().as_uuid().as_u64_pair();
    RunId::new(low)
}

/// A type's name without the modules that it is in.
fn short_name<T>() -> String {
    let mut short = String::new();
    let mut word = String::new();
    for letter in std::any::type_name::<T>().chars() {
        match letter {
            ':' => word.clear(),
            letter if letter.is_alphanumeric() || letter == '_' => word.push(letter),
            other => {
                short.push_str(&word);
                word.clear();
                short.push(other);
            }
        }
    }
    short + &word
}

impl Hooks for Durable {
    fn run(&self) -> &Run {
        &self.run
    }

    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        let frame = scope.frame();
        frame.enter(node);
        let place = self.journal.visit(frame, node);
        self.run.count_step(frame)?;
        self.started(frame, &place);
        Ok(())
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
                Either::Left(((), _)) => {
                    self.journal.attempt_failed(&place);
                    None
                }
                Either::Right((output, _)) => Some(output),
            };
        }
        let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        let deadline = began
            .unwrap_or_else(|| self.journal.now_ms())
            .saturating_add(after);
        let timer = std::pin::pin!(async {
            self.journal.live().await;
            self.sleep_until(deadline).await;
        });
        match select(work, timer).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(((), _)) => {
                let entry = Entry {
                    kind: RecordKind::TimedOut,
                    place: &place,
                    attempt,
                    payload: String::new(),
                };
                self.journal.add_urgent(entry);
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

    async fn ask<N: Human>(&self, visit: Visit<'_>, prompt: String) -> Result<N, Failed> {
        let place = visit.frame().place();
        if let Some(Outcome::Answer(text)) = self.recorded_answer(&place).await {
            let answered: Answered = self.read(&place, &text).await;
            return self.answered(visit, &place, answered).await;
        }
        let settlement = {
            let (asking, expires_ms) = self.question::<N>(&place, prompt, visit.timeout()).await;
            let settlement = asking.settled(expires_ms).await;
            self.journal.live().await;
            settlement
        };
        let answered = match settlement {
            Settlement::TimedOut => Answered {
                answer: None,
                timed_out: true,
            },
            Settlement::Answer(text) => Answered {
                answer: Some(self.read(&place, &text).await),
                timed_out: false,
            },
        };
        let payload = match serde_json::to_string(&answered) {
            Ok(payload) => payload,
            Err(error) => return self.halt_unstorable(&place, error.to_string()).await,
        };
        // The run goes on at once, as a replay does. The next step waits until the answer is stored.
        self.journal.add_urgent(Entry {
            kind: RecordKind::Resumed,
            place: &place,
            attempt: 0,
            payload,
        });
        self.answered(visit, &place, answered).await
    }

    async fn wait(&self, scope: &Scope<'_>, duration: Duration) -> Result<(), Failed> {
        self.wait_at(&scope.frame().place(), 0, duration).await;
        Ok(())
    }

    fn node_finished(&self, scope: &Scope<'_>, action: &str) {
        let place = scope.frame().place();
        if action == ERROR {
            self.journal.failed(&place);
        }
        if !self.journal.replaying(|replay| replay.is_finished(&place)) {
            let payload = action.to_owned();
            self.journal.add(Entry {
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
        let place = scope.frame().flow_place();
        self.journal.forget_visits(&place.step);
        self.journal.attempt_failed(&place);
        if !self.journal.replaying(|replay| replay.has_failed(&place)) {
            self.journal.add(Entry {
                kind: RecordKind::FlowFailed,
                place: &place,
                attempt: scope.frame().flow_attempt(),
                payload: format!("{failed:#}"),
            });
        }
    }

    fn flow_ended(&self, scope: &Scope<'_>, end: &str) {
        scope.leave();
        let frame = scope.frame();
        let place = frame.flow_place();
        self.journal.forget_visits(&place.step);
        if !self.journal.replaying(|replay| replay.is_ended(&place)) {
            let payload = end.to_owned();
            self.journal.add(Entry {
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
                .remove(&place.path);
        }
    }
}

impl Durable {
    fn started(&self, frame: &Frame<'_>, place: &Place) {
        if self.journal.start(place) {
            self.run.emit(frame.path(), EventKind::NodeStarted);
        }
    }

    /// The answer that is recorded. A question that is open has none, and does not wait for the rest of the replay.
    async fn recorded_answer(&self, place: &Place) -> Option<Outcome> {
        match self.journal.replaying(|replay| replay.outcome(place)) {
            Some(_) => self.journal.recorded(place).await,
            None => None,
        }
    }

    /// The state as JSON. If it cannot be that, the run ends.
    fn saved(&self, frame: &Frame<'_>, state: &impl StoredState<Json>) -> Option<Saved> {
        let path = frame.flow_path().to_string();
        let unstorable = |Unstorable { key, reason }| {
            let error = self.unstorable(path, format!("`{key}`: {reason}"));
            self.journal.stop_with(error);
        };
        state.save().map_err(unstorable).ok()
    }

    /// Keeps the state for a look into the past, if that is what this engine is for.
    fn capture(&self, frame: &Frame<'_>, state: &impl StoredState<Json>) {
        if let Some(captured) = &self.captured
            && let Some(saved) = self.saved(frame, state)
        {
            let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
            captured.insert(frame.flow_path().to_string(), saved.0);
        }
    }

    fn snapshot(&self, frame: &Frame<'_>, node: u16, saved: Saved) {
        let place = frame.flow_place();
        let snapshot = Snapshot {
            namespace: place.path.clone(),
            node: name_of(frame, node).to_owned(),
            state: saved.0,
            input: self.input.clone(),
            visits: self.journal.visits(&place.step),
            steps: self.run.steps_taken(),
        };
        let payload = serde_json::to_string(&snapshot)
            .map_err(|error| error.to_string())
            .and_then(|payload| payload::check(&payload, PAYLOAD_DEPTH).map(|()| payload));
        match payload {
            Ok(payload) => self
                .journal
                .add_snapshot(&place, payload, self.snapshots.prune),
            Err(reason) => self.journal.stop_with(self.unstorable(place.path, reason)),
        }
    }
}

impl<N: Step<Outcome: Stored>> Engine<N> for Durable {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        let place = scope.frame().place();
        match self.journal.recorded(&place).await {
            Some(Outcome::Value(text)) => return Ok(self.read(&place, &text).await),
            Some(Outcome::Failed(text)) => return self.failed(&place, &text).await,
            Some(Outcome::Answer(_)) | None => {}
        }
        if self.captured.is_some() {
            // A look into the past ends here: it runs no step.
            return std::future::pending().await;
        }
        self.journal.outcomes_stored().await;
        let result = {
            let _active = self.journal.active();
            // Last of all: it may have waited for long until here.
            let work = self.journal.leased().then(|()| work);
            carry_out(scope, self.run.is_limited(), work).await
        };
        match result {
            Ok(outcome) => Ok(self.record(&place, outcome).await),
            Err(failed) => {
                self.record_failure(&place, &failed).await;
                Err(failed)
            }
        }
    }
}

impl<S: StoredState<Json>> StateHooks<S> for Durable {
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        let frame = scope.frame();
        let outermost = frame.around_flow().is_none();
        self.capture(frame, state);
        if outermost
            && self.journal.snapshot_is_due(self.snapshots.every)
            // What is recorded of the visit, such as when a wait ends, would be before the snapshot.
            && !self.journal.begins_again(frame, node)
            && let Some(saved) = self.saved(frame, state)
        {
            self.snapshot(frame, node, saved);
        }
        self.node_started(scope, node)
    }

    fn at_end(&self, scope: &Scope<'_>, state: &S) {
        self.capture(scope.frame(), state);
    }

    fn resume_from(&self, scope: &Scope<'_>) -> Result<Option<(usize, S)>, Failed> {
        let frame = scope.frame();
        if frame.around_flow().is_some() {
            return Ok(None);
        }
        let restored = self
            .restored
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(Snapshot { node, state, .. }) = restored else {
            return Ok(None);
        };
        let place = frame.flow_place();
        let reason = match (frame.flow().node_named(&node), S::load(Saved(state))) {
            (Some(at), Ok(state)) => return Ok(Some((at, state))),
            (None, _) => format!("the flow has no node `{node}`, before which a snapshot was made"),
            (_, Err(unstorable)) => {
                format!("the value of a snapshot does not fit its type: {unstorable}")
            }
        };
        self.journal.stop_with(self.unreadable(&place, reason));
        // The driver sees that it was stopped, and not this.
        Err(Box::new(FlowError::Cancelled { path: place.path }))
    }
}

/// An event that is handed on when the records before this one are stored.
#[derive(Debug)]
struct Held {
    awaited: u64,
    run: RunId,
    path: String,
    kind: HeldKind,
}

#[derive(Debug)]
enum HeldKind {
    NodeStarted,
    NodeFinished { action: String },
    FlowEnded { end: String },
}

/// Hands every event on: that a node is done when that is stored.
struct Relay {
    journal: Arc<Journal>,
    /// None of them panics.
    observers: Vec<Arc<dyn Observer>>,
    /// What comes after an outcome that is not stored yet, in order.
    held: Mutex<VecDeque<Held>>,
    deltas: Option<Emitter>,
    chunks: Chunks,
}

/// A part of a result, which is not stored.
#[derive(Debug, Clone)]
pub(crate) struct Delta {
    pub(crate) execution: ExecutionId,
    pub(crate) path: String,
    pub(crate) step: String,
    pub(crate) visit: u32,
    /// Its number within the attempt, from 0.
    pub(crate) index: u64,
    /// The number of the record that comes after it.
    pub(crate) next_seq: u64,
    pub(crate) at_ms: u64,
    pub(crate) text: String,
}

impl Observer for Relay {
    fn on_event(&self, event: &Event<'_>) {
        let index = self.chunks.count(event);
        if let (EventKind::Delta(text), Some(index), Some(deltas)) =
            (event.kind(), index, &self.deltas)
            && deltas.is_heard()
            && let Some(place) = event.path().place()
        {
            let (execution, text) = (self.journal.execution(), text.to_owned());
            let delta = Delta {
                execution,
                path: place.path,
                step: place.step,
                visit: place.visit,
                index,
                next_seq: self.journal.next_seq(),
                at_ms: self.journal.now_ms(),
                text,
            };
            deltas.send(&delta);
        }
        if !self.observers.is_empty() && !self.hold(event) {
            self.tell(event);
        }
    }
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay")
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

impl Relay {
    fn held(&self) -> MutexGuard<'_, VecDeque<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &Event<'_>) {
        for observer in &self.observers {
            observer.on_event(event);
        }
    }

    /// Whether an event has to wait, which is then done.
    fn hold(&self, event: &Event<'_>) -> bool {
        let Some(awaited) = self.journal.awaited() else {
            return false;
        };
        let kind = match event.kind() {
            EventKind::NodeStarted => HeldKind::NodeStarted,
            EventKind::NodeFinished { action } => HeldKind::NodeFinished {
                action: action.to_owned(),
            },
            EventKind::FlowEnded { end } => HeldKind::FlowEnded {
                end: end.to_owned(),
            },
            _ => return false,
        };
        self.held().push_back(Held {
            awaited,
            run: event.run(),
            path: event.path().to_string(),
            kind,
        });
        true
    }

    /// Hands on what waits for nothing after this number.
    fn tell_before(&self, stored: u64) {
        loop {
            let next = self.held().pop_front_if(|held| held.awaited <= stored);
            let Some(held) = next else {
                return;
            };
            let kind = match &held.kind {
                HeldKind::NodeStarted => EventKind::NodeStarted,
                HeldKind::NodeFinished { action } => EventKind::NodeFinished { action },
                HeldKind::FlowEnded { end } => EventKind::FlowEnded { end },
            };
            self.tell(&Event::new(held.run, Path::of_text(&held.path), kind));
        }
    }
}
