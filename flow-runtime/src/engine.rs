//! What carries a flow's steps out.
//!
//! `flow!` generates one loop, generic over its engine. A node's work reaches the engine as a future that has not
//! been polled: [`Direct`] just polls it, and an engine that already knows its outcome would not.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use crate::error::FlowError;
use crate::observer::{Event, EventKind, RunId};
use crate::options::{DEFAULT_STEP_BUDGET, RunOptions};
use crate::scope::{Path, Scope};
use crate::visit::Visit;

/// Why a step did not succeed. Boxed: it is rare, and what every step returns should be small.
pub type Failed = Box<FlowError>;

/// Carries out steps whose outcome is an `O`. The bound lies on the outcome so that an engine which stores outcomes
/// can ask something of their types while [`Direct`] asks nothing.
pub trait Engine<O>: Hooks {
    /// Carries out one step.
    fn step<W>(&self, visit: Visit<'_>, work: W) -> impl Future<Output = Result<O, Failed>> + Send
    where
        W: Future<Output = Result<O, Failed>> + Send;
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
    interrupted_at: Mutex<Option<String>>,
}

impl Run {
    fn new(id: RunId, options: RunOptions) -> Self {
        Run {
            id,
            steps_left: AtomicU64::new(options.step_budget),
            options,
            interrupted_at: Mutex::new(None),
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

    fn is_cancelled(&self) -> bool {
        self.options
            .cancellation
            .as_ref()
            .is_some_and(|token| token.is_cancelled())
    }

    #[cold]
    pub(crate) fn interrupted_at(&self, path: Path<'_>) {
        if std::thread::panicking() || self.is_cancelled() {
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
            let event = Event {
                run: self.id,
                path,
                kind,
            };
            let _ = catch_unwind(AssertUnwindSafe(|| observer.on_event(&event)));
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

impl<O: Send> Engine<O> for Direct {
    #[inline]
    fn step<W>(&self, _visit: Visit<'_>, work: W) -> impl Future<Output = Result<O, Failed>> + Send
    where
        W: Future<Output = Result<O, Failed>> + Send,
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

    fn finished(&self, scope: &Scope<'_>, action: &'static str) {
        self.0
            .emit(scope.path(), EventKind::NodeFinished { action });
    }

    fn ended(&self, scope: &Scope<'_>, end: &'static str) {
        scope.leave();
        self.0.emit(scope.flow_path(), EventKind::FlowEnded { end });
    }
}

impl<O: Send> Engine<O> for Observed {
    #[cfg(not(feature = "tracing"))]
    fn step<W>(&self, _visit: Visit<'_>, work: W) -> impl Future<Output = Result<O, Failed>> + Send
    where
        W: Future<Output = Result<O, Failed>> + Send,
    {
        work
    }

    /// The work runs inside a span, so that what a node logs carries its path.
    #[cfg(feature = "tracing")]
    fn step<W>(&self, visit: Visit<'_>, work: W) -> impl Future<Output = Result<O, Failed>> + Send
    where
        W: Future<Output = Result<O, Failed>> + Send,
    {
        use tracing::Instrument as _;
        work.instrument(tracing::info_span!("node", path = %visit.path(), run = %self.0.id))
    }
}

/// Polls a run to its end: catches a panic, and stops when the run is cancelled.
pub async fn supervise<E: Hooks, T>(
    engine: &E,
    scope: &Scope<'_>,
    work: impl Future<Output = Result<T, Failed>> + Send,
) -> Result<T, FlowError> {
    let run = engine.run();
    let ended = match &run.options.cancellation {
        None => catch_panic(work).await,
        Some(token) => match token.run_until_cancelled(catch_panic(work)).await {
            Some(ended) => ended,
            None => {
                return Err(FlowError::Cancelled {
                    path: run.interruption(scope),
                });
            }
        },
    };
    match ended {
        Ok(result) => result.map_err(|error| *error),
        Err(message) => Err(FlowError::Panicked {
            path: run.interruption(scope),
            message,
        }),
    }
}

/// Polls a future to its end or to a panic, whose message it returns. The future is dropped in either case.
async fn catch_panic<T>(work: impl Future<Output = T> + Send) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(panic_message(&*payload))),
        },
    )
    .await
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
