//! A conversation that goes on from run to run, as a page shows it while it comes.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use flow_agents::{
    Chat, Chunk, Message, Messages, Model, ModelError, Reply, ReplyStream, Request, Stop, Usage,
};
use flow_runtime::prelude::*;
use futures_util::StreamExt as _;
use futures_util::stream;

/// Counts what it was told, and answers word by word.
struct WordByWord;

#[async_trait]
impl Model for WordByWord {
    async fn complete(&self, _: &Request) -> Result<Reply, ModelError> {
        unreachable!("the node asks for streams")
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let answer = format!("I was told {} things.", request.messages.len());
        let words = answer.split_inclusive(' ').map(Chunk::text);
        let end = Chunk::end(Usage::default(), Stop::Done);
        let chunks: Vec<_> = words.chain([end]).map(Ok).collect();
        Ok(stream::iter(chunks).boxed())
    }
}

#[node(writes = messages)]
fn say(messages: Messages, text: String) -> Messages {
    let mut messages = messages;
    messages.add_user(text);
    messages
}

flow! {
    Turn(messages: Messages, text: String) -> (messages: Messages) {
        node chat: Chat;
        start >> say >> chat >> end;
    }
}

/// What a page is sent of an answer.
#[derive(Debug, PartialEq)]
enum Frame {
    Start,
    Chunk(String),
    End,
}

fn frame(event: &Event<'_>) -> Option<Frame> {
    if event.path().to_string() != "turn.chat" {
        return None;
    }
    match event.kind() {
        EventKind::NodeStarted => Some(Frame::Start),
        EventKind::Delta(text) => Some(Frame::Chunk(text.to_owned())),
        EventKind::NodeFinished { .. } => Some(Frame::End),
        other => panic!("a page knows nothing of {other:?}"),
    }
}

/// CB-15
#[tokio::test]
async fn an_answer_comes_in_frames_and_is_kept_as_they_were() {
    let flow = Turn::builder().chat(Chat::new(WordByWord)).build();
    let mut messages = Messages::new();
    for (turn, text) in ["Hello.", "Really?", "Thanks."].into_iter().enumerate() {
        let frames = Arc::new(Mutex::new(Vec::new()));
        let sent = Arc::clone(&frames);
        let page = move |event: &Event<'_>| sent.lock().unwrap().extend(frame(event));
        let input = TurnInput::builder().messages(messages).text(text.into());
        let options = RunOptions::new().observer(Arc::new(page));
        messages = flow
            .run_with(input.build(), options)
            .await
            .unwrap()
            .messages;

        let told = 2 * turn + 1;
        assert_eq!(messages.len(), told + 1, "two more per turn");
        let frames = frames.lock().unwrap();
        let [Frame::Start, chunks @ .., Frame::End] = &frames[..] else {
            panic!("{frames:?}")
        };
        assert_eq!(chunks.len(), 5, "{chunks:?}");
        let chunks = chunks.iter().map(|frame| match frame {
            Frame::Chunk(text) => text.as_str(),
            other => panic!("{other:?} between the chunks"),
        });
        let shown: String = chunks.collect();
        assert_eq!(shown, format!("I was told {told} things."));
        assert_eq!(messages[told - 1], Message::user(text));
        assert_eq!(messages[told], Message::assistant(shown));
    }
}
