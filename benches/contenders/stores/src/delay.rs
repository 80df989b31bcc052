//! The delay until a process sees the writes of another.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::{EventFilter, ExecutionEvent, Runtime, RuntimeOptions, StartOptions};

use crate::Outcome;
use crate::chain::{Chain, ChainInput, open};

/// The number of watched starts.
const WATCHED: usize = 200;

/// A runtime that runs nothing: started executions stay in the queue.
async fn runtime(address: &str) -> Outcome<Runtime> {
    let options = RuntimeOptions::new().concurrent_executions(0);
    let runtime = Runtime::with_options(open(address, 8).await?, options);
    runtime.register(Chain::new())?;
    Ok(runtime)
}

fn micros() -> u128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_micros())
}

/// Prints the time at which it sees the start of each execution.
pub(crate) async fn watch(address: &str) -> Outcome {
    let runtime = runtime(address).await?;
    let mut events = Box::pin(runtime.executions().events(EventFilter::new()).await?);
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

/// Prints the median and the 99th percentile of the delays, in milliseconds.
pub(crate) async fn measure(address: &str) -> Outcome {
    let front = runtime(address).await?;
    let mut watcher = Command::new(std::env::current_exe()?)
        .args(["watch", address])
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = watcher.stdout.take().ok_or("it has one")?;
    let mut lines = BufReader::new(stdout).lines();
    if lines.next().transpose()?.as_deref() != Some("ready") {
        return Err("the process that watches does not begin".into());
    }
    // Gives it time to listen.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut committed = HashMap::new();
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
    println!("{:.1} {:.1}", at(50), at(99));
    Ok(())
}
