//! Definitions that are kept.

mod active;
mod configuration;
mod operations;
mod stores;
mod validation;

use flow_definitions::{Content, Definitions, MemoryDefinitions};
use flow_loader::{Registry, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Good,
    Bad,
}

#[node(writes = text)]
fn write(topic: &str, words: u64) -> String {
    vec![topic; words as usize].join(" ")
}

#[node(actions = Verdict)]
fn review(text: &str) -> Verdict {
    match text.len() {
        0..8 => Verdict::Bad,
        _ => Verdict::Good,
    }
}

fn nodes() -> Registry {
    registry![write, review]
}

fn definitions() -> Definitions {
    Definitions::new(MemoryDefinitions::new(), nodes())
}

/// A flow without mistakes.
fn article(name: &str) -> Value {
    json!({
        "version": "2.0.0",
        "name": name,
        "namespace": "article",
        "inputs": {
            "type": "object",
            "properties": { "topic": {}, "words": { "default": 2 } },
            "required": ["topic"],
        },
        "outputs": { "type": "object", "properties": { "text": {} }, "required": ["text"] },
        "nodes": [{ "type": "write", "id": "write" }, { "type": "review", "id": "review" }],
        "edges": [{ "from": "write", "to": "review", "condition": "default" }],
        "entryNodeId": "write",
        "ends": [
            { "from": "review", "condition": "good", "label": "default" },
            { "from": "review", "condition": "bad", "label": "bad" },
        ],
    })
}

fn draft(name: &str) -> Content {
    Content::new(article(name))
}
