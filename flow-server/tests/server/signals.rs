//! Signals to executions.

use std::sync::Arc;

use flow_durable::{MemoryStore, Runtime, RuntimeOptions};
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, Order, Served, served, served_orders, tokens};

fn signal(id: &str, name: &str) -> String {
    format!("/executions/{id}/signals/{name}")
}

async fn untaken(client: &Client, id: &str) -> Value {
    let signals = client.get(&format!("/executions/{id}/signals")).await;
    signals.expect(200)["signals"].clone()
}

/// Serves a runtime that has the flow, and runs nothing.
fn resting(store: &Arc<MemoryStore>) -> Client {
    let options = RuntimeOptions::new().concurrent_executions(0);
    let runtime = Runtime::with_options(store.clone(), options);
    runtime.register(Order::new()).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    Client::new(server.router()).with_token("ann's token")
}

async fn resting_order(client: &Client) -> String {
    let started = client.post("/flows/Order/executions", json!({}));
    started.await.expect(201)["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_signal_continues_an_execution_that_waits_for_it() {
    let client = served_orders().client;
    let id = client.waiting_order().await;
    let body = json!({ "reason": "too late" });
    let sent = client.post(&signal(&id, "CancelRequest"), body).await;
    assert_eq!(sent.expect(200)["id"], id.as_str());
    let settled = client.get(&format!("/executions/{id}?wait=5")).await;
    let output = json!({ "end": "cancelled", "reason": "too late" });
    assert_eq!(settled.expect(200)["output"], output);
    assert_eq!(untaken(&client, &id).await, json!([]));
    let metrics = client.with_token("operator's token").get("/metrics").await;
    assert!(
        metrics.text.contains("flow_signals_sent_total 1"),
        "{}",
        metrics.text
    );
}

/// Its name is percent-encoded, and an empty body is `null`, which is what it is without fields.
#[tokio::test]
async fn a_signal_without_fields_needs_no_body() {
    let client = served_orders().client;
    let id = client.waiting_order().await;
    let path = signal(&id, "Vollst%C3%A4ndig");
    let refused = client.post(&path, json!({})).await;
    refused.problem(422, "wrong-type");
    let sent = client.send(axum::http::Method::POST, &path, None).await;
    sent.expect(200);
    let settled = client.get(&format!("/executions/{id}?wait=5")).await;
    assert_eq!(settled.expect(200)["output"]["end"], "complete");
}

#[tokio::test]
async fn signals_that_were_not_taken_are_listed_in_order() {
    let client = resting(&Arc::default());
    let id = resting_order(&client).await;
    let keyed = client.with_header("idempotency-key", "request 17");
    for (client, reason) in [(&keyed, "first"), (&client, "second")] {
        let body = json!({ "reason": reason });
        let sent = client.post(&signal(&id, "CancelRequest"), body).await;
        assert_eq!(sent.expect(200)["status"], "queued");
    }
    let mut signals = untaken(&client, &id).await;
    for signal in signals.as_array_mut().unwrap() {
        let sent_at = signal.as_object_mut().unwrap().remove("sentAtMs");
        assert!(sent_at.unwrap().as_u64() > Some(1_000_000_000_000));
    }
    let expected = json!([
        { "number": 1, "name": "CancelRequest", "body": { "reason": "first" }, "idempotencyKey": "request 17" },
        { "number": 2, "name": "CancelRequest", "body": { "reason": "second" } },
    ]);
    assert_eq!(signals, expected);
}

#[tokio::test]
async fn a_repeated_signal_is_sent_once() {
    let client = resting(&Arc::default());
    let id = resting_order(&client).await;
    let keyed = client.with_header("idempotency-key", "\"request 17\"");
    let path = signal(&id, "CancelRequest");
    for _ in 0..2 {
        keyed
            .post(&path, json!({ "reason": "a" }))
            .await
            .expect(200);
    }
    let other = keyed.post(&path, json!({ "reason": "b" })).await;
    other.problem(409, "other-signal");
    let path = signal(&id, "Vollst%C3%A4ndig");
    let other = keyed.post(&path, Value::Null).await;
    other.problem(409, "other-signal");
    let empty = client.with_header("idempotency-key", "");
    let refused = empty.post(&path, json!({ "reason": "a" })).await;
    refused.problem(400, "bad-request");
    let signals = untaken(&client, &id).await;
    assert_eq!(signals.as_array().unwrap().len(), 1, "{signals}");
}

#[tokio::test]
async fn a_signal_that_the_flow_does_not_take_is_refused() {
    let client = served_orders().client;
    let id = client.waiting_order().await;
    let unknown = client.post(&signal(&id, "Cancel"), Value::Null).await;
    let problem = unknown.problem(422, "unknown-signal");
    assert_eq!(problem["signals"], json!(["CancelRequest", "Vollständig"]));
    for body in [
        Value::Null,
        json!({}),
        json!({ "reason": 7 }),
        json!("late"),
    ] {
        let wrong = client.post(&signal(&id, "CancelRequest"), body).await;
        assert_eq!(
            wrong.problem(422, "wrong-type")["expected"],
            "CancelRequest"
        );
    }
    let (claim, _) = client.asking().await;
    let path = signal(&claim, "CancelRequest");
    let none = client.post(&path, Value::Null).await;
    let problem = none.problem(422, "unknown-signal");
    assert_eq!(problem["signals"], json!([]));
    assert_eq!(untaken(&client, &id).await, json!([]));
}

#[tokio::test]
async fn an_execution_that_is_over_takes_no_signal() {
    let client = served_orders().client;
    let id = client.waiting_order().await;
    let path = format!("/executions/{id}/cancel");
    client
        .post(&path, json!({ "reason": "x" }))
        .await
        .expect(200);
    let body = json!({ "reason": "too late" });
    let over = client.post(&signal(&id, "CancelRequest"), body).await;
    assert_eq!(over.problem(409, "over")["executionStatus"], "cancelled");
    let none = signal("01a00000-0000-7000-8000-000000000000", "CancelRequest");
    let none = client.post(&none, Value::Null).await;
    none.problem(404, "not-found");
}

/// Without the flow, nobody knows of which type the signal is.
#[tokio::test]
async fn a_server_without_the_flow_takes_no_signal() {
    let store = Arc::<MemoryStore>::default();
    let id = resting_order(&resting(&store)).await;
    let server = Server::new(Runtime::new(store)).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    let body = json!({ "reason": "too late" });
    let refused = client.post(&signal(&id, "CancelRequest"), body).await;
    let problem = refused.problem(409, "flow-not-registered");
    assert_eq!(problem["flow"], "Order");
    // The stored structure tells the names all the same.
    let signals = client.get(&format!("/executions/{id}/signals")).await;
    let expected = json!([{ "name": "CancelRequest" }, { "name": "Vollständig" }]);
    assert_eq!(signals.expect(200)["accepted"], expected);
}

#[tokio::test]
async fn flows_and_executions_say_which_signals_they_take() {
    let client = served_orders().client;
    let flows = client.get("/flows").await.expect(200);
    let flows = flows["flows"].as_array().unwrap();
    let signals = |name: &str| {
        let flow = flows.iter().find(|flow| flow["name"] == name);
        flow.unwrap()["signals"].clone()
    };
    assert_eq!(signals("Claim"), json!([]));
    let accepted = signals("Order");
    assert_eq!(accepted[0]["name"], "CancelRequest");
    let properties = &accepted[0]["schema"]["properties"];
    assert_eq!(properties["reason"]["type"], "string");
    let id = client.waiting_order().await;
    let of_execution = client.get(&format!("/executions/{id}/signals")).await;
    assert_eq!(of_execution.expect(200)["accepted"], accepted);
}

/// Like cancelling it: a link is to look and to answer.
#[tokio::test]
async fn who_may_cancel_an_execution_may_send_it_signals() {
    let Served { client, .. } = served_orders();
    let id = client.waiting_order().await;
    let path = format!("/executions/{id}/links");
    let link = client.post(&path, json!({ "expiresInSeconds": 60 })).await;
    let link = link.expect(201)["link"].as_str().unwrap().to_owned();
    let guest = client.with_token(&link);
    let (path, body) = (signal(&id, "CancelRequest"), json!({ "reason": "x" }));
    guest
        .post(&path, body.clone())
        .await
        .problem(403, "forbidden");
    assert_eq!(untaken(&guest, &id).await, json!([]));
    let ben = client.with_token("ben's token");
    ben.post(&path, body.clone())
        .await
        .problem(404, "not-found");
    let operator = client.with_token("operator's token");
    operator.post(&path, body).await.expect(200);
}

#[tokio::test]
async fn a_link_to_a_question_shows_no_signals() {
    let client = served().client;
    let (id, _) = client.asking().await;
    let body = json!({ "expiresInSeconds": 60, "step": "claim.decision" });
    let link = client.post(&format!("/executions/{id}/links"), body).await;
    let link = link.expect(201)["link"].as_str().unwrap().to_owned();
    let guest = client.with_token(&link);
    let signals = guest.get(&format!("/executions/{id}/signals")).await;
    signals.problem(404, "not-found");
}
