//! The context of a node within its run.

use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::frame::{OwnedPath, Path, Place};
use crate::history::History;
use crate::lifecycle::Lifecycle;
use crate::observer::{Event, EventKind, Observer, RunId, tell};
use crate::options::RunSettings;
use crate::scope::Scope;
use crate::step_id::StepName;

/// The context of a node: its place in the run, its attempt, and the means to report progress.
///
/// A node receives it as a parameter `cx: &Context`. The parameter is not a read, and can have any
/// name.
///
/// # Examples
///
/// ```
/// use flow_runtime::prelude::*;
///
/// #[node(retry(attempts = 3))]
/// fn connect(cx: &Context) -> Result<String, String> {
///     if cx.attempt() < 2 {
///         return Err("connection refused".into());
///     }
///     Ok(format!("{} connected at attempt {}", cx.namespace(), cx.attempt()))
/// }
///
/// flow! {
///     Connect() -> (connect: String) {
///         start >> connect >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let out = Connect::new().run(ConnectInput::builder().build()).await?;
/// assert_eq!(out.connect, "connect.connect connected at attempt 2");
/// # Ok(()) }
/// ```
pub struct Context {
    path: OwnedPath,
    namespace: OnceLock<String>,
    attempt: u32,
    run: RunId,
    cancellation: Option<CancellationToken>,
    step: Option<(Arc<dyn History>, Place)>,
    step_name: StepName,
    observer: Option<Arc<dyn Observer>>,
    lifecycle: Option<Lifecycle>,
    /// True while the attempt waits for the work. Set only for work that can outlive its attempt.
    awaited: Option<Arc<Mutex<bool>>>,
    /// The number of runs that have begun within this step.
    runs_within: AtomicU32,
}

/// The parts of a step that a run within it gets.
pub(crate) struct RunWithin {
    pub(crate) id: RunId,
    pub(crate) settings: RunSettings,
    /// The history of the execution, and the place of the step.
    pub(crate) step: Option<(Arc<dyn History>, Place)>,
    /// The id of the step.
    pub(crate) step_id: String,
    /// The number of the run within the step, from 1.
    pub(crate) number: u32,
}

/// The observer of a run within a step. It passes on what nodes emit, as parts of the result of the
/// step. The outer run does not have these nodes, so their other events are dropped.
struct TellsOfStep {
    observer: Arc<dyn Observer>,
    step: Option<Place>,
    path: String,
}

impl Observer for TellsOfStep {
    fn on_event(&self, event: &Event<'_>) {
        let kind = match event.kind() {
            EventKind::Delta(delta) => EventKind::Delta(delta),
            EventKind::DeltaJson(delta) => EventKind::DeltaJson(delta),
            EventKind::Progress { done, of } => EventKind::Progress { done, of },
            _ => return,
        };
        let path = match &self.step {
            Some(place) => Path::of_step(place),
            None => Path::of_text(&self.path),
        };
        let run = event.run;
        tell(&*self.observer, &Event { run, path, kind });
    }
}

/// Marks work as awaited until this is dropped. The work may then continue, but its context emits
/// nothing.
#[derive(Debug)]
pub(crate) struct Awaited(Option<Arc<Mutex<bool>>>);

impl Drop for Awaited {
    fn drop(&mut self) {
        if let Some(awaited) = &self.0 {
            // Waits for an observer that is being called, so that no call comes later.
            *awaited.lock().unwrap_or_else(PoisonError::into_inner) = false;
        }
    }
}

impl Context {
    pub(crate) fn new(scope: &Scope<'_>, attempt: u32, visit: u64) -> Self {
        let (run, frame) = (scope.run(), scope.frame());
        let with = run.with();
        Context {
            path: frame.owned_path(),
            namespace: OnceLock::new(),
            attempt,
            run: run.id(),
            cancellation: with.and_then(|with| with.options.cancellation.clone()),
            step: with.and_then(|with| Some((with.history.clone()?, frame.place()))),
            step_name: StepName::new(run, frame, visit),
            observer: with.and_then(|with| with.options.observer.clone()),
            lifecycle: with.map(|with| with.lifecycle().clone()),
            awaited: None,
            runs_within: AtomicU32::new(0),
        }
    }

    /// The lifecycle of the run, for cleanup at its end. `None` in a run without options
    /// ([`Flow::run`](crate::Flow::run)): there, clean up in the node itself.
    pub fn lifecycle(&self) -> Option<&Lifecycle> {
        self.lifecycle.as_ref()
    }

    /// The parts that a run within this step gets: see [`Run::within`](crate::engine::Run::within).
    pub(crate) fn run_within(&self) -> RunWithin {
        let observer = self.observer.as_ref().map(|observer| TellsOfStep {
            observer: Arc::clone(observer),
            step: self.step.as_ref().map(|(_, place)| place.clone()),
            path: self.namespace().to_owned(),
        });
        RunWithin {
            id: self.run,
            settings: RunSettings {
                cancellation: self.cancellation.clone(),
                observer: observer.map(|observer| Arc::new(observer) as Arc<dyn Observer>),
                lifecycle: self.lifecycle.clone(),
                ..RunSettings::new()
            },
            step: self.step.clone(),
            step_id: self.step_id(),
            number: self
                .runs_within
                .fetch_add(1, Ordering::Relaxed)
                .saturating_add(1),
        }
    }

    /// Makes this the context of work that can outlive its attempt.
    pub(crate) fn awaited(&mut self) -> Awaited {
        self.awaited = self.observer.as_ref().map(|_| Arc::new(Mutex::new(true)));
        Awaited(self.awaited.clone())
    }

    /// The index of the current attempt, from 0. It restarts with each visit to the node. A
    /// fallback sees the index of the last attempt.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The node's path within the run, such as `orders.payment.charge`.
    pub fn namespace(&self) -> &str {
        self.namespace.get_or_init(|| self.path.put_together())
    }

    /// The id of this step of this run. No other step of any run has it, and all attempts of one
    /// visit share it. Other systems can use it as a key to recognise a repeated request.
    ///
    /// In a run with a store, the id stays the same when the step runs again after a crash: it is
    /// the id of the execution, `/`, and the [name of the step](crate::engine::Place::step). Any
    /// other run begins anew, with new ids: a random text, the number of the run, `/`, the
    /// [path](Context::namespace) of the node, and the number of the visit.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn charge(cx: &Context, order: &str) -> String {
    ///     format!("POST /charges {order}, Idempotency-Key: {}", cx.step_id())
    /// }
    ///
    /// flow! {
    ///     Order(order: String) -> (charge: String) {
    ///         start >> charge >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
    /// let order = Order::new();
    /// let charge = || order.run(OrderInput { order: "a book".into() });
    /// assert_ne!(charge().await?.charge, charge().await?.charge);
    /// # Ok(()) }
    /// ```
    pub fn step_id(&self) -> String {
        match (&self.step_name, &self.step) {
            (StepName::Recorded, Some((history, place))) => history.step_id(place),
            (name, _) => name.id(self.run, self.namespace()),
        }
    }

    /// Passes a part of the result, such as a token of a model's answer, to the run's observers. It
    /// does nothing without observers, or in a `blocking` node that outlives its attempt because of
    /// a timeout or the end of its run.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use std::sync::{Arc, Mutex};
    ///
    /// #[node]
    /// fn answer(cx: &Context) -> String {
    ///     ["Forty", "-", "two"].iter().inspect(|token| cx.emit(token)).copied().collect()
    /// }
    ///
    /// flow! {
    ///     Answer() -> (answer: String) {
    ///         start >> answer >> end;
    ///     }
    /// }
    ///
    /// #[derive(Default)]
    /// struct Screen(Mutex<String>);
    ///
    /// impl Observer for Screen {
    ///     fn on_event(&self, event: &Event<'_>) {
    ///         if let EventKind::Delta(token) = event.kind() {
    ///             self.0.lock().unwrap().push_str(token);
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
    /// let screen = Arc::new(Screen::default());
    /// let options = RunOptions::new().observer(screen.clone());
    /// Answer::new().run_with(AnswerInput::builder().build(), options).await?;
    /// assert_eq!(*screen.0.lock().unwrap(), "Forty-two");
    /// # Ok(()) }
    /// ```
    pub fn emit(&self, delta: &str) {
        self.tell(EventKind::Delta(delta));
    }

    /// Like [`emit`](Context::emit), for a part of the result that is not a text, such as a list
    /// item or a tool call. Without observers, the value is not even written as JSON.
    ///
    /// # Errors
    ///
    /// The value cannot be written as JSON. Observers are not called.
    #[cfg(feature = "stored")]
    pub fn emit_json(&self, delta: &impl serde::Serialize) -> Result<(), serde_json::Error> {
        if self.observer.is_some() {
            let delta = serde_json::to_string(delta)?;
            self.tell(EventKind::DeltaJson(&delta));
        }
        Ok(())
    }

    /// Like [`emit`](Context::emit), but passes the progress of the node: the amount done and, if
    /// it is known, the total.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn total(cx: &Context, prices: &[u64]) -> u64 {
    ///     let mut total = 0;
    ///     for (done, price) in (1..).zip(prices) {
    ///         total += price;
    ///         cx.progress(done, Some(prices.len() as u64));
    ///     }
    ///     total
    /// }
    /// ```
    pub fn progress(&self, done: u64, of: Option<u64>) {
        self.tell(EventKind::Progress { done, of });
    }

    fn tell(&self, kind: EventKind<'_>) {
        if let Some(observer) = &self.observer {
            let awaited = self.awaited.as_ref();
            let awaited = awaited.map(|it| it.lock().unwrap_or_else(PoisonError::into_inner));
            if awaited.as_ref().is_some_and(|awaited| !**awaited) {
                return;
            }
            let event = Event {
                run: self.run,
                path: self.path_of_events(),
                kind,
            };
            tell(&**observer, &event);
        }
    }

    fn path_of_events(&self) -> Path<'_> {
        match &self.step {
            Some((_, place)) => Path::of_step(place),
            None => Path::of_text(self.namespace()),
        }
    }

    /// Returns true if the run has been cancelled. The future of a cancelled run is dropped, so
    /// this matters only for work that the node has started elsewhere.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation
            .as_ref()
            .is_some_and(|token| token.is_cancelled())
    }

    /// Waits until the run is cancelled. Never completes if the run cannot be cancelled.
    ///
    /// # Cancel safety
    ///
    /// It may be dropped and called again.
    pub async fn cancelled(&self) {
        match &self.cancellation {
            Some(token) => token.cancelled().await,
            None => pending().await,
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("namespace", &self.namespace())
            .field("attempt", &self.attempt)
            .finish()
    }
}
