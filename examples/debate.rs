//! A debate: two advocates speak in turn, each with the speeches so far, and a judge decides. Each
//! of the three can have its own model.
//!
//! ```text
//! cargo run -p flow-examples --example debate
//! cargo run -p flow-examples --features genai --example debate -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use typed_flows::agents::{
    AskError, Message, Messages, Model, ModelError, Request, ScriptedModel, ask,
};
use typed_flows::prelude::*;

const ROUNDS: usize = 2;

#[derive(Debug, Clone, PartialEq)]
struct Speech {
    side: Side,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Side {
    For,
    Against,
}

/// The debate so far, as text for a model.
fn minutes(claim: &str, speeches: &[Speech]) -> String {
    let lines = speeches
        .iter()
        .map(|speech| format!("{:?}: {}\n", speech.side, speech.text));
    format!("The claim: {claim}\n{}", lines.collect::<String>())
}

/// Speaks for one side.
struct Advocate {
    side: Side,
    model: Arc<dyn Model>,
}

/// Adds a speech.
#[node(writes = +speeches)]
impl Advocate {
    async fn exec(&self, claim: &str, speeches: Option<&[Speech]>) -> Result<Speech, ModelError> {
        let task = format!(
            "You speak {:?} the claim. Give one new argument, in two sentences.",
            self.side
        );
        let messages = Messages::from_iter([
            Message::system(task),
            Message::user(minutes(claim, speeches.unwrap_or_default())),
        ]);
        let reply = self.model.complete(&Request::new(&messages)).await?;
        let text = reply.into_complete()?.content;
        println!("{:?}: {text}", self.side);
        Ok(Speech {
            side: self.side,
            text,
        })
    }
}

/// The judgement.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
struct Judgement {
    /// The decisive argument.
    reason: String,
    /// The side that argued better.
    winner: Side,
}

struct Judge {
    model: Arc<dyn Model>,
}

/// Decides which side argued better.
#[node(writes = judgement)]
impl Judge {
    async fn exec(&self, claim: &str, speeches: &[Speech]) -> Result<Judgement, AskError> {
        let messages = Messages::from_iter([
            Message::system("You are the judge of a debate. Judge the arguments, not the claim."),
            Message::user(minutes(claim, speeches)),
        ]);
        ask(&self.model, &messages).await
    }
}

flow! {
    /// Debates a claim.
    Debate(claim: String) -> (speeches: Vec<Speech>, judgement: Judgement) {
        node speak_for: Advocate;
        node speak_against: Advocate;
        node judge: Judge;
        branch rounds(speeches) {
            speeches.len() < 2 * ROUNDS => "go_on",
            else => "over",
        }

        start >> speak_for >> speak_against >> rounds;
        rounds - "go_on" >> speak_for;
        rounds - "over"  >> judge >> end;
    }
}

/// Sample replies of a model: both sides in turn, and then the judge.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text("Fewer meetings leave more time to think.")
        .text("Without meetings, nobody knows what the others do.")
        .text("They can write it down, and read it when it suits them.")
        .text("Nobody reads what everybody writes.")
        .text(r#"{ "reason": "The last objection was not answered.", "winner": "against" }"#)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let advocate = |side| Advocate {
        side,
        model: Arc::clone(&chosen.model),
    };
    let debate = Debate::builder()
        .speak_for(advocate(Side::For))
        .speak_against(advocate(Side::Against))
        .judge(Judge {
            model: Arc::clone(&chosen.model),
        })
        .build();
    let claim = "A week needs at most one meeting.".to_owned();
    let output = debate.run(DebateInput { claim }).await?;
    println!(
        "{:?} wins: {}",
        output.judgement.winner, output.judgement.reason
    );

    let sides: Vec<Side> = output.speeches.iter().map(|speech| speech.side).collect();
    assert_eq!(sides, [Side::For, Side::Against].repeat(ROUNDS));
    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(output.judgement.winner, Side::Against);
        // The judge has heard everything.
        let heard = script.requests()[4]
            .messages
            .iter()
            .map(Message::text)
            .collect::<String>();
        assert!(
            output
                .speeches
                .iter()
                .all(|speech| heard.contains(&speech.text))
        );
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/debate.rs"]
mod law;
