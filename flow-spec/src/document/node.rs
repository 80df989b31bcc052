//! A node, with what it reads, writes and decides.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{FlowDocument, Schema, SettingsDocument};

/// A node: PRD-004's `NodeConfig`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeDocument {
    /// The function, type or flow that it is, or one of [`types`](super::types).
    pub r#type: String,
    /// Its name in the flow.
    pub id: String,
    /// Its doc comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The values of its own settings; of the [`types`](super::types) of the language, what they
    /// consist of.
    pub params: Map<String, Value>,
    /// The names of settings that are not in [`params`](Self::params), because they cannot be
    /// written as JSON or may be secret; `*` is all of them.
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
