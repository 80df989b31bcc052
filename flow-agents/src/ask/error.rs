//! Why there is no answer of a type.

use crate::error::ModelError;
use crate::limits::budget::OverBudget;
use crate::usage::Usage;

/// How much of an answer an error shows.
const SHOWN: usize = 300;

/// Why there is no answer of a type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The model gave no answer, or one that is not complete.
    #[error("the model was asked for an answer of a type")]
    Model {
        /// Why.
        source: ModelError,
        /// The tokens of all requests, as far as they are known.
        usage: Usage,
    },
    /// The last answer does not fit either.
    #[error(
        "the answer of the model does not fit; requests: {requests}; {mistake}; the last answer is \
         {}",
        shown(.answer)
    )]
    Unfit {
        /// What does not fit, and where.
        mistake: String,
        /// The last answer.
        answer: String,
        /// How often the model was asked.
        requests: u32,
        /// The tokens of all requests.
        usage: Usage,
    },
}

impl AskError {
    /// The tokens of all requests, as far as they are known.
    pub fn usage(&self) -> Usage {
        match self {
            AskError::Model { usage, .. } | AskError::Unfit { usage, .. } => *usage,
        }
    }

    /// The limit of a budget of which nothing is left, if that is why.
    pub fn over_budget(&self) -> Option<&OverBudget> {
        match self {
            AskError::Model { source, .. } => source.over_budget(),
            AskError::Unfit { .. } => None,
        }
    }

    /// Whether the same question may be answered later: after a [`ModelError`] that is
    /// [transient](ModelError::is_transient).
    pub fn is_transient(&self) -> bool {
        match self {
            AskError::Model { source, .. } => source.is_transient(),
            AskError::Unfit { .. } => false,
        }
    }
}

fn shown(answer: &str) -> String {
    let shown: String = answer.chars().take(SHOWN).collect();
    match answer.chars().count().saturating_sub(SHOWN) {
        0 => format!("{shown:?}"),
        more => format!("{shown:?} and {more} more characters"),
    }
}
