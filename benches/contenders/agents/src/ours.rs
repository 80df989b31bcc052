use std::error::Error;

use agents_service::forecast;
use typed_flows::agents::agent::{Agent, AgentInput, CallTool, Think};
use typed_flows::agents::{Message, Messages, Model, tools};
use typed_flows::durable::{Runtime, StartOptions};
use typed_flows::prelude::*;
use typed_flows::sqlite::SqliteStore;

/// Says what the weather is.
#[node]
fn weather(
    /// The name of a town.
    town: &str,
) -> Result<String, String> {
    forecast(town)
}

pub fn agent(model: impl Model + 'static, turns: u32) -> Agent {
    let think = Think::new(model, tools![weather]).turns(turns);
    let call_tool = CallTool::new(tools![weather]);
    Agent::builder().think(think).call_tool(call_tool).build()
}

pub async fn open(agent: Agent, file: &str) -> Result<Runtime, Box<dyn Error>> {
    let runtime = Runtime::new(SqliteStore::open(file).await?);
    runtime.register(agent)?;
    runtime.recover().await?; // resumes the run of a process that died
    Ok(runtime)
}

pub async fn ask(
    runtime: &Runtime,
    id: &str,
    text: &str,
) -> Result<Option<String>, Box<dyn Error>> {
    let messages = Messages::from_iter([Message::user(text)]);
    let input = AgentInput::builder().messages(messages).build();
    let options = StartOptions::new().idempotency_key(id);
    let execution = runtime.executions().start::<Agent>(input, options).await?;
    let output = execution.settled().await?.output::<Agent>()?;
    Ok(output.and_then(|output| output.answer))
}
