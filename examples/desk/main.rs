//! Tests `approval_desk` call by call. Each call is a separate process, so one call learns about
//! another only from the file.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};
use tempfile::TempDir;

/// An id that no execution has.
const NOBODY: &str = "01a2023c-1a0b-7ef6-99f2-d46d4e222107";

static PROGRAM: LazyLock<PathBuf> =
    LazyLock::new(|| flow_services::example("flow-examples", "approval_desk", &[]));

/// A desk with a file of its own.
struct Desk(TempDir);

/// A claim as printed in one line, without its age.
#[derive(Debug, PartialEq)]
struct Claim {
    id: String,
    status: String,
    about: String,
}

impl Desk {
    fn new() -> Self {
        Desk(tempfile::tempdir().unwrap())
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut program = Command::new(&*PROGRAM);
        program.args(arguments);
        program.arg("--file").arg(self.0.path().join("claims.db"));
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        program.spawn().unwrap()
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.start(arguments).wait_with_output().unwrap()
    }

    /// The output of a call that succeeds.
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(text(&output.stderr), "");
        text(&output.stdout)
    }

    /// The claim that a call prints.
    fn claim(&self, arguments: &[&str]) -> Claim {
        let mut claims = claims(&self.prints(arguments));
        assert_eq!(claims.len(), 1);
        claims.remove(0)
    }

    /// The error message of a call that fails.
    fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(text(&output.stdout), "");
        text(&output.stderr)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn claims(lines: &str) -> Vec<Claim> {
    let claims = lines.lines().map(|line| {
        let columns: Vec<&str> = columns(line);
        let [id, status, _age, about] = columns[..] else {
            panic!("four columns are expected: {line}");
        };
        Claim {
            id: id.to_owned(),
            status: status.to_owned(),
            about: about.to_owned(),
        }
    });
    claims.collect()
}

fn columns(line: &str) -> Vec<&str> {
    let columns = line.split("  ").map(str::trim);
    columns.filter(|column| !column.is_empty()).collect()
}

#[test]
fn a_small_claim_is_paid_at_once() {
    let desk = Desk::new();
    let claim = desk.claim(&["submit", "Ben", "100", "a train ticket"]);
    assert_eq!(claim.status, "completed");
    assert_eq!(claim.about, "Ben: we have paid for a train ticket");
    assert_eq!(
        desk.fails(1, &["approve", &claim.id]),
        format!(
            "error: claim {} needs no approval: it is completed\n",
            claim.id
        )
    );
}

#[test]
fn a_large_claim_waits_for_a_person_in_another_process() {
    let desk = Desk::new();
    let asked = desk.claim(&["submit", "Ann", "950", "a conference"]);
    assert_eq!(asked.status, "paused");
    assert_eq!(
        asked.about,
        "Approve 950 EUR for Ann: a conference? (13 d left)"
    );
    let other = desk.claim(&["submit", "Eve", "101", "a chair"]);
    assert_eq!(
        claims(&desk.prints(&["list"])),
        [
            Claim {
                id: other.id,
                status: "paused".into(),
                about: "Approve 101 EUR for Eve: a chair? (13 d left)".into(),
            },
            Claim {
                id: asked.id.clone(),
                status: "paused".into(),
                about: "Approve 950 EUR for Ann: a conference? (13 d left)".into(),
            }
        ]
    );

    let approved = desk.claim(&["approve", &asked.id, "--comment", "have fun"]);
    assert_eq!(approved.id, asked.id);
    assert_eq!(approved.status, "completed");
    assert_eq!(
        approved.about,
        "Ann: we have paid for a conference (have fun)"
    );
    let listed = claims(&desk.prints(&["list"]));
    assert_eq!(listed[1], approved);
    assert_eq!(listed[0].status, "paused");
}

#[test]
fn a_claim_is_decided_once() {
    let desk = Desk::new();
    let asked = desk.claim(&["submit", "Ann", "950", "a conference"]);
    let rejected = desk.claim(&["reject", &asked.id, "--reason", "it is too far"]);
    assert_eq!(rejected.status, "completed");
    assert_eq!(
        rejected.about,
        "Ann: we do not pay for a conference, it is too far"
    );
    let decided = format!(
        "error: claim {} has been decided already: it is completed\n",
        asked.id
    );
    assert_eq!(desk.fails(1, &["approve", &asked.id]), decided);
    assert_eq!(
        desk.fails(1, &["reject", &asked.id, "--reason", "still too far"]),
        decided
    );
    assert_eq!(claims(&desk.prints(&["list"])), [rejected]);
}

#[test]
fn of_several_processes_that_decide_at_the_same_time_one_does() {
    let desk = Desk::new();
    let asked = desk.claim(&["submit", "Ann", "950", "a conference"]);
    let calls = [0, 1, 2, 3].map(|number| {
        let reason = format!("reason {number}");
        desk.start(&["reject", &asked.id, "--reason", &reason])
    });
    let outputs = calls.map(|call| call.wait_with_output().unwrap());
    let (decided, late): (Vec<_>, Vec<_>) = outputs
        .into_iter()
        .partition(|output| output.status.success());
    assert_eq!((decided.len(), late.len()), (1, 3));
    for output in late {
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(" already"), "{output:?}");
    }
    assert_eq!(
        claims(&desk.prints(&["list"])),
        claims(&text(&decided[0].stdout))
    );
}

#[test]
fn a_claim_with_an_id_is_submitted_once() {
    let desk = Desk::new();
    let submit = ["submit", "Ann", "950", "a conference", "--id", "trip 7"];
    let first = desk.claim(&submit);
    assert_eq!(desk.claim(&submit), first);
    assert_eq!(claims(&desk.prints(&["list"])).len(), 1);
    let paid = desk.claim(&["approve", &first.id]);
    assert_eq!(desk.claim(&submit), paid);
    let other = desk.claim(&["submit", "Ann", "950", "a conference", "--id", "trip 8"]);
    assert_ne!(other.id, first.id);
}

#[test]
fn the_log_has_what_all_the_processes_recorded() {
    let desk = Desk::new();
    let claim = desk.claim(&["submit", "Ann", "950", "a conference"]);
    desk.claim(&["approve", &claim.id]);
    let log = desk.prints(&["log", &claim.id]).replace(&claim.id, "…");
    let records: Vec<Vec<&str>> = log
        .lines()
        .map(|line| columns(line)[1..].to_vec())
        .collect();

    let payload = |kind: &str| -> Value {
        let record = records.iter().find(|record| record[0] == kind).unwrap();
        serde_json::from_str(record[2]).unwrap()
    };
    let (asked, answered) = (payload("paused"), payload("resumed"));
    assert_eq!(
        asked["prompt"],
        json!("Approve 950 EUR for Ann: a conference?")
    );
    assert_eq!(asked["expected"], json!("Decision"));
    assert_eq!(asked["token"], answered["token"]);
    assert_eq!(answered["answer"], json!({ "Approve": { "comment": "" } }));

    let shown = records.iter().map(|record| match record[0] {
        "paused" | "resumed" => record[..2].join(" ") + "\n",
        _ => record.join(" ") + "\n",
    });
    assert_eq!(
        shown.collect::<String>(),
        r#"run_started expense_claim {"employee":"Ann","amount":950,"purpose":"a conference"}
node_started expense_claim.measure
outcome expense_claim.measure "Large"
node_finished expense_claim.measure large
node_started expense_claim.decision
paused expense_claim.decision
resumed expense_claim.decision
node_finished expense_claim.decision approve
node_started expense_claim.pay
outcome expense_claim.pay "950 EUR to Ann, reference …/expense_claim.pay"
node_finished expense_claim.pay default
node_started expense_claim.tell_paid
outcome expense_claim.tell_paid "Ann: we have paid for a conference"
node_finished expense_claim.tell_paid default
flow_ended expense_claim paid
run_completed expense_claim {"receipt":"950 EUR to Ann, reference …/expense_claim.pay","message":"Ann: we have paid for a conference","end":"paid"}
"#
    );
}

/// AF-15, for a program instead of a server: the error for an unknown execution differs from the
/// one for an execution that cannot be decided.
#[test]
fn what_is_not_there_is_an_error() {
    let desk = Desk::new();
    desk.claim(&["submit", "Ann", "950", "a conference"]);
    let not_there = format!("error: there is no execution {NOBODY}\n");
    assert_eq!(desk.fails(1, &["approve", NOBODY]), not_there);
    let reject = ["reject", NOBODY, "--reason", "who is that"];
    assert_eq!(desk.fails(1, &reject), not_there);
    assert_eq!(desk.fails(1, &["log", NOBODY]), not_there);
    assert_eq!(claims(&desk.prints(&["list"]))[0].status, "paused");
}

#[test]
fn a_file_of_something_else_is_an_error() {
    let desk = Desk::new();
    std::fs::write(
        desk.0.path().join("claims.db"),
        "claims, by hand. ".repeat(99),
    )
    .unwrap();
    let error = desk.fails(1, &["list"]);
    assert!(error.contains("it is not an SQLite file"), "{error}");
}

#[test]
fn a_call_that_makes_no_sense_says_how_to_call_it() {
    let desk = Desk::new();
    let error = desk.fails(2, &["pay", "Ann"]);
    assert!(error.contains("unrecognized subcommand 'pay'"), "{error}");
    assert!(error.contains("Usage: approval_desk"), "{error}");
    let error = desk.fails(2, &["approve", "7"]);
    assert!(
        error.contains("`7` is not the id of an execution"),
        "{error}"
    );
    let error = desk.fails(2, &["reject", NOBODY]);
    assert!(error.contains("--reason <REASON>"), "{error}");
    desk.fails(2, &["submit", "Ann", "0", "nothing"]);
    assert!(!desk.0.path().join("claims.db").exists());
}
