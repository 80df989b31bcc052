//! The law for flows that are named: they run like those that are inside the document.

use std::sync::Arc;

use flow_durable::{MemoryStore, Runtime, StartOptions};
use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use super::support::{self, loaded};
use super::{Approval, Item, Items, Order, Outer, Power, Release};
use super::{double, fetch, price, shaky, shaky_twice};

/// The document of a flow, with the flows in it only named, and without what is known of its nodes.
pub(crate) fn by_name(spec: &str) -> String {
    let mut document: Value = serde_json::from_str(spec).unwrap();
    let mut named = 0;
    for node in document["nodes"].as_array_mut().unwrap() {
        let node = node.as_object_mut().unwrap();
        if node["type"].as_str().unwrap().starts_with("flow.") {
            continue;
        }
        named += usize::from(node.remove("internalFlow").is_some());
        for known in ["description", "inputs", "outputs", "actions", "fallible"] {
            node.remove(known);
        }
    }
    assert!(named > 0, "no flow in {spec}");
    document.to_string()
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

/// What a durable run keeps of the flow, and compares with later versions of it, is that of the
/// compiled flow.
#[test]
fn what_is_known_and_named_is_part_of_the_structure() {
    let registry = registry![double, super::write, shaky_twice, shaky, Power, Item, Outer];
    for spec in [Outer::SPEC, Items::SPEC, Twice::SPEC] {
        let named = loaded(&by_name(spec), &registry);
        assert_eq!(named.document().to_compact_json(), spec);
    }
}

/// A change of a flow that is named is a change of the flow that names it.
#[test]
fn a_named_flow_is_part_of_the_structure() {
    let registry = registry![double, super::write, shaky_twice, Outer];
    let named = loaded(&by_name(Twice::SPEC), &registry);
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

flow! {
    Shop(topic: String) -> (price: Option<String>) {
        start >> Release;
        Release - "default" >> end;
        Release - "rejected" >> end("rejected");
        Release - "late" >> end("late");
    }
}

/// An execution that the compiled flow began is finished by the document, in which the inner flow is
/// only named.
#[tokio::test]
async fn an_execution_changes_from_one_to_the_other() {
    let store = Arc::new(MemoryStore::new());
    let compiled = Runtime::new(store.clone());
    compiled.register(Shop::new()).unwrap();
    let input = json!({ "topic": "crabs" });
    let execution = compiled
        .executions()
        .start_json("Shop", input, StartOptions::new())
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    let id = execution.id();
    let token = execution.questions().await.unwrap()[0].token();
    compiled.shut_down().await;

    let registry = registry![super::write, Approval, Order, price, Release];
    let runtime = Runtime::new(store);
    let loaded = loaded(&by_name(Shop::SPEC), &registry);
    runtime.register(Arc::new(loaded)).unwrap();
    runtime
        .executions()
        .resume(token, json!({ "Approved": { "by": "Ann" } }))
        .await
        .unwrap();
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let token = execution.questions().await.unwrap()[0].token();
    runtime
        .executions()
        .resume(token, json!({ "count": 4 }))
        .await
        .unwrap();
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output_json().unwrap().unwrap();
    assert_eq!(output, json!({ "price": "12 for Ann", "end": "default" }));
}
