//! The time of a turn of rig's agent, and a run of the agent to kill.
//!
//! The model uses the scripted wire of rig's own test utilities.
//!
//! ```text
//! agents-rig time plain 10 300   nanoseconds per turn: turns, milliseconds
//! agents-rig run 3               asks with three turns; nothing is stored
//! ```

mod agent;

use std::error::Error;

use agents_service::{ANSWER, QUESTION, answered, calls_the_tool, happens, nanoseconds_per_turn};
use rig::completion::{AssistantContent, CompletionRequest, CompletionResponse, Usage};
use rig::driver::{Exchange, Model, Opened, Opening, Transport};
use rig::message::{Origin, ToolCall, ToolFunction, ToolName};
use rig_core::test_utils::{MOCK_API, MOCK_PROVIDER, MockFrame, MockScript};
use serde_json::{Value, json};

/// A model that calls the tool in this many turns, and then answers.
#[derive(Clone)]
struct AtOnce {
    turns: usize,
}

impl Transport<MockScript> for AtOnce {
    fn send(&self, request: CompletionRequest, _: Exchange) -> Opening<MockFrame> {
        happens("model");
        let asked = request.chat_history.len();
        let content = if calls_the_tool(asked, self.turns) {
            let name = ToolName::new("weather").expect("it is a name");
            let function = ToolFunction::new(name, json!({ "town": "Bergen" }));
            AssistantContent::ToolCall(ToolCall::from_wire(format!("call_{asked}"), function))
        } else {
            AssistantContent::text(ANSWER)
        };
        let origin = Origin::new(MOCK_API, MOCK_PROVIDER, "");
        let response =
            CompletionResponse::new(vec![content], Usage::default(), origin, Value::Null);
        let frame = MockFrame::Response(Box::new(response));
        Opening::ready(Opened::new(futures::stream::iter([Ok(frame)])))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let built = |turns| {
        agent::agent(
            Model::new(MockScript::default(), AtOnce { turns }),
            turns + 1,
        )
    };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["time", "plain", turns, milliseconds] => {
            let turns = turns.parse()?;
            let agent = built(turns);
            let run = async || Ok(Some(agent::ask(&agent, QUESTION).await?));
            println!(
                "{:.1}",
                nanoseconds_per_turn(turns, milliseconds.parse()?, run).await?
            );
        }
        ["run", turns] => answered(Some(agent::ask(&built(turns.parse()?), QUESTION).await?))?,
        _ => {
            return Err(
                "usage: agents-rig time plain <turns> <milliseconds> | agents-rig run <turns>"
                    .into(),
            );
        }
    }
    Ok(())
}
