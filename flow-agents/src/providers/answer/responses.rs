//! Responses of OpenAI.

use std::collections::BTreeMap;

use serde_json::Value;

use super::parts::{self, Parts, list, text};
use crate::error::ModelError;
use crate::model::ToolCallChunk;
use crate::providers::failure;
use crate::providers::kept::Thought;
use crate::usage::Usage;

#[derive(Default)]
pub(super) struct Reader {
    /// Calls that have begun and have no end yet, by the places of their items. Only the end has all arguments.
    calls: BTreeMap<u64, Call>,
    /// Signatures of what the model thought since its last call.
    thoughts: Vec<Thought>,
    /// A part of the answer has come before its end, which repeats it.
    has_begun: bool,
}

struct Call {
    index: usize,
    item: Value,
    arguments: String,
}

impl parts::Reader for Reader {
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let kind = text(event, "type");
        parts.is_known |= kind.starts_with("response.");
        let place = event["output_index"].as_u64().unwrap_or_default();
        match kind {
            "response.output_text.delta" => {
                self.has_begun = true;
                parts.say(text(event, "delta"));
            }
            "response.refusal.delta" => {
                self.has_begun = true;
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
                return self.whole(&event["response"], parts);
            }
            _ => {}
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let status = text(body, "status");
        parts.is_known |= body.get("output").is_some_and(Value::is_array);
        parts.has_ended = true;
        if status == "failed" {
            return Err(failure::failed(&body["error"]));
        }
        if self.has_begun {
            for call in std::mem::take(&mut self.calls).into_values() {
                self.called(call, parts);
            }
        } else {
            for (place, item) in (0..).zip(list(body, "output")) {
                for part in list(item, "content") {
                    match text(part, "type") {
                        "output_text" => parts.say(text(part, "text")),
                        "refusal" => parts.refuse(text(part, "refusal")),
                        _ => {}
                    }
                }
                self.end(place, item, parts);
            }
        }
        parts.usage = usage(&body["usage"]).or(parts.usage);
        if body["incomplete_details"]["reason"] == "content_filter" {
            parts.filter();
        }
        parts.stop(status);
        Ok(())
    }
}

impl Reader {
    fn begin(&mut self, place: u64, item: &Value, parts: &mut Parts) {
        if text(item, "type") == "function_call" {
            self.has_begun = true;
            let call = Call {
                index: parts.begin_call(),
                item: item.clone(),
                arguments: String::new(),
            };
            self.calls.insert(place, call);
        }
    }

    fn end(&mut self, place: u64, item: &Value, parts: &mut Parts) {
        match text(item, "type") {
            "function_call" => {
                if !self.calls.contains_key(&place) {
                    self.begin(place, item, parts);
                }
                if let Some(mut call) = self.calls.remove(&place) {
                    call.item = item.clone();
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
            _ => {}
        }
    }

    /// Adds a call. The arguments of its item are whole, unless the item has none.
    fn called(&mut self, call: Call, parts: &mut Parts) {
        let mut chunk = ToolCallChunk::new(call.index);
        chunk.id = Some(text(&call.item, "call_id").to_owned());
        chunk.name = text(&call.item, "name").to_owned();
        chunk.arguments = match text(&call.item, "arguments") {
            "" => call.arguments,
            whole => whole.to_owned(),
        };
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
