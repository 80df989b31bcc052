//! Research: a question is broken into searches, and notes are taken of their results. While
//! something is missing, further searches follow, at most three times. Then a report is written,
//! with its sources.
//!
//! ```text
//! cargo run -p flow-examples --example research
//! cargo run -p flow-examples --features genai --example research -- --model ollama:qwen3:4b
//! ```
//!
//! It searches the texts of a folder. For the web, give `Library` a `Search` that asks a search
//! engine.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use typed_flows::agents::{
    AskError, Message, Messages, Model, ModelError, Request, ScriptedModel, ask,
};
use typed_flows::prelude::*;

const MOST_ROUNDS: u32 = 3;

/// A text that was found.
#[derive(Debug, Clone, PartialEq)]
struct Source {
    name: String,
    text: String,
}

/// A searchable collection.
#[async_trait]
trait Search: Send + Sync {
    /// Returns the sources about a topic, the best one first.
    async fn search(&self, topic: &str) -> Result<Vec<Source>, std::io::Error>;
}

/// The texts of a folder.
struct Folder(Vec<Source>);

impl Folder {
    fn read(folder: &Path) -> Result<Folder, std::io::Error> {
        let mut texts = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.into_owned();
            let text = std::fs::read_to_string(&path)?;
            texts.push(Source { name, text });
        }
        texts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Folder(texts))
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_alphanumeric());
    words
        .filter(|it| it.len() > 2)
        .map(str::to_lowercase)
        .collect()
}

#[async_trait]
impl Search for Folder {
    async fn search(&self, topic: &str) -> Result<Vec<Source>, std::io::Error> {
        let topic = words(topic);
        let likeness = |source: &Source| words(&source.text).intersection(&topic).count();
        let mut found: Vec<&Source> = self.0.iter().filter(|it| likeness(it) > 0).collect();
        found.sort_by_key(|source| std::cmp::Reverse(likeness(source)));
        Ok(found.into_iter().take(2).cloned().collect())
    }
}

fn told(task: &str, text: String) -> Messages {
    Messages::from_iter([Message::system(task), Message::user(text)])
}

struct Plan {
    model: Arc<dyn Model>,
}

/// Names the topics to search for.
#[node(writes = topics)]
impl Plan {
    async fn exec(&self, question: &str) -> Result<Vec<String>, AskError> {
        let task = "Name up to three topics to search for, in order to answer the question.";
        ask(&self.model, &told(task, question.to_owned())).await
    }
}

struct Library {
    search: Arc<dyn Search>,
}

/// Searches for one topic.
#[node(writes = sources)]
impl Library {
    async fn exec(&self, topic: &str) -> Result<Vec<Source>, std::io::Error> {
        self.search.search(topic).await
    }
}

/// The knowledge so far: the name of each source read, and a note of its relevant content.
type Notes = Vec<(String, String)>;

struct TakeNotes {
    model: Arc<dyn Model>,
}

/// Reads the new sources, and notes what they say.
#[node(writes = notes)]
impl TakeNotes {
    async fn exec(
        &self,
        question: &str,
        found: &[Vec<Source>],
        notes: Option<&Notes>,
    ) -> Result<Notes, ModelError> {
        let mut notes = notes.cloned().unwrap_or_default();
        for source in found.iter().flatten() {
            if notes.iter().any(|(name, _)| *name == source.name) {
                continue;
            }
            let task = "Note in one sentence what the text says about the question.";
            let text = format!("Question: {question}\n\n{}", source.text);
            let reply = self
                .model
                .complete(&Request::new(&told(task, text)))
                .await?;
            notes.push((source.name.clone(), reply.into_complete()?.content));
        }
        Ok(notes)
    }
}

/// The missing knowledge.
#[derive(Deserialize, JsonSchema)]
struct Missing {
    /// Topics to search for. Empty if the notes answer the question.
    topics: Vec<String>,
}

#[derive(Action)]
enum Judged {
    Enough,
    More { topics: Vec<String> },
}

struct Judge {
    model: Arc<dyn Model>,
}

/// Decides whether a further search is needed, and counts the rounds.
#[node(writes = rounds, actions = Judged)]
impl Judge {
    async fn exec(
        &self,
        question: &str,
        notes: &Notes,
        rounds: Option<&u32>,
    ) -> Result<(u32, Judged), AskError> {
        let rounds = rounds.copied().unwrap_or_default() + 1;
        if rounds >= MOST_ROUNDS {
            return Ok((rounds, Judged::Enough));
        }
        let task = "What is missing in the notes, in order to answer the question?";
        let missing: Missing = ask(&self.model, &told(task, listed(question, notes))).await?;
        let judged = match missing.topics {
            topics if topics.is_empty() => Judged::Enough,
            topics => Judged::More { topics },
        };
        Ok((rounds, judged))
    }
}

fn listed(question: &str, notes: &Notes) -> String {
    let notes = notes
        .iter()
        .map(|(name, note)| format!("- {note} ({name})\n"));
    format!("Question: {question}\n{}", notes.collect::<String>())
}

struct Write {
    model: Arc<dyn Model>,
}

/// Writes the report from the notes.
#[node(writes = report)]
impl Write {
    async fn exec(&self, question: &str, notes: &Notes) -> Result<String, ModelError> {
        let task = "Answer the question from the notes, and name the source of each statement.";
        let request = Request::new(&told(task, listed(question, notes)));
        let reply = self.model.complete(&request).await?;
        Ok(reply.into_complete()?.content)
    }
}

flow! {
    /// Answers a question with a report.
    Research(question: String) -> (report: String, notes: Notes, rounds: u32) {
        node plan: Plan;
        node library: Library;
        node take_notes: TakeNotes;
        node judge: Judge;
        node write: Write;
        node found: for topic in topics { library } with concurrency(3);

        start >> plan >> found >> take_notes >> judge;
        judge - "more"   >> found;
        judge - "enough" >> write >> end;
    }
}

/// Sample replies of a model.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text(r#"["fog, bell, whistle, siren"]"#)
        .text("In fog, bells, guns, whistles and sirens told ships where they were.")
        .text(r#"{ "topics": ["pilot boat, church, fathoms"] }"#)
        .text("The pilot boat shows a white light over a red one at night.")
        .text("A keeper writes that the supply boat came at last.")
        .text(r#"{ "topics": [] }"#)
        .text("By sound in fog (fog_signals.txt), and by lights at night (harbour_notice.txt).")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/texts");
    let model = || Arc::clone(&chosen.model);
    let flow = Research::builder()
        .plan(Plan { model: model() })
        .library(Library {
            search: Arc::new(Folder::read(&texts)?),
        })
        .take_notes(TakeNotes { model: model() })
        .judge(Judge { model: model() })
        .write(Write { model: model() })
        .build();
    let question = "How did ships find out where they were?".to_owned();
    let output = flow.run(ResearchInput { question }).await?;
    for (name, note) in &output.notes {
        println!("{name}: {note}");
    }
    println!("\nAfter {} rounds: {}", output.rounds, output.report);

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!((output.rounds, output.notes.len()), (2, 3));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/research.rs"]
mod law;
