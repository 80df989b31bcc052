//! Documents whose flows wait for signals.

use std::time::Duration;

use flow_loader::{Format, LoadedFlow, NodeKind, Registry, load, registry};
use flow_runtime::engine::{AnyFlow, Direct};
use flow_runtime::prelude::*;
use flow_runtime::{Flow, SignalError, SignalSender};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The customer has changed their mind.
#[node(signal, title = "Cancel", group = "orders")]
#[derive(Debug, Serialize, Deserialize)]
struct CancelRequest {
    reason: String,
}

#[node(signal, timeout = "1h")]
#[derive(Debug, Serialize, Deserialize)]
struct Paid {
    cents: u64,
    by: String,
}

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
struct Ping;

#[node(signal, writes = +bids)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Bid {
    amount: u32,
}

#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
enum Change {
    Stop,
    Move { street: String },
}

#[node(human = "Pay?")]
#[derive(Debug, Serialize, Deserialize)]
struct Approval;

/// Reads the item of a loop.
#[node]
fn note(id: &u64) {
    let _ = id;
}

#[node]
fn tell(reason: &str) -> String {
    format!("told: {reason}")
}

fn nodes() -> Registry {
    registry![CancelRequest, Paid, Ping, Bid, Change, Approval, note, tell]
}

/// A flow with these nodes, edges and ends, which are pairs of a node and an action. Each end has
/// the label of its action; that of an error is `failed`.
fn document(nodes: &Value, edges: &[[&str; 3]], ends: &[[&str; 2]], outputs: &[&str]) -> String {
    let typed = |name: &str| match name {
        "bids" => json!({ "rustType": "Vec<Bid>" }),
        _ => json!({}),
    };
    let outputs = outputs.iter().map(|name| ((*name).to_owned(), typed(name)));
    let outputs: serde_json::Map<String, Value> = outputs.collect();
    let edge =
        |[from, action, to]: &[&str; 3]| json!({ "from": from, "to": to, "condition": action });
    let end = |[from, action]: &[&str; 2]| json!({ "from": from, "condition": action, "label": if *action == "error" { "failed" } else { action } });
    let document = json!({
        "version": "2.0.0",
        "name": "Order",
        "namespace": "order",
        "inputs": {},
        "outputs": { "type": "object", "properties": outputs },
        "nodes": nodes,
        "entryNodeId": nodes[0]["id"],
        "edges": edges.iter().map(edge).collect::<Vec<_>>(),
        "ends": ends.iter().map(end).collect::<Vec<_>>(),
    });
    document.to_string()
}

/// A flow with one node, which waits for a signal, and these settings.
fn one(params: &Value, settings: &Value, outputs: &[&str], ends: &[&str]) -> String {
    let node =
        json!([{ "type": "flow.signal", "id": "stop", "params": params, "settings": settings }]);
    let ends: Vec<[&str; 2]> = ends.iter().map(|end| ["stop", *end]).collect();
    document(&node, &[], &ends, outputs)
}

/// The document with a name and an input that it has to be given.
fn with_input(text: &str, flow: &str, (input, rust_type): (&str, &str)) -> Value {
    let mut document: Value = serde_json::from_str(text).unwrap();
    document["name"] = json!(flow);
    document["namespace"] = json!(flow.to_lowercase());
    document["inputs"] = json!({ "type": "object", "properties": { input: { "rustType": rust_type } }, "required": [input] });
    document
}

fn loaded(text: &str) -> LoadedFlow {
    load(text, Format::Json, &nodes()).unwrap_or_else(|error| panic!("{error}"))
}

/// The problems of a document, without their lines.
fn said(text: &str) -> String {
    let error = load(text, Format::Json, &nodes()).expect_err("it is wrong");
    let problems = error.problems().iter();
    let texts: Vec<String> = problems
        .map(|problem| {
            let text = problem.to_string();
            text.split_once(": ")
                .map_or(text.clone(), |(_, rest)| rest.to_owned())
        })
        .collect();
    texts.join("\n")
}

async fn ran(flow: &LoadedFlow, sender: &SignalSender) -> Value {
    let options = RunOptions::new().signals(sender);
    let run = flow.run_with(json!({}), options);
    match tokio::time::timeout(Duration::from_secs(24 * 60 * 60), run).await {
        Ok(output) => output.unwrap_or_else(|error| panic!("{error:?}")),
        Err(_) => json!("it waits for ever"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_form_of_a_signal_writes_what_its_type_says() {
    let flow = |name: &str, outputs: &[&str], ends: &[&str]| {
        loaded(&one(&json!({ "expects": name }), &json!({}), outputs, ends))
    };
    let cancelled = flow("CancelRequest", &["reason"], &["default"]);
    let sender = SignalSender::new(&cancelled);
    let reason = "too late".to_owned();
    sender.send(CancelRequest { reason }).unwrap();
    assert_eq!(
        ran(&cancelled, &sender).await,
        json!({ "reason": "too late", "end": "default" })
    );

    let paid = flow("Paid", &["cents", "by"], &["default"]);
    let sender = SignalSender::new(&paid);
    sender
        .send_json("Paid", json!({ "cents": 3, "by": "Ann" }))
        .unwrap();
    assert_eq!(
        ran(&paid, &sender).await,
        json!({ "cents": 3, "by": "Ann", "end": "default" })
    );

    let pinged = flow("Ping", &[], &["default"]);
    let sender = SignalSender::new(&pinged);
    sender.send(Ping).unwrap();
    assert_eq!(ran(&pinged, &sender).await, json!({ "end": "default" }));

    let bid = flow("Bid", &["bids"], &["default"]);
    let sender = SignalSender::new(&bid);
    sender.send(Bid { amount: 3 }).unwrap();
    assert_eq!(
        ran(&bid, &sender).await,
        json!({ "bids": [{ "amount": 3 }], "end": "default" })
    );

    let change = flow("Change", &["street"], &["stop", "move"]);
    let sender = SignalSender::new(&change);
    let street = "Elm".to_owned();
    sender.send(Change::Move { street }).unwrap();
    assert_eq!(
        ran(&change, &sender).await,
        json!({ "street": "Elm", "end": "move" })
    );
    let sender = SignalSender::new(&change);
    sender.send_json("Change", json!("Stop")).unwrap();
    assert_eq!(ran(&change, &sender).await, json!({ "end": "stop" }));
}

#[tokio::test(start_paused = true)]
async fn a_signal_with_a_name_is_any_json() {
    let document = one(
        &json!({ "name": "new_address" }),
        &json!({}),
        &["message"],
        &["default"],
    );
    let flow = loaded(&document);
    let sender = SignalSender::new(&flow);
    sender
        .send_json("new_address", json!([1, null, { "street": "Elm" }]))
        .unwrap();
    let expected = json!({ "message": [1, null, { "street": "Elm" }], "end": "default" });
    assert_eq!(ran(&flow, &sender).await, expected);

    let mut document: Value = serde_json::from_str(&document).unwrap();
    document["nodes"][0]["mappings"] = json!({ "outputs": { "message": "address" } });
    document["outputs"]["properties"] = json!({ "address": {} });
    let mapped = loaded(&document.to_string());
    let sender = SignalSender::new(&mapped);
    sender.send_json("new_address", json!("Elm")).unwrap();
    assert_eq!(
        ran(&mapped, &sender).await,
        json!({ "address": "Elm", "end": "default" })
    );
}

#[test]
fn who_sends_what_no_step_takes_is_told() {
    let flow = loaded(&one(
        &json!({ "expects": "CancelRequest" }),
        &json!({}),
        &[],
        &["default"],
    ));
    let sender = SignalSender::new(&flow);
    let refused = |sent: Result<(), SignalError>| sent.unwrap_err().to_string();
    assert_eq!(
        refused(sender.send(Ping)),
        "no step waits for the signal `Ping`; the flow waits for `CancelRequest`"
    );
    assert_eq!(
        refused(sender.send_json("CancelRequest", json!({ "reason": 3 }))),
        "expected a `CancelRequest`: invalid type: integer `3`, expected a string"
    );
    assert!(matches!(
        sender.send_json("CancelRequest", json!({})),
        Err(SignalError::WrongType { .. })
    ));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_routed_or_fails() {
    let settings = json!({ "timeout": "2h" });
    let routed = one(
        &json!({ "expects": "CancelRequest" }),
        &settings,
        &["reason"],
        &["default", "timeout"],
    );
    let routed = loaded(&routed);
    let began = tokio::time::Instant::now();
    assert_eq!(
        ran(&routed, &SignalSender::new(&routed)).await,
        json!({ "end": "timeout" })
    );
    assert_eq!(began.elapsed().as_secs(), 2 * 60 * 60);

    // Of the type.
    let own = loaded(&one(
        &json!({ "expects": "Paid" }),
        &json!({}),
        &[],
        &["default", "timeout"],
    ));
    let began = tokio::time::Instant::now();
    assert_eq!(
        ran(&own, &SignalSender::new(&own)).await,
        json!({ "end": "timeout" })
    );
    assert_eq!(began.elapsed().as_secs(), 60 * 60);

    for ends in [&["default"][..], &["default", "error"]] {
        let flow = loaded(&one(&json!({ "name": "stop" }), &settings, &[], ends));
        let options = RunOptions::new().signals(&SignalSender::new(&flow));
        let output = flow.run_with(json!({}), options).await;
        match ends {
            [_] => {
                let error = output.unwrap_err();
                assert_eq!(
                    format!("{error:#}"),
                    "node `order.stop` failed after 1 attempt: timed out after 7200s"
                );
            }
            _ => assert_eq!(output.unwrap(), json!({ "end": "failed" })),
        }
    }
}

/// In an edge, in the branches of a fork and of a race, and in a flow that a loop runs.
#[tokio::test(start_paused = true)]
async fn signals_in_every_place() {
    let registry = nodes();
    let inner = document(
        &json!([
            { "type": "note", "id": "note" },
            { "type": "flow.signal", "id": "change", "params": { "expects": "Change" } },
        ]),
        &[["note", "default", "change"]],
        &[["change", "stop"], ["change", "move"]],
        &["street"],
    );
    let inner = with_input(&inner, "Inner", ("id", "u64"));
    let inner = flow_spec::FlowDocument::from_value(&inner).unwrap();
    let registry = registry.with_flow(inner);
    let signal =
        |id: &str, params: Value| json!({ "type": "flow.signal", "id": id, "params": params });
    let nodes = json!([
        signal("ping", json!({ "expects": "Ping" })),
        { "type": "flow.fork", "id": "both", "params": { "branches": [["cancel", "tell"], ["bid"]] } },
        signal("cancel", json!({ "expects": "CancelRequest" })),
        { "type": "tell", "id": "tell" },
        signal("bid", json!({ "expects": "Bid" })),
        { "type": "flow.each", "id": "moved", "params": { "item": "id", "over": "ids", "body": "inner" } },
        { "type": "Inner", "id": "inner" },
        { "type": "flow.first", "id": "next", "params": { "branches": [
            { "steps": ["paid"], "action": "paid" }, { "steps": ["any"], "action": "any" },
        ] } },
        signal("paid", json!({ "expects": "Paid" })),
        signal("any", json!({ "name": "any" })),
    ]);
    let edges = [
        ["ping", "default", "both"],
        ["both", "default", "moved"],
        ["moved", "default", "next"],
    ];
    let ends = [["next", "paid"], ["next", "any"]];
    let text = document(
        &nodes,
        &edges,
        &ends,
        &["tell", "bids", "moved", "cents", "message"],
    );
    let text = with_input(&text, "Order", ("ids", "Vec<u64>"));
    let flow = load(text.to_string(), Format::Json, &registry);
    let flow = flow.unwrap_or_else(|error| panic!("{error}"));
    let sender = SignalSender::new(&flow);
    let options = RunOptions::new().signals(&sender);
    // The last ones come first, and wait for their steps.
    sender.send_json("any", json!({ "n": 1 })).unwrap();
    for street in ["Elm", "Oak"] {
        let street = street.to_owned();
        sender.send(Change::Move { street }).unwrap();
    }
    sender.send(Bid { amount: 7 }).unwrap();
    let send = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        sender.send(Ping).unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let reason = "why not".to_owned();
        sender.send(CancelRequest { reason }).unwrap();
    };
    let (output, ()) = tokio::join!(flow.run_with(json!({ "ids": [1, 2] }), options), send);
    assert_eq!(
        output.unwrap(),
        json!({
            "tell": "told: why not",
            "bids": [{ "amount": 7 }],
            "moved": [{ "end": "Move", "street": "Elm" }, { "end": "Move", "street": "Oak" }],
            "message": { "n": 1 },
            "end": "any",
        })
    );
}

/// The message is stored, and not the tuple of its fields: serde has no tuple of so many.
#[tokio::test(start_paused = true)]
async fn a_signal_of_many_fields_can_be_stored() {
    #[node(signal)]
    #[derive(Debug, Serialize, Deserialize)]
    #[rustfmt::skip]
    struct Board {
        a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8, m: u8, n: u8, o: u8, p: u8,
        q: u8,
    }
    let text = one(
        &json!({ "expects": "Board" }),
        &json!({}),
        &["a", "q"],
        &["default"],
    );
    let flow = load(text, Format::Json, &registry![Board]).unwrap();
    AnyFlow::<Direct>::check_storable(&flow).unwrap();
    let sender = SignalSender::new(&flow);
    let field = |at: u8| (char::from(b'a' + at).to_string(), json!(at));
    let body: serde_json::Map<String, Value> = (0..17).map(field).collect();
    sender.send_json("Board", body.into()).unwrap();
    assert_eq!(
        ran(&flow, &sender).await,
        json!({ "a": 0, "q": 16, "end": "default" })
    );
}

#[test]
fn a_type_that_is_not_a_signal() {
    let expects = |name: &str| one(&json!({ "expects": name }), &json!({}), &[], &["default"]);
    assert_eq!(
        said(&expects("tell")),
        "`tell` is not a signal [F022]\n\
         at /nodes/0/params/expects\n\
         help: name a type that has `#[node(signal)]`"
    );
    assert_eq!(
        said(&expects("Approval")),
        "`Approval` is a type that people are asked for [F022]\n\
         at /nodes/0/params/expects\n\
         help: write `flow.human`, and `\"expects\": \"Approval\"` beside the `prompt` in its `params`"
    );
    assert_eq!(
        said(&expects("CancelRequst")),
        "no node `CancelRequst` is registered [F004]\n\
         at /nodes/0/params/expects\n\
         help: did you mean `CancelRequest`?"
    );
    let asked = expects("CancelRequest").replace(r#""flow.signal""#, r#""flow.human""#);
    let asked = asked.replace(r#""expects""#, r#""prompt":"Cancel?","expects""#);
    assert_eq!(
        said(&asked),
        "`CancelRequest` is a signal [F022]\n\
         at /nodes/0/params/expects\n\
         help: write `flow.signal`, and `\"expects\": \"CancelRequest\"` in its `params`"
    );
    let bare = document(
        &json!([{ "type": "CancelRequest", "id": "stop" }]),
        &[],
        &[["stop", "default"]],
        &[],
    );
    assert_eq!(
        said(&bare),
        "`CancelRequest` is a signal [F022]\n\
         at /nodes/0/type\n\
         help: write `flow.signal`, and `\"expects\": \"CancelRequest\"` in its `params`"
    );
}

/// Each mistake once, though the check of documents and the loader both know the node.
#[test]
fn settings_of_steps_on_a_signal() {
    for (settings, message) in [
        (
            json!({ "retry": { "attempts": 2 } }),
            "`stop` waits for one signal, so there is nothing to retry",
        ),
        (
            json!({ "retry": { "attempts": 2, "if": "is_busy" } }),
            "`stop` waits for one signal, so there is nothing to retry",
        ),
        (
            json!({ "transaction": true }),
            "`transaction` does nothing for `stop`",
        ),
        (
            json!({ "blocking": true }),
            "`blocking` does nothing for `stop`",
        ),
        (
            json!({ "poll": { "every": "1s" } }),
            "`poll` does nothing for `stop`",
        ),
        (json!({ "spread": 2 }), "`spread` does nothing for `stop`"),
        (
            json!({ "concurrency": 2 }),
            "`concurrency` does nothing for `stop`, which is a single step",
        ),
    ] {
        for params in [
            json!({ "expects": "CancelRequest" }),
            json!({ "name": "any" }),
        ] {
            let found = said(&one(&params, &settings, &[], &["default"]));
            assert!(found.starts_with(message), "{found}");
            assert_eq!(found.matches("\nat /nodes/").count(), 1, "{found}");
        }
    }
}

#[test]
fn mistakes_in_what_a_signal_reads_and_writes() {
    let with = |field: &str, value: Value, outputs: &[&str]| {
        let text = one(
            &json!({ "expects": "CancelRequest" }),
            &json!({}),
            outputs,
            &["default"],
        );
        let mut text: Value = serde_json::from_str(&text).unwrap();
        text["nodes"][0][field] = value;
        said(&text.to_string())
    };
    let names = |name: &str| json!({ "type": "object", "properties": { name: {} } });
    assert_eq!(
        with("inputs", names("id"), &[]),
        "`CancelRequest` has nothing that reads `id` [F023]\n\
         at /nodes/0/inputs\n\
         help: remove `inputs`: the program knows them"
    );
    assert_eq!(
        with("outputs", names("why"), &["why"]),
        "`CancelRequest` writes `reason`, and the document does not say so [F023]\n\
         at /nodes/0/outputs\n\
         help: remove `outputs`: the program knows them"
    );
    let mapped = with(
        "mappings",
        json!({ "outputs": { "reasn": "why" } }),
        &["why"],
    );
    assert_eq!(mapped.matches("\nat /").count(), 1, "{mapped}");
    assert!(mapped.contains("`reasn`"), "{mapped}");
}

#[test]
fn an_action_that_is_not_routed_or_not_there() {
    let missing = one(&json!({ "expects": "Change" }), &json!({}), &[], &["stop"]);
    assert!(
        said(&missing).starts_with("action \"move\" of `stop` goes nowhere"),
        "{}",
        said(&missing)
    );
    let late = one(
        &json!({ "expects": "CancelRequest" }),
        &json!({}),
        &[],
        &["default", "timeout"],
    );
    assert!(
        said(&late).starts_with("`stop` has no action \"timeout\""),
        "{}",
        said(&late)
    );
}

/// A loop whose items are executions of their own: nobody knows to which one to send.
#[test]
fn a_loop_with_spread_over_a_flow_that_waits() {
    let stops = document(
        &json!([
            { "type": "note", "id": "note" },
            { "type": "flow.signal", "id": "stop", "params": { "expects": "CancelRequest" } },
        ]),
        &[["note", "default", "stop"]],
        &[["stop", "default"]],
        &[],
    );
    let stops = with_input(&stops, "Stops", ("id", "u64"));
    let node = json!([{ "type": "Stops", "id": "stop", "internalFlow": stops }]);
    let around = document(&node, &[], &[["stop", "default"]], &[]);
    let around = with_input(&around, "Around", ("id", "u64"));
    for body in [stops, around] {
        let name = body["name"].clone();
        let nodes = json!([
            {
                "type": "flow.each", "id": "all", "settings": { "spread": 2 },
                "params": { "item": "id", "over": "ids", "body": "each_one" },
            },
            { "type": name, "id": "each_one", "internalFlow": body },
        ]);
        let text = document(&nodes, &[], &[["all", "default"]], &[]);
        let mut text = with_input(&text, "Order", ("ids", "Vec<u64>"));
        assert_eq!(
            said(&text.to_string()),
            "`each_one` waits for signals, and the items of a loop with `spread` run as executions of their own, \
             to which nobody sends them [F015]\n\
             at /nodes/0/settings/spread\n\
             help: remove `spread`, or wait for the signal outside the loop"
        );
        text["nodes"][0]["settings"] = json!({ "concurrency": 2 });
        loaded(&text.to_string());
    }
}

#[test]
fn signals_in_the_catalog() {
    let catalog = nodes().catalog();
    let named = |name: &str| {
        let mut nodes = catalog.nodes.iter();
        nodes.find(|node| node.name == name).unwrap()
    };
    let cancel = named("CancelRequest");
    assert_eq!(cancel.kind, NodeKind::Signal);
    let cancel = serde_json::to_value(cancel).unwrap();
    assert_eq!(cancel["kind"], "signal");
    assert_eq!(
        cancel["description"],
        "The customer has changed their mind."
    );
    assert_eq!(
        (&cancel["title"], &cancel["group"]),
        (&json!("Cancel"), &json!("orders"))
    );
    assert_eq!(cancel["outputs"]["required"], json!(["reason"]));
    assert_eq!(cancel["outputs"]["properties"]["reason"]["type"], "string");
    assert_eq!(
        cancel["actions"],
        json!([{ "name": "default", "writes": ["reason"] }])
    );
    assert_eq!(cancel["fallible"], false);

    let paid = serde_json::to_value(named("Paid")).unwrap();
    assert_eq!(paid["settings"], json!({ "timeout": "1h" }));
    assert_eq!(
        paid["actions"],
        json!([{ "name": "default", "writes": ["cents", "by"] }, { "name": "timeout" }])
    );

    let bid = serde_json::to_value(named("Bid")).unwrap();
    assert_eq!(bid["outputs"]["properties"]["bids"]["rustType"], "Bid");

    let change = serde_json::to_value(named("Change")).unwrap();
    assert_eq!(
        change["actions"],
        json!([{ "name": "stop" }, { "name": "move", "writes": ["street"] }])
    );
}

flow! {
    /// Compiled, and used by its name.
    Stopped() -> (reason: String) {
        start >> CancelRequest >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_compiled_flow_that_waits_is_part_of_a_document() {
    let nodes = json!([{ "type": "Stopped", "id": "stopped" }]);
    let text = document(&nodes, &[], &[["stopped", "default"]], &["reason"]);
    let flow = load(text, Format::Json, &registry![CancelRequest, Stopped]).unwrap();
    let sender = SignalSender::new(&flow);
    let reason = "late".to_owned();
    sender.send(CancelRequest { reason }).unwrap();
    assert_eq!(
        ran(&flow, &sender).await,
        json!({ "reason": "late", "end": "default" })
    );
    assert!(Stopped::SPEC.contains("flow.signal"));
}
