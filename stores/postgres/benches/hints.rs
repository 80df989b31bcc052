//! How soon a process sees what another one has written, with and without hints.
//!
//! `cargo bench --package flow-postgres --bench hints`. Postgres has to be installed. The figures are
//! those of this machine, on which both processes and the server run. How many steps a second there
//! are is measured in `benches`, beside other stores.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::{EventFilter, ExecutionEvent, Runtime, RuntimeOptions, StartOptions};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_runtime::prelude::*;
use flow_services::Postgres;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How many starts are watched.
const WATCHED: usize = 200;

#[node(writes = total)]
async fn increase(total: u64) -> u64 {
    total + 1
}

flow! {
    Increase(total: u64) -> (total: u64) {
        start >> increase >> end;
    }
}

/// A runtime that runs nothing: what is started waits in the queue.
async fn runtime(url: &str, options: PostgresOptions) -> Outcome<Runtime> {
    let store = PostgresStore::connect_with(url, options).await?;
    let options = RuntimeOptions::new().concurrent_executions(0);
    let runtime = Runtime::with_options(store, options);
    runtime.register(Increase::new())?;
    Ok(runtime)
}

fn options(schema: &str, hints: bool) -> PostgresOptions {
    PostgresOptions::new()
        .schema(schema)
        .prepared_statements(true)
        .hints(hints)
}

/// This program again, as another process.
fn process(url: &str, schema: &str, hints: bool) -> Outcome<Child> {
    let hints = hints.to_string();
    let mut process = Command::new(std::env::current_exe()?);
    process.args([url, schema, &hints]).stdout(Stdio::piped());
    Ok(process.spawn()?)
}

/// Prints when it sees the start of each execution.
async fn watch(url: &str, options: PostgresOptions) -> Outcome {
    let runtime = runtime(url, options).await?;
    let mut events = runtime.events(EventFilter::new()).await?;
    println!("ready");
    for _ in 0..WATCHED {
        let event = events.next().await.ok_or("it goes on")??;
        let now = micros();
        if let ExecutionEvent::Recorded(event) = event {
            println!("{} {now}", event.execution);
        }
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn micros() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_micros())
}

/// From when a start was committed here until another process has its event.
async fn measure_delay(server: &Postgres, hints: bool) -> Outcome {
    let schema = format!("delay_{hints}");
    let front = runtime(&server.url(), options(&schema, hints)).await?;
    let mut watcher = process(&server.url(), &schema, hints)?;
    let stdout = watcher.stdout.take().ok_or("it has one")?;
    let mut lines = BufReader::new(stdout).lines();
    assert_eq!(lines.next().transpose()?.as_deref(), Some("ready"));
    // Until it listens.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut committed = std::collections::HashMap::new();
    for _ in 0..WATCHED {
        let start = front.start::<Increase>(IncreaseInput { total: 0 }, StartOptions::new());
        committed.insert(start.await?.id().to_string(), micros());
        tokio::time::sleep(Duration::from_millis(37)).await;
    }
    let mut delays = Vec::new();
    for line in lines {
        let line = line?;
        let (id, seen) = line.split_once(' ').ok_or("two words")?;
        let committed = committed.get(id).ok_or("it was started here")?;
        delays.push(seen.parse::<u128>()?.saturating_sub(*committed));
    }
    if !watcher.wait()?.success() || delays.is_empty() {
        return Err("the process that watches has failed".into());
    }
    delays.sort_unstable();
    let at = |share: usize| delays[(delays.len() - 1) * share / 100] as f64 / 1000.0;
    println!(
        "events of another process, hints {hints}: median {:.1} ms, p99 {:.1} ms, of {}",
        at(50),
        at(99),
        delays.len()
    );
    Ok(())
}

async fn run(arguments: Vec<String>) -> Outcome<ExitCode> {
    if let [url, schema, hints] = &arguments[..] {
        watch(url, options(schema, hints == "true")).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(server) = Postgres::start() else {
        return Ok(ExitCode::FAILURE);
    };
    for hints in [true, false] {
        measure_delay(&server, hints).await?;
    }
    Ok(ExitCode::SUCCESS)
}

#[tokio::main]
async fn main() -> Outcome<ExitCode> {
    // Cargo adds an argument of its own.
    let arguments = std::env::args().skip(1).filter(|it| it != "--bench");
    run(arguments.collect()).await
}
