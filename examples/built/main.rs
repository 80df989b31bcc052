//! Reads flows from programs without running them: from the examples, and from programs that were
//! built with fat LTO and stripped. They must be byte for byte the same as in a running program.
//!
//! The examples are modules here, so that their flows are linked into this running program.

mod examples;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::{env, fs};

use typed_flows::flow_spec::FlowDocument;
use typed_flows::flow_spec::document::DEFAULT_DEPTH;
use typed_flows::flows;

use crate::examples::EXAMPLES;

/// Examples with an SQLite file. The program with all examples would have to build SQLite as well.
const WITH_A_STORE: [&str; 6] = [
    "approval_desk",
    "chat",
    "crash",
    "order_saga",
    "support_chat",
    "text_to_sql",
];

/// Examples with a model that are not among [`EXAMPLES`]: their flows are in their programs, but not in
/// this one.
const WITH_A_MODEL: [&str; 19] = [
    "agent",
    "chat_guardrail",
    "coding_agent",
    "debate",
    "heartbeat",
    "hedged_models",
    "invoice",
    "knowledge",
    "llm_streaming",
    "mcp_tools",
    "mermaid",
    "rag",
    "research",
    "structured_output",
    "summaries",
    "supervisor",
    "team",
    "telemetry",
    "thinking",
];

/// The examples of this package among those in [`EXAMPLES`]. The others belong to `typed-flows`.
const OF_THIS_PACKAGE: [&str; 5] = [
    "evaluator_optimizer",
    "prompt_chaining",
    "research_agent",
    "routing",
    "voting",
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
    let listed = EXAMPLES.iter().chain(&WITH_A_STORE).chain(&WITH_A_MODEL);
    let listed = listed.chain(&WITH_DOCUMENTS);
    let listed: BTreeSet<String> = listed.map(|name| (*name).to_owned()).collect();
    assert_eq!(names, listed);
}

/// `cargo flow export` reads from the built examples what they would print themselves.
#[test]
fn the_flows_of_the_built_examples_are_those_of_a_running_program() {
    let linked: BTreeSet<String> = flows().iter().map(|flow| exported(flow.spec())).collect();
    let mut read = BTreeSet::new();
    for example in EXAMPLES {
        let package = if OF_THIS_PACKAGE.contains(example) {
            env!("CARGO_PKG_NAME")
        } else {
            "typed-flows"
        };
        let flows = export(&flow_services::example(package, example, &[]));
        assert!(!flows.is_empty(), "{example} has no flows");
        read.extend(flows.into_values());
    }
    assert_eq!(read, linked);
}

/// The program calls none of the flows, and fat LTO removes as much of it as it can.
#[test]
fn the_flows_of_all_examples_are_in_a_stripped_program() {
    let linked: BTreeSet<String> = flows().iter().map(|flow| exported(flow.spec())).collect();
    let read = export(&stripped("examples/all_examples"));
    assert_eq!(read.into_values().collect::<BTreeSet<_>>(), linked);
}

/// The flows of a library that the program names but never calls, and an unused flow of the program
/// itself.
#[test]
fn flows_that_nobody_calls_are_in_the_program() {
    let program = stripped("linked_flows");
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
    let mut tool = Command::new(flow_services::program("typed-flows-cli", "cargo-flow"));
    succeed(
        tool.args(["flow", "export", "--out"])
            .arg(&directory)
            .arg(program),
    );
    let files = fs::read_dir(&directory).unwrap().map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    files.collect()
}

/// The path of a program built with the profile that keeps as little as possible. All of them are
/// built at once, so that their dependencies are compiled once.
fn stripped(program: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.args(["build", "--locked", "--quiet", "--profile", PROFILE]);
        cargo.args(["--package", "flow-examples", "--no-default-features"]);
        cargo.args(["--package", "flow-tests-application"]);
        succeed(cargo.args(["--example", "all_examples", "--bin", "linked_flows"]));
    });
    // Beside the folder of this program.
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = temporary.parent().unwrap();
    target
        .join(PROFILE)
        .join(format!("{program}{}", env::consts::EXE_SUFFIX))
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
}
