//! What a registry says that it has.

use std::sync::Arc;

use flow_loader::{Catalog, CatalogNode, Dependency, NodeKind, Registry, registry};
use flow_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A page that was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Page {
    /// Where it is.
    address: String,
    links: Vec<Page>,
}

/// Finds pages.
///
/// About a topic.
#[node(title = "Search", icon = "🔍", group = "web", tags("slow", "paid"), writes = pages, retry(attempts = 3))]
async fn search(
    /// What the pages are about.
    topic: &str,
    limit: Option<u32>,
    /// A page that is like them.
    near: Option<&Page>,
) -> Result<Vec<Page>, String> {
    let limit = limit.unwrap_or_default() as usize;
    Ok(vec![near.cloned().ok_or(topic)?; limit])
}

#[derive(Action)]
enum Verdict {
    Good,
    Bad { reason: String },
}

#[node(actions = Verdict, writes = length)]
fn judge(pages: &[Page]) -> (usize, Verdict) {
    let verdict = match pages {
        [] => Verdict::Bad {
            reason: "nothing".into(),
        },
        _ => Verdict::Good,
    };
    (pages.len(), verdict)
}

/// Writes like this.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
struct Style {
    /// How many words at most.
    #[serde(default = "hundred")]
    words: u32,
    model: Dependency<dyn Model>,
}

trait Model: Send + Sync {
    fn complete(&self, prompt: &str) -> String;
}

fn hundred() -> u32 {
    100
}

/// Sums pages up.
#[node(writes = summary)]
impl Style {
    fn exec(&self, pages: &[Page]) -> String {
        self.model
            .complete(&format!("{} words about {}", self.words, pages.len()))
    }
}

/// Whether it is published.
#[derive(Serialize, Deserialize)]
#[node(human = "Publish {summary}?", timeout = "2h")]
enum Publish {
    Yes { by: String },
    No,
}

flow! {
    /// Finds and judges.
    Find(topic: String) -> (length: usize, reason: Option<String>) {
        start >> search >> judge;
        judge - "good" >> end;
        judge - "bad" >> end("bad");
    }
}

fn all() -> Registry {
    registry![search @ "1.2.0", search @ "1.10.0-rc.1", judge, Style, Publish, Find]
        .provide("client", Arc::new(7_u8))
}

fn node(name: &str) -> CatalogNode {
    let Catalog { nodes, .. } = all().catalog();
    nodes.into_iter().find(|node| node.name == name).unwrap()
}

/// The schema of a value, without what only `schemars` knows.
fn plain(mut node: Value) -> Value {
    for side in ["inputs", "outputs"] {
        for (_, property) in node[side]["properties"].as_object_mut().unwrap() {
            *property = property["rustType"].clone();
        }
    }
    node.as_object_mut().unwrap().remove("params");
    node
}

#[test]
fn a_function() {
    assert_eq!(
        plain(serde_json::to_value(node("search")).unwrap()),
        json!({
            "name": "search",
            "version": "1.10.0-rc.1",
            "kind": "function",
            "path": "catalog::search",
            "description": "Finds pages.\n\nAbout a topic.",
            "title": "Search",
            "icon": "🔍",
            "group": "web",
            "tags": ["slow", "paid"],
            "inputs": {
                "type": "object",
                "properties": { "topic": "str", "limit": "u32", "near": "Page" },
                "required": ["topic"],
            },
            "outputs": {
                "type": "object",
                "properties": { "pages": "Vec<Page>" },
                "required": ["pages"],
            },
            "actions": [{ "name": "default", "writes": ["pages"] }],
            "fallible": true,
            "settings": { "retry": { "attempts": 3 } },
        })
    );
}

#[test]
fn actions_and_what_they_write() {
    let judge = serde_json::to_value(node("judge")).unwrap();
    assert_eq!(judge["outputs"]["required"], json!(["length"]));
    assert_eq!(
        judge["actions"],
        json!([
            { "name": "good", "writes": ["length"] },
            { "name": "bad", "writes": ["length", "reason"] },
        ])
    );
    assert_eq!(judge["fallible"], false);
}

#[test]
fn a_question() {
    let publish = node("Publish");
    assert_eq!(publish.kind, NodeKind::Human);
    assert_eq!(publish.prompt.as_deref(), Some("Publish {summary}?"));
    assert_eq!(
        publish.description.as_deref(),
        Some("Whether it is published.")
    );
    let actions: Vec<&str> = publish
        .actions
        .iter()
        .map(|action| action.name.as_str())
        .collect();
    assert_eq!(actions, ["yes", "no", "timeout"]);
    assert!(publish.fallible);
    assert_eq!(publish.settings.timeout.as_deref(), Some("2h"));
    assert_eq!(publish.params, None);
}

#[test]
fn a_flow() {
    let find = node("Find");
    assert_eq!(find.kind, NodeKind::Flow);
    assert_eq!(find.description.as_deref(), Some("Finds and judges."));
    assert_eq!(
        plain(serde_json::to_value(&find).unwrap())["outputs"],
        json!({
            "type": "object",
            "properties": { "length": "usize", "reason": "String" },
            "required": ["length"],
        })
    );
    assert_eq!(
        serde_json::to_value(&find.actions).unwrap(),
        json!([
            { "name": "default", "writes": ["length"] },
            { "name": "bad", "writes": ["length", "reason"] },
        ])
    );
    assert!(find.fallible);
    // The same if it is added as a document.
    let document = flow_spec::FlowDocument::parse_spec(Find::SPEC).unwrap();
    let catalog = registry![search, judge].with_flow(document).catalog();
    let added = catalog.nodes.into_iter().find(|node| node.name == "Find");
    let mut added = added.unwrap();
    assert_eq!(added.path, None);
    added.path = find.path.clone();
    assert_eq!(added, find);
}

#[test]
fn everything_in_order() {
    let catalog = all().catalog();
    let name = |node: &CatalogNode| match &node.version {
        Some(version) => format!("{}@{version}", node.name),
        None => node.name.clone(),
    };
    let names: Vec<String> = catalog.nodes.iter().map(name).collect();
    assert_eq!(
        names,
        [
            "Find",
            "Publish",
            "Style",
            "judge",
            "search@1.10.0-rc.1",
            "search@1.2.0"
        ]
    );
    let read: Value = serde_json::from_str(&catalog.to_json()).unwrap();
    assert_eq!(read, serde_json::to_value(&catalog).unwrap());
    assert_eq!(
        read["dependencies"],
        json!([{ "name": "client", "rustType": "u8" }])
    );
}

#[cfg(not(feature = "schemars"))]
#[test]
fn schemas_by_the_spelling_of_types() {
    let search = node("search");
    let of = |name: &str| search.inputs.properties[name].clone();
    assert_eq!(
        of("limit"),
        json!({ "type": "integer", "minimum": 0, "rustType": "u32" })
    );
    let near = json!({ "description": "A page that is like them.", "rustType": "Page" });
    assert_eq!(of("near"), near);
    let params = node("Style").params.map(Value::Object);
    assert_eq!(params, Some(json!({ "rustType": "Style" })));
}

#[cfg(feature = "schemars")]
#[test]
fn schemas_of_types() {
    let search = node("search");
    let near = &search.inputs.properties["near"];
    assert_eq!(near["rustType"], "Page");
    // What the parameter says comes before what its type says.
    assert_eq!(near["description"], "A page that is like them.");
    let pages = &search.outputs.properties["pages"]["items"];
    assert_eq!(pages["description"], "A page that was found.");
    // It refers to itself.
    assert_eq!(near["$id"], "rust:Page");
    assert_eq!(search.outputs.properties["pages"]["type"], "array");
    assert_eq!(
        node("Style").params.map(Value::Object),
        Some(json!({
            "type": "object",
            "title": "Style",
            "description": "Writes like this.",
            "properties": {
                "words": {
                    "type": "integer",
                    "format": "uint32",
                    "minimum": 0,
                    "description": "How many words at most.",
                    "default": 100,
                },
                "model": {
                    "type": "string",
                    "rustType": "Dependency<dyn Model>",
                },
            },
            "required": ["model"],
            "rustType": "Style",
        }))
    );
}
