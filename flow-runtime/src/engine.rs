//! What carries a flow's steps out.
//!
//! `flow!` generates one loop, generic over its engine. A node's work reaches the engine as a future that has not
//! been polled: [`Direct`] just polls it, and an engine that already knows its outcome would not.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pin_project_lite::pin_project;
use tokio::sync::SemaphorePermit;

use crate::__private::Step;
use crate::error::FlowError;
use crate::observer::{Event, EventKind, Observer, RunId, tell};
use crate::run::Run;
use crate::scope::{Path, Scope};

/// Why a step did not succeed. Boxed: it is rare, and what every step returns should be small.
pub type Failed = Box<FlowError>;

/// Carries out the steps of a node. The bound lies on each node so that an engine which stores outcomes can ask
/// something of their types, while `Direct` asks nothing. (A bound on the outcome itself would name its type where
/// rustc erases lifetimes, and then `&'static str` is not `Send` enough.)
pub trait Engine<N: Step>: Hooks {
    /// Carries out one step.
    fn step<'s, W>(
        &self,
        scope: &'s Scope<'s>,
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

    /// Carries a flow out that is the current node, within the time that the flow around it allows. `None` if it took longer.
    fn within<T: Send>(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        after: Duration,
        work: Pin<&mut (impl Future<Output = T> + Send)>,
    ) -> impl Future<Output = Option<T>> + Send {
        let _ = (scope, attempt);
        async move { tokio::time::timeout(after, work).await.ok() }
    }

    /// Waits before an attempt at a flow that is the current node.
    fn wait_to_retry(
        &self,
        scope: &Scope<'_>,
        attempt: u32,
        wait: Duration,
    ) -> impl Future<Output = Result<(), Failed>> + Send {
        let _ = attempt;
        self.wait(scope, wait)
    }

    /// Asks a person, and waits for the answer.
    #[cfg(feature = "durable")]
    fn ask<N: crate::question::Human>(
        &self,
        visit: crate::visit::Visit<'_>,
        prompt: String,
    ) -> impl Future<Output = Result<N, Failed>> + Send {
        crate::question::ask::<N>(self.run(), visit, prompt)
    }

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

    /// An attempt at a flow used as a node has failed. The scope is that of the attempt.
    #[inline]
    fn flow_failed(&self, _scope: &Scope<'_>, _failed: &Failed) {}

    /// A flow reached an end.
    #[inline]
    fn ended(&self, scope: &Scope<'_>, _end: &'static str) {
        scope.leave();
    }
}

/// What an engine does with the state of a flow, between one node and the next.
pub trait Keeps<S>: Hooks {
    /// A node is about to run, and this is the state before it.
    #[inline]
    fn reached(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        let _ = state;
        self.entered(scope, node)
    }

    /// The current node took an action, which leads to this node, and this is the state between them.
    #[inline]
    fn next(
        &self,
        scope: &Scope<'_>,
        action: &'static str,
        node: u16,
        state: &S,
    ) -> Result<(), Failed> {
        self.finished(scope, action);
        self.reached(scope, node, state)
    }

    /// The flow has reached an end, and this is the state there.
    #[inline]
    fn left(&self, _scope: &Scope<'_>, _state: &S) {}

    /// The node at which the flow goes on, and the state that it had there. Nothing if it begins.
    #[inline]
    fn restored(&self, scope: &Scope<'_>) -> Result<Option<(usize, S)>, Failed> {
        let _ = scope;
        Ok(None)
    }
}

impl<S> Keeps<S> for Direct {}

impl<S> Keeps<S> for Observed<'_> {
    #[inline]
    fn next(
        &self,
        scope: &Scope<'_>,
        action: &'static str,
        node: u16,
        _state: &S,
    ) -> Result<(), Failed> {
        let from = scope.position();
        scope.enter(node);
        if !self.run.take_step() {
            return Err(no_step_left(self.run, scope, action, from));
        }
        self.observer.__went_on(self.id, scope, action, from);
        Ok(())
    }
}

/// The node is done, and its budget is used up before the next one.
#[cold]
#[inline(never)]
fn no_step_left(run: &Run, scope: &Scope<'_>, action: &'static str, from: u32) -> Failed {
    run.emit(scope.path_at(from), EventKind::NodeFinished { action });
    run.step_limit(scope)
}

/// The engine of [`Flow::run`](crate::Flow::run): it polls. Nothing is boxed, allocated or looked up.
#[derive(Debug)]
pub struct Direct(Run);

impl Direct {
    /// An engine for one run.
    #[inline]
    pub fn new() -> Self {
        Direct(Run::new())
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
    fn step<'s, W>(
        &self,
        _scope: &'s Scope<'s>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        work
    }
}

/// The engine of [`Flow::run_with`](crate::Flow::run_with): it polls too, and tells the observer.
pub struct Observed<'r> {
    run: &'r Run,
    id: RunId,
    observer: &'r dyn Observer,
    /// Whether the run limits how many nodes are under way.
    limited: bool,
}

impl<'r> Observed<'r> {
    /// An engine for this run.
    pub fn new(run: &'r Run) -> Self {
        Observed {
            run,
            id: run.id(),
            observer: run.observer().unwrap_or(&Nobody),
            limited: run.nodes_at_once().is_some(),
        }
    }

    #[inline]
    fn tell(&self, path: Path<'_>, kind: EventKind<'_>) {
        let run = self.id;
        tell(self.observer, &Event { run, path, kind });
    }
}

/// The observer of a run that has none.
struct Nobody;

impl Observer for Nobody {
    fn on_event(&self, _event: &Event<'_>) {}
}

impl Hooks for Observed<'_> {
    #[inline]
    fn run(&self) -> &Run {
        self.run
    }

    #[inline]
    fn entered(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        scope.enter(node);
        self.run.count_step(scope)?;
        self.tell(scope.path(), EventKind::NodeStarted);
        Ok(())
    }

    #[inline]
    fn item_started(&self, scope: &Scope<'_>) {
        self.tell(scope.path(), EventKind::NodeStarted);
    }

    #[inline]
    fn finished(&self, scope: &Scope<'_>, action: &'static str) {
        self.tell(scope.path(), EventKind::NodeFinished { action });
    }

    #[inline]
    fn ended(&self, scope: &Scope<'_>, end: &'static str) {
        scope.leave();
        self.tell(scope.flow_path(), EventKind::FlowEnded { end });
    }
}

impl<N: Step> Engine<N> for Observed<'_> {
    /// The work runs inside a span, so that what a node logs carries its path, and only when there is room for it.
    #[inline]
    fn step<'s, W>(
        &self,
        scope: &'s Scope<'s>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        carried_out(scope, self.limited, work)
    }
}

/// A step of a run with options: within a span, when there is room for it, and with its failure told to the observer.
/// `limited` says whether the run limits how many steps are under way, which a run knows from its beginning.
#[inline]
pub(crate) fn carried_out<'s, T, W>(
    scope: &'s Scope<'s>,
    limited: bool,
    work: W,
) -> impl Future<Output = Result<T, Failed>> + Send + use<'s, T, W>
where
    T: Send,
    W: Future<Output = Result<T, Failed>> + Send,
{
    #[cfg(feature = "tracing")]
    let work = {
        use tracing::Instrument as _;
        let run = scope.run.id();
        work.instrument(tracing::info_span!("node", path = %scope.path(), %run))
    };
    CarriedOut {
        room: match limited {
            true => Room::NotAsked,
            false => Room::Enough,
        },
        work,
        scope,
    }
}

/// Room for a step where the run limits how many are under way.
enum Room<'a> {
    /// There is no limit.
    Enough,
    NotAsked,
    /// Whoever asks first gets it first. In a box: most runs have no limit, and a step should be small.
    Awaited(BoxFuture<'a, Option<SemaphorePermit<'a>>>),
    /// It is given back when the step is dropped.
    Permitted {
        _permit: Option<SemaphorePermit<'a>>,
    },
}

impl<'a> Room<'a> {
    // The semaphore is never closed.
    #[cold]
    fn poll(&mut self, run: &'a Run, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            *self = match (&mut *self, run.nodes_at_once()) {
                (Room::NotAsked, Some(limit)) => match limit.try_acquire() {
                    Ok(permit) => Room::Permitted {
                        _permit: Some(permit),
                    },
                    Err(_) => Room::Awaited(limit.acquire().map(Result::ok).boxed()),
                },
                (Room::NotAsked, None) => Room::Enough,
                (Room::Awaited(room), _) => Room::Permitted {
                    _permit: ready!(room.poll_unpin(cx)),
                },
                (Room::Enough | Room::Permitted { .. }, _) => return Poll::Ready(()),
            };
        }
    }
}

pin_project! {
    /// A step that begins when there is room for it, and whose failure is told to the observer.
    struct CarriedOut<'s, W> {
        room: Room<'s>,
        #[pin]
        work: W,
        scope: &'s Scope<'s>,
    }
}

impl<T, W: Future<Output = Result<T, Failed>>> Future for CarriedOut<'_, W> {
    type Output = Result<T, Failed>;

    // What is only `inline` is not, for the largest steps of a loop, and then costs as much as two events.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if !matches!(this.room, Room::Enough) {
            ready!(this.room.poll(this.scope.run, cx));
        }
        let result = ready!(this.work.poll(cx));
        if let Err(failed) = &result {
            tell_failure(this.scope, failed);
        }
        Poll::Ready(result)
    }
}

#[cold]
fn tell_failure(scope: &Scope<'_>, failed: &Failed) {
    if let FlowError::Node(error) = &**failed {
        scope
            .run
            .emit(scope.path(), EventKind::NodeFailed { error });
    }
}
