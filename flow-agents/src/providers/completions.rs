//! Chat Completions as they are sent: what `genai` does not tell of them.
//!
//! Of a whole answer, it refuses calls whose arguments are not JSON, and trims the text. Of a stream,
//! it tells no index, keeps only the last part of a name that comes in parts, and no refusals.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::model::ToolCallChunk;
use crate::usage::Usage;

/// An answer, or a part of one.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Completion {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice {
    /// The whole of it.
    #[serde(default)]
    pub(super) message: Option<Said>,
    /// Its next part. Some servers send all that came so far with it.
    #[serde(default)]
    pub(super) delta: Option<Said>,
    #[serde(default)]
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Said {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    pub(super) refusal: Option<String>,
    #[serde(default)]
    pub(super) reasoning_content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
}

/// A text, or, of a model of Mistral that thinks, several parts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<TextPart>),
}

#[derive(Debug, Deserialize)]
struct TextPart {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Call {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    function: Function,
}

#[derive(Debug, Default, Deserialize)]
struct Function {
    #[serde(default)]
    name: Option<String>,
    /// A text with JSON in it. Some servers send the JSON itself.
    #[serde(default)]
    arguments: Value,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Tokens {
    #[serde(default, deserialize_with = "or_default")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "or_default")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "or_default")]
    prompt_tokens_details: TokensSent,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct TokensSent {
    #[serde(default, deserialize_with = "or_default")]
    cached_tokens: u64,
}

/// Reads `null` as what is missing, which some servers send.
fn or_default<'de, D, T>(value: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(value).map(Option::unwrap_or_default)
}

impl Completion {
    pub(super) fn usage(&self) -> Option<Usage> {
        let tokens = self.usage?;
        let mut usage = Usage::new(tokens.prompt_tokens, tokens.completion_tokens);
        usage.cached_input_tokens = tokens.prompt_tokens_details.cached_tokens;
        Some(usage)
    }
}

impl Said {
    pub(super) fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts = parts.iter().filter_map(|part| part.text.as_deref());
                texts.collect()
            }
        }
    }

    /// The calls, or their next parts.
    pub(super) fn calls(self) -> impl Iterator<Item = CallPart> {
        let calls = self.tool_calls.unwrap_or_default().into_iter().enumerate();
        calls.map(|(place, call)| CallPart { place, call })
    }
}

/// A call, or the next part of one.
#[derive(Debug)]
pub(super) struct CallPart {
    /// Where it stands among those that came with it.
    place: usize,
    call: Call,
}

impl CallPart {
    /// The part, of the call with this index.
    pub(super) fn of(self, index: usize) -> ToolCallChunk {
        let mut chunk = ToolCallChunk::new(index);
        chunk.id = self.call.id;
        chunk.name = self.call.function.name.unwrap_or_default();
        chunk.arguments = match self.call.function.arguments {
            Value::Null => String::new(),
            Value::String(text) => text,
            json => json.to_string(),
        };
        chunk
    }
}

/// The indexes of the calls of a stream. Some servers give none.
#[derive(Debug, Default)]
pub(super) struct CallNumbers {
    by_id: BTreeMap<String, usize>,
    /// The last call at each place.
    by_place: BTreeMap<usize, usize>,
    next: usize,
}

impl CallNumbers {
    /// The part, with the index of its call. Where the server gives none, a part with a new id begins a
    /// call, and a part without an id belongs to the last call at its place.
    pub(super) fn number(&mut self, part: CallPart) -> ToolCallChunk {
        let id = part.call.id.clone().filter(|id| !id.is_empty());
        let known = match &id {
            Some(id) => self.by_id.get(id),
            None => self.by_place.get(&part.place),
        };
        let index = part.call.index.or(known.copied()).unwrap_or(self.next);
        self.next = self.next.max(index.saturating_add(1));
        self.by_place.insert(part.place, index);
        self.by_id.extend(id.map(|id| (id, index)));
        part.of(index)
    }
}
