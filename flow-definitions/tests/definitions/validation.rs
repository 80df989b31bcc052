//! What is wrong with a definition, and where.

use flow_definitions::{Content, Definitions, Finding};
use serde_json::{Value, json};

use super::{article, definitions};

/// The codes of all errors, with their places.
fn errors(flow: Value) -> Vec<(String, String)> {
    let findings = definitions().validate(&Content::new(flow));
    let found = |finding: Finding| {
        assert!(finding.is_error());
        (finding.problem.code.to_string(), finding.problem.pointer)
    };
    findings.into_iter().map(found).collect()
}

fn one(code: &str, pointer: &str) -> Vec<(String, String)> {
    vec![(code.to_owned(), pointer.to_owned())]
}

fn changed(change: impl FnOnce(&mut Value)) -> Vec<(String, String)> {
    let mut flow = article("Article");
    change(&mut flow);
    errors(flow)
}

#[test]
fn a_sound_flow_has_no_errors() {
    assert_eq!(errors(article("Article")), []);
}

#[test]
fn a_flow_without_nodes() {
    let flow = json!({ "version": "2.0.0", "name": "Empty", "nodes": [], "edges": [] });
    assert_eq!(errors(flow), one("F018", "/flow/nodes"));
}

#[test]
fn a_flow_without_a_start() {
    let found = changed(|flow| drop(flow.as_object_mut().unwrap().remove("entryNodeId")));
    assert_eq!(found, one("F018", "/flow"));
}

#[test]
fn a_flow_without_an_end() {
    // An action without an edge or an end.
    let found = changed(|flow| drop(flow["ends"].as_array_mut().unwrap().pop()));
    assert_eq!(found, one("F002", "/flow/nodes/1"));
    // A loop without a way out. `text` cannot be returned then.
    let found = changed(|flow| {
        flow["ends"] = json!([]);
        for action in ["good", "bad"] {
            let edge = json!({ "from": "review", "to": "write", "condition": action });
            flow["edges"].as_array_mut().unwrap().push(edge);
        }
    });
    assert_eq!(found, one("F006", "/flow/nodes/0"));
}

#[test]
fn edges_that_lead_nowhere() {
    let found = changed(|flow| {
        let edges = json!([
            { "from": "write", "to": "review", "condition": "default" },
            { "from": "review", "to": "gone", "condition": "good" },
            { "from": "missing", "to": "review", "condition": "default" },
        ]);
        flow["edges"] = edges;
        flow["ends"].as_array_mut().unwrap().remove(0);
    });
    let expected = [
        one("F004", "/flow/edges/1/to"),
        one("F004", "/flow/edges/2/from"),
    ];
    assert_eq!(found, expected.concat());
}

#[test]
fn an_edge_to_the_start_and_one_from_the_end() {
    let found = changed(|flow| {
        let edge = json!({ "from": "review", "to": "start", "condition": "bad" });
        flow["edges"].as_array_mut().unwrap().push(edge);
        flow["ends"].as_array_mut().unwrap().pop();
    });
    assert_eq!(found, one("F004", "/flow/edges/1/to"));
    let found = changed(|flow| {
        let edge = json!({ "from": "end", "to": "write", "condition": "default" });
        flow["edges"].as_array_mut().unwrap().push(edge);
    });
    assert_eq!(found, one("F004", "/flow/edges/1/from"));
    // The first node is a node as every other one.
    let found = changed(|flow| {
        let edge = json!({ "from": "review", "to": "write", "condition": "bad" });
        flow["edges"].as_array_mut().unwrap().push(edge);
        flow["ends"].as_array_mut().unwrap().pop();
    });
    assert_eq!(found, []);
}

#[test]
fn a_node_that_nothing_leads_to() {
    let found = changed(|flow| {
        let node = json!({ "type": "write", "id": "again" });
        flow["nodes"].as_array_mut().unwrap().push(node);
        let end = json!({ "from": "again", "condition": "default", "label": "default" });
        flow["ends"].as_array_mut().unwrap().push(end);
    });
    assert_eq!(found, one("F005", "/flow/nodes/2"));
}

#[test]
fn a_finding_as_json() {
    let mut content = Content::new(article("Article"));
    content.flow["nodes"][0]["type"] = "wriet".into();
    let definitions: Definitions = definitions();
    let findings = definitions.validate(&content);
    assert_eq!(
        serde_json::to_value(findings).unwrap(),
        json!([{
            "severity": "error",
            "code": "F004",
            "message": "no node `wriet` is registered",
            "pointer": "/flow/nodes/0/type",
            "notes": [],
            "related": [],
            "help": "did you mean `write`?",
        }])
    );
}

#[test]
fn a_position_of_a_node_that_is_not_there() {
    let mut content = Content::new(article("Article"));
    let layout = json!({ "review": { "x": 0, "y": 0 }, "reviwe/2": { "x": 0, "y": 0 } });
    content.layout = serde_json::from_value(layout).unwrap();
    let findings = definitions().validate(&content);
    assert_eq!(findings.len(), 1);
    assert!(!findings[0].is_error());
    assert_eq!(findings[0].problem.pointer, "/layout/reviwe~12");
}
