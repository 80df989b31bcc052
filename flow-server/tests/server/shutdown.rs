//! How the server stops.

use std::time::Duration;

use flow_durable::{RecordKind, StartOptions, Status};
use flow_server::{Limits, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::support::{runtime, tokens};

fn request(method: &str, path: &str, accept: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann's token\r\nAccept: {accept}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A running step has time to end.
#[tokio::test]
async fn a_running_step_ends_before_the_server_does() {
    let store = Default::default();
    let (first, gate) = runtime(&store);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::new(first.clone()).authentication(tokens());
    let serving = tokio::spawn(server.serve_until(listener, async {
        let _ = stopped.await;
    }));
    let executions = first.owned_by("ann");
    let started = executions.start_json("Pass", json!({ "number": 7 }), StartOptions::new());
    let execution = started.await.unwrap();
    while !execution
        .journal()
        .await
        .unwrap()
        .iter()
        .any(|record| record.kind == RecordKind::NodeStarted)
    {
        tokio::task::yield_now().await;
    }
    stop.send(()).unwrap();
    // What listened is gone when the server begins to wait for the step.
    let closed = async {
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    let closed = tokio::time::timeout(Duration::from_secs(60), closed).await;
    closed.expect("the server still listens");
    assert!(!serving.is_finished());
    gate.add_permits(1);
    let done = tokio::time::timeout(Duration::from_secs(60), serving).await;
    done.unwrap().unwrap().unwrap();
    let execution = execution.refreshed().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
}

/// Streams end, a request that waits is answered, and another process goes on with the execution.
#[tokio::test]
async fn the_server_drains_when_it_stops() {
    let store = Default::default();
    let (first, _) = runtime(&store);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let limits = Limits {
        drain: Duration::from_millis(200),
        ..Limits::default()
    };
    let server = Server::new(first).authentication(tokens()).limits(limits);
    let serving = tokio::spawn(server.serve_until(listener, async {
        let _ = stopped.await;
    }));

    let mut waiting = TcpStream::connect(address).await.unwrap();
    let start = request(
        "POST",
        "/flows/Pass/executions?wait=60",
        "*/*",
        r#"{"number": 7}"#,
    );
    waiting.write_all(start.as_bytes()).await.unwrap();
    let mut streaming = TcpStream::connect(address).await.unwrap();
    let watch = request("GET", "/events?after=0", "text/event-stream", "");
    streaming.write_all(watch.as_bytes()).await.unwrap();
    let mut streamed = String::new();
    while !streamed.contains("node_start") {
        let mut buffer = [0; 4096];
        let read = streaming.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0);
        streamed += std::str::from_utf8(&buffer[..read]).unwrap();
    }

    stop.send(()).unwrap();
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let body = &answer[answer.find("\r\n\r\n").unwrap() + 4..];
    let execution: Value = serde_json::from_str(body).unwrap();
    assert_eq!(execution["status"], "running");
    let mut rest = Vec::new();
    streaming.read_to_end(&mut rest).await.unwrap();
    assert!(
        rest.ends_with(b"0\r\n\r\n"),
        "the stream ended as it should"
    );
    let done = tokio::time::timeout(Duration::from_secs(60), serving).await;
    done.unwrap().unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());

    let (second, gate) = runtime(&store);
    second.recover().await.unwrap();
    gate.add_permits(1);
    let id = execution["id"].as_str().unwrap().parse().unwrap();
    let executions = second.owned_by("ann");
    let settled = executions.get(id).await.unwrap().settled().await.unwrap();
    assert_eq!(
        settled.output_json().unwrap(),
        Some(json!({ "passed": 7, "end": "default" }))
    );
}
