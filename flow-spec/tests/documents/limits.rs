//! However much is wrong with a document, what is said of it has room on a few screens, and takes
//! no longer than reading it.

use std::time::{Duration, Instant};

use flow_spec::document::MOST_PROBLEMS;
use flow_spec::{Code, FlowDocument, Problem};
use serde_json::{Value, json};

/// What is said of a document in all, which has to be said soon.
fn said(text: &str) -> Vec<Problem> {
    let start = Instant::now();
    let problems = match FlowDocument::parse(text) {
        Ok(flow) => flow.check(),
        Err(problems) => problems,
    };
    assert!(
        start.elapsed() < Duration::from_secs(200),
        "{:?}",
        start.elapsed()
    );
    problems
}

/// The first problems are there, and then it is said that there are more, all in a few words.
fn assert_cut(problems: &[Problem]) {
    assert_eq!(problems.len(), MOST_PROBLEMS + 1);
    let last = problems.last().expect("there are some");
    assert_eq!((last.pointer.as_str(), last.code), ("", Code::Document));
    assert_eq!(last.message, "there are more problems than these 100");
    assert_short(problems);
}

fn assert_short(problems: &[Problem]) {
    for problem in problems {
        let length = problem.to_string().len();
        assert!(length < 50_000, "{length}");
    }
}

fn flow(nodes: Vec<Value>) -> Value {
    json!({ "version": "2.0.0", "namespace": "t", "nodes": nodes, "edges": [], "entryNodeId": "n0" })
}

#[test]
fn as_many_problems_as_have_room_are_all_listed() {
    let nodes = vec![json!({ "type": "a", "id": "n0", "fallible": 1 }); 50];
    let problems = said(&flow(nodes).to_string());
    assert_eq!(
        problems.len(),
        50 + 49,
        "each has two mistakes, the first id is good"
    );
    let mut document = flow(vec![json!({ "id": "" }); 50]);
    assert_eq!(said(&document.to_string()).len(), MOST_PROBLEMS);
    document["name"] = json!(1);
    assert_cut(&said(&document.to_string()));
}

#[test]
fn of_many_problems_the_first_are_listed() {
    let items = 20_000;
    let many = |item: Value| vec![item; items];
    let valid = json!({ "type": "a", "id": "n0" });
    let names = |value: Value| -> Value {
        let names = (0..items).map(|number| (format!("k{number}"), value.clone()));
        Value::Object(names.collect())
    };
    for document in [
        flow(many(json!({}))),
        flow(many(json!(0))),
        flow(many(valid.clone())),
        names(json!(1)),
        json!({ "version": "2.0.0", "nodes": [valid], "edges": many(json!({ "from": "x", "to": "y", "condition": "z" })) }),
        json!({ "version": "2.0.0", "nodes": [valid], "edges": many(json!(null)) }),
        json!({ "version": "2.0.0", "nodes": [valid], "edges": [], "dependencies": names(json!(1)) }),
        json!({ "version": "2.0.0", "nodes": [valid], "edges": [], "inputs": { "properties": names(json!(1)) } }),
        json!({ "version": "2.0.0", "nodes": [valid], "edges": [], "inputs": { "required": many(json!("x")) } }),
        flow(vec![
            json!({ "type": "a", "id": "n0", "actions": [{ "name": "default" }], "mappings": { "inputs": names(json!("x")) } }),
        ]),
        flow(vec![
            json!({ "type": "a", "id": "n0", "actions": [{ "name": "default", "writes": many(json!(1)) }] }),
        ]),
        flow(vec![
            json!({ "type": "flow.fork", "id": "n0", "params": { "branches": many(json!([])) } }),
        ]),
        flow(vec![
            json!({ "type": "flow.branch", "id": "n0", "params": { "cases": many(json!({})), "otherwise": "x" } }),
        ]),
    ] {
        assert_cut(&said(&document.to_string()));
    }
}

#[test]
fn of_many_names_that_stand_twice_the_first_are_listed() {
    let twice = vec![r#"{"a":1,"a":2}"#; 200_000].join(",");
    let text =
        format!(r#"{{"version":"2.0.0","nodes":[],"edges":[],"dependencies":{{"a":[{twice}]}}}}"#);
    assert_cut(&said(&text));
}

/// A path is put together for what is wrong only.
#[test]
fn a_long_name_around_many_values_takes_no_time() {
    let (name, zeros) = ("x".repeat(1_000_000), vec!["0"; 1_000_000].join(","));
    let text =
        format!(r#"{{"version":"2.0.0","nodes":[],"edges":[],"params":{{"{name}":[{zeros}]}}}}"#);
    assert_eq!(said(&text).len(), 2);
}

#[test]
fn long_names_are_quoted_in_part() {
    let long = "x".repeat(3_000_000);
    let names: Value = (0..1000)
        .map(|number| (format!("k{number}"), json!("y")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let inputs = json!({ "type": "object", "properties": { "z": {} } });
    let mappings = json!({ "inputs": names });
    let node = json!({ "type": long, "id": long, "inputs": inputs, "mappings": mappings });
    assert_cut(&said(&flow(vec![node.clone(), node]).to_string()));
    let ids = (0..100_000).map(|number| json!({ "type": "a", "id": format!("n{number}") }));
    let mut document = flow(ids.collect());
    document["edges"] = json!([{ "from": "zzzzzz", "to": "zzzzzz", "condition": "x" }]);
    let problems = said(&document.to_string());
    assert_eq!(problems.len(), 2);
    assert_short(&problems);
    assert!(
        problems[0]
            .help
            .as_ref()
            .is_some_and(|help| help.ends_with('…')),
        "{problems:?}"
    );
}

/// Each end leaves each output unwritten: the analysis has as many mistakes as there are pairs.
#[test]
fn the_analysis_stops_when_it_has_found_enough() {
    let outputs = (0..3000).map(|number| (format!("o{number}"), json!({ "rustType": "u8" })));
    let outputs: serde_json::Map<_, _> = outputs.collect();
    let required: Vec<&String> = outputs.keys().collect();
    let actions: Vec<Value> = (0..3000)
        .map(|number| json!({ "name": format!("a{number}") }))
        .collect();
    let ends = (0..3000).map(|number| json!({ "from": "n0", "condition": format!("a{number}"), "label": format!("e{number}") }));
    let mut ends: Vec<Value> = ends.collect();
    ends.push(json!({ "from": "w", "condition": "default", "label": "done" }));
    let mut all_actions = actions.clone();
    all_actions.push(json!({ "name": "write" }));
    let writer = json!({ "type": "w", "id": "w", "outputs": { "properties": outputs, "required": required },
        "actions": [{ "name": "default", "writes": required }] });
    let document = json!({
        "version": "2.0.0", "namespace": "t",
        "outputs": { "properties": outputs, "required": required },
        "nodes": [{ "type": "a", "id": "n0", "actions": all_actions }, writer],
        "edges": [{ "from": "n0", "to": "w", "condition": "write" }],
        "ends": ends,
        "entryNodeId": "n0",
    });
    assert_cut(&said(&document.to_string()));
}

/// Each of them reads what each one before it may have written: a path to each, with a note for each on it.
#[test]
fn the_analysis_explains_no_more_than_can_be_read() {
    let count = 4000;
    let reads = json!({ "properties": { "k": { "rustType": "u8" } }, "required": ["k"] });
    let writes = json!({ "properties": { "k": { "rustType": "u8" } } });
    let node = |number: usize| {
        json!({ "type": "a", "id": format!("n{number}"), "inputs": reads, "outputs": writes,
            "actions": [{ "name": "default", "mayWrite": ["k"] }] })
    };
    let edge = |number: usize| json!({ "from": format!("n{number}"), "to": format!("n{}", number + 1), "condition": "default" });
    let mut document = flow((0..count).map(node).collect());
    document["edges"] = (0..count - 1).map(edge).collect();
    document["ends"] =
        json!([{ "from": format!("n{}", count - 1), "condition": "default", "label": "default" }]);
    let problems = said(&document.to_string());
    assert_cut(&problems);
    assert!(problems.iter().all(|problem| problem.notes.len() <= 20));
}

/// Sound documents are checked in a time that grows with their size, and little more.
#[test]
fn a_large_document_is_checked_soon() {
    let count = 20_000;
    let node = |number: usize| json!({ "type": "a", "id": format!("n{number}"), "actions": [{ "name": "default" }] });
    let edge = |number: usize| json!({ "from": format!("n{number}"), "to": format!("n{}", number + 1), "condition": "default" });
    let mut document = flow((0..count).map(node).collect());
    document["edges"] = (0..count - 1).map(edge).collect();
    document["ends"] =
        json!([{ "from": format!("n{}", count - 1), "condition": "default", "label": "default" }]);
    assert_eq!(said(&document.to_string()), []);
    for node in document["nodes"].as_array_mut().expect("a list") {
        node.as_object_mut().expect("a node").remove("actions");
    }
    document["ends"] = json!([]);
    assert_eq!(said(&document.to_string()), []);
}
