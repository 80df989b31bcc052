//! The edges and ends of a flow.

use serde::Serialize;
use serde_json::{Map, Value};

/// An edge: `from - "condition" >> to`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EdgeDocument {
    /// The id of the node from which it starts.
    pub from: String,
    /// The id of the node to which it leads.
    pub to: String,
    /// The action that it routes.
    pub condition: String,
    /// Keys whose values are written under other names when the edge is taken, each with its new
    /// name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub mappings: Map<String, Value>,
}

/// `from - "condition" >> end("label")`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EndDocument {
    /// The id of the node from which it comes. `None` if the flow ends where it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The action that it routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The name of the end, which an outer flow sees as an action.
    pub label: String,
    /// Keys with new names: see [`EdgeDocument::mappings`].
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub mappings: Map<String, Value>,
}
