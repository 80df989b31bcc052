//! Documents whose flows undo what they have done.

use std::sync::Mutex;

use flow_loader::{Format, LoadedFlow, Registry, load, registry};
use flow_runtime::Flow;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Money that is reserved. It is not `Clone`.
#[derive(Debug, Serialize, Deserialize)]
struct Reserved {
    cents: u64,
}

#[node(writes = reserved)]
fn reserve(cents: &u64) -> Reserved {
    Reserved { cents: *cents }
}

#[node]
fn release(reserved: &Reserved) {
    let _ = reserved;
}

static LEDGER: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[node(writes = receipt)]
fn charge(cents: &u64) -> String {
    let receipt = format!("{cents} cents");
    LEDGER.lock().unwrap().push(format!("+{receipt}"));
    receipt
}

/// Returns what nobody reads.
#[node]
fn refund(receipt: String) -> Reserved {
    LEDGER.lock().unwrap().push(format!("-{receipt}"));
    Reserved { cents: 0 }
}

/// Writes another type under the same name.
#[node(writes = refund)]
fn refund_text(receipt: &str) -> String {
    LEDGER.lock().unwrap().push(format!("-{receipt} in words"));
    String::new()
}

#[node]
fn ship(cents: &u64) -> Result<(), String> {
    Err(format!("{cents} are not enough"))
}

fn nodes() -> Registry {
    registry![
        reserve,
        release,
        charge,
        refund,
        refund_text,
        ship,
        Charged,
        Shipped
    ]
}

/// A flow with these nodes, of which each that is a step leads to the next one.
fn document(name: &str, nodes: &Value, steps: &[&str]) -> Value {
    let edge = |pair: &[&str]| json!({ "from": pair[0], "to": pair[1], "condition": "default" });
    let edges: Vec<Value> = steps.windows(2).map(edge).collect();
    json!({
        "version": "2.0.0",
        "name": name,
        "namespace": "order",
        "inputs": {
            "type": "object", "properties": { "cents": { "rustType": "u64" } }, "required": ["cents"],
        },
        "outputs": {},
        "nodes": nodes,
        "entryNodeId": steps[0],
        "edges": edges,
        "ends": [{ "from": steps.last(), "condition": "default", "label": "default" }],
    })
}

fn loaded(document: &Value) -> LoadedFlow {
    load(document.to_string(), Format::Json, &nodes()).unwrap_or_else(|error| panic!("{error}"))
}

/// The problems of a document, without the lines of their places.
fn said(document: &Value) -> String {
    let error = load(document.to_string(), Format::Json, &nodes()).unwrap_err();
    let problems = error.problems().iter();
    let said = problems.map(|problem| {
        let text = problem.to_string();
        let (_, text) = text.split_once(": ").unwrap();
        text.to_owned()
    });
    said.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_document_is_undone() {
    let steps = json!([
        { "type": "charge", "id": "first", "settings": { "undo": "refund" }, "mappings": { "outputs": { "receipt": "one" } } },
        { "type": "charge", "id": "second", "settings": { "undo": "in_words" }, "mappings": { "outputs": { "receipt": "two" } } },
        { "type": "ship", "id": "ship" },
        { "type": "refund", "id": "refund", "mappings": { "inputs": { "receipt": "one" } } },
        { "type": "refund_text", "id": "in_words", "mappings": { "inputs": { "receipt": "two" } } },
    ]);
    let flow = loaded(&document("Order", &steps, &["first", "second", "ship"]));
    assert!(flow.structure().contains("\"undo\":\"refund\""));
    let error = flow.run(json!({ "cents": 7 })).await.unwrap_err();
    assert!(error.to_string().contains("`order.ship`"), "{error}");
    let ledger = std::mem::take(&mut *LEDGER.lock().unwrap());
    assert_eq!(
        ledger,
        ["+7 cents", "+7 cents", "-7 cents in words", "-7 cents"]
    );
}

#[test]
fn an_undo_node_that_is_not_registered() {
    let steps = json!([
        { "type": "charge", "id": "charge", "settings": { "undo": "take_back" } },
        { "type": "refunds", "id": "take_back" },
    ]);
    assert_eq!(
        said(&document("Order", &steps, &["charge"])),
        "no node `refunds` is registered [F004]\nat /nodes/1/type\nhelp: did you mean `refund`?"
    );
}

#[test]
fn a_value_that_cannot_be_kept() {
    let steps = json!([
        { "type": "reserve", "id": "reserve", "settings": { "undo": "release" } },
        { "type": "release", "id": "release" },
    ]);
    assert_eq!(
        said(&document("Order", &steps, &["reserve"])),
        "`release` reads `reserved` when it takes back `reserve`, so a copy is kept until then [F012]\n\
         at /nodes/0/settings/undo\n\
         help: derive `Clone` for `Reserved`"
    );
}

#[test]
fn an_undo_node_without_its_value() {
    let steps = json!([
        { "type": "ship", "id": "ship", "settings": { "undo": "refund" } },
        { "type": "refund", "id": "refund" },
    ]);
    let said = said(&document("Order", &steps, &["ship"]));
    assert!(
        said.contains("`refund`") && said.contains("`receipt`"),
        "{said}"
    );
}

flow! {
    Charged(cents: u64) -> (receipt: String) {
        start >> charge >> end;
        node charge: charge with undo = refund;
    }
}

flow! {
    /// It undoes nothing.
    Shipped(cents: u64) -> (receipt: String) {
        start >> charge >> end;
    }
}

/// A loop whose items are executions of their own: the execution of the loop cannot undo them.
#[test]
fn a_loop_with_spread_over_a_flow_that_can_be_undone() {
    let around = json!([{ "type": "Charged", "id": "charged" }]);
    let around = document("Around", &around, &["charged"]);
    for (body, is_refused) in [
        (json!({ "type": "Charged", "id": "each_one" }), true),
        (
            json!({ "type": "Around", "id": "each_one", "internalFlow": around }),
            true,
        ),
        (json!({ "type": "Shipped", "id": "each_one" }), false),
    ] {
        let steps = json!([
            {
                "type": "flow.each", "id": "all", "settings": { "spread": 2 },
                "params": { "item": "cents", "over": "amounts", "body": "each_one" },
            },
            body,
        ]);
        let mut text = document("Order", &steps, &["all"]);
        text["inputs"] = json!({
            "type": "object", "properties": { "amounts": { "rustType": "Vec<u64>" } }, "required": ["amounts"],
        });
        if !is_refused {
            loaded(&text);
            continue;
        }
        assert_eq!(
            said(&text),
            "`each_one` can be undone, and the items of a loop with `spread` run as executions of their own, which \
             nobody undoes with it [F025]\n\
             at /nodes/0/settings/spread\n\
             help: remove `spread`, or `undo` at the steps of `each_one`"
        );
        text["nodes"][0]["settings"] = json!({ "concurrency": 2 });
        loaded(&text);
    }
    assert!(Charged::SPEC.contains("\"undo\":\"refund\""));
}
