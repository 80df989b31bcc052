//! Event streams that nobody reads: the memory that they cost, and that it is given back.
//!
//! A program of its own, since it looks at the memory of the whole process.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flow_durable::{ExecutionId, MemoryStore, Runtime, StartOptions};
use flow_runtime::prelude::*;
use flow_server::{Limits, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// How many streams are open at once.
const STREAMS: usize = 100;

/// How many megabytes they may cost together. Each had six of the journal alone when a page of records
/// waited for it, and a megabyte of deltas.
const MOST: u64 = 150;

/// Nothing takes this long unless it does not happen.
const AT_LAST: Duration = Duration::from_secs(120);

#[node(writes = counted)]
async fn count(counted: u64) -> u64 {
    counted + 1
}

/// Says a lot, and writes a lot.
#[node(writes = text)]
async fn speak(cx: &Context) -> String {
    for _ in 0..20 {
        cx.emit(&"word ".repeat(2_000));
        // So that somebody can listen.
        tokio::task::yield_now().await;
    }
    "page ".repeat(40_000)
}

flow! {
    Speech(counted: u64, until: u64, text: String) -> (counted: u64, text: String) {
        branch enough(counted, until) {
            counted >= until => "yes",
            else => "no",
        }
        start >> enough;
        enough - "no"  >> speak >> count >> enough;
        enough - "yes" >> end;
    }
}

/// The memory of this process, in megabytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().unwrap() / 1024
}

/// Asks for a stream, and reads nothing of it.
async fn unread(address: SocketAddr, path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8 * 1024).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: localhost:{}\r\nAccept: text/event-stream\r\n\r\n",
        address.port()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn spoken(runtime: &Runtime, until: u64) -> ExecutionId {
    let input = SpeechInput {
        counted: 0,
        until,
        text: String::new(),
    };
    let started = runtime
        .executions()
        .start::<Speech>(input, StartOptions::new());
    started.await.unwrap().settled().await.unwrap().id()
}

/// How many streams are open, as the server counts them.
async fn open(address: SocketAddr) -> u64 {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /metrics HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n",
        address.port()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let line = |line: &str| line.strip_prefix("flow_event_streams ").map(str::to_owned);
    text.lines().find_map(line).unwrap().parse().unwrap()
}

/// Waits until this many streams are open.
async fn until_open(address: SocketAddr, streams: u64) {
    let began = Instant::now();
    while open(address).await != streams {
        assert!(began.elapsed() < AT_LAST, "{streams} streams");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the memory does not grow any more, and returns it.
async fn at_rest() -> u64 {
    let mut last = resident();
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let now = resident();
        if now <= last {
            return now;
        }
        last = now;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_nobody_reads_cost_little_and_end() {
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Speech::new()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let limits = Limits {
        write_time: Duration::from_secs(15),
        ..Limits::default()
    };
    let server = Server::new(runtime.clone()).limits(limits);
    tokio::spawn(server.serve_until(listener, std::future::pending()));
    let id = spoken(&runtime, 100).await;
    let paths = [
        format!("/executions/{id}/events"),
        "/events?after=0".to_owned(),
        "/events?deltas=true".to_owned(),
    ];
    for path in &paths {
        let before = at_rest().await;
        let mut streams = Vec::new();
        for _ in 0..STREAMS {
            streams.push(unread(address, path).await);
        }
        let most = at_rest().await;
        spoken(&runtime, 10).await;
        let most = most.max(at_rest().await);
        eprintln!("{path}: {before} MB, with {STREAMS} streams {most} MB");
        assert!(most < before + MOST, "{path}: {before} MB, then {most} MB");
        // Nobody closes them but the server.
        until_open(address, 0).await;
        let after = at_rest().await;
        eprintln!("{path}: then {after} MB");
        assert!(
            after < before + MOST,
            "{path}: {before} MB, then {after} MB"
        );
        drop(streams);
    }
}
