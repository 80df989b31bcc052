//! Flows of tens of thousands of nodes.

use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

#[derive(Action)]
enum Way {
    On,
    Back,
}

#[node(actions = Way)]
fn choose(input: &str) -> Way {
    if input.is_empty() { Way::Back } else { Way::On }
}

/// The document of a row of nodes, each of which leads to the next one and back to the first.
fn row(count: usize) -> Value {
    let id = |index: usize| format!("n{index}");
    let nodes = (0..count).map(|index| json!({ "type": "choose", "id": id(index) }));
    let edges = (0..count).flat_map(|index| {
        let back = json!({ "from": id(index), "to": id(0), "condition": "back" });
        let on = json!({ "from": id(index), "to": id(index + 1), "condition": "on" });
        [Some(back), (index + 1 < count).then_some(on)]
    });
    json!({
        "version": "2.0.0",
        "name": "Row",
        "namespace": "row",
        "inputs": { "type": "object", "properties": { "input": { "rustType": "String" } }, "required": ["input"] },
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.flatten().collect::<Vec<_>>(),
        "ends": [{ "from": id(count - 1), "condition": "on", "label": "default" }],
        "entryNodeId": "n0",
    })
}

/// Neither the stack nor the square of the number of nodes is in the way. All that is said of a flow
/// is said on this stack, so that nothing calls itself for each node.
#[test]
fn a_row_of_fifty_thousand_nodes_is_loaded_on_a_small_stack() {
    let loading = std::thread::Builder::new().stack_size(512 << 10);
    let loading = loading.spawn(|| {
        let text = row(50_000).to_string();
        let flow = load(text, Format::Json, &registry![choose]).unwrap();
        assert_eq!(flow.document().nodes.len(), 50_000);
        let same = flow_spec::diff(flow.document(), flow.document());
        assert!(same.is_empty());
        flow_render::source(flow.document()).unwrap().len()
    });
    assert!(loading.unwrap().join().unwrap() > 50_000);
}

/// The document of a branch with so many cases, each of which reads a key of its own.
#[cfg(feature = "cel")]
fn cases(count: usize) -> Value {
    let key = |index: usize| format!("k{index}");
    let properties = (0..count).map(|index| (key(index), json!({ "rustType": "u64" })));
    let properties: serde_json::Map<String, Value> = properties.collect();
    let required: Vec<String> = (0..count).map(key).collect();
    let cases =
        (0..count).map(|index| json!({ "when": format!("{} > 1", key(index)), "action": "more" }));
    let end = |action: &str| json!({ "from": "choice", "condition": action, "label": action });
    json!({
        "version": "2.0.0",
        "name": "Cases",
        "namespace": "cases",
        "inputs": { "type": "object", "properties": properties, "required": required },
        "nodes": [{
            "type": "flow.branch",
            "id": "choice",
            "params": { "cases": cases.collect::<Vec<_>>(), "otherwise": "less" },
        }],
        "edges": [],
        "ends": [end("more"), end("less")],
        "entryNodeId": "choice",
    })
}

/// The shortest of some times of loading it, as others use the machine as well.
#[cfg(feature = "cel")]
fn time(document: &Value) -> std::time::Duration {
    let text = document.to_string();
    let times = (0..3).map(|_| {
        let began = std::time::Instant::now();
        load(&text, Format::Json, &registry![choose]).unwrap();
        began.elapsed()
    });
    times.min().unwrap()
}

#[cfg(feature = "cel")]
#[test]
fn eight_times_as_many_cases_take_eight_times_as_long() {
    // A machine that others use may be slow once.
    let is_near = (0..5).any(|_| time(&cases(4_000)) < time(&cases(500)) * 16);
    assert!(is_near, "it takes much longer than in proportion");
}
