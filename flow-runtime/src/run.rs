//! A run: what its engine keeps of it from the first step to the last.
//!
//! A step that only waits gives its place among the nodes at once to another one. It may be dropped at any moment
//! meanwhile, and the number of places has to be right all the same: see `Aside`.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::engine::Failed;
use crate::error::FlowError;
use crate::observer::{Event, EventKind, Observer, RunId, tell};
use crate::options::{DEFAULT_STEP_BUDGET, RunSettings};
use crate::scope::{Path, Scope};

/// What belongs to a run as a whole, whichever flow and node it is at. A run without options is a few words, and
/// what it may own is behind an `Arc`, whose drop is a comparison: making and dropping it should cost less than a step.
#[derive(Debug)]
pub struct Run {
    steps_left: AtomicI64,
    pub(crate) with: Option<Arc<RunWith>>,
    interrupted_at: Mutex<Option<Arc<str>>>,
}

/// What a run has that was started with options.
#[derive(Debug)]
pub(crate) struct RunWith {
    pub(crate) id: RunId,
    pub(crate) options: RunSettings,
    /// It has been told to stop.
    stopping: AtomicBool,
    pub(crate) nodes_at_once: Option<Semaphore>,
    #[cfg(feature = "durable")]
    pub(crate) journal: Option<Arc<crate::durable::Journal>>,
}

impl Run {
    /// A run without options.
    #[inline]
    pub(crate) fn new() -> Self {
        Run {
            steps_left: AtomicI64::new(signed(DEFAULT_STEP_BUDGET)),
            with: None,
            interrupted_at: Mutex::new(None),
        }
    }

    pub(crate) fn with(id: RunId, options: RunSettings) -> Self {
        Run {
            steps_left: AtomicI64::new(signed(options.step_budget)),
            with: Some(Arc::new(RunWith {
                id,
                nodes_at_once: options
                    .concurrency
                    .map(|limit| Semaphore::new(limit.get().min(Semaphore::MAX_PERMITS))),
                options,
                stopping: AtomicBool::new(false),
                #[cfg(feature = "durable")]
                journal: None,
            })),
            ..Run::new()
        }
    }

    /// How long ago the node was first reached, in an earlier life of a durable run.
    pub(crate) fn spent_at(&self, scope: &Scope<'_>) -> Duration {
        #[cfg(feature = "durable")]
        if let Some(journal) = self.with.as_deref().and_then(|with| with.journal.as_ref()) {
            return journal.spent_at(scope);
        }
        let _ = scope;
        Duration::ZERO
    }

    /// A run that has a journal.
    #[cfg(feature = "durable")]
    pub(crate) fn durable(
        id: RunId,
        options: RunSettings,
        journal: Arc<crate::durable::Journal>,
    ) -> Self {
        let mut run = Run::with(id, options);
        if let Some(with) = run.with.as_mut().and_then(Arc::get_mut) {
            with.journal = Some(journal);
        }
        run
    }

    /// How many steps of its budget it has taken.
    #[cfg(feature = "durable")]
    pub(crate) fn steps_taken(&self) -> u64 {
        let left = self.steps_left.load(Ordering::Relaxed).max(0);
        signed(self.step_budget()).abs_diff(left)
    }

    /// Takes off its budget what it has taken in an earlier life.
    #[cfg(feature = "durable")]
    pub(crate) fn take_steps(&self, taken: u64) {
        let left = self.step_budget().saturating_sub(taken);
        self.steps_left.store(signed(left), Ordering::Relaxed);
    }

    /// The run is about to be dropped, since it has to stop: its scopes report where they were.
    pub(crate) fn stop(&self) {
        if let Some(with) = &self.with {
            with.stopping.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn options(&self) -> Option<&RunSettings> {
        self.with.as_deref().map(|with| &with.options)
    }

    fn nodes_at_once(&self) -> Option<&Semaphore> {
        self.with.as_deref()?.nodes_at_once.as_ref()
    }

    /// Takes one step off the budget. A run is one task, so that load and store need not be one operation.
    #[inline]
    pub(crate) fn count_step(&self, scope: &Scope<'_>) -> Result<(), Failed> {
        let left = self.steps_left.load(Ordering::Relaxed) - 1;
        self.steps_left.store(left, Ordering::Relaxed);
        if left < 0 {
            return Err(self.step_limit(scope));
        }
        Ok(())
    }

    fn step_budget(&self) -> u64 {
        self.options()
            .map_or(DEFAULT_STEP_BUDGET, |options| options.step_budget)
    }

    #[cold]
    fn step_limit(&self, scope: &Scope<'_>) -> Failed {
        Box::new(FlowError::StepLimit {
            path: scope.path().to_string(),
            limit: self.step_budget(),
        })
    }

    /// Sleeps within a step. Meanwhile another node may be under way in its stead.
    pub(crate) async fn sleep_until(&self, instant: Instant) {
        if instant <= Instant::now() {
            return;
        }
        let aside = self.nodes_at_once().map(Aside::step);
        tokio::time::sleep_until(instant).await;
        if let Some(aside) = aside {
            aside.step_back().await;
        }
    }

    #[cold]
    pub(crate) fn interrupted_at(&self, path: Path<'_>) {
        let stopping = |with: &RunWith| with.stopping.load(Ordering::Relaxed);
        if std::thread::panicking() || self.with.as_deref().is_some_and(stopping) {
            let mut place = self
                .interrupted_at
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            place.get_or_insert_with(|| path.to_string().into());
        }
    }

    pub(crate) fn interruption(&self, scope: &Scope<'_>) -> String {
        self.interrupted()
            .unwrap_or_else(|| scope.path().to_string())
    }

    /// The path of the node at which the run was interrupted.
    pub(crate) fn interrupted(&self) -> Option<String> {
        let mut place = self
            .interrupted_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        place.take().map(|place| place.to_string())
    }

    /// Tells the observer, if there is one.
    #[inline]
    pub(crate) fn emit(&self, path: Path<'_>, kind: EventKind<'_>) {
        if let Some(observer) = self.observer() {
            observer.tell(path, kind);
        }
    }

    #[inline]
    pub(crate) fn observer(&self) -> Option<RunObserver<'_>> {
        let with = self.with.as_deref()?;
        Some(RunObserver {
            run: with.id,
            observer: with.options.observer.as_deref()?,
        })
    }
}

/// The observer of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunObserver<'a> {
    run: RunId,
    observer: &'a dyn Observer,
}

impl RunObserver<'_> {
    /// Tells it. If it panics, that does no harm to the run.
    #[inline]
    pub(crate) fn tell(self, path: Path<'_>, kind: EventKind<'_>) {
        let run = self.run;
        tell(self.observer, &Event { run, path, kind });
    }
}

/// A number of steps, or more than anybody will live to see.
const fn signed(steps: u64) -> i64 {
    if steps > i64::MAX as u64 {
        i64::MAX
    } else {
        steps as i64
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
