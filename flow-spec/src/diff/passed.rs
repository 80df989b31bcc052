//! The nodes behind a change, whose recorded outcomes a replay would no longer come to.

use std::collections::HashSet;

use crate::document::{FlowDocument, NodeDocument, types};

use super::context::Context;

/// The paths of the first nodes from this one on that leave an outcome in the journal.
pub(super) fn from(flow: &FlowDocument, id: &str, context: &Context) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut next = vec![id];
    while let Some(id) = next.pop() {
        let node = flow.nodes.iter().find(|node| node.id == id);
        let Some(node) = node.filter(|node| seen.insert(node.id.as_str())) else {
            continue;
        };
        if has_outcome(node) {
            found.push(context.node(id));
        } else {
            next.extend(targets(flow, id));
        }
    }
    found.sort_unstable();
    found
}

/// The same, behind a node.
pub(super) fn behind(flow: &FlowDocument, id: &str, context: &Context) -> Vec<String> {
    let targets = targets(flow, id).into_iter();
    let mut found: Vec<String> = targets.flat_map(|id| from(flow, id, context)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn targets<'a>(flow: &'a FlowDocument, id: &str) -> Vec<&'a str> {
    let edges = flow.edges.iter().filter(|edge| edge.from == id);
    edges.map(|edge| edge.to.as_str()).collect()
}

/// Returns true if a visit to a node leaves something in the journal that a replay has to come to. A
/// branch only decides, and decides again.
fn has_outcome(node: &NodeDocument) -> bool {
    match &node.internal_flow {
        Some(flow) => flow.nodes.iter().any(has_outcome),
        None => node.r#type != types::BRANCH,
    }
}
