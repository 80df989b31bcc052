//! Steps per second on a real Restate server: one flow and eight at once, in one invocation and in
//! new ones after so many entries. `cargo bench --package flow-restate`

#[path = "../tests/server/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;
#[path = "../tests/server/flows.rs"]
mod flows;
#[path = "../tests/server/wide.rs"]
mod wide;

use std::time::Instant;

use serde_json::json;

use client::{Settings, WHOLE, attach, server_and_worker_with, start};

/// The steps of one run.
const STEPS: u32 = 20_000;

#[tokio::main]
async fn main() {
    for entries in [u64::MAX, 500, 1000, 2000, 4000, 8000] {
        let settings = Settings {
            entries: Some(entries),
            ..WHOLE
        };
        for runs in [1, 8] {
            measure(settings, runs).await;
        }
    }
}

/// Runs so many flows at once.
async fn measure(settings: Settings, runs: u32) {
    // A server becomes slower with what it keeps of earlier runs.
    let Some((server, _worker)) = server_and_worker_with(settings).await else {
        return;
    };
    let began = Instant::now();
    let input = json!({ "number": 0, "limit": STEPS / runs });
    let keys: Vec<_> = (0..runs).map(|run| format!("{runs}-{run}")).collect();
    for key in &keys {
        start(&server, "Count", key, &input).await;
    }
    for key in &keys {
        attach(&server.ingress(), "Count", key).await.unwrap();
    }
    let steps = f64::from(STEPS) / began.elapsed().as_secs_f64();
    println!(
        "{steps:.0} steps/s over {runs} flows at once: {:?}",
        settings.entries
    );
}
