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
    asking_in(runtime(file).await).await
}

async fn asking_in(runtime: Runtime) -> String {
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
    let (short, rest) = list.split_once(' ').unwrap();
    assert_eq!(short, &id[..8], "{list}");
    assert!(rest.ends_with("paused      Claim\n"), "{list}");
    let shown = call(&format!("show {id}"));
    assert!(
        shown.contains("Pay 950 EUR?") && shown.contains("claim.decision"),
        "{shown}"
    );
    assert_eq!(call(&format!("show {short}")), shown);
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

#[node(writes = receipt)]
fn charge() -> u64 {
    17
}

#[node]
fn refund(_receipt: &u64) -> Result<(), String> {
    Err("the bank is closed".to_owned())
}

flow! {
    Sale(amount: u64) -> () {
        node charge: charge with undo = refund;
        start >> charge >> Decision;
        Decision - "approve" >> end;
        Decision - "reject" >> end;
    }
}

async fn sales(file: &Path) -> Runtime {
    let runtime = Runtime::new(SqliteStore::open(file).await.unwrap());
    runtime.register(Sale::new()).unwrap();
    runtime
}

/// Cancels one that has charged somebody, which a process with the flow has to undo, and ends it as it
/// is.
#[tokio::test]
async fn one_that_is_undone_is_cancelling_and_can_be_ended_as_it_is() {
    let folder = Folder::new();
    let file = folder.path().join("runs.db");
    let runtime = sales(&file).await;
    let started = runtime
        .executions()
        .start::<Sale>(SaleInput { amount: 950 }, StartOptions::new());
    let id = started.await.unwrap().settled().await.unwrap().id();
    runtime.shut_down().await;
    drop(runtime);
    let call = |words: &str| folder.run(&format!("flow executions sqlite:runs.db {words}"));

    let cancelled = call(&format!("cancel {id} late"));
    let expected =
        format!("{id} is cancelling: it is undone in a process that has its flow, and ends then\n");
    assert_eq!(cancelled, expected);
    let list = call("list --status cancelling");
    assert!(list.ends_with("cancelling  Sale\n"), "{list}");
    assert_eq!(call("list --status paused"), "");
    let shown = call(&format!("show {id}"));
    assert!(shown.starts_with("cancelling of Sale\n"), "{shown}");
    assert!(
        shown.contains("\nnot undone yet:\n  sale.charge\n\n"),
        "{shown}"
    );
    assert!(!shown.contains("asks for"), "{shown}");
    let json = call(&format!("show {id} --json"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["status"], "cancelling");
    assert_eq!(json["notUndone"], serde_json::json!(["sale.charge"]));

    // The undo node of whoever has the flow fails.
    let runtime = sales(&file).await;
    runtime.recover().await.unwrap();
    let execution = runtime.executions().get(id).await.unwrap();
    execution.settled().await.unwrap_err();
    runtime.shut_down().await;
    drop((runtime, execution));
    let list = call("list");
    assert!(list.contains("  cancelling  Sale  halted: "), "{list}");
    let refused = call(&format!("retry {id}"));
    assert!(
        refused.contains("Sale") && refused.ends_with("[exit code 2]"),
        "{refused}"
    );
    let refused = call(&format!("cancel {id} late"));
    assert!(
        refused.contains("--without-undoing") && refused.ends_with("[exit code 2]"),
        "{refused}"
    );
    let ended = call(&format!("cancel {id} enough --without-undoing"));
    assert_eq!(
        ended,
        format!("{id} is cancelled\nnot undone:\n  sale.charge\n")
    );
    let shown = call(&format!("show {id}"));
    assert!(
        shown.contains("\nbecause enough\nnot undone:\n  sale.charge\n\n"),
        "{shown}"
    );
    let refused = call(&format!("cancel {id} again --without-undoing"));
    assert!(refused.contains("is cancelled already"), "{refused}");
}

flow! {
    Refund(receipt: u64) {
        start >> refund >> end;
    }
}

/// Without its flow, one that has failed is told to continue, and whoever has the flow continues it.
#[tokio::test]
async fn one_that_has_failed_is_retried() {
    let folder = Folder::new();
    let file = folder.path().join("runs.db");
    let refunds = async || {
        let runtime = Runtime::new(SqliteStore::open(&file).await.unwrap());
        runtime.register(Refund::new()).unwrap();
        runtime
    };
    let runtime = refunds().await;
    let input = RefundInput { receipt: 17 };
    let started = runtime
        .executions()
        .start::<Refund>(input, StartOptions::new());
    let id = started.await.unwrap().settled().await.unwrap().id();
    runtime.shut_down().await;
    drop(runtime);
    let call = |words: &str| folder.run(&format!("flow executions sqlite:runs.db {words}"));
    let retried = call(&format!("retry {id}"));
    let expected = format!("{id} continues in a process that has its flow\n");
    assert_eq!(retried, expected);
    let shown = call(&format!("show {id}"));
    assert!(shown.starts_with("running of Refund\n"), "{shown}");
    let refused = call(&format!("retry {id}"));
    let told = format!("{id} has not failed, and is not halted");
    assert!(refused.contains(&told), "{refused}");

    let runtime = refunds().await;
    runtime.recover().await.unwrap();
    let execution = runtime.executions().get(id).await.unwrap();
    let failed = execution.settled().await.unwrap();
    assert_eq!(failed.status(), Status::Failed);
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
    let folder = folder.with("text.db", "not a database");
    let text = folder.run("executions sqlite:text.db list");
    assert!(
        text.contains("text.db") && text.ends_with("[exit code 2]"),
        "{text}"
    );
}

/// With a store or without one.
#[test]
fn the_help_names_commands_stores_and_examples() {
    let folder = Folder::new();
    let help = folder.run("executions --help");
    for words in [
        "Usage: cargo flow executions [OPTIONS] <STORE> <COMMAND>",
        "  sqlite:runs.db ",
        "  postgres://user@host/database ",
        "  redis://user@host:port ",
        "  cargo flow executions sqlite:runs.db list --status paused",
    ] {
        assert!(help.contains(words), "{words} in {help}");
    }
    assert_eq!(folder.run("executions sqlite:none.db --help"), help);
    for command in [
        "list", "show", "events", "answer", "signal", "cancel", "copy", "delete",
    ] {
        assert!(help.contains(&format!("\n  {command}  ")), "{help}");
        let help = folder.run(&format!("executions {command} --help"));
        for words in [
            &format!("Usage: cargo flow executions <STORE> {command} "),
            &format!("\n  cargo flow executions STORE {command} "),
            "`postgres://user@host/database`",
        ] {
            assert!(help.contains(words), "{words} in {help}");
        }
        let others = [
            format!("executions sqlite:none.db {command} --help"),
            format!("executions help {command}"),
        ];
        for words in others {
            assert_eq!(folder.run(&words), help, "{words}");
        }
    }
    assert!(!folder.path().join("none.db").exists());
    let short = folder.run("executions show 019a4c1e");
    assert!(short.contains("not provided:\n  <STORE>"), "{short}");
}

/// The ids of executions that were started in one moment begin alike.
#[tokio::test]
async fn the_ids_in_lists_are_as_long_as_they_need_to_be() {
    let folder = Folder::new();
    let file = folder.path().join("runs.db");
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(asking(&file).await);
    }
    let call = |words: &str| folder.run(&format!("executions sqlite:runs.db {words}"));
    call(&format!("cancel {} no", ids[3]));
    let all = call("list");
    let short: Vec<&str> = all
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(short.len(), 12, "{all}");
    for (short, id) in short.iter().zip(ids.iter().rev()) {
        assert!(id.starts_with(short) && short.len() < id.len(), "{all}");
        let shown = call(&format!("show {short} --json"));
        assert!(shown.contains(id.as_str()), "{short}: {shown}");
        // One digit less is not enough, unless it is a short one anyway.
        let less = &short[..short.len() - 1];
        if less.len() >= 8 {
            assert!(
                call(&format!("show {less}")).contains("several executions"),
                "{less}"
            );
        }
    }
    // Also of those that are not in the list.
    let listed = call("list --status cancelled");
    assert_eq!(listed.split(' ').next(), Some(short[8]), "{listed}");
    let older = call(&format!("list --before {} --limit 2", short[8]));
    let older: Vec<&str> = older
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(older[..2], short[9..11], "{older:?}");

    let several = call(&format!("delete {}", &ids[0][..4]));
    let lines: Vec<&str> = several.lines().map(str::trim).collect();
    assert_eq!(
        lines[1],
        format!(
            "error: the ids of several executions begin with `{}`:",
            &ids[0][..4]
        )
    );
    let newest: Vec<&str> = ids.iter().rev().take(10).map(String::as_str).collect();
    assert_eq!(lines[2..12], newest);
    assert_eq!(lines[12..], ["and more", "[exit code 2]"]);
    assert_eq!(call("list"), all, "nothing is removed");
    let none = call("show 0000");
    assert!(
        none.contains("there is no execution `0000`: write an id"),
        "{none}"
    );
}

/// A store that is not a file has the same commands.
#[cfg(any(feature = "postgres", feature = "redis"))]
async fn a_server_is_a_store(url: &str, runtime: Runtime) {
    runtime.register(Claim::new()).unwrap();
    let id = asking_in(runtime).await;
    let folder = Folder::new().with("same.json", Claim::SPEC);
    let call = |words: &str| folder.run(&format!("executions {url} {words}"));
    let list = call("list --status paused");
    let (short, _) = list.split_once(' ').unwrap();
    assert!(id.starts_with(short) && short.len() < id.len(), "{list}");
    let shown = call(&format!("show {short}"));
    assert!(shown.contains("Pay 950 EUR?"), "{shown}");
    let cancelled = call(&format!("cancel {short} no"));
    assert_eq!(cancelled, format!("{id} is cancelled\n"));
    let none = call("show 0000");
    assert!(none.contains("there is no execution `0000`"), "{none}");
    let diff = folder.run(&format!("diff same.json --store {url}"));
    assert_eq!(diff, "all executions can continue\n");
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_postgres_database_is_a_store() {
    let Some(server) = flow_services::Postgres::start() else {
        return;
    };
    let url = server.url();
    let store = flow_terminal::StoreAddress::from(url.as_str());
    a_server_is_a_store(&url, store.open().await.unwrap()).await;
}

#[cfg(feature = "redis")]
#[tokio::test]
async fn a_redis_server_is_a_store() {
    let Some(server) = flow_services::Redis::start() else {
        return;
    };
    let url = server.url();
    let store = flow_terminal::StoreAddress::from(url.as_str());
    a_server_is_a_store(&url, store.open().await.unwrap()).await;
}

#[test]
fn a_missing_feature_is_named() {
    let folder = Folder::new().with("same.json", Claim::SPEC);
    let urls = [
        (
            "postgres://me@127.0.0.1:1/flows",
            "postgres",
            cfg!(feature = "postgres"),
        ),
        ("redis://127.0.0.1:1", "redis", cfg!(feature = "redis")),
    ];
    for (url, feature, is_on) in urls {
        for words in [
            format!("executions {url} list"),
            format!("diff same.json --store {url}"),
        ] {
            let told = folder.run(&words);
            let expected = format!("built without the feature `{feature}`");
            assert_eq!(told.contains(&expected), !is_on, "{words}: {told}");
            assert!(told.ends_with("[exit code 2]"), "{told}");
        }
    }
}
