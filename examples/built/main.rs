//! Reads flows from programs that were built with fat LTO and stripped, without running them. They
//! have to be byte for byte the same as in a running program.
//!
//! The examples are modules here, so that their flows are linked into this program, which does run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use flow_runtime::flow_spec::FlowDocument;
use flow_runtime::flow_spec::document::DEFAULT_DEPTH;
use flow_runtime::flows;

macro_rules! examples {
    ($($name:ident $path:literal)*) => {
        $(
            #[path = $path]
            #[expect(dead_code, reason = "nobody runs the example")]
            mod $name;
        )*
        const EXAMPLES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! {
    data_loop "../data_loop.rs"
    evaluator_optimizer "../evaluator_optimizer.rs"
    expense_approval "../expense_approval.rs"
    map_reduce "../map_reduce.rs"
    nested_batch "../nested_batch.rs"
    orchestrator_workers "../orchestrator_workers.rs"
    order_pipeline "../order_pipeline.rs"
    parallel_checks "../parallel_checks.rs"
    prompt_chaining "../prompt_chaining.rs"
    question_answer "../question_answer.rs"
    research_agent "../research_agent.rs"
    routing "../routing.rs"
    summarize_file "../summarize_file.rs"
    voting "../voting.rs"
}

/// Examples with an SQLite file. To optimise SQLite for each of them would take minutes, and would
/// show nothing more.
const WITH_A_STORE: [&str; 4] = ["approval_desk", "chat", "crash", "text_to_sql"];

/// Examples with an agent: its flows are in the programs, and not in this one.
const WITH_AN_AGENT: [&str; 8] = [
    "agent",
    "debate",
    "knowledge",
    "rag",
    "research",
    "summaries",
    "supervisor",
    "team",
];

/// Examples with flows from documents, which are not in the program.
const WITH_DOCUMENTS: [&str; 2] = ["hot_reload", "two_models"];

const PROFILE: &str = "stripped";

#[test]
fn every_example_is_here() {
    let files = fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let names = files.filter_map(|file| {
        let path = file.unwrap().path();
        let is_example = path.extension()? == "rs";
        is_example.then(|| path.file_stem().unwrap().to_str().unwrap().to_owned())
    });
    let names: BTreeSet<String> = names.collect();
    let listed = EXAMPLES.iter().chain(&WITH_A_STORE).chain(&WITH_AN_AGENT);
    let listed = listed.chain(&WITH_DOCUMENTS);
    let listed: BTreeSet<String> = listed.map(|name| (*name).to_owned()).collect();
    assert_eq!(names, listed);
}

/// `cargo flow export` reads from the built examples the same that they would print themselves.
#[test]
fn the_flows_of_the_built_examples_are_those_of_a_running_program() {
    build(&[
        "--package",
        "flow-examples",
        "--examples",
        "--no-default-features",
    ]);
    let linked: BTreeSet<String> = flows().iter().map(|flow| exported(flow.spec())).collect();
    let mut read = BTreeSet::new();
    for example in EXAMPLES {
        let program = target(&format!("examples/{example}"));
        let flows = export(&program);
        assert!(!flows.is_empty(), "{example} has no flows");
        read.extend(flows.into_values());
    }
    assert_eq!(read, linked);
}

/// The flows of a library that the program names but never calls, and a flow of its own that
/// nothing uses.
#[test]
fn flows_that_nobody_calls_are_in_the_program() {
    build(&["--package", "flow-tests-application"]);
    let program = target("linked_flows");
    let said = Command::new(&program).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    let said = String::from_utf8(said.stdout).unwrap();
    let said: BTreeSet<String> = said.lines().map(exported).collect();
    let read = export(&program);
    let names: Vec<&str> = read.keys().map(String::as_str).collect();
    assert_eq!(names, ["desk.json", "nobody_calls_it.json"]);
    assert_eq!(read.into_values().collect::<BTreeSet<_>>(), said);
}

/// The exported form of this JSON.
fn exported(spec: &str) -> String {
    let mut document = FlowDocument::parse_spec(spec).unwrap();
    document.cut(DEFAULT_DEPTH);
    document.to_json()
}

/// The files that `cargo flow export` makes from a program.
fn export(program: &Path) -> BTreeMap<String, String> {
    let name = program.file_name().unwrap();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("exported")
        .join(name);
    // The files of an earlier run.
    let _ = fs::remove_dir_all(&directory);
    let mut tool = cargo();
    tool.args([
        "run",
        "--quiet",
        "--package",
        "flow-cli",
        "--",
        "flow",
        "export",
        "--out",
    ]);
    succeed(tool.arg(&directory).arg(program));
    let files = fs::read_dir(&directory).unwrap().map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    files.collect()
}

/// Builds with the profile that keeps as little as possible in a program.
fn build(what: &[&str]) {
    succeed(
        cargo()
            .args(["build", "--quiet", "--profile", PROFILE])
            .args(what),
    );
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
}

fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg("--locked");
    cargo
}

/// A program built with that profile, next to the directory of this one.
fn target(program: &str) -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = temporary.parent().unwrap();
    target
        .join(PROFILE)
        .join(format!("{program}{}", env::consts::EXE_SUFFIX))
}
