//! Flows as tools of the Model Context Protocol.

use axum::http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, served, served_orders};

/// Sends a request of JSON-RPC.
async fn call(client: &Client, method: &str, params: Value) -> Answer {
    let client = client
        .with_header("host", "example.org")
        .with_header("accept", "application/json, text/event-stream")
        .with_header("mcp-protocol-version", "2025-06-18");
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    client.post("/mcp", request).await
}

/// The result of a request of JSON-RPC, whether it comes by itself or after notifications.
fn result(answer: &Answer) -> Value {
    let messages = messages(answer);
    let last = messages.last().unwrap();
    assert!(last.get("result").is_some(), "{last}");
    last["result"].clone()
}

fn messages(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status.as_u16(), 200, "{}", answer.text);
    if !answer.text.contains("data:") {
        return vec![answer.json()];
    }
    let data = answer
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    let data = data.map(str::trim).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

async fn run(client: &Client, flow: &str, arguments: Value) -> Value {
    let params = json!({ "name": flow, "arguments": arguments });
    result(&call(client, "tools/call", params).await)
}

#[tokio::test]
async fn each_flow_is_a_tool_with_its_schemas() {
    let client = served().client;
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let hello = result(&call(&client, "initialize", hello).await);
    assert!(hello["capabilities"]["tools"].is_object(), "{hello}");
    let tools = result(&call(&client, "tools/list", json!({})).await);
    let tools = tools["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["Claim", "Counting", "Failing", "Pass"]);
    assert_eq!(
        tools[0]["description"],
        "Pays expenses. It asks people, and may wait for them."
    );
    assert_eq!(
        tools[0]["inputSchema"]["required"],
        json!(["employee", "amount"])
    );
    assert_eq!(tools[0].get("outputSchema"), None);
    let output = &tools[1]["outputSchema"]["properties"];
    assert!(output["counted"].is_object() && output["end"].is_object());
}

#[tokio::test]
async fn a_call_runs_a_flow_to_its_end() {
    let client = served().client;
    let ended = run(&client, "Counting", json!({ "counted": 0, "until": 3 })).await;
    assert_eq!(
        ended["structuredContent"],
        json!({ "counted": 3, "end": "default" })
    );
    assert_eq!(ended["isError"], false);
    let executions = client.get("/executions").await.expect(200);
    assert_eq!(executions["executions"][0]["owner"], "ann");
}

#[tokio::test]
async fn what_went_wrong_is_told_to_the_model() {
    let client = served().client;
    let wrong = run(&client, "Counting", json!({ "counted": "no" })).await;
    assert_eq!(wrong["isError"], true);
    assert_eq!(
        wrong["structuredContent"]["errors"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    let failed = run(&client, "Failing", json!({ "text": "x" })).await;
    assert_eq!(failed["isError"], true);
    let reason = failed["structuredContent"]["reason"].as_str().unwrap();
    assert!(reason.contains("invalid digit"), "{reason}");
    let unknown = json!({ "name": "Nothing", "arguments": {} });
    let unknown = call(&client, "tools/call", unknown).await;
    let unknown = messages(&unknown).pop().unwrap();
    assert_eq!(unknown["error"]["message"], "there is no tool `Nothing`");
}

#[tokio::test]
async fn a_call_that_waits_for_people_says_so_without_the_token() {
    let client = served().client;
    let waits = run(
        &client,
        "Claim",
        json!({ "employee": "Ann", "amount": 950 }),
    )
    .await;
    let text = waits["content"][0]["text"].as_str().unwrap();
    assert!(
        text.ends_with("waits for somebody to answer: Approve 950 EUR for Ann?"),
        "{text}"
    );
    let questions = client.get("/questions").await.expect(200);
    let token = questions["questions"][0]["token"].as_str().unwrap();
    assert!(!waits.to_string().contains(token));
}

#[tokio::test]
async fn progress_is_reported_if_it_is_asked_for() {
    let client = served().client;
    let params = json!({
        "name": "Counting",
        "arguments": { "counted": 0, "until": 3 },
        "_meta": { "progressToken": "here" },
    });
    let messages = messages(&call(&client, "tools/call", params).await);
    let progress: Vec<&Value> = messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"])
        .collect();
    assert!(progress.len() >= 3, "{messages:?}");
    for (index, progress) in progress.iter().enumerate() {
        assert_eq!(progress["progressToken"], "here");
        assert_eq!(progress["progress"].as_f64(), Some(index as f64 + 1.0));
    }
    assert!(progress.iter().any(|it| it["message"] == "counting.count"));
    assert_eq!(
        messages.last().unwrap()["result"]["structuredContent"]["counted"],
        3
    );
}

/// A node says how far it has come.
#[tokio::test]
async fn progress_within_a_node_is_reported_too() {
    let served = served();
    let client = &served.client;
    let params = json!({
        "name": "Pass",
        "arguments": { "number": 7 },
        "_meta": { "progressToken": 1 },
    });
    let goes_on = async {
        while client.get("/executions").await.expect(200)["executions"] == json!([]) {
            tokio::task::yield_now().await;
        }
        // What a node emits before somebody listens is lost.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        served.gate.add_permits(1);
    };
    let (answer, ()) = tokio::join!(call(client, "tools/call", params), goes_on);
    let messages = messages(&answer);
    let told: Vec<&Value> = messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| &message["params"]["message"])
        .collect();
    assert_eq!(told, ["pass.gate: 1 of 2", "pass.gate"]);
}

#[tokio::test]
async fn tools_need_a_token_too() {
    let client = served().client;
    for client in [
        client.without_token(),
        client.with_token("no token of anybody"),
    ] {
        call(&client, "tools/list", json!({}))
            .await
            .problem(401, "unauthenticated");
        client
            .send(Method::GET, "/mcp", None)
            .await
            .problem(401, "unauthenticated");
    }
    let (id, _) = client.asking().await;
    let body = json!({ "expiresInSeconds": 60 });
    let link = client
        .post(&format!("/executions/{id}/links"), body)
        .await
        .expect(201);
    let guest = client.with_token(link["link"].as_str().unwrap());
    call(&guest, "tools/list", json!({}))
        .await
        .problem(403, "forbidden");
}

#[tokio::test]
async fn a_flow_that_waits_for_signals_is_described_with_the_tool_that_sends_them() {
    let client = served_orders().client;
    let tools = result(&call(&client, "tools/list", json!({})).await);
    let tools = tools["tools"].as_array().unwrap();
    let tool = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(
        tool("Order")["description"],
        "Sends what was ordered. It may wait for signals: `CancelRequest`, `Vollständig`."
    );
    assert_eq!(tool("Order").get("outputSchema"), None);
    let input = &tool("send_signal")["inputSchema"];
    assert_eq!(input["required"], json!(["execution", "signal"]));
    assert_eq!(input["additionalProperties"], false);
}

#[tokio::test]
async fn a_call_that_waits_for_a_signal_ends_and_the_signal_ends_the_execution() {
    let client = served_orders().client;
    let waits = run(&client, "Order", json!({})).await;
    let text = waits["content"][0]["text"].as_str().unwrap();
    assert!(
        text.ends_with("waits for a signal: `CancelRequest`, `Vollständig`"),
        "{text}"
    );
    let told = &waits["structuredContent"];
    assert_eq!(told["status"], "paused");
    assert_eq!(told["signals"], json!(["CancelRequest", "Vollständig"]));
    let id = told["execution"].as_str().unwrap();

    let wrong = json!({ "execution": id, "signal": "CancelRequest", "body": {} });
    let wrong = run(&client, "send_signal", wrong).await;
    assert_eq!(wrong["isError"], true);
    assert_eq!(
        wrong["structuredContent"]["type"],
        "urn:flow-server:wrong-type"
    );
    let unknown = json!({ "execution": id, "signal": "Cancel" });
    let unknown = run(&client, "send_signal", unknown).await;
    assert_eq!(unknown["structuredContent"]["signals"], told["signals"]);
    let unfit = run(&client, "send_signal", json!({ "execution": id })).await;
    assert_eq!(unfit["isError"], true);

    let body = json!({ "reason": "too late" });
    let sent =
        json!({ "execution": id, "signal": "CancelRequest", "body": body, "idempotencyKey": "a" });
    // To another owner, it does not exist.
    let ben = run(
        &client.with_token("ben's token"),
        "send_signal",
        sent.clone(),
    )
    .await;
    assert_eq!(ben["structuredContent"]["status"], 404);
    let ended = run(&client, "send_signal", sent).await;
    assert_eq!(
        ended["structuredContent"],
        json!({ "end": "cancelled", "reason": "too late" })
    );
}
