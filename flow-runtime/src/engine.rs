//! What carries a flow's steps out.
//!
//! `flow!` generates one loop, generic over its engine. A node's work reaches the engine as a future that has not
//! been polled: [`Direct`] just polls it, and an engine that already knows its outcome would not.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::__private::Step;
use crate::error::FlowError;
use crate::observer::{Event, EventKind, RunId, tell};
use crate::options::{DEFAULT_STEP_BUDGET, RunOptions};
use crate::scope::{Path, Scope};
use crate::visit::Visit;

/// Why a step did not succeed. Boxed: it is rare, and what every step returns should be small.
pub type Failed = Box<FlowError>;

/// Carries out the steps of a node. The bound lies on each node so that an engine which stores outcomes can ask
/// something of their types, while [`Direct`] asks nothing. (A bound on the outcome itself would name its type where
/// rustc erases lifetimes, and then `&'static str` is not `Send` enough.)
pub trait Engine<N: Step>: Hooks {
    /// Carries out one step.
    fn step<W>(
        &self,
        visit: Visit<'_>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send;
}

/// What an engine is told besides the steps themselves.
pub trait Hooks: Send + Sync {
    /// The run it carries out.
    fn run(&self) -> &Run;

    /// A node is about to run. Counts the step.
    #[inline]
    fn entered(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        scope.enter(node);
        self.run().count_step(scope)
    }

    /// An item of the loop that is the current node is about to run. Items are as many as the collection has, so they do
    /// not count as steps.
    #[inline]
    fn item_started(&self, _scope: &Scope<'_>) {}

    /// The flow pauses.
    fn wait(
        &self,
        scope: &Scope<'_>,
        duration: Duration,
    ) -> impl Future<Output = Result<(), Failed>> + Send {
        let _ = scope;
        async move {
            tokio::time::sleep(duration).await;
            Ok(())
        }
    }

    /// The current node took an action.
    #[inline]
    fn finished(&self, _scope: &Scope<'_>, _action: &'static str) {}

    /// A flow reached an end.
    #[inline]
    fn ended(&self, scope: &Scope<'_>, _end: &'static str) {
        scope.leave();
    }
}

/// What belongs to a run as a whole, whichever flow and node it is at.
#[derive(Debug)]
pub struct Run {
    pub(crate) id: RunId,
    pub(crate) options: RunOptions,
    steps_left: AtomicU64,
    stopping: AtomicBool,
    nodes_at_once: Option<Semaphore>,
    interrupted_at: Mutex<Option<String>>,
}

impl Run {
    fn new(id: RunId, options: RunOptions) -> Self {
        Run {
            id,
            steps_left: AtomicU64::new(options.step_budget),
            stopping: AtomicBool::new(false),
            nodes_at_once: options
                .concurrency
                .map(|limit| Semaphore::new(limit.get().min(Semaphore::MAX_PERMITS))),
            interrupted_at: Mutex::new(None),
            options,
        }
    }

    /// Takes one step off the budget. A run is one task, so that load and store need not be one operation.
    #[inline]
    fn count_step(&self, scope: &Scope<'_>) -> Result<(), Failed> {
        match self.steps_left.load(Ordering::Relaxed) {
            0 => Err(self.step_limit(scope)),
            left => {
                self.steps_left.store(left - 1, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    #[cold]
    fn step_limit(&self, scope: &Scope<'_>) -> Failed {
        Box::new(FlowError::StepLimit {
            path: scope.path().to_string(),
            limit: self.options.step_budget,
        })
    }

    /// Sleeps within a step. Meanwhile another node may be under way in its stead.
    pub(crate) async fn sleep_until(&self, instant: Instant) {
        if instant <= Instant::now() {
            return;
        }
        let aside = self.nodes_at_once.as_ref().map(Aside::step);
        tokio::time::sleep_until(instant).await;
        if let Some(aside) = aside {
            aside.step_back().await;
        }
    }

    #[cold]
    pub(crate) fn interrupted_at(&self, path: Path<'_>) {
        if std::thread::panicking() || self.stopping.load(Ordering::Relaxed) {
            let mut place = self
                .interrupted_at
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            place.get_or_insert_with(|| path.to_string());
        }
    }

    fn interruption(&self, scope: &Scope<'_>) -> String {
        let place = self
            .interrupted_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        place.unwrap_or_else(|| scope.path().to_string())
    }

    /// Tells the observer, if there is one. An observer that panics does no harm to the run.
    pub(crate) fn emit(&self, path: Path<'_>, kind: EventKind<'_>) {
        if let Some(observer) = &self.options.observer {
            tell(
                &**observer,
                &Event {
                    run: self.id,
                    path,
                    kind,
                },
            );
        }
    }
}

/// A step that has lent its permit to others.
struct Aside<'a>(Option<&'a Semaphore>);

impl<'a> Aside<'a> {
    fn step(permits: &'a Semaphore) -> Self {
        permits.add_permits(1);
        Aside(Some(permits))
    }

    async fn step_back(mut self) {
        if let Some(permits) = self.0
            && let Ok(permit) = permits.acquire().await
        {
            permit.forget();
        }
        self.0 = None;
    }
}

/// A step that is dropped meanwhile gives its permit back a second time: that one is taken back.
impl Drop for Aside<'_> {
    fn drop(&mut self) {
        if let Some(permits) = self.0 {
            permits.forget_permits(1);
        }
    }
}

/// The engine of [`Flow::run`](crate::Flow::run): it polls. Nothing is boxed, allocated or looked up.
#[derive(Debug)]
pub struct Direct(Run);

impl Direct {
    /// An engine for one run.
    pub fn new() -> Self {
        Direct(Run::new(
            RunId(0),
            RunOptions {
                step_budget: DEFAULT_STEP_BUDGET,
                ..RunOptions::new()
            },
        ))
    }
}

impl Default for Direct {
    fn default() -> Self {
        Direct::new()
    }
}

impl Hooks for Direct {
    #[inline]
    fn run(&self) -> &Run {
        &self.0
    }
}

impl<N: Step> Engine<N> for Direct {
    #[inline]
    fn step<W>(
        &self,
        _visit: Visit<'_>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        work
    }
}

/// The engine of [`Flow::run_with`](crate::Flow::run_with): it polls too, and tells the observer.
#[derive(Debug)]
pub struct Observed(Run);

impl Observed {
    /// An engine for one run with these options.
    pub fn new(options: RunOptions) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Observed(Run::new(
            RunId(NEXT.fetch_add(1, Ordering::Relaxed)),
            options,
        ))
    }
}

impl Hooks for Observed {
    fn run(&self) -> &Run {
        &self.0
    }

    fn entered(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        scope.enter(node);
        self.0.count_step(scope)?;
        self.0.emit(scope.path(), EventKind::NodeStarted);
        Ok(())
    }

    fn item_started(&self, scope: &Scope<'_>) {
        self.0.emit(scope.path(), EventKind::NodeStarted);
    }

    fn finished(&self, scope: &Scope<'_>, action: &'static str) {
        self.0
            .emit(scope.path(), EventKind::NodeFinished { action });
    }

    fn ended(&self, scope: &Scope<'_>, end: &'static str) {
        scope.leave();
        self.0.emit(scope.flow_path(), EventKind::FlowEnded { end });
    }
}

impl<N: Step> Engine<N> for Observed {
    /// The work runs inside a span, so that what a node logs carries its path, and only when there is room for it.
    async fn step<W>(&self, visit: Visit<'_>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        let _permit = match &self.0.nodes_at_once {
            // The semaphore is never closed.
            Some(limit) => limit.acquire().await.ok(),
            None => None,
        };
        #[cfg(feature = "tracing")]
        let work = {
            use tracing::Instrument as _;
            work.instrument(tracing::info_span!("node", path = %visit.path(), run = %self.0.id))
        };
        let result = work.await;
        if let Err(FlowError::Node(error)) = result.as_ref().map_err(|failed| &**failed) {
            self.0.emit(visit.path(), EventKind::NodeFailed { error });
        }
        result
    }
}

/// Polls a run to its end: catches a panic, and stops when the run is cancelled or has taken too long. The work is
/// dropped before this returns.
///
/// It is given in its place rather than by value: a future that an `async fn` takes is stored twice.
pub async fn supervise<E, T, W>(
    engine: &E,
    scope: &Scope<'_>,
    mut work: Pin<&mut Option<W>>,
) -> Result<T, FlowError>
where
    E: Hooks,
    W: Future<Output = Result<T, Failed>> + Send,
{
    let run = engine.run();
    let may_stop = run.options.cancellation.is_some() || run.options.deadline.is_some();
    let mut stop = pin!(stop(run));
    let ended = poll_fn(|cx| {
        if may_stop && let Poll::Ready(stop) = stop.as_mut().poll(cx) {
            return Poll::Ready(Err(stop));
        }
        let poll = catch_unwind(AssertUnwindSafe(|| match work.as_mut().as_pin_mut() {
            Some(work) => work.poll(cx),
            None => Poll::Pending,
        }));
        match poll {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(Stop::Panicked(panic_message(&*payload)))),
        }
    })
    .await;
    work.set(None);
    let result =
        ended.unwrap_or_else(|stop| Err(Box::new(stop.into_error(run.interruption(scope)))));
    let result = result.map_err(|error| *error);
    if let Err(error) = &result {
        run.emit(scope.flow_path(), EventKind::RunFailed { error });
    }
    result
}

/// Why a run does not go on.
enum Stop {
    Panicked(String),
    Cancelled,
    TimedOut(Duration),
}

impl Stop {
    fn into_error(self, path: String) -> FlowError {
        match self {
            Stop::Panicked(message) => FlowError::Panicked { path, message },
            Stop::Cancelled => FlowError::Cancelled { path },
            Stop::TimedOut(after) => FlowError::TimedOut { path, after },
        }
    }
}

/// Waits until the run has to stop. The run is told first, so that its scopes report where they were dropped.
async fn stop(run: &Run) -> Stop {
    let cancelled = async {
        match &run.options.cancellation {
            Some(token) => token.cancelled().await,
            None => pending().await,
        }
        Stop::Cancelled
    };
    let stop = match run.options.deadline {
        None => cancelled.await,
        Some(after) => match tokio::time::timeout(after, cancelled).await {
            Ok(stop) => stop,
            Err(_) => Stop::TimedOut(after),
        },
    };
    run.stopping.store(true, Ordering::Relaxed);
    stop
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
        _ => "the panic has no message".to_owned(),
    }
}
