//! The time of a turn of our agent and of a loop by hand, and a run of the agent to kill.
//!
//! ```text
//! agents time plain 10 300   nanoseconds per turn: plain, memory, sqlite or by_hand, turns, milliseconds
//! agents run 3               asks with three turns, and resumes the run of a process that died
//! ```

#[expect(
    dead_code,
    reason = "a model that answers at once sends the messages nowhere"
)]
mod by_hand;
mod model;
mod ours;

use std::error::Error;

use agents_service::{QUESTION, answered, nanoseconds_per_turn};
use typed_flows::agents::agent::AgentInput;
use typed_flows::agents::{Message, Messages};
use typed_flows::durable::{MemoryStore, Runtime};

use model::AtOnce;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["time", case, turns, milliseconds] => {
            println!(
                "{:.1}",
                time(case, turns.parse()?, milliseconds.parse()?).await?
            );
        }
        ["run", turns] => {
            let turns = turns.parse()?;
            let runtime = ours::open(agent(turns)?, "agent.sqlite").await?;
            answered(ours::ask(&runtime, "conversation 1", QUESTION).await?)?;
            runtime.shut_down().await;
        }
        _ => {
            return Err(
                "usage: agents time <case> <turns> <milliseconds> | agents run <turns>".into(),
            );
        }
    }
    Ok(())
}

/// The agent, which may ask the model once more than it has turns with the tool.
fn agent(turns: usize) -> Result<typed_flows::agents::agent::Agent, Box<dyn Error>> {
    Ok(ours::agent(AtOnce { turns }, u32::try_from(turns)? + 1))
}

async fn time(case: &str, turns: usize, milliseconds: u64) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::Builder::new().prefix("agents-").tempdir_in(".")?;
    let runtime = match case {
        "by_hand" => {
            let model = AtOnce { turns };
            let most = u32::try_from(turns)? + 1;
            let run = async || Ok(by_hand::ask(&model, most, QUESTION).await);
            return nanoseconds_per_turn(turns, milliseconds, run).await;
        }
        "plain" => {
            let agent = agent(turns)?;
            let run = async || {
                let messages = Messages::from_iter([Message::user(QUESTION)]);
                let input = AgentInput::builder().messages(messages).build();
                Ok(agent.run(input).await?.answer)
            };
            return nanoseconds_per_turn(turns, milliseconds, run).await;
        }
        "memory" => {
            let runtime = Runtime::new(MemoryStore::new());
            runtime.register(agent(turns)?)?;
            runtime
        }
        "sqlite" => {
            let file = folder.path().join("agent.sqlite");
            ours::open(
                agent(turns)?,
                file.to_str().ok_or("the folder is not named in UTF-8")?,
            )
            .await?
        }
        other => return Err(format!("there is no case {other}").into()),
    };
    let mut conversations = 0_u64;
    let run = async || {
        conversations += 1;
        ours::ask(&runtime, &conversations.to_string(), QUESTION).await
    };
    let found = nanoseconds_per_turn(turns, milliseconds, run).await;
    runtime.shut_down().await;
    found
}
