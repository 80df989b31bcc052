//! The law for flows that are named: they run like those that are inside the document.

use flow_loader::{Format, LoadedFlow, Registry, load, registry};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use super::support;
use super::{Item, Items, Outer, Power};
use super::{double, fetch, shaky, shaky_twice};

/// The document of a flow, with the flows in it only named.
fn by_name(spec: &str) -> String {
    let mut document: Value = serde_json::from_str(spec).unwrap();
    let mut named = 0;
    for node in document["nodes"].as_array_mut().unwrap() {
        let node = node.as_object_mut().unwrap();
        if node.remove("internalFlow").is_some() {
            named += 1;
            for known in ["inputs", "outputs", "actions", "fallible"] {
                node.remove(known);
            }
        }
    }
    assert!(named > 0, "no flow in {spec}");
    document.to_string()
}

fn loaded(text: &str, registry: &Registry) -> LoadedFlow {
    load(text, Format::Json, registry).unwrap_or_else(|error| panic!("{error}"))
}

macro_rules! law {
    ($name:ident: $flow:expr, $type:ident, $registry:expr, [$($input:expr),* $(,)?]) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            for input in [$($input),*] {
                let named = loaded(&by_name($type::SPEC), &$registry);
                let compiled = support::all($flow, &input, &json!({})).await;
                let named = support::all(named, &input, &json!({})).await;
                assert_eq!(named, compiled);
            }
        }
    };
}

law!(a_flow_in_a_flow: Outer::new(), Outer, registry![double, super::write, shaky_twice, Power], [
    json!({ "amount": 1, "topic": "a" }),
    json!({ "amount": 30, "topic": "b" }),
]);

law!(a_flow_for_each_item: Items::new(), Items, registry![shaky, Item], [
    json!({ "numbers": [0, 1, 2, 3, 4] }),
]);

flow! {
    Twice(topic: String, amount: u32) -> (draft: Option<String>, result: u32) {
        node first: Outer { result -> amount };
        start >> first;
        first - "default" >> Outer;
        first - "odd" >> end("odd") { result <- amount };
        Outer - "default" >> end;
        Outer - "odd" >> end("odd");
    }
}
law!(a_flow_of_flows: Twice::new(), Twice, registry![double, super::write, shaky_twice, Outer], [
    json!({ "amount": 1, "topic": "a" }),
    json!({ "amount": 30, "topic": "b" }),
]);

/// What a durable run keeps of the flow, and compares with later versions of it, has all that is
/// named in it.
#[test]
fn a_named_flow_is_part_of_the_structure() {
    let registry = registry![double, super::write, shaky_twice, Outer];
    let named = loaded(&by_name(Twice::SPEC), &registry);
    let inside = loaded(Twice::SPEC, &registry);
    for (named, inside) in named.document().nodes.iter().zip(&inside.document().nodes) {
        assert_eq!(named.internal_flow, inside.internal_flow);
    }

    let mut changed = loaded(Outer::SPEC, &registry).document().clone();
    changed.nodes[1].settings.timeout = Some("1s".to_owned());
    let registry = registry.with_flow(changed);
    let later = loaded(&by_name(Twice::SPEC), &registry);
    let diff = flow_spec::diff(named.document(), later.document());
    let changes: Vec<&str> = diff
        .changes
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(changes, ["first.write", "outer.write"]);
}

flow! {
    Short(topic: String) -> (draft: String) {
        branch is_short(topic) { topic.len() < 3 => "yes", else => "no" }
        start >> is_short;
        is_short - "yes" >> super::write >> end;
        is_short - "no" >> fetch >> end;
    }
}

flow! {
    Shorts(topic: String) -> (draft: String) {
        start >> Short >> end;
    }
}

/// A condition in Rust is code, and a registry has the documents of flows.
#[test]
fn a_condition_that_is_not_cel() {
    let registry = registry![super::write, fetch, Short];
    let error = load(by_name(Shorts::SPEC), Format::Json, &registry).unwrap_err();
    let [problem] = error.problems() else {
        panic!("{error}")
    };
    assert_eq!(
        problem.message,
        "in the flow `Short`: the condition cannot be used: CEL has no function `len`"
    );
    assert_eq!(problem.pointer, "/nodes/0/type");
    assert_eq!(
        problem.notes,
        ["at /nodes/0/params/cases/0/when of `Short`"]
    );
}
