//! The values that the nodes of a flow read and write, by the keys of the flow.

use std::collections::{HashMap, HashSet};

use flow_runtime::Policy;
use flow_spec::document::{DEFAULT, Property, Schema, property};
use flow_spec::{
    CheckedGraph, EdgeSource, FlowDocument, Graph, NodeDocument, NodeId, Take, node_path,
};

use serde_json::Value;

use crate::adapter::Adapter;
use crate::level::{Branch, Input, Kind, Level, Output, Results};
use crate::ports::{InBranch, KeyIndex, Mode, NodeIndex, Read, TakenBy, Write};
use crate::schema::limits;
use crate::value::ValueType;

use super::human::prompt;
use super::types::{Keys, key};
use super::uses::Uses;

/// The parts from which the nodes of one flow are built.
pub(super) struct Parts<'a> {
    pub(super) flow: &'a FlowDocument,
    pub(super) pointer: &'a str,
    /// The path under which its nodes run.
    pub(super) path: &'a str,
    pub(super) checked: &'a CheckedGraph,
    pub(super) keys: &'a Keys,
    pub(super) uses: &'a Uses<'a>,
    /// The edges that leave each node, by their positions in the graph.
    pub(super) edges: HashMap<NodeId, Vec<usize>>,
    /// The form of the results of the nodes that are loops over items, by position.
    pub(super) results: Vec<Results>,
}

/// The edges that leave each node, by their positions.
pub(super) fn edges_by_node(graph: &Graph) -> HashMap<NodeId, Vec<usize>> {
    let mut edges: HashMap<NodeId, Vec<usize>> = HashMap::new();
    for (index, edge) in graph.edges.iter().enumerate() {
        if let EdgeSource::Node(node) = edge.from {
            edges.entry(node).or_default().push(index);
        }
    }
    edges
}

impl Parts<'_> {
    pub(super) fn node_pointer(&self, index: usize) -> String {
        format!("{}/nodes/{index}", self.pointer)
    }

    pub(super) fn node_path(&self, node: &NodeDocument) -> String {
        node_path(self.path, &node.id)
    }

    pub(super) fn key(&self, name: &str) -> Option<KeyIndex> {
        self.keys.index(name).map(KeyIndex)
    }

    pub(super) fn id(&self, id: &str) -> Option<NodeIndex> {
        self.uses.position(id).map(NodeIndex)
    }
}

/// The reads of a node, in the order of its parameters.
pub(super) fn reads(
    parts: &Parts<'_>,
    index: usize,
    node: &NodeDocument,
    adapter: Option<&Adapter>,
    level: Option<&Level>,
    policy: &Policy,
) -> Vec<Read> {
    // A flow that is retried as a whole needs its inputs again.
    let repeats = level.is_some() && policy.retry.attempts.get() > 1;
    let names = node.inputs.properties.keys();
    let positions: HashMap<&str, usize> = names.map(String::as_str).zip(0..).collect();
    let read = |name: &str, mode: Mode| {
        let position = positions.get(name).copied();
        let key = key(&node.mappings.inputs, name);
        let take = position.map(|position| parts.checked.take(NodeId(index), position));
        let is_last = take.is_none_or(|take| take == Take::Move);
        Read {
            name: key.to_owned(),
            key: parts.key(key),
            ty: parts.keys.final_type(key),
            mode,
            moves: mode.takes() && is_last && !repeats,
        }
    };
    if let Some(Ok(prompt)) = prompt(node) {
        let keys = prompt.keys().iter();
        return keys.map(|key| read(key, Mode::Show)).collect();
    }
    match (adapter, level) {
        (Some(adapter), _) => adapter
            .reads
            .iter()
            .map(|port| read(port.name, port.mode))
            .collect(),
        (None, Some(level)) => {
            let inputs = level.inputs.iter();
            let mode = |optional| {
                if optional {
                    Mode::MaybeTake
                } else {
                    Mode::Take
                }
            };
            inputs
                .map(|input| read(&input.name, mode(input.optional)))
                .collect()
        }
        (None, None) => {
            let names = node.inputs.values();
            names.map(|(name, ..)| read(name, Mode::Borrow)).collect()
        }
    }
}

/// The keys that a node writes.
pub(super) fn writes(
    parts: &Parts<'_>,
    index: usize,
    node: &NodeDocument,
    adapter: Option<&Adapter>,
    level: Option<&Level>,
) -> Vec<Option<Write>> {
    let place = |name: &str| {
        let key = key(&node.mappings.outputs, name);
        Some(Write {
            key: parts.key(key)?,
            addition: parts.keys.addition(index, key),
        })
    };
    match (adapter, level) {
        (Some(adapter), _) => adapter
            .writes
            .iter()
            .map(|write| place(write.name))
            .collect(),
        (None, Some(level)) => level
            .outputs
            .iter()
            .map(|output| place(&output.name))
            .collect(),
        (None, None) => node
            .outputs
            .properties
            .keys()
            .map(|name| place(name))
            .collect(),
    }
}

pub(super) fn inputs(parts: &Parts<'_>) -> Vec<Input> {
    let input = |(name, _, required): (&str, Option<&str>, bool)| Input {
        name: name.to_owned(),
        key: parts.key(name),
        // Only the program from which the document comes knows such a default.
        optional: !required && !parts.flow.inputs.omits_default_of(name),
        default: parts.flow.inputs.default_of(name).cloned(),
        limits: Some(schema(&parts.flow.inputs, name)).filter(|schema| {
            limits(schema) && !is_said_by_type(schema, parts.keys.final_type(name))
        }),
    };
    parts.flow.inputs.values().map(input).collect()
}

/// The schema of a value, without its default.
fn schema(values: &Schema, name: &str) -> Property {
    let schema = values.properties.get(name).and_then(Value::as_object);
    let mut schema = schema.cloned().unwrap_or_default();
    schema.remove(DEFAULT);
    schema
}

/// Returns `true` if the type implies all of the schema, for example that a `u64` is not negative.
/// Then reading the value refuses everything that the schema would refuse.
fn is_said_by_type(schema: &Property, ty: Option<&ValueType>) -> bool {
    let named = schema.get("rustType").and_then(Value::as_str);
    let (Some(named), Some(ty)) = (named, ty) else {
        return false;
    };
    let mut without_text = schema.clone();
    without_text.remove("description");
    ty.short_name() == named && without_text == property(named, None)
}

pub(super) fn outputs(parts: &Parts<'_>) -> Vec<Output> {
    let output = |(name, rust_type, required): (&str, Option<&str>, bool)| {
        let ty = parts.keys.final_type(name);
        let returned = rust_type.map_or(0, flow_spec::options);
        Output {
            name: name.to_owned(),
            key: parts.key(name),
            flattens: !required && ty.is_some_and(|ty| ty.options() > returned),
            optional: !required,
            ty,
        }
    };
    parts.flow.outputs.values().map(output).collect()
}

/// Finds the values that each branch takes out of the state, and the keys that it writes
/// or adds to.
pub(super) fn add_takes(level: &mut Level) {
    let mut planned = Vec::new();
    for (index, node) in level.nodes.iter().enumerate() {
        for (number, branch) in node.kind.branches().iter().enumerate() {
            let (mut takes, mut written) = (Vec::new(), HashSet::new());
            for &at in &branch.chain {
                let node = level.node(at);
                for (read, port) in node.ports.reads.iter().enumerate() {
                    let early = port.key.is_some_and(|key| !written.contains(&key));
                    if port.mode.takes() && early {
                        takes.push(TakenBy { node: at, read });
                    }
                }
                let writes = node.ports.writes.iter().flatten();
                written.extend(writes.map(|write| write.key));
            }
            let replaced = replaced(level, branch);
            let additions = additions(level, branch, &replaced);
            planned.push((index, number, takes, replaced, additions));
        }
    }
    for (index, number, takes, replaced, additions) in planned {
        let branch = &mut level.nodes[index].kind.branches_mut()[number];
        branch.takes = takes;
        branch.keys = replaced.into_iter().collect();
        for (NodeIndex(node), write, in_branch) in additions {
            let write = &mut level.nodes[node].ports.writes[write];
            if let Some(addition) = write.as_mut().and_then(|write| write.addition.as_mut()) {
                addition.in_branch = in_branch;
            }
        }
    }
}

/// The keys whose values a branch replaces.
fn replaced(level: &Level, branch: &Branch) -> HashSet<KeyIndex> {
    let nodes = branch.chain.iter().map(|&at| level.node(at));
    let writes = nodes.flat_map(|node| node.ports.writes.iter().flatten());
    let replaced = writes.filter(|write| write.addition.is_none());
    replaced.map(|write| write.key).collect()
}

/// The additions of the nodes of a branch: each with its node and the number of the write.
fn additions(
    level: &Level,
    branch: &Branch,
    replaced: &HashSet<KeyIndex>,
) -> Vec<(NodeIndex, usize, InBranch)> {
    let mut additions = Vec::new();
    for (position, &at) in branch.chain.iter().enumerate() {
        for (number, write) in level.node(at).ports.writes.iter().enumerate() {
            let Some(Write {
                key,
                addition: Some(_),
            }) = write
            else {
                continue;
            };
            let mut later = branch.chain[position + 1..].iter();
            let mut kept = branch.chain[position..].iter();
            let in_branch = if replaced.contains(key) {
                InBranch::ToOwn
            } else if later.any(|&at| reads_key(level, at, *key))
                || kept.any(|&at| is_kept(level, at, *key))
            {
                InBranch::Seen
            } else {
                InBranch::AtJoin
            };
            additions.push((at, number, in_branch));
        }
    }
    additions
}

/// Returns `true` if the undo node of a node reads a key.
fn is_kept(level: &Level, at: NodeIndex, key: KeyIndex) -> bool {
    let undo = level.node(at).undo;
    undo.is_some_and(|undo| reads_key(level, undo, key))
}

/// Returns `true` if a node reads a key, or the body of a loop.
fn reads_key(level: &Level, at: NodeIndex, key: KeyIndex) -> bool {
    let node = level.node(at);
    let body = match &node.kind {
        Kind::Each { body, .. } => Some(level.node(*body)),
        _ => None,
    };
    let nodes = [node].into_iter().chain(body);
    let mut reads = nodes.flat_map(|node| &node.ports.reads);
    reads.any(|read| read.key == Some(key))
}
