//! The faster of two models, and a deadline: a race. The answer that comes first is taken, and the
//! other request is dropped. If neither comes in time, the caller hears that it is late.
//!
//! ```text
//! cargo run -p flow-examples --example hedged_models
//! ```

use std::error::Error;
use std::time::Duration;

use typed_flows::prelude::*;

/// Stands in for the client of a language model.
#[derive(Clone)]
struct Client {
    name: &'static str,
    /// The time until it answers. A service has slow moments.
    takes: Duration,
}

impl Client {
    async fn complete(&self, question: &str) -> Result<String, String> {
        tokio::time::sleep(self.takes).await;
        if question.is_empty() {
            return Err(format!("{}: the question is empty", self.name));
        }
        Ok(format!("{} answers \"{question}\"", self.name))
    }
}

/// Asks the model that is usually fast.
struct AskNear(Client);

#[node(writes = answer, retry(attempts = 2))]
impl AskNear {
    async fn exec(&self, question: &str) -> Result<String, String> {
        self.0.complete(question).await
    }
}

/// Asks the other one. Both write the same key.
struct AskFar(Client);

#[node(writes = answer, retry(attempts = 2))]
impl AskFar {
    async fn exec(&self, question: &str) -> Result<String, String> {
        self.0.complete(question).await
    }
}

#[node(writes = apology)]
fn apologize(error: Option<&NodeError>) -> String {
    match error {
        Some(error) => format!("Sorry: {error:#}."),
        None => "Sorry, this takes longer than usual.".to_owned(),
    }
}

flow! {
    /// Answers a question within ten seconds, or says why not.
    Hedged(question: String) -> (answer: Option<String>, apology: Option<String>) {
        node near: AskNear;
        node far: AskFar;
        // The second model is asked only if the first one has not answered within two seconds.
        node answered: first { near, wait(2s) >> far, wait(10s) => "late" };

        start >> answered >> end;
        answered - "late"  >> apologize >> end("failed");
        answered - "error" >> apologize;
    }
}

async fn ask(question: &str, near: u64, far: u64) -> Result<HedgedOutput, FlowError> {
    let client = |name, seconds| Client {
        name,
        takes: Duration::from_secs(seconds),
    };
    let flow = Hedged::builder()
        .near(AskNear(client("near", near)))
        .far(AskFar(client("far", far)))
        .build();
    let question = question.to_owned();
    flow.run(HedgedInput { question }).await
}

// The clock of tokio stands still while nothing runs, so that nobody waits for the example.
#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let question = "Is water wet?";
    for (near, far, expected) in [
        (1, 1, "near answers \"Is water wet?\""),
        (9, 3, "far answers \"Is water wet?\""),
        (60, 60, "Sorry, this takes longer than usual."),
    ] {
        let began = tokio::time::Instant::now();
        let text = match ask(question, near, far).await?.into_outcome() {
            HedgedOutcome::Default { answer } => answer,
            HedgedOutcome::Failed { apology } => apology,
        };
        println!("after {} s: {text}", began.elapsed().as_secs());
        assert_eq!(text, expected);
    }
    // A branch that fails first ends the race: here both attempts have failed.
    let output = ask("", 1, 1).await?;
    let apology = output.apology.unwrap_or_default();
    println!("{apology}");
    assert!(apology.contains("failed after 2 attempts"), "{apology}");
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/hedged_models.rs"]
mod law;
