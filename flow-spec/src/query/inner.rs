//! Nodes inside a fork, a race or a loop over items, and their owners. Undo nodes, and the nodes that
//! they take back.

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

    /// Returns the undo nodes of this flow by their ids, each with the nodes that it takes back, in the
    /// order declared. No edge leads to an undo node.
    ///
    /// # Examples
    ///
    /// ```
    /// # let text = r#"{ "version": "2.0.0", "nodes": [
    /// #   { "type": "Charge", "id": "charge", "settings": { "undo": "refund" } }, { "type": "Refund", "id": "refund" }
    /// # ], "entryNodeId": "charge", "edges": [] }"#;
    /// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
    /// let undo_nodes = flow.undo_nodes();
    /// assert_eq!(undo_nodes["refund"][0].id, "charge");
    /// assert!(!undo_nodes.contains_key("charge"));
    /// ```
    pub fn undo_nodes(&self) -> HashMap<&str, Vec<&NodeDocument>> {
        let mut found: HashMap<&str, Vec<&NodeDocument>> = HashMap::new();
        for node in &self.nodes {
            if let Some(undo) = &node.settings.undo {
                found.entry(undo).or_default().push(node);
            }
        }
        found
    }
}
