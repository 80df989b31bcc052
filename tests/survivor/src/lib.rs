//! The flow of the program that is killed, and what its steps leave behind.
//!
//! Each step writes to a file of its own making that it began and that it is done, so that a test
//! can tell, beside the journal, which steps ran how often.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::{Runtime, RuntimeOptions, Store};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_redis::RedisStore;
use flow_runtime::prelude::*;
use flow_sqlite::{SqliteOptions, SqliteStore};
use serde::{Deserialize, Serialize};

pub mod job;
pub mod ledger;
pub mod mail;
pub mod mortal;
pub mod ten;
pub mod told;

/// Waits for the file as long as a process may be stopped, or the machine may be busy with other tests.
pub fn patient() -> SqliteOptions {
    SqliteOptions::new().busy_timeout(Duration::from_secs(60))
}

/// For how long a process that was killed keeps its executions.
pub const LEASE: Duration = Duration::from_millis(30);

/// The same for a process that dies at a call of the store.
pub const SHORT_LEASE: Duration = Duration::from_millis(90);

/// How often a worker looks for work.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The store at a place: the address of a Redis server, with the name of the store as its parameter
/// `name`; that of a Postgres database, with a parameter `schema`; or the name of a file of SQLite.
///
/// # Errors
///
/// It cannot be opened.
pub async fn store_at(place: &str) -> Result<Arc<dyn Store>, Box<dyn Error + Send + Sync>> {
    if place.starts_with("redis://") {
        return Ok(Arc::new(RedisStore::connect(place).await?));
    }
    Ok(match postgres_and_schema(place) {
        Some((url, schema)) => {
            let options = PostgresOptions::new().schema(schema);
            Arc::new(PostgresStore::connect_with(url, options).await?)
        }
        None => Arc::new(SqliteStore::open_with(place, patient()).await?),
    })
}

/// The address of the database and the schema of a place, if it is in Postgres.
pub fn postgres_and_schema(place: &str) -> Option<(&str, &str)> {
    place.split_once("?schema=")
}

/// What a step does: it says that it began, takes a moment, and says that it is done. If it is to be held, it says so too.
async fn effect(cx: &Context) -> io::Result<()> {
    let step = cx.step_id();
    note("began", &step)?;
    if is_held() {
        note("held", &step)?;
    }
    while is_held() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_micros(fastrand::u64(0..1500))).await;
    note("done", &step)
}

/// Whether steps do not end for now: as long as there is this file.
fn is_held() -> bool {
    std::env::var_os("HOLD").is_some_and(|file| Path::new(&file).exists())
}

/// A line of JSON in the same file. A process that aborts itself leaves no part of one.
///
/// # Errors
///
/// There is no such file, or it cannot be written to.
pub fn note_line(line: &serde_json::Value) -> io::Result<()> {
    effects()?.write_all(format!("{line}\n").as_bytes())
}

fn effects() -> io::Result<File> {
    let file = std::env::var_os("EFFECTS").map(PathBuf::from);
    let file = file.ok_or_else(|| io::Error::other("EFFECTS names no file"))?;
    OpenOptions::new().append(true).create(true).open(file)
}

/// A line with the time in milliseconds.
fn note(what: &str, step: &str) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = now.unwrap_or_default().as_millis();
    note_whole(&format!("{what} {now_ms} {step}"))
}

/// A line of its own. A process that is killed while it writes may leave a part of it, up to the end of a page: it is
/// whole where it ends with a semicolon.
fn note_whole(line: &str) -> io::Result<()> {
    effects()?.write_all(format!("\n{line};").as_bytes())
}

/// Whether there is another round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Action)]
pub enum Round {
    /// There is.
    Again,
    /// There is not.
    Enough,
}

/// What a person says after every second round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[node(human = "Go on after round {round}, with {total} so far?")]
pub enum GoOn {
    /// With this much added.
    Yes {
        /// How much.
        bonus: u64,
    },
    /// No.
    No,
}

#[node(writes = numbers)]
async fn prepare(cx: &Context, round: &u64) -> io::Result<Vec<u64>> {
    effect(cx).await?;
    Ok((0..4).map(|index| round * 10 + index).collect())
}

#[node(writes = left)]
async fn left(cx: &Context, round: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(round * 2)
}

#[node(writes = left_twice)]
async fn left_twice(cx: &Context, left: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(left * 2)
}

#[node(writes = right)]
async fn right(cx: &Context, round: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(round * 3)
}

#[node]
async fn square(cx: &Context, number: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(number * number)
}

#[node(writes = sum)]
async fn add(cx: &Context, values: &[u64]) -> io::Result<u64> {
    effect(cx).await?;
    Ok(values.iter().sum())
}

#[node(writes = sum)]
async fn halve(cx: &Context, sum: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(sum / 2)
}

#[node(writes = total)]
async fn collect(
    cx: &Context,
    total: &u64,
    sum: &u64,
    left_twice: &u64,
    right: &u64,
) -> io::Result<u64> {
    effect(cx).await?;
    Ok(total + sum + left_twice + right)
}

#[node(writes = round, actions = Round)]
async fn next(cx: &Context, round: &u64, rounds: &u64) -> io::Result<(u64, Round)> {
    effect(cx).await?;
    Ok((
        round + 1,
        if round + 1 < *rounds {
            Round::Again
        } else {
            Round::Enough
        },
    ))
}

#[node(writes = total)]
async fn reward(cx: &Context, total: &u64, bonus: &u64) -> io::Result<u64> {
    effect(cx).await?;
    Ok(total + bonus)
}

flow! {
    /// The inner flow.
    pub Sum(values: Vec<u64>) -> (sum: u64) {
        start >> add >> halve >> end;
    }
}

flow! {
    /// Rounds of a batch, a flow in the flow and a fork, with a question after every second of them.
    pub Survivor(rounds: u64, round: u64, total: u64) -> (total: u64, round: u64) {
        node squares: for number in numbers { square } with concurrency(2);
        node summed: Sum { values <- squares } = Sum::new();
        branch even(round) {
            *round % 2 == 0 => "ask",
            else => "go_on",
        }
        start >> prepare >> squares >> summed >> [left >> left_twice, right] >> collect >> next;
        next - "again" >> even;
        even - "ask" >> GoOn;
        even - "go_on" >> prepare;
        GoOn - "yes" >> reward >> prepare;
        GoOn - "no" >> end("stopped");
        next - "enough" >> end;
    }
}

/// What it comes to.
pub fn expected_total(rounds: u64) -> u64 {
    let mut total = 0;
    for round in 0..rounds {
        let squares: u64 = (0..4).map(|index| (round * 10 + index).pow(2)).sum();
        total += squares / 2 + round * 4 + round * 3;
    }
    total + expected_questions(rounds) * 1000
}

/// How often a person is asked.
pub fn expected_questions(rounds: u64) -> u64 {
    rounds.saturating_sub(1) / 2
}

/// A runtime with the store at this place, and a snapshot now and then.
///
/// # Errors
///
/// The store cannot be opened.
pub async fn runtime(
    place: &str,
    lease: Duration,
) -> Result<Runtime, Box<dyn Error + Send + Sync>> {
    let options = RuntimeOptions::new()
        .take_overs(u32::MAX)
        .lease(lease)
        .snapshot_every(std::num::NonZeroUsize::new(64).ok_or("zero")?);
    let runtime = Runtime::with_options(store_at(place).await?, options);
    runtime.register(Survivor::new())?;
    Ok(runtime)
}
