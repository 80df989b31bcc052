//! The routes of the agent framework: AF-15, A-050 to A-060.

use flow_durable::{MemoryStore, Runtime};
use flow_runtime::prelude::*;
use flow_server::Server;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Client, tokens};

#[node]
fn writer(cx: &Context, prompt: &str) -> Result<String, String> {
    if prompt == "fail" {
        return Err("no words".into());
    }
    cx.emit("He");
    cx.emit("llo");
    Ok(format!("Hello {prompt}"))
}

#[node(human = "Is `{writer}` good?")]
#[derive(Serialize, Deserialize)]
struct Editor(String);

#[node]
fn publisher(cx: &Context, editor: &Editor) -> String {
    cx.emit("Said ");
    cx.emit(&editor.0);
    format!("Said {}", editor.0)
}

flow! {
    Complex(prompt: String) -> (publisher: String) {
        start >> writer >> Editor >> publisher >> end;
    }
}

fn client() -> Client {
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Complex::new()).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    Client::new(server.agent_framework_router()).with_token("ann's token")
}

async fn started(client: &Client, body: Value) -> Value {
    client.post("/api/flows/complex", body).await.expect(200)
}

#[tokio::test]
async fn a_flow_is_started_watched_and_resumed() {
    let client = client();
    let started = started(&client, json!({ "prompt": "world" })).await;
    assert_eq!(started["status"], "running");
    let id = started["executionId"].as_str().unwrap();
    let path = format!("/api/flows/complex?executionId={id}");
    let mut stream = client.stream(&path).await;
    let mut seen = Vec::new();
    while seen
        .last()
        .is_none_or(|message: &Value| message["type"] != "human-prompt")
    {
        seen.push(stream.next().await.unwrap().data);
    }
    seen.retain(|message| message["type"] != "agentDelta");
    assert_eq!(
        seen,
        [
            json!({ "type": "agentResult", "nodeId": "writer", "content": "Hello world" }),
            json!({ "type": "human-prompt", "nodeId": "editor", "message": "Is `Hello world` good?" }),
        ]
    );
    let resume = format!("/api/flows/{id}/resume");
    let resumed = client
        .post(&resume, json!({ "nodeId": "editor", "userInput": "yes" }))
        .await;
    assert_eq!(
        (resumed.status.as_u16(), resumed.text.as_str()),
        (200, "Flow resumed.")
    );
    let rest = client.get(&path).await;
    let last = rest
        .text
        .trim_end()
        .lines()
        .rev()
        .find(|line| line.starts_with("data:"));
    assert_eq!(last, Some("data: [DONE]"));
    assert!(
        rest.text.contains(r#""content":"yes""#) || rest.text.contains(r#""type":"agentResult""#)
    );
}

#[tokio::test]
async fn a_failure_is_an_entry_and_the_end() {
    let client = client();
    let started = started(&client, json!({ "prompt": "fail" })).await;
    let id = started["executionId"].as_str().unwrap();
    let stream = client
        .stream(&format!("/api/flows/complex?executionId={id}"))
        .await;
    let messages = stream.all().await;
    let last = messages.last().unwrap();
    assert_eq!(last.data["type"], "error");
    assert!(last.data["message"].as_str().unwrap().contains("no words"));
}

#[tokio::test]
async fn what_is_missing_or_unknown_is_said_in_the_framework_s_words() {
    let client = client();
    let said = async |answer: crate::support::Answer| (answer.status.as_u16(), answer.text);
    let missing = client.get("/api/flows/complex").await;
    assert_eq!(said(missing).await, (400, "Missing executionId".to_owned()));
    for id in ["x", "01a00000-0000-7000-8000-000000000000"] {
        let unknown = client
            .get(&format!("/api/flows/complex?executionId={id}"))
            .await;
        assert_eq!(
            said(unknown).await,
            (404, "No such flow execution".to_owned())
        );
    }
    let no_prompt = client
        .post("/api/flows/complex", json!({}))
        .await
        .expect(200);
    let id = no_prompt["executionId"].as_str().unwrap();
    let resume = format!("/api/flows/{id}/resume");
    let missing = client.post(&resume, json!({ "userInput": "x" })).await;
    assert_eq!(said(missing).await, (400, "Missing nodeId".to_owned()));
    let wrong = client.post(&resume, json!({ "nodeId": "writer" })).await;
    assert_eq!(
        said(wrong).await,
        (500, "Error: the node `writer` asks nothing".to_owned())
    );
    let none = client.post("/api/flows/simple", json!({})).await;
    assert_eq!(none.status.as_u16(), 404);
}

/// AF-15, with D-39: what belongs to another owner does not exist, and a token stands for a session.
#[tokio::test]
async fn only_the_owner_or_the_token_of_an_execution_sees_it() {
    let client = client();
    let started = started(&client, json!({ "prompt": "world" })).await;
    let id = started["executionId"].as_str().unwrap();
    let token = started["executionToken"].as_str().unwrap();
    let resume = format!("/api/flows/{id}/resume");
    let answer = json!({ "nodeId": "editor", "userInput": "yes" });
    let ben = client.with_token("ben's token");
    let path = format!("/api/flows/complex?executionId={id}");
    assert_eq!(ben.get(&path).await.status.as_u16(), 404);
    assert_eq!(ben.post(&resume, answer.clone()).await.status.as_u16(), 404);
    let nobody = client.without_token();
    assert_eq!(nobody.get(&path).await.status.as_u16(), 401);
    assert_eq!(
        nobody.post(&resume, answer.clone()).await.status.as_u16(),
        401
    );
    let mut stream = nobody
        .stream(&format!("{path}&executionToken={token}"))
        .await;
    while stream.next().await.unwrap().data["type"] != "human-prompt" {}
    let with_token = format!("{resume}?executionToken={token}");
    assert_eq!(nobody.post(&with_token, answer).await.status.as_u16(), 200);
}
