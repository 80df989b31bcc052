//! Questions to people, and their answers.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use crate::error::BoxError;
use crate::external::{External, ExternalType, Submission};
use crate::step::Step;

/// A type whose values come from a person or from another system that is asked for them:
/// `#[node(human = "…")]` on an enum or a struct.
pub trait Human: External + Step<Outcome = Self> {}

/// A question of a flow, and the type of its answer.
#[derive(Debug, Clone)]
pub struct Question {
    pub(crate) path: String,
    pub(crate) prompt: String,
    pub(crate) timeout: Option<Duration>,
    pub(crate) kind: ExternalType,
}

impl Question {
    /// The path of the node that asks, such as `release.approval`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The question, with the values of its `{keys}` filled in.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The time to answer, if there is a limit.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// The type of the answer, as written in Rust.
    pub fn expected(&self) -> &'static str {
        self.kind.name()
    }

    /// The JSON Schema of the answer: that of `schemars::JsonSchema` if its type implements it
    /// (feature `schemars`), or else [what its `Deserialize`
    /// requests](crate::shape::Shape::json_schema). `None` if it requests nothing in particular.
    pub fn schema(&self) -> Option<Value> {
        self.kind.schema()
    }

    /// Reads a value of the answer's type from a deserializer, and drops it. The deserializer sees
    /// the parts of the answer. A program in which people fill in an answer can find its parts this
    /// way.
    ///
    /// # Errors
    ///
    /// The deserializer did not return a value of the type.
    pub fn read(
        &self,
        deserializer: &mut dyn erased_serde::Deserializer<'_>,
    ) -> Result<(), erased_serde::Error> {
        self.kind.read(deserializer)
    }

    /// Checks that a value, as JSON, is an answer.
    ///
    /// # Errors
    ///
    /// The reason why it is not, in words.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.kind.check(value)
    }
}

/// Answers the questions of flows: see [`RunOptions::answer`](crate::RunOptions::answer).
///
/// A function of the question implements it, and so does the terminal (`Terminal` of the crate
/// `flow-terminal`).
#[async_trait]
pub trait Answer: Send + Sync + 'static {
    /// The answer, as JSON.
    ///
    /// # Errors
    ///
    /// Nobody answered. The run ends with [`FlowError::Unanswered`](crate::FlowError::Unanswered).
    async fn answer(&self, question: &Question) -> Result<Value, BoxError>;
}

#[async_trait]
impl<F, V> Answer for F
where
    F: Fn(&Question) -> V + Send + Sync + 'static,
    V: Submission,
{
    async fn answer(&self, question: &Question) -> Result<Value, BoxError> {
        let accepted = question.kind.accept(self(question));
        accepted.map_err(|reason| {
            let expected = question.expected();
            format!("the question asks for a `{expected}`, and the answer is not one: {reason}")
                .into()
        })
    }
}
