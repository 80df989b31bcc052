//! A run: the state that its engine keeps from the first step to the last.
//!
//! A step that only waits lends its permit to another step. It may be dropped at any moment
//! meanwhile, and the number of permits still has to be right: see `Aside`.

use std::future::pending;
use std::mem::{self, ManuallyDrop};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use once_cell::race::OnceBox;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::error::{Failed, FlowError};
use crate::frame::{Frame, Path};
use crate::history::{History, Pause};
use crate::lifecycle::{Lifecycle, OwnLifecycle};
use crate::node_error::NodeError;
use crate::observer::{Event, EventKind, Observer, RunId, tell};
use crate::options::{DEFAULT_STEP_BUDGET, RunOptions, RunSettings};
use crate::step_id::StepAround;
use crate::transaction::Transactions;
use crate::undo_list::UndoList;

/// The state of a run as a whole, at any flow and node: its budget, its options, its observer.
//
// A run without options is a few words, and everything that it may own is behind one pointer:
// creating and dropping it should cost less than a step.
#[derive(Debug)]
pub struct Run {
    steps_left: AtomicI64,
    // A `OnceLock` takes a lock even to be created with a value.
    more: ManuallyDrop<OnceBox<More>>,
}

impl Drop for Run {
    #[inline]
    fn drop(&mut self) {
        if self.more.get().is_some() {
            drop_more(&mut self.more);
        }
    }
}

// Not inlined, so that dropping a run without options is one comparison and can itself be inlined.
#[cold]
#[inline(never)]
fn drop_more(more: &mut ManuallyDrop<OnceBox<More>>) {
    drop(ManuallyDrop::into_inner(mem::take(more)));
}

/// The parts that few runs have.
#[derive(Debug, Default)]
struct More {
    /// The parts of a run that was started with options.
    with: Option<RunWith>,
    /// The path at which it was interrupted.
    interrupted_at: OnceLock<Box<str>>,
    undo_list: OnceBox<UndoList>,
}

/// The parts of a run that was started with options.
#[derive(Debug)]
pub(crate) struct RunWith {
    pub(crate) id: RunId,
    pub(crate) options: RunSettings,
    /// True once the run has to stop.
    stopping: AtomicBool,
    pub(crate) nodes_at_once: Option<Semaphore>,
    pub(crate) history: Option<Arc<dyn History>>,
    /// The step of another run that this run is within.
    pub(crate) within: Option<Box<StepAround>>,
    own_lifecycle: OwnLifecycle,
}

impl RunWith {
    fn new(id: RunId, options: RunSettings) -> Self {
        RunWith {
            id,
            nodes_at_once: options
                .concurrency
                .map(|limit| Semaphore::new(limit.get().min(Semaphore::MAX_PERMITS))),
            own_lifecycle: OwnLifecycle::default(),
            options,
            stopping: AtomicBool::new(false),
            history: None,
            within: None,
        }
    }
}

impl RunWith {
    /// The lifecycle that the run was given, or its own.
    pub(crate) fn lifecycle(&self) -> &Lifecycle {
        match &self.options.lifecycle {
            Some(given) => given,
            None => self.own_lifecycle.get(),
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Run::new()
    }
}

impl Run {
    /// Creates a run without options.
    #[inline]
    pub fn new() -> Self {
        Run {
            steps_left: AtomicI64::new(signed(DEFAULT_STEP_BUDGET)),
            more: ManuallyDrop::new(OnceBox::new()),
        }
    }

    /// Creates a run with options, and with a number that no other run of this process has.
    pub fn numbered<A>(options: RunOptions<A>) -> Self {
        Run::numbered_with(options.settings)
    }

    pub(crate) fn numbered_with(options: RunSettings) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = RunId(NEXT.fetch_add(1, Ordering::Relaxed));
        Run::with_options(RunWith::new(id, options))
    }

    /// Creates a run that may have begun earlier, in another process or before a crash.
    pub fn with_history<A>(id: RunId, options: RunOptions<A>, history: Arc<dyn History>) -> Self {
        Run::with_options(RunWith {
            history: Some(history),
            ..RunWith::new(id, options.settings)
        })
    }

    /// Creates a run within a step of another run.
    pub(crate) fn within_step(
        id: RunId,
        settings: RunSettings,
        history: Option<Arc<dyn History>>,
        around: StepAround,
    ) -> Self {
        Run::with_options(RunWith {
            history,
            within: Some(Box::new(around)),
            ..RunWith::new(id, settings)
        })
    }

    // Inlined, so that the options are not copied once more.
    #[inline(always)]
    fn with_options(with: RunWith) -> Self {
        Run {
            steps_left: AtomicI64::new(signed(with.options.step_budget)),
            more: ManuallyDrop::new(OnceBox::with_value(Box::new(More {
                with: Some(with),
                interrupted_at: OnceLock::new(),
                undo_list: OnceBox::new(),
            }))),
        }
    }

    /// The options, if the run was started with options.
    #[inline]
    pub(crate) fn with(&self) -> Option<&RunWith> {
        self.more.get()?.with.as_ref()
    }

    fn more(&self) -> &More {
        self.more.get_or_init(Box::default)
    }

    /// The visits that can be undone. `None` if there never was one.
    pub(crate) fn known_undo_list(&self) -> Option<&UndoList> {
        self.more.get()?.undo_list.get()
    }

    /// The visits that can be undone.
    pub(crate) fn undo_list(&self) -> &UndoList {
        self.more().undo_list.get_or_init(Box::default)
    }

    /// The history, if the run may have begun earlier.
    #[inline]
    pub(crate) fn history(&self) -> Option<&Arc<dyn History>> {
        self.with()?.history.as_ref()
    }

    /// Returns true if a panic of a step counts as a failed attempt.
    #[inline]
    pub(crate) fn catches_panics(&self) -> bool {
        self.history()
            .is_some_and(|history| history.catches_panics())
    }

    /// The time since the node was first reached, in an earlier run of the execution. Zero without
    /// one.
    pub(crate) fn spent_at(&self, frame: &Frame<'_>) -> Duration {
        let history = self.history();
        history.map_or(Duration::ZERO, |history| history.spent_at(frame))
    }

    /// Reports that an attempt at the current node has failed, with its index and the reason.
    pub(crate) fn attempt_failed(
        &self,
        frame: &Frame<'_>,
        attempt: u32,
        error: &(dyn std::error::Error + Send + Sync + 'static),
    ) {
        let is_new = self
            .history()
            .is_none_or(|history| history.attempt_failed(frame, attempt, error));
        if is_new {
            self.emit(frame.path(), EventKind::AttemptFailed { attempt, error });
        }
    }

    /// The number of steps that the run has taken from its budget.
    pub fn steps_taken(&self) -> u64 {
        let left = self.steps_left.load(Ordering::Relaxed).max(0);
        signed(self.step_budget()).abs_diff(left)
    }

    /// Takes the steps of an earlier run of the execution off the budget.
    pub fn take_steps(&self, taken: u64) {
        let left = self.step_budget().saturating_sub(taken);
        self.steps_left.store(signed(left), Ordering::Relaxed);
    }

    /// Called before the run is dropped because it has to stop. Its scopes then report where they
    /// were.
    pub(crate) fn stop(&self) {
        if let Some(with) = self.with() {
            with.stopping.store(true, Ordering::Relaxed);
        }
    }

    /// The database to which nodes write, if the run was given one.
    pub(crate) fn transactions(&self) -> Option<&Arc<dyn Transactions>> {
        self.options()?.transactions.as_ref()
    }

    pub(crate) fn options(&self) -> Option<&RunSettings> {
        self.with().map(|with| &with.options)
    }

    /// The number of the run. 0 for a run without options.
    #[inline]
    pub fn id(&self) -> RunId {
        self.with().map_or(RunId(0), |with| with.id)
    }

    /// Returns true if the run limits how many steps run at once.
    pub fn is_limited(&self) -> bool {
        self.nodes_at_once().is_some()
    }

    pub(crate) fn nodes_at_once(&self) -> Option<&Semaphore> {
        self.with()?.nodes_at_once.as_ref()
    }

    /// Takes the step of the frame's current node off the budget.
    ///
    /// # Errors
    ///
    /// [`FlowError::StepLimit`] if the budget is used up.
    #[inline]
    pub fn count_step(&self, frame: &Frame<'_>) -> Result<(), Failed> {
        if self.take_step() {
            Ok(())
        } else {
            Err(self.step_limit(frame))
        }
    }

    /// Takes steps that ran elsewhere off the budget, for the frame's current node.
    ///
    /// # Errors
    ///
    /// [`FlowError::StepLimit`] if fewer steps were left.
    pub fn count_steps(&self, frame: &Frame<'_>, steps: u64) -> Result<(), Failed> {
        let left = self.steps_left.load(Ordering::Relaxed);
        let left = left.saturating_sub(signed(steps));
        self.steps_left.store(left, Ordering::Relaxed);
        if left >= 0 {
            Ok(())
        } else {
            Err(self.step_limit(frame))
        }
    }

    /// Takes one step off the budget. Returns false if it was used up. A run is one task, so load
    /// and store need not be one operation.
    #[inline]
    pub(crate) fn take_step(&self) -> bool {
        let left = self.steps_left.load(Ordering::Relaxed) - 1;
        self.steps_left.store(left, Ordering::Relaxed);
        left >= 0
    }

    fn step_budget(&self) -> u64 {
        self.options()
            .map_or(DEFAULT_STEP_BUDGET, |options| options.step_budget)
    }

    /// The error of a budget that has no step for the frame's current node.
    #[cold]
    pub(crate) fn step_limit(&self, frame: &Frame<'_>) -> Failed {
        Box::new(FlowError::StepLimit {
            path: frame.path().to_string(),
            limit: self.step_budget(),
        })
    }

    /// Sleeps within a step. Meanwhile another node may run in its place, and the step may be dropped
    /// if the pause is between two attempts.
    pub(crate) async fn sleep_until(&self, frame: &Frame<'_>, pause: Pause, instant: Instant) {
        if instant > Instant::now() {
            let aside = self.nodes_at_once().map(Aside::step);
            if let Pause::Attempt(_) = pause {
                self.rest(frame);
            }
            match self.history() {
                Some(history) => history.sleep_until(frame, pause, instant).await,
                None => tokio::time::sleep_until(instant).await,
            }
            if let Some(aside) = aside {
                aside.step_back().await;
            }
            if !self.goes_on(frame) {
                // Somebody else may need the permit until this is dropped.
                let _aside = self.nodes_at_once().map(Aside::step);
                pending::<()>().await;
            }
        }
        self.may_try().await;
    }

    /// Notes that the step of this frame is between two attempts: it may be dropped then, although it
    /// has an undo node.
    pub fn rest(&self, frame: &Frame<'_>) {
        if let Some(list) = self.known_undo_list() {
            list.rests(frame);
        }
    }

    /// Returns true if the step of this frame may be attempted again. Returns false if it is about to
    /// be dropped: it has to wait for that.
    pub fn goes_on(&self, frame: &Frame<'_>) -> bool {
        self.known_undo_list()
            .is_none_or(|list| list.goes_on(frame))
    }

    /// The error as the run finds it after a crash. A run within a step is begun again as a whole.
    #[cfg(feature = "stored")]
    pub(crate) fn kept(&self, error: NodeError) -> NodeError {
        match self.with() {
            Some(with) if with.within.is_none() => error.into_stored(),
            _ => error,
        }
    }

    /// Returns the error unchanged, since nothing is stored.
    #[cfg(not(feature = "stored"))]
    pub(crate) fn kept(&self, error: NodeError) -> NodeError {
        error
    }

    /// Waits until a running step may be retried.
    #[inline]
    pub(crate) async fn may_try(&self) {
        if let Some(history) = self.history() {
            history.may_try().await;
        }
    }

    /// Reports that a scope was dropped at this path. The first report is from the innermost scope.
    #[cold]
    pub(crate) fn interrupted_at(&self, path: Path<'_>) {
        let is_stopping = self
            .with()
            .is_some_and(|with| with.stopping.load(Ordering::Relaxed));
        if is_stopping || std::thread::panicking() {
            let interrupted_at = &self.more().interrupted_at;
            interrupted_at.get_or_init(|| path.to_string().into());
        }
    }

    /// The path of the node at which the run was interrupted, by a panic or because it was stopped.
    /// `None` if it was not interrupted.
    pub fn interrupted(&self) -> Option<&str> {
        self.more.get()?.interrupted_at.get().map(|path| &**path)
    }

    /// Calls the observer, if the run has one.
    #[inline]
    pub fn emit(&self, path: Path<'_>, kind: EventKind<'_>) {
        if let Some(observer) = self.observer() {
            let run = self.id();
            tell(observer, &Event { run, path, kind });
        }
    }

    #[inline]
    pub(crate) fn observer(&self) -> Option<&dyn Observer> {
        self.options()?.observer.as_deref()
    }
}

/// Returns the number of steps as a signed number, at most `i64::MAX`.
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

/// A step that is dropped while its permit is lent returns the permit a second time. This takes
/// that one back.
impl Drop for Aside<'_> {
    fn drop(&mut self) {
        if let Some(permits) = self.0 {
            permits.forget_permits(1);
        }
    }
}
