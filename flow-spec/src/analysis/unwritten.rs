//! The help for a read of a key that nothing writes.

use std::collections::BTreeSet;

use super::keys::Key;
use super::model::Model;
use super::points::point_of;
use super::suggestions::Suggestions;
use super::words;
use crate::graph::{DEFAULT_ACTION, Node, NodeId, NodeKind, NodeRead, NodeWrite};
use crate::names::snake_case;
use crate::suggest::{closest, question_of_name};

/// The help for a read of a key that nothing writes.
pub(super) fn help(
    model: &Model<'_>,
    suggestions: &Suggestions<'_>,
    key: &Key<'_>,
    (id, read): (NodeId, &NodeRead),
) -> String {
    let graph = model.graph;
    let node = graph.node(id);
    if read.rust_type.rsplit("::").next() == Some("NodeError") && !read.mapped {
        return "the error of a node has the key `error`: rename the parameter".to_owned();
    }
    let question = |near: &str| question_of_name(key.name, near);
    match (suggestions.of(key.name), key.loop_only) {
        (_, Some(within)) => format!(
            "`{}` exists only inside `{}`, for one item at a time",
            key.name,
            words::name(graph, within)
        ),
        (Some(near), _) if read.mapped || reads_by_name_only(node) => question(near),
        (Some(near), _) if node.kind == NodeKind::Human => format!(
            "{} Write `{{{near}}}` in the prompt, or map it: \
             `node name: human … {{ {key} <- {near} }};`",
            question(near),
            key = key.name
        ),
        (Some(near), _) if let NodeKind::Flow(flow) = &node.kind => format!(
            "{} Map it: `node {name}: {flow} {{ {key} <- {near} }};`",
            question(near),
            name = snake_case(node.name.rsplit("::").next().unwrap_or_default()),
            key = key.name
        ),
        // It is not mistyped, so the other remedies apply.
        (Some(near), _) if closest(key.name, [near]).is_none() && !is_of_a_loop(model, near) => {
            let name = node.name.rsplit("::").next().unwrap_or_default();
            let map = format!("`node {name}: … {{ {key} <- {near} }};`", key = key.name);
            let supply = words::supply(graph, id, read);
            if is_only_named_as_its_node(model, near) {
                format!(
                    "`{near}` writes what it returns as `{near}`: say `#[node(writes = {key})]` there, rename the parameter, or \
                     map it: {map}",
                    key = key.name
                )
            } else {
                format!(
                    "did you mean `{near}`? Rename the parameter, or map it: {map}; otherwise {supply}"
                )
            }
        }
        (Some(near), _) => format!(
            "{} Rename the parameter, or map it: `node {name}: … {{ {key} <- {near} }};`",
            question(near),
            name = node.name.rsplit("::").next().unwrap_or_default(),
            key = key.name
        ),
        (None, None) => {
            let mut help = words::supply(graph, id, read);
            let reader = point_of(model.shape.outermost(id));
            let leads_here = model.points.predecessors.reach([reader]);
            let before = graph
                .node_ids()
                .filter(|&other| other != id && leads_here[point_of(model.shape.outermost(other))]);
            let before: Vec<&Node> = before
                .map(|other| graph.node(other))
                .filter(|node| {
                    let kind = &node.kind;
                    matches!(kind, NodeKind::Human | NodeKind::Signal | NodeKind::Flow(_))
                })
                .collect();
            let submitted = before.iter().find_map(|node| {
                let written = node.action(DEFAULT_ACTION)?.writes.first()?;
                let is_whole = match node.kind {
                    NodeKind::Human => !written.rust_type.is_empty(),
                    NodeKind::Signal => is_the_whole_signal(node, &written.rust_type),
                    _ => false,
                };
                is_whole.then_some(written)
            });
            if let Some(NodeWrite { key, rust_type, .. }) = submitted {
                help.push_str(&format!(
                    "; a field of `{rust_type}` is read from the whole, `{key}: &{rust_type}`"
                ));
            }
            let flows = before.iter().filter_map(|node| match &node.kind {
                NodeKind::Flow(flow) => Some(flow.as_str()),
                _ => None,
            });
            let flows: BTreeSet<&str> = flows.collect();
            if let Some(flow) = flows.first().filter(|_| flows.len() == 1) {
                help.push_str(&format!("; if `{flow}` has it, make it an output there"));
            } else if !flows.is_empty() {
                help.push_str("; if an inner flow has it, make it an output there");
            }
            help
        }
    }
}

/// Returns `true` if a node writes the signal for which it waits, and not its fields. This shows
/// only in a node with the name of its type.
fn is_the_whole_signal(node: &Node, rust_type: &str) -> bool {
    let name = node.name.rsplit("::").next().unwrap_or_default();
    !rust_type.is_empty() && snake_case(rust_type) == snake_case(name)
}

/// Returns `true` if the results of a loop have this key.
fn is_of_a_loop(model: &Model<'_>, key: &str) -> bool {
    let mut nodes = model.graph.nodes.iter();
    nodes.any(|node| {
        let results = node
            .action(DEFAULT_ACTION)
            .and_then(|done| done.writes.first());
        matches!(node.kind, NodeKind::Each { .. }) && results.is_some_and(|one| one.key == key)
    })
}

/// Returns `true` if nothing reads this key and a function of its name writes it: the function does
/// not declare the key that it writes.
fn is_only_named_as_its_node(model: &Model<'_>, key: &str) -> bool {
    let is_read = (model.keys.iter()).any(|one| one.name == key && (one.is_read() || one.output));
    let mut nodes = model.graph.nodes.iter();
    !is_read
        && nodes
            .any(|node| node.kind == NodeKind::Step && node.name.rsplit("::").next() == Some(key))
}

/// Returns `true` if the flow itself names the keys that the node reads, so that there is no
/// parameter to rename or to map.
fn reads_by_name_only(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Each { .. } | NodeKind::Branch)
}
