//! A question goes to a model and its answer comes back: PocketFlow's first example. The model is a setting of the
//! node, so the stand-in used here can be replaced by a client of a real one.
//!
//! ```text
//! cargo run --example question_answer -- "Why is the sky blue?"
//! ```

use std::error::Error;
use std::process::ExitCode;

use flow_runtime::prelude::*;

const DEFAULT_QUESTION: &str = "In one sentence, what's the end of the universe?";

#[derive(Debug, thiserror::Error)]
enum ModelError {
    #[error("the question is empty")]
    EmptyQuestion,
}

/// Whatever completes a prompt.
trait Model: Send + Sync {
    fn complete(&self, prompt: &str) -> impl Future<Output = Result<String, ModelError>> + Send;
}

/// Stands in for a model: it gives back the last line of its prompt.
struct Echo;

impl Model for Echo {
    async fn complete(&self, prompt: &str) -> Result<String, ModelError> {
        match prompt.lines().last() {
            None | Some("") => Err(ModelError::EmptyQuestion),
            Some(question) => Ok(format!("Echo: {question}")),
        }
    }
}

struct Answer<M> {
    model: M,
}

/// Reads `question`, writes `answer`.
#[node(retry(attempts = 3, wait = "100ms"), timeout = "30s")]
impl<M: Model> Answer<M> {
    fn prep(&self, question: &str) -> String {
        format!("Answer the following question.\n{}", question.trim())
    }

    async fn exec(&self, prompt: &str) -> Result<String, ModelError> {
        self.model.complete(prompt).await
    }
}

flow! {
    /// Answers a question.
    QuestionAnswer(question: String) -> (answer: String) {
        node answer: Answer<Echo>;

        start >> answer >> end;
    }
}

async fn answer_question(question: String) -> Result<(), Box<dyn Error>> {
    println!("Question: {question}");

    let flow = QuestionAnswer::builder()
        .answer(Answer { model: Echo })
        .build();
    let input = QuestionAnswerInput::builder()
        .question(question.clone())
        .build();
    let output = flow.run(input).await?;

    println!("Answer:   {}", output.answer);
    assert_eq!(output.answer, format!("Echo: {}", question.trim()));
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let question = std::env::args()
        .nth(1)
        .unwrap_or_else(|| DEFAULT_QUESTION.to_owned());
    match answer_question(question).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
