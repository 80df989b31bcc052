//! The uses of the nodes of a flow: in branches, by loops, as undo nodes, and as starts of edges.

use std::collections::{HashMap, HashSet};

use crate::document::{FlowDocument, NodeDocument, types};

/// The uses of the flow's nodes, by id.
#[derive(Default)]
pub(super) struct Uses<'a> {
    /// Nodes that a loop runs.
    pub(super) bodies: HashSet<&'a str>,
    /// Nodes that take back others.
    pub(super) undo_nodes: HashSet<&'a str>,
    /// Nodes in a fork or a race.
    pub(super) in_branches: HashSet<&'a str>,
    /// The last nodes of branches whose actions are those of their race, with the race.
    pub(super) decides_for: HashMap<&'a str, &'a NodeDocument>,
    /// For each node, the conditions of its edges, then those of its ends, each once.
    pub(super) conditions: HashMap<&'a str, Conditions<'a>>,
}

#[derive(Default)]
pub(super) struct Conditions<'a> {
    /// True if one of them belongs to an edge.
    pub(super) has_edge: bool,
    pub(super) names: Vec<&'a str>,
}

impl<'a> Uses<'a> {
    pub(super) fn of(flow: &'a FlowDocument) -> Self {
        let mut uses = Uses::default();
        for owner in &flow.nodes {
            uses.undo_nodes.extend(owner.settings.undo.as_deref());
            match owner.r#type.as_str() {
                types::EACH => uses.bodies.extend(owner.body()),
                types::FORK | types::FIRST => uses
                    .in_branches
                    .extend(owner.branches().into_iter().flatten()),
                _ => {}
            }
            let branches = owner
                .branches()
                .into_iter()
                .zip(owner.actions_of_branches());
            let undecided = branches.filter(|(_, action)| action.is_none());
            let last = undecided.filter_map(|(ids, _)| ids.last().copied());
            uses.decides_for.extend(last.map(|id| (id, owner)));
        }
        let edges = flow.edges.iter();
        let edges = edges.map(|edge| (edge.from.as_str(), edge.condition.as_str(), true));
        let ends = flow.ends.iter();
        let ends =
            ends.filter_map(|end| Some((end.from.as_deref()?, end.condition.as_deref()?, false)));
        let mut seen = HashSet::new();
        for (id, condition, is_edge) in edges.chain(ends) {
            let conditions = uses.conditions.entry(id).or_default();
            conditions.has_edge |= is_edge;
            if seen.insert((id, condition)) {
                conditions.names.push(condition);
            }
        }
        uses
    }
}
