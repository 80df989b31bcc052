//! `cargo flow executions`, on a store that a program without a word to it has made.

use std::path::Path;

use flow_durable::{Runtime, StartOptions, Status};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};

use crate::program::Folder;

#[node(human = "Pay {amount} EUR?")]
#[derive(Serialize, Deserialize)]
enum Decision {
    Approve { comment: String },
    Reject,
}

#[node]
fn pay(amount: &u64) -> String {
    format!("paid {amount} EUR")
}

flow! {
    Claim(amount: u64) -> (pay: Option<String>) {
        start >> Decision;
        Decision - "approve" >> pay >> end;
        Decision - "reject"  >> end("rejected");
    }
}

/// Starts a claim, which asks, and returns its id.
async fn asking(file: &Path) -> String {
    let runtime = runtime(file).await;
    let input = ClaimInput { amount: 950 };
    let execution = runtime
        .executions()
        .start::<Claim>(input, StartOptions::new())
        .await
        .unwrap();
    let id = execution.settled().await.unwrap().id().to_string();
    runtime.shut_down().await;
    id
}

async fn runtime(file: &Path) -> Runtime {
    let runtime = Runtime::new(SqliteStore::open(file).await.unwrap());
    runtime.register(Claim::new()).unwrap();
    runtime
}

/// Which executions of a store a version breaks, that a diff of documents cannot know.
#[tokio::test]
async fn a_version_is_compared_with_the_executions_of_a_store() {
    let folder = Folder::new();
    let file = folder.path().join("runs.db");
    let id = asking(&file).await;
    let same = Claim::SPEC.to_owned();
    let renamed = same.replace("\"decision\"", "\"verdict\"");
    assert_ne!(same, renamed);
    let folder = folder.with("same.json", same).with("renamed.json", renamed);
    let call = |file: &str| folder.run(&format!("flow diff {file} --store sqlite:runs.db"));
    assert_eq!(call("same.json"), "all executions can continue\n");
    let told = call("renamed.json");
    assert!(
        told.starts_with(&format!("{id} may not continue:\n")),
        "{told}"
    );
    assert!(
        told.contains("node `decision` was renamed to `verdict`"),
        "{told}"
    );
    assert!(told.contains("[exit code 1]"), "{told}");
}

#[tokio::test]
async fn a_store_is_looked_into_without_its_flows() {
    let folder = Folder::new();
    let file = folder.path().join("runs.db");
    let id = asking(&file).await;
    let call = |words: &str| folder.run(&format!("flow executions sqlite:runs.db {words}"));

    let list = call("list --status paused");
    assert!(
        list.starts_with(&id) && list.ends_with("paused     Claim\n"),
        "{list}"
    );
    let shown = call(&format!("show {id}"));
    assert!(
        shown.contains("Pay 950 EUR?") && shown.contains("claim.decision"),
        "{shown}"
    );
    let json = call(&format!("show {id} --json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["questions"][0]["expected"], "Decision");
    let state = call(&format!("show {id} --at 0"));
    assert!(state.contains("\"amount\": 950"), "{state}");

    let refused = call(&format!("answer {id} perhaps"));
    assert!(
        refused.contains("asks for a `Decision`") && refused.ends_with("[exit code 2]"),
        "{refused}"
    );
    let answered = call(&format!(r#"answer {id} {{"Approve":{{"comment":"fun"}}}}"#));
    assert!(
        answered.starts_with(&format!("{id} is answered")),
        "{answered}"
    );

    // Whoever has the flow goes on.
    let runtime = runtime(&file).await;
    runtime.recover().await.unwrap();
    let execution = runtime.executions().get(id.parse().unwrap()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(
        execution.output::<Claim>().unwrap().unwrap().pay.as_deref(),
        Some("paid 950 EUR")
    );
    runtime.shut_down().await;
    let events = call(&format!("events {id}"));
    assert!(
        events.lines().last().unwrap().contains("run_completed"),
        "{events}"
    );
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new();
    let none = folder.run("executions sqlite:none.db list");
    assert!(
        none.contains("there is no store `none.db`") && none.ends_with("[exit code 2]"),
        "{none}"
    );
    assert!(!folder.path().join("none.db").exists());
    let address = folder.run("executions runs.db list");
    assert!(
        address.contains("write `sqlite:` and the path of a file"),
        "{address}"
    );
    for address in [
        "POSTGRES://me:secret@127.0.0.1:1/flows?connect_timeout=1",
        "postgres://me:secret@127.0.0.1:1/flows?connect_timeout=1&password=a@secret",
        "redis://:secret@127.0.0.1:1/0?naem=a",
        "REDISS://me:secret@127.0.0.1:1/0",
        "mysql://me:secret@host/flows",
        "me:secret@host/flows",
    ] {
        for words in ["list", "--help", "remove"] {
            let told = folder.run(&format!("executions {address} {words}"));
            assert!(!told.contains("secret"), "{told}");
        }
    }
    let command = folder.run("executions sqlite:none.db remove");
    assert!(
        command.contains("remove") && command.ends_with("[exit code 2]"),
        "{command}"
    );
    let help = folder.run("executions sqlite:none.db --help");
    assert!(
        help.contains("cancel") && help.contains("Usage: cargo flow executions sqlite:none.db"),
        "{help}"
    );
    let folder = folder.with("text.db", "not a database");
    let text = folder.run("executions sqlite:text.db list");
    assert!(
        text.contains("text.db") && text.ends_with("[exit code 2]"),
        "{text}"
    );
}
