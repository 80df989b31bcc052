//! Tests the command line of the example `expenses`, call by call.

#[cfg(unix)]
mod person;

use std::fs;
use std::io::Write as _;
use std::path::{MAIN_SEPARATOR, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let features = ["--features", "program"];
    flow_services::example("typed-flows-terminal", "expenses", &features)
});

const CLAIM: &str = "\
version: 2.0.0
name: FromFile
namespace: from_file
inputs: { type: object, properties: { employee: {}, amount: {} }, required: [employee, amount] }
outputs: { type: object, properties: { receipt: {} }, required: [receipt] }
nodes:
  - { type: pay, id: pay }
edges: []
ends:
  - { from: pay, condition: default, label: default }
";

/// A folder in which the program is called.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("claim.yaml", CLAIM);
        folder
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    /// What a person sees: standard output, standard error, and the exit code if it is not 0.
    fn call(&self, arguments: &[&str]) -> String {
        self.call_with(arguments, "")
    }

    fn call_with(&self, arguments: &[&str], input: &str) -> String {
        let mut program = Command::new(&*PROGRAM);
        program.args(arguments).current_dir(self.0.path());
        program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut program = program.spawn().unwrap();
        // A call that does not read its input may be over before this is written.
        let _ = program.stdin.take().unwrap().write_all(input.as_bytes());
        let output = program.wait_with_output().unwrap();
        let mut seen = String::from_utf8(output.stdout).unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        if !words.is_empty() {
            seen += &format!("[stderr]\n{words}");
        }
        if let Some(code) = output.status.code().filter(|code| *code != 0) {
            seen += &format!("[exit code {code}]");
        }
        seen
    }
}

const PAID: &str = "{\n  \"receipt\": \"30 EUR for Ann\",\n  \"end\": \"default\"\n}\n";

#[test]
fn a_flow_of_the_program_is_run() {
    let folder = Folder::new();
    let values = ["run", "Claim", "employee=Ann", "amount=30"];
    let progress = "[stderr]\n\
        claim.size started\n\
        claim.size finished: small\n\
        claim.pay started\n\
        claim.pay finished: default\n\
        claim ended: default\n";
    assert_eq!(folder.call(&values), format!("{PAID}{progress}"));
    assert_eq!(folder.call(&[&values[..], &["--quiet"]].concat()), PAID);
}

#[test]
fn the_flow_in_a_file_is_run() {
    let folder = Folder::new();
    folder.write("input.json", r#"{ "employee": "Ann", "amount": 20 }"#);
    // What is on the command line comes before what is in the file.
    let call = [
        "run",
        "claim.yaml",
        "-q",
        "--input",
        "input.json",
        "amount=30",
    ];
    assert_eq!(folder.call(&call), PAID);
    let call = ["run", "claim.yaml", "-q", "--input", "-"];
    let input = r#"{ "employee": "Ann", "amount": 30 }"#;
    assert_eq!(folder.call_with(&call, input), PAID);
}

const RACE: &str = "\
version: 2.0.0
name: Race
namespace: race
inputs: { type: object, properties: { employee: {}, amount: {} }, required: [employee, amount] }
outputs: { type: object, properties: { receipt: {} } }
nodes:
  - type: flow.first
    id: outcome
    params: { branches: [{ steps: [pause], action: late }, { steps: [pay], action: paid }] }
  - { type: flow.wait, id: pause, params: { duration: 1h } }
  - { type: pay, id: pay }
edges: []
ends:
  - { from: outcome, condition: late, label: late }
  - { from: outcome, condition: paid, label: default }
entryNodeId: outcome
";

#[test]
fn a_node_that_a_race_drops_is_told() {
    let folder = Folder::new();
    folder.write("race.yaml", RACE);
    let progress = "[stderr]\n\
        race.outcome started\n\
        race.pause started\n\
        race.pay started\n\
        race.pay finished: default\n\
        race.pause dropped\n\
        race.outcome finished: paid\n\
        race ended: default\n";
    let seen = folder.call(&["run", "race.yaml", "employee=Ann", "amount=30"]);
    assert_eq!(seen, format!("{PAID}{progress}"));
}

#[test]
fn a_value_that_is_not_what_the_flow_takes_is_text() {
    let folder = Folder::new();
    let call = ["run", "claim.yaml", "-q", "amount=30"];
    for (name, paid) in [
        ("5", "5"),
        ("true", "true"),
        ("\"Ann\"", "Ann"),
        ("a=b", "a=b"),
    ] {
        let employee = format!("employee={name}");
        let seen = folder.call(&[&call[..], &[&employee]].concat());
        assert!(seen.contains(&format!("30 EUR for {paid}\"")), "{seen}");
    }
}

#[test]
fn an_input_that_does_not_fit_is_not_run() {
    let folder = Folder::new();
    let refused = |arguments: &[&str], input: &str| {
        let call = [&["run"], arguments].concat();
        let seen = folder.call_with(&call, input);
        let error = seen
            .strip_prefix("[stderr]\n")
            .unwrap_or_else(|| panic!("{seen}"));
        error
            .strip_suffix("[exit code 2]")
            .unwrap_or_else(|| panic!("{seen}"))
            .to_owned()
    };
    assert_eq!(
        refused(&["Claim", "employee=Ann", "amonut=30"], ""),
        "error: `Claim` has no input `amonut`\n       help: did you mean `amount`?\n"
    );
    assert_eq!(
        refused(&["Claim", "amount=1", "amount=2"], ""),
        "error: `amount` is given twice\n"
    );
    for (flow, name) in [("Claim", "Claim"), ("claim.yaml", "FromFile")] {
        assert_eq!(
            refused(&[flow, "amount=30"], ""),
            format!(
                "error: the input of `{name}` does not fit\n       `employee`: it is missing\n"
            ),
        );
    }
    // All that is wrong is said, a line each.
    for input in ["{ \"amount\": [1] }", "{ \"amount\": [1], \"amonut\": 1 }"] {
        let error = refused(&["Claim", "--input", "-"], input);
        let lines: Vec<&str> = error.lines().collect();
        let expected = [
            "error: the input of `Claim` does not fit",
            "       `employee`: it is missing",
            "       `amount`: invalid type: sequence, expected u64",
            "       `amonut`: the flow has no such input: did you mean `amount`?",
        ];
        assert_eq!(lines, expected[..lines.len()]);
        assert_eq!(lines.len(), if input.contains("amonut") { 4 } else { 3 });
    }
    let error = refused(&["Claim", "employee=Ann", "amount=many"], "");
    assert!(
        error.contains("\n       `amount`: invalid type: string \"many\""),
        "{error}"
    );
    assert_eq!(
        refused(&["Claim", "--input", "-"], "[1]"),
        "error: the standard input: the input is not a JSON object\n"
    );
    let error = refused(&["Claim", "--input", "-"], "{\n  \"amount\" 1 }");
    assert_eq!(
        error,
        "error: the standard input: expected `:` at line 2 column 12\n"
    );
    let error = refused(&["Claim", "--input", "nowhere.json"], "");
    assert!(error.starts_with("error: nowhere.json: "), "{error}");
    let error = refused(&["Claim", "amount"], "");
    assert!(error.contains("write KEY=VALUE"), "{error}");
}

#[test]
fn a_flow_that_is_not_there_or_broken_is_not_run() {
    let folder = Folder::new();
    assert_eq!(
        folder.call(&["run", "Clain"]),
        "[stderr]\nerror: there is no flow or file `Clain`\n       help: did you mean `Claim`?\n[exit code 2]"
    );
    folder.write(
        "broken.yaml",
        &CLAIM
            .replace("type: pay", "type: pya")
            .replace("FromFile", "Broken"),
    );
    let problem = "error: broken.yaml:7:13: no node `pya` is registered [F004]\n       \
        at /nodes/0/type\n       \
        help: did you mean `pay`?\n";
    let expected = format!("[stderr]\n{problem}[exit code 2]");
    assert_eq!(folder.call(&["run", "broken.yaml", "amount=1"]), expected);
    let seen = folder.call(&["run", "nowhere.yaml"]);
    assert!(
        seen.starts_with("[stderr]\nerror: nowhere.yaml: "),
        "{seen}"
    );
    let seen = folder.call(&["run", "claim.toml"]);
    let expected =
        "[stderr]\nerror: claim.toml: its name does not end in .json, .yaml or .yml\n[exit code 2]";
    assert_eq!(seen, expected);

    // What is sound is said all the same.
    let seen = folder.call(&["check", "broken.yaml", "claim.yaml"]);
    let expected = format!("claim.yaml: `FromFile` is sound\n[stderr]\n{problem}[exit code 1]");
    assert_eq!(seen, expected);
    let seen = folder.call(&["check", "."]);
    let problem =
        format!(".: `FromFile` is sound\n[stderr]\nerror: .{MAIN_SEPARATOR}broken.yaml:7:13");
    assert!(seen.starts_with(&problem), "{seen}");
    assert_eq!(
        folder.call(&["check", "claim.yaml"]),
        "claim.yaml: `FromFile` is sound\n"
    );
}

#[test]
fn a_run_that_fails_says_where() {
    let folder = Folder::new();
    let seen = folder.call(&["run", "Claim", "-q", "employee=", "amount=30"]);
    let failed = "error: node `claim.pay` failed after 1 attempt: the claim has no name\n";
    assert_eq!(seen, format!("[stderr]\n{failed}[exit code 1]"));
    // Nobody is at the terminal.
    let seen = folder.call(&["run", "Claim", "-q", "employee=Ann", "amount=300"]);
    assert!(seen.contains("nobody can be asked"), "{seen}");
    assert!(seen.ends_with("[exit code 1]"), "{seen}");
}

#[test]
fn what_there_is_is_listed() {
    let folder = Folder::new();
    assert_eq!(
        folder.call(&["flows"]),
        "Claim(employee, amount) -> (receipt?)  Pays a claim. A large one is shown to a person before.\n\
         for documents: Approval, pay, size\n"
    );
    let json = folder.call(&["flows", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["flows"][0]["name"], "Claim");
    assert_eq!(json["catalog"]["nodes"].as_array().unwrap().len(), 3);
    let help = folder.call(&[]);
    let usage = format!("Usage: expenses{} <COMMAND>", std::env::consts::EXE_SUFFIX);
    assert!(
        help.contains(&usage) && help.ends_with("[exit code 2]"),
        "{help}"
    );
}
