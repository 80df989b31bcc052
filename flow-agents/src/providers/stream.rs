//! The parts of an answer as they come.
//!
//! The hard thing is to know whether the answer is complete: where a connection ends early, `genai`
//! ends the answers of some providers as if they were whole. Only one that says why it ended is.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{StreamExt as _, stream};
use genai::chat::{ChatOptions, ChatStream, ChatStreamEvent, MessageContent, StreamEnd};

use super::completions::CallNumbers;
use super::failure;
use super::frames::{self, Seen};
use super::kept::{self, Thought};
use super::provider::{Protocol, Provider};
use super::reply;
use crate::error::ModelError;
use crate::message::ToolCall;
use crate::model::{Chunk, ReplyStream, Stop, ToolCallChunk};
use crate::usage::Usage;

/// What the events of a stream say besides what `genai` tells, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Besides(Arc<Mutex<VecDeque<Seen>>>);

impl Besides {
    /// Options with which `genai` passes each event on.
    pub(super) fn listen(&self, protocol: Protocol, options: ChatOptions) -> ChatOptions {
        let Besides(seen) = self.clone();
        options.with_raw_frame_fn(move |_, frame| {
            let new = frames::read(protocol, frame.data);
            seen.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(new);
        })
    }

    fn take(&self) -> VecDeque<Seen> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An answer on its way.
struct Answer {
    provider: &'static Provider,
    stream: ChatStream,
    besides: Besides,
    /// What has come and was not given yet.
    ready: VecDeque<Result<Chunk, ModelError>>,
    /// Nothing comes any more.
    ended: bool,
    /// The provider held the answer back, or the model refused to give one.
    filtered: bool,
    /// What a question used that the provider did not answer.
    unanswered: Option<Usage>,
    signatures: Vec<String>,
    characters: usize,
    /// Of each call that has come, its index, or its id where there is none.
    calls: BTreeSet<String>,
    /// The index of the first call of Chat Completions.
    first_call: Option<usize>,
    numbers: CallNumbers,
}

/// The parts of an answer, once the first has come.
///
/// # Errors
/// What comes before the first part.
pub(super) async fn parts(
    provider: &'static Provider,
    stream: ChatStream,
    besides: Besides,
) -> Result<ReplyStream, ModelError> {
    let mut answer = Answer {
        provider,
        stream,
        besides,
        ready: VecDeque::new(),
        ended: false,
        filtered: false,
        unanswered: None,
        signatures: Vec::new(),
        characters: 0,
        calls: BTreeSet::new(),
        first_call: None,
        numbers: CallNumbers::default(),
    };
    let first = match answer.next().await {
        Some(first) => first?,
        None => return Err(answer.cut()),
    };
    let rest = stream::unfold(answer, |mut answer| async move {
        let next = answer.next().await?;
        Some((next, answer))
    });
    Ok(stream::iter([Ok(first)]).chain(rest).boxed())
}

impl Answer {
    async fn next(&mut self) -> Option<Result<Chunk, ModelError>> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                if next.is_err() {
                    self.ready.clear();
                    self.ended = true;
                }
                return Some(next);
            }
            if self.ended {
                return None;
            }
            let event = self.stream.next().await;
            self.look();
            match event {
                Some(Ok(event)) => self.add(event),
                Some(Err(error)) => self.fail(failure::sort(error)),
                None => self.fail(self.cut()),
            }
        }
    }

    fn add(&mut self, event: ChatStreamEvent) {
        match event {
            ChatStreamEvent::Chunk(chunk) => self.say(chunk.content),
            ChatStreamEvent::ToolCallChunk(chunk) if self.provider.protocol != Protocol::Chat => {
                self.calls.insert(chunk.tool_call.call_id);
            }
            ChatStreamEvent::End(end) => self.end(end),
            ChatStreamEvent::Start
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::ReasoningChunk(_)
            | ChatStreamEvent::ThoughtSignatureChunk(_)
            | ChatStreamEvent::Heartbeat => {}
        }
    }

    /// Adds what the last events said besides.
    fn look(&mut self) {
        for seen in self.besides.take() {
            match seen {
                Seen::Call(part) => {
                    let chunk = self.numbers.number(part);
                    self.first_call.get_or_insert(chunk.index);
                    self.calls.insert(chunk.index.to_string());
                    self.ready.push_back(Ok(Chunk::ToolCall(chunk)));
                }
                Seen::Refusal(text) => {
                    self.filtered = true;
                    self.say(text);
                }
                Seen::Signature(signature) => self.signatures.push(signature),
                Seen::Filtered(usage) => {
                    self.filtered = true;
                    self.unanswered = usage;
                }
                Seen::Failed(error) => self.fail(failure::failed(&error)),
                Seen::HalfEnd => self.fail(self.cut()),
                Seen::Unreadable(error) => self.fail(failure::unreadable(error)),
            }
        }
    }

    fn say(&mut self, text: String) {
        self.characters += text.chars().count();
        self.ready.push_back(Ok(Chunk::Text(text)));
    }

    fn fail(&mut self, error: ModelError) {
        let error = match error {
            ModelError::CutOff { .. } => self.cut(),
            // A question that Gemini does not allow has no answer, which is an error to `genai`.
            _ if self.filtered && self.provider.protocol == Protocol::Gemini => {
                let end = Chunk::end(reply::told(self.unanswered), Stop::Filtered);
                self.ready.push_back(Ok(end));
                self.ended = true;
                return;
            }
            other => other,
        };
        self.ready.push_back(Err(error));
    }

    fn cut(&self) -> ModelError {
        ModelError::CutOff {
            characters: self.characters,
            calls: self.calls.len(),
        }
    }

    fn end(&mut self, end: StreamEnd) {
        let stop = match (self.filtered, reply::why(end.captured_stop_reason.as_ref())) {
            (true, _) => Stop::Filtered,
            (false, Some(stop)) => stop,
            (false, None) => return self.fail(self.cut()),
        };
        let usage = end.captured_usage.as_ref().and_then(reply::usage);
        let thoughts = end.captured_reasoning_content;
        self.end_calls(end.captured_content, thoughts);
        self.ready
            .push_back(Ok(Chunk::end(reply::told(usage), stop)));
        self.ended = true;
    }

    /// Adds the calls, which all but Chat Completions have whole at the end, and what is kept with
    /// the first of them.
    fn end_calls(&mut self, content: Option<MessageContent>, thoughts: Option<String>) {
        if self.provider.protocol == Protocol::Chat {
            let thoughts = thoughts.filter(|_| self.provider.wants_thoughts());
            let (Some(thought), Some(first)) = (thoughts, self.first_call) else {
                return;
            };
            let mut chunk = ToolCallChunk::new(first);
            chunk.extra = kept::keep(self.provider, vec![Thought::Text(thought)]);
            self.ready.push_back(Ok(Chunk::ToolCall(chunk)));
            return;
        }
        let (_, mut calls) = reply::content(self.provider, content.unwrap_or_default());
        if let (Protocol::Responses, Some(first)) = (self.provider.protocol, calls.first_mut()) {
            let signatures = std::mem::take(&mut self.signatures);
            let signatures = signatures.into_iter().map(Thought::Signature);
            first.extra = kept::keep(self.provider, signatures.collect());
        }
        let calls = calls.into_iter().enumerate();
        self.ready
            .extend(calls.map(|(index, call)| Ok(whole_call(index, call))));
    }
}

fn whole_call(index: usize, call: ToolCall) -> Chunk {
    Chunk::ToolCall(ToolCallChunk {
        index,
        id: Some(call.id),
        name: call.name,
        arguments: call.arguments,
        extra: call.extra,
    })
}
