//! What `params` of documents can hold.

mod dependencies;
#[cfg(feature = "credential-file")]
mod file;
mod page;
mod secrets;

use flow_loader::{Format, LoadedFlow, Registry, load};
use serde_json::{Value, json};

/// A flow of one node, `step`, which reads `question` and writes `answer`.
fn document(node: &str, params: &Value) -> String {
    json!({
        "version": "2.0.0",
        "name": "Qa",
        "namespace": "qa",
        "inputs": { "type": "object", "properties": { "question": {} }, "required": ["question"] },
        "outputs": { "type": "object", "properties": { "answer": {} }, "required": ["answer"] },
        "nodes": [{ "type": node, "id": "step", "params": params }],
        "edges": [],
        "ends": [{ "from": "step", "condition": "default", "label": "default" }],
    })
    .to_string()
}

pub(crate) fn loaded(
    node: &str,
    params: &Value,
    registry: &Registry,
) -> Result<LoadedFlow, String> {
    let loaded = load(document(node, params), Format::Json, registry);
    loaded.map_err(|error| error.to_string())
}

/// The message of the only problem, without its place in the text.
pub(crate) fn refused(node: &str, params: &Value, registry: &Registry) -> String {
    let error = loaded(node, params, registry).unwrap_err();
    error.split_once(": ").unwrap().1.to_owned()
}

pub(crate) async fn answer(flow: &LoadedFlow) -> String {
    let output = flow.run(json!({ "question": "why?" })).await.unwrap();
    output["answer"].as_str().unwrap().to_owned()
}
