//! The engine that reports to an observer.

use std::future::Future;

use crate::engine::{AnyOrder, Engine, Hooks, StateHooks, Step, carry_out};
use crate::error::Failed;
use crate::frame::{Frame, Path};
use crate::observer::{Event, EventKind, Observer, RunId, tell, tell_loop};
use crate::run::Run;
use crate::scope::Scope;

/// The engine of [`Flow::run_with`](crate::Flow::run_with): it polls, and reports to the observer.
pub struct Observed<'r> {
    run: &'r Run,
    id: RunId,
    observer: &'r dyn Observer,
    /// True if the run limits how many nodes run at once.
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

/// The observer of a run without observers.
struct Nobody;

impl Observer for Nobody {
    fn on_event(&self, _event: &Event<'_>) {}
}

impl Hooks for Observed<'_> {
    type Order = AnyOrder;

    const READS_OUTCOMES: bool = false;

    #[inline]
    fn run(&self) -> &Run {
        self.run
    }

    #[inline]
    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        let frame = scope.frame();
        frame.enter(node);
        self.run.count_step(frame)?;
        self.tell(frame.path(), EventKind::NodeStarted);
        Ok(())
    }

    #[inline]
    fn item_started(&self, scope: &Scope<'_>) {
        self.tell(scope.frame().path(), EventKind::NodeStarted);
    }

    fn loop_started(&self, scope: &Scope<'_>, items: usize) {
        tell_loop(self.observer, self.id, scope.frame().path(), items);
    }

    fn undo_started(&self, scope: &Scope<'_>) {
        self.tell(scope.frame().path(), EventKind::NodeStarted);
    }

    fn undo_finished(&self, scope: &Scope<'_>) {
        self.node_finished(scope, "default");
    }

    #[inline]
    fn node_finished(&self, scope: &Scope<'_>, action: &str) {
        self.tell(scope.frame().path(), EventKind::NodeFinished { action });
    }

    #[cold]
    fn flow_failed(&self, scope: &Scope<'_>, error: &Failed) {
        self.tell(scope.frame().flow_path(), EventKind::FlowFailed { error });
    }

    #[cold]
    fn composite_failed(&self, scope: &Scope<'_>, error: &Failed) {
        self.tell(scope.frame().path(), EventKind::CompositeFailed { error });
    }

    #[inline]
    fn flow_ended(&self, scope: &Scope<'_>, end: &str) {
        scope.leave();
        self.tell(scope.frame().flow_path(), EventKind::FlowEnded { end });
    }
}

impl<N: Step> Engine<N> for Observed<'_> {
    /// Runs the work in a span, so that log entries of the node carry its path, and only when there
    /// is room for it.
    #[inline]
    fn step<'s, W>(
        &self,
        scope: &'s Scope<'s>,
        work: W,
    ) -> impl Future<Output = Result<N::Outcome, Failed>> + Send
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        carry_out(scope, self.limited, work)
    }
}

impl<S> StateHooks<S> for Observed<'_> {
    #[inline]
    fn after_node(
        &self,
        scope: &Scope<'_>,
        action: &str,
        node: u16,
        _state: &S,
    ) -> Result<(), Failed> {
        let frame = scope.frame();
        let from = frame.position();
        frame.enter(node);
        if !self.run.take_step() {
            return Err(no_step_left(self.run, frame, action, from));
        }
        self.observer.__went_on(self.id, frame, action, from);
        Ok(())
    }
}

/// Reports a finished node, and returns the error of a budget that has no next step.
#[cold]
#[inline(never)]
fn no_step_left(run: &Run, frame: &Frame<'_>, action: &str, from: u32) -> Failed {
    run.emit(frame.path_at(from), EventKind::NodeFinished { action });
    run.step_limit(frame)
}
