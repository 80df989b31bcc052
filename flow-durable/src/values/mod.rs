//! The values of flows by key, followed through a journal by the structure of the flow. The flow
//! itself is not needed.
//!
//! The difficulty is that a journal has outcomes, and neither states nor types. So a value that a
//! node takes out of the state stays here until another node writes its key. A value that only the
//! type of its node could find in an outcome is marked as unknown.

mod access;
mod added;
mod errors;
mod frame;
mod items;
pub(crate) mod layout;
pub(crate) mod outcome;

use std::collections::{BTreeMap, HashMap};

use flow_runtime::engine::{NodePath, StepKey};
use flow_spec::document::types;
use flow_spec::{FlowDocument, NodeDocument};
use flow_store::{ExecutionId, Record, RecordKind};
use serde_json::{Map, Value, json};

use crate::entry::{Answered, Entry, Received};
use crate::error::RuntimeError;

pub use access::{AccessedValue, KeyAccess, NodeValues};
use added::Added;
use errors::Errors;
use frame::{Branch, FlowValues, Frame, Kept, Known};
use items::Items;
use layout::{Layout, NodeIn, key_of_input, key_of_output, written};

/// The settings of the node at a path, as a document has them.
pub(crate) fn params_at(flow: &FlowDocument, path: &str) -> Map<String, Value> {
    let at = Layout::new(flow).at(path);
    at.map(|at| access::params(at.node)).unwrap_or_default()
}

/// The action of a node that failed, and the key of its error.
const ERROR: &str = "error";

/// The values of the running flows of one execution.
pub(crate) struct Values<'a> {
    execution: ExecutionId,
    root: &'a FlowDocument,
    layout: Layout<'a>,
    state: State,
}

/// The values without the structure, to be kept between two records.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The running flows by step. Those of one attempt at a flow are apart from those of the next.
    frames: BTreeMap<String, Frame>,
    /// The outcomes of steps that have not taken an action yet.
    outcomes: HashMap<String, Value>,
    errors: Errors,
    items: Items,
    /// The index of the first item of the loop, in an execution that is a part of one.
    first_item: usize,
    /// The outputs of inner flows that have ended, by the step of the node.
    ended: HashMap<String, Known>,
    /// The values that the last node to take an action wrote, if somebody asked for them.
    written: Option<Vec<KeyAccess>>,
}

impl<'a> Values<'a> {
    /// Goes on from a state, with the structure to which it belongs.
    pub(crate) fn new(execution: ExecutionId, structure: &'a FlowDocument, state: State) -> Self {
        Values {
            execution,
            root: structure,
            layout: Layout::new(structure),
            state,
        }
    }

    pub(crate) fn into_state(self) -> State {
        self.state
    }

    /// The values of the flows, by path. A branch does not count until its fork or race is done.
    pub(crate) fn into_flows(self) -> BTreeMap<String, FlowValues> {
        let frames = self.state.frames.into_values();
        frames.map(Frame::into_values).collect()
    }

    /// Follows the next record.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`].
    pub(crate) fn add(&mut self, record: &Record) -> Result<(), RuntimeError> {
        match Entry::read(self.execution, record) {
            Entry::RunStarted(input) => self.begin(&record.path, input.read()?, true),
            Entry::Snapshot(snapshot) => self.begin(&record.path, snapshot.read()?.state, false),
            Entry::NodeStarted => self.started(record),
            Entry::Outcome(outcome) => {
                let outcome = outcome.read()?;
                match (StepKey::new(&record.step).part(), outcome) {
                    (Some((each, items)), Value::Array(results)) => {
                        self.state.items.part_done(each, items, results);
                    }
                    (_, outcome) => {
                        self.state.outcomes.insert(record.step.clone(), outcome);
                    }
                }
            }
            Entry::PartStarted(part) => self.state.first_item = part.read()?.first() as usize,
            Entry::Resumed(answered) => {
                let Answered { answer, timed_out } = answered.read()?;
                self.came(record, answer, timed_out);
            }
            Entry::Received(received) => {
                let Received {
                    body, timed_out, ..
                } = received.read()?;
                self.came(record, body, timed_out);
            }
            Entry::NodeFailed(error) => {
                self.state.errors.add(record, Some(error.value()?));
            }
            Entry::TimedOut | Entry::FlowFailed => {
                // The values of an attempt that has failed are there until the next one begins.
                self.forget_inside(&record.step);
                self.state.errors.of_attempt(record);
            }
            Entry::FlowEnded => self.flow_ended(record),
            Entry::NodeFinished(action) => self.finished(record, action),
            _ => {}
        }
        Ok(())
    }

    /// Follows the next record, and returns the values that its node read or wrote by it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DamagedRecord`].
    pub(crate) fn accessed(&mut self, record: &Record) -> Result<NodeValues, RuntimeError> {
        self.state.written = Some(Vec::new());
        self.add(record)?;
        let written = self.state.written.take().unwrap_or_default();
        let mut values = NodeValues::default();
        let Some(at) = self.layout.at(&record.path) else {
            return Ok(values);
        };
        match record.kind {
            RecordKind::NodeStarted => {
                values.params = access::params(at.node);
                values.reads = self.reads(record, at);
                if at.each.is_none() && at.node.body().is_some() {
                    values.items = self.list(&record.path, &record.step, at).map(Vec::len);
                }
            }
            RecordKind::NodeFinished => values.writes = written,
            _ => {}
        }
        Ok(values)
    }

    fn reads(&mut self, record: &Record, at: NodeIn<'a>) -> Vec<KeyAccess> {
        let item = self.item(&record.path, &record.step, at);
        let (_, branch) = flow_of(&record.step, at);
        let frame = self.frame_of(&record.path, &record.step, at);
        let read = |name: &String| {
            let key = key_of_input(at.node, name);
            match &item {
                Some((own, value)) if *own == key => KeyAccess::new(key, Some(value)),
                _ => {
                    let frame = frame.as_ref();
                    KeyAccess::new(key, frame.and_then(|frame| frame.get(branch.as_ref(), key)))
                }
            }
        };
        at.node.inputs.properties.keys().map(read).collect()
    }

    /// Begins the outermost flow with these values, independently of earlier records.
    fn begin(&mut self, path: &str, values: Map<String, Value>, enters: bool) {
        let values = values.into_iter().map(|(key, value)| (key, Some(value)));
        let mut frame = Frame::new(path.to_owned(), values.collect());
        if enters {
            frame.enter(self.root);
        }
        self.state = State {
            first_item: self.state.first_item,
            ..State::default()
        };
        self.state.frames.insert(path.to_owned(), frame);
    }

    fn started(&mut self, record: &Record) {
        let Some(at) = self.layout.at(&record.path) else {
            return;
        };
        if at.each.is_none() {
            self.frame_of(&record.path, &record.step, at);
        }
        if at.node.internal_flow.is_some() {
            self.frame(&record.path, &record.step);
        }
    }

    /// An answer or a signal came, unless it was too late.
    fn came(&mut self, record: &Record, value: Option<Value>, timed_out: bool) {
        if timed_out {
            self.state.errors.add(record, None);
        } else {
            // `null` is an answer as well.
            let value = value.unwrap_or_default();
            self.state.outcomes.insert(record.step.clone(), value);
        }
    }

    fn flow_ended(&mut self, record: &Record) {
        if record.path == self.root.namespace {
            return;
        }
        let at = self.layout.at(&record.path);
        let flow = at.and_then(|at| at.node.internal_flow.as_deref());
        let (Some(frame), Some(flow)) = (self.state.frames.remove(&record.step), flow) else {
            return;
        };
        let outputs = flow.outputs.properties.keys();
        let outputs =
            outputs.filter_map(|name| Some((name.clone(), frame.base.get(name)?.clone())));
        let step = StepKey::new(&record.step).without_retry();
        self.state.ended.insert(step.to_string(), outputs.collect());
    }

    fn finished(&mut self, record: &Record, action: &str) {
        let Some(at) = self.layout.at(&record.path) else {
            return;
        };
        let outcome = self.state.outcomes.remove(&record.step);
        let ended = self.state.ended.remove(&record.step);
        if let Some(each) = at.each {
            let result = match at.node.internal_flow.as_deref() {
                Some(flow) => ended.and_then(|ended| items::result_of_flow(flow, &ended)),
                None => outcome,
            };
            self.state.items.done(&record.step, each, result);
            return self.forget(&record.step);
        }
        let (_, branch) = flow_of(&record.step, at);
        let failed = action == ERROR && outcome.is_none() && ended.is_none();
        let written = if failed {
            self.state.items.take(&record.step);
            vec![(ERROR.to_owned(), self.state.errors.take(&record.step))]
        } else {
            self.written(record, action, at, outcome, ended)
        };
        self.forget(&record.step);
        let tells = self.state.written.is_some();
        let Some(frame) = self.frame_of(&record.path, &record.step, at) else {
            return;
        };
        match at.node.r#type.as_str() {
            types::FORK => frame.join(&record.step, if failed { Kept::Nothing } else { Kept::All }),
            types::FIRST => frame.join(
                &record.step,
                if failed { Kept::Nothing } else { Kept::First },
            ),
            _ => {}
        }
        if let Some(branch) = branch.as_ref().filter(|_| at.is_last_of_branch()) {
            frame.done(branch);
        }
        let routed = branch.is_none();
        let names = at.node.outputs.properties.keys();
        let mut adds: HashMap<&str, &str> = names
            .filter(|name| !failed && at.node.outputs.adds(name))
            .map(|name| (key_of_output(at.node, name), name.as_str()))
            .collect();
        let told = |(key, value): &(String, _)| {
            KeyAccess::written(key, value, adds.contains_key(key.as_str()))
        };
        let told: Option<Vec<_>> = tells.then(|| written.iter().map(told).collect());
        for (key, value) in written {
            match adds.remove(key.as_str()) {
                Some(name) => {
                    let added = Added::new(at.flow, at.node, name, value);
                    frame.add(branch.as_ref(), added);
                }
                None => frame.write(branch.as_ref(), key, value),
            }
        }
        if routed {
            frame.take(at.flow, &at.node.id, action);
        }
        self.state.written = told;
    }

    /// The values that a node writes, by the key of the flow.
    fn written(
        &mut self,
        record: &Record,
        action: &str,
        at: NodeIn<'a>,
        outcome: Option<Value>,
        ended: Option<Known>,
    ) -> Vec<(String, Option<Value>)> {
        let node = at.node;
        let key = |name: &str| key_of_output(node, name).to_owned();
        if node.is_flow() {
            let ended = ended.unwrap_or_default();
            // A value that an end may write was not written if it is not among the outputs.
            let is_known = node.internal_flow.is_some();
            let names = written(node, action);
            let values = names.map(|name| (key(name), ended.get(name).cloned()));
            let values = values.filter(|(_, value)| value.is_some() || !is_known);
            return values.map(|(key, value)| (key, value.flatten())).collect();
        }
        match node.r#type.as_str() {
            // The branches have written its values.
            types::FORK | types::FIRST => Vec::new(),
            types::EACH => {
                let length = self.list(&record.path, &record.step, at).map(Vec::len);
                let results = self.results(record, node, length);
                let names = written(node, action);
                names.map(|name| (key(name), results.clone())).collect()
            }
            _ => {
                let names = written(node, action);
                let values = match outcome {
                    Some(outcome) => outcome::values(node, action, &outcome),
                    None => vec![None; names.count()],
                };
                written(node, action).map(key).zip(values).collect()
            }
        }
    }

    /// The results of a loop, if all of them are known.
    fn results(
        &mut self,
        each: &Record,
        node: &NodeDocument,
        length: Option<usize>,
    ) -> Option<Value> {
        let mut results = self.state.items.take(&each.step);
        if node.settings.collect_errors {
            for (index, error) in self.state.errors.take_items(&each.step) {
                results
                    .entry(index)
                    .or_insert_with(|| Some(json!({ "Err": error? })));
            }
        }
        let length = length.unwrap_or(results.len());
        let first = self.first_item(&each.path);
        let indices = first..first + length;
        indices.map(|index| results.remove(&index)?).collect()
    }

    /// The index of the first item of the list over which the loop at a path runs. It is 0, except
    /// in an execution that is a part of a loop.
    fn first_item(&self, path: &str) -> usize {
        let flow = NodePath::new(path).parent();
        if flow.is_some_and(|flow| flow.as_str() == self.root.namespace) {
            self.state.first_item
        } else {
            0
        }
    }

    /// Forgets the flows at or inside a step.
    fn forget(&mut self, step: &str) {
        self.state.frames.remove(step);
        self.forget_inside(step);
    }

    /// Forgets the flows inside a step.
    fn forget_inside(&mut self, step: &str) {
        let over = StepKey::new(step).within(&self.state.frames);
        let over = over.map(|(other, _)| other.to_owned());
        let over: Vec<String> = over.filter(|other| other != step).collect();
        for step in over {
            self.state.frames.remove(&step);
        }
    }

    /// The list over which a loop runs, if it is one and is known.
    fn list(&mut self, path: &str, step: &str, at: NodeIn<'a>) -> Option<&Vec<Value>> {
        let each = at.each.unwrap_or(at.node);
        let over = each.params.get("over")?.as_str()?;
        let (_, branch) = flow_of(step, at);
        let frame = self.frame_of(path, step, at)?;
        let list = frame.get(branch.as_ref(), key_of_input(each, over))?;
        list.as_ref()?.as_array()
    }

    /// The flow that contains a node.
    fn frame_of(&mut self, path: &str, step: &str, at: NodeIn<'a>) -> Option<&mut Frame> {
        let flow = NodePath::new(path).parent()?;
        let (step, _) = flow_of(step, at);
        self.frame(flow.as_str(), step)
    }

    /// The flow with this path and step, which begins if it has not begun: an attempt after the
    /// first has no record of its own.
    fn frame(&mut self, path: &str, step: &str) -> Option<&mut Frame> {
        if !self.state.frames.contains_key(step) {
            let at = self.layout.at(path)?;
            let flow = at.node.internal_flow.as_deref()?;
            let node = StepKey::new(step).without_retry().as_str();
            let values = self.inputs(path, node, at, flow);
            let mut frame = Frame::new(path.to_owned(), values);
            frame.enter(flow);
            self.forget(node);
            self.state.frames.insert(step.to_owned(), frame);
        }
        self.state.frames.get_mut(step)
    }

    /// The values with which an inner flow begins.
    fn inputs(&mut self, path: &str, step: &str, at: NodeIn<'a>, flow: &FlowDocument) -> Known {
        let item = self.item(path, step, at);
        let (_, branch) = flow_of(step, at);
        let frame = self.frame_of(path, step, at);
        let value = |name: &str| {
            let key = key_of_input(at.node, name);
            match (&item, &frame) {
                (Some((own, value)), _) if *own == key => Some(value.clone()),
                (_, Some(frame)) => frame.get(branch.as_ref(), key).cloned(),
                (_, None) => Some(None),
            }
        };
        let default = |name: &str| match flow.inputs.default_of(name) {
            Some(default) => Some(Some(default.clone())),
            None => flow.inputs.omits_default_of(name).then_some(None),
        };
        let names = flow.inputs.properties.keys();
        let inputs = names.filter_map(|name| {
            let value = value(name).or_else(|| default(name))?;
            Some((name.clone(), value))
        });
        inputs.collect()
    }

    /// The item for which the body of a loop runs: its key and, if it is known, its value.
    fn item(&mut self, path: &str, step: &str, at: NodeIn<'a>) -> Option<(&'a str, Option<Value>)> {
        let key = at.each?.params.get("item")?.as_str()?;
        let index = usize::try_from(NodePath::new(path).item()?).ok()?;
        let index = index.checked_sub(self.first_item(path))?;
        let list = self.list(path, step, at);
        Some((key, list.and_then(|list| list.get(index)).cloned()))
    }
}

/// The step of the flow that contains a node, and the branch in which the node is.
fn flow_of<'s>(step: &'s str, at: NodeIn<'_>) -> (&'s str, Option<Branch>) {
    let around = |step: StepKey<'s>| step.parent().unwrap_or(step);
    let parent = around(StepKey::new(step));
    let Some((_, branch)) = at.fork else {
        return (parent.as_str(), None);
    };
    let branch = Branch {
        fork: parent.to_string(),
        number: branch,
    };
    (around(parent).as_str(), Some(branch))
}
