//! Nodes inside a fork, a race or a loop over items, and their owners.

use std::collections::HashMap;

use serde_json::Value;

use crate::document::{FlowDocument, NodeDocument, types};
use crate::names::composed;

impl NodeDocument {
    /// Returns the branches of a fork or a race, each with the ids of its nodes in the order in
    /// which they run. Empty for any other node.
    pub fn branches(&self) -> Vec<Vec<&str>> {
        self.read_branches()
            .map(|(ids, _)| ids.iter().filter_map(Value::as_str).collect())
            .collect()
    }

    /// Returns, for each branch of a race, the action that the race takes if this branch is the
    /// first one that is done, or `None` if it is the action of the last node. Empty for any other
    /// node.
    pub fn actions_of_branches(&self) -> Vec<Option<&str>> {
        let branches = self.read_branches().filter(|_| self.r#type == types::FIRST);
        branches.map(|(_, action)| action).collect()
    }

    /// The branches of a fork or a race that have nodes, each with its action.
    fn read_branches(&self) -> impl Iterator<Item = (&Vec<Value>, Option<&str>)> {
        let branches = self.params.get("branches").and_then(Value::as_array);
        branches
            .into_iter()
            .flatten()
            .filter_map(|branch| match self.r#type.as_str() {
                types::FORK => Some((branch.as_array()?, None)),
                types::FIRST => {
                    let action = branch.get("action").and_then(Value::as_str);
                    Some((branch.get("steps")?.as_array()?, action))
                }
                _ => None,
            })
    }

    /// Returns the id of the node that a loop runs for each item, or `None` for any other node.
    pub fn body(&self) -> Option<&str> {
        if self.r#type == types::EACH {
            self.params.get("body")?.as_str()
        } else {
            None
        }
    }
}

impl FlowDocument {
    /// Returns the fork, the race or the loop of this flow that contains the node, or `None` for a node to
    /// which edges lead. For many nodes, call [`owners`](FlowDocument::owners) once.
    pub fn owner(&self, id: &str) -> Option<&NodeDocument> {
        self.owners().get(&*composed(id)).copied()
    }

    /// Returns the nodes of this flow that are in a fork, a race or a loop, by their ids, each with the one
    /// that contains it.
    pub fn owners(&self) -> HashMap<&str, &NodeDocument> {
        let mut owners = HashMap::new();
        for node in &self.nodes {
            let branches = node.branches().into_iter().flatten();
            for id in branches.chain(node.body()) {
                owners.entry(id).or_insert(node);
            }
        }
        owners
    }
}
