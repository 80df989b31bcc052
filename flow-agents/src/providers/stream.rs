//! Answers that are streamed.
//!
//! The hard part is to know if the answer is complete: a connection that ends may have been cut. An
//! answer is complete only if it says why it ended. If the protocol has an end of its own, the
//! answer must reach that too.

use std::collections::VecDeque;

use futures_util::{StreamExt as _, stream};
use reqwest::Response;
use serde_json::Value;

use super::answer::{self, Parts, Reader};
use super::events::{Event, Events};
use super::halves::{self, Halves};
use super::provider::{Protocol, Provider};
use super::{failure, post, whole};
use crate::error::ModelError;
use crate::model::{Chunk, ReplyStream};

/// The last event of a stream of Chat Completions.
const END: &str = "[DONE]";

/// The maximum number of characters of an event that an error shows.
const SHOWN: usize = 1000;

/// The state of an answer whose body is being read.
struct Answer {
    protocol: Protocol,
    content_type: String,
    events: Events,
    halves: Halves,
    reader: Box<dyn Reader>,
    parts: Parts,
    limit: usize,
    /// The beginning of the first event.
    first: Option<String>,
    /// Parts that are read and not returned yet.
    ready: VecDeque<Result<Chunk, ModelError>>,
    /// `true` if no more parts follow.
    is_over: bool,
}

/// Returns the parts as a stream, once the first has arrived. An answer that comes whole works too.
///
/// # Errors
/// Any error before the first part.
pub(super) async fn read(
    provider: &'static Provider,
    response: Response,
    limit: usize,
) -> Result<ReplyStream, ModelError> {
    let content_type = post::content_type(&response);
    if whole::is_json(&content_type) {
        let reply = whole::read(provider, response, limit).await?;
        return Ok(stream::iter(reply.into_chunks().into_iter().map(Ok)).boxed());
    }
    let answer = Answer::new(provider, content_type, limit);
    let rest = stream::unfold((answer, response), next).boxed();
    let (first, rest) = rest.into_future().await;
    match first {
        Some(first) => Ok(stream::iter([Ok(first?)]).chain(rest).boxed()),
        None => Ok(rest),
    }
}

fn is_event_stream(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().contains("event-stream")
}

async fn next(
    (mut answer, mut response): (Answer, Response),
) -> Option<(Result<Chunk, ModelError>, (Answer, Response))> {
    loop {
        if let Some(next) = answer.ready.pop_front() {
            return Some((next, (answer, response)));
        }
        if answer.is_over {
            return None;
        }
        match response.chunk().await {
            Ok(Some(piece)) => answer.take(&piece),
            Ok(None) => answer.close(),
            Err(error) => answer.break_off(failure::unreached(error)),
        }
    }
}

impl Answer {
    fn new(provider: &'static Provider, content_type: String, limit: usize) -> Answer {
        Answer {
            protocol: provider.protocol,
            content_type,
            events: Events::new(limit),
            halves: Halves::default(),
            reader: answer::reader(provider),
            parts: Parts::new(provider),
            limit,
            first: None,
            ready: VecDeque::new(),
            is_over: false,
        }
    }

    /// Reads a piece of the body.
    fn take(&mut self, piece: &[u8]) {
        let mut events = Vec::new();
        let taken = self.events.push(piece, &mut events);
        if !is_event_stream(&self.content_type)
            && let Some(line) = self.events.strange_at_first()
        {
            self.fail(self.not_spoken(line));
        }
        for event in events {
            self.push(event);
        }
        if let Err(error) = taken {
            self.release();
            self.fail(error);
        }
    }

    fn push(&mut self, event: Event) {
        for event in self.halves.push(event) {
            self.read(event);
        }
    }

    /// Reads the waiting event, whose last letter has no other half.
    fn release(&mut self) {
        if let Some(event) = self.halves.finish() {
            self.read(event);
        }
    }

    fn read(&mut self, event: Event) {
        if self.is_over {
            return;
        }
        let data = halves::replaced(event.data.trim());
        let data = data.as_ref();
        if data == END {
            self.parts.has_ended |= self.protocol == Protocol::Chat;
        } else if whole::takes_too_much(data.as_bytes(), self.limit) {
            return self.fail(ModelError::TooLarge { limit: self.limit });
        } else if !data.is_empty() {
            match serde_json::from_str(data) {
                Ok(value) => self.know(&event.name, value),
                Err(_) => return self.fail(self.not_spoken(data)),
            }
        }
        if self.parts.has_ended && !self.is_over {
            self.end();
        }
        let beginning = || data.chars().take(SHOWN).collect();
        self.first.get_or_insert_with(beginning);
    }

    fn know(&mut self, name: &str, mut event: Value) {
        if let Value::Object(fields) = &mut event
            && !name.is_empty()
        {
            let kind = fields.entry("type");
            kind.or_insert_with(|| Value::from(name));
        }
        if let Some(error) = failure::told(&event) {
            return self.fail(error);
        }
        let read = self.reader.event(&event, &mut self.parts);
        let read = read.and_then(|()| self.parts.check(self.limit));
        self.ready.extend(self.parts.ready.drain(..).map(Ok));
        if let Err(error) = read {
            self.fail(error);
        }
    }

    /// Handles the end of the body.
    fn close(&mut self) {
        if let Some(last) = self.events.finish() {
            let data = last.data.trim();
            let is_cut = match serde_json::from_str::<Value>(&halves::replaced(data)) {
                Ok(_) => false,
                Err(error) => error.is_eof() || END.starts_with(data),
            };
            if data == END || !is_cut {
                self.push(last);
            } else if self.protocol != Protocol::Chat {
                self.release();
                return self.fail(self.parts.cut());
            }
        }
        self.release();
        if self.is_over {
            return;
        }
        let found = self.events.strange().or(self.first.as_deref());
        match found.filter(|_| !self.parts.is_known) {
            Some(found) => self.fail(self.not_spoken(found)),
            None if matches!(self.protocol, Protocol::Chat | Protocol::Gemini) => self.end(),
            None => self.fail(self.parts.cut()),
        }
    }

    /// Handles a failed connection. Chat Completions that say why they ended are complete, but
    /// their usage may be missing.
    fn break_off(&mut self, error: ModelError) {
        self.release();
        match error {
            _ if self.protocol == Protocol::Chat && self.parts.has_stopped() => self.end(),
            ModelError::CutOff { .. } => self.fail(self.parts.cut()),
            other => self.fail(other),
        }
    }

    fn end(&mut self) {
        if let Some(found) = self.first.as_deref().filter(|_| !self.parts.is_known) {
            return self.fail(self.not_spoken(found));
        }
        match self.parts.end() {
            Ok(end) => {
                self.ready.push_back(Ok(end));
                self.is_over = true;
            }
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: ModelError) {
        if !self.is_over {
            self.ready.push_back(Err(error));
            self.is_over = true;
        }
    }

    fn not_spoken(&self, found: &str) -> ModelError {
        let expected = format!("events of {}", self.protocol.answer());
        failure::not_spoken(&expected, &self.content_type, found)
    }
}

#[cfg(test)]
#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of the providers use all of it"
)]
#[path = "../../tests/agents/providers/bodies/mod.rs"]
mod bodies;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Reply;
    use crate::reply_builder::ReplyBuilder;

    /// The answer whose body arrives in these pieces.
    fn read(name: &str, pieces: &[&[u8]]) -> Result<Reply, String> {
        let provider = Provider::find(name.split(':').next().unwrap_or_default()).unwrap();
        let mut answer = Answer::new(provider, "text/event-stream".to_owned(), 100_000);
        pieces.iter().for_each(|piece| answer.take(piece));
        answer.close();
        let mut reply = ReplyBuilder::new();
        for chunk in answer.ready {
            reply.push(chunk.map_err(|error| format!("{error:?}"))?);
        }
        reply.finish().map_err(|error| format!("{error:?}"))
    }

    /// The streams in the tests of the providers, with the names of their models.
    fn streams() -> impl Iterator<Item = (&'static str, String)> {
        bodies::all().into_iter().flat_map(|of| {
            let streams = [of.text, of.calls, of.long, of.filtered].map(|(_, events)| events);
            let streams = streams.into_iter().chain([of.overloaded]);
            streams.map(move |events| (of.model, events.concat()))
        })
    }

    #[test]
    fn an_answer_is_the_same_with_each_line_end_and_in_single_bytes() {
        for (model, body) in streams() {
            let expected = read(model, &[body.as_bytes()]);
            for end in ["\n", "\r\n", "\r"] {
                let body = body.replace('\n', end);
                let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
                assert_eq!(read(model, &bytes), expected, "{model} {end:?}");
            }
        }
    }

    /// Equal events make equal answers.
    #[test]
    fn the_events_of_an_answer_are_the_same_wherever_its_body_is_split() {
        let events = |pieces: [&[u8]; 2]| {
            let (mut events, mut read) = (Events::new(100_000), Vec::new());
            for piece in pieces {
                events.push(piece, &mut read).unwrap();
            }
            (read, events.finish())
        };
        for (model, body) in streams() {
            for end in ["\n", "\r\n", "\r"] {
                let body = body.replace('\n', end);
                let expected = events([body.as_bytes(), b""]);
                for at in 0..=body.len() {
                    let (one, other) = body.as_bytes().split_at(at);
                    assert_eq!(events([one, other]), expected, "{model} {end:?} {at}");
                }
            }
        }
    }
}
