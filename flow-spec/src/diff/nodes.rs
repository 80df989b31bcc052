//! The nodes of a flow. Runs are stored by the names of nodes.

use std::collections::{HashMap, HashSet};

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
    let same_step = same_steps(old, new);
    let is_alike = |old: &str, new: &str| is_alike(before[old].1, after[new].1);
    let left = |ids: Vec<&'a str>, at: fn(&(&'a str, &'a str)) -> &'a str| -> Vec<&'a str> {
        let taken: HashSet<&str> = same_step.iter().map(at).collect();
        ids.into_iter().filter(|id| !taken.contains(id)).collect()
    };
    let (old_ids, new_ids) = (left(ids(old), |pair| pair.0), left(ids(new), |pair| pair.1));
    let matches = match_names(&old_ids, &new_ids, is_alike);
    let pairs = matches.iter().filter_map(|found| match *found {
        Match::Renamed { old, new } => Some((old, new)),
        _ => None,
    });
    let renamed: Renamed<'_> = pairs.chain(same_step.iter().copied()).collect();
    for (old, new) in same_step {
        let (was, now) = (context.node(old), after[new].1);
        let message = if now.settings.was.as_deref() == Some(old) {
            format!("node `{was}` is `{new}` now, which says that it was `{old}`")
        } else {
            format!("node `{was}` is `{new}` now: its steps have the name of its loop")
        };
        let mut change = context.node_change(Part::Node, Kind::Renamed, after[new], "/id", message);
        change.old_path = Some(was);
        changes.push(change.for_executions(Effect::Compatible));
        node::compare(before[old], after[new], (flow, &renamed), context, changes);
    }
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

/// The nodes with other ids whose steps an execution finds all the same, by their old and new ids:
/// those that say what they were, and the bodies of loops, whose ids are not part of the names of steps.
fn same_steps<'a>(old: &'a FlowDocument, new: &'a FlowDocument) -> Vec<(&'a str, &'a str)> {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for node in &new.nodes {
        if let Some(was) = node.former_in(old)
            && !pairs.iter().any(|(old, _)| *old == was.id)
        {
            pairs.push((&was.id, &node.id));
        }
    }
    let is_in = |flow: &FlowDocument, id: &str| flow.node(id).is_some();
    for node in &new.nodes {
        let Some(after) = node.body() else {
            continue;
        };
        let was = node.former_in(old).or_else(|| old.node(&node.id));
        let Some(before) = was.and_then(NodeDocument::body) else {
            continue;
        };
        let is_free = !pairs.iter().any(|pair| pair.0 == before || pair.1 == after);
        if is_free
            && is_in(old, before)
            && is_in(new, after)
            && !is_in(old, after)
            && !is_in(new, before)
        {
            pairs.push((before, after));
        }
    }
    pairs
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
