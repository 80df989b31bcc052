//! The cases that the upstream suites have for documents, by their numbers. What differs on purpose
//! says why.

use flow_spec::document::{DEFAULT_DEPTH, EdgeDocument, EndDocument, property};
use flow_spec::{Code, FlowDocument, NodeDocument, Problem};
use serde_json::{Map, Value, json};

/// A flow nested `levels` times around one leaf.
fn nested(levels: usize) -> FlowDocument {
    let mut flow = around("leaf", None);
    for level in (1..=levels).rev() {
        flow = around(&format!("nested{level}"), Some(flow));
    }
    namespaces(&mut flow, "root");
    flow
}

/// A flow of this one node.
fn around(id: &str, inner: Option<FlowDocument>) -> FlowDocument {
    let mut flow = FlowDocument::new("", "");
    flow.nodes.push(NodeDocument {
        r#type: id.to_owned(),
        id: id.to_owned(),
        internal_flow: inner.map(Box::new),
        ..NodeDocument::default()
    });
    flow.ends.push(EndDocument {
        from: Some(id.to_owned()),
        condition: Some("default".to_owned()),
        label: "default".to_owned(),
        mappings: Map::new(),
    });
    flow.entry_node_id = Some(id.to_owned());
    flow
}

fn namespaces(flow: &mut FlowDocument, namespace: &str) {
    flow.namespace = namespace.to_owned();
    for node in &mut flow.nodes {
        if let Some(inner) = &mut node.internal_flow {
            namespaces(inner, &format!("{namespace}.{}", node.id));
        }
    }
}

/// How many levels of flows are inside, and whether the innermost node is a flow that was left out.
fn levels(flow: &FlowDocument) -> (usize, bool) {
    let node = &flow.nodes[0];
    match &node.internal_flow {
        Some(inner) => {
            let (inside, is_cut) = levels(inner);
            (inside + 1, is_cut)
        }
        None => (0, node.internal_flow_omitted),
    }
}

/// BP-04. D-17: the default is 10, as PRD-004 §14 says, and a cut is marked.
#[test]
fn depth_limits() {
    let flow = nested(14);
    assert_eq!(flow.check(), []);
    for (limit, expected) in [
        (DEFAULT_DEPTH, (10, true)),
        (2, (2, true)),
        (1, (1, true)),
        (0, (0, true)),
        (13, (13, true)),
        (14, (14, false)),
        (usize::MAX, (14, false)),
    ] {
        let mut cut = flow.clone();
        cut.cut(limit);
        assert_eq!(levels(&cut), expected, "limit {limit}");
        assert_eq!(FlowDocument::parse(&cut.to_json()).as_ref(), Ok(&cut));
    }
}

/// BP-07 on load: a flow that contains itself, directly and through another.
#[test]
fn cycles_in_nesting() {
    for path in [vec!["t", "t"], vec!["t", "u", "t"]] {
        let mut flow = around("leaf", None);
        for namespace in path.iter().rev() {
            if flow.namespace.is_empty() && flow.nodes[0].id == "leaf" {
                flow.namespace = (*namespace).to_owned();
            } else {
                flow = around("inner", Some(flow));
                flow.namespace = (*namespace).to_owned();
            }
        }
        let flow = FlowDocument::parse(&flow.to_json()).unwrap();
        let problems = flow.check();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].code, Code::Recursion);
        assert_eq!(
            problems[0].pointer,
            "/nodes/0/internalFlow".repeat(path.len() - 1)
        );
        assert!(problems[0].message.contains("`t`"), "{}", problems[0]);
    }
}

/// BP-07: equal namespaces side by side are two flows.
#[test]
fn siblings_may_share_a_namespace() {
    let mut inner = around("leaf", None);
    inner.namespace = "t".to_owned();
    let mut flow = around("a", Some(inner.clone()));
    let mut second = flow.nodes[0].clone();
    second.id = "b".to_owned();
    flow.nodes.push(second);
    flow.edges.push(edge("a", "b"));
    flow.ends[0].from = Some("b".to_owned());
    flow.entry_node_id = Some("a".to_owned());
    assert_eq!(flow.check(), []);
}

fn edge(from: &str, to: &str) -> EdgeDocument {
    EdgeDocument {
        from: from.to_owned(),
        to: to.to_owned(),
        condition: "default".to_owned(),
        mappings: Map::new(),
    }
}

fn problems(flow: &Value) -> Vec<Problem> {
    FlowDocument::from_value(flow).expect_err("the document is broken")
}

/// The code and the place of each problem.
fn found(flow: &Value) -> Vec<(Code, String)> {
    let problems = problems(flow).into_iter();
    problems
        .map(|problem| (problem.code, problem.pointer))
        .collect()
}

/// Two nodes, one after the other.
fn two() -> Value {
    json!({
        "version": "2.0.0",
        "namespace": "t",
        "nodes": [
            { "type": "simple", "id": "a", "params": {} },
            { "type": "simple", "id": "b", "params": {} }
        ],
        "edges": [{ "from": "a", "to": "b", "condition": "complete" }],
        "entryNodeId": "a"
    })
}

/// BP-10, and BP-12 with D-15: each mistake alone. The registry of types is not known to a document: an unknown type is
/// one of the language.
#[test]
fn the_validator_finds_each() {
    let cases: [(&str, Option<Value>, Code, &str); 12] = [
        ("/version", None, Code::Document, ""),
        ("/version", Some(json!("1.0.0")), Code::Document, "/version"),
        ("/nodes", Some(json!([])), Code::Start, "/nodes"),
        ("/nodes", None, Code::Document, ""),
        ("/edges", None, Code::Document, ""),
        ("/nodes/1/id", Some(json!("a")), Code::Name, "/nodes/1/id"),
        (
            "/nodes/1/type",
            Some(json!("flow.simple")),
            Code::UnknownNode,
            "/nodes/1/type",
        ),
        (
            "/edges/0/to",
            Some(json!("c")),
            Code::UnknownNode,
            "/edges/0/to",
        ),
        (
            "/edges/0/from",
            Some(json!("c")),
            Code::UnknownNode,
            "/edges/0/from",
        ),
        ("/edges/0/condition", None, Code::Document, "/edges/0"),
        ("/edges/0/from", None, Code::Document, "/edges/0"),
        (
            "/entryNodeId",
            Some(json!("c")),
            Code::UnknownNode,
            "/entryNodeId",
        ),
    ];
    assert_eq!(FlowDocument::from_value(&two()).unwrap().check(), []);
    for (place, value, code, pointer) in cases {
        let mut flow = two();
        let (around, name) = place.rsplit_once('/').unwrap();
        let object = flow.pointer_mut(around).unwrap().as_object_mut().unwrap();
        object.shift_remove(name);
        let is_removed = value.is_none();
        object.extend(value.map(|value| (name.to_owned(), value)));
        if place == "/nodes/1/id" || (place == "/nodes" && !is_removed) {
            // So that this is the only mistake.
            flow["edges"] = json!([]);
        }
        let expected = [(code, pointer.to_owned())];
        assert_eq!(found(&flow), expected, "{place} removed: {is_removed}");
    }
}

/// BP-10 with D-16: all of them in one go, and in flows inside others too. Upstream's validator does not look there.
#[test]
fn the_validator_finds_all() {
    let mut inner = two();
    inner["version"] = json!("9");
    inner["nodes"] = json!([]);
    let flow = json!({
        "version": "1.0.0",
        "nodes": [
            { "type": "simple", "id": "a", "internalFlow": inner },
            { "type": "flow.simple", "id": "a" },
            { "type": "simple", "id": "b" }
        ],
        "edges": [
            { "from": "a", "to": "c", "condition": "x" },
            { "from": "a", "to": "b" },
            { "to": "b", "condition": "x" }
        ],
        "entryNodeId": "d"
    });
    let expected = [
        (Code::Document, "/version"),
        (Code::Document, "/nodes/0/internalFlow/version"),
        (Code::Start, "/nodes/0/internalFlow/nodes"),
        (Code::UnknownNode, "/nodes/0/internalFlow/edges/0/from"),
        (Code::UnknownNode, "/nodes/0/internalFlow/edges/0/to"),
        (Code::UnknownNode, "/nodes/1/type"),
        (Code::Document, "/edges/1"),
        (Code::Document, "/edges/2"),
        (Code::Name, "/nodes/1/id"),
        (Code::UnknownNode, "/entryNodeId"),
        (Code::UnknownNode, "/edges/0/to"),
    ];
    assert_eq!(
        found(&flow),
        expected.map(|(code, pointer)| (code, pointer.to_owned()))
    );
}

/// BP-12: what went wrong when loading can be told apart, and names what it is about.
#[test]
fn load_errors() {
    let mut flow = two();
    flow["extra"] = json!(1);
    flow["nodes"][0]["type"] = json!("flow.simple");
    flow["edges"][0] = json!({ "from": "x", "to": "y", "condition": "complete" });
    let problems = problems(&flow);
    let said: Vec<String> = problems
        .iter()
        .map(|problem| format!("{} [{}]", problem.message, problem.code))
        .collect();
    assert_eq!(
        said,
        [
            "there is no field `extra` here [F023]",
            "the language has no type `flow.simple` [F004]",
            "there is no node `x` [F004]",
            "there is no node `y` [F004]",
        ]
    );
}

/// D-15: one node is the entry without being named.
#[test]
fn a_flow_of_one_node_needs_no_entry() {
    let flow = json!({ "version": "2.0.0", "nodes": [{ "type": "a", "id": "a" }], "edges": [] });
    let flow = FlowDocument::from_value(&flow).unwrap();
    assert_eq!(flow.check(), []);
    assert_eq!(flow.graph().unwrap().edges.len(), 2);
}

/// BP-13: params survive as they are, and what is absent stays absent.
#[test]
fn node_params_round_trip() {
    let params = [
        json!({ "model": "small", "systemPrompt": "Be brief.", "temperature": 0.7 }),
        json!({ "model": "small" }),
        json!({ "key": "intent", "default": "default" }),
        json!({ "model": null, "temperature": 0.0, "tools": [] }),
        json!({}),
    ];
    for params in params {
        let mut flow = two();
        flow["nodes"][0]["params"] = params.clone();
        let text = FlowDocument::from_value(&flow).unwrap().to_json();
        let again: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(again["nodes"][0]["params"].to_string(), params.to_string());
    }
}

/// BP-14: both edges of a node, none of an isolated one, and all in the order written.
#[test]
fn edges_in_exports() {
    let mut flow = two();
    flow["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "type": "simple", "id": "c", "params": {} }));
    flow["edges"] = json!([
        { "from": "b", "to": "a", "condition": "retry" },
        { "from": "a", "to": "b", "condition": "error" },
        { "from": "a", "to": "b", "condition": "complete" }
    ]);
    let text = FlowDocument::from_value(&flow).unwrap().to_json();
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(again["edges"].to_string(), flow["edges"].to_string());
}

/// A producer of `chatResponse` and `tokens` and a consumer of `action` and perhaps `cost`, with these mappings on the edge between them.
fn mapped(mappings: Value) -> FlowDocument {
    let mut flow = two();
    let text = |name: &str| json!({ "type": "object", "properties": { name: { "rustType": "String" } }, "required": [name] });
    flow["nodes"][0]["outputs"] = text("chatResponse");
    flow["nodes"][0]["outputs"]["properties"]["tokens"] = Value::Object(property("u64", None));
    flow["nodes"][0]["outputs"]["required"] = json!(["chatResponse", "tokens"]);
    flow["nodes"][1]["inputs"] = text("action");
    flow["nodes"][1]["inputs"]["properties"]["cost"] = Value::Object(property("u64", None));
    flow["edges"][0]["mappings"] = mappings;
    FlowDocument::from_value(&flow).unwrap()
}

/// BP-20: what an edge renames is there under the new name where it leads.
#[test]
fn edge_mappings() {
    let [without] = &mapped(json!({})).check()[..] else {
        panic!("`action` is written by nothing")
    };
    assert_eq!(without.code, Code::UnassignedRead);
    assert_eq!(mapped(json!({ "chatResponse": "action" })).check(), []);
    let two = json!({ "chatResponse": "action", "tokens": "cost" });
    assert_eq!(mapped(two.clone()).check(), []);
    let text = mapped(two.clone()).to_json();
    let again: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(again["edges"][0]["mappings"], two);
}

/// BP-20 with D-25: a mapping belongs to its edge.
#[test]
fn an_edge_maps_only_where_it_leads() {
    let mut flow = mapped(json!({ "chatResponse": "action" }));
    let mut untaken = edge("a", "b");
    untaken.condition = "error".to_owned();
    flow.edges.push(untaken);
    let problems = flow.check();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].pointer, "/edges/1/to");
    assert!(
        problems[0].message.starts_with("`b` reads `action`"),
        "{}",
        problems[0]
    );
}

/// BP-20: mapping what is never written, of another type, or two values to one key.
#[test]
fn edge_mappings_that_cannot_be() {
    let said = |mappings| -> Vec<(Code, String)> {
        let problems = mapped(mappings).check().into_iter();
        problems
            .map(|problem| (problem.code, problem.pointer))
            .collect()
    };
    let pointer = |name: &str| format!("/edges/0/mappings/{name}");
    assert_eq!(
        said(json!({ "chatRespons": "action" })),
        [(Code::NamesNothing, pointer("chatRespons"))]
    );
    assert_eq!(
        said(json!({ "chatResponse": "action", "tokens": "action" })),
        [(Code::MappingClash, pointer("tokens"))]
    );
    assert_eq!(
        said(json!({ "tokens": "action" })),
        [(Code::TypeMismatch, pointer("tokens"))]
    );
    assert_eq!(
        said(json!({ "chatResponse": "actoin" })),
        [(Code::NamesNothing, pointer("chatResponse"))]
    );
}

/// B-036: nested flows stand inside their nodes. The flat form, with `parent` and dotted ids, is none of ours.
#[test]
fn nested_never_flat() {
    let flow = nested(3);
    let text: Value = serde_json::from_str(&flow.to_json()).unwrap();
    let leaf = format!("{}/nodes/0/id", "/nodes/0/internalFlow".repeat(3));
    assert_eq!(text.pointer(&leaf), Some(&json!("leaf")));
    assert_eq!(text["nodes"].as_array().map(Vec::len), Some(1));
    let mut flat = two();
    flat["nodes"][1]["parent"] = json!("a");
    flat["nodes"][1]["id"] = json!("a.b");
    flat["edges"] = json!([]);
    let expected = [
        (Code::Document, "/nodes/1/parent"),
        (Code::Malformed, "/nodes/1/id"),
    ];
    assert_eq!(
        found(&flat),
        expected.map(|(code, pointer)| (code, pointer.to_owned()))
    );
}
