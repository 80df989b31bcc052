//! Runs the program in a folder of its own.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// A flow with a nested flow, as it is exported.
pub(crate) const EXPENSE: &str = include_str!("../fixtures/expense_approval.json");
/// A flow of one node, as it is exported.
pub(crate) const QA: &str = include_str!("../fixtures/qa.json");

/// A folder that is removed in the end.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder for the test"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, and the folders above it.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(name);
        let above = path.parent().expect("in the folder");
        fs::create_dir_all(above).expect("a folder in the test's folder");
        fs::write(path, content).expect("a file in the test's folder");
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names of the files in a folder inside, also hidden ones.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(folder)).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names.map(|name| name.display().to_string()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-flow"));
        command
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env("CARGO_TARGET_DIR", self.path().join("target"));
        command
    }

    /// What a user sees: standard output, then standard error, then the exit code if it is not 0.
    pub(crate) fn run(&self, words: &str) -> String {
        let seen = self.run_here(words);
        if cfg!(windows) {
            as_elsewhere(&seen)
        } else {
            seen
        }
    }

    /// The same, on Windows with its separators and its words.
    pub(crate) fn run_here(&self, words: &str) -> String {
        let output = self.command(words).output().expect("cargo-flow runs");
        let mut seen = String::from_utf8_lossy(&output.stdout).into_owned();
        let words = String::from_utf8_lossy(&output.stderr);
        if !words.is_empty() {
            write!(seen, "[stderr]\n{words}").expect("in memory");
        }
        if !output.status.success() {
            let code = output.status.code().expect("no signal ends it");
            write!(seen, "[exit code {code}]").expect("in memory");
        }
        seen
    }
}

/// What is seen on Windows, as it would be seen on another system: with `/` in paths.
fn as_elsewhere(seen: &str) -> String {
    let of_name = |sign: char| sign.is_ascii_alphanumeric();
    let mut shown = String::new();
    for (index, part) in seen.split('\\').enumerate() {
        if index > 0 {
            let is_path = shown.ends_with(of_name) && part.starts_with(of_name);
            shown.push(if is_path { '/' } else { '\\' });
        }
        shown.push_str(part);
    }
    let missing = std::io::Error::from_raw_os_error(2).to_string();
    shown.replace(&missing, "No such file or directory (os error 2)")
}
