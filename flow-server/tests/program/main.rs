//! Tests the command line of the example `desk`, call by call.

#[cfg(feature = "blobs")]
mod blobs;
#[cfg(feature = "definitions")]
mod definitions;
mod work;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};
use tempfile::TempDir;

static DESK: LazyLock<PathBuf> = LazyLock::new(|| built("desk"));

fn built(example: &str) -> PathBuf {
    flow_services::example("typed-flows-server", example, &["--all-features"])
}

/// A folder in which the program is called, with its store.
struct Folder {
    place: TempDir,
    program: &'static Path,
}

/// What a call did.
#[derive(Debug)]
struct Called {
    output: String,
    error: String,
    code: Option<i32>,
}

impl Called {
    #[track_caller]
    fn fine(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}{}", self.output, self.error);
        &self.output
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(self.fine()).unwrap()
    }

    /// The standard error of a call that was not carried out.
    #[track_caller]
    fn refused(&self) -> &str {
        assert_eq!(self.code, Some(2), "{}{}", self.output, self.error);
        &self.error
    }
}

impl Folder {
    fn new() -> Self {
        Folder::of(&DESK)
    }

    fn of(program: &'static Path) -> Self {
        let place = tempfile::tempdir().unwrap();
        Folder { place, program }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut program = Command::new(self.program);
        program.args(arguments).current_dir(self.place.path());
        program
    }

    fn call(&self, arguments: &[&str]) -> Called {
        let output = self
            .command(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Called {
            output: String::from_utf8(output.stdout).unwrap(),
            error: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }

    /// Starts a claim that asks, and returns its id.
    fn asking(&self) -> String {
        let started = self
            .call(&["start", "Claim", "employee=Ann", "amount=950"])
            .json();
        assert_eq!(started["status"], "paused");
        started["execution"].as_str().unwrap().to_owned()
    }
}

#[test]
fn an_execution_is_started_shown_and_answered_by_one_process_after_another() {
    let folder = Folder::new();
    let small = folder.call(&["start", "Claim", "employee=Ann", "amount=30"]);
    assert_eq!(
        small.json()["output"],
        json!({ "receipt": "30 EUR to Ann", "end": "default" })
    );
    let large = folder.call(&["start", "Claim", "employee=5", "amount=950"]);
    let id = large.json()["execution"].as_str().unwrap().to_owned();
    assert!(
        large.error.contains("Approve 950 EUR for 5?"),
        "{}",
        large.error
    );

    let list = folder.call(&["list"]);
    let lines: Vec<&str> = list.fine().lines().collect();
    assert_eq!(lines.len(), 2);
    let (short, rest) = lines[0].split_once(' ').unwrap();
    assert!(
        id.starts_with(short) && rest.ends_with("paused      Claim"),
        "{lines:?}"
    );
    let json = folder
        .call(&["list", "--json", "--status", "completed"])
        .json();
    assert_eq!(json[0]["flow"], "Claim");
    assert_eq!(json.as_array().unwrap().len(), 1);

    let shown = folder.call(&["show", short]);
    for part in [
        "paused of Claim",
        "claim.measure",
        "claim.decision asks for a `Decision`",
        "Approve 950 EUR for 5?",
    ] {
        assert!(shown.fine().contains(part), "{part} in {}", shown.output);
    }
    let values = folder.call(&["show", short, "--at", "3"]).json();
    assert_eq!(
        values["flows"]["claim"],
        json!({ "employee": "5", "amount": 950 })
    );

    let refused = folder.call(&["answer", short, "perhaps"]);
    assert!(
        refused.refused().contains("asks for a `Decision`"),
        "{}",
        refused.error
    );
    let answered = folder.call(&["answer", short, r#"{"Approve": {"comment": "fun"}}"#]);
    assert!(
        answered.fine().starts_with(&format!("{id} is answered")),
        "{}",
        answered.output
    );
    let mut work = folder.command(&["worker"]).spawn().unwrap();
    let events = folder.call(&["events", short, "--follow"]);
    work.kill().unwrap();
    work.wait().unwrap();
    let last = events.fine().lines().last().unwrap();
    assert!(
        last.contains("run_completed") && last.contains("950 EUR to 5"),
        "{last}"
    );
    let shown = folder.call(&["show", "--json", &id]).json();
    assert_eq!(shown["output"]["receipt"], "950 EUR to 5");
}

#[test]
fn an_execution_is_cancelled_copied_and_removed() {
    let folder = Folder::new();
    let id = folder.asking();
    let copied = folder.call(&["copy", &id, "0", "amount=40"]);
    let copy = copied.fine().split(' ').next().unwrap().to_owned();
    assert_ne!(copy, id);
    let wrong = folder.call(&["copy", &id, "0", "amount=much"]);
    assert!(wrong.refused().contains("amount"), "{}", wrong.error);
    folder.call(&["cancel", &id, "not needed"]).fine();
    let again = folder.call(&["cancel", &id, "not needed"]);
    assert!(
        again.refused().contains("is cancelled already"),
        "{}",
        again.error
    );
    let list = folder.call(&["list", "--json"]).json();
    let of = |id: &str| {
        list.as_array()
            .unwrap()
            .iter()
            .find(|it| it["id"] == id)
            .cloned()
            .unwrap()
    };
    assert_eq!(of(&id)["reason"], "not needed");
    assert_eq!(of(&copy)["copiedFrom"], id.as_str());
    folder.call(&["delete", &id]).fine();
    let gone = folder.call(&["show", &id]);
    assert!(
        gone.refused().contains("there is no execution"),
        "{}",
        gone.error
    );
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_started() {
    let folder = Folder::new();
    for (arguments, words) in [
        (&["start", "Clam", "amount=1"][..], "did you mean `Claim`?"),
        (&["start", "Claim", "amount=1"], "employee"),
        (&["start", "Claim", "employe=Ann"], "has no input `employe`"),
        (&["start", "none.yaml"], "none.yaml"),
        (&["list", "--store", "runs.db"], "is not a store"),
        (
            &["list", "--store", "sqlite:none/runs.db"],
            "sqlite:none/runs.db",
        ),
        (&["list", "--status", "gone"], "running, paused"),
        (&["show", "ffffffff"], "there is no execution `ffffffff`"),
        (&["serve", "--tokens", "none"], "none"),
        (&["serve", "--listen", "0.0.0.0:0"], "has no authentication"),
        (&["worker", "--concurrent", "0"], "at least one"),
        (
            &["worker", "--concurrent-of", "Clam=1"],
            "did you mean `Claim`?",
        ),
        (
            &["serve", "--concurrent-of", "Claim"],
            "a flow and a number: `Claim=2`",
        ),
    ] {
        let called = folder.call(arguments);
        assert!(
            called.refused().contains(words),
            "{arguments:?}: {}",
            called.error
        );
    }
    assert_eq!(folder.call(&["list"]).fine(), "");
    let failed = folder.call(&["start", "Claim", "employee=", "amount=1"]);
    assert_eq!(failed.code, Some(1), "{}", failed.error);
    assert!(
        failed.output.contains("there is nobody to pay"),
        "{}",
        failed.output
    );
}

/// What of the program without a store can be done here as well.
#[test]
fn flows_are_run_checked_and_listed_too() {
    let folder = Folder::new();
    let run = folder
        .call(&["run", "--quiet", "Claim", "employee=Ann", "amount=30"])
        .json();
    assert_eq!(run["receipt"], "30 EUR to Ann");
    let flows = folder.call(&["flows"]);
    assert!(
        flows
            .fine()
            .starts_with("Claim(employee, amount) -> (receipt?)  Pays expenses."),
        "{}",
        flows.output
    );
    assert!(
        folder
            .call(&["completions", "bash"])
            .fine()
            .contains("--idempotency-key")
    );
    assert!(!folder.place.path().join("runs.db").exists());
}

/// A flow from a file is started, and goes on in the process that started it.
#[test]
fn a_flow_from_a_file_is_started() {
    let folder = Folder::new();
    let claim = "\
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
    std::fs::write(folder.place.path().join("claim.yaml"), claim).unwrap();
    let started = folder
        .call(&["start", "claim.yaml", "employee=Ann", "amount=30"])
        .json();
    assert_eq!(started["output"]["receipt"], "30 EUR to Ann");
    assert_eq!(
        folder.call(&["list", "--json"]).json()[0]["flow"],
        "FromFile"
    );
}

/// With a database as the store: one process starts, another answers, a third works.
#[test]
fn executions_in_postgres_are_started_answered_and_worked_on() {
    let Some(server) = flow_services::Postgres::start() else {
        return;
    };
    let folder = Folder::new();
    let url = server.url().replace("flow@", "flow:secret@");
    let call = |arguments: &[&str]| folder.call(&[arguments, &["--store", &url]].concat());
    let asking = call(&["start", "Claim", "employee=Ann", "amount=950"]).json();
    assert_eq!(asking["status"], "paused");
    let id = asking["execution"].as_str().unwrap();
    let paused = call(&["list", "--status", "paused"]);
    let (short, _) = paused.fine().split_once(' ').unwrap();
    assert_eq!(short, &id[..8]);
    call(&["answer", short, r#"{"Approve": {"comment": "fun"}}"#]).fine();
    let mut work = folder
        .command(&["worker", "--store", &url])
        .spawn()
        .unwrap();
    let events = call(&["events", id, "--follow"]);
    work.kill().unwrap();
    work.wait().unwrap();
    assert!(events.fine().contains("run_completed"), "{}", events.output);
    let shown = call(&["show", "--json", id]).json();
    assert_eq!(shown["output"]["receipt"], "950 EUR to Ann");
    assert!(
        !folder.place.path().join("runs.db").exists(),
        "nothing is in a file"
    );
    drop(server);
    let refused = call(&["list"]);
    let error = refused.refused();
    assert!(
        error.contains("the database cannot be reached") && error.contains("refused"),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

/// With a Redis server as the store: one process starts, another answers, a third works.
#[test]
fn executions_in_redis_are_started_answered_and_worked_on() {
    let Some(server) = flow_services::Redis::start() else {
        return;
    };
    server.command(&["ACL", "SETUSER", "me", "on", ">secret", "~*", "+@all"]);
    let folder = Folder::new();
    let url = server.url().replace("//", "//me:secret@");
    let call = |arguments: &[&str]| folder.call(&[arguments, &["--store", &url]].concat());
    let asking = call(&["start", "Claim", "employee=Ann", "amount=950"]).json();
    assert_eq!(asking["status"], "paused");
    let id = asking["execution"].as_str().unwrap();
    let paused = call(&["list", "--status", "paused"]);
    let (short, _) = paused.fine().split_once(' ').unwrap();
    assert_eq!(short, &id[..8]);
    call(&["answer", short, r#"{"Approve": {"comment": "fun"}}"#]).fine();
    let mut work = folder
        .command(&["worker", "--store", &url])
        .spawn()
        .unwrap();
    let events = call(&["events", id, "--follow"]);
    work.kill().unwrap();
    work.wait().unwrap();
    assert!(events.fine().contains("run_completed"), "{}", events.output);
    let shown = call(&["show", "--json", id]).json();
    assert_eq!(shown["output"]["receipt"], "950 EUR to Ann");
    drop(server);
    let refused = call(&["list"]);
    let error = refused.refused();
    assert!(error.contains("the server cannot be reached"), "{error}");
    assert!(!error.contains("secret"), "{error}");
}

/// A process that serves.
struct Serving(Child, String);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Serving {
    fn new(folder: &Folder, more: &[&str]) -> Self {
        let mut command = folder.command(&["serve", "--listen", "127.0.0.1:0"]);
        let mut process = command.args(more).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().to_owned();
        Serving(process, address)
    }

    fn get(&self, path: &str, token: &str) -> String {
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        ))
    }

    fn post(&self, path: &str, json: &str) -> String {
        self.with_json("POST", path, json)
    }

    fn with_json(&self, method: &str, path: &str, json: &str) -> String {
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{json}",
            json.len()
        ))
    }

    fn send(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.1).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

#[test]
fn executions_of_other_processes_are_served_and_worked_on() {
    let folder = Folder::new();
    let detached = folder.call(&[
        "start",
        "--detach",
        "--owner",
        "ann",
        "Claim",
        "employee=Ann",
        "amount=30",
    ]);
    detached.fine();
    let id = detached.error.trim().to_owned();
    std::fs::write(
        folder.place.path().join("tokens"),
        "operator operator-0123456789\nowner ben ben-0123456789abcdef\n",
    )
    .unwrap();
    let serving = Serving::new(&folder, &["--tokens", "tokens"]);
    let path = format!("/executions/{id}?wait=10");
    let answer = serving.get(&path, "operator-0123456789");
    assert!(answer.contains("\"receipt\":\"30 EUR to Ann\""), "{answer}");
    assert!(
        serving
            .get(&path, "ben-0123456789abcdef")
            .starts_with("HTTP/1.1 404")
    );
    assert!(serving.get(&path, "nobody").starts_with("HTTP/1.1 401"));
}

/// A server leaves all work to a worker, which takes it without being told.
#[test]
fn a_worker_does_what_a_server_leaves_to_it() {
    let folder = Folder::new();
    let serving = Serving::new(&folder, &["--concurrent", "0"]);
    let post = |employee: &str| {
        let body = json!({ "employee": employee, "amount": 30 }).to_string();
        let answer = serving.post("/flows/Claim/executions", &body);
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let execution: Value = serde_json::from_str(body).unwrap();
        assert_eq!(execution["status"], "queued", "{answer}");
        execution["id"].as_str().unwrap().to_owned()
    };
    let first = post("Ann");
    let mut work = folder
        .command(&["worker", "--concurrent", "1", "--concurrent-of", "Claim=1"])
        .spawn()
        .unwrap();
    for (id, employee) in [(first, "Ann"), (post("Ben"), "Ben")] {
        let answer = serving.get(&format!("/executions/{id}?wait=10"), "");
        let receipt = format!("\"receipt\":\"30 EUR to {employee}\"");
        assert!(answer.contains(&receipt), "{answer}");
    }
    work.kill().unwrap();
    work.wait().unwrap();
}

/// Asked to end, the process gives up its executions, and ends well.
#[cfg(unix)]
#[test]
fn a_server_that_is_asked_to_end_ends_well() {
    let folder = Folder::new();
    let mut serving = Serving::new(&folder, &[]);
    assert!(serving.get("/health", "").starts_with("HTTP/1.1 200"));
    let id = serving.0.id().to_string();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    assert_eq!(serving.0.wait().unwrap().code(), Some(0));
}
