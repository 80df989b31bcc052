//! What the tests share: an observer that records, and a log that nodes write into.

use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_runtime::RunId;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

/// Records what happens in the runs it is attached to.
#[derive(Default)]
pub(crate) struct Recorder(Mutex<Vec<Recorded>>);

struct Recorded {
    run: RunId,
    path: String,
    line: String,
    what: What,
}

#[derive(PartialEq)]
enum What {
    NodeFinished,
    FlowEnded,
    Other,
}

impl Recorder {
    pub(crate) fn shared() -> Arc<Self> {
        Arc::default()
    }

    /// Every event, as it prints itself.
    pub(crate) fn events(&self) -> Vec<String> {
        let recorded = self.0.lock().unwrap();
        recorded.iter().map(|event| event.line.clone()).collect()
    }

    /// The runs that the events belong to, each once, in the order in which they began.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        let mut runs = Vec::new();
        for event in self.0.lock().unwrap().iter() {
            if !runs.contains(&event.run) {
                runs.push(event.run);
            }
        }
        runs
    }

    /// The names of the nodes in the order of their completed visits, those of flows left out.
    pub(crate) fn trace(&self) -> String {
        let recorded = self.0.lock().unwrap();
        trace(recorded.iter())
    }

    /// The same for one run of several.
    pub(crate) fn trace_of(&self, run: RunId) -> String {
        let recorded = self.0.lock().unwrap();
        trace(recorded.iter().filter(|event| event.run == run))
    }
}

/// A flow used as a node ends, and is finished right after, under the same path.
fn trace<'a>(events: impl Iterator<Item = &'a Recorded>) -> String {
    let mut names = Vec::new();
    let mut flow = None;
    for event in events {
        if event.what == What::NodeFinished && flow != Some(&event.path) {
            names.push(event.path.rsplit('.').next().unwrap_or_default());
        }
        flow = (event.what == What::FlowEnded).then_some(&event.path);
    }
    names.join(" ")
}

impl Observer for Recorder {
    fn on_event(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(Recorded {
            run: event.run(),
            path: event.path().to_string(),
            line: event.to_string(),
            what: match event.kind() {
                EventKind::NodeFinished { .. } => What::NodeFinished,
                EventKind::FlowEnded { .. } => What::FlowEnded,
                _ => What::Other,
            },
        });
    }
}

/// Runs a flow; returns its output and the trace.
pub(crate) async fn traced<F: flow_runtime::Unattended>(
    flow: &F,
    input: F::Input,
) -> (F::Output, String) {
    let recorder = Recorder::shared();
    let options = RunOptions::new().observer(recorder.clone());
    let output = flow.run_with(input, options).await.unwrap();
    (output, recorder.trace())
}

/// What nodes were called with: a handle that they share with the test.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(crate) struct Calls(Arc<Mutex<Vec<String>>>);

/// A handle of its own, with these calls.
impl From<Vec<String>> for Calls {
    fn from(calls: Vec<String>) -> Self {
        Calls(Arc::new(Mutex::new(calls)))
    }
}

impl From<Calls> for Vec<String> {
    fn from(calls: Calls) -> Self {
        calls.all()
    }
}

impl Calls {
    pub(crate) fn note(&self, call: impl Display) {
        self.0.lock().unwrap().push(call.to_string());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// The error of nodes that fail on purpose.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Broken(pub(crate) &'static str);

/// Notes its own drop: shows that a future was dropped rather than finished.
#[derive(Debug)]
pub(crate) struct DropGuard(pub(crate) Calls);

impl Drop for DropGuard {
    fn drop(&mut self) {
        self.0.note("dropped");
    }
}

/// Counts how many are under way at once.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "(usize, usize)", into = "(usize, usize)")]
pub(crate) struct Gauge(Arc<Level>);

#[derive(Debug, Default)]
struct Level {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A gauge of its own, with these numbers.
impl From<(usize, usize)> for Gauge {
    fn from((now, most): (usize, usize)) -> Self {
        let (now, most) = (AtomicUsize::new(now), AtomicUsize::new(most));
        Gauge(Arc::new(Level { now, most }))
    }
}

impl From<Gauge> for (usize, usize) {
    fn from(gauge: Gauge) -> Self {
        (gauge.now(), gauge.most())
    }
}

impl Gauge {
    /// One more is under way, until the guard is dropped.
    pub(crate) fn enter(&self) -> Entered {
        let now = self.0.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most.fetch_max(now, Ordering::SeqCst);
        Entered(self.clone())
    }

    pub(crate) fn now(&self) -> usize {
        self.0.now.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

/// One that is under way.
pub(crate) struct Entered(Gauge);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A pause of paused time.
pub(crate) async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

flow_law::law! {
    nodes: [],
    flows: [],
    types: [Calls, Gauge],
}
