//! How the nodes of a flow are used in it, by their ids. A document may have tens of thousands of
//! nodes, so nothing searches through all of them for each of them.

use std::collections::{HashMap, HashSet};

use flow_spec::document::types;
use flow_spec::{DEFAULT_ACTION, FlowDocument, NodeDocument};

/// How the nodes of a flow are used.
pub(super) struct Uses<'a> {
    positions: HashMap<&'a str, usize>,
    /// The loop whose body a node is.
    loops: HashMap<&'a str, &'a NodeDocument>,
    /// The nodes and their actions that lead somewhere.
    routed: HashSet<(&'a str, &'a str)>,
}

impl<'a> Uses<'a> {
    pub(super) fn of(flow: &'a FlowDocument) -> Self {
        let nodes = flow.nodes.iter().enumerate();
        let loops = flow.nodes.iter();
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

    /// Returns true if this action of a node leads somewhere.
    pub(super) fn routes(&self, id: &str, action: &str) -> bool {
        self.routed.contains(&(id, action))
    }
}

/// The body of a loop over items.
pub(super) fn body(node: &NodeDocument) -> Option<&str> {
    match node.r#type.as_str() {
        types::EACH => node.params.get("body")?.as_str(),
        _ => None,
    }
}
