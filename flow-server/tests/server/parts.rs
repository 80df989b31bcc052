//! Parts of loops that ask people, inside the execution with the loop.

use flow_durable::Runtime;
use flow_runtime::prelude::*;
use flow_server::Server;
use serde_json::{Value, json};

use crate::support::{Client, tokens};

/// Whether an item is all right.
#[node(human = "Is {item} all right?")]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
enum Verdict {
    Yes,
    No,
}

flow! {
    Review(items: Vec<u32>) -> (verdicts: Vec<Verdict>) {
        node verdicts: for item in items { Verdict } with concurrency(8), spread(2);
        start >> verdicts >> end;
    }
}

fn client() -> Client {
    let runtime = Runtime::new(flow_durable::MemoryStore::new());
    runtime.register(Review::new()).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    Client::new(server.router()).with_token("ann's token")
}

fn prompts(questions: &Value) -> Vec<&str> {
    let questions = questions["questions"].as_array().unwrap().iter();
    questions
        .map(|question| question["prompt"].as_str().unwrap())
        .collect()
}

const ASKED: [&str; 3] = ["Is 1 all right?", "Is 2 all right?", "Is 3 all right?"];

#[tokio::test]
async fn who_waits_is_told_that_a_part_asks_and_answers_it_by_a_link() {
    let client = client();
    let start = client.post(
        "/flows/Review/executions?wait=60",
        json!({ "items": [1, 2, 3] }),
    );
    let execution = start.await.expect(201);
    assert_eq!(execution["status"], "paused");
    let id = execution["id"].as_str().unwrap();
    let links = format!("/executions/{id}/links");
    let link = client.post(&links, json!({ "expiresInSeconds": 60 })).await;
    let link = link.expect(201)["link"].as_str().unwrap().to_owned();
    let guest = client.without_token().with_token(&link);
    let questions = guest
        .get(&format!("/executions/{id}/questions"))
        .await
        .expect(200);
    assert_eq!(prompts(&questions), ASKED);
    let listed = guest.get("/questions").await.expect(200);
    assert_eq!(prompts(&listed), ASKED);
    for path in ["/questions", "/questions?flow=Review"] {
        let listed = client.get(path).await.expect(200);
        let mut listed = prompts(&listed);
        listed.sort_unstable();
        assert_eq!(listed, ASKED, "{path}");
    }
    for question in questions["questions"].as_array().unwrap() {
        let part = question["execution"].as_str().unwrap();
        guest.get(&format!("/executions/{part}")).await.expect(200);
        let token = question["token"].as_str().unwrap();
        guest.get(&format!("/questions/{token}")).await.expect(200);
        let answer = format!("/questions/{token}/answer");
        guest.post(&answer, json!("Yes")).await.expect(200);
    }
    let ended = guest.get(&format!("/executions/{id}?wait=60")).await;
    let ended = ended.expect(200);
    assert_eq!(ended["output"]["verdicts"], json!(["Yes", "Yes", "Yes"]));
    let other = client.post(
        "/flows/Review/executions?wait=60",
        json!({ "items": [4, 5, 6] }),
    );
    let other = other.await.expect(201);
    let questions = format!("/executions/{}/questions", other["id"].as_str().unwrap());
    guest.get(&questions).await.problem(404, "not-found");
    let questions = client.get(&questions).await.expect(200);
    let token = questions["questions"][0]["token"].as_str().unwrap();
    let question = guest.get(&format!("/questions/{token}")).await;
    question.problem(404, "not-found");
}

#[tokio::test]
async fn a_tool_says_that_a_part_asks() {
    let client = client()
        .with_header("host", "example.org")
        .with_header("accept", "application/json, text/event-stream")
        .with_header("mcp-protocol-version", "2025-06-18");
    for meta in [json!({}), json!({ "progressToken": 7 })] {
        let params =
            json!({ "name": "Review", "arguments": { "items": [1, 2, 3] }, "_meta": meta });
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let answer = client.post("/mcp", request).await;
        assert!(
            answer.text.contains("\"status\":\"paused\""),
            "{}",
            answer.text
        );
        assert!(answer.text.contains(ASKED[2]), "{}", answer.text);
    }
}
