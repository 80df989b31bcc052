//! Workflows in the format that the engine of OpenAgents reads.

use flow_loader::{Format, Registry, load, registry};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{finished, problems, run};

#[derive(Serialize, Deserialize)]
struct Report {
    errors: Vec<String>,
    wrong: i64,
}

#[node]
fn writer(input: &str, tone: &str) -> String {
    format!("a {tone} post about {input}")
}

/// Reads what it is given as `input`.
#[node]
fn checker(input: &str) -> Report {
    let wrong = if input.contains("the moon") { 1 } else { 0 };
    let errors = vec![input.to_owned()];
    Report { errors, wrong }
}

/// Reads what it is given under the name of the step.
#[node]
fn publisher(draft: &str) -> Result<String, String> {
    if draft.contains("failing") {
        return Err("the server is down".into());
    }
    Ok(format!("published: {draft}"))
}

#[node]
fn apologizer(error: &NodeError) -> String {
    format!("sorry: {error}")
}

#[node(human = "Approve?")]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Approval {
    Approve,
    Reject { reason: String },
}

fn agents() -> Registry {
    registry![writer, checker, publisher, apologizer, Approval]
}

const POST: &str = r#"{
  "id": "post",
  "description": "Writes a post",
  "max_iterations": 20,
  "initial_context": { "tone": "short" },
  "steps": [
    { "id": "draft", "type": "agent", "agent": "writer", "next": "look" },
    {
      "id": "look",
      "type": "parallel",
      "steps": [
        { "id": "spelling", "type": "agent", "agent": "checker", "input": "draft" },
        { "id": "fact-check", "type": "agent", "agent": "checker", "input": "draft" }
      ],
      "next": "good"
    },
    {
      "id": "good",
      "type": "condition",
      "condition": "context.fact-check.wrong === 0 && spelling.errors.length <= 1",
      "then": "ask",
      "else": "sorry"
    },
    { "id": "ask", "type": "approval", "message": "Publish it?", "on_approve": "publish", "on_reject": "end" },
    {
      "id": "publish",
      "type": "agent",
      "agent": "publisher",
      "input": "draft",
      "on_error": "excuse",
      "max_retries": 2,
      "retry_delay_ms": 100
    },
    { "id": "excuse", "type": "agent", "agent": "apologizer" },
    { "id": "sorry", "type": "agent", "agent": "checker", "input": "draft" }
  ]
}"#;

#[tokio::test(start_paused = true)]
async fn a_workflow_of_the_engine_runs() {
    let flow = load(POST, Format::Json, &agents()).unwrap();
    let left_out: Vec<&str> = flow.left_out().iter().map(|one| &*one.pointer).collect();
    assert_eq!(left_out, ["/max_iterations"]);
    let ran = async |input: &str| {
        let answers = json!({ "post.ask": "approve" });
        run(&flow, json!({ "input": input }), answers).await
    };
    let (output, happened) = ran("cats").await;
    assert_eq!(
        finished(&happened),
        [
            "draft",
            "spelling",
            "fact-check",
            "look",
            "good then",
            "ask approve",
            "publish"
        ]
    );
    assert_eq!(
        output.unwrap()["publish"],
        "published: a short post about cats"
    );

    let (_, happened) = ran("the moon").await;
    assert_eq!(finished(&happened)[4..], ["good else", "sorry"]);

    let (output, _) = ran("failing").await;
    let sorry = "sorry: node `post.publish` failed after 3 attempts";
    assert_eq!(output.unwrap()["excuse"], sorry);
}

/// Reads nothing at all.
#[node]
fn clock() -> u32 {
    12
}

#[test]
fn an_agent_that_does_not_read_its_input_is_one_problem() {
    let text = r#"{ "id": "w", "steps": [
        { "id": "draft", "type": "agent", "agent": "checker", "next": "look" },
        { "id": "look", "type": "agent", "agent": "clock", "input": "draft" }
    ] }"#;
    assert_eq!(
        problems(text, &registry![checker, clock]),
        ["3:69: `look` reads no `input` [F015]"]
    );
}
