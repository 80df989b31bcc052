//! A flow as JSON: PRD-004's shape, extended only by adding.
//!
//! Fields are written in the order in which they stand here, and lists in the order in which the flow declares them, so
//! that the same source always gives the same bytes. A [`FlowDocument`] that was parsed is written as it was.

mod graph;
mod problem;
mod read;
mod schema;
mod settings;

use serde::Serialize;
use serde_json::{Map, Value};

pub use problem::Problem;
pub use schema::{Property, Schema, property};
pub use settings::{PollSettings, RetrySettings, SettingsDocument};

/// The version of the format that this crate reads and writes.
pub const VERSION: &str = "2.0.0";

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// How many levels of nested flows an export has unless asked otherwise (PRD-004 §14).
pub const DEFAULT_DEPTH: usize = 10;

/// The types of nodes that the language itself has. No Rust name has a dot.
pub mod types {
    /// Branches that run at the same time: `params.branches`, a list of lists of node ids.
    pub const FORK: &str = "flow.fork";
    /// A loop over items: `params.item`, `params.over` (keys) and `params.body` (a node id).
    pub const EACH: &str = "flow.each";
    /// Conditions: `params.cases`, each `{ when, action }`, and `params.otherwise`.
    pub const BRANCH: &str = "flow.branch";
    /// A pause: `params.duration`.
    pub const WAIT: &str = "flow.wait";
    /// An answer from outside the program: `params.prompt`.
    pub const HUMAN: &str = "flow.human";
    /// All of them.
    pub const ALL: [&str; 5] = [FORK, EACH, BRANCH, WAIT, HUMAN];
}

/// A flow: PRD-004's `FlowConfig`.
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
/// assert_eq!(pointers, ["/nodes/0", "/nodes/0", "", "/edgse"]);
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
    /// What the caller gives.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub inputs: Schema,
    /// What the caller gets.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub outputs: Schema,
    /// Its nodes, also those that stand inside a fork or a loop over items.
    pub nodes: Vec<NodeDocument>,
    /// Where it goes on, from node to node.
    pub edges: Vec<EdgeDocument>,
    /// Where it ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<EndDocument>,
    /// The node that runs first. Nothing, if the flow ends where it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_node_id: Option<String>,
    /// What it needs from outside: names and versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Map<String, Value>>,
}

/// A node: PRD-004's `NodeConfig`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeDocument {
    /// The function, type or flow that it is, or one of [`types`].
    pub r#type: String,
    /// Its name in the flow.
    pub id: String,
    /// Its doc comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values of its own settings; of the [`types`] of the language, what they consist of.
    pub params: Map<String, Value>,
    /// The names of settings that are not in [`params`](Self::params), because they cannot be written as JSON; `*` is
    /// all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub params_omitted: Vec<String>,
    /// How it is run.
    #[serde(skip_serializing_if = "SettingsDocument::is_empty")]
    pub settings: SettingsDocument,
    /// What it reads, under its own names.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub inputs: Schema,
    /// What it writes, under its own names. Required is what it writes on every action.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub outputs: Schema,
    /// What it can decide. Nothing in documents of others: then its edges say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<ActionDocument>>,
    /// It can fail, so that `"error"` may be routed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fallible: bool,
    /// Where the flow's keys are named otherwise than its own.
    #[serde(skip_serializing_if = "MappingsDocument::is_empty")]
    pub mappings: MappingsDocument,
    /// What it needs from outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The flow that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_flow: Option<Box<FlowDocument>>,
    /// It is a flow, which was left out because of the depth of the export.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub internal_flow_omitted: bool,
}

/// Something that a node can decide, with what it writes then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionDocument {
    /// The name that edges route by.
    pub name: String,
    /// Properties of the node's outputs that are written on this action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Properties of the node's outputs that may be written on this action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_write: Vec<String>,
}

/// Where the flow's keys are named otherwise than the node's: by the node's name, the flow's key.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MappingsDocument {
    /// Of what it reads.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    /// Of what it writes.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
}

/// `from - "condition" >> to`: PRD-004's `FlowEdge`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EdgeDocument {
    /// The id of the node it starts from.
    pub from: String,
    /// The id of the node it leads to.
    pub to: String,
    /// The action it is for.
    pub condition: String,
    /// Keys that are written under other names when it is taken: by the old name, the new one.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub mappings: Map<String, Value>,
}

/// `from - "condition" >> end("label")`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EndDocument {
    /// The id of the node it comes from. Nothing, if the flow ends where it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The action it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The name of the end: what a flow around this one sees as an action.
    pub label: String,
}

impl FlowDocument {
    /// A flow of this name, with nothing in it.
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
            dependencies: Some(Map::new()),
        }
    }

    /// The document as JSON for people: indented, with a newline at its end.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_else(never);
        text.push('\n');
        text
    }

    /// The document as JSON without any space.
    pub fn to_compact_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(never)
    }

    /// Its own name; of documents without one, the namespace.
    pub fn title(&self) -> &str {
        match self.name.is_empty() {
            true => &self.namespace,
            false => &self.name,
        }
    }

    /// Leaves out nested flows below this many levels: `0` keeps the flow itself only. What is left out is marked
    /// ([`NodeDocument::internal_flow_omitted`]).
    ///
    /// PRD-004 §5.2 leaves them out silently.
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

    /// The labels of its ends, each once, in the order written.
    pub fn end_labels(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for end in &self.ends {
            if !labels.contains(&end.label.as_str()) {
                labels.push(&end.label);
            }
        }
        labels
    }
}

/// Maps with names as keys and no values of a user's types: nothing in it can fail.
fn never(error: serde_json::Error) -> String {
    unreachable!("a document consists of strings and JSON values: {error}")
}

impl NodeDocument {
    /// Whether it is a flow, also one that was left out.
    pub fn is_flow(&self) -> bool {
        self.internal_flow.is_some() || self.internal_flow_omitted
    }
}

impl MappingsDocument {
    /// Whether every name is the same.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty()
    }
}
