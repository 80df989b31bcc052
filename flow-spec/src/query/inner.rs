//! Nodes inside a fork or a loop over items, and their owners.

use std::collections::HashMap;

use serde_json::Value;

use crate::document::{FlowDocument, NodeDocument, types};
use crate::names::composed;

impl NodeDocument {
    /// Returns the branches of a fork, each with the ids of its nodes in the order in which they
    /// run. Empty for any other node.
    pub fn branches(&self) -> Vec<Vec<&str>> {
        if self.r#type != types::FORK {
            return Vec::new();
        }
        let branches = self.params.get("branches").and_then(Value::as_array);
        let branches = branches.into_iter().flatten().filter_map(Value::as_array);
        branches
            .map(|branch| branch.iter().filter_map(Value::as_str).collect())
            .collect()
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
    /// Returns the fork or the loop of this flow that contains the node, or `None` for a node to
    /// which edges lead. For many nodes, call [`owners`](FlowDocument::owners) once.
    pub fn owner(&self, id: &str) -> Option<&NodeDocument> {
        self.owners().get(&*composed(id)).copied()
    }

    /// Returns the nodes of this flow that are in a fork or a loop, by their ids, each with the one
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
