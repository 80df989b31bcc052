//! Chat Completions of OpenAI, which many servers send in forms of their own.

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
    /// What the model thought, for a provider that wants it back.
    thought: String,
}

impl parts::Reader for Reader {
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        parts.is_known |= event.get("choices").is_some_and(Value::is_array);
        let reported = [&event["usage"], &event["x_groq"]["usage"]];
        let usage = reported.into_iter().find_map(|it| usage(it, parts));
        parts.usage = usage.or(parts.usage);
        let Some(choice) = list(event, "choices").next() else {
            return Ok(());
        };
        // Some servers send all that came so far, as `message`, with the next part.
        let said = choice.get("delta").or_else(|| choice.get("message"));
        if let Some(said) = said {
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
        parts.is_known = list(body, "choices").next().is_some();
        Ok(())
    }
}

impl Reader {
    fn said(&mut self, said: &Value, parts: &mut Parts) {
        let thought = text(said, "reasoning_content");
        if parts.provider.wants_thoughts() {
            parts.keep(thought);
            self.thought.push_str(thought);
        }
        // A model of Mistral that thinks has several parts.
        for part in list(said, "content") {
            if matches!(text(part, "type"), "text" | "") {
                parts.say(text(part, "text"));
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
        if !matches!(text(call, "type"), "function" | "") {
            self.of_provider.insert(index);
        }
        if self.of_provider.contains(&index) {
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

    /// Keeps what the model thought with its first call.
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
    // xAI does not count what a model thinks as answered.
    let thought = count("/completion_tokens_details/reasoning_tokens");
    let thought = thought.filter(|_| parts.provider.name == "xai" || output.is_none());
    let output = output.unwrap_or_default() + thought.unwrap_or_default();
    let mut usage = Usage::new(input.unwrap_or_default(), output);
    let cached = count("/prompt_tokens_details/cached_tokens");
    usage.cached_input_tokens = cached.unwrap_or_default();
    Some(usage)
}

/// The indexes of the calls of an answer. Some servers give none.
#[derive(Debug, Default)]
struct CallNumbers {
    by_id: BTreeMap<String, usize>,
    /// The last call at each place.
    by_place: BTreeMap<usize, usize>,
    next: usize,
}

impl CallNumbers {
    /// The index of a call, or of a part of one, which came at this place. Where the server gives none, a part with a
    /// new id begins a call, and a part without an id belongs to the last call at its place.
    fn number(&mut self, place: usize, call: &Value) -> usize {
        let given = call["index"].as_u64();
        let given = given.and_then(|index| usize::try_from(index).ok());
        let id = text(call, "id");
        let known = match id {
            "" => self.by_place.get(&place),
            id => self.by_id.get(id),
        };
        let index = given.or(known.copied()).unwrap_or(self.next);
        self.next = self.next.max(index.saturating_add(1));
        self.by_place.insert(place, index);
        if !id.is_empty() {
            self.by_id.insert(id.to_owned(), index);
        }
        index
    }
}
