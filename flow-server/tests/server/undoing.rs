//! Executions that are undone before they are cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flow_durable::{MemoryStore, Runtime};
use flow_runtime::prelude::*;
use flow_server::Server;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Client, tokens};

#[node(writes = receipt)]
fn charge() -> u32 {
    17
}

#[derive(Clone, Default)]
struct Refund {
    is_open: Arc<AtomicBool>,
}

#[node]
impl Refund {
    fn exec(&self, _receipt: &u32) -> Result<(), String> {
        if self.is_open.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err("the bank is closed".to_owned())
    }
}

#[node(human = "Ship it?")]
#[derive(Serialize, Deserialize)]
enum Shipping {
    Yes,
}

flow! {
    Sale() -> () {
        node refund: Refund;
        node charge: charge with undo = refund;
        start >> charge >> Shipping;
        Shipping - "yes" >> end;
    }
}

/// Serves the flow, and starts an execution that has charged somebody and asks.
async fn charged(refund: &Refund) -> (Client, String) {
    let runtime = Runtime::new(MemoryStore::new());
    let flow = Sale::builder().refund(refund.clone()).build();
    runtime.register(flow).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    let start = client.post("/flows/Sale/executions?wait=60", json!({}));
    let execution = start.await.expect(201);
    assert_eq!(execution["status"], "paused");
    let id = execution["id"].as_str().unwrap();
    (client, format!("/executions/{id}"))
}

async fn ids(client: &Client, status: &str) -> usize {
    let listed = client.get(&format!("/executions?status={status}")).await;
    let listed = listed.expect(200);
    let executions = listed["executions"].as_array().unwrap();
    assert!(
        executions.iter().all(|it| it["status"] == status),
        "{listed}"
    );
    executions.len()
}

async fn undoable(client: &Client, path: &str) -> Value {
    let steps = client.get(&format!("{path}/undoable")).await.expect(200);
    steps["steps"].clone()
}

#[tokio::test]
async fn one_that_is_cancelled_is_cancelling_until_it_is_undone() {
    let refund = Refund::default();
    let (client, path) = charged(&refund).await;
    let step = json!([{ "path": "sale.charge", "step": "sale.charge", "visit": 1 }]);
    assert_eq!(undoable(&client, &path).await, step);

    let cancel = format!("{path}/cancel");
    let cancelled = client.post(&cancel, json!({ "reason": "late" })).await;
    assert_eq!(cancelled.expect(200)["status"], "cancelling");
    let halted = client.get(&format!("{path}?wait=60")).await.expect(200);
    assert_eq!(halted["status"], "cancelling");
    let reason = halted["halted"].as_str().unwrap();
    assert!(
        reason.contains("sale.charge") && reason.contains("the bank is closed"),
        "{reason}"
    );
    assert_eq!(undoable(&client, &path).await, step);
    assert_eq!(ids(&client, "cancelling").await, 1);
    assert_eq!(
        ids(&client, "paused").await + ids(&client, "running").await,
        0
    );

    refund.is_open.store(true, Ordering::SeqCst);
    let retry = client.post(&format!("{path}/retry"), Value::Null).await;
    retry.expect(200);
    let ended = client.get(&format!("{path}?wait=60")).await.expect(200);
    assert_eq!(
        (&ended["status"], &ended["reason"]),
        (&json!("cancelled"), &json!("late"))
    );
    assert_eq!(undoable(&client, &path).await, json!([]));
    assert_eq!(ids(&client, "cancelling").await, 0);
    let again = client.post(&cancel, json!({ "reason": "late" })).await;
    assert_eq!(again.problem(409, "over")["executionStatus"], "cancelled");
}

#[tokio::test]
async fn one_that_cannot_be_undone_is_ended_as_it_is() {
    let (client, path) = charged(&Refund::default()).await;
    let cancel = format!("{path}/cancel");
    let late = json!({ "reason": "late" });
    client.post(&cancel, late).await.expect(200);
    client.get(&format!("{path}?wait=60")).await.expect(200);

    // Those who may cancel it may do this, and nobody else.
    let as_it_is = json!({ "reason": "the bank is gone", "undo": false });
    let ben = client.with_token("ben's token");
    ben.post(&cancel, as_it_is.clone())
        .await
        .problem(404, "not-found");
    ben.get(&format!("{path}/undoable"))
        .await
        .problem(404, "not-found");
    let nobody = client.with_token("nobody's token");
    nobody
        .post(&cancel, as_it_is.clone())
        .await
        .problem(401, "unauthenticated");
    for wrong in [
        json!({ "reason": "", "undo": "no" }),
        json!({ "undo": false }),
    ] {
        client
            .post(&cancel, wrong)
            .await
            .problem(400, "bad-request");
    }
    assert_eq!(ids(&client, "cancelling").await, 1);

    let ended = client.post(&cancel, as_it_is).await.expect(200);
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(ended["reason"], "the bank is gone");
    assert_eq!(undoable(&client, &path).await[0]["path"], "sale.charge");
    assert_eq!(ids(&client, "cancelling").await, 0);
}
