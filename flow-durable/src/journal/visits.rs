//! The visits to nodes, and the history of an execution.

use std::error::Error;
use std::time::Duration;

use flow_runtime::NodeError;
use flow_runtime::engine::{EarlierAttempts, Frame, History, Pause, Place, StepKey};
use flow_store::RecordKind;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::entry::Visits;
use crate::journal::{Journal, NewRecord};

/// The history that a run asks for in places where it has no access to the engine.
impl History for Journal {
    fn step_id(&self, place: &Place) -> String {
        format!("{}/{}", self.execution, place.step)
    }

    fn execution(&self) -> String {
        self.execution.to_string()
    }

    fn spent_at(&self, frame: &Frame<'_>) -> Duration {
        let started = self.state().replay.started_ms(&frame.place());
        let spent = started.map_or(0, |started| self.now_ms().saturating_sub(started));
        Duration::from_millis(spent)
    }

    fn attempt_failed(
        &self,
        frame: &Frame<'_>,
        attempt: u32,
        error: &(dyn Error + Send + Sync + 'static),
    ) -> bool {
        let place = frame.place();
        let is_new = !self.replaying(|replay| replay.has_failed_attempt(&place, attempt));
        if is_new {
            self.add(NewRecord {
                kind: RecordKind::AttemptFailed,
                place: &place,
                attempt,
                payload: error.to_string(),
            });
        }
        is_new
    }

    fn attempts(&self, frame: &Frame<'_>) -> EarlierAttempts {
        self.replaying(|replay| replay.attempts(&frame.place()))
    }

    fn gave_up(&self, frame: &Frame<'_>, attempt: u32, error: &NodeError) {
        self.add_gave_up(&frame.place(), attempt, error);
    }

    fn sleep_until(&self, frame: &Frame<'_>, pause: Pause, instant: Instant) -> BoxFuture<'_, ()> {
        let place = frame.place();
        async move {
            let _aside = self.aside();
            if !self.rest(&place, pause, instant).await {
                tokio::time::sleep_until(instant).await;
            }
        }
        .boxed()
    }

    fn catches_panics(&self) -> bool {
        true
    }

    fn may_try(&self) -> BoxFuture<'_, ()> {
        async {
            self.all_stored().await;
            self.goes_on().await;
        }
        .boxed()
    }
}

/// The name of a node of the frame's flow.
pub(crate) fn name_of<'a>(frame: &Frame<'a>, node: u16) -> &'a str {
    let name = frame.flow().node(node.into());
    name.unwrap_or_else(|| unreachable!("a flow enters its own nodes"))
}

impl Journal {
    /// Counts a visit to a node of a frame's flow, which becomes the current node.
    pub(crate) fn visit(&self, frame: &Frame<'_>, node: u16) -> Place {
        let visit = if frame.is_branch() {
            1
        } else {
            self.count_visit(&frame.flow_step(), name_of(frame, node))
        };
        frame.set_visit(visit);
        let place = frame.place();
        if !frame.is_branch() && frame.around_flow().is_none() {
            self.state().replay.outermost_at(&place.step);
        }
        place
    }

    /// Counts a visit to a node of an attempt at a flow. The counts of its inner flows are
    /// forgotten, because none of them is running.
    pub(super) fn count_visit(&self, flow: &str, node: &str) -> u32 {
        let mut state = self.state();
        let inside = StepKey::new(flow).nodes();
        while let Some((step, _)) = state.visits.range(inside.clone()).next() {
            let step = step.clone();
            state.visits.remove(&step);
        }
        if !state.visits.contains_key(flow) {
            state.visits.insert(flow.to_owned(), Visits::new());
        }
        let Some(visits) = state.visits.get_mut(flow) else {
            return 1;
        };
        match visits.get_mut(node) {
            Some(visit) => {
                *visit += 1;
                *visit
            }
            None => {
                visits.insert(node.to_owned(), 1);
                1
            }
        }
    }

    /// Returns true if the visit to a node of the outermost flow that begins now had begun in an
    /// earlier run of the execution. The node becomes the frame's current one.
    pub(crate) fn begins_again(&self, frame: &Frame<'_>, node: u16) -> bool {
        let visits = self.visits(&frame.flow_step());
        let before = visits.get(name_of(frame, node)).copied().unwrap_or(0);
        frame.enter(node);
        frame.set_visit(before + 1);
        self.state().replay.started_ms(&frame.place()).is_some()
    }

    /// Forgets the visits of an attempt at a flow that is over.
    pub(crate) fn forget_visits(&self, flow: &str) {
        self.state().visits.remove(flow);
    }

    /// The visits to the nodes of an attempt at a flow.
    pub(crate) fn visits(&self, flow: &str) -> Visits {
        self.state().visits.get(flow).cloned().unwrap_or_default()
    }
}
