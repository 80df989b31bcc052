//! A support chat that the customer can leave at any time. Nobody asks for the messages: they come
//! as signals, and are kept in the store until the flow takes them, also while no program runs.
//!
//! ```text
//! cargo run -p flow-examples --example support_chat
//! ```

use std::error::Error;
use std::path::Path;

use serde::{Deserialize, Serialize};
use typed_flows::durable::{
    EventFilter, Execution, ExecutionId, Executions, Runtime, RuntimeError, SignalOptions,
    StartOptions,
};
use typed_flows::prelude::*;
use typed_flows::sqlite::SqliteStore;

/// The customer writes something.
#[node(signal)]
#[derive(Serialize, Deserialize)]
struct Message {
    text: String,
}

/// The customer leaves, and says how good the help was.
#[node(signal)]
#[derive(Serialize, Deserialize)]
struct Leave {
    stars: u8,
}

#[node(writes = +conversation)]
fn greet(customer: &str) -> String {
    format!("Support: Hello, {customer}. What is it about?")
}

/// Stands in for a model, or for a colleague.
#[node(writes = +conversation)]
fn reply(conversation: &[String]) -> String {
    let last = conversation.last().map_or("", String::as_str);
    let reply = match last {
        text if text.contains("parcel") => "It arrives tomorrow.",
        text if text.contains("thank") => "You are welcome.",
        _ => "Tell me more.",
    };
    format!("Support: {reply}")
}

flow! {
    /// Talks until the customer leaves, or has written nothing for half an hour.
    SupportChat(customer: String) -> (conversation: Vec<String>, stars: Option<u8>) {
        // The text of each message is added to the conversation.
        node message: signal Message { text -> +conversation };
        // Leaving counts before messages that nobody has read yet.
        node next: first { Leave => "left", message, wait(30m) => "silent" };

        start >> greet >> next >> reply >> next;
        next - "left"   >> end("left");
        next - "silent" >> end;
    }
}

/// A program that serves chats. What it knows is in the file.
async fn serve(file: &Path) -> Result<Runtime, Box<dyn Error>> {
    let runtime = Runtime::new(SqliteStore::open(file).await?);
    runtime.register(SupportChat::new())?;
    runtime.recover().await?;
    Ok(runtime)
}

async fn write(chats: &Executions, id: ExecutionId, text: &str) -> Result<(), RuntimeError> {
    let text = text.to_owned();
    // The text is stored when this returns.
    let sent = chats.signal(id, Message { text }, SignalOptions::new());
    sent.await.map(drop)
}

/// Waits until the conversation has this many lines, and returns it. Each line is a value that a
/// step has written, so the flow needs no step that says what there is.
async fn lines(
    chat: &Execution,
    chats: &Executions,
    count: usize,
) -> Result<Vec<String>, RuntimeError> {
    let mut events = chat.events(EventFilter::new()).await?;
    while let Some(event) = events.next().await.transpose()? {
        let Some(record) = event.record() else {
            continue;
        };
        let writes = chats.writes(chat.id(), record.seq).await?.into_iter();
        let of_chat = writes.filter(|write| write.key == "conversation");
        let texts = of_chat.filter_map(|write| Some(write.value?.as_str()?.to_owned()));
        let lines: Vec<String> = texts.collect();
        if lines.len() >= count {
            return Ok(lines);
        }
    }
    Ok(Vec::new())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("chats.db");

    let runtime = serve(&file).await?;
    let chats = runtime.executions();
    let customer = "Ann".to_owned();
    let chat = chats
        .start::<SupportChat>(SupportChatInput { customer }, StartOptions::new())
        .await?;
    let id = chat.id();
    write(chats, id, "Hello").await?;
    lines(&chat, chats, 3).await?;
    // Nobody may have answered this one when the program ends.
    write(chats, id, "Where is my parcel?").await?;
    runtime.shut_down().await;

    // As if by another process, on another day.
    let runtime = serve(&file).await?;
    let chats = runtime.executions();
    let chat = chats.get(id).await?;
    write(chats, id, "Fine, thank you").await?;
    for line in lines(&chat, chats, 7).await? {
        println!("{line}");
    }
    chats
        .signal(id, Leave { stars: 5 }, SignalOptions::new())
        .await?;
    let chat = chat.settled().await?;
    let output = chat.output::<SupportChat>()?.ok_or("the chat is over")?;
    assert_eq!((output.end, output.stars), (SupportChatEnd::Left, Some(5)));
    assert_eq!(
        output.conversation,
        [
            "Support: Hello, Ann. What is it about?",
            "Hello",
            "Support: Tell me more.",
            "Where is my parcel?",
            "Support: It arrives tomorrow.",
            "Fine, thank you",
            "Support: You are welcome.",
        ]
    );
    let late = write(chats, id, "One more thing").await;
    assert!(matches!(late, Err(RuntimeError::Over { .. })));
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/support_chat.rs"]
mod law;
