//! A summariser that is often busy: three attempts, and a fallback if none of them succeeds. Only
//! `exec` is retried. The result of `prep` is kept, also for the fallback.
//!
//! ```text
//! cargo run --example summarize_file -- notes.txt
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use typed_flows::prelude::*;

#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("cannot read {0}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("{0} has no text in it")]
    Empty(PathBuf),
}

#[node(writes = text)]
fn read(file: &Path) -> Result<String, ReadError> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| ReadError::Unreadable(file.to_owned(), error))?;
    if text.trim().is_empty() {
        return Err(ReadError::Empty(file.to_owned()));
    }
    Ok(text)
}

#[derive(Debug, thiserror::Error)]
#[error("the summariser is busy")]
struct Busy;

/// Stands in for a model: its first attempts fail.
struct Summarize {
    busy_attempts: u32,
}

/// Keeps the first sentence of each paragraph.
#[node(writes = summary, retry(attempts = 3, wait = "20ms", backoff = 2.0))]
impl Summarize {
    fn prep(&self, text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let paragraphs = lines.split(|line| line.is_empty());
        paragraphs
            .map(|lines| lines.join(" "))
            .filter(|paragraph| !paragraph.is_empty())
            .collect()
    }

    async fn exec(&self, cx: &Context, paragraphs: &[String]) -> Result<String, Busy> {
        if cx.attempt() < self.busy_attempts {
            return Err(Busy);
        }
        let sentences: Vec<&str> = paragraphs.iter().map(|text| first_sentence(text)).collect();
        Ok(sentences.join("\n"))
    }

    fn exec_fallback(&self, prep_res: &[String], error: &NodeError) -> String {
        let opening = prep_res
            .first()
            .map(|text| first_sentence(text))
            .unwrap_or_default();
        format!("{opening} [only the opening: {}]", error.error())
    }
}

fn first_sentence(paragraph: &str) -> &str {
    paragraph
        .find(". ")
        .map_or(paragraph, |stop| &paragraph[..=stop])
}

flow! {
    /// Summarises a text file.
    SummarizeFile(file: PathBuf) -> (text: String, summary: String) {
        node summarize: Summarize;

        start >> read >> summarize >> end;
    }
}

/// Prints the events of each node as they occur.
struct Print;

impl Observer for Print {
    fn on_event(&self, event: &Event<'_>) {
        println!("  {event}");
    }
}

async fn summarize_file(file: &Path, busy_attempts: u32) -> Result<SummarizeFileOutput, FlowError> {
    println!("A summariser that is busy for its first {busy_attempts} attempts:");
    let flow = SummarizeFile::builder()
        .summarize(Summarize { busy_attempts })
        .build();
    let input = SummarizeFileInput::builder().file(file.to_owned()).build();
    let output = flow
        .run_with(input, RunOptions::new().observer(Arc::new(Print)))
        .await?;

    println!("\n{}\n", output.summary);
    Ok(output)
}

async fn compare(file: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/article.txt");
    let given = file.as_deref().unwrap_or(&shipped);

    let patient = summarize_file(given, 2).await?;
    let given_up = summarize_file(given, 3).await?;

    assert!(
        given_up
            .summary
            .ends_with("[only the opening: the summariser is busy]")
    );
    assert!(patient.summary.len() <= patient.text.len());
    if file.is_none() {
        assert_eq!(patient.summary.lines().count(), 5);
        assert!(patient.summary.ends_with("museums and small hotels."));
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match compare(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/summarize_file.rs"]
mod law;
