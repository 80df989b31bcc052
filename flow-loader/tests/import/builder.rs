//! The mistakes that a flow builder reports (ME-08 of the conformance cases), with the codes of this
//! project:
//!
//! | of the builder | here |
//! |---|---|
//! | `graph.empty`, and with it `graph.no_start` and `graph.no_end` | F018, once: it is one mistake |
//! | `graph.no_start` | F018 |
//! | `graph.no_end` | F006, at each circle without a way out |
//! | an edge to or from a node that does not exist | F004 |
//! | an edge into the start, an edge out of an end | F004: start and ends are not nodes |
//! | a step that is not reached | F005 |
//! | a cycle without an exit | F006 |

use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

#[node]
fn planner(input: &str) -> String {
    input.to_owned()
}

/// The codes for a document with these nodes, edges, ends and entry.
fn codes(
    nodes: &[&str],
    edges: &[(&str, &str)],
    ends: &[&str],
    entry: Option<&str>,
) -> Vec<String> {
    let node = |id: &&str| json!({ "type": "planner", "id": id, "mappings": { "outputs": { "planner": id } } });
    let edge =
        |(from, to): &(&str, &str)| json!({ "from": from, "to": to, "condition": "default" });
    let end = |from: &&str| json!({ "from": from, "condition": "default", "label": "default" });
    let mut document = json!({
        "version": "2.0.0",
        "name": "built",
        "namespace": "built",
        "inputs": { "type": "object", "properties": { "input": {} }, "required": ["input"] },
        "nodes": nodes.iter().map(node).collect::<Vec<Value>>(),
        "edges": edges.iter().map(edge).collect::<Vec<Value>>(),
        "ends": ends.iter().map(end).collect::<Vec<Value>>(),
    });
    if let Some(entry) = entry {
        document["entryNodeId"] = entry.into();
    }
    of(&document)
}

fn of(document: &Value) -> Vec<String> {
    match load(document.to_string(), Format::Json, &registry![planner]) {
        Ok(_) => Vec::new(),
        Err(error) => {
            let problems = error.problems().iter();
            problems.map(|problem| problem.code.to_string()).collect()
        }
    }
}

#[test]
fn of_a_document() {
    let valid = [("a", "b")];
    assert_eq!(codes(&["a", "b"], &valid, &["b"], Some("a")), [""; 0]);
    assert_eq!(codes(&[], &[], &[], None), ["F018"]);
    assert_eq!(codes(&["a", "b"], &valid, &["b"], None), ["F018"]);
    assert_eq!(
        codes(&["a", "b"], &[("a", "b"), ("b", "a")], &[], Some("a")),
        ["F006"]
    );
    let dangling = [("a", "b"), ("b", "x"), ("y", "b")];
    assert_eq!(
        codes(&["a", "b"], &dangling, &[], Some("a")),
        ["F004", "F004"]
    );
    assert_eq!(codes(&["a"], &[("a", "start")], &[], Some("a")), ["F004"]);
    assert_eq!(codes(&["a"], &[("end", "a")], &["a"], Some("a")), ["F004"]);
    assert_eq!(codes(&["a", "b"], &[], &["a", "b"], Some("a")), ["F005"]);
}

#[test]
fn of_a_workflow() {
    let steps = |steps: &[(&str, &str)]| {
        let step = |(id, next): &(&str, &str)| json!({ "id": id, "type": "agent", "agent": "planner", "on_success": next });
        of(&json!({ "id": "w", "steps": steps.iter().map(step).collect::<Vec<Value>>() }))
    };
    assert_eq!(steps(&[("a", "b"), ("b", "end")]), [""; 0]);
    assert_eq!(steps(&[]), ["F018"]);
    assert_eq!(steps(&[("a", "b"), ("b", "a")]), ["F006"]);
    assert_eq!(steps(&[("a", "x"), ("b", "y")]), ["F004", "F004"]);
    assert_eq!(steps(&[("a", "start")]), ["F004"]);
    assert_eq!(steps(&[("a", "end"), ("b", "end")]), ["F005"]);
    // A step cannot be called as the end is.
    assert_eq!(steps(&[("end", "end")]), ["F017"]);
}
