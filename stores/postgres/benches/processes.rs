//! Several processes on one database: how many steps they do, and how soon one sees what another has
//! written, with and without hints.
//!
//! `cargo bench --package flow-postgres --bench processes`. Postgres has to be installed. The
//! figures are those of this machine, on which all processes and the server run.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flow_durable::{EventFilter, ExecutionEvent, Runtime, RuntimeOptions, StartOptions};
use flow_postgres::tokio_postgres::{self, NoTls};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_runtime::prelude::*;
use flow_services::Postgres;
use tokio::task::JoinSet;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How long each measurement takes.
const TIME: Duration = Duration::from_secs(5);

/// How many executions each process runs at once, and how many connections write by hand.
const AT_ONCE: usize = 8;

/// How many starts are watched.
const WATCHED: usize = 200;

macro_rules! chain {
    ($($name:ident)*) => {
        $(
            #[node(writes = total)]
            async fn $name(total: u64) -> u64 {
                total + 1
            }
        )*
    };
}

chain!(one two three four five six seven eight nine ten);

flow! {
    Chain(total: u64) -> (total: u64) {
        start >> one >> two >> three >> four >> five >> six >> seven >> eight >> nine >> ten >> end;
    }
}

async fn runtime(url: &str, options: PostgresOptions, limit: Option<usize>) -> Outcome<Runtime> {
    let store = PostgresStore::connect_with(url, options).await?;
    let mut options = RuntimeOptions::new();
    if let Some(limit) = limit {
        options = options.concurrent_executions(limit);
    }
    let runtime = Runtime::with_options(store, options);
    runtime.register(Chain::new())?;
    Ok(runtime)
}

fn options(schema: &str, hints: bool) -> PostgresOptions {
    PostgresOptions::new()
        .schema(schema)
        .connections(AT_ONCE)
        .prepared_statements(true)
        .hints(hints)
}

/// This program again, as another process.
fn process(role: &str, url: &str, schema: &str, hints: bool) -> Outcome<Child> {
    let hints = hints.to_string();
    let mut process = Command::new(std::env::current_exe()?);
    process
        .args([role, url, schema, &hints])
        .stdout(Stdio::piped());
    Ok(process.spawn()?)
}

/// Runs executions for a while, and prints how many.
async fn work(url: &str, options: PostgresOptions) -> Outcome {
    let runtime = runtime(url, options, None).await?;
    let (until, mut running) = (Instant::now() + TIME, JoinSet::new());
    for _ in 0..AT_ONCE {
        let runtime = runtime.clone();
        running.spawn(async move {
            let mut count = 0_u64;
            while Instant::now() < until {
                let start = runtime.start::<Chain>(ChainInput { total: 0 }, StartOptions::new());
                let settled = start.await?.settled().await?;
                assert_eq!(settled.output::<Chain>()?.map(|it| it.total), Some(10));
                count += 1;
            }
            Outcome::Ok(count)
        });
    }
    let mut count = 0;
    while let Some(done) = running.join_next().await {
        count += done??;
    }
    println!("{count}");
    Ok(())
}

/// Prints when it sees the start of each execution.
async fn watch(url: &str, options: PostgresOptions) -> Outcome {
    let runtime = runtime(url, options, Some(0)).await?;
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

/// One insert per commit, of a row about as large as a record.
async fn insert_by_hand(url: &str) -> Outcome<f64> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let create = "CREATE TABLE by_hand (id bigserial PRIMARY KEY, run uuid, seq bigint, at_ms bigint, \
         kind text, path text, step text, payload text, UNIQUE (run, seq))";
    client.batch_execute(create).await?;
    let (until, mut running) = (Instant::now() + TIME, JoinSet::new());
    for run in 0..AT_ONCE {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        running.spawn(async move {
            let insert = "INSERT INTO by_hand (run, seq, at_ms, kind, path, step, payload) \
                VALUES ($1, $2, 1700000000000, 'outcome', 'chain.one', 'chain.one', '{\"total\":1}')";
            let insert = client.prepare(insert).await?;
            let run = uuid::Uuid::from_u128(run as u128);
            let mut count = 0_i64;
            while Instant::now() < until {
                client.execute(&insert, &[&run, &count]).await?;
                count += 1;
            }
            Outcome::Ok(count)
        });
    }
    let mut count = 0;
    while let Some(done) = running.join_next().await {
        count += done??;
    }
    Ok(count as f64 / TIME.as_secs_f64())
}

fn commits(server: &Postgres) -> Outcome<f64> {
    // Each connection reports what it did with some delay.
    std::thread::sleep(Duration::from_secs(2));
    Ok(server
        .query("SELECT sum(xact_commit) FROM pg_stat_database")
        .parse()?)
}

/// Steps a second by this many processes.
fn measure_steps(server: &Postgres, workers: usize, hints: bool, by_hand: f64) -> Outcome {
    let schema = format!("steps_{workers}_{hints}");
    let before = commits(server)?;
    let started: Outcome<Vec<_>> = (0..workers)
        .map(|_| process("work", &server.url(), &schema, hints))
        .collect();
    let mut executions = 0_u64;
    for worker in started? {
        let output = worker.wait_with_output()?;
        executions += String::from_utf8(output.stdout)?.trim().parse::<u64>()?;
    }
    let steps = 10.0 * executions as f64;
    let per_second = steps / TIME.as_secs_f64();
    println!(
        "{workers} processes, hints {hints}: {per_second:.0} steps/s, {:.0} executions/s, {:.2} commits per \
         step, inserts by hand are {:.2} times as many",
        per_second / 10.0,
        (commits(server)? - before) / steps,
        by_hand / per_second,
    );
    Ok(())
}

/// From when a start was committed here until another process has its event.
async fn measure_delay(server: &Postgres, hints: bool) -> Outcome {
    let schema = format!("delay_{hints}");
    let front = runtime(&server.url(), options(&schema, hints), Some(0)).await?;
    let mut watcher = process("watch", &server.url(), &schema, hints)?;
    let stdout = watcher.stdout.take().ok_or("it has one")?;
    let mut lines = BufReader::new(stdout).lines();
    assert_eq!(lines.next().transpose()?.as_deref(), Some("ready"));
    // Until it listens.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut committed = std::collections::HashMap::new();
    for _ in 0..WATCHED {
        let start = front.start::<Chain>(ChainInput { total: 0 }, StartOptions::new());
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
    if let [role, url, schema, hints] = &arguments[..] {
        let options = options(schema, hints == "true");
        match role.as_str() {
            "work" => work(url, options).await?,
            _ => watch(url, options).await?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let Some(server) = Postgres::start() else {
        return Ok(ExitCode::FAILURE);
    };
    for hints in [true, false] {
        measure_delay(&server, hints).await?;
    }
    let by_hand = insert_by_hand(&server.url()).await?;
    println!("inserts by hand, {AT_ONCE} connections: {by_hand:.0} commits/s");
    let server = Arc::new(server);
    for (workers, hints) in [(1, true), (1, false), (2, true), (4, true)] {
        let server = server.clone();
        let measured =
            tokio::task::spawn_blocking(move || measure_steps(&server, workers, hints, by_hand));
        measured.await??;
    }
    Ok(ExitCode::SUCCESS)
}

#[tokio::main]
async fn main() -> Outcome<ExitCode> {
    // Cargo adds an argument of its own.
    let arguments = std::env::args().skip(1).filter(|it| it != "--bench");
    run(arguments.collect()).await
}
