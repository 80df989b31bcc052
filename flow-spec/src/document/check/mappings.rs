//! The mappings that give keys other names: on nodes, and on edges.

use std::collections::HashMap;

use crate::diagnostic::Code;
use crate::document::EdgeDocument;
use crate::document::problem::{Problem, Problems, inside};
use crate::graph::{Action, ERROR_ACTION, Node, NodeWrite};
use crate::suggest::did_you_mean;

use super::graph::{Places, key};

/// Reports nodes that write two values under one key, so that one of them would be lost.
pub(super) fn check_nodes(places: &Places<'_>, problems: &mut Problems) {
    for (index, node) in places.flow.nodes.iter().enumerate() {
        let mappings = &node.mappings.outputs;
        let pointer = inside(&inside(&places.node(index), "mappings"), "outputs");
        let mut first: HashMap<String, &str> = HashMap::new();
        for name in node.outputs.properties.keys() {
            if problems.is_full() {
                return;
            }
            let key = key(mappings, name);
            let Some(other) = first.insert(key.clone(), name) else {
                continue;
            };
            let message = format!(
                "`{}` writes both `{other}` and `{name}` to `{key}`",
                node.id
            );
            let mapped = if mappings.contains_key(name) {
                name
            } else {
                other
            };
            let problem = Problem::new(Code::MappingClash, inside(&pointer, mapped), message);
            problems.push(problem.of_name().help("give each its own key"));
        }
    }
}

/// Applies the mappings of edges: the key is written under its new name as well, when the edge is
/// taken.
pub(super) fn apply_edges(places: &Places<'_>, nodes: &mut [Node], problems: &mut Problems) {
    for (index, edge) in places.flow.edges.iter().enumerate() {
        if problems.is_full() {
            return;
        }
        if edge.mappings.is_empty() {
            continue;
        }
        let Some(node) = places.id(&edge.from).and_then(|id| nodes.get_mut(id.0)) else {
            continue;
        };
        let pointer = inside(&inside(&places.pointer, "edges"), index);
        let pointer = inside(&pointer, "mappings");
        let mut actions = node.actions.iter_mut();
        match actions.find(|action| action.name == edge.condition) {
            Some(action) => apply(edge, action, &pointer, problems),
            None if edge.condition == ERROR_ACTION => {
                let names = edge.mappings.keys();
                problems.extend(names.map(|name| not_written(edge, name, &[], &pointer)));
            }
            // The condition already reports that there is no such action.
            None => {}
        }
    }
}

fn apply(edge: &EdgeDocument, action: &mut Action, pointer: &str, problems: &mut Problems) {
    let written = action.writes.clone();
    for (source, target) in &edge.mappings {
        if problems.is_full() {
            return;
        }
        let Some(write) = written.iter().find(|write| write.key == *source) else {
            problems.push(not_written(edge, source, &written, pointer));
            continue;
        };
        let target = target.as_str().unwrap_or_default();
        let mut earlier = edge.mappings.iter().take_while(|(name, _)| *name != source);
        if let Some((other, _)) = earlier.find(|(_, key)| *key == target) {
            let message = format!("this edge writes both `{other}` and `{source}` to `{target}`");
            let problem = Problem::new(Code::MappingClash, inside(pointer, source), message);
            problems.push(problem.of_name().help("give each its own key"));
            continue;
        }
        action.writes.push(NodeWrite {
            key: target.to_owned(),
            ..write.clone()
        });
    }
}

fn not_written(edge: &EdgeDocument, name: &str, written: &[NodeWrite], pointer: &str) -> Problem {
    let message = format!(
        "`{}` does not write `{name}` on \"{}\"",
        edge.from, edge.condition
    );
    let keys = written.iter().map(|write| write.key.as_str());
    let mut problem = Problem::new(Code::NamesNothing, inside(pointer, name), message).of_name();
    problem.help = did_you_mean(name, keys);
    problem
}
