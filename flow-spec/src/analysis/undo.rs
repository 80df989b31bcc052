//! Undo nodes: the nodes that take back visits to other nodes.
//!
//! An undo node has no edges. It reads as if it stood behind each node that it takes back, and
//! nothing follows it: what it takes is its own copy, and what it writes is not kept.

use super::shape::Shape;
use crate::graph::{
    ERROR_ACTION, EdgeSource, EdgeTarget, Graph, Node, NodeId, NodeKind, TIMEOUT_ACTION,
};

/// The undo nodes of a flow, and the nodes that they take back.
pub(super) struct Undos {
    /// For each node, its undo node, if both can be what they are declared as.
    of: Vec<Option<NodeId>>,
    /// For each undo node, the nodes that it takes back.
    taken_back: Vec<Vec<NodeId>>,
    /// For each node, true if it takes back others and is no step itself.
    is_undo: Vec<bool>,
}

impl Undos {
    pub(super) fn new(graph: &Graph, shape: &Shape) -> Undos {
        let count = graph.nodes.len();
        let mut is_step = vec![false; count];
        for edge in &graph.edges {
            let from = match edge.from {
                EdgeSource::Start => None,
                EdgeSource::Node(id) => Some(id),
            };
            let to = match edge.to {
                EdgeTarget::End(_) => None,
                EdgeTarget::Node(id) => Some(id),
            };
            for id in from.into_iter().chain(to) {
                if let Some(is_step) = is_step.get_mut(id.0) {
                    *is_step = true;
                }
            }
        }
        let mut undos = Undos {
            of: vec![None; count],
            taken_back: vec![Vec::new(); count],
            is_undo: vec![false; count],
        };
        for id in graph.node_ids() {
            let Some(undo) = graph.node(id).undo.filter(|undo| undo.0 < count) else {
                continue;
            };
            if is_step[undo.0] || shape.place(undo).is_some() {
                continue;
            }
            undos.is_undo[undo.0] = true;
            let are_steps = [id, undo].map(|id| graph.node(id).kind == NodeKind::Step);
            if undo != id && are_steps == [true; 2] && loop_around(graph, shape, id).is_none() {
                undos.of[id.0] = Some(undo);
                undos.taken_back[undo.0].push(id);
            }
        }
        undos
    }

    /// The undo node of a node.
    pub(super) fn of(&self, id: NodeId) -> Option<NodeId> {
        self.of[id.0]
    }

    /// Returns `true` if the node takes back others. A node that is a step as well, which is
    /// reported, counts as a step.
    pub(super) fn is_undo(&self, id: NodeId) -> bool {
        self.is_undo[id.0]
    }

    /// The nodes that an undo node takes back.
    pub(super) fn taken_back(&self, undo: NodeId) -> &[NodeId] {
        &self.taken_back[undo.0]
    }

    /// The nodes at whose places this node reads: those that it takes back, or else itself.
    pub(super) fn places<'a>(&'a self, id: &'a NodeId) -> &'a [NodeId] {
        if self.is_undo(*id) {
            self.taken_back(*id)
        } else {
            std::slice::from_ref(id)
        }
    }
}

/// The loop that runs this node for each item. Such a node cannot have an undo node.
pub(super) fn loop_around<'g>(graph: &'g Graph, shape: &Shape, id: NodeId) -> Option<&'g Node> {
    let around = graph.node(shape.place(id)?.owner);
    matches!(around.kind, NodeKind::Each { .. }).then_some(around)
}

/// Returns `true` if a visit that takes this action is done, and can be taken back.
pub(super) fn is_done_by(action: &str) -> bool {
    action != ERROR_ACTION && action != TIMEOUT_ACTION
}
