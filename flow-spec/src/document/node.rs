//! A node, with its reads, writes and actions.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{FlowDocument, Schema, SettingsDocument, types};

/// A node of a flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeDocument {
    /// The name of its function, type or flow, or one of [`types`](super::types).
    pub r#type: String,
    /// Its name in the flow.
    pub id: String,
    /// Its doc comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its icon: an emoji, or a name that the viewer knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// The group of nodes to which it belongs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Search terms for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The values of its own settings; for the [`types`](super::types) of the language, their
    /// parts.
    pub params: Map<String, Value>,
    /// The names of settings that are not in [`params`](Self::params), because they cannot be
    /// written as JSON or may be secret; `*` means all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub params_omitted: Vec<String>,
    /// Its settings.
    #[serde(skip_serializing_if = "SettingsDocument::is_empty")]
    pub settings: SettingsDocument,
    /// The values that it reads, under its own names.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub inputs: Schema,
    /// The values that it writes, under its own names. Those written on every action are required.
    #[serde(skip_serializing_if = "Schema::is_empty")]
    pub outputs: Schema,
    /// The actions that it can take. `None` in documents of other tools, where its edges name them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<ActionDocument>>,
    /// True if it can fail, so that `"error"` may be routed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fallible: bool,
    /// The keys whose names in the flow differ from its own.
    #[serde(skip_serializing_if = "MappingsDocument::is_empty")]
    pub mappings: MappingsDocument,
    /// Its external dependencies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// The flow of the node, if it is a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_flow: Option<Box<FlowDocument>>,
    /// True if it is a flow that was left out because of the depth of the export.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub internal_flow_omitted: bool,
}

/// An action that a node can take, with the values that it then writes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionDocument {
    /// The name by which edges route it.
    pub name: String,
    /// Properties of the node's outputs that are written on this action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Properties of the node's outputs that may be written on this action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub may_write: Vec<String>,
}

/// The keys whose names in the flow differ from the node's: the node's name and the flow's key.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MappingsDocument {
    /// The names of the values that it reads.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub inputs: Map<String, Value>,
    /// The names of the values that it writes.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
}

impl NodeDocument {
    /// Returns `true` if it is a flow, even one that was left out.
    pub fn is_flow(&self) -> bool {
        self.internal_flow.is_some() || self.internal_flow_omitted
    }

    /// Returns `true` if the document leaves the node's reads, writes and decisions to the program:
    /// it lists none of its inputs, outputs and actions.
    ///
    /// A program that loads the document knows them, and checks the whole flow. Without it, as in
    /// [`FlowDocument::check`], it is unknown if a value is written before it is read.
    pub fn is_left_open(&self) -> bool {
        let lists_nothing =
            self.inputs.is_empty() && self.outputs.is_empty() && self.actions.is_none();
        let is_known = [
            types::FORK,
            types::FIRST,
            types::WAIT,
            types::UNDO,
            types::COMMIT,
        ];
        lists_nothing && !is_known.contains(&self.r#type.as_str())
    }
}

impl MappingsDocument {
    /// Returns `true` if all names are the same.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.outputs.is_empty()
    }
}
