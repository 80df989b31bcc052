//! The contents of a registry, for people and programs that write documents.

use flow_spec::document::{
    ActionDocument, NodeDocument, Property, Schema, SettingsDocument, property, with_schema,
};
use flow_spec::{TIMEOUT_ACTION, visible_json};
use semver::Version;
use serde::Serialize;

use crate::Registry;
use crate::adapter::{Adapter, Make, NodeKind};
use crate::load::known::{completed_flow, completed_node};
use crate::registry::{Entry, Item};
use crate::value::SchemaFunction;
use flow_spec::short_name;

/// The contents of a registry: the palette of a builder, or the nodes that a model may use.
///
/// As JSON, its fields have the names that documents give them.
///
/// # Examples
///
/// ```
/// use flow_loader::registry;
/// use flow_runtime::prelude::*;
/// use serde_json::json;
///
/// /// Finds pages about a topic.
/// #[node(title = "Search", icon = "🔍", group = "web")]
/// fn search(topic: &str, limit: Option<u32>) -> Vec<String> {
///     vec![topic.to_owned(); limit.unwrap_or(3) as usize]
/// }
///
/// let catalog = registry![search @ "1.2.0"].catalog();
/// let search = serde_json::to_value(&catalog.nodes[0]).unwrap();
/// assert_eq!(search["title"], "Search");
///
/// // As a tool of a model:
/// let node = &catalog.nodes[0];
/// let tool = json!({
///     "name": node.name,
///     "description": node.description,
///     "parameters": node.inputs,
/// });
/// assert_eq!(tool["description"], "Finds pages about a topic.");
/// assert_eq!(tool["parameters"]["required"], json!(["topic"]));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Catalog {
    /// The nodes and flows by name, with each version of a name, the highest first.
    pub nodes: Vec<CatalogNode>,
    /// The values that it provides to `params`, by name.
    pub dependencies: Vec<CatalogDependency>,
}

/// A node or a flow of a registry.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CatalogNode {
    /// Its name in documents: the `type` of a node, or `expects` for the type of an answer.
    pub name: String,
    /// Its version, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// The kind of entry.
    pub kind: NodeKind,
    /// Its full path in the program. `None` for a flow that was added as a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
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
    /// The question that it asks people, with its `{keys}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The values that it reads, as a JSON Schema. With the feature `schemars`, types that are
    /// `JsonSchema` show all; otherwise a type shows as much as its spelling does.
    pub inputs: Schema,
    /// The values that it writes, likewise. Values that it writes on every action are required.
    pub outputs: Schema,
    /// The actions that it can take, each with the values that it writes. `timeout` need not be
    /// routed: without a route, the node fails if no answer arrives in time.
    pub actions: Vec<ActionDocument>,
    /// True if it can fail, so that `error` may be routed.
    pub fallible: bool,
    /// The JSON Schema of its `params`, with their defaults, as far as it is known. `None` if it
    /// has no `params`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Property>,
    /// The settings with which it runs, unless a document changes them.
    #[serde(skip_serializing_if = "SettingsDocument::is_empty")]
    pub settings: SettingsDocument,
}

/// A value that a program provides to documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CatalogDependency {
    /// Its name in `params`.
    pub name: String,
    /// Its type.
    pub rust_type: String,
}

impl Registry {
    /// Returns the contents of the registry: see [`Catalog`].
    pub fn catalog(&self) -> Catalog {
        let dependencies = self.dependencies();
        Catalog {
            nodes: self.entries().map(|entry| self.described(entry)).collect(),
            dependencies: dependencies
                .map(|(name, rust_type)| CatalogDependency {
                    name: name.to_owned(),
                    rust_type: short_name(rust_type),
                })
                .collect(),
        }
    }

    fn described(&self, entry: &Entry) -> CatalogNode {
        match &entry.item {
            Item::Node(adapter) => of_node(entry, adapter),
            Item::Flow(flow) => {
                let description = flow.description.clone();
                let node = completed_flow(flow, self);
                let node = NodeDocument {
                    description,
                    ..node
                };
                CatalogNode::new(entry, NodeKind::Flow, node)
            }
        }
    }
}

impl Catalog {
    /// Returns the catalog as JSON for people: indented, with a newline at the end. Deceptive
    /// characters are escaped, as in documents.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).unwrap_or_else(|error| {
            unreachable!("a catalog consists of texts and JSON values: {error}")
        });
        visible_json(text) + "\n"
    }
}

impl CatalogNode {
    /// An entry, with its node in a document.
    fn new(entry: &Entry, kind: NodeKind, node: NodeDocument) -> Self {
        CatalogNode {
            name: entry.name.clone(),
            version: entry.version.clone(),
            kind,
            path: entry.path.map(str::to_owned),
            description: node.description,
            title: node.title,
            icon: node.icon,
            group: node.group,
            tags: node.tags,
            prompt: None,
            inputs: node.inputs,
            outputs: node.outputs,
            actions: node.actions.unwrap_or_default(),
            fallible: node.fallible,
            params: None,
            settings: node.settings,
        }
    }
}

fn of_node(entry: &Entry, adapter: &Adapter) -> CatalogNode {
    let about = &adapter.about;
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let mut node = NodeDocument {
        settings: about.settings(),
        ..completed_node(adapter)
    };
    for read in &adapter.reads {
        refine(
            &mut node.inputs,
            read.name,
            read.ty.and_then(|ty| ty.schema),
        );
    }
    for write in &adapter.writes {
        refine(&mut node.outputs, write.name, write.ty.schema);
    }
    if adapter.times_out {
        node.actions.get_or_insert_default().push(ActionDocument {
            name: TIMEOUT_ACTION.to_owned(),
            ..ActionDocument::default()
        });
    }
    CatalogNode {
        prompt: owned(about.prompt),
        params: params(adapter),
        ..CatalogNode::new(entry, about.kind, node)
    }
}

/// The schema of the params of a node. `None` if it has none.
fn params(adapter: &Adapter) -> Option<Property> {
    let Make::FromParams(_) = adapter.make else {
        return None;
    };
    let params = property(adapter.name, None);
    let schema = adapter.schema.and_then(|schema| schema());
    Some(schema.map_or_else(|| params.clone(), |schema| with_schema(&params, &schema)))
}

/// Replaces the schema from a type's spelling with the schema of the type.
fn refine(values: &mut Schema, name: &str, schema: Option<SchemaFunction>) {
    let written = values.properties.get_mut(name);
    if let (Some(written), Some(schema)) = (written, schema.and_then(|schema| schema()))
        && let Some(property) = written.as_object()
    {
        *written = with_schema(property, &schema).into();
    }
}
