//! Milliseconds a step on a real Restate server, with runs that stay in one invocation and with runs
//! that continue in new ones. The servers take turns, so that other load slows all of them.
//! `cargo bench --package typed-flows-restate`

#[path = "../tests/server/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;
#[path = "../tests/server/flows.rs"]
mod flows;
#[path = "../tests/server/wide.rs"]
mod wide;

use std::time::Instant;

use flow_services::Restate;
use serde_json::json;

use client::{Settings, WHOLE, attach, server_and_worker_with, start};

/// The numbers of entries after which runs continue in a new invocation. The second is the default.
const ENTRIES: [u64; 3] = [u64::MAX, 4000, 100];

/// The numbers of concurrent runs and of their steps.
const RUNS: [(u32, u32); 3] = [(1, 1000), (8, 1000), (1, 10_000)];

const ROUNDS: usize = 5;

#[tokio::main]
async fn main() {
    let mut servers = Vec::new();
    for entries in ENTRIES.map(Some) {
        let settings = Settings { entries, ..WHOLE };
        match server_and_worker_with(settings).await {
            Some(server) => servers.push(server),
            None => return,
        }
    }
    for (runs, steps) in RUNS {
        let mut times = [const { Vec::new() }; ENTRIES.len()];
        for round in 0..ROUNDS {
            for ((server, _), times) in servers.iter().zip(&mut times) {
                let name = format!("{runs}-{steps}-{round}");
                times.push(measure(server, &name, runs, steps).await);
            }
        }
        for (times, entries) in times.iter_mut().zip(ENTRIES) {
            times.sort_by(f64::total_cmp);
            let (median, least) = (times[ROUNDS / 2], times[0]);
            println!(
                "{runs} runs of {steps} steps, {entries} entries an invocation: {median:.3} ms a \
                 step, {least:.3} at least"
            );
        }
    }
}

/// Runs this many flows at once, and returns the milliseconds a step.
async fn measure(server: &Restate, name: &str, runs: u32, steps: u32) -> f64 {
    let began = Instant::now();
    let input = json!({ "number": 0, "limit": steps });
    let keys: Vec<_> = (0..runs).map(|run| format!("{name}-{run}")).collect();
    for key in &keys {
        start(server, "Count", key, &input).await;
    }
    for key in &keys {
        attach(&server.ingress(), "Count", key).await.unwrap();
    }
    began.elapsed().as_secs_f64() * 1000.0 / f64::from(runs * steps)
}
