//! Steps per second on a real Restate server: one flow, and eight at once. `cargo bench --package
//! flow-restate`

#[path = "../tests/server/client.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod client;
#[path = "../tests/server/flows.rs"]
mod flows;
#[path = "../tests/server/wide.rs"]
mod wide;

use std::time::Instant;

use serde_json::json;

use client::{attach, server_and_worker, start};

/// The steps of one run.
const STEPS: u32 = 5000;

#[tokio::main]
async fn main() {
    let Some((server, _worker)) = server_and_worker().await else {
        return;
    };
    for runs in [1, 8] {
        let began = Instant::now();
        let input = json!({ "number": 0, "limit": STEPS });
        let keys: Vec<_> = (0..runs).map(|run| format!("{runs}-{run}")).collect();
        for key in &keys {
            start(&server, "Count", key, &input).await;
        }
        for key in &keys {
            attach(&server.ingress(), "Count", key).await.unwrap();
        }
        let steps = f64::from(runs * STEPS) / began.elapsed().as_secs_f64();
        println!("{steps:.0} steps/s over {runs} flows at once");
    }
}
