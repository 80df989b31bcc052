//! Errors of requests to a model.

use std::error::Error;
use std::time::Duration;

use crate::model::{Reply, Stop};
use crate::spending::budget::OverBudget;
use crate::spending::error::BudgetError;

/// The maximum number of characters of a text that an error shows.
const SHOWN: usize = 300;

/// An error of a request to a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider temporarily refuses requests.
    #[error("the provider limits the rate of requests{}: {message}", wait(.retry_after))]
    RateLimited {
        /// The time that the provider asks to wait.
        retry_after: Option<Duration>,
        /// The provider's message.
        message: String,
    },
    /// The provider cannot be reached, or is overloaded.
    #[error("the provider cannot answer{}", wait(.retry_after))]
    Unavailable {
        /// The time that the provider asks to wait.
        retry_after: Option<Duration>,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The provider refuses this request, for example because of its key or its size.
    #[error("the provider refuses the request")]
    Refused {
        /// The provider's message.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer does not follow the provider's interface.
    #[error("the provider's answer cannot be read")]
    Malformed {
        /// A description of the problem.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer has more bytes than a limit allows, such as
    /// [`GenAi::max_bytes`](https://docs.rs/flow-agents/latest/flow_agents/struct.GenAi.html#method.max_bytes).
    #[error(
        "the answer has more than {limit} bytes; allow more with `max_bytes`, or ask for a shorter \
         answer"
    )]
    TooLarge {
        /// The maximum number of bytes.
        limit: usize,
    },
    /// The stream of an answer stopped before its end.
    #[error(
        "the provider's answer was cut off; characters before that: {characters}, tool calls: \
         {calls}"
    )]
    CutOff {
        /// The number of characters of text before that.
        characters: usize,
        /// The number of calls before that, including incomplete ones.
        calls: usize,
    },
    /// The answer reached the limit of tokens: [`Stop::Length`](crate::Stop::Length).
    #[error(
        "the answer reached the limit of tokens before its end; {}; allow more with `max_tokens`, \
         or ask for a shorter answer",
        came(.reply)
    )]
    TooLong {
        /// The incomplete answer.
        reply: Box<Reply>,
    },
    /// The provider held the answer back, or the model refused to give one:
    /// [`Stop::Filtered`](crate::Stop::Filtered).
    #[error("the provider held the answer back; {}{}", came(.reply), said(.reply))]
    Filtered {
        /// The incomplete answer.
        reply: Box<Reply>,
    },
    /// The answer stopped for a reason that only the provider knows:
    /// [`Stop::Other`](crate::Stop::Other).
    #[error("the answer stopped with {}; {}", word(.reply), came(.reply))]
    Stopped {
        /// The incomplete answer.
        reply: Box<Reply>,
    },
    /// A [`Retrying`](crate::Retrying) used all its attempts, or the provider asks for a longer
    /// wait than it allows. The error is transient if the last one is.
    #[error("the model gave no answer, and is not asked again; attempts: {attempts}")]
    GivenUp {
        /// The number of requests to the model.
        attempts: u32,
        /// The error of the last request.
        source: Box<ModelError>,
    },
    /// A [`ScriptedModel`](crate::ScriptedModel) received more requests than it has replies.
    #[error(
        "this is request number {asked} to the scripted model, and its script ends after number \
         {replies}; the last message is {last:?}"
    )]
    ScriptEnded {
        /// The number of requests, including this one.
        asked: usize,
        /// The number of replies in its script.
        replies: usize,
        /// The text of the last message.
        last: String,
    },
    /// The budget of a [`Budgeted`](crate::Budgeted) or a [`Charged`](crate::Charged) forbids the
    /// request, or the usage cannot be counted.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A [`Replay`](crate::Replay) has no reply for the request.
    #[error(transparent)]
    NotRecorded(#[from] NoRecording),
}

impl ModelError {
    /// Returns `true` if the same request may succeed later. After [`TooLong`](Self::TooLong),
    /// [`Filtered`](Self::Filtered) or [`Stopped`](Self::Stopped), change the request instead.
    pub fn is_transient(&self) -> bool {
        match self {
            ModelError::RateLimited { .. }
            | ModelError::Unavailable { .. }
            | ModelError::CutOff { .. } => true,
            ModelError::GivenUp { source, .. } => source.is_transient(),
            ModelError::Refused { .. }
            | ModelError::Malformed { .. }
            | ModelError::TooLarge { .. }
            | ModelError::TooLong { .. }
            | ModelError::Filtered { .. }
            | ModelError::Stopped { .. }
            | ModelError::ScriptEnded { .. }
            | ModelError::Budget(_)
            | ModelError::NotRecorded(_) => false,
        }
    }

    /// The limit of a budget that is used up, if that caused the error.
    pub fn over_budget(&self) -> Option<&OverBudget> {
        match self {
            ModelError::Budget(error) => error.over_budget(),
            _ => None,
        }
    }

    /// The pause that the provider asks for before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ModelError::RateLimited { retry_after, .. }
            | ModelError::Unavailable { retry_after, .. } => *retry_after,
            ModelError::GivenUp { source, .. } => source.retry_after(),
            _ => None,
        }
    }

    /// The error of the last request if there were several, and this error otherwise.
    pub(crate) fn last(&self) -> &ModelError {
        match self {
            ModelError::GivenUp { source, .. } => source.last(),
            other => other,
        }
    }
}

/// The error of a request without a recorded answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer is recorded for this request: {}", self.reason())]
pub struct NoRecording {
    /// The number of recorded answers that were not used.
    pub(crate) left: usize,
    /// The difference between the request of the first of them and this one.
    pub(crate) next: Option<String>,
}

impl NoRecording {
    fn reason(&self) -> String {
        match &self.next {
            None => "all recorded answers were given; record the traffic anew".to_owned(),
            Some(next) => format!(
                "recorded answers that are left: {}; of the request of the first of them, {next}; \
                 record the traffic anew if the change is meant",
                self.left
            ),
        }
    }
}

fn came(reply: &Reply) -> String {
    format!(
        "characters before that: {}, tool calls: {}",
        reply.content.chars().count(),
        reply.tool_calls.len()
    )
}

/// The provider's word for why an answer stopped.
fn word(reply: &Reply) -> String {
    match &reply.stop {
        Stop::Other(word) => format!("{word:?}, a reason that is not known here"),
        stop => format!("{stop:?}"),
    }
}

/// The text of a model that refuses to answer, for an error.
fn said(reply: &Reply) -> String {
    match reply.content.as_str() {
        "" => String::new(),
        text => format!(
            "; it says: {:?}",
            text.chars().take(SHOWN).collect::<String>()
        ),
    }
}

fn wait(retry_after: &Option<Duration>) -> String {
    match retry_after {
        Some(wait) => format!(", and asks to wait {wait:?}"),
        None => String::new(),
    }
}
