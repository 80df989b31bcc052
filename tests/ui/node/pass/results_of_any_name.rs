#![deny(warnings)]
use flow_runtime::prelude::*;

type Result<T> = std::result::Result<T, std::io::Error>;
#[node]
fn open() -> Result<u64> { Ok(3) }
#[node(writes = closed)]
async fn close(open: &u64) -> std::result::Result<u64, Box<dyn std::error::Error + Send + Sync>> { Ok(*open) }
#[node]
fn done(closed: &u64) -> std::io::Result<()> { let _ = closed; Ok(()) }
flow! { Door() -> (closed: u64) { start >> open >> close >> done >> end; } }

fn main() {}
