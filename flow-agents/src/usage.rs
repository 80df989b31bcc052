//! The tokens that requests use.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// The tokens that requests used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// The tokens of the messages and tools that were sent.
    pub input_tokens: u64,
    /// The part of [`input_tokens`](Usage::input_tokens) that the provider had cached from an
    /// earlier request, for which many charge less.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// The tokens of the answers.
    pub output_tokens: u64,
}

impl Usage {
    /// Creates a usage with these tokens, without cached ones.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        }
    }

    /// The maximum of each number of both.
    #[must_use]
    pub(crate) fn max(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.max(other.input_tokens),
            cached_input_tokens: self.cached_input_tokens.max(other.cached_input_tokens),
            output_tokens: self.output_tokens.max(other.output_tokens),
        }
    }

    /// The tokens of input and output together.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens = self
            .cached_input_tokens
            .saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "what serde calls it with"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
