//! Two engines: one records what a run did, the other plays it back without doing any of it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flow_runtime::engine::{
    self, AnyOrder, Engine, ExternalType, Failed, Frame, Hooks, Run, Scope, StateHooks, Step,
    Stored, Visit, Visits, carry_out,
};
use flow_runtime::{FlowError, NodeError, RunOptions};
use serde_json::{Value, json};

/// What each step of a run came to, by its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording(BTreeMap<String, Value>);

impl Recording {
    /// The names of the steps.
    pub fn steps(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        json!(self.0)
    }

    /// What was recorded, from JSON. `None` if it is something else.
    pub fn from_json(json: Value) -> Option<Recording> {
        let Value::Object(steps) = json else {
            return None;
        };
        Some(Recording(steps.into_iter().collect()))
    }
}

/// Runs a flow and records what each of its steps comes to.
#[derive(Debug)]
pub struct Recorder {
    run: Run,
    visits: Visits,
    recording: Mutex<Recording>,
}

impl Recorder {
    /// Records a run with these options.
    pub fn new<A>(options: RunOptions<A>) -> Self {
        Recorder {
            run: Run::numbered(options),
            visits: Visits::new(),
            recording: Mutex::default(),
        }
    }

    /// What it has recorded.
    pub fn into_recording(self) -> Recording {
        let recording = self.recording.into_inner();
        recording.unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, frame: &Frame<'_>, came_to: Value) {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        recording.0.insert(frame.place().step, came_to);
    }
}

impl Hooks for Recorder {
    type Order = AnyOrder;

    fn run(&self) -> &Run {
        &self.run
    }

    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        self.visits.begin(scope.frame(), node);
        self.run.count_step(scope.frame())
    }

    async fn ask_any(
        &self,
        visit: Visit<'_>,
        question: ExternalType,
        prompt: String,
    ) -> Result<Value, Failed> {
        let answer = engine::ask(&self.run, visit, question, prompt).await;
        if let Ok(answer) = &answer {
            self.record(visit.frame(), json!({ "returned": answer }));
        }
        answer
    }

    async fn receive_any(
        &self,
        visit: Visit<'_>,
        name: &str,
        _signal: ExternalType,
    ) -> Result<Value, Failed> {
        let signal = engine::receive(&self.run, visit, name).await;
        match &signal {
            Ok(signal) => self.record(visit.frame(), json!({ "returned": signal })),
            Err(failed) => {
                if let FlowError::Node(error) = &**failed {
                    self.record(visit.frame(), json!({ "failed": error }));
                }
            }
        }
        signal
    }

    fn flow_failed(&self, scope: &Scope<'_>, _failed: &Failed) {
        self.visits.end(scope.frame());
    }

    fn flow_ended(&self, scope: &Scope<'_>, _end: &str) {
        scope.leave();
        self.visits.end(scope.frame());
    }
}

impl<N: Step<Outcome: Stored>> Engine<N> for Recorder {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        let outcome = carry_out(scope, self.run.is_limited(), work).await;
        match &outcome {
            Ok(outcome) => self.record(scope.frame(), json!({ "returned": outcome })),
            Err(failed) => {
                if let FlowError::Node(error) = &**failed {
                    self.record(scope.frame(), json!({ "failed": error }));
                }
            }
        }
        outcome
    }
}

impl<S> StateHooks<S> for Recorder {}

/// Runs a flow from a recording: no step does its work, nobody is asked or sends anything, and no
/// time passes.
#[derive(Debug)]
pub struct Playback {
    run: Run,
    visits: Visits,
    recording: Recording,
}

impl Playback {
    /// Plays a recording back.
    pub fn new(recording: Recording) -> Self {
        Playback {
            run: Run::new(),
            visits: Visits::new(),
            recording,
        }
    }

    /// What a step came to. An error if it was not recorded, or is not what the step returns.
    fn played<T>(
        &self,
        frame: &Frame<'_>,
        read: impl FnOnce(Value) -> Result<T, serde_json::Error>,
    ) -> Result<T, Failed> {
        let place = frame.place();
        let unplayable = |reason: String| {
            let failure = engine::Failure::Returned(reason.into());
            Box::new(FlowError::Node(NodeError::new(
                place.path.clone(),
                1,
                failure,
            )))
        };
        match self.recording.0.get(&place.step) {
            Some(Value::Object(step)) => match (step.get("returned"), step.get("failed")) {
                (Some(value), None) => {
                    read(value.clone()).map_err(|error| unplayable(error.to_string()))
                }
                (None, Some(error)) => match serde_json::from_value(error.clone()) {
                    Ok(error) => Err(Box::new(FlowError::Node(error))),
                    Err(error) => Err(unplayable(error.to_string())),
                },
                _ => Err(unplayable("the recording is damaged".to_owned())),
            },
            _ => Err(unplayable(format!("`{}` is not recorded", place.step))),
        }
    }
}

impl Hooks for Playback {
    type Order = AnyOrder;

    fn run(&self) -> &Run {
        &self.run
    }

    fn node_started(&self, scope: &Scope<'_>, node: u16) -> Result<(), Failed> {
        self.visits.begin(scope.frame(), node);
        self.run.count_step(scope.frame())
    }

    async fn ask_any(
        &self,
        visit: Visit<'_>,
        _question: ExternalType,
        _prompt: String,
    ) -> Result<Value, Failed> {
        self.played(visit.frame(), Ok)
    }

    async fn receive_any(
        &self,
        visit: Visit<'_>,
        _name: &str,
        _signal: ExternalType,
    ) -> Result<Value, Failed> {
        self.played(visit.frame(), Ok)
    }

    async fn wait(&self, _scope: &Scope<'_>, _duration: Duration) -> Result<(), Failed> {
        Ok(())
    }

    fn flow_failed(&self, scope: &Scope<'_>, _failed: &Failed) {
        self.visits.end(scope.frame());
    }

    fn flow_ended(&self, scope: &Scope<'_>, _end: &str) {
        scope.leave();
        self.visits.end(scope.frame());
    }
}

impl<N: Step<Outcome: Stored>> Engine<N> for Playback {
    async fn step<'s, W>(&self, scope: &'s Scope<'s>, _work: W) -> Result<N::Outcome, Failed>
    where
        W: Future<Output = Result<N::Outcome, Failed>> + Send,
    {
        self.played(scope.frame(), serde_json::from_value)
    }
}

impl<S> StateHooks<S> for Playback {}
