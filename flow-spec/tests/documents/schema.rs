//! The JSON Schema takes what the reader takes, as far as shapes go.

use std::sync::LazyLock;

use flow_spec::document::SCHEMA;
use flow_spec::{Code, FlowDocument, Problem};
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generate::documents;
use crate::mutate::changed;

pub(crate) static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema is one")
});

/// Whether a problem of a document is about its shape, and not about what a name stands for.
fn is_of_shape(problem: &Problem, document: &Value) -> bool {
    match problem.code {
        Code::Document | Code::Malformed => true,
        Code::Start => !document
            .pointer(&problem.pointer)
            .is_some_and(edges_show_the_entry),
        Code::UnknownNode => problem.pointer.ends_with("/type"),
        _ => false,
    }
}

/// Whether a flow without an entry may be in order: if it has several nodes and no ends, the names in
/// its edges decide.
fn edges_show_the_entry(flow: &Value) -> bool {
    let count = |field: &str| flow[field].as_array().map_or(0, Vec::len);
    count("nodes") > 1 && count("ends") == 0
}

#[test]
fn the_schema_is_a_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
}

#[test]
fn fixtures_validate() {
    for text in [
        include_str!("fixtures/everything.json"),
        include_str!("fixtures/expense_approval.json"),
        include_str!("fixtures/expense_approval_2.json"),
        include_str!("fixtures/of_others.json"),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = VALIDATOR
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, [""; 0]);
    }
}

/// A document that is in order.
fn sound() -> Value {
    json!({
        "version": "2.0.0",
        "nodes": [
            { "type": "flow.fork", "id": "both", "params": { "branches": [["left"], ["right"]] } },
            { "type": "left", "id": "left" },
            { "type": "right", "id": "right", "settings": { "retry": { "attempts": 2 } } },
            { "type": "flow.branch", "id": "high", "params": {
                "cases": [{ "when": "score > 3", "action": "yes" }], "otherwise": "no"
            } },
            { "type": "flow.wait", "id": "pause", "params": { "duration": "5s" } },
            { "type": "flow.each", "id": "all", "params": { "item": "x", "over": "xs", "body": "left" } },
            { "type": "flow.human", "id": "ask", "params": { "prompt": "Deploy?", "expects": "Approval" } },
            { "type": "Inner", "id": "inner", "internalFlow": {
                "version": "2.0.0", "nodes": [], "edges": [], "ends": [{ "label": "default" }]
            } },
            { "type": "flow.signal", "id": "stop", "params": { "expects": "CancelRequest" } },
            { "type": "flow.signal", "id": "address", "params": { "name": "address" } },
            { "type": "flow.undo", "id": "undo" },
            { "type": "flow.commit", "id": "commit", "params": {} }
        ],
        "edges": [{ "from": "both", "to": "high", "condition": "default" }],
        "ends": [{ "from": "high", "condition": "yes", "label": "default" }],
        "entryNodeId": "both"
    })
}

/// What is put where, so that neither the schema nor the reader takes the document. `()` removes what is there.
const BROKEN: [(&str, &str); 92] = [
    ("", "[]"),
    ("", "null"),
    ("/version", ""),
    ("/version", "1.0"),
    ("/version", r#""1.0.0""#),
    ("/namespace", "5"),
    ("/name", "null"),
    ("/description", "[]"),
    ("/inputs", "[]"),
    ("/inputs", r#"{ "type": "array" }"#),
    ("/inputs", r#"{ "properties": [] }"#),
    ("/inputs", r#"{ "properties": { "a": true } }"#),
    (
        "/outputs",
        r#"{ "properties": { "a": { "rustType": 1 } } }"#,
    ),
    (
        "/outputs",
        r#"{ "properties": { "a": {} }, "required": "a" }"#,
    ),
    (
        "/outputs",
        r#"{ "properties": { "a": {} }, "required": ["a", "a"] }"#,
    ),
    ("/nodes", ""),
    ("/nodes", "{}"),
    ("/nodes", "[]"),
    ("/nodes/1", "5"),
    ("/nodes/1/type", ""),
    ("/nodes/1/type", r#""""#),
    ("/nodes/1/type", r#""flow.forks""#),
    ("/nodes/4/id", ""),
    ("/nodes/4/id", r#""a.b""#),
    ("/nodes/4/id", r#""2nd""#),
    ("/nodes/4/id", r#""two words""#),
    ("/nodes/1/title", r#""""#),
    ("/nodes/1/icon", "3"),
    ("/nodes/1/group", "[]"),
    ("/nodes/1/tags", r#""slow""#),
    ("/nodes/1/tags", r#"["slow", "slow"]"#),
    ("/nodes/1/params", "[]"),
    ("/nodes/1/paramsOmitted", r#"["a", "a"]"#),
    ("/nodes/1/retry", "3"),
    ("/nodes/1/settings", "[]"),
    ("/nodes/1/settings", r#"{ "retries": 3 }"#),
    ("/nodes/1/settings", r#"{ "timeout": 5 }"#),
    ("/nodes/1/settings", r#"{ "timeout": "5" }"#),
    ("/nodes/1/settings", r#"{ "timeout": "0s" }"#),
    ("/nodes/1/settings", r#"{ "timeout": "soon" }"#),
    ("/nodes/1/settings", r#"{ "concurrency": 0 }"#),
    ("/nodes/1/settings", r#"{ "spread": 0 }"#),
    ("/nodes/1/settings", r#"{ "concurrency": 1.5 }"#),
    ("/nodes/1/settings", r#"{ "blocking": "yes" }"#),
    ("/nodes/1/settings", r#"{ "transaction": "yes" }"#),
    ("/nodes/1/settings", r#"{ "undo": "" }"#),
    ("/nodes/1/settings", r#"{ "undo": ["left"] }"#),
    ("/nodes/10/params", r#"{ "duration": "5s" }"#),
    ("/nodes/11/internalFlowOmitted", "true"),
    ("/nodes/1/settings", r#"{ "poll": {} }"#),
    ("/nodes/2/settings/retry", "{}"),
    ("/nodes/2/settings/retry/attempts", "0"),
    ("/nodes/2/settings/retry/attempts", "4294967296"),
    ("/nodes/2/settings/retry/backoff", "0.5"),
    ("/nodes/2/settings/retry/jitter", "1.5"),
    ("/nodes/2/settings/retry/if", r#""""#),
    ("/nodes/2/settings/retry/if", "true"),
    ("/nodes/1/actions", "{}"),
    ("/nodes/1/actions", "[{}]"),
    ("/nodes/1/actions", r#"[{ "name": "" }]"#),
    ("/nodes/1/actions", r#"[{ "name": "a", "write": ["b"] }]"#),
    ("/nodes/1/fallible", "1"),
    ("/nodes/1/mappings", r#"{ "input": {} }"#),
    ("/edges/0/mappings", r#"{ "a": "" }"#),
    ("/ends/0/mappings", r#"{ "a": 1 }"#),
    ("/entryMappings", r#"["a"]"#),
    ("/nodes/1/dependencies", r#"["a", 1]"#),
    ("/nodes/0/params", ""),
    ("/nodes/0/params/branches", "[]"),
    ("/nodes/0/params/branches/0", "[]"),
    ("/nodes/0/params/extra", "1"),
    ("/nodes/0/internalFlowOmitted", "true"),
    ("/nodes/3/params/otherwise", ""),
    ("/nodes/3/params/cases/0/when", ""),
    ("/nodes/4/params/duration", r#""never""#),
    ("/nodes/5/params/body", ""),
    ("/nodes/6/params/prompt", r#""""#),
    ("/nodes/8/params", ""),
    ("/nodes/8/params", "{}"),
    ("/nodes/8/params/name", r#""cancel""#),
    ("/nodes/8/params/prompt", r#""Cancel?""#),
    ("/nodes/8/params/expects", "1"),
    ("/nodes/9/params/name", r#""""#),
    ("/nodes/7/internalFlow/version", ""),
    ("/nodes/7/internalFlow/ends", ""),
    ("/nodes/7/internalFlowOmitted", "true"),
    ("/edges/0/condition", ""),
    ("/edges/0/label", r#""default""#),
    ("/ends/0/condition", ""),
    ("/ends/0/from", ""),
    ("/entryNodeId", ""),
    ("/dependencies", r#"{ "a": 1 }"#),
];

#[test]
fn what_one_refuses_the_other_refuses() {
    assert!(VALIDATOR.is_valid(&sound()));
    assert_eq!(FlowDocument::from_value(&sound()).err(), None);
    for (pointer, text) in BROKEN {
        let broken = with(pointer, text);
        assert!(
            !VALIDATOR.is_valid(&broken),
            "the schema takes {pointer}: {text}"
        );
        let problems = FlowDocument::from_value(&broken).expect_err(pointer);
        assert!(
            problems.iter().any(|problem| is_of_shape(problem, &broken)),
            "{pointer}: {text}: {problems:?}"
        );
        // Without nodes, each edge names some that do not exist.
        let is_one = problems.len() == 1 || pointer == "/nodes";
        assert!(is_one, "{pointer}: {text}: {problems:?}");
    }
}

/// The document with this JSON at the pointer, or without what is there.
fn with(pointer: &str, text: &str) -> Value {
    let mut document = sound();
    let Some((around, name)) = pointer.rsplit_once('/') else {
        return serde_json::from_str(text).unwrap();
    };
    let around = document.pointer_mut(around).unwrap();
    match (around, text) {
        (Value::Object(map), "") => {
            map.shift_remove(name).unwrap();
        }
        (Value::Object(map), text) => {
            map.insert(name.to_owned(), serde_json::from_str(text).unwrap());
        }
        (Value::Array(items), text) => {
            let index: usize = name.parse().unwrap();
            items[index] = serde_json::from_str(text).unwrap();
        }
        (other, _) => panic!("{other} has no parts"),
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_document_validates(flow in documents()) {
        let value = serde_json::to_value(&flow).unwrap();
            let errors: Vec<String> = VALIDATOR.iter_errors(&value).map(|error| error.to_string()).collect();
        prop_assert!(errors.is_empty(), "{errors:?}\n{}", flow.to_json());
    }

    #[test]
    fn a_changed_document_is_taken_by_both_or_none((_, value) in changed()) {
        let problems = FlowDocument::from_value(&value).err().unwrap_or_default();
        let is_misshapen = problems.iter().any(|problem| is_of_shape(problem, &value));
        prop_assert_eq!(VALIDATOR.is_valid(&value), !is_misshapen, "{:?}\n{:#}", problems, value);
    }
}
