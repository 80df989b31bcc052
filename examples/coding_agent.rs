//! A coding agent: a model lists, searches, reads and patches the files of a folder until a check
//! passes. A person approves each call that changes or runs something.
//!
//! ```text
//! cargo run -p flow-examples --features files --example coding_agent
//! cargo run -p flow-examples --features files,genai --example coding_agent -- --model ollama:qwen3
//! ```
//!
//! The check is a fixed command, which the model can start but not choose: `rustc` compiles the
//! folder. The tests are constants, so no program that the model has written runs. The run is
//! over when the check passes, not when the model says so.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use tokio::process::Command;
use typed_flows::Question;
use typed_flows::agents::agent::{
    AgentEvent, Approval, ApprovedCall, CallTool, KeepResults, NeedsApproval, Think,
};
use typed_flows::agents::kit::{Folder, FsEdit, FsRead};
use typed_flows::agents::{Message, Messages, Model, ScriptedModel, tools};
use typed_flows::prelude::*;

const MOST_TURNS: u32 = 20;

/// The files of the folder, with a bug.
const FILES: [(&str, &str); 3] = [
    (
        "AGENTS.md",
        "`checks.rs` says what is right, and stays as it is.\n",
    ),
    (
        "checks.rs",
        "mod year;\n\n\
         const _: () = assert!(year::is_leap(2024) && !year::is_leap(2023));\n\
         const _: () = assert!(!year::is_leap(1900));\n\
         const _: () = assert!(year::is_leap(2000));\n",
    ),
    (
        "year.rs",
        "pub const fn is_leap(year: u32) -> bool {\n    year % 4 == 0\n}\n",
    ),
];

/// Keeps the reason why a text was not replaced.
#[node(writes = reason)]
fn explain(error: &NodeError) -> String {
    error.error().to_string()
}

/// Finds the passage that has the most words in common with a text.
#[node(writes = most_similar)]
fn suggest(text: &str, old_string: &str) -> Option<String> {
    let wanted: BTreeSet<&str> = old_string.split_whitespace().collect();
    let likeness = |passage: &String| {
        let words: BTreeSet<&str> = passage.split_whitespace().collect();
        words.intersection(&wanted).count()
    };
    let lines: Vec<&str> = text.lines().collect();
    let height = old_string.lines().count().clamp(1, lines.len().max(1));
    let passages = lines.windows(height).map(|lines| lines.join("\n"));
    passages.max_by_key(likeness)
}

flow! {
    /// Replaces a text that occurs in a file exactly once. If it does not, the file stays as it is,
    /// and the result is the passage of it that is most similar.
    PatchFile(
        /// The file.
        path: String,
        /// The text to replace, exactly as it is in the file.
        old_string: String,
        /// The text to put in its place.
        new_string: String,
    ) -> (reason: Option<String>, most_similar: Option<String>) {
        node edit: FsEdit;
        node read: FsRead { fs_read -> text };

        start >> edit >> end("patched");
        edit - "error" >> explain >> read >> suggest >> end("refused");
    }
}

/// The result of the check.
#[derive(Action)]
enum Checked {
    Passed,
    Failed { errors: String },
}

struct RunCheck {
    folder: PathBuf,
}

/// Compiles `checks.rs` and the files that it names. Returns the errors, or that there are none.
#[node(actions = Checked, timeout = "60s")]
impl RunCheck {
    async fn exec(&self) -> Result<Checked, String> {
        let mut rustc = Command::new("rustc");
        rustc.args([
            "--edition=2024",
            "--crate-type=lib",
            "--emit=metadata=-",
            "checks.rs",
        ]);
        rustc.current_dir(&self.folder).kill_on_drop(true);
        let output = rustc.output().await;
        let output = output.map_err(|error| format!("`rustc` does not start: {error}"))?;
        if output.status.success() {
            return Ok(Checked::Passed);
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        let errors = errors.chars().take(4_000).collect();
        Ok(Checked::Failed { errors })
    }
}

/// Begins the conversation, with the rules of the folder if it has some.
#[node(writes = messages)]
fn begin(task: &str, rules: Option<&str>) -> Messages {
    let mut messages = Messages::from_iter([Message::user(task)]);
    if let Some(rules) = rules {
        messages.push(Message::system(format!(
            "The rules of the folder:\n{rules}"
        )));
    }
    messages
}

/// Tells the model that it is not done.
#[node(writes = +messages)]
fn object(errors: &str) -> Message {
    Message::user(format!("The check fails:\n{errors}"))
}

flow! {
    /// Works on a folder until its check passes.
    CodingAgent(task: String, rules_file: String = "AGENTS.md".to_owned()) -> (
        messages: Messages,
        turns: u32,
        answer: Option<String>,
    ) {
        node read_rules: FsRead { path <- rules_file, fs_read -> rules };
        node think: Think;
        node approved_call: ApprovedCall;
        // One after the other: a check sees the patches before it.
        node results: for call in calls { approved_call };
        node keep_results: KeepResults { results -> +messages };
        node run_check: RunCheck;

        start >> read_rules >> begin >> think;
        read_rules - "error"      >> begin;
        think      - "call"       >> results >> keep_results >> think;
        think      - "done"       >> run_check;
        think      - "limit"      >> end("unfinished");
        think      - "incomplete" >> end("unfinished");
        think      - "budget"     >> end("unfinished");
        run_check  - "passed"     >> end;
        run_check  - "failed"     >> object >> think;
    }
}

/// Creates the agent for a folder. It asks before all calls that do more than read.
fn agent(model: Arc<dyn Model>, folder: &Path) -> Result<CodingAgent, Box<dyn Error>> {
    let files = Folder::open(folder)?;
    let run_check = || RunCheck {
        folder: folder.to_owned(),
    };
    let patch_file = PatchFile::builder()
        .edit(FsEdit::new(&files))
        .read(FsRead::new(&files))
        .build();
    let reading = files.reading_tools();
    let mut tools = tools![PatchFile = patch_file, RunCheck = run_check()];
    tools.extend(&reading)?;
    let call_tool = CallTool::new(tools.clone());
    let needs_approval = NeedsApproval::except(reading.names());
    let approved_call = ApprovedCall::builder()
        .needs_approval(needs_approval.unless_refused_by(&call_tool))
        .call_tool(call_tool)
        .build();
    Ok(CodingAgent::builder()
        .read_rules(FsRead::new(&files))
        .think(Think::new(model, tools).turns(MOST_TURNS))
        .approved_call(approved_call)
        .run_check(run_check())
        .build())
}

/// Prints the calls and their results.
struct Show;

impl Observer for Show {
    fn on_event(&self, event: &Event<'_>) {
        let EventKind::DeltaJson(json) = event.kind() else {
            return;
        };
        match serde_json::from_str(json) {
            Ok(AgentEvent::ToolStarted {
                tool, arguments, ..
            }) => println!("\n{tool} {arguments}"),
            Ok(AgentEvent::ToolFinished { output, .. }) => println!("{output}"),
            _ => {}
        }
    }
}

/// The person at the terminal: anything but `yes` is the reason why a call is rejected.
fn person(question: &Question) -> Approval {
    print!("\n{} (yes, or why not) ", question.prompt());
    let mut line = String::new();
    let shown = io::stdout().flush();
    let read = shown.and_then(|()| io::stdin().read_line(&mut line));
    match line.trim() {
        "yes" if read.is_ok() => Approval::Approved,
        reason => Approval::Rejected {
            reason: reason.to_owned(),
        },
    }
}

/// Stands for the person: the tests may not be patched.
fn scripted_person(question: &Question) -> Approval {
    println!("\n{}", question.prompt());
    if question.prompt().contains("checks.rs") {
        let reason = "the checks are right".to_owned();
        return Approval::Rejected { reason };
    }
    Approval::Approved
}

/// Sample replies of a model. It tries to patch the tests, misremembers the code, and says that it
/// is done before it is.
fn script() -> ScriptedModel {
    let patch = |path: &str, old: &str, new: &str| {
        let arguments = json!({ "path": path, "old_string": old, "new_string": new });
        ("patch_file", arguments)
    };
    let (by_4, by_100) = ("year % 4 == 0", "year % 4 == 0 && year % 100 != 0");
    let right = "year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)";
    ScriptedModel::new()
        .calls([
            ("run_check", json!({})),
            ("fs_grep", json!({ "pattern": "fn is_leap" })),
        ])
        .calls([patch(
            "checks.rs",
            "!year::is_leap(1900)",
            "year::is_leap(1900)",
        )])
        .calls([patch("year.rs", "return year % 4 == 0;", by_100)])
        .calls([patch("year.rs", by_4, by_100)])
        .text("Years such as 1900 are no leap years now.")
        .calls([patch("year.rs", by_100, right), ("run_check", json!({}))])
        .text("The check passes.")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let chosen = flow_examples::model(script())?;
    let folder = tempfile::tempdir()?;
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text)?;
    }
    let options = match &chosen.script {
        Some(_) => RunOptions::answer(scripted_person),
        None => RunOptions::answer(person),
    };
    let flow = agent(chosen.model, folder.path())?;
    let task = "Run the check, and mend the code until it passes.".to_owned();
    let input = CodingAgentInput::builder().task(task).build();
    let output = flow
        .run_with(input, options.observer(Arc::new(Show)))
        .await?;
    let code = std::fs::read_to_string(folder.path().join("year.rs"))?;
    println!(
        "\n{} after {} turns: {}\n{code}",
        output.end,
        output.turns,
        output.answer.unwrap_or_default()
    );

    if let Some(script) = chosen.script {
        script.assert_used();
        assert_eq!((output.end, output.turns), (CodingAgentEnd::Default, 7));
        assert!(code.contains("year % 400 == 0"));
        let requests = script.requests();
        let rules = requests[0].messages[0].text();
        assert!(rules.ends_with(FILES[0].1), "{rules}");
        let told = |turn: usize| requests[turn].messages.last().map(Message::text);
        for (turn, text) in [
            (2, "Error: a person rejected the call: the checks are right"),
            (3, r#""most_similar":"    year % 4 == 0""#),
            (5, "The check fails:\nerror"),
            (6, r#"{"action":"passed"}"#),
        ] {
            let told = told(turn).unwrap_or_default();
            assert!(told.contains(text), "{told}");
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/coding_agent.rs"]
mod law;
