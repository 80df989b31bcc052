//! Builds an answer from its parts.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use crate::error::ModelError;
use crate::message::ToolCall;
use crate::model::{Chunk, Reply, Stop, ToolCallChunk};
use crate::usage::Usage;

/// Builds an answer from the parts of a stream. The parts of a call are joined by its index.
///
/// # Examples
/// ```
/// use flow_agents::{Chunk, ReplyBuilder, Stop, ToolCallChunk, Usage};
///
/// let mut reply = ReplyBuilder::new();
/// for (id, name, arguments) in [(Some("call_1"), "sea", ""), (None, "rch", r#"{"q":"#), (None, "", "1}")] {
///     let mut part = ToolCallChunk::new(0);
///     part.id = id.map(str::to_owned);
///     part.name = name.to_owned();
///     part.arguments = arguments.to_owned();
///     reply.push(Chunk::ToolCall(part));
/// }
/// reply.push(Chunk::end(Usage::new(7, 5), Stop::Done));
/// let reply = reply.finish()?;
/// assert_eq!(reply.tool_calls[0].name, "search");
/// assert_eq!(reply.tool_calls[0].arguments, r#"{"q":1}"#);
/// # Ok::<(), flow_agents::ModelError>(())
/// ```
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    content: String,
    calls: BTreeMap<usize, ToolCall>,
    end: Option<(Usage, Stop)>,
}

impl ReplyBuilder {
    /// Creates an empty answer.
    pub fn new() -> ReplyBuilder {
        ReplyBuilder::default()
    }

    /// Adds a part. Parts after the end are ignored.
    pub fn push(&mut self, chunk: Chunk) {
        if self.end.is_some() {
            return;
        }
        match chunk {
            Chunk::Text(text) => self.content.push_str(&text),
            Chunk::ToolCall(chunk) => self.push_call(chunk),
            Chunk::End { usage, stop } => self.end = Some((usage, stop)),
        }
    }

    fn push_call(&mut self, chunk: ToolCallChunk) {
        let call = self
            .calls
            .entry(chunk.index)
            .or_insert_with(|| ToolCall::raw("", "", ""));
        // Some providers send an empty id with each further part.
        if let Some(id) = chunk.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        call.name.push_str(&chunk.name);
        call.arguments.push_str(&chunk.arguments);
        call.extra = chunk.extra.or(call.extra.take());
    }

    /// The answer. A call without an id gets a unique one, such as `call_2` for index 2.
    ///
    /// # Errors
    /// [`ModelError::CutOff`] if [`Chunk::End`] is missing.
    pub fn finish(mut self) -> Result<Reply, ModelError> {
        let Some((usage, stop)) = self.end.take() else {
            return Err(ModelError::CutOff {
                characters: self.content.chars().count(),
                calls: self.calls.len(),
            });
        };
        self.name_calls();
        Ok(Reply {
            content: self.content,
            tool_calls: self.calls.into_values().collect(),
            usage,
            stop,
        })
    }

    /// Gives an id to each call without one.
    fn name_calls(&mut self) {
        let ids = self.calls.values().map(|call| call.id.clone());
        let mut taken: BTreeSet<String> = ids.collect();
        let nameless = self.calls.iter_mut().filter(|(_, call)| call.id.is_empty());
        for (index, call) in nameless {
            for number in iter::once(*index).chain(0..) {
                let id = format!("call_{number}");
                if taken.insert(id.clone()) {
                    call.id = id;
                    break;
                }
            }
        }
    }
}
