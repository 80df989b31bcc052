//! The list of what flows ask.

use flow_durable::Runtime;
use flow_runtime::prelude::*;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, tokens};

/// Whether somebody agrees.
#[node(human = "Agree to {number}?")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Agreed {
    Yes,
    No,
}

flow! {
    Asks(number: u32) -> () {
        start >> Agreed;
        Agreed - "yes" >> end;
        Agreed - "no" >> end("no");
    }
}

#[node(writes = number)]
fn add_one(number: u32) -> u32 {
    number + 1
}

flow! {
    Sleeps(number: u32) -> (number: u32) {
        start >> wait(1d) >> add_one >> end;
    }
}

async fn start(client: &Client, flow: &str, number: u32) {
    let path = format!("/flows/{flow}/executions");
    let started = client.post(&path, json!({ "number": number })).await;
    let started = started.expect(201);
    let path = format!("/executions/{}", started["id"].as_str().unwrap());
    while client.get(&path).await.expect(200)["status"] != "paused" {
        tokio::task::yield_now().await;
    }
}

/// Executions that are paused until a time take no place on it.
#[tokio::test]
async fn a_page_has_the_newest_that_ask() {
    let runtime = Runtime::new(flow_durable::MemoryStore::new());
    runtime.register(Asks::new()).unwrap();
    runtime.register(Sleeps::new()).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    for number in 1..=3 {
        start(&client, "Asks", number).await;
        for _ in 0..3 {
            start(&client, "Sleeps", number).await;
        }
    }
    let page = client.get("/questions?limit=2").await.expect(200);
    let prompts = |page: &Value| {
        let questions = page["questions"].as_array().unwrap().iter();
        let prompts = questions.map(|question| question["prompt"].as_str().unwrap().to_owned());
        prompts.collect::<Vec<_>>()
    };
    assert_eq!(prompts(&page), ["Agree to 3?", "Agree to 2?"]);
    let next = page["next"].as_str().unwrap();
    let page = client
        .get(&format!("/questions?limit=2&before={next}"))
        .await;
    let page = page.expect(200);
    assert_eq!(prompts(&page), ["Agree to 1?"]);
    assert_eq!(page["next"], Value::Null);
}
