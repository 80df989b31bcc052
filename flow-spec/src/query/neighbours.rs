//! The nodes that run right before and right after a node.
//!
//! A fork stands both for the place where it splits and for the place where its branches join: it
//! leads to the first node of each branch, and the last node of each branch leads back to it. The
//! same holds for a loop over items and its body. So a path through a flow passes a fork as one
//! step, and a path from one branch into another always passes the fork.

use std::collections::{HashMap, HashSet};

use crate::document::{FlowDocument, NodeDocument};
use crate::names::composed;

/// A step from one node of a flow directly to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// The id of the node that runs first.
    pub from: &'a str,
    /// The action that leads to `to`. `None` inside a fork or a loop, where no action is needed.
    pub condition: Option<&'a str>,
    /// The id of the node that runs next.
    pub to: &'a str,
}

impl FlowDocument {
    /// Returns the nodes of this flow that can run right before this one, each once. Empty if there
    /// are none.
    ///
    /// Inside a fork it is the node before it in its branch, or the fork itself; inside a loop over
    /// items it is the loop. The last nodes of a fork's branches also come before the fork, and a
    /// loop's body before the loop.
    pub fn predecessors(&self, id: &str) -> Vec<&NodeDocument> {
        let (id, steps) = (composed(id), self.steps().into_iter());
        self.each_once(steps.filter(|step| step.to == id).map(|step| step.from))
    }

    /// Returns the nodes of this flow that can run right after this one, each once. Empty if there
    /// are none.
    ///
    /// Inside a fork it is the node after it in its branch, or the fork itself; inside a loop over
    /// items it is the loop. The first nodes of a fork's branches also come after the fork, and a
    /// loop's body after the loop.
    ///
    /// # Examples
    ///
    /// ```
    /// # let text = r#"{ "version": "2.0.0", "nodes": [
    /// #   { "type": "read", "id": "read" }, { "type": "check", "id": "check" }, { "type": "count", "id": "count" },
    /// #   { "type": "flow.fork", "id": "both", "params": { "branches": [["check"], ["count"]] } },
    /// #   { "type": "write", "id": "write" }
    /// # ], "entryNodeId": "read", "edges": [
    /// #   { "from": "read", "to": "both", "condition": "default" },
    /// #   { "from": "both", "to": "write", "condition": "default" }
    /// # ] }"#;
    /// # let flow = flow_spec::FlowDocument::parse(text).unwrap();
    /// // read >> both: [check, count] >> write
    /// let ids = |nodes: Vec<&flow_spec::NodeDocument>| nodes.iter().map(|node| node.id.clone()).collect::<Vec<_>>();
    /// assert_eq!(ids(flow.successors("read")), ["both"]);
    /// assert_eq!(ids(flow.successors("both")), ["check", "count", "write"]);
    /// assert_eq!(ids(flow.successors("check")), ["both"]);
    /// ```
    pub fn successors(&self, id: &str) -> Vec<&NodeDocument> {
        let (id, steps) = (composed(id), self.steps().into_iter());
        self.each_once(steps.filter(|step| step.from == id).map(|step| step.to))
    }

    /// Returns the steps from one node of this flow directly to another: first those into, along
    /// and out of the branches of forks and the bodies of loops, then the edges as declared.
    pub fn steps(&self) -> Vec<Step<'_>> {
        let mut steps = Vec::new();
        let mut inside = |from, to| {
            steps.push(Step {
                from,
                condition: None,
                to,
            });
        };
        for owner in &self.nodes {
            let body = owner.body().map(|body| vec![body]);
            for chain in owner.branches().into_iter().chain(body) {
                let mut before = owner.id.as_str();
                for id in chain {
                    inside(before, id);
                    before = id;
                }
                inside(before, &owner.id);
            }
        }
        let edges = self.edges.iter().map(|edge| Step {
            from: &edge.from,
            condition: Some(&edge.condition),
            to: &edge.to,
        });
        steps.extend(edges);
        let ids: HashSet<&str> = self.nodes.iter().map(|node| node.id.as_str()).collect();
        steps.retain(|step| ids.contains(step.from) && ids.contains(step.to));
        steps
    }

    fn each_once<'a>(&'a self, ids: impl Iterator<Item = &'a str>) -> Vec<&'a NodeDocument> {
        let mut nodes: HashMap<&str, &NodeDocument> = HashMap::new();
        for node in &self.nodes {
            nodes.entry(&node.id).or_insert(node);
        }
        // A node is taken out when it is found, so that it is found once.
        ids.filter_map(|id| nodes.remove(id)).collect()
    }
}
