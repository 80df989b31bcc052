//! Executions that are halted or have failed, and are tried again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flow_durable::Runtime;
use flow_runtime::prelude::*;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, tokens};

#[derive(Clone, Default)]
struct Bake {
    is_mended: Arc<AtomicBool>,
}

#[node(writes = bread)]
impl Bake {
    fn exec(&self, number: &u32) -> u32 {
        assert!(self.is_mended.load(Ordering::SeqCst), "no bread");
        number + 1
    }
}

flow! {
    Baking(number: u32) -> (bread: u32) {
        node bake: Bake;
        start >> bake >> end;
    }
}

fn ids(listed: &Value) -> Vec<&str> {
    let executions = listed["executions"].as_array().unwrap().iter();
    executions
        .map(|execution| execution["id"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_halt_is_shown_listed_and_ended() {
    let bake = Bake::default();
    let runtime = Runtime::new(flow_durable::MemoryStore::new());
    let flow = Baking::builder().bake(bake.clone()).build();
    runtime.register(flow).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    let start = client.post("/flows/Baking/executions?wait=60", json!({ "number": 1 }));
    let execution = start.await.expect(201);
    let reason = "node `baking.bake` panicked: no bread";
    assert_eq!(execution["status"], "running");
    assert_eq!(execution["halted"], reason);
    let id = execution["id"].as_str().unwrap();
    let path = format!("/executions/{id}");
    assert_eq!(client.get(&path).await.expect(200)["halted"], reason);
    let listed = client.get("/executions?halted=true").await.expect(200);
    assert_eq!(ids(&listed), [id]);
    assert_eq!(listed["executions"][0]["halted"], reason);
    let others = client.get("/executions?halted=false").await.expect(200);
    assert!(ids(&others).is_empty(), "{others}");

    assert_eq!(refused(&client).await, "flow_executions_refused 1");

    let retry = format!("{path}/retry");
    for wrong in ["?moreSteps=-1", "?moreSteps=many", "?steps=1"] {
        let asked = client.post(&format!("{retry}{wrong}"), Value::Null).await;
        asked.problem(400, "bad-request");
    }
    let ben = client.with_token("ben's token");
    ben.post(&retry, Value::Null)
        .await
        .problem(404, "not-found");
    bake.is_mended.store(true, Ordering::SeqCst);
    let more = format!("{retry}?moreSteps=1000");
    client.post(&more, Value::Null).await.expect(200);
    let done = client.get(&format!("{path}?wait=60")).await.expect(200);
    assert_eq!(
        (&done["status"], &done["halted"]),
        (&json!("completed"), &Value::Null)
    );
    assert_eq!(done["output"]["bread"], 2);
    client.post(&retry, Value::Null).await.problem(409, "over");
    let asked = client.post(&more, Value::Null).await;
    asked.problem(409, "not-halted");
    let listed = client.get("/executions?halted=true").await.expect(200);
    assert!(ids(&listed).is_empty(), "{listed}");
    assert_eq!(refused(&client).await, "flow_executions_refused 0");
}

/// The number that tells those who run the server.
async fn refused(client: &Client) -> String {
    let operator = client.with_token("operator's token");
    let numbers = operator.get("/metrics").await.text;
    let mut lines = numbers.lines();
    let line = lines.find(|line| line.starts_with("flow_executions_refused "));
    line.unwrap_or_default().to_owned()
}

#[derive(Clone, Default)]
struct Charge {
    bank_is_open: Arc<AtomicBool>,
}

#[node(writes = receipt)]
impl Charge {
    fn exec(&self, number: &u32) -> Result<u32, String> {
        let is_open = self.bank_is_open.load(Ordering::SeqCst);
        is_open
            .then_some(number + 1)
            .ok_or_else(|| "the bank is closed".to_owned())
    }
}

flow! {
    Paying(number: u32) -> (receipt: u32) {
        node charge: Charge;
        start >> charge >> end;
    }
}

#[tokio::test]
async fn one_that_has_failed_is_retried_and_its_events_go_on() {
    let charge = Charge::default();
    let runtime = Runtime::new(flow_durable::MemoryStore::new());
    let flow = Paying::builder().charge(charge.clone()).build();
    runtime.register(flow).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    let start = client.post("/flows/Paying/executions?wait=60", json!({ "number": 1 }));
    let failed = start.await.expect(201);
    assert_eq!(failed["status"], "failed");
    let path = format!("/executions/{}", failed["id"].as_str().unwrap());
    let retry = format!("{path}/retry");
    let ben = client.with_token("ben's token");
    let nobody = ben.post(&retry, Value::Null).await;
    nobody.problem(404, "not-found");
    let more = format!("{retry}?moreSteps=5");
    let refused = client.post(&more, Value::Null).await;
    refused.problem(409, "not-halted");

    charge.bank_is_open.store(true, Ordering::SeqCst);
    let retried = client.post(&retry, Value::Null).await.expect(200);
    assert_eq!(retried["id"], failed["id"]);
    let done = client.get(&format!("{path}?wait=60")).await.expect(200);
    assert_eq!(
        (&done["status"], &done["output"]["receipt"]),
        (&json!("completed"), &json!(2))
    );
    // All events, beyond the first end.
    let events = client.get(&format!("{path}/events")).await.text;
    let at = |kind: &str| {
        events
            .find(kind)
            .unwrap_or_else(|| panic!("no {kind} in {events}"))
    };
    assert!(at("the bank is closed") < at("run_retried"), "{events}");
    assert!(at("run_retried") < at("run_completed"), "{events}");
    let again = client.post(&retry, Value::Null).await;
    assert_eq!(again.problem(409, "over")["executionStatus"], "completed");
}
