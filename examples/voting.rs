//! Voting: several models answer the same question at the same time, and the majority wins. A model
//! that fails has no vote, but does not affect the others; if all fail, there is nothing to decide.
//!
//! ```text
//! cargo run --example voting -- "it is 0.2" "no idea" "0.2, I think"
//! ```

use std::process::ExitCode;
use std::time::Duration;

use flow_runtime::prelude::*;

const QUESTION: &str = "Of 5 equal cards one wins. How likely is it that yours does?";

/// Stands in for a model: it says what it was told to say, if it has the time.
struct Model {
    reply: String,
    busy_attempts: u32,
}

impl Model {
    fn saying(reply: &str) -> Self {
        Model {
            reply: reply.to_owned(),
            busy_attempts: 0,
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum NoVote {
    #[error("the model is busy")]
    Busy,
    #[error("no number in \"{0}\"")]
    NoNumber(String),
}

/// Asks one model, and looks for the number in its reply.
#[node(retry(attempts = 2, wait = "5ms"))]
async fn ask(cx: &Context, model: &Model, question: &str) -> Result<f64, NoVote> {
    let thinking = Duration::from_millis(question.len() as u64 / 10);
    tokio::time::sleep(thinking).await;
    if cx.attempt() < model.busy_attempts {
        return Err(NoVote::Busy);
    }
    let words = model.reply.split_whitespace();
    let mut numbers = words.filter_map(|word| word.trim_end_matches([',', '.', '!']).parse().ok());
    let number = numbers.find(|number: &f64| number.is_finite());
    number.ok_or_else(|| NoVote::NoNumber(model.reply.clone()))
}

#[derive(Debug, PartialEq)]
struct Winner {
    answer: f64,
    votes: usize,
}

#[derive(Debug, thiserror::Error)]
#[error("no answer from any of {models} model(s)")]
struct NobodyAnswered {
    models: usize,
}

/// Counts the votes. Of two answers with as many votes, the one given first wins.
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
        models: votes.len(),
    })
}

flow! {
    /// Asks all models, and takes the answer that most of them give.
    Voting(question: String, models: Vec<Model>) -> (
        votes: Vec<Result<f64, NodeError>>,
        winner: Winner,
    ) {
        node votes: for model in models { ask } with concurrency(5), collect_errors;

        start >> votes >> majority >> end;
    }
}

async fn vote(models: Vec<Model>) -> Result<Winner, FlowError> {
    let input = VotingInput::builder()
        .question(QUESTION.to_owned())
        .models(models);
    let output = Voting::new().run(input.build()).await?;
    for (number, vote) in output.votes.iter().enumerate() {
        match vote {
            Ok(answer) => println!("  model {}: {answer}", number + 1),
            Err(error) => println!("  model {}: no vote, {error:#}", number + 1),
        }
    }
    let Winner { answer, votes } = &output.winner;
    println!("{answer} wins with {votes} of {} votes", output.votes.len());
    Ok(output.winner)
}

async fn vote_twice() -> Result<(), FlowError> {
    println!("{QUESTION}");
    let given: Vec<Model> = std::env::args()
        .skip(1)
        .map(|reply| Model::saying(&reply))
        .collect();
    if !given.is_empty() {
        vote(given).await?;
        return Ok(());
    }

    let models = vec![
        Model::saying("The answer is 0.2."),
        Model::saying("0.3, because I counted wrong"),
        Model {
            busy_attempts: 1,
            ..Model::saying("0.2")
        },
        Model::saying("It depends!"),
        Model::saying("One in five, so 0.2"),
    ];
    let winner = vote(models).await?;
    assert_eq!(
        winner,
        Winner {
            answer: 0.2,
            votes: 3
        }
    );

    let silent = ["Hm.", "Well.", "Why?"].map(Model::saying);
    let Err(error) = vote(silent.into()).await else {
        unreachable!("nobody gave an answer");
    };
    println!("Three others: {error:#}");
    let nobody = error.node_error().and_then(|error| error.downcast_ref());
    assert!(matches!(nobody, Some(NobodyAnswered { models: 3 })));
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match vote_twice().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/voting.rs"]
mod law;
