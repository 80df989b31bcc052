//! 100,000 executions that wait for people, in one SQLite file: what it takes to start them, to
//! list them and to go on with one of them in a process that knows nothing of them yet. `cargo
//! bench -p typed-flows-sqlite --bench paused_executions [executions]`

use std::error::Error;
use std::time::Instant;

use flow_durable::{ListOptions, Runtime, StartOptions, Status};
use flow_runtime::prelude::*;
use flow_sqlite::SqliteStore;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[node(human = "Pay {amount}?")]
enum Decision {
    Yes,
    No,
}

#[node(writes = checked)]
async fn check(amount: &u64) -> u64 {
    *amount
}

#[node(writes = receipt)]
async fn pay(checked: &u64) -> String {
    format!("paid {checked}")
}

flow! {
    Payment(amount: u64) -> (receipt: Option<String>) {
        start >> check >> Decision;
        Decision - "yes" >> pay >> end;
        Decision - "no" >> end("refused");
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let number = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    let number: u64 = number.unwrap_or(100_000);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("paused.sqlite");

    let runtime = Runtime::new(SqliteStore::open(&file).await?);
    runtime.register(Payment::new())?;
    let began = Instant::now();
    stream::iter((0..number).map(|amount| {
        let runtime = &runtime;
        async move {
            let execution = runtime
                .executions()
                .start::<Payment>(PaymentInput { amount }, StartOptions::new())
                .await?;
            let status = execution.settled().await?.status();
            assert_eq!(status, Status::Paused);
            Ok::<(), Box<dyn Error>>(())
        }
    }))
    .buffer_unordered(256)
    .try_collect::<Vec<()>>()
    .await?;
    let took = began.elapsed();
    println!(
        "{number} started and paused: {took:.1?}, {:.0} per second",
        number as f64 / took.as_secs_f64()
    );
    println!("memory: {}", memory()?);
    drop(runtime);

    let began = Instant::now();
    let runtime = Runtime::new(SqliteStore::open(&file).await?);
    runtime.register(Payment::new())?;
    println!("opened: {:.1?}", began.elapsed());
    let began = Instant::now();
    let recovered = runtime.recover().await?;
    println!(
        "recovered {}: {:.1?}",
        recovered.resumed.len(),
        began.elapsed()
    );
    let began = Instant::now();
    let newest = runtime
        .executions()
        .list(ListOptions::new().status(Status::Paused).limit(50))
        .await?;
    println!(
        "the {} newest listed: {:.1?}",
        newest.len(),
        began.elapsed()
    );
    let began = Instant::now();
    let all = runtime
        .executions()
        .list(ListOptions::new().status(Status::Paused))
        .await?;
    println!("all {} listed: {:.1?}", all.len(), began.elapsed());
    let one = &all[all.len() / 2];
    let began = Instant::now();
    let question = one
        .questions()
        .await?
        .into_iter()
        .next()
        .ok_or("no question")?;
    println!("its question found: {:.1?}", began.elapsed());
    let began = Instant::now();
    let execution = runtime
        .executions()
        .resume(question.token(), Decision::Yes)
        .await?
        .settled()
        .await?;
    println!("one resumed and completed: {:.1?}", began.elapsed());
    assert_eq!(execution.status(), Status::Completed);
    println!("file: {} MB", std::fs::metadata(&file)?.len() / 1_000_000);
    Ok(())
}

/// The most memory that this process has had, where the system tells.
fn memory() -> std::io::Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(peak.unwrap_or("unknown").trim().to_owned())
}
