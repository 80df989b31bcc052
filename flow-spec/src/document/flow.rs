//! The flow itself, and operations on it as a whole.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{EdgeDocument, EndDocument, NodeDocument, Schema, VERSION};
use crate::visible::visible_json;

/// A flow.
///
/// # Examples
///
/// ```
/// use flow_spec::FlowDocument;
///
/// let text = r#"{
///   "version": "2.0.0",
///   "namespace": "qa",
///   "name": "Qa",
///   "nodes": [
///     { "type": "answer", "id": "answer", "actions": [{ "name": "default" }] }
///   ],
///   "edges": [],
///   "ends": [{ "from": "answer", "condition": "default", "label": "default" }],
///   "entryNodeId": "answer"
/// }"#;
/// let flow = FlowDocument::parse(text).unwrap();
/// assert_eq!(flow.nodes[0].id, "answer");
/// assert!(flow.check().is_empty());
///
/// let problems = FlowDocument::parse(r#"{ "version": "2.0.0", "nodes": [{}], "edgse": [] }"#).unwrap_err();
/// let pointers: Vec<&str> = problems.iter().map(|problem| problem.pointer.as_str()).collect();
/// assert_eq!(pointers, ["/edgse", "/nodes/0", "/nodes/0"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowDocument {
    /// The version of the format: [`VERSION`].
    pub version: String,
    /// The path under which its nodes run: `youtube.research.agent`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The flow's name, as its author wrote it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its doc comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values that the caller passes.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub inputs: Schema,
    /// The values that the caller receives.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub outputs: Schema,
    /// Its nodes, including those inside a fork or a loop over items.
    pub nodes: Vec<NodeDocument>,
    /// Its edges from node to node.
    pub edges: Vec<EdgeDocument>,
    /// Its ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndDocument>,
    /// The node that runs first. `None` if the flow ends where it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_node_id: Option<String>,
    /// Keys with new names, from the start to the first node: see [`EdgeDocument::mappings`].
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub entry_mappings: Map<String, Value>,
    /// Its external dependencies: names and versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Map<String, Value>>,
}

impl FlowDocument {
    /// Creates an empty flow with this name.
    pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
        FlowDocument {
            version: VERSION.to_owned(),
            namespace: namespace.into(),
            name: name.into(),
            description: None,
            inputs: Schema::default(),
            outputs: Schema::default(),
            nodes: Vec::new(),
            edges: Vec::new(),
            ends: Vec::new(),
            entry_node_id: None,
            entry_mappings: Map::new(),
            dependencies: Some(Map::new()),
        }
    }

    /// Returns the document as JSON for people: indented, with a newline at the end. Deceptive
    /// characters in its texts are escaped as by [`visible_json`].
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_else(never);
        let mut text = visible_json(text);
        text.push('\n');
        text
    }

    /// Returns the document as JSON without any spaces, with the same escapes as
    /// [`to_json`](Self::to_json).
    pub fn to_compact_json(&self) -> String {
        visible_json(serde_json::to_string(self).unwrap_or_else(never))
    }

    /// Returns its name or, if it has none, the namespace.
    pub fn title(&self) -> &str {
        if self.name.is_empty() {
            &self.namespace
        } else {
            &self.name
        }
    }

    /// Sets the namespace of each inner flow that has none: the outer flow's namespace, a dot, and
    /// the id of the node.
    pub fn fill_namespaces(&mut self) {
        for node in &mut self.nodes {
            if let Some(inner) = &mut node.internal_flow {
                if inner.namespace.is_empty() {
                    inner.namespace = format!("{}.{}", self.namespace, node.id);
                }
                inner.fill_namespaces();
            }
        }
    }

    /// Removes nested flows below this many levels: `0` keeps only the flow itself. Removed flows
    /// are marked ([`NodeDocument::internal_flow_omitted`]).
    pub fn cut(&mut self, depth: usize) {
        for node in &mut self.nodes {
            match (&mut node.internal_flow, depth) {
                (Some(_), 0) => {
                    node.internal_flow = None;
                    node.internal_flow_omitted = true;
                }
                (Some(flow), depth) => flow.cut(depth - 1),
                (None, _) => {}
            }
        }
    }

    /// Returns the labels of its ends, each once, in the order written.
    pub fn end_labels(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let labels = self.ends.iter().map(|end| end.label.as_str());
        labels.filter(|label| seen.insert(*label)).collect()
    }
}

/// Used for maps with names as keys and without values of a user's types. Their serialization
/// cannot fail.
pub(super) fn never<T>(error: serde_json::Error) -> T {
    unreachable!("a document consists of strings and JSON values: {error}")
}
