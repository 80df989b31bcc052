//! A heartbeat: every two seconds, an outer flow runs an inner one, which looks at a mailbox and
//! drafts answers to new messages. If a beat fails, the failure is noted, and the next beat finds
//! the same messages again.
//!
//! ```text
//! cargo run -p flow-examples --example heartbeat
//! cargo run -p flow-examples --features genai --example heartbeat -- --model ollama:qwen3:4b
//! ```
//!
//! Offline, the clock is paused: tokio moves it to the next beat at once. The flow ends after some
//! beats. For a program that beats for years and survives restarts, start an execution of the inner
//! flow on a schedule: see `flow-durable/docs/schedules.md`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;
use typed_flows::agents::{AskError, Message, Messages, Model, ModelError, ScriptedModel, ask};
use typed_flows::prelude::*;

#[derive(Clone)]
struct Mail {
    number: u32,
    from: String,
    text: String,
}

#[async_trait]
trait Mailbox: Send + Sync {
    /// Returns the messages with a higher number, the oldest first.
    async fn after(&self, number: u32) -> Result<Vec<Mail>, std::io::Error>;
}

#[derive(Action)]
enum Found {
    Nothing,
    New { mails: Vec<Mail>, seen: u32 },
}

struct Look {
    mailbox: Arc<dyn Mailbox>,
}

/// Looks for messages that were not seen before.
#[node(actions = Found)]
impl Look {
    async fn exec(&self, seen: &u32) -> Result<Found, std::io::Error> {
        let mails = self.mailbox.after(*seen).await?;
        Ok(match mails.last().map(|mail| mail.number) {
            None => {
                println!("  nothing new");
                Found::Nothing
            }
            Some(seen) => Found::New { mails, seen },
        })
    }
}

/// The model's work on a message.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
struct Draft {
    /// The message in one sentence.
    summary: String,
    /// The text of a reply. Null if the message needs none.
    reply: Option<String>,
}

struct WriteDraft {
    model: Arc<dyn Model>,
}

/// Sums up a message, and drafts a reply.
#[node(writes = draft)]
impl WriteDraft {
    async fn exec(&self, mail: &Mail) -> Result<Draft, AskError> {
        let messages = Messages::from_iter([
            Message::system("Sum up the mail, and draft a short reply if it needs one."),
            Message::user(format!("From: {}\n\n{}", mail.from, mail.text)),
        ]);
        let draft: Draft = ask(&self.model, &messages).await?;
        println!("  {}: {}", mail.from, draft.summary);
        println!("    {}", draft.reply.as_deref().unwrap_or("(no reply)"));
        Ok(draft)
    }
}

flow! {
    /// Looks at the mailbox once, and drafts answers to what is new.
    CheckMail(seen: u32) -> (seen: u32, drafts: Option<Vec<Draft>>) {
        node look: Look;
        node write_draft: WriteDraft;
        node drafts: for mail in mails { write_draft } with concurrency(4);

        start >> look;
        look - "nothing" >> end("nothing");
        look - "new"     >> drafts >> end;
    }
}

/// Counts the beats.
#[node(writes = +beat)]
fn wake() -> u32 {
    println!("beat");
    1
}

/// Notes why a beat failed. It has written nothing, so its messages count as not seen.
#[node(writes = +missed)]
fn miss(error: &NodeError) -> String {
    println!("  missed: {error:#}");
    format!("{error:#}")
}

flow! {
    /// Checks the mailbox every two seconds, `beats` times.
    Heartbeat(beats: u32, seen: u32 = 0) -> (
        beat: u32,
        seen: u32,
        drafts: Option<Vec<Draft>>,
        missed: Option<Vec<String>>,
    ) {
        node check_mail: CheckMail { drafts -> +drafts };
        branch alive(beat, beats) {
            beat < beats => "yes",
            else => "no",
        }

        start >> wake >> check_mail;
        check_mail - "default" >> alive;
        check_mail - "nothing" >> alive;
        check_mail - "error"   >> miss >> alive;
        alive      - "yes"     >> wait(2s) >> wake;
        alive      - "no"      >> end;
    }
}

/// A mailbox in which messages arrive some seconds after its opening.
struct Rehearsal {
    opened: Instant,
    mails: Vec<(Duration, Mail)>,
}

impl Rehearsal {
    fn open() -> Rehearsal {
        let mail = |seconds, number, from: &str, text: &str| {
            let (from, text) = (from.to_owned(), text.to_owned());
            let mail = Mail { number, from, text };
            (Duration::from_secs(seconds), mail)
        };
        Rehearsal {
            opened: Instant::now(),
            mails: vec![
                mail(1, 1, "Ann", "Can I have the numbers of May by Friday?"),
                mail(3, 2, "Bob", "Invoice 1042 is wrong: 4500, not 5400."),
            ],
        }
    }
}

#[async_trait]
impl Mailbox for Rehearsal {
    async fn after(&self, number: u32) -> Result<Vec<Mail>, std::io::Error> {
        let age = self.opened.elapsed();
        let arrived = self.mails.iter().filter(|(at, _)| *at <= age);
        let mails = arrived.map(|(_, mail)| mail.clone());
        Ok(mails.filter(|mail| mail.number > number).collect())
    }
}

/// Sample replies of a model: at the third beat, it does not answer.
fn script() -> ScriptedModel {
    let busy = ModelError::Unavailable {
        retry_after: None,
        source: "it is busy".into(),
    };
    let numbers =
        r#"{ "summary": "Ann needs the numbers of May.", "reply": "You have them on Thursday." }"#;
    let invoice = r#"{ "summary": "Bob reports a wrong invoice.", "reply": "You get a new one." }"#;
    ScriptedModel::new().text(numbers).error(busy).text(invoice)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    if chosen.script.is_some() {
        tokio::time::pause();
    }
    let mailbox = Arc::new(Rehearsal::open());
    let check_mail = CheckMail::builder()
        .look(Look { mailbox })
        .write_draft(WriteDraft {
            model: chosen.model,
        })
        .build();
    let heartbeat = Heartbeat::builder().check_mail(check_mail).build();
    let input = HeartbeatInput::builder().beats(4).build();
    let output = heartbeat.run(input).await?;
    let drafts = output.drafts.unwrap_or_default();
    let missed = output.missed.unwrap_or_default();
    let (beats, number) = (output.beat, drafts.len());
    println!("{beats} beats, {} missed; {number} drafts", missed.len());

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!((output.beat, output.seen), (4, 2));
        assert_eq!((drafts.len(), missed.len()), (2, 1));
        assert!(missed[0].ends_with("it is busy"), "{missed:?}");
        assert_eq!(drafts[1].reply.as_deref(), Some("You get a new one."));
        // The message of the missed beat is the one that the next beat asked about.
        let asked = |request: usize| script.requests()[request].messages[1].clone();
        assert_eq!(asked(1), asked(2));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/heartbeat.rs"]
mod law;
