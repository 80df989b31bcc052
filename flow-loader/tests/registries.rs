//! Registries: the flows in them, and their versions.

use flow_loader::{Format, LoadedFlow, Registry, Version, load, registry};
use flow_runtime::prelude::*;
use flow_spec::FlowDocument;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[node(writes = draft)]
fn write(topic: &str) -> String {
    format!("About {topic}")
}

#[node(writes = draft)]
fn stamp(draft: String) -> String {
    format!("{draft}.")
}

flow! {
    Stamped(topic: String) -> (draft: String) {
        start >> write >> stamp >> end;
    }
}

/// A flow that consists of one node.
fn of_one(name: &str, node_type: &str) -> FlowDocument {
    FlowDocument::from_value(&json!({
        "version": "2.0.0",
        "name": name,
        "namespace": name.to_lowercase(),
        "inputs": { "type": "object", "properties": { "topic": {} }, "required": ["topic"] },
        "outputs": { "type": "object", "properties": { "draft": {} }, "required": ["draft"] },
        "nodes": [{ "type": node_type, "id": "only" }],
        "edges": [],
        "ends": [{ "from": "only", "condition": "default", "label": "default" }],
    }))
    .unwrap()
}

fn try_load(document: &FlowDocument, registry: &Registry) -> Result<LoadedFlow, String> {
    load(document.to_json(), Format::Json, registry).map_err(|error| error.to_string())
}

/// Why a flow that consists of this node cannot be loaded.
fn refused(node_type: &str, registry: &Registry) -> String {
    try_load(&of_one("Outer", node_type), registry).unwrap_err()
}

fn run(flow: &LoadedFlow, input: Value) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(flow.run(input)).unwrap()
}

#[test]
fn a_flow_is_named_like_a_node() {
    let registry = registry![write, stamp, Stamped].with_flow(of_one("Wrapped", "Stamped"));
    let flow = try_load(&of_one("Outer", "Wrapped"), &registry).unwrap();
    let output = run(&flow, json!({ "topic": "crabs" }));
    assert_eq!(output, json!({ "draft": "About crabs.", "end": "default" }));
}

#[test]
fn a_flow_brings_no_nodes() {
    let registry = registry![write, Stamped].with_flow(of_one("Wrapped", "Stamped"));
    assert_eq!(
        refused("Stamped", &registry),
        "25:15: in the flow `Stamped`: no node `stamp` is registered [F004]\n\
         at /nodes/0/type\n\
         at /nodes/1/type of `Stamped`\n\
         help: register it: `registry![stamp]`"
    );
    assert!(
        refused("Wrapped", &registry)
            .contains("\nat /nodes/1/type of `Stamped`, which `Wrapped` names\n")
    );
    // However often the flow is used.
    let mut several = of_one("Outer", "Stamped");
    several.nodes.push(several.nodes[0].clone());
    several.nodes[1].id = "other".to_owned();
    several.edges.push(flow_spec::document::EdgeDocument {
        from: "only".to_owned(),
        to: "other".to_owned(),
        condition: "default".to_owned(),
        mappings: serde_json::Map::new(),
    });
    several.ends[0].from = Some("other".to_owned());
    several.entry_node_id = Some("only".to_owned());
    let said = try_load(&several, &registry).unwrap_err();
    assert_eq!(said.matches("no node `stamp`").count(), 1, "{said}");
}

#[test]
fn flows_that_contain_each_other() {
    let registry = registry![write]
        .with_flow(of_one("A", "B"))
        .with_flow(of_one("B", "C"))
        .with_flow(of_one("C", "A"));
    assert_eq!(
        refused("A", &registry),
        "25:15: the flow `A` contains itself [F014]\n\
         at /nodes/0/type\n\
         the way round: A > B > C > A\n\
         help: lead an edge back to the node from which it has to run again"
    );
    // The document itself need not be registered.
    let said = try_load(&of_one("B", "C"), &registry).unwrap_err();
    assert!(said.contains("the way round: B > C > A > B"), "{said}");
}

#[test]
fn flows_that_become_too_large() {
    let mut registry = registry![write];
    let mut next = "write".to_owned();
    for level in 0..12 {
        let name = format!("Level{level}");
        let mut flow = of_one(&name, &next);
        flow.nodes = (0..10)
            .map(|number| flow_spec::NodeDocument {
                id: format!("n{number}"),
                ..flow.nodes[0].clone()
            })
            .collect();
        registry = registry.with_flow(flow);
        next = name;
    }
    assert_eq!(
        refused("Level11", &registry),
        "25:15: with all that it names, `Level11` is larger than 32 MiB or 1000000 values [F023]\nat /nodes/0/type"
    );
}

#[test]
fn flows_that_become_too_deep() {
    let mut registry = registry![write];
    let mut next = "write".to_owned();
    for level in 0..40 {
        let name = format!("Level{level}");
        registry = registry.with_flow(of_one(&name, &next));
        next = name;
    }
    assert!(try_load(&of_one("Outer", "Level31"), &registry).is_ok());
    assert_eq!(
        refused("Level32", &registry),
        "25:15: flows nest deeper than 32 levels [F023]\nat /nodes/0/type"
    );
}

#[derive(Serialize, Deserialize)]
#[node(human = "Which {topic}?", writes = draft)]
struct Pick(String);

#[test]
fn a_question_asks_for_a_type_that_is_one() {
    let asked = |expects: &str| {
        let mut document = of_one("Outer", "write");
        document.nodes[0].r#type = "flow.human".to_owned();
        let params = json!({ "prompt": "Which {topic}?", "expects": expects });
        document.nodes[0].params = params.as_object().unwrap().clone();
        let loaded = try_load(&document, &registry![write, stamp, Stamped, Pick]);
        loaded
            .map(drop)
            .map_err(|error| error.lines().next().unwrap().to_owned())
    };
    assert_eq!(asked("Pick"), Ok(()));
    for other in ["write", "Stamped"] {
        let said = format!("29:20: `{other}` is not a type that people are asked for [F022]");
        assert_eq!(asked(other), Err(said));
    }
    assert_eq!(
        refused("Pick", &registry![Pick]),
        "25:15: `Pick` is a type that people are asked for [F022]\nat /nodes/0/type\n\
         help: write `flow.human`, and `\"expects\": \"Pick\"` beside the `prompt` in its `params`"
    );
}

/// Says which one it is.
struct Say(&'static str);

#[node(writes = draft)]
impl Say {
    async fn exec(&self, topic: &str) -> String {
        tokio::task::yield_now().await;
        format!("{} of {topic}", self.0)
    }
}

/// What a flow of one node of this type returns.
fn said(node_type: &str, registry: &Registry) -> String {
    let flow =
        try_load(&of_one("Outer", node_type), registry).unwrap_or_else(|error| panic!("{error}"));
    run(&flow, json!({ "topic": "crabs" }))["draft"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// ME-09: two engines have tools of one name.
#[tokio::test]
async fn two_registries_share_nothing() {
    let document = of_one("Outer", "Say");
    let one = try_load(&document, &registry![Say = Say("one")]).unwrap();
    let two = try_load(&document, &registry![Say = Say("two")]).unwrap();
    let input = json!({ "topic": "crabs" });
    let (one, two) = tokio::join!(one.run(input.clone()), two.run(input));
    assert_eq!(one.unwrap()["draft"], "one of crabs");
    assert_eq!(two.unwrap()["draft"], "two of crabs");
}

/// ME-09 with D-44: versions, and a clone as the fork. That a registry which is shared, as the
/// finalized one, accepts no additions is seen by rustc: an example of `Registry` shows it.
#[test]
fn the_highest_version_is_taken() {
    let registry = registry![
        Say @ "1.0.0" = Say("1.0.0"),
        Say @ "2.0.0" = Say("2.0.0"),
        Say @ "1.5.0" = Say("1.5.0"),
        Say @ "2.0.0-beta.1" = Say("2.0.0-beta.1"),
        Say = Say("none"),
    ];
    let clone = registry.clone();
    for registry in [&registry, &clone] {
        assert_eq!(said("Say", registry), "2.0.0 of crabs");
        for version in ["1.0.0", "2.0.0", "1.5.0", "2.0.0-beta.1"] {
            let expected = format!("{version} of crabs");
            assert_eq!(said(&format!("Say@{version}"), registry), expected);
        }
    }
    // A clone accepts additions, and the registry that it comes from has none of them.
    let clone = clone.with(registry![Say @ "3.0.0" = Say("3.0.0"), Say @ "1.5.0" = Say("another")]);
    assert_eq!(said("Say", &clone), "3.0.0 of crabs");
    assert_eq!(said("Say@1.5.0", &clone), "another of crabs");
    assert_eq!(said("Say", &registry), "2.0.0 of crabs");
    assert_eq!(said("Say@1.5.0", &registry), "1.5.0 of crabs");
}

#[test]
fn a_version_that_is_not_there() {
    let registry = registry![Say @ "1.0.0" = Say("1"), Say @ "1.10.0" = Say("2"), stamp];
    let first_line =
        |node_type: &str| refused(node_type, &registry).replace("\nat /nodes/0/type", "");
    assert_eq!(
        first_line("Say@1.2.0"),
        "25:15: no version 1.2.0 of `Say` is registered [F004]\nhelp: there is 1.0.0, 1.10.0"
    );
    assert_eq!(
        first_line("Say@1.2"),
        "25:15: `1.2` is not a version [F016]\nhelp: write three numbers, as in `Say@1.2.0`"
    );
    assert_eq!(
        first_line("stamp@1.2.0"),
        "25:15: no version 1.2.0 of `stamp` is registered [F004]\nhelp: it is registered without a version: write `stamp`"
    );
    assert_eq!(
        first_line("Saay@1.2.0"),
        "25:15: no node `Saay` is registered [F004]\nhelp: did you mean `Say`?"
    );
}

#[test]
fn flows_have_versions_too() {
    let document = of_one("Spoken", "Say@1.0.0");
    let registry = registry![Say @ "1.0.0" = Say("1"), Say @ "2.0.0" = Say("2")]
        .with_flow_version(of_one("Spoken", "Say"), Version::new(2, 0, 0))
        .with_flow_version(document.clone(), Version::new(1, 0, 0));
    assert_eq!(said("Spoken", &registry), "2 of crabs");
    assert_eq!(said("Spoken@1.0.0", &registry), "1 of crabs");
    // One version of a flow may use another.
    let registry =
        registry.with_flow_version(of_one("Spoken", "Spoken@1.0.0"), Version::new(3, 0, 0));
    assert_eq!(said("Spoken", &registry), "1 of crabs");
    // Without a version, the document takes the place of the compiled flow.
    let registry = registry![write, stamp, Stamped].with_flow(of_one("Stamped", "write"));
    assert_eq!(said("Stamped", &registry), "About crabs");
}

mod other {
    use flow_runtime::prelude::*;

    #[node(writes = draft)]
    pub(crate) fn stamp(topic: &str) -> String {
        topic.to_owned()
    }
}

#[test]
fn two_nodes_of_one_name() {
    let registry = registry![stamp, other::stamp];
    assert_eq!(
        refused("stamp", &registry),
        "25:15: several nodes are registered as `stamp` [F017]\nat /nodes/0/type\n\
         help: write the full path: `registries::stamp` or `registries::other::stamp`"
    );
    assert_eq!(said("registries::other::stamp", &registry), "crabs");
    // With versions, the higher one is meant.
    let registry = registry![stamp @ "1.0.0", other::stamp @ "1.1.0"];
    assert_eq!(said("stamp", &registry), "crabs");
}

#[derive(Action)]
enum Done {
    Complete,
}

#[node(actions = Done)]
fn judge() -> Done {
    Done::Complete
}

/// A flow with an action that cannot be stored runs, and not durably.
#[tokio::test]
async fn an_action_that_cannot_be_stored_is_refused_when_it_is_registered() {
    let document = r#"{ "version": "2.0.0", "name": "T", "namespace": "t",
        "nodes": [{ "type": "judge", "id": "judge" }], "edges": [],
        "ends": [{ "from": "judge", "condition": "complete", "label": "default" }] }"#;
    let flow = load(document, Format::Json, &registry![judge]).unwrap();
    let output = flow.run(serde_json::json!({})).await.unwrap();
    assert_eq!(output, serde_json::json!({ "end": "default" }));
    let runtime = flow_durable::Runtime::new(flow_durable::MemoryStore::new());
    let flow = std::sync::Arc::new(flow);
    let error = runtime.register(flow.clone()).unwrap_err();
    let said = "the flow `T` cannot run durably: `judge`: what this node returns, `registries::Done`, is not `Serialize` and `Deserialize`";
    assert_eq!(error.to_string(), said);
    let error = runtime.replace(flow).unwrap_err();
    assert_eq!(error.to_string(), said);
}
