//! Where a flow goes on, and where it ends.

use serde::Serialize;
use serde_json::{Map, Value};

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
