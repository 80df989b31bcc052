//! Chat Completions of OpenAI. Many servers send variants of them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::parts::{self, Parts, list, text};
use crate::error::ModelError;
use crate::model::{Chunk, ToolCallChunk};
use crate::providers::kept::Thought;
use crate::usage::Usage;

#[derive(Default)]
pub(super) struct Reader {
    numbers: CallNumbers,
    /// The indexes of calls of the provider's own tools.
    of_provider: BTreeSet<usize>,
    /// The index of the first call.
    first: Option<usize>,
    /// The model's thoughts, for a provider that wants them back.
    thought: String,
}

impl parts::Reader for Reader {
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let choice = list(event, "choices").next();
        parts.is_known |= match choice {
            Some(choice) => is_choice(choice),
            None => event.get("choices").is_some_and(Value::is_array),
        };
        let reported = [&event["usage"], &event["x_groq"]["usage"]];
        let usage = reported.into_iter().find_map(|it| usage(it, parts));
        parts.usage = usage.or(parts.usage);
        let Some(choice) = choice else {
            return Ok(());
        };
        if let Some(said) = said(choice) {
            self.said(said, parts);
        }
        let stop = text(choice, "finish_reason");
        if !stop.is_empty() {
            self.end_thought(parts);
            parts.stop(stop);
        }
        Ok(())
    }

    fn whole(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        self.event(body, parts)?;
        parts.is_known = list(body, "choices").next().and_then(said).is_some();
        Ok(())
    }
}

/// The content of a choice. Some servers also send all content so far with each part, as `message`.
fn said(choice: &Value) -> Option<&Value> {
    let fields = ["delta", "message"].into_iter();
    let mut said = fields.filter_map(|name| choice.get(name));
    said.find(|said| said.is_object())
}

/// Returns `true` for a choice of a chat. Those of Completions, the older interface, have a `text`.
fn is_choice(choice: &Value) -> bool {
    said(choice).is_some()
        || !text(choice, "finish_reason").is_empty() && choice.get("text").is_none()
}

impl Reader {
    fn said(&mut self, said: &Value, parts: &mut Parts) {
        let thought = text(said, "reasoning_content");
        if parts.provider.wants_thoughts() {
            parts.keep(thought);
            self.thought.push_str(thought);
        }
        // Thinking models of Mistral send several parts.
        for part in list(said, "content") {
            match text(part, "type") {
                "text" | "" => parts.say(text(part, "text")),
                "refusal" => parts.refuse(text(part, "refusal")),
                _ => {}
            }
        }
        parts.say(text(said, "content"));
        parts.refuse(text(said, "refusal"));
        for (place, call) in list(said, "tool_calls").enumerate() {
            self.called(place, call, parts);
        }
    }

    fn called(&mut self, place: usize, call: &Value, parts: &mut Parts) {
        let index = self.numbers.number(place, call);
        parts.count_call(index);
        if !matches!(text(call, "type"), "function" | "") {
            self.of_provider.insert(index);
        }
        if self.of_provider.contains(&index) {
            parts.keep(text(call, "id"));
            return;
        }
        self.first.get_or_insert(index);
        let function = &call["function"];
        let mut chunk = ToolCallChunk::new(index);
        chunk.id = call["id"].as_str().map(str::to_owned);
        chunk.name = text(function, "name").to_owned();
        // A text with JSON in it. Some servers send the JSON itself.
        chunk.arguments = match &function["arguments"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            json => json.to_string(),
        };
        parts.call(chunk);
    }

    /// Keeps the model's thoughts with its first call.
    fn end_thought(&mut self, parts: &mut Parts) {
        let thought = std::mem::take(&mut self.thought);
        if let (Some(first), false) = (self.first, thought.is_empty()) {
            let mut chunk = ToolCallChunk::new(first);
            chunk.extra = parts.kept(vec![Thought::Text(thought)]);
            parts.ready.push_back(Chunk::ToolCall(chunk));
        }
    }
}

fn usage(tokens: &Value, parts: &Parts) -> Option<Usage> {
    let count = |place: &str| tokens.pointer(place).and_then(Value::as_u64);
    let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    // xAI does not count a model's thoughts as output.
    let thought = count("/completion_tokens_details/reasoning_tokens");
    let thought = thought.filter(|_| parts.provider.name == "xai" || output.is_none());
    let output = output.unwrap_or_default() + thought.unwrap_or_default();
    let mut usage = Usage::new(input.unwrap_or_default(), output);
    let cached = count("/prompt_tokens_details/cached_tokens");
    usage.cached_input_tokens = cached.unwrap_or_default();
    Some(usage)
}

/// The indexes of the calls of an answer. Some servers send none, and some the same for all calls.
#[derive(Debug, Default)]
struct CallNumbers {
    by_id: BTreeMap<String, usize>,
    /// The last call at each place.
    by_place: BTreeMap<usize, usize>,
    /// The last call with each index that the server sends.
    by_index: BTreeMap<u64, usize>,
    /// The calls that have a name and an id.
    is_begun: BTreeSet<usize>,
    next: usize,
}

impl CallNumbers {
    /// Returns the index of a call, or of a part of one, at this place.
    ///
    /// A part belongs to the call with its id. A part with a new id belongs to the call with its
    /// index, unless that call has begun and the part begins another: some servers give each part a
    /// new id. Without an index, a part with a new id begins a call, and a part without an id
    /// belongs to the last call at its place.
    fn number(&mut self, place: usize, call: &Value) -> usize {
        let (id, given) = (text(call, "id"), call["index"].as_u64());
        let begins = !id.is_empty() && !text(&call["function"], "name").is_empty();
        let of_index = given.and_then(|given| self.by_index.get(&given)).copied();
        let known = match (self.by_id.get(id), given) {
            (Some(known), _) => Some(*known),
            (None, Some(_)) => of_index.filter(|index| !(begins && self.is_begun.contains(index))),
            (None, None) if id.is_empty() => self.by_place.get(&place).copied(),
            (None, None) => None,
        };
        // Calls keep the order of the server's indexes.
        let wanted = given.filter(|_| of_index.is_none());
        let wanted = wanted.and_then(|index| usize::try_from(index).ok());
        let wanted = wanted.filter(|index| !self.is_begun.contains(index));
        let index = known.or(wanted).unwrap_or(self.next);
        self.next = self.next.max(index.saturating_add(1));
        self.by_place.insert(place, index);
        if let Some(given) = given {
            self.by_index.insert(given, index);
        }
        if begins {
            self.is_begun.insert(index);
        }
        if !id.is_empty() {
            self.by_id.insert(id.to_owned(), index);
        }
        index
    }
}
