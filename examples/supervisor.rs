//! A supervisor of an agent: it reviews each answer, and sends the agent back with an objection, at
//! most twice. The third refusal ends the run.
//!
//! ```text
//! cargo run -p flow-examples --example supervisor
//! cargo run -p flow-examples --features genai --example supervisor -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use typed_flows::agents::agent::Agent;
use typed_flows::agents::{AskError, Message, Messages, Model, ScriptedModel, ask, tools};
use typed_flows::prelude::*;

const MOST_REVIEWS: u32 = 3;

/// Finds the sentence of the handbook about a topic.
#[node]
fn handbook(
    /// One word: `travel` or `holidays`.
    topic: &str,
) -> Result<&'static str, String> {
    match topic {
        "travel" => Ok("Trains are paid in second class, flights from 800 km on."),
        "holidays" => Ok("Everyone has 30 days a year."),
        other => Err(format!("the handbook says nothing about `{other}`")),
    }
}

/// The supervisor's review of an answer.
#[derive(Deserialize, JsonSchema)]
struct Review {
    /// True if the answer can be given to the person.
    acceptable: bool,
    /// The fault to correct. Empty if the answer is acceptable.
    objection: String,
}

#[derive(Action)]
enum Decision {
    Accept,
    Retry { objection: String },
    GiveUp,
}

struct Supervisor {
    model: Arc<dyn Model>,
}

/// Reviews the answer, and counts the reviews.
#[node(writes = reviews, actions = Decision)]
impl Supervisor {
    async fn exec(
        &self,
        question: &str,
        answer: &str,
        reviews: Option<&u32>,
    ) -> Result<(u32, Decision), AskError> {
        let told = Messages::from_iter([
            Message::system("Review the answer. It has to name the source that it is based on."),
            Message::user(format!("Question: {question}\nAnswer: {answer}")),
        ]);
        let review: Review = ask(&self.model, &told).await?;
        let reviews = reviews.copied().unwrap_or_default() + 1;
        let decision = match review {
            Review {
                acceptable: true, ..
            } => Decision::Accept,
            _ if reviews >= MOST_REVIEWS => Decision::GiveUp,
            Review { objection, .. } => Decision::Retry { objection },
        };
        Ok((reviews, decision))
    }
}

/// Begins the conversation of the agent.
#[node(writes = messages)]
fn begin(question: &str) -> Messages {
    Messages::from_iter([Message::user(question)])
}

/// Tells the agent the supervisor's objection.
#[node(writes = +messages)]
fn send_back(objection: &str) -> Message {
    Message::user(format!("Answer again. {objection}"))
}

flow! {
    /// Answers a question with an agent that is supervised.
    Supervised(question: String) -> (answer: Option<String>, reviews: Option<u32>) {
        node agent: Agent;
        node supervisor: Supervisor;

        start >> begin >> agent >> supervisor;
        agent      - "incomplete" >> end("unfinished");
        agent      - "limit"      >> end("unfinished");
        agent      - "budget"     >> end("unfinished");
        supervisor - "accept"     >> end;
        supervisor - "retry"      >> send_back >> agent;
        supervisor - "give_up"    >> end("refused");
    }
}

/// Sample replies of the agent and the supervisor, in turn.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .calls([("handbook", json!({ "topic": "travel" }))])
        .text("Second class.")
        .text(r#"{ "acceptable": false, "objection": "Say where that stands." }"#)
        .text("Second class, according to the handbook.")
        .text(r#"{ "acceptable": true, "objection": "" }"#)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let supervisor = Supervisor {
        model: Arc::clone(&chosen.model),
    };
    let flow = Supervised::builder()
        .agent(Agent::of(chosen.model, tools![handbook]))
        .supervisor(supervisor)
        .build();
    let question = "In which class may I travel by train?".to_owned();
    let output = flow.run(SupervisedInput { question }).await?;
    println!("{}: {:?}", output.end, output.answer);

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(
            (output.end, output.reviews),
            (SupervisedEnd::Default, Some(2))
        );
        let answer = "Second class, according to the handbook.";
        assert_eq!(output.answer.as_deref(), Some(answer));
        // The agent keeps its conversation, so it does not look up anything again.
        let told: Vec<String> = script.requests()[3]
            .messages
            .iter()
            .map(Message::text)
            .collect();
        assert_eq!(
            told.last().map(String::as_str),
            Some("Answer again. Say where that stands.")
        );
        assert!(
            told.contains(&"Trains are paid in second class, flights from 800 km on.".to_owned())
        );
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/supervisor.rs"]
mod law;
