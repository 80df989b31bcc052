//! Flows that operators edit while a program serves them.

use serde_json::{Value, json};

use crate::{Folder, Serving};

/// The JSON of an answer.
fn body(answer: &str) -> Value {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

/// Asks, and pays `amount`.
fn asking(amount: u64) -> Value {
    json!({
        "version": "2.0.0",
        "name": "Ask",
        "namespace": "ask",
        "inputs": {
            "type": "object",
            "properties": { "employee": { "rustType": "String" }, "amount": { "rustType": "u64", "default": amount } },
            "required": ["employee"],
        },
        "outputs": { "type": "object", "properties": { "receipt": { "rustType": "String" } } },
        "nodes": [
            { "type": "flow.human", "id": "decide", "params": { "prompt": "Pay {amount}?", "expects": "Decision" } },
            { "type": "pay", "id": "pay" },
        ],
        "edges": [{ "from": "decide", "to": "pay", "condition": "approve" }],
        "ends": [
            { "from": "pay", "condition": "default", "label": "default" },
            { "from": "decide", "condition": "reject", "label": "rejected" },
        ],
        "entryNodeId": "decide",
    })
}

#[test]
fn what_operators_edit_is_kept_and_runs() {
    let folder = Folder::new();
    let more = ["--definitions", "flows.db"];
    let server = Serving::new(&folder, &more);
    let content = json!({ "flow": asking(7), "status": "active" });
    let kept = body(&server.post("/definitions", &content.to_string()));
    let id = kept["id"].as_str().unwrap_or_else(|| panic!("{kept}"));
    let start = |server: &Serving| {
        let path = format!("/definitions/{id}/executions?wait=5");
        body(&server.post(&path, &json!({ "employee": "Ann" }).to_string()))
    };
    let first = start(&server);
    assert_eq!(first["status"], "paused", "{first}");
    // Another version, for those that start from now on.
    let patch = json!({ "flow": asking(8) }).to_string();
    server.with_json("PATCH", &format!("/definitions/{id}?revision=1"), &patch);
    assert_eq!(start(&server)["status"], "paused");
    drop(server);

    let server = Serving::new(&folder, &more);
    let questions = body(&server.get("/questions", ""));
    let questions = questions["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 2);
    for question in questions {
        let token = question["token"].as_str().unwrap();
        let answer = json!({ "Approve": { "comment": "" } }).to_string();
        server.post(&format!("/questions/{token}/answer"), &answer);
    }
    // Each finishes on the version on which it has started.
    let paid = |execution: &Value| {
        let path = format!("/executions/{}?wait=5", execution["id"].as_str().unwrap());
        body(&server.get(&path, ""))["output"]["receipt"].clone()
    };
    assert_eq!(paid(&first), "7 EUR to Ann");
    let listed = body(&server.get("/executions", ""));
    let newest = &listed["executions"][0];
    assert_eq!(paid(newest), "8 EUR to Ann");
    // Only who is told so has them.
    drop(server);
    let without = Serving::new(&folder, &[]);
    assert!(without.get("/definitions", "").starts_with("HTTP/1.1 404"));
}

#[test]
fn a_file_that_is_none_of_definitions_is_refused() {
    let folder = Folder::new();
    std::fs::write(folder.place.path().join("notes.txt"), "n".repeat(5000)).unwrap();
    let called = folder.call(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--definitions",
        "notes.txt",
    ]);
    let error = called.refused();
    assert!(error.contains("notes.txt: "), "{error}");
    assert_eq!(called.output, "", "no address at which nobody listens");
}
