//! How the nodes of a flow are used in it, by their ids. A document may have tens of thousands of
//! nodes, so nothing searches through all of them for each of them.

use std::collections::{HashMap, HashSet};

use flow_spec::document::{SettingsDocument, types};
use flow_spec::{DEFAULT_ACTION, FlowDocument, NodeDocument};

/// How the nodes of a flow are used.
pub(super) struct Uses<'a> {
    positions: HashMap<&'a str, usize>,
    /// The settings of the loop whose body a node is.
    loops: HashMap<&'a str, &'a SettingsDocument>,
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
            loops: loops
                .filter_map(|node| Some((body(node)?, &node.settings)))
                .collect(),
            routed: edges.chain(ends).collect(),
        }
    }

    /// The position of the node with this id.
    pub(super) fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// The settings of the loop that runs this node for its items.
    pub(super) fn loop_of(&self, id: &str) -> Option<&'a SettingsDocument> {
        self.loops.get(id).copied()
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
