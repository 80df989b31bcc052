//! Nodes inside a fork or a loop over items, and their owners.

use serde_json::Value;

use crate::document::{FlowDocument, NodeDocument, types};

impl NodeDocument {
    /// The branches of a fork, each with the ids of its nodes in the order in which they run. Empty
    /// for any other node.
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

    /// The id of the node that a loop runs for each item. `None` for any other node.
    pub fn body(&self) -> Option<&str> {
        if self.r#type == types::EACH {
            self.params.get("body")?.as_str()
        } else {
            None
        }
    }
}

impl FlowDocument {
    /// The fork or the loop of this flow that contains the node. `None` for a node to which edges
    /// lead.
    pub fn owner(&self, id: &str) -> Option<&NodeDocument> {
        let owns = |node: &&NodeDocument| {
            node.body() == Some(id) || node.branches().iter().flatten().any(|inner| *inner == id)
        };
        self.nodes.iter().find(owns)
    }
}
