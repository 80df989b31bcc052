//! The engine: every step, wait and question is an operation of the invocation.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use flow_runtime::engine::{
    Engine, ExternalType, Failed, Failure, Frame, Hooks, Json, Path, Place, Run, SameOrder, Saved,
    Scope, StateHooks, Step, Stored, StoredState, Visit, Visits, carry_out, to_json_text,
    unchanged,
};
use flow_runtime::{EventKind, FlowError, NodeError, TimedOut};
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::continued::{Between, RunFacts};
use crate::operations::{Handle, Left, Operations, Request, Said};
use crate::question::{Asked, Settled, asked};
use crate::size::within_limit;
use crate::stopped::Refused;

/// The outcome of a step in the journal.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Recorded<T, E> {
    Outcome(T),
    Error(E),
}

/// The engine of one invocation on a Restate server, which
/// [`Endpoint::flow`](crate::Endpoint::flow) requires of a flow.
///
/// It runs every flow whose values are `Serialize` and `Deserialize`, and flows that were loaded
/// from files.
#[derive(Debug)]
pub struct OnRestate {
    run: Run,
    visits: Visits,
    operations: Operations,
    facts: RunFacts,
    /// The place from which the flow continues. `None` if it begins at its start.
    from: Mutex<Option<Between>>,
    /// The path of the flow itself.
    root: OnceLock<String>,
    /// True until the flow has done something with the restored state.
    restoring: AtomicBool,
}

impl OnRestate {
    pub(crate) fn new(
        run: Run,
        operations: Operations,
        facts: RunFacts,
        from: Option<Between>,
    ) -> Self {
        if let Some(between) = &from {
            run.take_steps(between.steps);
        }
        let visits = Visits::new();
        OnRestate {
            run,
            visits,
            operations,
            facts,
            root: OnceLock::new(),
            restoring: AtomicBool::new(from.is_some()),
            from: Mutex::new(from),
        }
    }

    /// Reports the end of a run that failed outside its flow.
    pub(crate) fn tell_failed(&self, refused: &Refused) {
        let path = self.root.get().cloned().unwrap_or_default();
        let error = if *refused == Refused::cancelled() {
            FlowError::Cancelled { path: path.clone() }
        } else {
            let failure = Failure::Returned(refused.message.clone().into());
            FlowError::Node(NodeError::new(path.clone(), 1, failure))
        };
        let error = &error;
        self.run
            .emit(Path::of_text(&path), EventKind::RunFailed { error });
    }

    fn tell(&self, path: Path<'_>, kind: EventKind<'_>) {
        if !self.operations.is_replaying() {
            self.run.emit(path, kind);
        }
    }

    async fn sleep(&self, name: String, duration: Duration) {
        self.operations
            .want(name, Request::Sleep(duration))
            .done()
            .await;
    }
}

impl OnRestate {
    /// Ends the invocation with this failure.
    async fn fail<T>(&self, message: String) -> T {
        let code = 500;
        self.operations.fail(Refused { code, message });
        std::future::pending().await
    }

    async fn read<T: Stored>(&self, name: &str, recorded: &[u8]) -> Result<T, Failed> {
        match serde_json::from_slice::<Recorded<T, NodeError>>(recorded) {
            Ok(Recorded::Outcome(outcome)) => Ok(outcome),
            Ok(Recorded::Error(error)) => Err(error.into()),
            Err(error) => {
                self.fail(format!(
                    "the recorded outcome of `{name}` cannot be read: {error}"
                ))
                .await
            }
        }
    }
}

/// The outcome in the form in which it is recorded.
///
/// # Errors
///
/// The reason why it cannot be recorded.
fn written<N: Step<Outcome: Stored>>(
    name: &str,
    result: &Result<N::Outcome, NodeError>,
) -> Result<Bytes, String> {
    let lost =
        |reason: String| format!("the outcome of `{name}` does not survive as JSON: {reason}");
    let outcome = match result {
        Ok(outcome) => outcome,
        Err(error) => {
            let text = serde_json::to_vec(&Recorded::<(), _>::Error(error));
            let text = text.map_err(|error| lost(error.to_string()))?;
            return within_limit(&format!("the outcome of `{name}`"), text);
        }
    };
    let text = to_json_text(outcome).map_err(|inexact| lost(inexact.to_string()))?;
    let recorded = format!(r#"{{"outcome":{text}}}"#);
    let recorded = within_limit(&format!("the outcome of `{name}`"), recorded.into_bytes())?;
    let read: Recorded<N::Outcome, NodeError> =
        serde_json::from_slice(&recorded).map_err(|error| lost(error.to_string()))?;
    if let Recorded::Outcome(read) = read {
        let read = N::read_back(outcome, read)?;
        unchanged(&text, outcome, &read).map_err(|inexact| lost(inexact.to_string()))?;
    }
    Ok(recorded)
}

impl<N: Step<Outcome: Stored>> Engine<N> for OnRestate {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        let name = scope.frame().place().step;
        let mut step = self.operations.want(name.clone(), Request::Step);
        if let Said::Done(recorded) = step.said().await {
            return self.read(&name, &recorded).await;
        }
        let work = carry_out(scope, self.run.is_limited(), work);
        let result = match self.operations.run(work).await {
            Ok(outcome) => Ok(outcome),
            Err(failed) => match *failed {
                FlowError::Node(error) => Err(error),
                other => return Err(Box::new(other)),
            },
        };
        match written::<N>(&name, &result) {
            Ok(outcome) => step.propose(outcome),
            Err(reason) => return self.fail(reason).await,
        }
        // The recorded outcome, so that the first run and a replay see the same value.
        let recorded = step.done().await;
        self.read(&name, &recorded).await
    }
}

impl Hooks for OnRestate {
    type Order = SameOrder;

    fn run(&self) -> &Run {
        &self.run
    }

    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        let frame = scope.frame();
        self.restoring.store(false, Ordering::Relaxed);
        self.visits.begin(frame, node);
        self.run.count_step(frame)?;
        self.tell(frame.path(), EventKind::NodeStarted);
        Ok(())
    }

    fn item_started(&self, scope: &Scope<'_>) {
        self.tell(scope.frame().path(), EventKind::NodeStarted);
    }

    async fn within_timeout<T: Send>(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        after: Duration,
        work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> Option<T> {
        let name = scope.frame().place().retry(attempt).step;
        let timer = pin!(self.sleep(format!("{name} timeout"), after));
        match select(work, timer).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(((), _)) => None,
        }
    }

    async fn wait_to_retry(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        wait: Duration,
    ) -> Result<(), Failed> {
        self.sleep(scope.frame().place().retry(attempt).step, wait)
            .await;
        Ok(())
    }

    async fn wait(&self, scope: &Scope<'_>, duration: Duration) -> Result<(), Failed> {
        self.sleep(scope.frame().place().step, duration).await;
        Ok(())
    }

    async fn ask_any(
        &self,
        visit: Visit<'_>,
        question: ExternalType,
        prompt: String,
    ) -> Result<Value, Failed> {
        let place = visit.frame().place();
        let asking = self.operations.ask(place.step.clone());
        self.tell_asked(&place, &question, prompt).await;
        let mut promise = self.operations.want(place.step.clone(), Request::Promise);
        let settled = match visit.timeout() {
            None => promise.done().await,
            Some(after) => {
                let timer = pin!(self.sleep(format!("{} timeout", place.step), after));
                let in_time = match select(pin!(promise.done()), timer).await {
                    Either::Left((settled, _)) => Some(settled),
                    Either::Right(_) => None,
                };
                match in_time {
                    Some(settled) => settled,
                    None => self.time_out(&place.step, &mut promise).await,
                }
            }
        };
        asking.settled();
        match serde_json::from_slice(&settled) {
            Ok(Settled::Answer(answer)) => match question.check(&answer) {
                Ok(()) => Ok(answer),
                Err(reason) => Err(Box::new(FlowError::Unanswered {
                    path: place.path,
                    error: format!("the answer is of another type: {reason}").into(),
                })),
            },
            Ok(Settled::TimedOut) => {
                let after = visit.timeout().unwrap_or_default();
                let failure = Failure::Deadline(TimedOut { after });
                Err(NodeError::new(place.path, 1, failure).into())
            }
            Ok(Settled::Withdrawn) => {
                let step = &place.step;
                self.fail(format!("`{step}` is withdrawn, and is still asked"))
                    .await
            }
            Err(error) => {
                self.fail(format!(
                    "the answer at `{}` cannot be read: {error}",
                    place.step
                ))
                .await
            }
        }
    }

    async fn unreadable(&self, scope: &Scope<'_>, reason: String) -> Failed {
        if self.restoring.load(Ordering::Relaxed) {
            self.operations.leave(Left::Unreadable(reason));
            return std::future::pending().await;
        }
        let step = scope.frame().place().step;
        self.fail(format!(
            "the recorded outcome of `{step}` cannot be read: {reason}"
        ))
        .await
    }

    fn node_finished(&self, scope: &Scope<'_>, action: &str) {
        self.tell(scope.frame().path(), EventKind::NodeFinished { action });
    }

    fn flow_failed(&self, scope: &Scope<'_>, error: &Failed) {
        self.visits.end(scope.frame());
        self.tell(scope.frame().flow_path(), EventKind::FlowFailed { error });
    }

    fn composite_failed(&self, scope: &Scope<'_>, error: &Failed) {
        self.tell(scope.frame().path(), EventKind::CompositeFailed { error });
    }

    fn flow_ended(&self, scope: &Scope<'_>, end: &str) {
        scope.leave();
        self.visits.end(scope.frame());
        self.tell(scope.frame().flow_path(), EventKind::FlowEnded { end });
    }
}

impl OnRestate {
    /// Registers an open question by a promise, so that only open questions can be answered.
    async fn tell_asked(&self, place: &Place, question: &ExternalType, prompt: String) {
        let told = Asked {
            path: place.path.clone(),
            prompt,
            ty: question.name().to_owned(),
            schema: question.schema(),
        };
        let text = serde_json::to_vec(&told).map_err(|error| error.to_string());
        let what = format!("the question `{}`", place.step);
        let request = match text.and_then(|text| within_limit(&what, text)) {
            Ok(text) => Request::Settle(text),
            Err(reason) => return self.fail(reason).await,
        };
        self.operations
            .want(asked(&place.step), request)
            .done()
            .await;
    }

    /// Settles a question whose time is over, and returns its settlement: an answer that came first
    /// counts.
    async fn time_out(&self, name: &str, promise: &mut Handle) -> Bytes {
        let timed_out = match serde_json::to_vec(&Settled::TimedOut) {
            Ok(text) => Bytes::from(text),
            Err(error) => return self.fail(error.to_string()).await,
        };
        let mut settling = self
            .operations
            .want(name.to_owned(), Request::Settle(timed_out));
        settling.done().await;
        promise.done().await
    }
}

impl OnRestate {
    /// The flow between two of its nodes. `None` if its values cannot be sent.
    fn between(
        &self,
        frame: &Frame<'_>,
        node: u16,
        state: &impl StoredState<Json>,
    ) -> Option<Between> {
        let Some(name) = frame.flow().node(node.into()) else {
            unreachable!("a flow enters its own nodes")
        };
        let Saved(state) = state.save().ok()?;
        let between = Between {
            node: name.to_owned(),
            state,
            visits: self.visits.of_flow(frame),
            steps: self.run.steps_taken(),
        };
        self.facts.can_go_on_from(&between).then_some(between)
    }
}

/// An error that leaves the flow at once. The driver reports the actual reason, never this error.
fn leave<T>(frame: &Frame<'_>) -> Result<T, Failed> {
    let path = frame.flow_path().to_string();
    Err(Box::new(FlowError::Cancelled { path }))
}

impl<S: StoredState<Json>> StateHooks<S> for OnRestate {
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        let frame = scope.frame();
        if frame.around_flow().is_some() || !self.operations.is_full() {
            return self.node_started(scope, node);
        }
        let Some(between) = self.between(frame, node, state) else {
            self.operations.stay();
            return self.node_started(scope, node);
        };
        self.operations.leave(Left::Between(between));
        leave(frame)
    }

    fn resume_from(&self, scope: &Scope<'_>) -> Result<Option<(usize, S)>, Failed> {
        let frame = scope.frame();
        if frame.around_flow().is_some() {
            return Ok(None);
        }
        self.root.get_or_init(|| frame.flow_path().to_string());
        let mut from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Between {
            node,
            state,
            visits,
            ..
        }) = from.take()
        else {
            return Ok(None);
        };
        let reason = match (frame.flow().node_named(&node), S::load(Saved(state))) {
            (Some(at), Ok(state)) => {
                self.visits.go_on(frame, &visits);
                return Ok(Some((at, state)));
            }
            (None, _) => format!("the flow has no node `{node}`"),
            (_, Err(unstorable)) => unstorable.to_string(),
        };
        self.operations.leave(Left::Unreadable(reason));
        leave(frame)
    }
}
