//! A definition, and its content that people edit.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The id of a definition: a random UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DefinitionId(Uuid);

impl DefinitionId {
    pub(crate) fn random() -> Self {
        DefinitionId(Uuid::new_v4())
    }
}

impl fmt::Display for DefinitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for DefinitionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(DefinitionId)
    }
}

/// A stored flow: see the [crate](crate).
///
/// As JSON, it is one object with the fields of its [`content`](Self::content) beside its own.
///
/// # Examples
///
/// ```
/// use flow_definitions::{Content, Definitions, MemoryDefinitions};
/// use flow_loader::registry;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let definitions = Definitions::new(MemoryDefinitions::new(), registry![]);
/// let flow = json!({ "name": "Empty", "description": "Does nothing yet." });
/// let definition = definitions.create(Content::new(flow)).await.unwrap();
/// assert_eq!(definition.name(), "Empty");
/// assert_eq!(definition.description(), Some("Does nothing yet."));
/// assert_eq!(serde_json::to_value(&definition).unwrap()["status"], "draft");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Definition {
    /// Its id, which never changes.
    pub id: DefinitionId,
    /// The number of its changes, counting its creation: 1 or more.
    pub revision: u64,
    /// The time at which it was created, in milliseconds since 1970 (UTC).
    pub created_at_ms: u64,
    /// The time at which it was last changed, in milliseconds since 1970 (UTC).
    pub updated_at_ms: u64,
    /// The content that people edit.
    #[serde(flatten)]
    pub content: Content,
}

impl Definition {
    /// The name, which is that of the flow.
    pub fn name(&self) -> &str {
        self.content.name().unwrap_or_default()
    }

    /// The description, which is that of the flow. `None` if it has none.
    pub fn description(&self) -> Option<&str> {
        self.content.flow.get("description").and_then(Value::as_str)
    }
}

/// The content of a definition that people edit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Content {
    /// The document of the flow: an object with a `name`. While it is a draft, the rest of it need
    /// not be right.
    pub flow: Value,
    /// The status, such as draft.
    #[serde(default)]
    pub status: Status,
    /// The positions of its nodes on a canvas, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub layout: BTreeMap<String, Position>,
    /// Values for inputs of the flow, in place of their defaults.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub configuration: Map<String, Value>,
}

impl Content {
    /// A draft of this flow, without a layout or a configuration.
    pub fn new(flow: Value) -> Self {
        Content {
            flow,
            status: Status::Draft,
            layout: BTreeMap::new(),
            configuration: Map::new(),
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.flow.get("name").and_then(Value::as_str)
    }

    /// The names of the fields as JSON.
    pub(crate) const FIELDS: [&str; 4] = ["flow", "status", "layout", "configuration"];
}

/// The status of a definition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is being written, and may be wrong.
    #[default]
    Draft,
    /// It is in use. When it was saved, it was sound.
    Active,
}

/// A position on a canvas, in units of the editor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The distance from the left.
    pub x: f64,
    /// The distance from the top.
    pub y: f64,
}
