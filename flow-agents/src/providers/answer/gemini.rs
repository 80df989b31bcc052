//! Answers of Gemini. Each event has the form of a whole answer.

use serde_json::Value;

use super::parts::{self, Parts, list, text};
use crate::error::ModelError;
use crate::log::warning;
use crate::model::ToolCallChunk;
use crate::providers::kept::{NAMELESS, Thought};
use crate::usage::Usage;

#[derive(Default)]
pub(super) struct Reader {
    /// `true` within a call whose arguments arrive in parts.
    is_in_parts: bool,
}

impl parts::Reader for Reader {
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let fields = ["promptFeedback", "usageMetadata"];
        parts.is_known |= fields.iter().any(|name| event[*name].is_object())
            || list(event, "candidates").all(Value::is_object) && event["candidates"].is_array();
        parts.usage = usage(&event["usageMetadata"]).or(parts.usage);
        // A blocked question has no answer.
        let feedback = &event["promptFeedback"];
        if !text(feedback, "blockReason").is_empty() {
            parts.filter();
            parts.refuse(text(feedback, "blockReasonMessage"));
            parts.stop("PROHIBITED_CONTENT");
        }
        if let Some(candidate) = list(event, "candidates").next() {
            for part in list(&candidate["content"], "parts") {
                self.read(part, parts);
            }
            // Parts may follow after a reason.
            parts.stop(text(candidate, "finishReason"));
            if parts.is_held_back() {
                parts.refuse(text(candidate, "finishMessage"));
            }
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        self.event(body, parts)?;
        let candidate = list(body, "candidates").next();
        parts.is_known = candidate.is_some_and(Value::is_object)
            || !text(&body["promptFeedback"], "blockReason").is_empty();
        Ok(())
    }
}

impl Reader {
    fn read(&mut self, part: &Value, parts: &mut Parts) {
        let Some(call) = part.get("functionCall") else {
            if part["thought"] != true {
                parts.say(text(part, "text"));
            }
            return;
        };
        // Arguments arrive in parts only if the request asks for it. Such calls are ignored.
        let continues = call["willContinue"] == true;
        let is_part = !call["partialArgs"].is_null() || continues;
        if is_part || self.is_in_parts && call["args"].is_null() {
            if !self.is_in_parts {
                warning!("a call of a tool whose arguments come in parts is passed over");
            }
            self.is_in_parts = continues;
            return;
        }
        self.is_in_parts = false;
        called(call, text(part, "thoughtSignature"), parts);
    }
}

fn called(call: &Value, signature: &str, parts: &mut Parts) {
    let name = text(call, "name");
    if name.is_empty() {
        return; // the end of a call in parts
    }
    let index = parts.begin_call();
    let mut chunk = ToolCallChunk::new(index);
    chunk.id = Some(match text(call, "id") {
        "" => format!("{}{name}#{index}", NAMELESS),
        id => id.to_owned(),
    });
    chunk.name = name.to_owned();
    chunk.arguments = match &call["args"] {
        Value::Null => String::new(),
        arguments => arguments.to_string(),
    };
    if !signature.is_empty() {
        parts.keep(signature);
        chunk.extra = parts.kept(vec![Thought::Signature(signature.to_owned())]);
    }
    parts.call(chunk);
}

/// The usage. Gemini does not count a model's thoughts as output.
fn usage(tokens: &Value) -> Option<Usage> {
    let count = |name: &str| tokens[name].as_u64();
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
