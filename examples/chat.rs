//! A conversation that is remembered: one execution in an SQLite file, which waits for the person's
//! next message. After a restart, the program resumes it. When the conversation is long, its oldest
//! turns are summed up.
//!
//! ```text
//! cargo run -p flow-examples --example chat
//! cargo run -p flow-examples --features genai --example chat -- --model ollama:qwen3:4b
//! ```
//!
//! With a model, the conversation is in `chat.db`, and an empty line ends it.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use typed_flows::agents::{
    Chat, Memory, Message, Messages, Model, Placement, ScriptedModel, is_transient,
};
use typed_flows::durable::{
    EventFilter, Execution, ListOptions, RecordKind, Runtime, StartOptions, Status,
};
use typed_flows::prelude::*;
use typed_flows::sqlite::SqliteStore;

/// The number of tokens above which the oldest turns of a conversation are summed up.
const TOKENS: u64 = 4_000;

/// The person's next message.
#[node(human = "You: ")]
#[derive(Serialize, Deserialize)]
enum Says {
    Something { text: String },
    Goodbye,
}

#[node(writes = messages)]
fn begin() -> Messages {
    let mut messages = Messages::new();
    messages.add_system(
        "You are friendly. Answer in a sentence or two.",
        Placement::Top,
    );
    messages
}

/// Adds the person's message.
#[node(writes = +messages)]
fn hear(text: &str) -> Message {
    Message::user(text)
}

flow! {
    /// Talks until the person says goodbye.
    Conversation() -> (messages: Messages) {
        node memory: Memory;
        node chat: Chat with retry(attempts = 3, wait = "1s", if = is_transient);

        start >> begin >> Says;
        Says - "something" >> hear >> memory >> chat >> Says;
        Says - "goodbye"   >> end;
    }
}

/// The person, at the terminal or with scripted messages.
enum Person {
    Terminal,
    Script(VecDeque<&'static str>),
}

impl Person {
    /// Returns the next message, or `None` to leave the conversation for the next time.
    fn says(&mut self, prompt: &str) -> Result<Option<Says>, io::Error> {
        print!("{prompt}");
        io::stdout().flush()?;
        let line = match self {
            Person::Terminal => io::stdin().lock().lines().next().transpose()?,
            Person::Script(lines) => lines.pop_front().map(|line| {
                println!("{line}");
                line.to_owned()
            }),
        };
        Ok(line.map(|line| match line.trim() {
            "" => Says::Goodbye,
            text => Says::Something {
                text: text.to_owned(),
            },
        }))
    }
}

/// Resumes the conversation in the file, or begins one.
async fn talk(
    file: &Path,
    model: Arc<dyn Model>,
    person: &mut Person,
) -> Result<Execution, Box<dyn Error>> {
    let runtime = Runtime::new(SqliteStore::open(file).await?);
    let memory = Memory::of(TOKENS).summarized_by(Arc::clone(&model));
    runtime.register(
        Conversation::builder()
            .memory(memory)
            .chat(Chat::new(model))
            .build(),
    )?;
    runtime.recover().await?;
    let known = runtime.executions().list(ListOptions::new()).await?;
    let open = known.into_iter().find(|it| !it.status().is_over());
    let mut execution = match open {
        Some(open) => open,
        None => {
            runtime
                .executions()
                .start::<Conversation>(ConversationInput {}, StartOptions::new())
                .await?
        }
    };
    loop {
        execution = execution.settled().await?;
        let Some(question) = execution.questions().await?.pop() else {
            break;
        };
        let Some(says) = person.says(question.prompt())? else {
            println!("(until later)");
            break;
        };
        let filter = EventFilter::new().execution(execution.id()).deltas();
        let mut events = runtime.executions().events(filter).await?;
        execution = runtime.executions().resume(question.token(), says).await?;
        // Streams the answer until the next question or the end.
        while let Some(event) = events.next().await.transpose()? {
            if event.path().is_some_and(|path| path.ends_with(".chat")) {
                print!("{}", event.delta().unwrap_or_default());
                io::stdout().flush()?;
            }
            let kind = event.record().map(|record| record.kind);
            if matches!(
                kind,
                Some(RecordKind::Paused | RecordKind::RunCompleted | RecordKind::RunFailed)
            ) {
                break;
            }
        }
        println!();
    }
    if let Some(reason) = execution.reason() {
        eprintln!("the conversation has ended: {reason}");
    }
    runtime.shut_down().await;
    Ok(execution)
}

/// Sample replies of a model.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text("Hello, Ann. What can I do for you?")
        .text("You are called Ann.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let Some(script) = chosen.script else {
        talk(
            &PathBuf::from("chat.db"),
            chosen.model,
            &mut Person::Terminal,
        )
        .await?;
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("chat.db");
    let says = |lines: &[&'static str]| Person::Script(lines.iter().copied().collect());
    let model = || Arc::clone(&chosen.model);
    let first = talk(&file, model(), &mut says(&["Hello, my name is Ann."])).await?;
    assert_eq!(first.status(), Status::Paused);
    // As if by another process, on another day.
    let second = talk(&file, model(), &mut says(&["What is my name?", ""])).await?;
    assert_eq!(first.id(), second.id());
    script.assert_used();
    let output = second
        .output::<Conversation>()?
        .ok_or("the conversation is over")?;
    assert_eq!(output.messages.len(), 5);
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/chat.rs"]
mod law;
