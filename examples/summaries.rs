//! Summaries of long texts: a file is read in parts of 10,000 characters, each part is summed up,
//! and then the summaries of all parts. Folders are summed up file by file.
//!
//! ```text
//! cargo run -p flow-examples --example summaries
//! cargo run -p flow-examples --features genai --example summaries -- --model ollama:qwen3:4b
//! ```

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use typed_flows::agents::{Message, Messages, Model, ModelError, Request, ScriptedModel};
use typed_flows::prelude::*;

const CHARACTERS: usize = 10_000;

#[derive(Debug, thiserror::Error)]
#[error("cannot read {0}")]
struct Unreadable(PathBuf, #[source] io::Error);

fn unreadable(path: &Path) -> impl Fn(io::Error) -> Unreadable {
    |error| Unreadable(path.to_owned(), error)
}

/// The texts of a folder.
#[node(blocking, writes = files)]
fn list_files(folder: &Path) -> Result<Vec<PathBuf>, Unreadable> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable(folder))? {
        let path = entry.map_err(unreadable(folder))?.path();
        if path.extension().is_some_and(|it| it == "txt") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The parts of a file.
#[node(blocking, writes = parts)]
fn read_parts(file: &Path) -> Result<Vec<String>, Unreadable> {
    let text = std::fs::read_to_string(file).map_err(unreadable(file))?;
    let letters: Vec<char> = text.chars().collect();
    let parts = letters.chunks(CHARACTERS).map(|part| part.iter().collect());
    Ok(parts.collect())
}

async fn summary_of(model: &dyn Model, text: &str) -> Result<String, ModelError> {
    let task = Message::system("Sum up the text in one sentence.");
    let messages = Messages::from_iter([task, Message::user(text)]);
    let reply = model.complete(&Request::new(&messages)).await?;
    Ok(reply.into_complete()?.content)
}

struct SumUpPart {
    model: Arc<dyn Model>,
}

/// Maps: a part to its summary.
#[node(writes = summary)]
impl SumUpPart {
    async fn exec(&self, part: &str) -> Result<String, ModelError> {
        summary_of(&self.model, part).await
    }
}

struct SumUpAll {
    model: Arc<dyn Model>,
}

/// Reduces: the summaries of all parts to one. The summary of a single part is used as it is.
#[node(writes = summary)]
impl SumUpAll {
    async fn exec(&self, summaries: Vec<String>) -> Result<String, ModelError> {
        match &summaries[..] {
            [] => Ok(String::new()),
            [only] => Ok(only.clone()),
            several => summary_of(&self.model, &several.join("\n")).await,
        }
    }
}

flow! {
    /// Sums up a file of any length.
    SumUpFile(file: PathBuf) -> (summary: String) {
        node sum_up_part: SumUpPart;
        node sum_up_all: SumUpAll;
        node summaries: for part in parts { sum_up_part } with concurrency(4);
        start >> read_parts >> summaries >> sum_up_all >> end;
    }
}

flow! {
    /// Sums up each file of a folder.
    SumUpFolder(folder: PathBuf) -> (files: Vec<PathBuf>, summaries: Vec<String>) {
        node sum_up_file: SumUpFile;
        node summaries: for file in files { sum_up_file };
        start >> list_files >> summaries >> end;
    }
}

flow! {
    /// Sums up each file of each folder.
    SumUpFolders(folders: Vec<PathBuf>) -> (all: Vec<SumUpFolderOutput>) {
        node sum_up_folder: SumUpFolder;
        node all: for folder in folders { sum_up_folder };
        start >> all >> end;
    }
}

fn flow(model: &Arc<dyn Model>) -> SumUpFolders {
    let sum_up_file = SumUpFile::builder()
        .sum_up_part(SumUpPart {
            model: Arc::clone(model),
        })
        .sum_up_all(SumUpAll {
            model: Arc::clone(model),
        })
        .build();
    let sum_up_folder = SumUpFolder::builder().sum_up_file(sum_up_file).build();
    SumUpFolders::builder().sum_up_folder(sum_up_folder).build()
}

/// Sample replies of a model, for each text in turn.
fn script() -> ScriptedModel {
    ScriptedModel::new()
        .text("How light stations were heard in fog before there was radar.")
        .text("The light on the north pier turns red in March.")
        .text("A keeper writes home about quiet days, and lifts the blind at ten.")
        .text("A keeper's journal of a stormy January in 1871.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/texts");
    let input = SumUpFoldersInput {
        folders: vec![texts],
    };
    let output = flow(&chosen.model).run(input).await?;
    for folder in &output.all {
        for (file, summary) in folder.files.iter().zip(&folder.summaries) {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            println!("{name}: {summary}");
        }
    }
    if let Some(script) = chosen.script {
        script.assert_used();
        assert!(output.all[0].summaries[1].starts_with("The light on the north pier"));
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/summaries.rs"]
mod law;

#[cfg(test)]
mod tests {
    use super::*;

    /// P-045: a large file in parts of 10,000 characters, files by name, and folders by files.
    #[tokio::test]
    async fn a_large_file_is_summed_up_in_parts() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let texts = ["ä".repeat(25_000), "short".to_owned(), String::new()];
        for (name, text) in ["a.txt", "b.txt", "c.txt"].iter().zip(&texts) {
            std::fs::write(folders[0].path().join(name), text).unwrap();
        }
        std::fs::write(folders[1].path().join("d.txt"), "other").unwrap();
        std::fs::write(folders[1].path().join("e.md"), "no text").unwrap();
        let script = ["1", "2", "3", "1 to 3", "b", "d"];
        let script = script
            .into_iter()
            .fold(ScriptedModel::new(), ScriptedModel::text);
        let script = Arc::new(script);
        let model: Arc<dyn Model> = script.clone();
        let folders = folders.iter().map(|it| it.path().to_owned()).collect();
        let output = flow(&model)
            .run(SumUpFoldersInput { folders })
            .await
            .unwrap();
        script.assert_used();
        assert_eq!(output.all[0].summaries, ["1 to 3", "b", ""]);
        assert_eq!(output.all[1].summaries, ["d"]);
        let asked = script.requests().into_iter();
        let asked: Vec<String> = asked.map(|it| it.messages[1].text()).collect();
        let lengths: Vec<usize> = asked.iter().map(|it| it.chars().count()).collect();
        assert_eq!(lengths[..3], [10_000, 10_000, 5_000]);
        assert_eq!(asked[3], "1\n2\n3");
    }
}
