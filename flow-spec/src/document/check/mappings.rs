//! The mappings with which a node gives keys other names.

use std::collections::HashMap;

use crate::diagnostic::Code;
use crate::document::ONLY_OUTPUT;
use crate::document::problem::{Problem, Problems, inside};
use crate::document::read::{Ports, check_mappings};

use super::graph::{Places, key};

/// Reports mappings of ports that a node does not list. Also reports nodes that write two values
/// under one key, which would lose one of them.
pub(super) fn check(places: &Places<'_>, problems: &mut Problems) {
    for (index, node) in places.flow.nodes.iter().enumerate() {
        // The program knows the inputs of a node whose output has no name of its own.
        let is_open = node.is_left_open() || node.outputs.properties.contains_key(ONLY_OUTPUT);
        if !is_open {
            check_mappings(node, Ports::NotListed, &places.node(index), problems);
        }
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
