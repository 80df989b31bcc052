//! Voting: a model is asked the same question several times at once, and its most frequent answer
//! wins. An answer without a number has no vote, but does not affect the others. Without any vote,
//! the run fails.
//!
//! ```text
//! cargo run -p flow-examples --example voting
//! cargo run -p flow-examples --features genai --example voting -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::sync::Arc;

use typed_flows::agents::{
    Message, Messages, Model, ModelError, Request, ScriptedModel, is_transient,
};
use typed_flows::prelude::*;

const QUESTION: &str =
    "Of 5 equal cards one wins. How likely is it that yours does? End with the number alone.";
const BALLOTS: u32 = 5;

#[derive(Debug, thiserror::Error)]
enum NoVote {
    #[error("the model does not answer")]
    Model(#[from] ModelError),
    #[error("no number in \"{0}\"")]
    NoNumber(String),
}

/// Asks the model, and takes the last number in its reply.
struct Vote {
    model: Arc<dyn Model>,
}

#[node(writes = vote)]
impl Vote {
    async fn exec(&self, question: &str, ballot: &u32) -> Result<f64, NoVote> {
        let messages = Messages::from_iter([Message::user(question)]);
        let mut request = Request::new(&messages);
        request.temperature = Some(1.0);
        let reply = self
            .model
            .complete(&request)
            .await?
            .into_complete()?
            .content;
        println!("  ballot {ballot}: {reply}");
        let words = reply.split_whitespace().rev();
        let mut numbers =
            words.filter_map(|word| word.trim_matches(['*', ',', '.', '!']).parse().ok());
        let number = numbers.find(|number: &f64| number.is_finite());
        number.ok_or(NoVote::NoNumber(reply))
    }
}

#[derive(Debug, PartialEq)]
struct Winner {
    answer: f64,
    votes: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("no number in any of {ballots} answer(s)")]
struct NobodyAnswered {
    ballots: usize,
}

/// Counts the votes. Of two answers with equally many votes, the one given first wins.
#[node(writes = winner)]
fn majority(votes: &[Result<f64, NodeError>]) -> Result<Winner, NobodyAnswered> {
    let mut winner: Option<Winner> = None;
    let answers = || votes.iter().flatten().copied();
    for answer in answers() {
        let votes = answers().filter(|other| *other == answer).count();
        if winner.as_ref().is_none_or(|best| votes > best.votes) {
            winner = Some(Winner { answer, votes });
        }
    }
    winner.ok_or(NobodyAnswered {
        ballots: votes.len(),
    })
}

flow! {
    /// Asks several times, and takes the most frequent answer.
    Voting(question: String, ballots: Vec<u32>) -> (
        votes: Vec<Result<f64, NodeError>>,
        winner: Winner,
    ) {
        node vote: Vote with retry(attempts = 2, wait = "5ms", if = is_transient);
        node votes: for ballot in ballots { vote } with concurrency(5), collect_errors;

        start >> votes >> majority >> end;
    }
}

/// Sample replies of a model: one is an error, because it is busy, and one has no number.
fn script() -> ScriptedModel {
    let busy = ModelError::Unavailable {
        retry_after: None,
        source: "it is busy".into(),
    };
    ScriptedModel::new()
        .text("The answer is 0.2.")
        .text("I counted 10 cards, so 0.1")
        .error(busy)
        .text("It depends!")
        .text("One in five: **0.2**")
        .text("0.2")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    println!("{QUESTION}");
    let vote = Vote {
        model: chosen.model,
    };
    let input = VotingInput {
        question: QUESTION.to_owned(),
        ballots: (1..=BALLOTS).collect(),
    };
    let output = Voting::builder().vote(vote).build().run(input).await?;
    for error in output.votes.iter().filter_map(|vote| vote.as_ref().err()) {
        println!("  no vote: {error:#}");
    }
    let Winner { answer, votes } = output.winner;
    println!("{answer} wins with {votes} of {} votes", output.votes.len());
    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!((answer, votes), (0.2, 3));
        assert_eq!(output.votes.iter().filter(|vote| vote.is_err()).count(), 1);
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/voting.rs"]
mod law;
