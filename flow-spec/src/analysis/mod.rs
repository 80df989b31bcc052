//! Whether a graph is sound. One pass a file.

use crate::diagnostic::Diagnostic;
use crate::graph::{Graph, NodeId};

/// A graph that [`check`] found sound, with what the analysis learnt about it.
#[derive(Debug, Clone)]
pub struct CheckedGraph {
    graph: Graph,
    takes: Vec<Vec<Take>>,
}

/// What to do with a value that a node takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// No path reads it later: move it out of the store.
    Move,
    /// This node may read it later: clone it.
    Clone {
        /// The first reader found on a path from here; `None` is the flow's own output at an end.
        later: Option<NodeId>,
    },
}

impl CheckedGraph {
    /// The graph itself.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What to do with the value that read number `read` of `node` takes.
    pub fn take(&self, node: NodeId, read: usize) -> Take {
        self.takes[node.0][read]
    }
}

/// Checks a graph.
///
/// # Errors
///
/// Every mistake found, in the order of the places they are at.
pub fn check(graph: Graph) -> Result<CheckedGraph, Vec<Diagnostic>> {
    let takes = graph.nodes.iter().map(|node| node.reads.iter().map(|_| Take::Clone { later: None }).collect()).collect();
    Ok(CheckedGraph { graph, takes })
}
