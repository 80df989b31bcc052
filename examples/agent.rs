//! An agent with two tools: its model looks up prices and computes, in at most six requests. It
//! receives the errors of its calls, and corrects them.
//!
//! ```text
//! cargo run -p flow-examples --example agent
//! cargo run -p flow-examples --features genai --example agent -- --model ollama:qwen3:4b
//! ```

use std::error::Error;

use serde_json::json;
use typed_flows::agents::agent::{Agent, AgentInput, AgentOutcome, CallTool, Think};
use typed_flows::agents::{Message, Messages, ScriptedModel, kit, tools};
use typed_flows::prelude::*;

/// Finds the price of an article, in cents.
#[node]
fn price(article: &str) -> Result<u32, String> {
    match article {
        "pencil" => Ok(120),
        other => Err(format!("there is no `{other}`, only: pencil")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let product = json!({ "operation": "multiply", "a": 120, "b": 12 });
    let script = ScriptedModel::new()
        .calls([("price", json!({ "article": "pencils" }))])
        .calls([("price", json!({ "article": "pencil" }))])
        .calls([("calculator", product)])
        .text("They are 14.40 euros.");
    let chosen = flow_examples::model(script)?;

    let tools = tools![price, kit::calculator];
    let think = Think::new(chosen.model, tools.clone()).turns(6);
    let agent = Agent::builder().think(think);
    let agent = agent.call_tool(CallTool::new(tools)).build();

    let messages = Messages::from_iter([Message::user("What do twelve pencils cost?")]);
    let input = AgentInput::builder().messages(messages).build();
    match agent.run(input).await?.into_outcome() {
        AgentOutcome::Default { answer, .. } => println!("{answer}"),
        other => return Err(format!("there is no answer: {other:?}").into()),
    }
    if let Some(script) = chosen.script {
        let told = |turn: usize| script.requests()[turn].messages.last().map(Message::text);
        let mistake = "Error: there is no `pencils`, only: pencil";
        assert_eq!(told(1).as_deref(), Some(mistake));
        assert_eq!(told(3).as_deref(), Some("1440.0"));
    }
    Ok(())
}
