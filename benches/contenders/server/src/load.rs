//! The clients.

use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::try_join_all;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::http::{Client, Result};

/// How long the watched execution takes, in milliseconds.
const WATCHED_MS: u64 = 5000;

/// How many events an execution has before its first step.
const FIRST: u64 = 2;

/// How many clients never read what they are sent.
const SLOW: usize = 50;

/// How long executions are started.
const SECONDS: u64 = 10;

/// The server in a process of its own.
struct Server {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Server {
    async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg(folder.path().join("runs.db"))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).await?;
        Ok(Server {
            process,
            address: line.trim().parse()?,
            _folder: folder,
        })
    }

    /// The memory that it has, in MiB.
    fn memory(&self) -> u64 {
        let id = self.process.id().unwrap_or_default();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() / 1024
    }
}

/// Clients that watch one execution: how long after a record was made each of them has it.
pub async fn watch(clients: usize, pause_ms: u64) -> Result<()> {
    let server = Server::start().await?;
    let mut client = Client::connect(server.address).await?;
    let before = server.memory();
    let steps = WATCHED_MS / pause_ms.max(1);
    let body = format!("{{\"left\": {steps}, \"pause_ms\": {pause_ms}}}");
    let started = client
        .json("POST", "/flows/Ticks/executions", &body)
        .await?;
    let id = started["id"].as_str().ok_or("no id")?.to_owned();
    let path = format!("/executions/{id}/events");

    let mut slow = Vec::new();
    for _ in 0..SLOW {
        let mut client = Client::connect(server.address).await?;
        client.watch(&path).await?;
        slow.push(client);
    }
    let began = Instant::now();
    let watching = (0..clients).map(|_| tokio::spawn(watched(server.address, path.clone())));
    let watched = try_join_all(watching).await?;
    let took = began.elapsed();
    let mut delays = Vec::new();
    let mut events = 0;
    for seen in watched {
        let seen = seen?;
        events += seen.events;
        delays.extend(seen.delays);
    }
    println!(
        "{clients} clients, {SLOW} more that never read, {steps} steps of {pause_ms} ms in {took:.1?}"
    );
    println!(
        "{events} events, none missed, none doubled; {:.0} a second",
        events as f64 / took.as_secs_f64()
    );
    println!("from a record to a client: {}", quantiles(&mut delays));
    println!(
        "memory of the server: {before} MiB before, {} MiB after",
        server.memory()
    );
    Ok(())
}

/// What a client saw.
struct Seen {
    events: u64,
    delays: Vec<u64>,
}

async fn watched(address: SocketAddr, path: String) -> Result<Seen> {
    let mut client = Client::connect(address).await?;
    client.watch(&path).await?;
    let mut seen = Seen {
        events: 0,
        delays: Vec::new(),
    };
    while let Some(event) = client.event().await? {
        if event["seq"].as_u64() != Some(seen.events) {
            return Err(format!("event {} is missing: {event}", seen.events).into());
        }
        seen.events += 1;
        let made = event["timestamp"].as_u64().unwrap_or_default();
        // The first ones are made before the clients are there.
        if seen.events > FIRST {
            seen.delays.push(now_ms().saturating_sub(made));
        }
    }
    Ok(seen)
}

/// Executions started at a rate, and how long a start takes.
pub async fn start(rate: u64) -> Result<()> {
    let server = Server::start().await?;
    let connections = 32;
    let mut workers = Vec::new();
    let began = Instant::now();
    for worker in 0..connections {
        let address = server.address;
        workers.push(tokio::spawn(async move {
            let mut client = Client::connect(address).await?;
            let mut delays = Vec::new();
            for number in (worker..rate * SECONDS).step_by(connections as usize) {
                let at = Duration::from_secs_f64(number as f64 / rate as f64);
                tokio::time::sleep_until((began + at).into()).await;
                let sent = Instant::now();
                let body = format!("{{\"number\": {number}}}");
                client
                    .json("POST", "/flows/Three/executions", &body)
                    .await?;
                delays.push(u64::try_from(sent.elapsed().as_millis())?);
            }
            Result::Ok(delays)
        }));
    }
    let mut delays = Vec::new();
    for worker in try_join_all(workers).await? {
        delays.extend(worker?);
    }
    let took = began.elapsed();
    let mut client = Client::connect(server.address).await?;
    loop {
        let running = client
            .json("GET", "/executions?status=running&limit=1", "")
            .await?;
        if running["executions"].as_array().is_some_and(Vec::is_empty) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let all_done = began.elapsed();
    println!(
        "{} executions of three steps started in {took:.1?}: {:.0} a second",
        delays.len(),
        delays.len() as f64 / took.as_secs_f64()
    );
    println!("all completed {:.0?} after the last start", all_done - took);
    println!("a start: {}", quantiles(&mut delays));
    println!("memory of the server: {} MiB", server.memory());
    Ok(())
}

fn quantiles(delays: &mut [u64]) -> String {
    delays.sort_unstable();
    let at = |part: f64| match delays.len() {
        0 => 0,
        count => delays[((count - 1) as f64 * part) as usize],
    };
    format!(
        "median {} ms, p99 {} ms, slowest {} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
