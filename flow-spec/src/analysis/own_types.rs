//! Keys whose types are those of one visit, and not those of the flow's keys: what the body of a
//! loop writes for one item, and what undo nodes write.

use std::collections::{HashMap, HashSet};

use crate::graph::{Graph, NodeId, NodeKind};

/// The bodies of loops, and the undo nodes.
pub(super) struct Apart {
    bodies: HashSet<NodeId>,
    /// For each undo node, the nodes that it takes back.
    taken_back: HashMap<NodeId, Vec<NodeId>>,
}

impl Apart {
    pub(super) fn of(graph: &Graph) -> Apart {
        let bodies = graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Each { body, .. } => Some(*body),
            _ => None,
        });
        let mut taken_back: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for id in graph.node_ids() {
            if let Some(undo) = graph.node(id).undo {
                taken_back.entry(undo).or_default().push(id);
            }
        }
        Apart {
            bodies: bodies.collect(),
            taken_back,
        }
    }

    /// Returns `true` if the flow does not see what this node writes.
    pub(super) fn contains(&self, id: NodeId) -> bool {
        self.bodies.contains(&id) || self.taken_back.contains_key(&id)
    }

    /// The nodes that this undo node takes back. Empty for other nodes.
    pub(super) fn taken_back(&self, undo: NodeId) -> &[NodeId] {
        self.taken_back.get(&undo).map_or(&[], Vec::as_slice)
    }
}
