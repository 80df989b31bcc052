//! What the providers send, after their documentation.

mod anthropic;
mod gemini;
mod ollama;
mod openai;
mod responses;

pub(crate) use self::openai::parts;
use flow_agents::Usage;
use serde_json::Value;

/// What every provider answers.
pub(crate) const TEXT: &str = "In Köln it rains.";
pub(crate) const PARTS: [&str; 3] = ["In K", "öln it", " rains."];

/// What every provider says where it refuses something.
pub(crate) const WHY: &str = "Not like this.";

/// What each answer uses.
pub(crate) fn usage() -> Usage {
    let mut usage = Usage::new(12, 7);
    usage.cached_input_tokens = 4;
    usage
}

/// The bodies of one provider. A whole body stands before its stream.
pub(crate) struct Bodies {
    pub(crate) model: &'static str,
    pub(crate) provider: &'static str,
    pub(crate) paths: [&'static str; 2],
    /// How it is told the key `secret`.
    pub(crate) key: &'static str,
    /// [`TEXT`], with [`usage`].
    pub(crate) text: (Value, Vec<String>),
    /// Calls of `weather` in Köln, and of `time` in Europe/Berlin.
    pub(crate) calls: (Value, Vec<String>),
    /// An answer that reached the limit of tokens.
    pub(crate) long: (Value, Vec<String>),
    /// An answer that was refused or held back.
    pub(crate) filtered: (Value, Vec<String>),
    /// An error with [`WHY`].
    pub(crate) error: Value,
    /// A stream that ends with the provider being overloaded.
    pub(crate) overloaded: Vec<String>,
}

pub(crate) fn all() -> [Bodies; 5] {
    [
        openai::bodies(),
        responses::bodies(),
        anthropic::bodies(),
        gemini::bodies(),
        ollama::bodies(),
    ]
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn named(data: &Value) -> String {
    format!(
        "event: {}\ndata: {data}\n\n",
        data["type"].as_str().unwrap()
    )
}
