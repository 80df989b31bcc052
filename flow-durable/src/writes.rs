//! The writes to the values of an execution, from the journal and the structure of the flow. The
//! flow itself is not needed.
//!
//! A journal has the outcomes and actions of nodes; the structure says what each action writes.

use std::collections::HashMap;

use flow_runtime::engine::{NodePath, StepKey};
use flow_spec::document::types;
use flow_spec::{ERROR_ACTION, FlowDocument, NodeDocument};
use flow_store::{ExecutionId, Record};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::entry::{Answered, Entry, Json, Received};
use crate::error::RuntimeError;
use crate::values::layout::{Layout, NodeIn, key_of_output, written};
use crate::values::outcome;

/// A value of a flow that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyWrite {
    /// The path of the flow.
    pub flow: String,
    /// The key.
    pub key: String,
    /// The number of this write among those of the key in this flow, from 1.
    pub version: u32,
    /// The writer of the value.
    pub writer: Writer,
    /// The number of the record with which it was written. A value that a branch of a fork writes
    /// can be read when all branches are done.
    pub seq: u64,
    /// The time of the write, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// True if the value was added to the key's value before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
    /// The value, if the journal shows it: an input, a value with which a copy begins, or one that
    /// a node has returned. A field of an action is not shown if serde gives it another name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// The writer of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "by")]
#[non_exhaustive]
pub enum Writer {
    /// An input of the flow.
    Input,
    /// A node.
    Node {
        /// Its path.
        path: String,
        /// The step: see [`Record::step`].
        step: String,
        /// The number of the visit to it, from 1.
        visit: u32,
    },
    /// An edge, which gives a key the value of another one.
    Edge {
        /// The path of the node from which it leads.
        path: String,
        /// The key whose value it is.
        from: String,
    },
    /// A copy of the execution with other values: see
    /// [`Executions::copy_with`](crate::Executions::copy_with).
    Copy,
    /// A writer before the first record that the store still has.
    Earlier,
}

/// The writes of these records of an execution, in order, in a flow of this structure.
///
/// # Errors
///
/// [`RuntimeError::DamagedRecord`].
pub(crate) fn writes(
    execution: ExecutionId,
    structure: &FlowDocument,
    records: &[Record],
) -> Result<Vec<KeyWrite>, RuntimeError> {
    let mut writes = Writes {
        layout: Layout::new(structure),
        outcomes: HashMap::new(),
        won: HashMap::new(),
        found: Vec::new(),
    };
    for record in records {
        writes.add(structure, record, Entry::read(execution, record))?;
    }
    let mut found = writes.found;
    // The number of writes to each key, by the path of the flow and the key.
    let mut versions: HashMap<(String, String), u32> = HashMap::new();
    for write in &mut found {
        let version = versions.entry((write.flow.clone(), write.key.clone()));
        let version = version.or_default();
        *version += 1;
        write.version = *version;
    }
    Ok(found)
}

/// The record with what a step has, which is decoded when it is needed.
enum Came<'a> {
    Outcome(Json<'a, Value>),
    Answer(Json<'a, Answered>),
    Signal(Json<'a, Received>),
}

impl Came<'_> {
    fn read(self) -> Result<Value, RuntimeError> {
        Ok(match self {
            Came::Outcome(outcome) => outcome.read()?,
            Came::Answer(answered) => answered.read()?.answer.unwrap_or_default(),
            Came::Signal(received) => received.read()?.body.unwrap_or_default(),
        })
    }
}

struct Writes<'a> {
    layout: Layout<'a>,
    /// The last outcome of each step.
    outcomes: HashMap<&'a str, Came<'a>>,
    /// The last branch to be done of each running fork or race, by its step.
    won: HashMap<String, usize>,
    found: Vec<KeyWrite>,
}

impl<'a> Writes<'a> {
    fn add(
        &mut self,
        structure: &FlowDocument,
        record: &'a Record,
        entry: Entry<'a>,
    ) -> Result<(), RuntimeError> {
        let flow = &record.path;
        match entry {
            Entry::RunStarted(input) => {
                self.add_all(record, flow, input.read()?, &Writer::Input);
                self.enter(record, structure, flow);
            }
            Entry::RunCopied(copied) => {
                let values = copied.read()?.values.unwrap_or_default();
                self.add_all(record, flow, values, &Writer::Copy);
            }
            // The records before it are pruned.
            Entry::Snapshot(snapshot) if record.seq == 0 || self.found.is_empty() => {
                self.add_all(record, flow, snapshot.read()?.state, &Writer::Earlier);
            }
            Entry::Outcome(outcome) => {
                self.outcomes.insert(&record.step, Came::Outcome(outcome));
            }
            Entry::Resumed(answered) => {
                self.outcomes.insert(&record.step, Came::Answer(answered));
            }
            Entry::Received(received) => {
                self.outcomes.insert(&record.step, Came::Signal(received));
            }
            Entry::NodeStarted => {
                let inner = self.layout.at(flow);
                if let Some(inner) = inner.and_then(|it| it.node.internal_flow.as_deref()) {
                    for key in &inner.inputs.required {
                        self.write(record, flow, key, Writer::Input, None);
                    }
                    self.enter(record, inner, flow);
                }
            }
            Entry::NodeFinished(action) => self.finished(record, action)?,
            _ => {}
        }
        Ok(())
    }

    fn add_all(
        &mut self,
        record: &Record,
        flow: &str,
        values: Map<String, Value>,
        writer: &Writer,
    ) {
        for (key, value) in values {
            self.write(record, flow, &key, writer.clone(), Some(value));
        }
    }

    /// Adds the values that the way into a flow writes under other names.
    fn enter(&mut self, record: &Record, flow: &FlowDocument, path: &str) {
        self.edge(record, path, path, &flow.entry_mappings);
    }

    fn finished(&mut self, record: &Record, action: &str) -> Result<(), RuntimeError> {
        let path = NodePath::new(&record.path);
        let Some(flow_path) = path.parent().map(NodePath::as_str) else {
            return Ok(());
        };
        // The body of a loop writes nothing: the loop does.
        if path.item().is_some() {
            return Ok(());
        }
        let Some(at) = self.layout.at(&record.path) else {
            return Ok(());
        };
        let NodeIn { node, flow, .. } = at;
        if [types::FORK, types::FIRST].contains(&node.r#type.as_str()) {
            self.discard(record, action, node);
        } else {
            let outcome = self.outcomes.remove(record.step.as_str());
            let outcome = outcome.map(Came::read).transpose()?;
            let values = outcome.map(|outcome| outcome::values(node, action, &outcome));
            let mut values = values.unwrap_or_default().into_iter();
            for name in written(node, action) {
                let writer = Writer::Node {
                    path: record.path.clone(),
                    step: record.step.clone(),
                    visit: record.visit,
                };
                let key = key_of_output(node, name);
                self.write(record, flow_path, key, writer, values.next().flatten());
                if let Some(write) = self.found.last_mut() {
                    write.added = node.outputs.adds(name);
                }
            }
        }
        let is_taken = |from: &str, condition: &str| from == node.id && condition == action;
        if let Some((_, branch)) = at.fork.filter(|_| at.is_last_of_branch())
            && let Some(fork) = StepKey::new(&record.step).parent()
        {
            self.won.insert(fork.to_string(), branch);
        }
        for edge in flow
            .edges
            .iter()
            .filter(|edge| is_taken(&edge.from, &edge.condition))
        {
            self.edge(record, flow_path, &record.path, &edge.mappings);
        }
        Ok(())
    }

    /// Removes the writes of the branches of which nothing is kept: all if the fork or race has
    /// failed, and those of a race that were not the first to be done.
    fn discard(&mut self, record: &Record, action: &str, node: &NodeDocument) {
        let won = self.won.remove(&record.step);
        let is_race = node.r#type == types::FIRST;
        if action != ERROR_ACTION && !is_race {
            return;
        }
        let kept = won.filter(|_| action != ERROR_ACTION);
        let layout = &self.layout;
        self.found.retain(|write| {
            let Writer::Node { path, step, .. } = &write.writer else {
                return true;
            };
            let is_inside = StepKey::new(step).parent().map(StepKey::as_str) == Some(&record.step);
            let branch = || {
                layout
                    .at(path)
                    .and_then(|at| at.fork)
                    .map(|(_, branch)| branch)
            };
            !is_inside || (kept.is_some() && branch() == kept)
        });
    }

    /// Adds the values that an edge writes under other names.
    fn edge(&mut self, record: &Record, flow: &str, from: &str, mappings: &Map<String, Value>) {
        for (key, new) in mappings {
            let Some(new) = new.as_str() else { continue };
            let writer = Writer::Edge {
                path: from.to_owned(),
                from: key.clone(),
            };
            self.write(record, flow, new, writer, None);
        }
    }

    fn write(
        &mut self,
        record: &Record,
        flow: &str,
        key: &str,
        writer: Writer,
        value: Option<Value>,
    ) {
        self.found.push(KeyWrite {
            flow: flow.to_owned(),
            key: key.to_owned(),
            version: 0,
            writer,
            seq: record.seq,
            at_ms: record.at_ms,
            added: false,
            value,
        });
    }
}
