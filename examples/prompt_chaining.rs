//! Prompt chaining: each call to the model works on the result of the one before, and a gate
//! between them sends a poor outline back with feedback.
//!
//! ```text
//! cargo run --example prompt_chaining -- "tea"
//! ```

use std::error::Error;
use std::process::ExitCode;

use flow_runtime::prelude::*;

const FEWEST_SECTIONS: usize = 3;

/// Stands in for a model that is lazy until it is asked again.
#[node]
fn outline(topic: &str, feedback: Option<&str>) -> Vec<String> {
    let mut sections = vec![
        format!("What is {topic}?"),
        format!("How we came to {topic}"),
    ];
    if feedback.is_some() {
        sections.push(format!("Where next with {topic}?"));
    }
    sections
}

/// Whether the chain continues.
#[derive(Action)]
enum Gate {
    Valid,
    Invalid { feedback: String },
}

#[node(actions = Gate)]
fn check_outline(outline: &[String]) -> Gate {
    println!("outline: {}", outline.join(" / "));
    if outline.len() >= FEWEST_SECTIONS {
        return Gate::Valid;
    }
    let feedback = format!("write at least {FEWEST_SECTIONS} sections");
    println!("invalid: {feedback}");
    Gate::Invalid { feedback }
}

#[node]
async fn draft(outline: &[String]) -> String {
    let section = |title: &String| format!("\n## {title}\n\nIt is complicated.\n");
    outline.iter().map(section).collect()
}

#[node(writes = article)]
async fn polish(topic: &str, draft: &str) -> String {
    let body = draft.replace("It is complicated.", "There is more to it than one thinks.");
    format!("# On {topic}\n{body}")
}

flow! {
    /// Writes an article: outline, gate, draft, polish.
    PromptChaining(topic: String) -> (article: String) {
        start >> outline >> check_outline;
        check_outline - "invalid" >> outline;
        check_outline - "valid"   >> draft >> polish >> end;
    }
}

async fn write_article(topic: &str) -> Result<(), Box<dyn Error>> {
    if topic.is_empty() {
        return Err("the topic is empty".into());
    }
    let input = PromptChainingInput::builder().topic(topic.to_owned());
    let output = PromptChaining::new().run(input.build()).await?;

    println!("\n{}", output.article);
    assert!(output.article.matches("\n## ").count() >= FEWEST_SECTIONS);
    assert!(
        output
            .article
            .ends_with("There is more to it than one thinks.\n")
    );
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    let topic = std::env::args_os().nth(1).unwrap_or_else(|| "tea".into());
    match write_article(topic.to_string_lossy().trim()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/prompt_chaining.rs"]
mod law;
