//! The flows, and the process that serves them.

use crate::http::Result;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use flow_durable::Runtime;
use flow_runtime::prelude::*;
use flow_server::{Limits, Server};
use flow_sqlite::SqliteStore;
use tokio::net::TcpListener;

/// Takes a while.
#[node(writes = left)]
async fn tick(left: u64, pause_ms: &u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(*pause_ms)).await;
    left - 1
}

/// Waits until all clients are connected.
#[node(writes = begun)]
async fn begin() -> bool {
    tokio::time::sleep(Duration::from_secs(3)).await;
    true
}

flow! {
    pub Ticks(left: u64, pause_ms: u64) -> (left: u64) {
        branch more(left) {
            *left > 0 => "yes",
            else => "no",
        }
        start >> begin >> more;
        more - "yes" >> tick >> more;
        more - "no"  >> end;
    }
}

#[node]
fn first(number: &u64) -> u64 {
    number + 1
}

#[node]
fn second(first: &u64) -> u64 {
    first * 2
}

#[node]
fn third(second: &u64) -> u64 {
    second - 1
}

flow! {
    pub Three(number: u64) -> (third: u64) {
        start >> first >> second >> third >> end;
    }
}

/// Serves on a free port, which it prints.
pub async fn serve(file: &str) -> Result<()> {
    let runtime = Runtime::new(SqliteStore::open(file).await?);
    runtime.register(Ticks::new())?;
    runtime.register(Three::new())?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let limits = Limits {
        connections: NonZeroUsize::new(15_000).expect("not zero"),
        requests_per_second: NonZeroU32::new(100_000).expect("not zero"),
        ..Limits::default()
    };
    let server = Server::new(runtime).limits(limits);
    server.serve_until(listener, std::future::pending()).await?;
    Ok(())
}
