//! Signals from four processes that are killed again and again: each is taken once.

use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fastrand::Rng;
use flow_durable::{ExecutionId, RecordKind, Runtime, StartOptions};
use flow_survivor::mail::{Mail, MailInput};
use flow_survivor::store_at;

use crate::database::{Database, Server, block_on};
use crate::support::{Outcome, Process};

const LEASE: Duration = Duration::from_millis(300);

/// How many processes send and run.
const SENDERS: u64 = 4;

/// How many letters are sent to a tenth as many executions, at most a hundred, unless `LETTERS` says
/// so: `LETTERS=10000 cargo test -p flow-survivor --test processes -- --nocapture mail`.
const LETTERS: u64 = 200;

#[test]
fn letters_from_processes_that_are_killed_are_taken_once() -> Outcome {
    send(Server::Sqlite)
}

#[test]
fn letters_from_processes_that_are_killed_are_taken_once_on_postgres() -> Outcome {
    Server::postgres().map_or(Ok(()), send)
}

#[test]
fn letters_from_processes_that_are_killed_are_taken_once_on_redis() -> Outcome {
    Server::redis().map_or(Ok(()), send)
}

fn spawn(database: &Database, sender: u64, count: u64, ids: &[ExecutionId]) -> Outcome<Process> {
    let name = format!("sender-{sender}");
    let mut command = database.command(env!("CARGO_BIN_EXE_mailer"), &name);
    command
        .arg(LEASE.as_millis().to_string())
        .arg((sender * count).to_string())
        .arg(count.to_string())
        .args(ids.iter().map(ExecutionId::to_string))
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    Ok(Process::new(command.spawn()?, database.file(&name)))
}

fn send(server: Server) -> Outcome {
    let letters: u64 = match std::env::var("LETTERS") {
        Ok(text) => text.parse()?,
        Err(_) => LETTERS,
    };
    let executions = (letters / 10).min(100);
    let database = Database::new(server)?;
    // Only starts them.
    let ids: Vec<ExecutionId> = block_on(async {
        let runtime = Runtime::new(store_at(&database.place()).await?);
        runtime.register(Mail::new())?;
        let mut ids = Vec::new();
        for _ in 0..executions {
            let input = MailInput {
                count: letters / executions,
                numbers: Vec::new(),
            };
            let options = StartOptions::new();
            let started = runtime.executions().start::<Mail>(input, options).await?;
            ids.push(started.id());
        }
        runtime.shut_down().await;
        Outcome::Ok(ids)
    })?;
    let each = letters / SENDERS;
    let mut processes = (0..SENDERS)
        .map(|sender| spawn(&database, sender, each, &ids))
        .collect::<Outcome<Vec<_>>>()?;
    let (began, mut rng, mut kills) = (Instant::now(), Rng::with_seed(1), 0);
    while !are_over(&database, &ids)? {
        if began.elapsed() > Duration::from_secs(600) {
            return Err("not within ten minutes: each letter is filed".into());
        }
        sleep(Duration::from_millis(rng.u64(500..1500)));
        let sender = rng.u64(..SENDERS);
        let process = &mut processes[usize::try_from(sender)?];
        process.kill()?;
        kills += 1;
        *process = spawn(&database, sender, each, &ids)?;
    }
    for process in &mut processes {
        process.end_input();
    }
    let found = check(&database, &ids)?;
    assert_eq!(found, letters);
    println!(
        "{}: {letters} letters to {executions} executions from {SENDERS} processes, {kills} of which were killed, in {} s",
        server.name(),
        began.elapsed().as_secs(),
    );
    Ok(())
}

fn are_over(database: &Database, ids: &[ExecutionId]) -> Outcome<bool> {
    block_on(async {
        let store = database.store().await?;
        for id in ids {
            let row = store.without_result(*id).await?;
            if !row.is_some_and(|row| row.status.is_over()) {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Checks that each execution has the letters that were sent to it, each once. Returns how many they
/// are.
fn check(database: &Database, ids: &[ExecutionId]) -> Outcome<u64> {
    block_on(async {
        let runtime = Runtime::new(store_at(&database.place()).await?);
        runtime.register(Mail::new())?;
        let mut found = 0;
        for (index, id) in (0..).zip(ids) {
            let execution = runtime.executions().get(*id).await?;
            let output = execution.output::<Mail>()?.ok_or("no output")?;
            let mut numbers = output.numbers;
            numbers.sort_unstable();
            let count = numbers.len() as u64;
            let expected: Vec<u64> = (0..count).map(|at| at * ids.len() as u64 + index).collect();
            assert_eq!(numbers, expected, "{id}");
            let journal = execution.journal().await?;
            let taken = journal
                .iter()
                .filter(|record| record.kind == RecordKind::Received);
            assert_eq!(taken.count() as u64, count, "{id}");
            assert!(runtime.executions().untaken_signals(*id).await?.is_empty());
            found += count;
        }
        Ok(found)
    })
}
