//! Messages of Anthropic.

use std::collections::BTreeMap;

use serde_json::Value;

use super::parts::{self, Parts, list, text};
use crate::error::ModelError;
use crate::model::ToolCallChunk;
use crate::providers::kept::Thought;
use crate::usage::Usage;

#[derive(Default)]
pub(super) struct Reader {
    /// The blocks that have begun and not ended, by their indexes.
    blocks: BTreeMap<u64, Block>,
    /// The model's thoughts since its last call.
    thoughts: Vec<Thought>,
    tokens: Tokens,
}

enum Block {
    Text,
    /// A call of a tool of the program.
    Call {
        index: usize,
        has_arguments: bool,
    },
    Thought {
        thought: String,
        signature: String,
    },
    /// Another kind of block, such as a call of a tool of the provider.
    Other,
}

/// The token counts that were reported last.
#[derive(Default)]
struct Tokens {
    input: u64,
    written: u64,
    read: u64,
    output: u64,
}

impl parts::Reader for Reader {
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let index = event["index"].as_u64().unwrap_or_default();
        let is_known = match text(event, "type") {
            "message_start" => {
                self.used(&event["message"]["usage"], parts);
                true
            }
            "content_block_start" => {
                self.begin(index, &event["content_block"], parts);
                true
            }
            "content_block_delta" => {
                self.add(index, &event["delta"], parts);
                true
            }
            "content_block_stop" => {
                self.end(index, parts);
                true
            }
            "message_delta" => {
                self.used(&event["usage"], parts);
                stop(&event["delta"], parts);
                true
            }
            "message_stop" => {
                parts.has_ended = true;
                // A call that was cut short at the limit of tokens has no end of its own.
                let open: Vec<u64> = self.blocks.keys().copied().collect();
                open.into_iter().for_each(|index| self.end(index, parts));
                true
            }
            _ => false,
        };
        parts.is_known |= is_known;
        Ok(())
    }

    fn whole(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        let is_message = text(body, "type") == "message" || !text(body, "stop_reason").is_empty();
        parts.is_known = is_message && body.get("content").is_some_and(Value::is_array);
        for (index, block) in (0..).zip(list(body, "content")) {
            self.begin(index, block, parts);
            self.end(index, parts);
        }
        self.used(&body["usage"], parts);
        stop(body, parts);
        Ok(())
    }
}

/// Reads why the message ended, and the explanation of a refusal.
fn stop(message: &Value, parts: &mut Parts) {
    let details = &message["stop_details"];
    if text(details, "type") == "refusal" {
        parts.refuse(text(details, "explanation"));
    }
    parts.stop(text(message, "stop_reason"));
}

impl Reader {
    fn begin(&mut self, index: u64, block: &Value, parts: &mut Parts) {
        let begun = match text(block, "type") {
            "text" => {
                parts.say(text(block, "text"));
                Block::Text
            }
            "tool_use" => self.begin_call(block, parts),
            "thinking" => {
                let [thought, signature] = ["thinking", "signature"].map(|name| {
                    parts.keep(text(block, name));
                    text(block, name).to_owned()
                });
                Block::Thought { thought, signature }
            }
            "redacted_thinking" => {
                parts.keep(text(block, "data"));
                self.thoughts.push(Thought::Block(block.clone()));
                Block::Other
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, begun);
    }

    fn begin_call(&mut self, block: &Value, parts: &mut Parts) -> Block {
        let mut chunk = ToolCallChunk::new(parts.begin_call());
        chunk.id = Some(text(block, "id").to_owned());
        chunk.name = text(block, "name").to_owned();
        chunk.extra = parts.kept(std::mem::take(&mut self.thoughts));
        // In a stream, the arguments follow.
        if let Value::Object(fields) = &block["input"]
            && !fields.is_empty()
        {
            chunk.arguments = block["input"].to_string();
        }
        let (index, has_arguments) = (chunk.index, !chunk.arguments.is_empty());
        parts.call(chunk);
        Block::Call {
            index,
            has_arguments,
        }
    }

    fn add(&mut self, index: u64, delta: &Value, parts: &mut Parts) {
        let block = self.blocks.entry(index).or_insert(Block::Text);
        match (text(delta, "type"), block) {
            ("text_delta", Block::Text) => parts.say(text(delta, "text")),
            (
                "input_json_delta",
                Block::Call {
                    index,
                    has_arguments,
                },
            ) => {
                let arguments = text(delta, "partial_json");
                *has_arguments |= !arguments.is_empty();
                parts.arguments(*index, arguments);
            }
            ("thinking_delta", Block::Thought { thought, .. }) => {
                parts.keep(text(delta, "thinking"));
                thought.push_str(text(delta, "thinking"));
            }
            ("signature_delta", Block::Thought { signature, .. }) => {
                parts.keep(text(delta, "signature"));
                signature.push_str(text(delta, "signature"));
            }
            _ => {}
        }
    }

    fn end(&mut self, index: u64, parts: &mut Parts) {
        match self.blocks.remove(&index) {
            Some(Block::Call {
                index,
                has_arguments: false,
            }) if !parts.has_ended => parts.arguments(index, "{}"),
            Some(Block::Thought { thought, signature }) if !signature.is_empty() => {
                let signed = [Thought::Signature(signature), Thought::Text(thought)];
                self.thoughts.extend(signed);
            }
            _ => {}
        }
    }

    /// Reads the usage. Each event reports a part of it.
    fn used(&mut self, usage: &Value, parts: &mut Parts) {
        let tokens = &mut self.tokens;
        let fields = [
            ("input_tokens", &mut tokens.input),
            ("cache_creation_input_tokens", &mut tokens.written),
            ("cache_read_input_tokens", &mut tokens.read),
            ("output_tokens", &mut tokens.output),
        ];
        let mut is_told = false;
        for (name, field) in fields {
            if let Some(count) = usage[name].as_u64() {
                *field = count;
                is_told = true;
            }
        }
        if is_told {
            let input = tokens.input.saturating_add(tokens.written);
            let mut usage = Usage::new(input.saturating_add(tokens.read), tokens.output);
            usage.cached_input_tokens = tokens.read;
            parts.usage = Some(usage);
        }
    }
}
