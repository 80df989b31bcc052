//! A desk for expense claims: small claims are paid at once, larger ones after an approval, perhaps
//! days later. Each call is a separate process, and the state between calls is in an SQLite file.
//!
//! ```text
//! cargo run -p flow-examples --example approval_desk -- submit Ann 950 "a conference"
//! cargo run -p flow-examples --example approval_desk -- list
//! cargo run -p flow-examples --example approval_desk -- approve 01a5… --comment "have fun"
//! cargo run -p flow-examples --example approval_desk -- log 01a5…
//! ```
//!
//! Without arguments, it demonstrates these calls with a temporary file.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Parser, Subcommand};
use serde::{Deserialize, Serialize};
use typed_flows::durable::{
    Execution, ExecutionId, ListOptions, OpenQuestion, RecordKind, Runtime, StartOptions, Status,
};
use typed_flows::prelude::*;
use typed_flows::sqlite::SqliteStore;

/// Claims above this amount need an approval, in EUR.
const LIMIT: u64 = 100;

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn measure(amount: &u64) -> Size {
    match *amount {
        0..=LIMIT => Size::Small,
        _ => Size::Large,
    }
}

/// A decision at the desk.
#[node(
    human = "Approve {amount} EUR for {employee}: {purpose}?",
    timeout = "14d"
)]
#[derive(Serialize, Deserialize)]
enum Decision {
    Approve { comment: String },
    Reject { reason: String },
}

/// Stands in for a bank. If the process dies before the receipt is recorded, the transfer is
/// repeated with the same reference, so that a bank recognises the repetition.
#[node(writes = receipt)]
fn pay(cx: &Context, amount: &u64, employee: &str) -> String {
    let reference = cx.step_id();
    format!("{amount} EUR to {employee}, reference {reference}")
}

#[node(writes = message)]
fn tell_paid(employee: &str, purpose: &str, comment: Option<&str>) -> String {
    match comment {
        None | Some("") => format!("{employee}: we have paid for {purpose}"),
        Some(comment) => format!("{employee}: we have paid for {purpose} ({comment})"),
    }
}

#[node(writes = message)]
fn tell_rejected(employee: &str, purpose: &str, reason: &str) -> String {
    format!("{employee}: we do not pay for {purpose}, {reason}")
}

#[node(writes = message)]
fn tell_late(employee: &str, purpose: &str) -> String {
    format!("{employee}: nobody has decided on {purpose}, please submit it again")
}

flow! {
    /// Pays an expense claim, after an approval if it is large.
    ExpenseClaim(employee: String, amount: u64, purpose: String) -> (
        receipt: Option<String>,
        message: String,
    ) {
        start >> measure;
        measure  - "small"   >> pay;
        measure  - "large"   >> Decision;
        Decision - "approve" >> pay;
        Decision - "reject"  >> tell_rejected >> end("rejected");
        Decision - "timeout" >> tell_late >> end("expired");
        pay >> tell_paid >> end("paid");
    }
}

/// A desk for expense claims.
#[derive(Parser)]
#[command(name = "approval_desk")]
struct Arguments {
    /// The file with the claims
    #[arg(long, global = true, default_value = "approval_desk.db")]
    file: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Submit a claim
    Submit {
        employee: String,
        /// In EUR
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        amount: u64,
        purpose: String,
        /// A name for the claim: submitting it again shows its status
        #[arg(long)]
        id: Option<String>,
    },
    /// List all claims, the newest first
    List,
    /// Approve a claim
    Approve {
        execution: ExecutionId,
        #[arg(long, default_value = "")]
        comment: String,
    },
    /// Reject a claim
    Reject {
        execution: ExecutionId,
        #[arg(long)]
        reason: String,
    },
    /// Show the history of a claim, one line per record
    Log { execution: ExecutionId },
}

/// Opens a runtime with the flow, and resumes the executions that other processes left.
async fn open(file: &Path) -> Result<Runtime, Box<dyn Error>> {
    let runtime = Runtime::new(SqliteStore::open(file).await?);
    runtime.register(ExpenseClaim::new())?;
    let recovered = runtime.recover().await?;
    for id in recovered.resumed {
        runtime.executions().get(id).await?.settled().await?;
    }
    for (_, error) in recovered.refused {
        eprintln!("warning: {error}");
    }
    Ok(runtime)
}

async fn carry_out(runtime: &Runtime, command: Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Submit {
            employee,
            amount,
            purpose,
            id,
        } => {
            let mut options = StartOptions::new();
            if let Some(id) = id {
                options = options.idempotency_key(id);
            }
            let input = ExpenseClaimInput {
                employee,
                amount,
                purpose,
            };
            let execution = runtime
                .executions()
                .start::<ExpenseClaim>(input, options)
                .await?;
            println!("{}", line(&execution.settled().await?).await?);
        }
        Command::List => {
            for execution in runtime.executions().list(ListOptions::new()).await? {
                println!("{}", line(&execution).await?);
            }
        }
        Command::Approve { execution, comment } => {
            decide(runtime, execution, Decision::Approve { comment }).await?;
        }
        Command::Reject { execution, reason } => {
            decide(runtime, execution, Decision::Reject { reason }).await?;
        }
        Command::Log { execution } => {
            let execution = runtime.executions().get(execution).await?;
            for record in execution.journal().await? {
                let after = since(execution.created_at(), record.at());
                let (kind, path) = (record.kind.as_str(), record.path);
                println!("{after:>6}  {kind:<13}  {path}  {}", record.payload);
            }
        }
    }
    Ok(())
}

/// Answers the question of a claim, and waits until the claim is settled.
async fn decide(
    runtime: &Runtime,
    id: ExecutionId,
    decision: Decision,
) -> Result<(), Box<dyn Error>> {
    let execution = runtime.executions().get(id).await?.settled().await?;
    let Some(question) = execution.questions().await?.pop() else {
        return Err(nothing_to_decide(&execution).await?.into());
    };
    let execution = runtime
        .executions()
        .resume(question.token(), decision)
        .await?;
    println!("{}", line(&execution.settled().await?).await?);
    Ok(())
}

async fn nothing_to_decide(execution: &Execution) -> Result<String, Box<dyn Error>> {
    let (id, status) = (execution.id(), execution.status());
    let output = execution.output::<ExpenseClaim>()?;
    if output.is_some_and(|output| output.end == ExpenseClaimEnd::Expired) {
        return Ok(format!("nobody has decided on claim {id} in time"));
    }
    let journal = execution.journal().await?;
    let mut kinds = journal.iter().map(|record| record.kind);
    Ok(if kinds.any(|kind| kind == RecordKind::Paused) {
        format!("claim {id} has been decided already: it is {status}")
    } else {
        format!("claim {id} needs no approval: it is {status}")
    })
}

/// The status of a claim, in one line.
async fn line(execution: &Execution) -> Result<String, Box<dyn Error>> {
    let about = match execution.status() {
        Status::Completed => execution
            .output::<ExpenseClaim>()?
            .map(|output| output.message),
        _ => execution.reason().map(str::to_owned),
    };
    let questions = execution.questions().await?;
    let asked = questions.iter().map(question);
    let about: Vec<String> = asked.chain(about).collect();
    Ok(format!(
        "{}  {:<9}  {:>4}  {}",
        execution.id(),
        execution.status().as_str(),
        since(execution.created_at(), SystemTime::now()),
        about.join(" ")
    ))
}

fn question(question: &OpenQuestion) -> String {
    let left = question
        .expires_at()
        .map(|until| format!(" ({} left)", since(SystemTime::now(), until)));
    format!("{}{}", question.prompt(), left.unwrap_or_default())
}

/// The time between two moments, in the largest unit that fits at least once.
fn since(from: SystemTime, to: SystemTime) -> String {
    let time = to.duration_since(from).unwrap_or(Duration::ZERO).as_secs();
    match time {
        0..60 => format!("{time} s"),
        60..3600 => format!("{} min", time / 60),
        3600..86400 => format!("{} h", time / 3600),
        _ => format!("{} d", time / 86400),
    }
}

/// Calls this program repeatedly.
fn demonstrate() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let call = |arguments: &[&str]| -> Result<String, Box<dyn Error>> {
        let quoted = arguments.iter().map(|argument| {
            if argument.contains(' ') {
                format!("\"{argument}\"")
            } else {
                (*argument).to_owned()
            }
        });
        println!("$ approval_desk {}", quoted.collect::<Vec<_>>().join(" "));
        let output = std::process::Command::new(std::env::current_exe()?)
            .args(arguments)
            .arg("--file")
            .arg(folder.path().join("claims.db"))
            .output()?;
        let text = String::from_utf8(output.stdout)? + &String::from_utf8(output.stderr)?;
        println!("{text}");
        Ok(text)
    };
    let paid = call(&["submit", "Ben", "40", "a train ticket"])?;
    assert!(paid.contains("completed") && paid.contains("we have paid for a train ticket"));
    let asked = call(&["submit", "Ann", "950", "a conference"])?;
    assert!(asked.contains("paused") && asked.contains("Approve 950 EUR for Ann"));
    let id = asked.split_whitespace().next().ok_or("no id was printed")?;
    let both = call(&["list"])?;
    assert_eq!(both.lines().count(), 2);
    let approved = call(&["approve", id, "--comment", "have fun"])?;
    assert!(approved.contains("we have paid for a conference (have fun)"));
    let again = call(&["reject", id, "--reason", "too expensive"])?;
    assert!(again.contains("has been decided already"));
    let log = call(&["log", id])?;
    assert!(log.contains("paused") && log.contains("resumed") && log.contains("run_completed"));
    Ok(())
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Some(command) = arguments.command else {
        return demonstrate();
    };
    let runtime = open(&arguments.file).await?;
    let done = carry_out(&runtime, command).await;
    runtime.shut_down().await;
    done
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("error: {error}");
            let mut next = error.source();
            while let Some(source) = next {
                eprint!(": {source}");
                next = source.source();
            }
            eprintln!();
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(test, feature = "documents"))]
#[path = "law/approval_desk.rs"]
mod law;
