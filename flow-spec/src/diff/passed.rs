//! The nodes after a change whose recorded outcomes a replay would no longer reach.

use std::collections::HashSet;

use crate::document::{FlowDocument, NodeDocument, types};

use super::context::Context;

/// A successor of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Next<'a> {
    Node(&'a str),
    /// The end of the flow, after which the flow around it continues.
    End,
}

/// The paths of the first nodes from this one on that leave an outcome in the journal.
pub(super) fn from(flow: &FlowDocument, id: &str, context: &Context) -> Vec<String> {
    first(flow, vec![Next::Node(id)], context)
}

/// The paths of the first such nodes after a node.
pub(super) fn behind(flow: &FlowDocument, id: &str, context: &Context) -> Vec<String> {
    first(flow, following(flow, id), context)
}

/// The paths of the first such nodes after the end of the flow.
pub(super) fn behind_end(context: &Context) -> Vec<String> {
    context.behind.clone()
}

fn first<'a>(flow: &'a FlowDocument, mut next: Vec<Next<'a>>, context: &Context) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    while let Some(place) = next.pop() {
        if !seen.insert(place) {
            continue;
        }
        let Next::Node(id) = place else {
            found.extend(context.behind.iter().cloned());
            continue;
        };
        let Some(node) = flow.nodes.iter().find(|node| node.id == id) else {
            continue;
        };
        if [types::FORK, types::FIRST].contains(&node.r#type.as_str()) {
            let heads = node
                .branches()
                .into_iter()
                .filter_map(|branch| branch.first().copied());
            next.extend(heads.map(Next::Node));
            // A branch may have no node that leaves an outcome.
            next.extend(following(flow, id));
        } else if has_outcome(node) {
            found.push(context.node(id));
        } else {
            next.extend(following(flow, id));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The successors of a node: the next one in its branch of a fork or a race, the next item of its loop, or
/// the targets of its edges.
fn following<'a>(flow: &'a FlowDocument, id: &str) -> Vec<Next<'a>> {
    for node in &flow.nodes {
        if node.r#type == types::EACH && body(node) == Some(id) {
            let next_item = body(node).map(Next::Node);
            return following(flow, &node.id)
                .into_iter()
                .chain(next_item)
                .collect();
        }
        for branch in node.branches() {
            if let Some(at) = branch.iter().position(|one| *one == id) {
                return match branch.get(at + 1) {
                    Some(next) => vec![Next::Node(next)],
                    None => following(flow, &node.id),
                };
            }
        }
    }
    let edges = flow.edges.iter().filter(|edge| edge.from == id);
    let ends = flow.ends.iter();
    let ends = ends.filter(|end| end.from.as_deref() == Some(id));
    let edges = edges.map(|edge| Next::Node(&edge.to));
    edges.chain(ends.map(|_| Next::End)).collect()
}

fn body(node: &NodeDocument) -> Option<&str> {
    node.params.get("body")?.as_str()
}

/// Returns `true` if a visit to a node leaves something in the journal that a replay has to reach.
/// A branch only decides, and decides again.
fn has_outcome(node: &NodeDocument) -> bool {
    match &node.internal_flow {
        Some(flow) => flow.nodes.iter().any(has_outcome),
        None => node.r#type != types::BRANCH,
    }
}
