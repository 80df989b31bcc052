//! The nodes of a flow. Runs are stored by the names of nodes.

use std::collections::HashMap;

use crate::document::{FlowDocument, NodeDocument};

use super::change::{Change, Effect, Kind, Part};
use super::context::Context;
use super::matching::{Match, Renamed, match_names};
use super::node;
use super::types::{self, Types};

/// Reports the changes of the nodes. Returns the renamed ones.
pub(super) fn compare<'a>(
    old: &'a FlowDocument,
    new: &'a FlowDocument,
    context: &Context,
    changes: &mut Vec<Change>,
) -> Renamed<'a> {
    let flow = old;
    let (before, after) = (by_id(old), by_id(new));
    let is_alike = |old: &str, new: &str| is_alike(before[old].1, after[new].1);
    let matches = match_names(&ids(old), &ids(new), is_alike);
    let pairs = matches.iter().filter_map(|found| match *found {
        Match::Renamed { old, new } => Some((old, new)),
        _ => None,
    });
    let renamed: Renamed<'_> = pairs.collect();
    for found in matches {
        match found {
            Match::Kept(id) => {
                node::compare(before[id], after[id], (flow, &renamed), context, changes)
            }
            Match::Renamed { old, new } => {
                let message = format!("node `{}` was renamed to `{new}`", context.node(old));
                let mut change =
                    context.node_change(Part::Node, Kind::Renamed, after[new], "/id", message);
                change.old_path = Some(context.node(old));
                changes.push(change.for_executions(Effect::Breaking));
                node::compare(before[old], after[new], (flow, &renamed), context, changes);
            }
            Match::Added(id) => {
                let message = format!("node `{}` was added", context.node(id));
                let change = context.node_change(Part::Node, Kind::Added, after[id], "", message);
                changes.push(change.for_executions(Effect::Compatible));
            }
            Match::Removed(id) => {
                let message = format!("node `{}` was removed", context.node(id));
                let change =
                    context.node_change(Part::Node, Kind::Removed, before[id], "", message);
                changes.push(change.for_executions(Effect::Breaking));
            }
        }
    }
    renamed
}

fn ids(flow: &FlowDocument) -> Vec<&str> {
    flow.nodes.iter().map(|node| node.id.as_str()).collect()
}

fn by_id(flow: &FlowDocument) -> HashMap<&str, (usize, &NodeDocument)> {
    let mut nodes = HashMap::new();
    for (index, node) in flow.nodes.iter().enumerate() {
        nodes.entry(node.id.as_str()).or_insert((index, node));
    }
    nodes
}

/// Returns `true` if one node can have become the other: it is the same function, or one with the
/// same contract.
fn is_alike(old: &NodeDocument, new: &NodeDocument) -> bool {
    old.r#type == new.r#type || has_same_contract(old, new)
}

/// Compares contracts. The names of writes may differ: by default, a function writes under its own
/// name, so a rename changes both.
fn has_same_contract(old: &NodeDocument, new: &NodeDocument) -> bool {
    let names = |node: &NodeDocument| -> Option<Vec<String>> {
        let actions = node.actions.as_ref()?;
        Some(actions.iter().map(|action| action.name.clone()).collect())
    };
    let (before, after) = (&old.outputs.properties, &new.outputs.properties);
    let is_same = |(old, new)| !matches!(types::compare(old, new), Types::Other(_));
    !old.r#type.contains('.')
        && !new.r#type.contains('.')
        && old.is_flow() == new.is_flow()
        && old.inputs == new.inputs
        && names(old) == names(new)
        && before.len() == after.len()
        && before.values().zip(after.values()).all(is_same)
}
