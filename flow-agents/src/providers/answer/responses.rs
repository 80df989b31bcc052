//! Responses of OpenAI.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::parts::{self, Parts, list, text};
use crate::error::ModelError;
use crate::model::ToolCallChunk;
use crate::providers::failure;
use crate::providers::kept::Thought;
use crate::usage::Usage;

/// The events that name the place of their item.
const PLACED: [&str; 5] = [
    "response.output_text.delta",
    "response.refusal.delta",
    "response.function_call_arguments.delta",
    "response.output_item.added",
    "response.output_item.done",
];

#[derive(Default)]
pub(super) struct Reader {
    /// Calls that have begun and not ended, by the places of their items. Only the end has all
    /// arguments.
    calls: BTreeMap<u64, Call>,
    /// Signatures of the model's thoughts since its last call.
    thoughts: Vec<Thought>,
    /// The places of texts that have arrived, by their items. Later events may repeat these texts.
    said: BTreeSet<(u64, u64)>,
    /// The places of the complete items.
    ended: BTreeSet<u64>,
    /// `true` if an event lacked its place, so that repeated items cannot be recognized.
    has_placeless: bool,
}

struct Call {
    index: usize,
    id: String,
    name: String,
    arguments: String,
}

impl Call {
    /// Copies the fields of an item that are not empty. A complete item has complete arguments.
    fn take(&mut self, item: &Value) {
        let fields = [
            ("call_id", &mut self.id),
            ("name", &mut self.name),
            ("arguments", &mut self.arguments),
        ];
        for (name, field) in fields {
            if !text(item, name).is_empty() {
                text(item, name).clone_into(field);
            }
        }
    }
}

impl parts::Reader for Reader {
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let kind = text(event, "type");
        parts.is_known |= kind.starts_with("response.");
        let place = event["output_index"].as_u64();
        self.has_placeless |= place.is_none() && PLACED.contains(&kind);
        let place = place.unwrap_or_default();
        let content = event["content_index"].as_u64().unwrap_or_default();
        match kind {
            "response.output_text.delta" => {
                self.said.insert((place, content));
                parts.say(text(event, "delta"));
            }
            "response.refusal.delta" => {
                self.said.insert((place, content));
                parts.refuse(text(event, "delta"));
            }
            "response.output_item.added" => self.begin(place, &event["item"], parts),
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.calls.get_mut(&place) {
                    parts.keep(text(event, "delta"));
                    call.arguments.push_str(text(event, "delta"));
                }
            }
            "response.output_item.done" => self.end(place, &event["item"], parts),
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.end_of_all(&event["response"], parts);
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        self.end_of_all(body, parts)?;
        parts.is_known = !text(body, "status").is_empty() && body["output"].is_array();
        Ok(())
    }
}

impl Reader {
    /// Reads the whole answer. Parts of it may have arrived before.
    fn end_of_all(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        parts.has_ended = true;
        if text(body, "status") == "failed" {
            return Err(failure::failed(&body["error"]));
        }
        if !self.has_placeless {
            for (place, item) in (0..).zip(list(body, "output")) {
                self.end(place, item, parts);
            }
        }
        for (_, call) in std::mem::take(&mut self.calls) {
            self.called(call, parts);
        }
        parts.usage = usage(&body["usage"]).or(parts.usage);
        if body["incomplete_details"]["reason"] == "content_filter" {
            parts.filter();
        }
        parts.stop(text(body, "status"));
        Ok(())
    }

    fn begin(&mut self, place: u64, item: &Value, parts: &mut Parts) {
        if text(item, "type") == "function_call" && !self.calls.contains_key(&place) {
            let mut call = Call {
                index: parts.begin_call(),
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
            };
            call.take(item);
            parts.keep(&call.id);
            parts.keep(&call.name);
            self.calls.insert(place, call);
        }
    }

    /// Handles a complete item.
    fn end(&mut self, place: u64, item: &Value, parts: &mut Parts) {
        if !self.ended.insert(place) && !self.has_placeless {
            return;
        }
        match text(item, "type") {
            "function_call" => {
                self.begin(place, item, parts);
                if let Some(mut call) = self.calls.remove(&place) {
                    call.take(item);
                    self.called(call, parts);
                }
            }
            "reasoning" => {
                let signature = text(item, "encrypted_content");
                if !signature.is_empty() {
                    parts.keep(signature);
                    self.thoughts.push(Thought::Signature(signature.to_owned()));
                }
            }
            _ if self.has_placeless => {}
            _ => {
                for (index, part) in (0..).zip(list(item, "content")) {
                    match text(part, "type") {
                        _ if !self.said.insert((place, index)) => {}
                        "output_text" => parts.say(text(part, "text")),
                        "refusal" => parts.refuse(text(part, "refusal")),
                        _ => {}
                    }
                }
            }
        }
    }

    fn called(&mut self, call: Call, parts: &mut Parts) {
        let mut chunk = ToolCallChunk::new(call.index);
        (chunk.id, chunk.name, chunk.arguments) = (Some(call.id), call.name, call.arguments);
        chunk.extra = parts.kept(std::mem::take(&mut self.thoughts));
        parts.call(chunk);
    }
}

fn usage(tokens: &Value) -> Option<Usage> {
    let count = |place: &str| tokens.pointer(place).and_then(Value::as_u64);
    let (input, output) = (count("/input_tokens"), count("/output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let mut usage = Usage::new(input.unwrap_or_default(), output.unwrap_or_default());
    let cached = count("/input_tokens_details/cached_tokens");
    usage.cached_input_tokens = cached.unwrap_or_default();
    Some(usage)
}
