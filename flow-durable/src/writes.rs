//! Who wrote which value, by the journal and the structure of the flow: the flow itself is not
//! needed.
//!
//! A journal has the outcomes and actions of nodes, and the structure has what each action writes.

use std::collections::HashMap;

use flow_spec::document::{ActionDocument, types};
use flow_spec::{DEFAULT_ACTION, FlowDocument, NodeDocument};
use flow_store::{Record, RecordKind};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::Snapshot;
use crate::events::{split_item, structural};

/// A value of a flow that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyWrite {
    /// The path of the flow.
    pub flow: String,
    /// The key.
    pub key: String,
    /// The how many-th write of this key in this flow it is, from 1.
    pub version: u32,
    /// Who wrote it.
    pub writer: Writer,
    /// The number of the record with which it was written. What a branch of a fork writes can be
    /// read when all branches are done.
    pub seq: u64,
    /// When, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// The value, if the journal has it as such: an input, a value with which a copy begins, or the
    /// result of a node that writes it and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// Who wrote a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "by")]
#[non_exhaustive]
pub enum Writer {
    /// It is an input of the flow.
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
    /// Whoever copied the execution with other values: see
    /// [`Runtime::copy_with`](crate::Runtime::copy_with).
    Copy,
    /// Somebody before the first record that the store still has.
    Earlier,
}

/// The writes of these records, in order, in a flow of this structure.
pub(crate) fn writes(structure: &FlowDocument, records: &[Record]) -> Vec<KeyWrite> {
    let mut nodes = HashMap::new();
    add(structure, &structure.namespace, &mut nodes);
    let mut writes = Writes {
        nodes,
        outcomes: HashMap::new(),
        versions: HashMap::new(),
        found: Vec::new(),
    };
    for record in records {
        writes.add(structure, record);
    }
    writes.found
}

/// A node, and the flow that contains it.
#[derive(Clone, Copy)]
struct NodeIn<'a> {
    node: &'a NodeDocument,
    flow: &'a FlowDocument,
}

/// Adds the nodes of a flow by path. The body of a loop over items is at `…[]`.
fn add<'a>(flow: &'a FlowDocument, path: &str, nodes: &mut HashMap<String, NodeIn<'a>>) {
    for node in &flow.nodes {
        let path = format!("{path}.{}", node.id);
        let body = node.body().and_then(|id| flow.node(id));
        for (node, path) in body
            .map(|body| (body, format!("{path}[]")))
            .into_iter()
            .chain([(node, path.clone())])
        {
            if let Some(inner) = &node.internal_flow {
                add(inner, &path, nodes);
            }
            nodes.insert(path, NodeIn { node, flow });
        }
    }
}

struct Writes<'a> {
    nodes: HashMap<String, NodeIn<'a>>,
    /// The last outcome of each step.
    outcomes: HashMap<&'a str, &'a str>,
    /// How often each key was written, by the path of the flow and the key.
    versions: HashMap<(String, String), u32>,
    found: Vec<KeyWrite>,
}

impl<'a> Writes<'a> {
    fn add(&mut self, structure: &FlowDocument, record: &'a Record) {
        match record.kind {
            RecordKind::RunStarted => {
                self.add_all(
                    record,
                    &record.path,
                    object(&record.payload),
                    &Writer::Input,
                );
                self.enter(record, structure, &record.path);
            }
            RecordKind::RunCopied => {
                let copied = object(&record.payload).remove("values");
                let Some(Value::Object(values)) = copied else {
                    return;
                };
                self.add_all(record, &record.path, values, &Writer::Copy);
            }
            // The records before it are pruned.
            RecordKind::Snapshot if record.seq == 0 || self.found.is_empty() => {
                if let Ok(snapshot) = serde_json::from_str::<Snapshot>(&record.payload) {
                    self.add_all(record, &record.path, snapshot.state, &Writer::Earlier);
                }
            }
            RecordKind::Outcome => {
                self.outcomes.insert(&record.step, &record.payload);
            }
            RecordKind::NodeStarted => {
                let inner = self.nodes.get(&structural(&record.path));
                if let Some(inner) = inner.and_then(|it| it.node.internal_flow.as_deref()) {
                    for key in &inner.inputs.required {
                        self.write(record, &record.path, key, Writer::Input, None);
                    }
                    self.enter(record, inner, &record.path);
                }
            }
            RecordKind::NodeFinished => self.finished(record),
            _ => {}
        }
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

    /// The values that the way into a flow writes under other names.
    fn enter(&mut self, record: &Record, flow: &FlowDocument, path: &str) {
        self.edge(record, path, path, &flow.entry_mappings);
    }

    fn finished(&mut self, record: &Record) {
        let Some((flow_path, name)) = record.path.rsplit_once('.') else {
            return;
        };
        // The body of a loop writes nothing: the loop does.
        if split_item(name).1.is_some() {
            return;
        }
        let Some(&NodeIn { node, flow }) = self.nodes.get(&structural(&record.path)) else {
            return;
        };
        // What a fork writes, its branches have written.
        if node.r#type != types::FORK {
            let value = self.outcomes.remove(record.step.as_str());
            let value = value.filter(|_| has_one_value(node));
            let value = value.and_then(|value| serde_json::from_str(value).ok());
            for key in written(node, &record.payload) {
                let writer = Writer::Node {
                    path: record.path.clone(),
                    step: record.step.clone(),
                    visit: record.visit,
                };
                self.write(record, flow_path, &key, writer, value.clone());
            }
        }
        let is_taken = |from: &str, condition: &str| from == node.id && condition == record.payload;
        for edge in flow
            .edges
            .iter()
            .filter(|edge| is_taken(&edge.from, &edge.condition))
        {
            self.edge(record, flow_path, &record.path, &edge.mappings);
        }
    }

    /// The values that an edge writes under other names.
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
        let version = self
            .versions
            .entry((flow.to_owned(), key.to_owned()))
            .or_default();
        *version += 1;
        self.found.push(KeyWrite {
            flow: flow.to_owned(),
            key: key.to_owned(),
            version: *version,
            writer,
            seq: record.seq,
            at_ms: record.at_ms,
            value,
        });
    }
}

/// The keys of the flow that a node writes on an action.
fn written(node: &NodeDocument, action: &str) -> Vec<String> {
    let actions = node.actions.iter().flatten();
    let taken = actions.filter(|it| it.name == action);
    let names = taken.flat_map(|it| it.writes.iter().chain(&it.may_write));
    let key = |name: &String| match node.mappings.outputs.get(name) {
        Some(Value::String(key)) => key.clone(),
        _ => name.clone(),
    };
    names.map(key).collect()
}

/// Whether the outcome of a node is the only value that it writes.
fn has_one_value(node: &NodeDocument) -> bool {
    let mut actions = node.actions.iter().flatten();
    let is_plain = |it: &&ActionDocument| it.name != "error" && it.name != "timeout";
    let actions: Vec<_> = actions.by_ref().filter(is_plain).collect();
    match &actions[..] {
        [only] => {
            only.name == DEFAULT_ACTION && only.writes.len() == 1 && only.may_write.is_empty()
        }
        _ => false,
    }
}

fn object(payload: &str) -> Map<String, Value> {
    serde_json::from_str(payload).unwrap_or_default()
}
