//! An orchestrator with workers: it plans tasks, gives each to the right worker, and stops when
//! none is left. A worker may send work back. Together they find a different heading for each
//! paragraph of a text.
//!
//! ```text
//! cargo run --example orchestrator_workers -- notes.txt
//! ```

use std::collections::{HashMap, HashSet, VecDeque};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use typed_flows::prelude::*;

const ARTICLE_HEADINGS: [&str; 5] = [
    "lighthouses",
    "kilograms",
    "keepers",
    "unnecessary",
    "satellite",
];

#[derive(Default)]
struct Section {
    paragraph: String,
    /// Possible topics of the section, the best one last.
    terms: Vec<String>,
    heading: String,
}

/// The next task, and its section.
#[derive(Action)]
enum Task {
    Analyze { index: usize },
    Generate { index: usize },
    Test { index: usize },
    Synthesize,
}

#[node(writes(sections, tasks))]
fn plan(text: &str) -> (Vec<Section>, VecDeque<Task>) {
    let mut sections = Vec::new();
    let mut tasks = VecDeque::new();
    for paragraph in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let index = sections.len();
        tasks.extend([Task::Analyze { index }, Task::Generate { index }]);
        tasks.push_back(Task::Test { index });
        sections.push(Section {
            paragraph: paragraph.to_owned(),
            ..Section::default()
        });
    }
    (sections, tasks)
}

#[node(actions = Task, writes = tasks)]
fn dispatch(mut tasks: VecDeque<Task>) -> (VecDeque<Task>, Task) {
    let next = tasks.pop_front().unwrap_or(Task::Synthesize);
    (tasks, next)
}

#[node(writes = sections)]
fn analyze(mut sections: Vec<Section>, index: usize) -> Vec<Section> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in sections[index]
        .paragraph
        .split(|letter: char| !letter.is_alphabetic())
    {
        if word.chars().count() > 4 {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    let mut terms: Vec<_> = counts.into_iter().collect();
    terms.sort_by_cached_key(|(term, count)| (*count, term.len(), term.clone()));
    sections[index].terms = terms.into_iter().map(|(term, _)| term).collect();
    sections
}

#[node(writes = sections)]
fn generate(mut sections: Vec<Section>, index: usize) -> Vec<Section> {
    let term = sections[index].terms.pop();
    sections[index].heading = term.unwrap_or_else(|| format!("section {}", index + 1));
    sections
}

#[node(writes = tasks)]
fn test(mut tasks: VecDeque<Task>, sections: &[Section], index: usize) -> VecDeque<Task> {
    let heading = &sections[index].heading;
    let taken = sections[..index]
        .iter()
        .any(|earlier| earlier.heading == *heading);
    println!(
        "section {}: \"{heading}\" {}",
        index + 1,
        if taken { "is taken" } else { "will do" }
    );
    if taken {
        tasks.push_front(Task::Test { index });
        tasks.push_front(Task::Generate { index });
    }
    tasks
}

#[node(writes = headings)]
fn synthesize(sections: Vec<Section>) -> Vec<String> {
    sections
        .into_iter()
        .map(|section| section.heading)
        .collect()
}

flow! {
    /// Finds a heading for each paragraph of a text.
    OrchestratorWorkers(text: String) -> (headings: Vec<String>) {
        start >> plan >> dispatch;
        dispatch - "analyze"    >> analyze >> dispatch;
        dispatch - "generate"   >> generate >> dispatch;
        dispatch - "test"       >> test >> dispatch;
        dispatch - "synthesize" >> synthesize >> end;
    }
}

async fn find_headings(file: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/article.txt");
    let path = file.as_deref().unwrap_or(&shipped);
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;

    let input = OrchestratorWorkersInput::builder().text(text).build();
    let output = OrchestratorWorkers::new().run(input).await?;

    println!("\nheadings: {}", output.headings.join(", "));
    let distinct: HashSet<&String> = output.headings.iter().collect();
    assert_eq!(distinct.len(), output.headings.len());
    if file.is_none() {
        assert_eq!(output.headings, ARTICLE_HEADINGS);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match find_headings(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/orchestrator_workers.rs"]
mod law;
