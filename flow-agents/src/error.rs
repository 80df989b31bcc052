//! Why a model gave no answer.

use std::error::Error;
use std::time::Duration;

use crate::limits::budget::OverBudget;
use crate::limits::error::BudgetError;
use crate::model::{Reply, Stop};

/// The most characters of a text that an error shows.
const SHOWN: usize = 300;

/// Why a model gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider refuses requests for a while.
    #[error("the provider limits the rate of requests{}: {message}", wait(.retry_after))]
    RateLimited {
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// What the provider says.
        message: String,
    },
    /// The provider cannot be reached, or is overloaded.
    #[error("the provider cannot answer{}", wait(.retry_after))]
    Unavailable {
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The provider refuses this request, such as for its key or its size.
    #[error("the provider refuses the request")]
    Refused {
        /// What the provider says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer is not what the provider's interface says.
    #[error("the provider's answer cannot be read")]
    Malformed {
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer has more bytes than it may have, such as
    /// [`GenAi::max_bytes`](https://docs.rs/flow-agents/latest/flow_agents/struct.GenAi.html#method.max_bytes).
    #[error(
        "the answer has more than {limit} bytes; allow more with `max_bytes`, or ask for a shorter \
         answer"
    )]
    TooLarge {
        /// The most bytes that it may have.
        limit: usize,
    },
    /// The stream of an answer stopped before its end.
    #[error(
        "the provider's answer was cut off; characters before that: {characters}, tool calls: \
         {calls}"
    )]
    CutOff {
        /// How many characters of text came before.
        characters: usize,
        /// How many calls came before, as far as they came.
        calls: usize,
    },
    /// The answer reached the limit of tokens before its end: [`Stop::Length`](crate::Stop::Length).
    #[error(
        "the answer reached the limit of tokens before its end; {}; allow more with `max_tokens`, \
         or ask for a shorter answer",
        came(.reply)
    )]
    TooLong {
        /// What came before the limit.
        reply: Box<Reply>,
    },
    /// The provider held the answer back, or the model refused to give one:
    /// [`Stop::Filtered`](crate::Stop::Filtered).
    #[error("the provider held the answer back; {}{}", came(.reply), said(.reply))]
    Filtered {
        /// What came before that.
        reply: Box<Reply>,
    },
    /// The answer stopped for a reason that only the provider knows:
    /// [`Stop::Other`](crate::Stop::Other).
    #[error("the answer stopped with {}; {}", word(.reply), came(.reply))]
    Stopped {
        /// What came before that.
        reply: Box<Reply>,
    },
    /// A [`Retrying`](crate::Retrying) has asked often enough, or may not wait as long as the
    /// provider asks for. It passes as its last error does.
    #[error("the model gave no answer, and is not asked again; attempts: {attempts}")]
    GivenUp {
        /// How often the model was asked.
        attempts: u32,
        /// Why there was no answer the last time.
        source: Box<ModelError>,
    },
    /// A [`ScriptedModel`](crate::ScriptedModel) was asked more often than its script says.
    #[error(
        "this is request number {asked} to the scripted model, and its script ends after number \
         {replies}; the last message is {last:?}"
    )]
    ScriptEnded {
        /// How often it was asked, this time included.
        asked: usize,
        /// How many replies its script has.
        replies: usize,
        /// The text of the last message.
        last: String,
    },
    /// A [`Budgeted`](crate::Budgeted) or a [`Charged`](crate::Charged) may not ask the model, or what
    /// it used cannot be counted.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A [`Replay`](crate::Replay) has no reply for the request.
    #[error(transparent)]
    NotRecorded(#[from] NoRecording),
}

impl ModelError {
    /// Whether the same request may succeed later. One whose answer was [too long](ModelError::TooLong),
    /// [held back](ModelError::Filtered) or [stopped](ModelError::Stopped) is changed instead.
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

    /// The limit of a budget of which nothing is left, if that is why.
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

    /// The error of the last request, if this is one of several.
    pub(crate) fn last(&self) -> &ModelError {
        match self {
            ModelError::GivenUp { source, .. } => source.last(),
            other => other,
        }
    }
}

/// There is no recorded answer for a request.
#[derive(Debug, thiserror::Error)]
#[error("no answer is recorded for this request: {}", self.reason())]
pub struct NoRecording {
    /// The number of recorded answers that were not asked for.
    pub(crate) left: usize,
    /// Where the request of the first of them differs.
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

/// What a model says by which it refuses to answer.
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
