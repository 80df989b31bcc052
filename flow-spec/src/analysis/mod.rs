//! Checks that a graph is sound. There is one pass per file; [`check`] reads as their table of
//! contents.

mod additions;
mod adjacency;
mod assignment;
mod circles;
mod components;
mod coverage;
mod dominators;
mod edge_mappings;
mod ends;
mod forks;
mod former_names;
mod found;
mod inputs;
mod keys;
mod liveness;
mod mapped_keys;
mod model;
mod names;
mod outputs;
mod own_types;
mod owners;
mod points;
mod reach;
mod reads;
mod routes;
mod shape;
mod spelling;
mod start;
mod suggestions;
mod taken_back;
#[cfg(test)]
mod tests;
mod types;
mod undo;
mod undo_rules;
mod unknown_actions;
mod unwritten;
mod words;
mod written_at_ends;

use additions::FirstAdditions;
use assignment::Assignment;
use components::Components;
use found::Found;
use liveness::Takes;
use model::Model;
use suggestions::Suggestions;

use crate::diagnostic::{Code, Diagnostic};
use crate::graph::{Action, Graph, NodeId};

pub use liveness::{Reader, Take};
pub use spelling::options;
pub use types::{Compared, check_types};

/// A graph that [`check`] found sound, with the results of the analysis.
#[derive(Debug, Clone)]
pub struct CheckedGraph {
    graph: Graph,
    takes: Takes,
    first_additions: FirstAdditions,
    ends: Vec<Action>,
}

impl CheckedGraph {
    /// Returns the graph itself.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns whether read `read` of `node` moves or clones the value that it takes. This has no
    /// meaning for a read that borrows.
    ///
    /// An undo node reads a private copy of its values, so it moves each, unless it reads the key
    /// again itself. The node that it takes back clones what its undo node reads.
    ///
    /// # Panics
    ///
    /// If there is no such node or read.
    pub fn take(&self, node: NodeId, read: usize) -> Take {
        self.takes.nodes[node.0][read]
    }

    /// Returns whether mapping `mapping` of edge `edge` moves or clones the value that it reads.
    ///
    /// # Panics
    ///
    /// If there is no such edge or mapping.
    pub fn take_of_edge(&self, edge: usize, mapping: usize) -> Take {
        self.takes.edges[edge][mapping]
    }

    /// Returns `true` if the key may have no value when the node adds to it, so that the addition
    /// begins with an empty one.
    pub fn may_add_first(&self, node: NodeId, key: &str) -> bool {
        self.first_additions.contains(node, key)
    }

    /// Returns the ends of the flow, each once, in the order written. They are the actions of the
    /// flow where it is a node of another one.
    ///
    /// An end writes the outputs that are written on a path to it. An output is optional if another
    /// path leaves it unwritten.
    pub fn ends(&self) -> &[Action] {
        &self.ends
    }
}

/// Returns the outputs that the flow writes at each of its ends, like [`CheckedGraph::ends`], for a
/// graph that may have mistakes. Ignores edges with mistakes.
pub fn written_at_ends(graph: &Graph) -> Vec<Action> {
    let model = Model::new(graph, &mut Found::default());
    let dominators = model.points.dominators();
    let mut assignment = Assignment::new(&model.points, &dominators);
    written_at_ends::find(&model, &mut assignment)
}

/// Checks a graph.
///
/// Only the compiler, which knows the meaning of their names, compares types. A front end without a
/// compiler calls [`check_types`] as well.
///
/// # Errors
///
/// All mistakes, in the order of their places: at most a thousand, with long texts shortened.
///
/// # Examples
///
/// ```
/// use flow_spec::{Edge, EdgeSource, EdgeTarget, Graph, check};
///
/// let mut graph = Graph { name: "Nothing".into(), ..Graph::default() };
/// let found = check(graph.clone()).unwrap_err();
/// assert_eq!(found[0].message, "the flow has no `start`: nothing would run");
///
/// graph.edges.push(Edge { from: EdgeSource::Start, action: None, to: EdgeTarget::End("default".into()), mappings: Vec::new() });
/// assert!(check(graph).is_ok());
/// ```
pub fn check(graph: Graph) -> Result<CheckedGraph, Vec<Diagnostic>> {
    let mut found = Found::default();
    let model = Model::new(&graph, &mut found);
    let components = Components::new(&model.points.successors);
    let dominators = model.points.dominators();
    let suggestions = Suggestions::new(&model);

    names::check(&graph, &mut found);
    former_names::check(&model, &mut found);
    shape::check_parts(&graph, &model.shape, &mut found);
    undo_rules::check(&model, &mut found);
    coverage::unrouted(&model, &mut found);
    coverage::twice(&model, &mut found);
    forks::check(&model, &mut found);
    inputs::check(&model, &suggestions, &mut found);
    outputs::check_names(&model, &suggestions, &mut found);
    additions::check(&model, &mut found);
    edge_mappings::check_sources(&model, &suggestions, &mut found);
    let mut assignment = Assignment::new(&model.points, &dominators);
    if start::check(&graph, &mut found) {
        let reached = reach::reached(&model);
        reach::check(&model, &components, &reached, &mut found);
        ends::check(&model, &components, &reached, &mut found);
        circles::check(&model, &reached, &mut found);
        reads::check(&model, &suggestions, &reached, &mut assignment, &mut found);
        edge_mappings::check_paths(&model, &reached, &mut assignment, &mut found);
        outputs::check(&model, &reached, &mut assignment, &mut found);
    }

    if !found.is_empty() {
        let mut found = found.sorted();
        // An edge for an unknown action leaves the order of the nodes unknown.
        if found.iter().any(|one| one.code == Code::UnknownAction) {
            found.retain(|one| !one.code.is_about_values());
        }
        return Err(found);
    }
    let takes = liveness::takes(&model, &components, &dominators);
    let first_additions = FirstAdditions::of(&model, &mut assignment);
    let ends = written_at_ends::find(&model, &mut assignment);
    Ok(CheckedGraph {
        graph,
        takes,
        first_additions,
        ends,
    })
}
