//! The parts of an answer, and the trait that reads them.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use crate::error::ModelError;
use crate::log::warning;
use crate::model::{Chunk, Stop, ToolCallChunk};
use crate::providers::failure;
use crate::providers::kept::{self, Thought};
use crate::providers::provider::Provider;
use crate::usage::Usage;

/// Reads the answers of a protocol.
pub(in crate::providers) trait Reader: Send {
    /// Reads an event of a stream.
    ///
    /// # Errors
    /// Any error that the provider reports.
    fn event(&mut self, event: &Value, parts: &mut Parts) -> Result<(), ModelError>;

    /// Reads a whole answer.
    ///
    /// # Errors
    /// Any error that the provider reports.
    fn whole(&mut self, body: &Value, parts: &mut Parts) -> Result<(), ModelError> {
        self.event(body, parts)
    }
}

/// The bytes that a call counts for, in addition to its texts.
const CALL: usize = 256;

/// The parts of an answer.
pub(in crate::providers) struct Parts {
    pub(in crate::providers) provider: &'static Provider,
    /// Parts that are read and not taken yet.
    pub(in crate::providers) ready: VecDeque<Chunk>,
    /// The usage, if it is known.
    pub(in crate::providers) usage: Option<Usage>,
    /// `true` once an event of the protocol has arrived.
    pub(in crate::providers) is_known: bool,
    /// `true` once the provider has said that nothing more follows.
    pub(in crate::providers) has_ended: bool,
    stop: Option<Stop>,
    /// `true` if the provider held the answer back, or the model refused to give one.
    is_filtered: bool,
    /// The provider's reason for breaking the answer off.
    broken_off: Option<String>,
    characters: usize,
    /// The indexes of the calls that have begun.
    calls: BTreeSet<usize>,
    /// The bytes of texts, calls and thoughts.
    bytes: usize,
}

impl Parts {
    pub(in crate::providers) fn new(provider: &'static Provider) -> Parts {
        Parts {
            provider,
            ready: VecDeque::new(),
            usage: None,
            is_known: false,
            has_ended: false,
            stop: None,
            is_filtered: false,
            broken_off: None,
            characters: 0,
            calls: BTreeSet::new(),
            bytes: 0,
        }
    }

    /// Adds a text.
    pub(in crate::providers) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.bytes += text.len();
            self.characters += text.chars().count();
            self.ready.push_back(Chunk::text(text));
        }
    }

    /// Adds the text of a refusal.
    pub(in crate::providers) fn refuse(&mut self, text: &str) {
        self.is_filtered |= !text.is_empty();
        self.say(text);
    }

    /// Marks the answer as held back by the provider.
    pub(in crate::providers) fn filter(&mut self) {
        self.is_filtered = true;
    }

    /// Returns `true` if the provider held the answer back.
    pub(in crate::providers) fn is_held_back(&self) -> bool {
        self.is_filtered || self.stop == Some(Stop::Filtered)
    }

    /// Begins another call, and returns its index.
    pub(in crate::providers) fn begin_call(&mut self) -> usize {
        let next = self.calls.last().map_or(0, |last| last + 1);
        self.count_call(next);
        next
    }

    /// Counts a call if it is new: each takes some memory, even without a text.
    pub(in crate::providers) fn count_call(&mut self, index: usize) {
        if self.calls.insert(index) {
            self.bytes += CALL;
        }
    }

    /// Adds a part of a call.
    pub(in crate::providers) fn call(&mut self, chunk: ToolCallChunk) {
        self.count_call(chunk.index);
        let id = chunk.id.as_ref().map_or(0, String::len);
        self.bytes += id + chunk.name.len() + chunk.arguments.len();
        self.ready.push_back(Chunk::ToolCall(chunk));
    }

    /// Adds a part of the arguments of a call.
    pub(in crate::providers) fn arguments(&mut self, index: usize, arguments: &str) {
        let mut chunk = ToolCallChunk::new(index);
        chunk.arguments = arguments.to_owned();
        self.call(chunk);
    }

    /// Counts a text that is kept until later.
    pub(in crate::providers) fn keep(&mut self, text: &str) {
        self.bytes += text.len();
    }

    /// Returns thoughts in the form that is kept with the call after them.
    pub(in crate::providers) fn kept(&self, thoughts: Vec<Thought>) -> Option<Value> {
        kept::keep(self.provider, thoughts)
    }

    /// Records the provider's reason for the end of the answer. Before the end, some servers send
    /// an empty word or an equivalent. The worst of several reasons counts.
    pub(in crate::providers) fn stop(&mut self, word: &str) {
        let stop = match word {
            "" | "null" | "FINISH_REASON_UNSPECIFIED" => return,
            "stop" | "end_turn" | "STOP" | "completed" | "tool_calls" | "tool_use"
            | "function_call" | "stop_sequence" | "eos" | "eos_token" => Stop::Done,
            "length"
            | "max_tokens"
            | "MAX_TOKENS"
            | "incomplete"
            | "model_length"
            | "model_context_window_exceeded" => Stop::Length,
            "content_filter"
            | "refusal"
            | "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "LANGUAGE" => Stop::Filtered,
            "error"
            | "abort"
            | "network_error"
            | "insufficient_system_resource"
            | "MALFORMED_FUNCTION_CALL"
            | "MALFORMED_RESPONSE" => {
                self.broken_off = Some(word.to_owned());
                return;
            }
            other => Stop::Other(other.to_owned()),
        };
        if self
            .stop
            .as_ref()
            .is_none_or(|known| rank(known) <= rank(&stop))
        {
            self.stop = Some(stop);
        }
    }

    /// Returns `true` if the answer has said why it ended.
    pub(in crate::providers) fn has_stopped(&self) -> bool {
        self.stop.is_some() || self.broken_off.is_some()
    }

    /// Checks that the parts so far are within the limit.
    ///
    /// # Errors
    /// [`ModelError::TooLarge`].
    pub(in crate::providers) fn check(&self, limit: usize) -> Result<(), ModelError> {
        if self.bytes > limit {
            return Err(ModelError::TooLarge { limit });
        }
        Ok(())
    }

    /// Returns the last chunk of the answer.
    ///
    /// # Errors
    /// [`ModelError::CutOff`] if the answer does not say why it ended, and
    /// [`ModelError::Unavailable`] if the provider broke it off.
    pub(in crate::providers) fn end(&mut self) -> Result<Chunk, ModelError> {
        if let Some(word) = &self.broken_off {
            return Err(failure::broken_off(word, self.characters));
        }
        let stop = match self.stop.take() {
            Some(_) if self.is_filtered => Stop::Filtered,
            Some(stop) => stop,
            None => return Err(self.cut()),
        };
        Ok(Chunk::end(told(self.usage), stop))
    }

    /// Returns the error of an answer that was cut off here.
    pub(in crate::providers) fn cut(&self) -> ModelError {
        ModelError::CutOff {
            characters: self.characters,
            calls: self.calls.len(),
        }
    }
}

/// The severity of a reason to stop.
fn rank(stop: &Stop) -> u8 {
    match stop {
        Stop::Done => 0,
        Stop::Other(_) => 1,
        Stop::Length => 2,
        Stop::Filtered => 3,
    }
}

/// Returns the usage, or zero with a warning if it is not known.
pub(in crate::providers) fn told(usage: Option<Usage>) -> Usage {
    usage.unwrap_or_else(|| {
        warning!("a provider does not say how many tokens it used, so they count as none");
        Usage::default()
    })
}

/// Returns a text field of an event; empty if it is missing.
pub(in crate::providers) fn text<'a>(event: &'a Value, name: &str) -> &'a str {
    event.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the elements of a list field of an event; none if it is missing.
pub(in crate::providers) fn list<'a>(
    event: &'a Value,
    name: &str,
) -> impl Iterator<Item = &'a Value> {
    event
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}
