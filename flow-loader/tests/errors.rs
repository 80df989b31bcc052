//! Errors that documents route, also those of nodes that contain others.

use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde_json::json;

#[node(writes = said)]
fn say(error: &NodeError) -> String {
    format!("{error:#}")
}

#[node]
fn shaky(n: Option<&u64>) -> Result<(), String> {
    Err(format!("{n:?} is shaky"))
}

/// A document that a person writes does not say what can fail.
#[tokio::test]
async fn the_error_of_a_fork_a_race_and_a_loop_is_routed() {
    let part = json!({ "type": "shaky", "id": "shaky" });
    let numbers = json!({ "type": "array", "items": { "type": "integer" } });
    for (kind, params) in [
        ("flow.fork", json!({ "branches": [["shaky"]] })),
        (
            "flow.first",
            json!({ "branches": [{ "steps": ["shaky"] }] }),
        ),
        (
            "flow.each",
            json!({ "item": "n", "over": "numbers", "body": "shaky" }),
        ),
    ] {
        let inputs = match kind {
            "flow.each" => {
                json!({ "type": "object", "properties": { "numbers": numbers }, "required": ["numbers"] })
            }
            _ => json!({}),
        };
        let document = json!({
            "version": "2.0.0",
            "name": "Routed",
            "namespace": "routed",
            "inputs": inputs,
            "outputs": { "type": "object", "properties": { "said": {} } },
            "nodes": [part, { "type": kind, "id": "whole", "params": params }, { "type": "say", "id": "say" }],
            "entryNodeId": "whole",
            "edges": [{ "from": "whole", "to": "say", "condition": "error" }],
            "ends": [
                { "from": "whole", "condition": "default", "label": "default" },
                { "from": "say", "condition": "default", "label": "default" },
            ],
        });
        let input = match kind {
            "flow.each" => json!({ "numbers": [1] }),
            _ => json!({}),
        };
        let flow = load(document.to_string(), Format::Json, &registry![shaky, say]);
        let Ok(flow) = flow else {
            panic!("{kind}: {}", flow.unwrap_err());
        };
        let output = flow.run(input).await.unwrap();
        assert!(
            output["said"].as_str().unwrap().ends_with("shaky"),
            "{kind}: {output}"
        );
    }
}
