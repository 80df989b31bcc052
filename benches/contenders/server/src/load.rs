//! The clients.

use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::future::try_join_all;
use serde_json::{Value, json};

use crate::http::{Client, Result};
use crate::server::{Kind, Server};

/// The duration of the watched execution, in milliseconds.
const WATCHED_MS: u64 = 5000;

/// The number of events of our execution before its first step, when no clients are connected
/// yet.
const FIRST: u64 = 2;

/// The number of clients that never read.
const SLOW: usize = 50;

/// The number of seconds during which executions are started.
const SECONDS: u64 = 5;

/// The time limit for all executions to end after the last start.
const LONGEST: Duration = Duration::from_secs(120);

/// Measures the delays until clients that watch one execution have its events.
pub async fn watch(kind: Kind<'_>, clients: usize, pause_ms: u64) -> Result<Value> {
    let server = Server::start(kind).await?;
    let before = server.memory();
    let steps = WATCHED_MS / pause_ms.max(1);
    let path = server.ticks(steps, pause_ms).await?;
    let mut slow = Vec::new();
    for _ in 0..SLOW {
        let mut client = Client::connect(server.address).await?;
        client.watch(&path).await?;
        slow.push(client);
    }
    let began = Instant::now();
    let watched = |address, path| watched(address, path, server.is_ours(), steps);
    let watching = (0..clients).map(|_| tokio::spawn(watched(server.address, path.clone())));
    let watched = try_join_all(watching).await?;
    let took = began.elapsed();
    let end = server.end(&path, steps).await?;
    let mut delays = Vec::new();
    let (mut events, mut missed, mut refused) = (0, 0, 0);
    for seen in watched {
        match seen {
            Ok(seen) => {
                events += seen.delays.len();
                // Includes the events after the last one seen.
                missed += seen.missed + end.saturating_sub(seen.next);
                delays.extend(seen.delays);
            }
            Err(_) => refused += 1,
        }
    }
    Ok(json!({
        "clients": clients, "clients_that_never_read": SLOW, "clients_that_failed": refused,
        "steps": steps, "pause_ms": pause_ms, "seconds": took.as_secs_f64(),
        "last_event": end.saturating_sub(1), "events": events, "missed": missed, "delay": quantiles(&mut delays),
        "memory_before_mib": before, "memory_after_mib": server.memory(),
    }))
}

/// The events that a client saw.
struct Seen {
    /// The number of events missing before the last one.
    missed: u64,
    /// The number of the event after the last one.
    next: u64,
    delays: Vec<u64>,
}

async fn watched(address: SocketAddr, path: String, is_ours: bool, steps: u64) -> Result<Seen> {
    let mut client = Client::connect(address).await?;
    client.watch(&path).await?;
    let mut seen = Seen {
        missed: 0,
        next: Server::first(is_ours),
        delays: Vec::new(),
    };
    while let Some((event, id)) = client.event().await? {
        let Some((number, made)) = Server::numbered(is_ours, &event, &id, steps) else {
            continue;
        };
        if number < seen.next {
            return Err(format!("event {number} comes twice: {event}").into());
        }
        seen.missed += number - seen.next;
        seen.next = number + 1;
        if !is_ours || number >= FIRST {
            seen.delays.push(now_ms().saturating_sub(made));
        }
    }
    Ok(seen)
}

/// Starts executions at a rate, and measures the time of a start.
pub async fn start(kind: Kind<'_>, rate: u64) -> Result<Value> {
    let server = Server::start(kind).await?;
    let connections = 32;
    let mut workers = Vec::new();
    let began = Instant::now();
    for worker in 0..connections {
        let numbers = (worker..rate * SECONDS).step_by(connections as usize);
        let requests: Vec<_> = numbers
            .map(|number| (number, server.three(number)))
            .collect();
        let address = server.address;
        workers.push(tokio::spawn(async move {
            let mut client = Client::connect(address).await?;
            let mut delays = Vec::new();
            for (number, (path, body)) in requests {
                let at = began + Duration::from_secs_f64(number as f64 / rate as f64);
                tokio::time::sleep_until(at.into()).await;
                client.json("POST", path, &body).await?;
                // Measured from the due time: a server that is behind also delays later starts.
                delays.push(u64::try_from(at.elapsed().as_millis())?);
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
    let idle = async {
        while !server.is_idle(&mut client).await? {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Result::Ok(began.elapsed())
    };
    let all_done = match tokio::time::timeout(LONGEST, idle).await {
        Ok(all_done) => Some(all_done?),
        Err(_) => None,
    };
    Ok(json!({
        "rate": rate, "started": delays.len(), "seconds": took.as_secs_f64(),
        "delay": quantiles(&mut delays),
        "done_after_seconds": all_done.map(|all_done| all_done.as_secs_f64()),
        "memory_after_mib": server.memory(),
    }))
}

/// The median, the 99th percentile and the maximum of delays in milliseconds.
fn quantiles(delays: &mut [u64]) -> Value {
    delays.sort_unstable();
    let at = |part: f64| match delays.len() {
        0 => None,
        count => Some(delays[((count - 1) as f64 * part) as usize]),
    };
    json!({ "median_ms": at(0.5), "p99_ms": at(0.99), "slowest_ms": at(1.0) })
}

fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
