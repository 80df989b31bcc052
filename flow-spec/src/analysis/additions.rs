//! Keys to which nodes add: something has to say their type, and an addition may be the first.

use std::collections::HashMap;

use super::assignment::Assignment;
use super::found::Found;
use super::keys::Key;
use super::model::Model;
use super::points::point_of;
use super::reads::written_for;
use crate::diagnostic::{Code, Diagnostic, Site};
use crate::graph::{Graph, NodeId, NodeKind, NodeWrite};

/// The nodes that may add to a key that has no value yet, by key.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstAdditions(HashMap<String, Vec<NodeId>>);

impl FirstAdditions {
    pub(super) fn of(model: &Model<'_>, assignment: &mut Assignment<'_>) -> Self {
        let mut first = HashMap::new();
        for key in model.keys.iter().filter(|key| !key.given) {
            let mut nodes: Vec<NodeId> = key.added_at.iter().map(|&(_, id)| id).collect();
            nodes.dedup();
            nodes.retain(|&id| {
                let written_at = written_for(model, key, id);
                !assignment.is_assigned(&written_at, &[point_of(id)])
            });
            if !nodes.is_empty() {
                first.insert(key.name.to_owned(), nodes);
            }
        }
        FirstAdditions(first)
    }

    pub(super) fn contains(&self, node: NodeId, key: &str) -> bool {
        let nodes = self.0.get(key);
        nodes.is_some_and(|nodes| nodes.contains(&node))
    }
}

/// Reports the keys to which nodes add and whose type nothing says, and nodes that add to a key
/// with one action, and do something else to it with another.
pub(super) fn check(model: &Model<'_>, found: &mut Found) {
    for id in model.graph.node_ids() {
        if let Some(diagnostic) = check_actions(model.graph, id) {
            found.push(diagnostic);
        }
    }
    for key in model.keys.iter() {
        let Some(&first) = key.adders.first() else {
            continue;
        };
        if has_type(model, key) {
            continue;
        }
        let (name, key_name) = (&model.graph.node(first).name, key.name);
        let message =
            format!("`{name}` adds to `{key_name}`, and nothing says of which type it is");
        let help = format!(
            "return it as an output of the flow, such as `{key_name}: Vec<_>`, or let a node read it"
        );
        let mut diagnostic = Diagnostic::new(Code::Addition, Site::Node(first), message).help(help);
        for &other in &key.adders[1..] {
            let text = format!("`{}` adds to it too", model.graph.node(other).name);
            diagnostic = diagnostic.related(Site::Node(other), text);
        }
        found.push(diagnostic);
    }
}

/// Returns `true` if a key has an input, an output, a writer or a reader with a type of its own.
fn has_type(model: &Model<'_>, key: &Key<'_>) -> bool {
    let is_typed = |&(id, _): &(NodeId, usize)| {
        matches!(
            model.graph.node(id).kind,
            NodeKind::Step | NodeKind::Flow(_)
        )
    };
    key.input.is_some()
        || key.output
        || key.writers.len() > key.adders.len()
        || !key.mapped_at.is_empty()
        || key.loop_only.is_some()
        || key.reads.iter().any(is_typed)
}

/// The first key to which a node adds with one action, and which it replaces with another, or to
/// which it then adds a value of another type. What is recorded does not say which it was.
fn check_actions(graph: &Graph, id: NodeId) -> Option<Diagnostic> {
    let node = graph.node(id);
    let mut first: HashMap<&str, (&NodeWrite, &str)> = HashMap::new();
    for action in &node.actions {
        for write in &action.writes {
            let (before, earlier) = *first.entry(&write.key).or_insert((write, &action.name));
            let (name, key) = (&node.name, &write.key);
            let message = match (before.adds, write.adds) {
                (true, true) if before.rust_type != write.rust_type => format!(
                    "`{name}` adds `{}` to `{key}` with \"{earlier}\", and `{}` with \"{}\"",
                    before.rust_type, write.rust_type, action.name
                ),
                (true, false) => format!(
                    "`{name}` adds to `{key}` with \"{earlier}\", and replaces it with \"{}\"",
                    action.name
                ),
                (false, true) => format!(
                    "`{name}` replaces `{key}` with \"{earlier}\", and adds to it with \"{}\"",
                    action.name
                ),
                _ => continue,
            };
            let help = "give one of the fields another name, or let another node add".to_owned();
            return Some(Diagnostic::new(Code::Addition, Site::Node(id), message).help(help));
        }
    }
    None
}
