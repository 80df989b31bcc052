//! Map and reduce: counts the words of all text files of a directory. Reading and counting block,
//! so they run on separate threads, four files at a time. The results are still in the order of the
//! files.
//!
//! ```text
//! cargo run --example map_reduce -- ~/notes
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use typed_flows::prelude::*;

/// The number of occurrences of each word.
type Counts = HashMap<String, usize>;

#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("cannot list {0}")]
    Unreadable(PathBuf, #[source] io::Error),
    #[error("{0} contains no .txt file")]
    NoTexts(PathBuf),
}

#[node(blocking, writes = files)]
fn list_files(directory: &Path) -> Result<Vec<PathBuf>, ListError> {
    let unreadable = |error| ListError::Unreadable(directory.to_owned(), error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(ListError::NoTexts(directory.to_owned()));
    }
    files.sort();
    Ok(files)
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read {0}")]
struct Unreadable(PathBuf, #[source] io::Error);

/// Maps: one file to the counts of its words.
#[node(blocking)]
fn count_words(file: &Path) -> Result<Counts, Unreadable> {
    let text = std::fs::read_to_string(file).map_err(|error| Unreadable(file.to_owned(), error))?;
    let mut counts = Counts::new();
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Reduces: the counts of all files to one ranking, the most frequent word first.
#[node(writes = ranking)]
fn add_up(counts: &[Counts]) -> Vec<(String, usize)> {
    let mut total = HashMap::<&str, usize>::new();
    for (word, count) in counts.iter().flatten() {
        *total.entry(word).or_default() += count;
    }
    let mut ranking: Vec<_> = total
        .into_iter()
        .map(|(word, count)| (word.to_owned(), count))
        .collect();
    ranking.sort_by(|(word, count), (other, others)| others.cmp(count).then(word.cmp(other)));
    ranking
}

flow! {
    /// Counts the words of all text files of a directory.
    MapReduce(directory: PathBuf) -> (
        files: Vec<PathBuf>,
        counts: Vec<Counts>,
        ranking: Vec<(String, usize)>,
    ) {
        node counts: for file in files { count_words } with concurrency(4);

        start >> list_files >> counts >> add_up >> end;
    }
}

async fn count(directory: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/texts");
    let given = directory.clone().unwrap_or(shipped);
    let input = MapReduceInput::builder().directory(given).build();
    let output = MapReduce::new().run(input).await?;

    for (file, counts) in output.files.iter().zip(&output.counts) {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        println!("{:>6} words  {name}", counts.values().sum::<usize>());
    }
    let total: usize = output.ranking.iter().map(|(_, count)| count).sum();
    println!(
        "{total:>6} words in all, {} of them different",
        output.ranking.len()
    );
    println!("\nThe most frequent words of five letters and more:");
    let long = output
        .ranking
        .iter()
        .filter(|(word, _)| word.chars().count() >= 5);
    let top: Vec<_> = long.take(5).collect();
    for (word, count) in &top {
        println!("{count:>6} × {word}");
    }

    if directory.is_none() {
        let words: Vec<&str> = top.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["light", "ships", "january", "night", "water"]);
        assert_eq!((output.counts.len(), total), (4, 512));
    }
    Ok(())
}

#[tokio::main]
async fn main() -> ExitCode {
    match count(std::env::args_os().nth(1).map(PathBuf::from)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/map_reduce.rs"]
mod law;
