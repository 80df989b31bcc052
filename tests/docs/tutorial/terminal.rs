//! A terminal into which the commands of the page are typed.
//!
//! In a block, `$ ` stands before a command, and what it prints stands below; a command that stands
//! alone only has to succeed. `…` stands for anything, a line `…` for any lines. At `^C`, the
//! command is killed as soon as it has printed what stands above: by SIGKILL, which no process can
//! catch, and which works also where SIGINT is ignored, as in the background.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) struct Terminal {
    place: PathBuf,
    lock_file: PathBuf,
}

impl Terminal {
    pub(crate) fn new(place: &Path, repository: &Path) -> Self {
        Terminal {
            place: place.to_owned(),
            lock_file: repository.join("Cargo.lock"),
        }
    }

    /// The folder in which it is.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// The program of this name that its commands have built.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        target().join("debug").join(name)
    }

    /// Runs the commands of the block that begins at this line of the page.
    pub(crate) fn follow(&mut self, line: usize, block: &str) {
        for command in block.split("$ ").skip(1) {
            let (command, expected) = command.split_once('\n').expect("a line ends");
            match command.strip_prefix("cd ") {
                Some(folder) => self.enter(folder),
                None => self.run(line, command, expected),
            }
        }
    }

    /// Enters the folder of a new package. It gets the lock file of this repository: the versions that are tested here,
    /// which cargo has already downloaded.
    fn enter(&mut self, folder: &str) {
        self.place.push(folder);
        std::fs::copy(&self.lock_file, self.place.join("Cargo.lock")).expect("a lock file");
    }

    fn run(&self, line: usize, command: &str, expected: &str) {
        let mut running = self.start(command);
        let before_kill = expected
            .split_once("^C\n")
            .map(|(before, _)| before.lines().count());
        let expected = expected.replace("^C\n", "");
        let mut printed = String::new();
        let output = BufReader::new(running.stdout.take().expect("its output is piped"));
        for (read, text) in output.lines().enumerate() {
            printed += &text.expect("it prints text");
            printed.push('\n');
            if before_kill == Some(read + 1) {
                kill(&running);
            }
        }
        let status = running.wait().expect("it ends");
        let as_expected = if expected.is_empty() {
            status.success()
        } else {
            matches(&expected, &printed)
        };
        assert!(
            as_expected,
            "the page, line {line}: $ {command}\n--- it prints ({status}):\n{printed}--- expected:\n{expected}"
        );
    }

    /// Starts a command in a group of its own, which can be killed as a whole.
    fn start(&self, command: &str) -> Child {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(&self.place);
        shell
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        shell.stdout(Stdio::piped()).process_group(0);
        shell.spawn().expect("a shell starts")
    }
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorial")
}

fn kill(running: &Child) {
    let group = format!("-{}", running.id());
    let status = Command::new("kill").args(["-KILL", "--", &group]).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "the command could not be killed"
    );
}

/// Whether the lines are the expected ones.
fn matches(expected: &str, printed: &str) -> bool {
    let (expected, printed): (Vec<&str>, Vec<&str>) = (
        expected.lines().collect(),
        printed.trim_end().lines().collect(),
    );
    lines_match(&expected, &printed)
}

fn lines_match(expected: &[&str], printed: &[&str]) -> bool {
    match (expected, printed) {
        ([], _) => printed.is_empty(),
        (["…", rest @ ..], _) => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        ([line, rest @ ..], [found, others @ ..]) => {
            line_matches(line, found) && lines_match(rest, others)
        }
        _ => false,
    }
}

fn line_matches(expected: &str, found: &str) -> bool {
    match expected.split_once('…') {
        Some((start, end)) => found
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
        None => expected == found.trim_end(),
    }
}
