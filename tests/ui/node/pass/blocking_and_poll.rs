#![deny(warnings)]
use flow_runtime::prelude::*;

#[node(blocking, timeout = "3s")]
fn load(path: &std::path::Path) -> std::io::Result<String> { std::fs::read_to_string(path) }
#[node(poll(every = "1s", timeout = "1h"))]
async fn paid(load: &str) -> Option<u64> { load.parse().ok() }
flow! {
    Payment(path: std::path::PathBuf) -> (paid: Option<u64>) {
        start >> load >> paid >> end;
        paid - "timeout" >> end("unpaid");
    }
}

fn main() {}
