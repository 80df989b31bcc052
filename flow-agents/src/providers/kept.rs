//! Thoughts of a model that its provider wants back, kept in [`ToolCall::extra`].
//!
//! A model that thinks before a tool call continues from its thoughts when it gets the result.
//! Providers do not keep them: Gemini and OpenAI send a signature, Anthropic the thoughts with
//! their signatures, and DeepSeek only the thoughts.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::provider::Provider;
use crate::log::warning;
use crate::message::ToolCall;

/// The prefix of the id of a call to which Gemini gave none. Such ids are not sent to Gemini.
pub(super) const NAMELESS: &str = "call#";

/// A part of a model's thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Thought {
    /// The provider's signature of a thought.
    Signature(String),
    /// The text of a thought.
    Text(String),
    /// A part in the provider's own format, such as an encrypted thought.
    Block(Value),
}

/// The thoughts before a call, and the provider that wants them back.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    provider: String,
    thoughts: Vec<Thought>,
}

/// Returns thoughts in the form that is kept with the call after them.
pub(super) fn keep(provider: &Provider, thoughts: Vec<Thought>) -> Option<Value> {
    if thoughts.is_empty() {
        return None;
    }
    let provider = provider.telemetry.to_owned();
    let kept = serde_json::to_value(Kept { provider, thoughts });
    kept.inspect_err(warn).ok()
}

/// The thoughts that were kept with a call. Those of another provider are left out.
pub(super) fn kept(provider: &Provider, call: &ToolCall) -> Vec<Thought> {
    let Some(extra) = &call.extra else {
        return Vec::new();
    };
    match Kept::deserialize(extra) {
        Ok(kept) if kept.provider == provider.telemetry => kept.thoughts,
        Ok(_) => Vec::new(),
        Err(error) => {
            warn(&error);
            Vec::new()
        }
    }
}

fn warn(error: &serde_json::Error) {
    warning!(
        "what a model thought before it called a tool is not sent back to it",
        error = error as &(dyn std::error::Error + 'static),
    );
}
