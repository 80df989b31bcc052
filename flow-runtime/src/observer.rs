//! Observers of a run, which learn what happens to each node as it happens.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::FlowError;
use crate::frame::{Frame, Path};
use crate::node_error::NodeError;

/// Watches runs. Attached with [`RunOptions::observer`](crate::RunOptions::observer). A run started
/// by [`Flow::run`](crate::Flow::run) has none and pays nothing for it.
///
/// An observer is called within the run, so it should be quick. If it panics, the run and the other
/// observers continue: see [`observer_failures`].
///
/// An observer learns where a run is and what its nodes emit, but not which values they read and
/// write: collecting these would slow every run. To see them, run the flow with `flow-durable` on a
/// store in memory, and request them from its events (`EventFilter::values`). `docs/recipes.md` in
/// the repository has the whole program.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use flow_runtime::prelude::*;
///
/// #[derive(Default)]
/// struct Log(Mutex<Vec<String>>);
///
/// impl Observer for Log {
///     fn on_event(&self, event: &Event<'_>) {
///         self.0.lock().unwrap().push(event.to_string());
///     }
/// }
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let log = Arc::new(Log::default());
/// let input = GreetingInput::builder().name("Ann".into()).build();
/// Greeting::new().run_with(input, RunOptions::new().observer(log.clone())).await?;
/// assert_eq!(
///     *log.0.lock().unwrap(),
///     ["greeting.greet started", "greeting.greet finished: default", "greeting ended: default"],
/// );
/// # Ok(()) }
/// ```
pub trait Observer: Send + Sync {
    /// Called for each event.
    fn on_event(&self, event: &Event<'_>);

    /// Called when a loop over items begins, if its collection knows how many items it has. `path`
    /// is that of the loop, after its [`EventKind::NodeStarted`]. Plain runs call this so that a
    /// display can count the finished items. By default, it does nothing.
    #[inline]
    fn on_loop(&self, run: RunId, path: Path<'_>, items: usize) {
        let _ = (run, path, items);
    }

    /// Called when the run moves from one node to the next, with both events at once. As a method
    /// of the trait, it is compiled for each type of observer, and parts of an event that an
    /// observer ignores are not computed.
    #[doc(hidden)]
    #[inline]
    fn __went_on(&self, run: RunId, frame: &Frame<'_>, action: &str, from: u32) {
        let tell = |path, kind| tell(self, &Event { run, path, kind });
        tell(frame.path_at(from), EventKind::NodeFinished { action });
        tell(frame.path(), EventKind::NodeStarted);
    }
}

/// A function that takes an event is an observer as well.
///
/// ```
/// use std::sync::Arc;
/// use flow_runtime::prelude::*;
///
/// let options = RunOptions::new().observer(Arc::new(|event: &Event<'_>| println!("{event}")));
/// # let _ = options;
/// ```
impl<F: Fn(&Event<'_>) + Send + Sync> Observer for F {
    #[inline]
    fn on_event(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Something that happened in a run.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    pub(crate) run: RunId,
    pub(crate) path: Path<'a>,
    pub(crate) kind: EventKind<'a>,
}

/// The kind of an event. It does not contain what a node read and wrote: see [`Observer`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// A node was reached.
    NodeStarted,
    /// An attempt of a node failed.
    AttemptFailed {
        /// The index of the attempt, from 0.
        attempt: u32,
        /// The error.
        error: &'a (dyn std::error::Error + Send + Sync + 'static),
    },
    /// A node emitted a part of its result ([`Context::emit`](crate::Context::emit)).
    Delta(&'a str),
    /// A node emitted a part of its result as JSON (`Context::emit_json`, feature `stored`).
    DeltaJson(&'a str),
    /// A node reported its progress ([`Context::progress`](crate::Context::progress)).
    Progress {
        /// The amount done.
        done: u64,
        /// The total. `None` if it is unknown.
        of: Option<u64>,
    },
    /// A node is done.
    NodeFinished {
        /// The action it took.
        action: &'a str,
    },
    /// A node failed after its last attempt, and its fallback failed too if it has one.
    NodeFailed {
        /// The error.
        error: &'a NodeError,
    },
    /// An attempt at a flow used as a node failed. The path is that of the node. The events of the
    /// nodes inside came before.
    FlowFailed {
        /// The error.
        error: &'a FlowError,
    },
    /// A fork or a loop over items failed, because a branch or an item failed. The path is that of
    /// the fork or the loop. The event of the failure inside came before.
    CompositeFailed {
        /// The error.
        error: &'a FlowError,
    },
    /// The run ended without reaching an end. The path is that of its flow.
    RunFailed {
        /// The error.
        error: &'a FlowError,
    },
    /// A flow, the run's own or one used as a node, reached an end.
    FlowEnded {
        /// The end's label; `"default"` for a plain `end`.
        end: &'a str,
    },
}

/// The id of a run within its process. Printed as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(crate) u64);

impl RunId {
    /// The id of a run that an engine has numbered.
    pub fn new(number: u64) -> RunId {
        RunId(number)
    }
}

/// The number of panics of observers.
static FAILURES: AtomicU64 = AtomicU64::new(0);

/// The number of panics of observers in this process: those of
/// [`RunOptions::observer`](crate::RunOptions::observer). The runs and the other observers
/// continue, and the observer receives the next event as if nothing had happened.
pub fn observer_failures() -> u64 {
    FAILURES.load(Ordering::Relaxed)
}

/// Calls an observer. If it panics, the panic is counted, and the run continues.
#[inline]
pub(crate) fn tell(observer: &(impl Observer + ?Sized), event: &Event<'_>) {
    if catch_unwind(AssertUnwindSafe(|| observer.on_event(event))).is_err() {
        count_failure();
    }
}

/// Like `tell`, for the beginning of a loop.
pub(crate) fn tell_loop(
    observer: &(impl Observer + ?Sized),
    run: RunId,
    path: Path<'_>,
    items: usize,
) {
    if catch_unwind(AssertUnwindSafe(|| observer.on_loop(run, path, items))).is_err() {
        count_failure();
    }
}

#[cold]
fn count_failure() {
    FAILURES.fetch_add(1, Ordering::Relaxed);
}

/// Joins observers into one that calls each of them, in this order. A single observer is returned
/// as it is.
pub(crate) fn together(
    observers: impl IntoIterator<Item = Arc<dyn Observer>>,
) -> Option<Arc<dyn Observer>> {
    let both = |first, second| -> Arc<dyn Observer> { Arc::new(Both { first, second }) };
    observers.into_iter().reduce(both)
}

/// Two observers. Each of them may be such a pair.
struct Both {
    first: Arc<dyn Observer>,
    second: Arc<dyn Observer>,
}

/// [`Observer::__went_on`] keeps its default, which passes on the events one by one. In one call,
/// the first observer would learn of the next node before the second one learns that the last node
/// is done.
impl Observer for Both {
    fn on_event(&self, event: &Event<'_>) {
        tell(&*self.first, event);
        tell(&*self.second, event);
    }

    fn on_loop(&self, run: RunId, path: Path<'_>, items: usize) {
        tell_loop(&*self.first, run, path, items);
        tell_loop(&*self.second, run, path, items);
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a> Event<'a> {
    /// An event, for engines and for tests of observers.
    pub fn new(run: RunId, path: Path<'a>, kind: EventKind<'a>) -> Event<'a> {
        Event { run, path, kind }
    }

    /// The run to which it belongs.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The path of the node, or of the flow for [`EventKind::FlowEnded`]. It is assembled only when
    /// it is printed or turned into a `String`.
    pub fn path(&self) -> Path<'a> {
        self.path
    }

    /// The kind of the event.
    pub fn kind(&self) -> EventKind<'a> {
        self.kind
    }
}

/// One line, such as `orders.payment.charge finished: default`.
impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path;
        match self.kind {
            EventKind::NodeStarted => write!(f, "{path} started"),
            EventKind::AttemptFailed { attempt, error } => {
                write!(f, "{path} attempt {attempt} failed: {error}")
            }
            EventKind::Delta(delta) | EventKind::DeltaJson(delta) => {
                write!(f, "{path} delta: {delta}")
            }
            EventKind::Progress { done, of: Some(of) } => {
                write!(f, "{path} progress: {done} of {of}")
            }
            EventKind::Progress { done, of: None } => write!(f, "{path} progress: {done}"),
            EventKind::NodeFinished { action } => write!(f, "{path} finished: {action}"),
            EventKind::NodeFailed { error } => {
                write!(f, "{path} ")?;
                error.write_failure(f)
            }
            EventKind::FlowFailed { error }
            | EventKind::CompositeFailed { error }
            | EventKind::RunFailed { error } => {
                write!(f, "{path} failed: {error:#}")
            }
            EventKind::FlowEnded { end } => write!(f, "{path} ended: {end}"),
        }
    }
}
