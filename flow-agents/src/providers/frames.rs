//! What the events of a provider say besides what `genai` tells of them.

use serde::Deserialize as _;
use serde_json::Value;

use super::completions::{CallPart, Completion};
use super::provider::Protocol;
use crate::usage::Usage;

/// What ends a stream of Chat Completions.
const END: &str = "[DONE]";

/// Something that an event says.
#[derive(Debug)]
pub(super) enum Seen {
    /// A part of a call, of Chat Completions.
    Call(CallPart),
    /// A part of a text by which the model refuses to answer.
    Refusal(String),
    /// The provider's signature of what the model thought.
    Signature(String),
    /// The provider held the answer back. Of a question that it did not answer at all, what it used.
    Filtered(Option<Usage>),
    /// The provider failed, as it says itself.
    Failed(Value),
    /// The event is the beginning of the one that ends a stream of Chat Completions.
    HalfEnd,
    /// The event is not JSON.
    Unreadable(serde_json::Error),
}

/// Reads the data of an event.
pub(super) fn read(protocol: Protocol, data: &str) -> Vec<Seen> {
    let data = data.trim();
    if data.is_empty() || data == END {
        return Vec::new();
    }
    if END.starts_with(data) {
        return vec![Seen::HalfEnd];
    }
    let event: Value = match serde_json::from_str(data) {
        Ok(event) => event,
        Err(error) => return vec![Seen::Unreadable(error)],
    };
    match protocol {
        Protocol::Chat => completion(&event),
        Protocol::Responses => response(&event),
        Protocol::Gemini => blocked(&event),
        Protocol::Messages => Vec::new(),
    }
}

fn completion(event: &Value) -> Vec<Seen> {
    if event.get("error").is_some_and(|it| !it.is_null()) {
        return Vec::new(); // `genai` tells of it
    }
    let completion = match Completion::deserialize(event) {
        Ok(completion) => completion,
        Err(error) => return vec![Seen::Unreadable(error)],
    };
    let first = completion.choices.into_iter().next();
    let Some(said) = first.and_then(|choice| choice.delta) else {
        return Vec::new();
    };
    let refusal = said.refusal.clone().filter(|it| !it.is_empty());
    let refusal = refusal.map(Seen::Refusal).into_iter();
    refusal.chain(said.calls().map(Seen::Call)).collect()
}

fn response(event: &Value) -> Vec<Seen> {
    let text = |name: &str| event.get(name).and_then(Value::as_str);
    match text("type") {
        Some("response.refusal.delta") => {
            let refusal = text("delta").unwrap_or_default();
            vec![Seen::Refusal(refusal.to_owned())]
        }
        Some("response.output_item.done") => signature(&event["item"]).into_iter().collect(),
        Some("response.incomplete" | "response.failed") => ended(&event["response"]),
        _ => Vec::new(),
    }
}

fn signature(item: &Value) -> Option<Seen> {
    let is_thought = item["type"] == "reasoning";
    let signature = item["encrypted_content"].as_str().filter(|_| is_thought)?;
    Some(Seen::Signature(signature.to_owned()))
}

/// How a response of OpenAI ended, if not as it should.
fn ended(response: &Value) -> Vec<Seen> {
    if response["status"] == "failed" {
        return vec![Seen::Failed(response["error"].clone())];
    }
    if response["incomplete_details"]["reason"] == "content_filter" {
        return vec![Seen::Filtered(None)];
    }
    Vec::new()
}

/// Gemini answers a question that it does not allow without an answer.
fn blocked(event: &Value) -> Vec<Seen> {
    match event["promptFeedback"]["blockReason"].as_str() {
        Some(_) => vec![Seen::Filtered(used(event))],
        None => Vec::new(),
    }
}

/// What Gemini says that it used.
fn used(event: &Value) -> Option<Usage> {
    let count = |name: &str| event["usageMetadata"][name].as_u64();
    let sum = |one, other| match (count(one), count(other)) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
    };
    let input = sum("promptTokenCount", "toolUsePromptTokenCount");
    let output = sum("candidatesTokenCount", "thoughtsTokenCount");
    if input.is_none() && output.is_none() {
        return None;
    }
    let mut usage = Usage::new(input.unwrap_or(0), output.unwrap_or(0));
    usage.cached_input_tokens = count("cachedContentTokenCount").unwrap_or(0);
    Some(usage)
}

/// What a whole answer says besides.
pub(super) fn read_whole(protocol: Protocol, body: &Value) -> Vec<Seen> {
    match protocol {
        Protocol::Responses => {
            let items = body["output"].as_array().into_iter().flatten();
            let parts = items
                .filter_map(|item| item["content"].as_array())
                .flatten();
            let refusals = parts.filter_map(|part| part["refusal"].as_str());
            let mut seen: Vec<Seen> = refusals.map(|it| Seen::Refusal(it.to_owned())).collect();
            seen.extend(ended(body));
            seen
        }
        Protocol::Gemini => blocked(body),
        Protocol::Chat | Protocol::Messages => Vec::new(),
    }
}
