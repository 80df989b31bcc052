//! Flows to draw.

use flow_render::Direction;
use flow_spec::document::{EdgeDocument, EndDocument};
use flow_spec::{FlowDocument, NodeDocument};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(crate) const DIRECTIONS: [Direction; 2] = [Direction::TopToBottom, Direction::LeftToRight];

/// Three levels, a fork with a chain of two, a loop over items, a branch, a wait, a person, loops back, errors that
/// are routed, several ends, and texts that mean something in every notation.
pub(crate) fn research_desk() -> FlowDocument {
    FlowDocument::parse(include_str!("../fixtures/research_desk.json"))
        .expect("the fixture is a flow")
}

/// A race of a chain, a person and a pause, and a node after it.
pub(crate) fn order() -> FlowDocument {
    let text = r#"{
        "version": "2.0.0", "name": "Order", "namespace": "order",
        "nodes": [
            { "type": "flow.first", "id": "outcome", "params": { "branches": [
                { "steps": ["fulfil", "pack"], "action": "shipped" },
                { "steps": ["approval"] },
                { "steps": ["wait"], "action": "late" }
            ] } },
            { "type": "fulfil", "id": "fulfil", "outputs": { "type": "object", "properties": { "parcel": {} } } },
            { "type": "pack", "id": "pack", "inputs": { "type": "object", "properties": { "parcel": {} } } },
            { "type": "flow.human", "id": "approval", "params": { "prompt": "Cancel it?", "expects": "Approval" } },
            { "type": "flow.wait", "id": "wait", "params": { "duration": "2days" } },
            { "type": "mail", "id": "mail" }
        ],
        "edges": [{ "from": "outcome", "to": "mail", "condition": "shipped" }],
        "ends": [
            { "from": "outcome", "condition": "approved", "label": "cancelled" },
            { "from": "outcome", "condition": "late", "label": "late" },
            { "from": "mail", "condition": "default", "label": "default" }
        ],
        "entryNodeId": "outcome"
    }"#;
    FlowDocument::parse(text).expect("a flow")
}

/// A signal with a timeout, one of any JSON, and one beside a pause.
pub(crate) fn subscription() -> FlowDocument {
    let text = r#"{
        "version": "2.0.0", "name": "Subscription", "namespace": "subscription",
        "nodes": [
            { "type": "flow.signal", "id": "start_it", "params": { "expects": "shop::Start@1.0.0" },
              "settings": { "timeout": "2days" } },
            { "type": "flow.first", "id": "month", "params": { "branches": [
                { "steps": ["cancel_request"], "action": "cancelled" },
                { "steps": ["wait"], "action": "over" }
            ] } },
            { "type": "flow.signal", "id": "cancel_request", "params": { "expects": "CancelRequest" } },
            { "type": "flow.wait", "id": "wait", "params": { "duration": "30days" } },
            { "type": "charge", "id": "charge" },
            { "type": "flow.signal", "id": "reason", "title": "Why?", "params": { "name": "survey" } }
        ],
        "edges": [
            { "from": "start_it", "to": "month", "condition": "default" },
            { "from": "month", "to": "reason", "condition": "cancelled" },
            { "from": "month", "to": "charge", "condition": "over" },
            { "from": "charge", "to": "month", "condition": "default" }
        ],
        "ends": [
            { "from": "start_it", "condition": "timeout", "label": "late" },
            { "from": "reason", "condition": "default", "label": "default" }
        ],
        "entryNodeId": "start_it"
    }"#;
    FlowDocument::parse(text).expect("a flow")
}

/// Undo nodes of a step, of one in a fork, and one of a step here and one there, with the steps `undo` and `commit`.
pub(crate) fn fulfilment() -> FlowDocument {
    let text = r#"{
        "version": "2.0.0", "name": "Fulfilment", "namespace": "fulfilment",
        "nodes": [
            { "type": "reserve", "id": "reserve", "settings": { "undo": "release" },
              "outputs": { "type": "object", "properties": { "reservation": {} }, "required": ["reservation"] } },
            { "type": "Charge", "id": "charge", "settings": { "undo": "refund", "retry": { "attempts": 5 } },
              "outputs": { "type": "object", "properties": { "receipt": {} }, "required": ["receipt"] } },
            { "type": "Refund", "id": "refund", "title": "Give back", "settings": { "retry": { "attempts": 3 } },
              "inputs": { "type": "object", "properties": { "receipt": {}, "reservation": {} } } },
            { "type": "release", "id": "release" },
            { "type": "flow.fork", "id": "both", "params": { "branches": [["ship"], ["bill", "announce"]] } },
            { "type": "ship", "id": "ship", "settings": { "undo": "call_back" } },
            { "type": "bill", "id": "bill", "settings": { "undo": "refund" } },
            { "type": "announce", "id": "announce" },
            { "type": "call_back", "id": "call_back" },
            { "type": "flow.commit", "id": "commit" },
            { "type": "mail", "id": "mail" },
            { "type": "flow.undo", "id": "undo" }
        ],
        "edges": [
            { "from": "reserve", "to": "charge", "condition": "default" },
            { "from": "charge", "to": "both", "condition": "default" },
            { "from": "both", "to": "commit", "condition": "default" },
            { "from": "commit", "to": "mail", "condition": "default" },
            { "from": "both", "to": "undo", "condition": "error" }
        ],
        "ends": [
            { "from": "mail", "condition": "default", "label": "default" },
            { "from": "undo", "condition": "default", "label": "refused" }
        ],
        "entryNodeId": "reserve"
    }"#;
    FlowDocument::parse(text).expect("a flow")
}

pub(crate) fn node(id: &str, r#type: &str, params: Value) -> NodeDocument {
    NodeDocument {
        id: id.to_owned(),
        r#type: r#type.to_owned(),
        params: params.as_object().cloned().unwrap_or_default(),
        ..NodeDocument::default()
    }
}

pub(crate) fn edge(from: &str, condition: &str, to: &str) -> EdgeDocument {
    EdgeDocument {
        from: from.to_owned(),
        to: to.to_owned(),
        condition: condition.to_owned(),
        mappings: Map::new(),
    }
}

/// Flows that need not be sound: forks and races may share nodes or contain themselves, edges may name nothing, and any
/// node may be the undo node of any node.
pub(crate) fn any_flow() -> impl Strategy<Value = FlowDocument> {
    let leaf = level(any_node(Just(None).boxed()));
    leaf.prop_recursive(2, 24, 8, |inner| {
        level(any_node(prop::option::weighted(0.3, inner).boxed()))
    })
}

fn any_node(
    inner: BoxedStrategy<Option<FlowDocument>>,
) -> impl Strategy<Value = (NodeDocument, Option<FlowDocument>)> {
    let id = (0..9_u8).prop_map(|number| format!("n{number}"));
    let ids = prop::collection::vec(id.clone(), 1..3);
    let kind = prop_oneof![
        6 => Just(("step".to_owned(), json!({}))),
        1 => Just(("flow.wait".to_owned(), json!({ "duration": "5s" }))),
        1 => Just(("flow.undo".to_owned(), json!({}))),
        1 => Just(("flow.commit".to_owned(), json!({}))),
        1 => Just(("flow.human".to_owned(), json!({ "prompt": "Is \"this\" <right> & good?" }))),
        1 => Just(("flow.signal".to_owned(), json!({ "name": "\"this\" <one> & that" }))),
        1 => Just((
            "flow.branch".to_owned(),
            json!({ "cases": [{ "when": "a < b", "action": "a" }], "otherwise": "b" }),
        )),
        2 => prop::collection::vec(ids.clone(), 1..4)
            .prop_map(|branches| ("flow.fork".to_owned(), json!({ "branches": branches }))),
        1 => prop::collection::vec((ids, prop::option::of(Just("a"))), 1..4).prop_map(|branches| {
            let branch = |(steps, action)| json!({ "steps": steps, "action": action });
            let branches: Vec<Value> = branches.into_iter().map(branch).collect();
            ("flow.first".to_owned(), json!({ "branches": branches }))
        }),
        1 => id.prop_map(|body| {
            ("flow.each".to_owned(), json!({ "item": "one", "over": "all", "body": body }))
        }),
    ];
    let undo = prop::option::weighted(0.3, (0..9_u8).prop_map(|number| format!("n{number}")));
    (kind, inner, undo).prop_map(|((kind, params), inner, undo)| {
        let mut node = node("", &kind, params);
        node.settings.undo = undo;
        (node, inner)
    })
}

fn level(
    any: impl Strategy<Value = (NodeDocument, Option<FlowDocument>)>,
) -> impl Strategy<Value = FlowDocument> {
    let edges = prop::collection::vec((0..10_u8, 0..4_usize, 0..10_u8), 0..14);
    let ends = prop::collection::vec((0..10_u8, 0..4_usize), 0..4);
    (prop::collection::vec(any, 1..8), edges, ends).prop_map(|(nodes, edges, ends)| {
        let mut flow = FlowDocument::new("Any", "any");
        for (number, (mut node, inner)) in nodes.into_iter().enumerate() {
            node.id = format!("n{number}");
            if !node.r#type.starts_with("flow.") {
                node.internal_flow = inner.map(Box::new);
            }
            flow.nodes.push(node);
        }
        let actions = ["default", "error", "a", "an_action_with_a_rather_long_name"];
        for (from, action, to) in edges {
            flow.edges.push(edge(
                &format!("n{from}"),
                actions[action],
                &format!("n{to}"),
            ));
        }
        for (from, action) in ends {
            flow.ends.push(EndDocument {
                from: Some(format!("n{from}")),
                condition: Some(actions[action].to_owned()),
                label: actions[action].to_owned(),
                mappings: Map::new(),
            });
        }
        flow.entry_node_id = Some("n0".to_owned());
        flow
    })
}
