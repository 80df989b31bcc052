//! The ids of steps: see [`Context::step_id`](crate::Context::step_id).
//!
//! The hard thing is that a run without options counts no visits and allocates nothing. So a visit
//! gets a number when its first context is made, and the text is assembled when a node asks for it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::frame::Frame;
use crate::observer::RunId;
use crate::run::Run;

/// The number of a visit that has no context yet.
pub(crate) const UNNUMBERED: u64 = 0;

/// The source of the name of a context's step.
pub(crate) enum StepName {
    /// The history of the execution.
    Recorded,
    /// The step around the run. The id is complete.
    Within(String),
    /// The number of the visit.
    Visit(u64),
}

impl StepName {
    /// The name of the frame's current node at a visit with this [number](Run::number_visit).
    pub(crate) fn new(run: &Run, frame: &Frame<'_>, visit: u64) -> Self {
        match run.with() {
            Some(with) => match &with.within {
                Some(around) => StepName::Within(around.name(&frame.place().step, visit)),
                None if with.history.is_some() => StepName::Recorded,
                None => StepName::Visit(visit),
            },
            None => StepName::Visit(visit),
        }
    }

    /// The id of the step at this path, unless a history provides it.
    pub(crate) fn id(&self, run: RunId, path: &str) -> String {
        match self {
            StepName::Recorded => unreachable!("the history names the step"),
            StepName::Within(id) => id.clone(),
            StepName::Visit(number) => format!("{}-{run}/{path}#{number}", of_process()),
        }
    }
}

impl Run {
    /// A number for a visit to the frame's current node, from 1. No other visit of the run to this
    /// node has it.
    pub(crate) fn number_visit(&self, frame: &Frame<'_>) -> u64 {
        // Runs without options have no number, so all visits of the process are counted.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        match self.with().and_then(|with| with.within.as_ref()) {
            Some(around) => around.visit(frame.place().step),
            None => NEXT.fetch_add(1, Ordering::Relaxed),
        }
    }
}

/// The step around a run.
#[derive(Debug)]
pub(crate) struct StepAround {
    /// The id of the step, `/`, and the number of the run within it.
    id: String,
    /// The number of visits to each of the run's steps.
    visits: Mutex<BTreeMap<String, u64>>,
}

impl StepAround {
    pub(crate) fn new(step_id: &str, run: u32) -> Self {
        StepAround {
            id: format!("{step_id}/{run}"),
            visits: Mutex::default(),
        }
    }

    fn visit(&self, step: String) -> u64 {
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        let visit = visits.entry(step).or_default();
        *visit = visit.saturating_add(1);
        *visit
    }

    fn name(&self, step: &str, visit: u64) -> String {
        match visit {
            1 => format!("{}/{step}", self.id),
            visit => format!("{}/{step}#{visit}", self.id),
        }
    }
}

/// A random text that no other process has.
fn of_process() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        // Each state has different keys, which come from the operating system.
        let random = || RandomState::new().hash_one(std::process::id());
        format!("{:016x}{:016x}", random(), random())
    })
}
