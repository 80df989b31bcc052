//! A question to a model, and its answer. The model is a field of the node, so that a real client
//! can replace the stand-in.
//!
//! ```text
//! cargo run --example question_answer -- "Why is the sky blue?"
//! ```

use std::process::ExitCode;

use typed_flows::prelude::*;

const DEFAULT_QUESTION: &str = "In one sentence, what's the end of the universe?";

/// A model that answers prompts.
trait Model: Send + Sync {
    fn complete(&self, prompt: &str) -> impl Future<Output = Result<String, ModelError>> + Send;
}

#[derive(Debug, thiserror::Error)]
enum ModelError {
    #[error("the question is empty")]
    NothingAsked,
}

/// Stands in for a model: it repeats the prompt.
struct Echo;

impl Model for Echo {
    async fn complete(&self, prompt: &str) -> Result<String, ModelError> {
        if prompt.is_empty() {
            return Err(ModelError::NothingAsked);
        }
        Ok(format!("You asked: {prompt}"))
    }
}

struct Answer<M> {
    model: M,
}

/// Reads `question`, writes `answer`.
#[node(timeout = "30s")]
impl<M: Model> Answer<M> {
    fn prep(&self, question: &str) -> String {
        question.trim().to_owned()
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

async fn answer_question(question: &str) -> Result<(), FlowError> {
    println!("Question: {question}");

    let flow = QuestionAnswer::builder().answer(Answer { model: Echo });
    let input = QuestionAnswerInput::builder().question(question.to_owned());
    let output = flow.build().run(input.build()).await?;

    println!("Answer:   {}", output.answer);
    assert_eq!(output.answer, format!("You asked: {}", question.trim()));
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let question = std::env::args_os().nth(1);
    let question = question.unwrap_or_else(|| DEFAULT_QUESTION.into());
    match answer_question(&question.to_string_lossy()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/question_answer.rs"]
mod law;
