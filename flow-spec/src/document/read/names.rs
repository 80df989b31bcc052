//! Checks that the names in a flow exist: nodes, the entry, the reads and writes of a node.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::diagnostic::Code;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::{EdgeDocument, FlowDocument, NodeDocument, Schema, types};
use crate::names::is_node_name;
use crate::suggest::did_you_mean;

/// Reports every unknown name in the flow, without its inner flows.
pub(super) fn check(flow: &FlowDocument, pointer: &str, problems: &mut Problems) {
    let nodes = inside(pointer, "nodes");
    check_ids(flow, &nodes, problems);
    if flow.nodes.is_empty() && !ends_at_start(flow) {
        let help = "add the node that runs first, or an entry without `from` to `ends` if the flow does nothing";
        let problem = Problem::new(Code::Start, nodes, "the flow has no nodes").help(help);
        problems.push(problem);
    }
    // A node whose id could not be read may be the intended one.
    let ids: HashSet<&str> = flow.nodes.iter().map(|node| node.id.as_str()).collect();
    if !ids.contains("") {
        let references = references(flow, pointer).into_iter();
        // A flow without nodes has no start, which is reported.
        let is_entry = |place: &str| place.ends_with("/entryNodeId");
        let references =
            references.filter(|(_, place)| !(flow.nodes.is_empty() && is_entry(place)));
        for (id, pointer) in references {
            if problems.is_full() {
                return;
            }
            if !id.is_empty() && !ids.contains(id) {
                problems.push(no_node(flow, id, pointer));
            }
        }
    }
    check_entry(flow, pointer, problems);
}

fn ends_at_start(flow: &FlowDocument) -> bool {
    flow.ends.iter().any(|end| end.from.is_none())
}

/// Names the entry of a flow of BackpackFlow, which has no ends and need not name it. The flow
/// begins with the only node to which no other one leads.
pub(super) fn find_entry(flow: &mut FlowDocument) {
    if needs_entry(flow)
        && flow.ends.is_empty()
        && is_clear(flow)
        && let [entry] = beginnings(flow)[..]
    {
        flow.entry_node_id = Some(entry.to_owned());
    }
}

fn needs_entry(flow: &FlowDocument) -> bool {
    flow.entry_node_id.is_none() && !ends_at_start(flow) && flow.nodes.len() > 1
}

/// The nodes with which the flow could begin: no edge of another node leads to them, and they are
/// not in a fork or loop, and take back no other node.
fn beginnings(flow: &FlowDocument) -> Vec<&str> {
    let mut found = Vec::new();
    for node in &flow.nodes {
        parts(node, "", &mut found);
    }
    let inside = found.iter().map(|(id, _)| *id);
    let undo = flow.nodes.iter();
    let undo = undo.filter_map(|node| node.settings.undo.as_deref());
    // A node that repeats itself can still be the first one.
    let others = flow.edges.iter().filter(|edge| edge.from != edge.to);
    let targets = others.map(|edge| edge.to.as_str());
    let reached: HashSet<&str> = inside.chain(undo).chain(targets).collect();
    let ids = flow.nodes.iter().map(|node| node.id.as_str());
    ids.filter(|id| !reached.contains(id)).collect()
}

/// Returns `true` if each node has its own id, and each edge leads to one of them. Otherwise, a
/// node may seem to have no incoming edge only because an id is misspelt.
fn is_clear(flow: &FlowDocument) -> bool {
    let ids = flow.nodes.iter().map(|node| node.id.as_str());
    let ids: HashSet<&str> = ids.filter(|id| !id.is_empty()).collect();
    let leads_somewhere = |edge: &EdgeDocument| ids.contains(edge.to.as_str());
    ids.len() == flow.nodes.len() && flow.edges.iter().all(leads_somewhere)
}

/// The largest number of nodes that a message lists.
const MOST_NAMES: usize = 5;

/// Checks the entry, which has to be named if there is more than one choice.
fn check_entry(flow: &FlowDocument, pointer: &str, problems: &mut Problems) {
    if !needs_entry(flow) {
        return;
    }
    let first = flow.nodes.iter().find(|node| !node.id.is_empty());
    let mut first = first.map_or("review", |node| &node.id);
    let mut message = "`entryNodeId` is missing".to_owned();
    if is_clear(flow) {
        let beginnings = beginnings(flow);
        let all = flow.nodes.iter().map(|node| node.id.as_str());
        let (what, nodes) = match beginnings.len() {
            0 => ("an edge leads to each node: ", all.collect()),
            1 => ("", beginnings),
            _ => ("no edge leads to several nodes: ", beginnings),
        };
        if !what.is_empty() {
            let mut names = nodes[..nodes.len().min(MOST_NAMES)].join("`, `");
            if nodes.len() > MOST_NAMES {
                names += "`, `…";
            }
            message += &format!(", and {what}`{names}`");
        }
        first = nodes[0];
    }
    let help = format!("name the node that runs first, such as `\"entryNodeId\": \"{first}\"`");
    problems.push(Problem::new(Code::Start, pointer, message).help(help));
}

fn check_ids(flow: &FlowDocument, pointer: &str, problems: &mut Problems) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (index, node) in flow.nodes.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        let id = node.id.as_str();
        let at = inside(&inside(pointer, index), "id");
        if id.is_empty() {
            continue;
        }
        if !is_node_name(id) {
            let message = format!("`{id}` cannot be the id of a node");
            let help = "begin with a letter or `_`, and go on with letters, digits, `_` and `-`";
            problems.push(Problem::new(Code::Malformed, at, message).help(help));
        } else if let Some(first) = first.get(id) {
            let message = format!("a second node has the id `{id}`");
            let mut problem = Problem::new(Code::Name, at, message).help("give it another id");
            let first = inside(&inside(pointer, first), "id");
            problem.related.push((first, "the first one".to_owned()));
            problems.push(problem);
        } else {
            first.insert(id, index);
        }
    }
}

/// Every id by which the flow refers to a node, with its place.
fn references<'a>(flow: &'a FlowDocument, pointer: &str) -> Vec<(&'a str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    if let Some(id) = &flow.entry_node_id {
        found.push((id, inside(pointer, "entryNodeId")));
    }
    for (index, node) in flow.nodes.iter().enumerate() {
        let pointer = inside(&inside(pointer, "nodes"), index);
        parts(node, &inside(&pointer, "params"), &mut found);
        if let Some(undo) = &node.settings.undo {
            found.push((undo, inside(&inside(&pointer, "settings"), "undo")));
        }
    }
    for (index, edge) in flow.edges.iter().enumerate() {
        let pointer = inside(&inside(pointer, "edges"), index);
        found.push((&edge.from, inside(&pointer, "from")));
        found.push((&edge.to, inside(&pointer, "to")));
    }
    for (index, end) in flow.ends.iter().enumerate() {
        let pointer = inside(&inside(pointer, "ends"), index);
        if let Some(from) = &end.from {
            found.push((from, inside(&pointer, "from")));
        }
    }
    found
}

/// The nodes in a fork or a loop.
fn parts<'a>(node: &'a NodeDocument, params: &str, found: &mut Vec<(&'a str, String)>) {
    if node.r#type == types::EACH
        && let Some(body) = node.params.get("body").and_then(Value::as_str)
    {
        found.push((body, inside(params, "body")));
    }
    let branches = match node.params.get("branches") {
        Some(Value::Array(branches)) => branches.as_slice(),
        _ => &[],
    };
    for (index, branch) in branches.iter().enumerate() {
        let pointer = inside(&inside(params, "branches"), index);
        let (ids, pointer) = match node.r#type.as_str() {
            types::FORK => (Some(branch), pointer),
            types::FIRST => (branch.get("steps"), inside(&pointer, "steps")),
            _ => return,
        };
        let ids = ids.and_then(Value::as_array).into_iter().flatten();
        let ids = ids.enumerate();
        let ids = ids.filter_map(|(index, id)| Some((id.as_str()?, inside(&pointer, index))));
        found.extend(ids);
    }
}

fn no_node(flow: &FlowDocument, id: &str, pointer: String) -> Problem {
    let message = format!("there is no node `{id}`");
    let ids = flow.nodes.iter().map(|node| node.id.as_str());
    let mut problem = Problem::new(Code::UnknownNode, pointer, message);
    problem.help = did_you_mean(id, ids);
    problem
}

/// Reports names in the mappings and actions of a node that the node does not have.
pub(super) fn check_node(node: &NodeDocument, pointer: &str, problems: &mut Problems) {
    // A document may omit a node's reads and writes: a program that loads it may know them.
    check_mappings(node, Ports::Listed, pointer, problems);
    for (index, action) in node.actions.iter().flatten().enumerate() {
        let pointer = inside(&inside(pointer, "actions"), index);
        for (field, names) in [("writes", &action.writes), ("mayWrite", &action.may_write)] {
            for (index, name) in names.iter().enumerate() {
                check_property(&node.outputs, name, problems, || {
                    let message = format!(
                        "`{}` writes `{name}` on \"{}\", and has no such output",
                        node.id, action.name
                    );
                    let pointer = inside(&inside(&pointer, field), index);
                    Problem::new(Code::NamesNothing, pointer, message)
                });
            }
        }
    }
}

/// States whether a node of a document lists its reads or its writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::document) enum Ports {
    Listed,
    NotListed,
}

/// Reports unknown names in the mappings of a node, for ports that are listed or not.
pub(in crate::document) fn check_mappings(
    node: &NodeDocument,
    of: Ports,
    pointer: &str,
    problems: &mut Problems,
) {
    let mappings = inside(pointer, "mappings");
    let sides = [
        ("inputs", &node.mappings.inputs, &node.inputs, "reads"),
        ("outputs", &node.mappings.outputs, &node.outputs, "writes"),
    ];
    for (side, names, schema, verb) in sides {
        let listed = if schema.properties.is_empty() {
            Ports::NotListed
        } else {
            Ports::Listed
        };
        for name in names.keys().filter(|_| listed == of) {
            check_property(schema, name, problems, || {
                let message = format!("`{}` {verb} no `{name}`", node.id);
                let pointer = inside(&inside(&mappings, side), name);
                Problem::new(Code::NamesNothing, pointer, message).of_name()
            });
        }
    }
}

fn check_property(
    schema: &Schema,
    name: &str,
    problems: &mut Problems,
    wrong: impl FnOnce() -> Problem,
) {
    if name.is_empty() || schema.properties.contains_key(name) || problems.is_full() {
        return;
    }
    let mut problem = wrong();
    let names = schema.properties.keys().map(String::as_str);
    problem.help = did_you_mean(name, names);
    problems.push(problem);
}
