//! The uses of a flow's nodes in it, by id. A document may have tens of thousands of nodes, so
//! nothing searches through all of them for each of them.

use std::collections::{HashMap, HashSet};

use flow_spec::document::types;
use flow_spec::{DEFAULT_ACTION, FlowDocument, NodeDocument};

/// The uses of a flow's nodes.
pub(super) struct Uses<'a> {
    positions: HashMap<&'a str, usize>,
    /// The loop of each node that is a body.
    loops: HashMap<&'a str, &'a NodeDocument>,
    /// The race whose action a node decides, at the end of a branch.
    races: HashMap<&'a str, &'a NodeDocument>,
    /// The nodes that take back others.
    undo_nodes: HashSet<&'a str>,
    /// The pairs of a node and an action that lead somewhere.
    routed: HashSet<(&'a str, &'a str)>,
}

impl<'a> Uses<'a> {
    pub(super) fn of(flow: &'a FlowDocument) -> Self {
        let nodes = flow.nodes.iter().enumerate();
        let loops = flow.nodes.iter();
        let races = flow.nodes.iter().flat_map(|race| {
            let branches = race.branches().into_iter().zip(race.actions_of_branches());
            let undecided = branches.filter(|(_, action)| action.is_none());
            undecided.filter_map(move |(ids, _)| Some((*ids.last()?, race)))
        });
        let edges = flow.edges.iter();
        let edges = edges.map(|edge| (edge.from.as_str(), edge.condition.as_str()));
        let ends = flow.ends.iter().filter_map(|end| {
            let action = end.condition.as_deref().unwrap_or(DEFAULT_ACTION);
            Some((end.from.as_deref()?, action))
        });
        Uses {
            positions: nodes
                .map(|(index, node)| (node.id.as_str(), index))
                .collect(),
            loops: loops.filter_map(|node| Some((body(node)?, node))).collect(),
            races: races.collect(),
            undo_nodes: flow.nodes.iter().filter_map(undo_node).collect(),
            routed: edges.chain(ends).collect(),
        }
    }

    /// The position of the node with this id.
    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// The loop that runs this node for its items.
    pub(super) fn loop_of(&self, id: &str) -> Option<&'a NodeDocument> {
        self.loops.get(id).copied()
    }

    /// The name by which this node reads an item of the loop that runs it.
    pub(super) fn item_of(&self, id: &str) -> Option<&'a str> {
        self.loop_of(id)?.params.get("item")?.as_str()
    }

    /// The race whose action this node decides, at the end of a branch.
    pub(super) fn race_of(&self, id: &str) -> Option<&'a NodeDocument> {
        self.races.get(id).copied()
    }

    /// Returns true if this node takes back others. Nothing reads what it writes.
    pub(super) fn is_undo(&self, id: &str) -> bool {
        self.undo_nodes.contains(id)
    }

    /// Returns true if this action of a node leads somewhere, or that of the race that it decides.
    pub(super) fn routes(&self, id: &str, action: &str) -> bool {
        let id = self.race_of(id).map_or(id, |race| &race.id);
        self.routed.contains(&(id, action))
    }
}

/// The node that takes back a node.
fn undo_node(node: &NodeDocument) -> Option<&str> {
    node.settings.undo.as_deref()
}

/// The body of a loop over items.
pub(super) fn body(node: &NodeDocument) -> Option<&str> {
    match node.r#type.as_str() {
        types::EACH => node.params.get("body")?.as_str(),
        _ => None,
    }
}
