//! Errors of answers of a type.

use crate::error::ModelError;
use crate::spending::budget::OverBudget;
use crate::usage::Usage;

/// The maximum number of characters of an answer that an error shows.
const SHOWN: usize = 300;

/// The reason why there is no answer of a type.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The model gave no answer, or an incomplete one.
    #[error("the model was asked for an answer of a type")]
    Model {
        /// The reason.
        source: ModelError,
        /// The tokens of all requests, if known.
        usage: Usage,
    },
    /// All answers were unfit, including the last one.
    #[error(
        "the answer of the model does not fit; requests: {requests}; {mistake}; the last answer is \
         {}",
        shown(.answer)
    )]
    Unfit {
        /// The mistake and its place.
        mistake: String,
        /// The last answer.
        answer: String,
        /// The number of requests.
        requests: u32,
        /// The tokens of all requests.
        usage: Usage,
    },
}

impl AskError {
    /// The tokens of all requests, if known.
    pub fn usage(&self) -> Usage {
        match self {
            AskError::Model { usage, .. } | AskError::Unfit { usage, .. } => *usage,
        }
    }

    /// The exhausted limit of a budget, if that is the reason.
    pub fn over_budget(&self) -> Option<&OverBudget> {
        match self {
            AskError::Model { source, .. } => source.over_budget(),
            AskError::Unfit { .. } => None,
        }
    }

    /// Returns true if the same question may be answered later: after a [`ModelError`] that is
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
