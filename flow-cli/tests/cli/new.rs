//! `cargo flow new`: what it refuses, what is in a project, and that a project runs.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::Value;

use crate::program::Folder;

/// Far more than a step takes, on any machine.
const DEADLINE: Duration = Duration::from_secs(120);

fn repository() -> &'static Path {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.parent().expect("it is in the repository")
}

/// All files of a folder, sorted by their paths.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let path = path.strip_prefix(folder).expect("it is inside");
                found.push(path.display().to_string().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_project_for_the_registry() {
    let folder = Folder::new();
    assert_snapshot!(folder.run("new refunds"), @"
    [stderr]
    created `refunds` with a flow, its tests, CI and a Dockerfile
    help: `cd refunds`, then `cargo run -- serve`; README.md has more
    ");
    assert_snapshot!(files(folder.path()).join("\n"), @"
    refunds/.dockerignore
    refunds/.github/workflows/ci.yml
    refunds/.gitignore
    refunds/Cargo.toml
    refunds/Dockerfile
    refunds/README.md
    refunds/src/flows.rs
    refunds/src/main.rs
    ");
    let manifest = folder.read("refunds/Cargo.toml");
    let dependency = format!(
        "typed-flows = {{ version = \"{}\",",
        env!("CARGO_PKG_VERSION")
    );
    assert!(manifest.contains(&dependency), "{manifest}");
    assert!(!folder.read("refunds/Dockerfile").contains("typed-flows"));
    assert!(
        folder
            .read("refunds/README.md")
            .contains("\ndocker build --tag refunds .\n")
    );
    no_placeholder_is_left(&folder);
}

#[test]
fn a_project_with_a_path() {
    let folder = Folder::new()
        .with("a copy/Cargo.toml", "[package]\nname = \"typed-flows\"\n")
        .with("a copy/src/lib.rs", "")
        .with("here/Cargo.toml", "[workspace]\n");
    let mut command = folder.command("new refunds --path");
    command
        .arg("../a copy")
        .current_dir(folder.path().join("here"));
    let seen = command.output().expect("cargo-flow runs");
    assert_snapshot!(String::from_utf8_lossy(&seen.stderr), @"
    created `refunds` with a flow, its tests, CI and a Dockerfile
    warning: it is a workspace of its own, and not a member of the one around it
    help: `cd refunds`, then `cargo run -- serve`; README.md has more
    ");
    assert_snapshot!(folder.read("here/refunds/Cargo.toml"), @r#"
    [package]
    name = "refunds"
    version = "0.1.0"
    edition = "2024"

    [dependencies]
    serde = { version = "1", features = ["derive"] }
    tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
    typed-flows = { path = "../../a copy", features = ["server"] }

    # A workspace of its own: the folders above have another one.
    [workspace]
    "#);
    for (file, line) in [
        (
            "Dockerfile",
            r#"COPY --from=typed-flows [".", "../../a copy"]"#,
        ),
        (
            "README.md",
            r#"docker build --tag refunds --build-context typed-flows="../../a copy" ."#,
        ),
        (
            ".github/workflows/ci.yml",
            r#"      # Cargo.toml names typed-flows by its path. Add a step that gets a copy into "../../a copy"."#,
        ),
    ] {
        let text = folder.read(&format!("here/refunds/{file}"));
        assert!(text.lines().any(|found| found == line), "{file}: {text}");
    }
    no_placeholder_is_left(&folder);
}

/// The texts of a project have `{amount}` and `${{ … }}`, but nothing that `new` should have replaced.
fn no_placeholder_is_left(folder: &Folder) {
    for file in files(folder.path()) {
        let text = folder.read(&file);
        for mark in ["?}", "{name}", "{version}", "{path}"] {
            assert!(!text.contains(mark), "{file} has `{mark}`");
        }
    }
}

#[test]
fn what_is_refused() {
    let folder = Folder::new()
        .with("taken/file", "mine")
        .with("file", "mine")
        .with("other/Cargo.toml", "[package]\nname = \"other\"\n")
        .with("other/src/lib.rs", "");
    let seen = [
        "new taken",
        "new file",
        "new 7up",
        "new ../elsewhere",
        "new while",
        "new tokio",
        "new refunds --path other",
        "new refunds --path none",
    ]
    .map(|words| folder.run(words).replace("[exit code 2]", ""));
    assert_snapshot!(seen.join(""), @"
    [stderr]
    error: `taken` exists already
           help: choose another name, or go to another folder
    [stderr]
    error: `file` exists already
           help: choose another name, or go to another folder
    [stderr]
    error: `7up` cannot be the name of a package: it does not begin with a letter
           help: name it as `cargo new` does: `cargo flow new refunds`
    [stderr]
    error: `../elsewhere` cannot be the name of a package: `.` is not an ASCII letter, a digit, `-` or `_`
           help: name it as `cargo new` does: `cargo flow new refunds`
    [stderr]
    error: `while` cannot be the name of a package: it is a keyword of Rust
           help: name it as `cargo new` does: `cargo flow new refunds`
    [stderr]
    error: `tokio` cannot be the name of a package: cargo, Rust or a dependency of the project has this name
           help: name it as `cargo new` does: `cargo flow new refunds`
    [stderr]
    error: there is no package `typed-flows` in `other`
           help: name the folder that has its Cargo.toml: the root of a copy of the repository
    [stderr]
    error: there is no package `typed-flows` in `none`
           help: name the folder that has its Cargo.toml: the root of a copy of the repository
    ");
    assert_eq!(folder.names("."), ["file", "other", "taken"]);
    assert_eq!(folder.names("taken"), ["file"]);
}

/// Cargo refuses the same names. It only warns of some others with which programs may not compile,
/// and does not know the dependencies of the project.
#[test]
fn names_are_judged_as_by_cargo() {
    let folder = Folder::new();
    let names = "refunds|a|_a|a-b|a_b|A7|a-|7|-a|a b|a/b|a.b||fn|Self|yield|union|test|tests|build|deps|\
                 examples|incremental|proc-macro";
    let refused_here_alone = "std|core|alloc|proc_macro|größe|serde|tokio|typed-flows";
    let refused_here_alone: Vec<&str> = refused_here_alone.split('|').collect();
    for name in names.split('|').chain(refused_here_alone.iter().copied()) {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["new", "--quiet", "--vcs=none", "--name", name, "by-cargo"]);
        let made = cargo.current_dir(folder.path()).output();
        let made = made.expect("cargo runs").status.success();
        let _ = fs::remove_dir_all(folder.path().join("by-cargo"));
        let expected = made && !refused_here_alone.contains(&name);

        let mut new = folder.command("new --");
        let seen = new.arg(name).output().expect("cargo-flow runs");
        let error = String::from_utf8_lossy(&seen.stderr);
        assert_eq!(seen.status.success(), expected, "`{name}`: {error}");
        let manifest = folder.path().join(name).join("Cargo.toml");
        assert_eq!(manifest.exists(), expected, "`{name}`");
    }
}

/// A file is larger than the process may write.
#[cfg(unix)]
#[test]
fn a_failure_leaves_nothing() {
    let folder = Folder::new();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" new refunds"])
        .arg(env!("CARGO_BIN_EXE_cargo-flow"))
        .current_dir(folder.path());
    let seen = shell.output().expect("a shell runs");
    let error = String::from_utf8_lossy(&seen.stderr);
    assert!(
        error.contains("error: cannot write `refunds/src/flows.rs`"),
        "{error}"
    );
    assert_eq!(seen.status.code(), Some(2));
    assert!(folder.names(".").is_empty());
}

/// A project that is built offline, with the versions of this repository.
struct Project(Folder);

impl Project {
    fn new() -> Self {
        let folder = Folder::new();
        let mut new = folder.command("new refunds --path");
        let made = new.arg(repository()).output().expect("cargo-flow runs");
        let error = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{error}");
        let lock = folder.path().join("refunds/Cargo.lock");
        fs::copy(repository().join("Cargo.lock"), lock).expect("a lock file");
        Project(folder)
    }

    fn cargo(&self, words: &str) {
        let mut cargo = self.at(Command::new(env!("CARGO")));
        cargo
            .args(words.split(' '))
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        let output = cargo.output().expect("cargo runs");
        let error = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "cargo {words}: {error}{printed}");
    }

    fn at(&self, mut command: Command) -> Command {
        command.current_dir(self.0.path().join("refunds"));
        command
    }

    /// A command of the built program.
    fn program(&self, words: &str) -> Command {
        let file = format!("debug/refunds{}", std::env::consts::EXE_SUFFIX);
        let mut command = self.at(Command::new(target().join(file)));
        command.args(words.split(' '));
        command
    }

    fn call(&self, words: &str) -> String {
        let output = self.program(words).output().expect("the program runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The ID of the only execution, as soon as it has this status.
    fn id_of(&self, status: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let list: Value = serde_json::from_str(&self.call("list --json")).expect("JSON");
            if list[0]["status"] == status {
                return list[0]["id"].as_str().expect("an ID").to_owned();
            }
            assert!(Instant::now() < deadline, "{list}");
        }
    }
}

/// The folder of the builds of this repository, which has some of the dependencies already.
fn target() -> &'static Path {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    temporary.parent().expect("it is in the folder of builds")
}

/// A process that serves, and is killed in the end.
struct Serving(Child);

impl Serving {
    fn new(project: &Project) -> Self {
        let mut serve = project.program("serve --listen 127.0.0.1:0");
        let mut process = serve.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = process.stdout.take().expect("it is piped");
        let serving = Serving(process);
        let mut line = String::new();
        let read = BufReader::new(output).read_line(&mut line);
        read.expect("a line of text");
        assert!(line.starts_with("http://"), "{line}");
        serving
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The tests of the project pass. Its server is killed while a person is asked, and the next server
/// continues.
#[test]
fn a_project_runs_and_survives_a_kill() {
    let project = Project::new();
    project.cargo("fmt --check");
    assert_eq!(project.0.run("fmt --check refunds/src"), "");
    project.cargo("test --offline");
    project.cargo("build --offline --locked");

    let serving = Serving::new(&project);
    project.call("start --detach Refund order=A7 amount=250");
    let id = project.id_of("paused");
    drop(serving); // as `kill -9` does
    assert!(!project.0.path().join("refunds/payments.txt").exists());

    let _serving = Serving::new(&project);
    project.call(&format!("answer {id} Approve"));
    assert_eq!(project.id_of("completed"), id);
    assert_eq!(
        project.0.read("refunds/payments.txt"),
        format!("250 EUR for order A7: {id}/refund.pay\n")
    );
}
