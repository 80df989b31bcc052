//! An answer that is printed as it arrives. Enter stops it: the request ends, the part that has
//! arrived stays in the conversation, and the flow ends at `stopped`. So the next question can be
//! about it. A part that arrived before the connection broke is kept in the same way.
//!
//! ```text
//! cargo run -p flow-examples --example llm_streaming
//! cargo run -p flow-examples --features genai --example llm_streaming -- --model ollama:qwen3:4b
//! ```
//!
//! Offline, the program itself stops the first answer.

use std::error::Error;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};
use tokio::sync::Notify;
use typed_flows::agents::{
    Chunk, Message, Messages, Model, ModelError, Reply, ReplyBuilder, ReplyStream, Request,
    ScriptedModel,
};
use typed_flows::prelude::*;

const QUESTION: &str = "What is a lighthouse for?";
const NEXT: &str = "That is enough. Now in five words.";

struct Answer {
    model: Arc<dyn Model>,
    /// Notified when the person has read enough.
    stop: Arc<Notify>,
}

#[derive(Action)]
enum Arrived {
    Whole,
    Stopped,
    Broken { reason: String },
}

/// Answers, and adds the part of the answer that has arrived to the conversation. A request is
/// tried again only if nothing of its answer was shown.
#[node(
    writes(+messages, answer),
    actions = Arrived,
    retry(attempts = 3, wait = "1s", if = ModelError::is_transient)
)]
impl Answer {
    async fn exec(
        &self,
        cx: &Context,
        messages: &Messages,
    ) -> Result<(Message, String, Arrived), ModelError> {
        let mut answer = String::new();
        let arrived = tokio::select! {
            biased;
            () = self.stop.notified() => Arrived::Stopped,
            result = self.receive(cx, messages, &mut answer) => match result {
                Ok(()) => Arrived::Whole,
                Err(error) if answer.is_empty() => return Err(error),
                Err(error) => Arrived::Broken { reason: error.to_string() },
            },
        };
        Ok((Message::assistant(&answer), answer, arrived))
    }

    /// Receives the answer. Dropping the future ends the request.
    async fn receive(
        &self,
        cx: &Context,
        messages: &Messages,
        answer: &mut String,
    ) -> Result<(), ModelError> {
        let mut chunks = self.model.stream(&Request::new(messages)).await?;
        let mut reply = ReplyBuilder::new();
        while let Some(chunk) = chunks.next().await.transpose()? {
            if let Chunk::Text(text) = &chunk {
                cx.emit(text);
                answer.push_str(text);
            }
            let is_end = matches!(chunk, Chunk::End { .. });
            reply.push(chunk);
            if is_end {
                break;
            }
        }
        reply.finish()?.into_complete()?;
        Ok(())
    }
}

flow! {
    /// Answers the last message of a conversation, as far as the person wants to read.
    Turn(messages: Messages) -> (messages: Messages, answer: String, reason: Option<String>) {
        node answer: Answer;

        start >> answer;
        answer - "whole"   >> end;
        answer - "stopped" >> end("stopped");
        answer - "broken"  >> end("broken");
    }
}

/// Stops the answer that is being printed, each time that Enter is pressed.
fn stop_on_enter(stop: Arc<Notify>) {
    // A thread of its own: the program can end while it waits for a line.
    std::thread::spawn(move || {
        for _line in io::stdin().lines().map_while(Result::ok) {
            stop.notify_waiters();
        }
    });
}

/// A model whose answers arrive word by word.
struct WordByWord<M>(M);

#[async_trait]
impl<M: Model> Model for WordByWord<M> {
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        self.0.complete(request).await
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let mut words = Vec::new();
        for chunk in self.complete(request).await?.into_chunks() {
            match chunk {
                Chunk::Text(text) => words.extend(text.split_inclusive(' ').map(Chunk::text)),
                other => words.push(other),
            }
        }
        let words = stream::iter(words).then(|word| async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            Ok(word)
        });
        Ok(words.boxed())
    }
}

/// Sample replies of a model.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text("It tells ships where they are at night. Its light has a rhythm of its own, so that")
        .text("It tells ships their place.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let is_scripted = chosen.script.is_some();
    let stop = Arc::new(Notify::new());
    let model: Arc<dyn Model> = if is_scripted {
        Arc::new(WordByWord(chosen.model))
    } else {
        println!("Press Enter to stop an answer.");
        stop_on_enter(Arc::clone(&stop));
        chosen.model
    };
    let answer = Answer {
        model,
        stop: Arc::clone(&stop),
    };
    let flow = Turn::builder().answer(answer).build();

    let show = Arc::new(move |event: &Event<'_>| {
        if let EventKind::Delta(text) = event.kind() {
            print!("{text}");
            let _ = io::stdout().flush();
            // Offline, the person presses Enter here.
            if is_scripted && text.starts_with("night.") {
                stop.notify_waiters();
            }
        }
    });
    let mut messages = Messages::new();
    let mut turns = Vec::new();
    for question in [QUESTION, NEXT] {
        println!("\n> {question}");
        messages.add_user(question);
        let input = TurnInput { messages };
        let options = RunOptions::new().observer(show.clone());
        let turn = flow.run_with(input, options).await?;
        match turn.reason {
            Some(reason) => println!("\n({}: {reason})", turn.end),
            None => println!("\n({})", turn.end),
        }
        messages = turn.messages;
        turns.push((turn.end, turn.answer));
    }

    if let Some(script) = chosen.script {
        script.assert_used();
        let part = "It tells ships where they are at night. ".to_owned();
        let whole = "It tells ships their place.".to_owned();
        assert_eq!(script.requests()[1].messages[1], Message::assistant(&part));
        assert_eq!(turns, [(TurnEnd::Stopped, part), (TurnEnd::Default, whole)]);
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/llm_streaming.rs"]
mod law;
