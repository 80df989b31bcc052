//! Answers from documents: the texts of a folder are split and stored with their vectors. The first
//! question is answered from similar passages, with citations, and the second by an agent that
//! searches by itself. The answers are streamed to the terminal.
//!
//! ```text
//! cargo run -p flow-examples --example rag
//! cargo run -p flow-examples --features genai --example rag -- --model ollama:qwen3:4b
//! ```
//!
//! The vectors count words here, so they need no model. A real embedding is
//! `GenAi::new("openai:text-embedding-3-small")`. `SqlitePassages` keeps the passages in a file.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use typed_flows::agents::kit::calculator;
use typed_flows::agents::rag::{
    Answer, AnswerByAgent, AnswerByAgentInput, AnswerInput, Index, IndexInput, Keep,
    MemoryPassages, Passage, RemoveOld, Retrieve, SearchDocuments, Split,
};
use typed_flows::agents::{BagOfWords, ScriptedModel, tools};
use typed_flows::prelude::*;

const QUESTION: &str = "Which lights does the pilot boat show at night?";
const OF_AGENT: &str = "How many days after the storm began was it calm, according to the journal?";

/// Sample replies of a model.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text("A white light over a red one [harbour_notice.txt#1].")
        .calls([(
            "search_documents",
            json!({ "query": "journal: wind, storm, calm" }),
        )])
        .calls([(
            "calculator",
            json!({ "operation": "subtract", "a": 9, "b": 5 }),
        )])
        .text("Four days [lighthouse_log.txt#1].")
}

/// Stores the documents of the folder.
async fn read(folder: &Path, passages: &Arc<MemoryPassages>) -> Result<usize, Box<dyn Error>> {
    let index = Index::builder()
        .split(Split::new().longest(400))
        .keep(Keep::new(embedding(), Arc::clone(passages)))
        .remove_old(RemoveOld::new(Arc::clone(passages)))
        .build();
    let mut number = 0;
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let source = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&path)?;
        let source = source.into_owned();
        number += index.run(IndexInput { source, text }).await?.number;
    }
    Ok(number)
}

fn embedding() -> BagOfWords {
    BagOfWords::new(4096)
}

/// Writes the model's text to the terminal.
struct Show;

impl Observer for Show {
    fn on_event(&self, event: &Event<'_>) {
        if let EventKind::Delta(text) = event.kind() {
            print!("{text}");
            let _ = std::io::stdout().flush();
        }
    }
}

fn shown() -> RunOptions {
    RunOptions::new().observer(Arc::new(Show))
}

fn cited(citations: Option<&Vec<Passage>>) -> Vec<String> {
    let citations = citations.map(Vec::as_slice).unwrap_or_default();
    citations.iter().map(|it| it.id().to_string()).collect()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let passages = Arc::new(MemoryPassages::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/texts");
    let number = read(&folder, &passages).await?;
    println!("{number} passages are kept.\n\n{QUESTION}");

    let answer = Answer::of(
        Arc::clone(&chosen.model),
        embedding(),
        Arc::clone(&passages),
    );
    let input = AnswerInput::builder().question(QUESTION.into()).build();
    let first = answer.run_with(input, shown()).await?;
    println!(
        "\nFrom: {:?}\n\n{OF_AGENT}",
        cited(first.citations.as_ref())
    );

    let retrieve = Retrieve::new(embedding(), Arc::clone(&passages)).limit(3);
    let tools = tools![SearchDocuments = SearchDocuments::new(retrieve), calculator];
    let agent = AnswerByAgent::of(chosen.model, tools, passages);
    let input = AnswerByAgentInput::builder().question(OF_AGENT.into());
    let second = agent.run_with(input.build(), shown()).await?;
    println!("\nFrom: {:?}", cited(second.citations.as_ref()));

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!(cited(first.citations.as_ref()), ["harbour_notice.txt#1"]);
        assert_eq!(cited(second.citations.as_ref()), ["lighthouse_log.txt#1"]);
        assert_eq!(second.turns, 3);
    }
    Ok(())
}
