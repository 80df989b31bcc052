//! What a provider wants back with the calls of its model, kept in [`ToolCall::extra`].
//!
//! Models that think before they call a tool go on from their thoughts when they get its result.
//! Providers do not keep these: Gemini and OpenAI send a signature, Anthropic the thoughts with their
//! signatures, and DeepSeek the thoughts alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::provider::Provider;
use crate::log::warning;
use crate::message::ToolCall;

/// The beginning of the id of a call to which Gemini gave none, and which is not sent to it.
pub(super) const NAMELESS: &str = "call#";

/// A part of what a model thought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Thought {
    /// The provider's signature of it.
    Signature(String),
    /// The thought.
    Text(String),
    /// A part in the provider's own form, such as a thought that it encrypted.
    Block(Value),
}

/// The thoughts before a call, with who wants them back.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    provider: String,
    thoughts: Vec<Thought>,
}

/// Keeps thoughts with the call that follows them.
pub(super) fn keep(provider: &Provider, thoughts: Vec<Thought>) -> Option<Value> {
    if thoughts.is_empty() {
        return None;
    }
    let provider = provider.telemetry.to_owned();
    let kept = serde_json::to_value(Kept { provider, thoughts });
    kept.inspect_err(warn).ok()
}

/// The thoughts that were kept with a call. Those of another provider are of no use to this one.
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
