//! Every flow of this repository: in sources, in cases of the compiler, and on pages.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Source, blocks};
use super::proof::checked;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files with this ending, without those of cargo and git.
fn files(ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            match path.is_dir() {
                true if !name.starts_with('.') && name != "target" => folders.push(path),
                false if name.ends_with(ending) => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn number_of_flows(text: &str) -> usize {
    Source::new(text).map_or(0, |source| blocks::blocks(&source).len())
}

/// The code in a page, or in the documentation of a source.
fn code_blocks(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let text = line.trim_start();
        let documentation = text.strip_prefix("///").or(text.strip_prefix("//!"));
        documentation
            .map_or(line, |text| text.strip_prefix(' ').unwrap_or(text))
            .to_owned()
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    let parts = lines.split(|line| line.starts_with("```"));
    parts
        .skip(1)
        .step_by(2)
        .map(|lines| lines.join("\n") + "\n")
        .collect()
}

#[test]
fn flows_in_sources() {
    let mut flows = 0;
    for path in files(".rs") {
        let text = fs::read_to_string(&path).expect("a source");
        let laid_out = checked(&text);
        flows += number_of_flows(&text).saturating_sub(laid_out.faults.len());
        let shown = path.display().to_string();
        // Half of what the compiler refuses has a layout. The benchmarks have a macro of this name.
        let may_be_wrong = shown.contains("/ui/") || shown.contains("/benches/contenders/");
        assert!(
            may_be_wrong || laid_out.faults.is_empty(),
            "{shown}: {:?}",
            laid_out.faults
        );
    }
    assert!(flows > 600, "{flows}");
}

#[test]
fn flows_on_pages() {
    let mut flows = 0;
    for path in files(".md").into_iter().chain(files(".rs")) {
        let text = fs::read_to_string(&path).expect("a page");
        for code in code_blocks(&text) {
            let laid_out = checked(&code);
            flows += number_of_flows(&code).saturating_sub(laid_out.faults.len());
        }
    }
    assert!(flows > 100, "{flows}");
}

#[test]
fn the_examples_are_formatted() {
    let examples = root().join("examples");
    let examples = files(".rs")
        .into_iter()
        .filter(|path| path.starts_with(&examples));
    let mut flows = 0;
    for path in examples {
        let text = fs::read_to_string(&path).expect("an example");
        flows += number_of_flows(&text);
        let is_formatted = checked(&text).text == text;
        assert!(
            is_formatted,
            "`cargo flow fmt examples` formats {}",
            path.display()
        );
    }
    assert!(flows > 20, "{flows}");
}
