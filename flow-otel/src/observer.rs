//! Exports plain runs from their events.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use flow_runtime::engine::NodePath;
use flow_runtime::{Event, EventKind, FlowError, Observer, RunId};
use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt as _;

use crate::ids::random_trace;
use crate::telemetry::Telemetry;
use crate::trace::{Begun, Reached, RunEnd, RunTrace};

/// Exports the spans and metrics of plain runs, those of
/// [`Flow::run_with`](flow_runtime::Flow::run_with).
///
/// The span of a run is inside the span that the program was in when the run began, if any. A
/// fallback looks like one more attempt. When the observer is dropped, the runs whose end it has
/// not seen are exported as dropped. One observer can serve several runs, but one for each run
/// exports a dropped run sooner.
///
/// For durable executions, use [`Follower`](crate::Follower).
pub struct RunObserver {
    telemetry: Telemetry,
    runs: Mutex<HashMap<RunId, RunTrace>>,
}

impl fmt::Debug for RunObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunObserver").finish_non_exhaustive()
    }
}

impl RunObserver {
    /// An observer that exports to this telemetry.
    pub fn new(telemetry: &Telemetry) -> Self {
        RunObserver {
            telemetry: telemetry.clone(),
            runs: Mutex::default(),
        }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, RunTrace>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begun(&self, flow: &str, at: SystemTime) -> RunTrace {
        let around = Context::current();
        let outer = around.span().span_context().clone();
        let begun = Begun {
            trace: if outer.is_valid() {
                outer.trace_id()
            } else {
                random_trace()
            },
            around,
            flow: flow.to_owned(),
            path: flow.to_owned(),
            at,
            attributes: Vec::new(),
        };
        RunTrace::new(self.telemetry.clone(), begun, true)
    }
}

impl Observer for RunObserver {
    fn on_event(&self, event: &Event<'_>) {
        let at = SystemTime::now();
        let (id, path) = (event.run(), event.path().to_string());
        let mut runs = self.runs();
        let first = || match event.kind() {
            EventKind::NodeStarted => NodePath::new(&path)
                .parent()
                .map_or(&*path, NodePath::as_str),
            _ => &path,
        };
        let run = runs.entry(id).or_insert_with(|| self.begun(first(), at));
        let step = match event.kind() {
            EventKind::NodeStarted => event.path().place().map(|place| place.step),
            _ => Some(run.step_at(&path).to_owned()),
        };
        let step = step.as_deref().unwrap_or(&path);
        let mut end = None;
        match event.kind() {
            EventKind::NodeStarted => run.node_started(Reached {
                step,
                path: &path,
                at,
                attributes: Vec::new(),
            }),
            EventKind::AttemptFailed { attempt, error } => {
                run.attempt_failed(step, attempt, &error.to_string(), at);
            }
            EventKind::NodeFailed { error } => run.failed(step, &format!("{error:#}")),
            EventKind::FlowFailed { error } | EventKind::CompositeFailed { error } => {
                run.drop_inside(step, at);
                run.failed(step, &format!("{error:#}"));
            }
            EventKind::NodeFinished { action } => {
                if action != "error" {
                    run.attempt_done(step, at);
                }
                run.node_finished(step, action, at);
            }
            EventKind::FlowEnded { end: label } if path == run.path => {
                end = Some(("completed", Some(label), None));
            }
            EventKind::RunFailed { error } => {
                let status = match error {
                    FlowError::Cancelled { .. } => "cancelled",
                    _ => "failed",
                };
                end = Some((status, None, Some(format!("{error:#}"))));
            }
            _ => {}
        }
        if let Some((status, end, error)) = end
            && let Some(run) = runs.remove(&id)
        {
            drop(runs);
            run.ended(RunEnd {
                status,
                end,
                error: error.as_deref(),
                at,
            });
        }
    }
}

impl Drop for RunObserver {
    fn drop(&mut self) {
        let at = SystemTime::now();
        for (_, run) in self.runs().drain() {
            run.ended(RunEnd {
                status: "dropped",
                end: None,
                error: None,
                at,
            });
        }
    }
}
