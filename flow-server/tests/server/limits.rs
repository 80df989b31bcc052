//! How much the server takes from its clients.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Method;
use flow_server::{Limits, Server};
use futures_util::StreamExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{runtime, served_with, tokens};

#[tokio::test]
async fn a_large_body_is_refused() {
    let limits = Limits {
        body_bytes: 1000,
        ..Limits::default()
    };
    let client = served_with(|server| server.limits(limits)).client;
    let input = json!({ "employee": "x".repeat(2000), "amount": 30 });
    let refused = client.post("/flows/Claim/executions", input).await;
    refused.problem(413, "too-large");
    let input = json!({ "employee": "x".repeat(500), "amount": 30 });
    client
        .post("/flows/Claim/executions", input)
        .await
        .expect(201);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_refused() {
    let client = served_with(|server| server).client;
    let never = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))])
        .chain(futures_util::stream::pending());
    let body = Body::from_stream(never);
    let refused = client
        .send_body(Method::POST, "/flows/Claim/executions", body)
        .await;
    refused.problem(408, "too-slow");
}

#[tokio::test]
async fn too_many_requests_are_refused() {
    let limits = Limits {
        requests_per_second: NonZeroU32::new(5).unwrap(),
        ..Limits::default()
    };
    // A short id is looked up, and the request counts once all the same.
    for path in ["/flows", "/executions/0000"] {
        let client = served_with(|server| server.limits(limits.clone())).client;
        let mut answers = Vec::new();
        for _ in 0..10 {
            answers.push(client.get(path).await);
        }
        let refused = answers
            .iter()
            .filter(|answer| answer.status.as_u16() == 429)
            .count();
        assert!((4..=5).contains(&refused), "{path}: {refused}");
    }
    let client = served_with(|server| server.limits(limits)).client;
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(client.get("/flows").await);
    }
    let last = answers.last().unwrap();
    last.problem(429, "too-many-requests");
    assert_eq!(last.headers["retry-after"], "1");
    // Others are not concerned.
    client
        .with_token("ben's token")
        .get("/flows")
        .await
        .expect(200);
}

#[tokio::test]
async fn too_many_streams_are_refused() {
    let limits = Limits {
        streams: NonZeroUsize::new(2).unwrap(),
        ..Limits::default()
    };
    let client = served_with(|server| server.limits(limits)).client;
    let first = client.stream("/events").await;
    let _second = client.stream("/events").await;
    let third = client.with_header("accept", "text/event-stream");
    third.get("/events").await.problem(503, "unavailable");
    drop(first);
    let _third = client.stream("/events").await;
}

/// One owner cannot take the streams of the others, and whoever has a link takes those of its owner.
#[tokio::test]
async fn an_owner_has_so_many_streams() {
    let limits = Limits {
        streams_per_owner: NonZeroUsize::new(2).unwrap(),
        ..Limits::default()
    };
    let client = served_with(|server| server.limits(limits)).client;
    let (id, _) = client.asking().await;
    let path = format!("/executions/{id}/events");
    let links = format!("/executions/{id}/links");
    let made = client
        .post(&links, json!({ "expiresInSeconds": 60 }))
        .await
        .expect(201);
    let link = made["link"].as_str().unwrap();
    let first = client.stream("/events").await;
    let second = client.stream(&path).await;
    let guest = client.with_token(link);
    for more in [&client, &guest] {
        let more = more.with_header("accept", "text/event-stream");
        let refused = more.get(&path).await;
        refused.problem(429, "too-many-requests");
        assert_eq!(refused.headers["retry-after"], "5");
        // Without a stream there are events all the same.
        client.get(&path).await.expect(200);
    }
    let ben = client.with_token("ben's token");
    let _bens = [ben.stream("/events").await, ben.stream("/events").await];
    let operator = client.with_token("operator's token");
    let mut operators = Vec::new();
    for _ in 0..3 {
        operators.push(operator.stream(&path).await);
    }
    drop(first);
    let guests = guest.stream(&path).await;
    drop((second, guests));
    let _again = [client.stream(&path).await, guest.stream(&path).await];
}

/// Somebody who reads nothing of a stream is cut off, and can resume it.
#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    let limits = Limits {
        write_time: Duration::from_millis(500),
        ..Limits::default()
    };
    let address = listening(limits).await;
    let input = r#"{"counted":0,"until":10000}"#;
    let mut start = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /flows/Counting/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann's token\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{input}",
        input.len()
    );
    start.write_all(head.as_bytes()).await.unwrap();
    let mut started = String::new();
    start.read_to_string(&mut started).await.unwrap();
    let (_, body) = started.split_once("\r\n\r\n").unwrap();
    let started: serde_json::Value = serde_json::from_str(body).unwrap();
    let id = started["id"].as_str().unwrap();

    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let head = format!(
        "GET /executions/{id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann's token\r\n\
         Accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let open = async || {
        let mut metrics = TcpStream::connect(address).await.unwrap();
        let head =
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator's token\r\n\
                     Connection: close\r\n\r\n";
        metrics.write_all(head).await.unwrap();
        let mut text = String::new();
        metrics.read_to_string(&mut text).await.unwrap();
        text.contains("\nflow_event_streams 1\n")
    };
    let at_most = Duration::from_secs(60);
    let cut_off = async {
        while !open().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        while open().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(at_most, cut_off).await.unwrap();
    // It gets what was under way, and no end.
    let mut seen = Vec::new();
    let _ = stream.read_to_end(&mut seen).await;
    let seen = String::from_utf8_lossy(&seen);
    assert!(!seen.contains("run_completed"));
    // The last one is cut off.
    let (seen, _) = seen.rsplit_once("\n\n").unwrap();
    let last = seen.lines().rfind(|line| line.starts_with("id: ")).unwrap();
    let last: u64 = last["id: ".len()..].parse().unwrap();

    let mut again = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /executions/{id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann's token\r\n\
         Accept: text/event-stream\r\nLast-Event-ID: {last}\r\nConnection: close\r\n\r\n"
    );
    again.write_all(head.as_bytes()).await.unwrap();
    let mut rest = String::new();
    again.read_to_string(&mut rest).await.unwrap();
    let first = rest.lines().find(|line| line.starts_with("id: ")).unwrap();
    assert_eq!(first, format!("id: {}", last + 1));
    assert!(rest.contains("run_completed"));
}

async fn listening(limits: Limits) -> std::net::SocketAddr {
    let (runtime, _) = runtime(&Default::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(runtime).authentication(tokens()).limits(limits);
    tokio::spawn(server.serve_until(listener, std::future::pending()));
    address
}

/// Somebody who sends the head of a request a byte at a time is cut off, and holds up nobody.
#[tokio::test]
async fn a_slow_head_is_cut_off() {
    let limits = Limits {
        request_time: Duration::from_millis(300),
        ..Limits::default()
    };
    let address = listening(limits).await;
    let slow = TcpStream::connect(address).await.unwrap();
    let (mut read, mut write) = slow.into_split();
    let trickle = tokio::spawn(async move {
        for byte in b"GET /health HTTP/1.1\r\nHost: x\r\nX: "
            .iter()
            .chain(&[b'x'; 1000])
        {
            if write.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the server has read it to its end");
    });
    let silent = TcpStream::connect(address).await.unwrap();
    let (mut silence, _open) = silent.into_split();
    for stream in [&mut read, &mut silence] {
        let mut all = Vec::new();
        let cut_off = tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut all));
        // Whether it is reset or closed does not matter.
        let _ = cut_off.await.expect("it is cut off");
        assert!(!String::from_utf8_lossy(&all).contains("200 OK"));
    }
    trickle.await.unwrap();
}

/// The same of a body.
#[tokio::test]
async fn a_slow_body_is_cut_off() {
    let limits = Limits {
        request_time: Duration::from_millis(300),
        ..Limits::default()
    };
    let address = listening(limits).await;
    let mut slow = TcpStream::connect(address).await.unwrap();
    let head = "POST /flows/Claim/executions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ann's token\r\n\
                Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n";
    slow.write_all(head.as_bytes()).await.unwrap();
    let (mut read, mut write) = slow.into_split();
    let trickle = tokio::spawn(async move {
        while write.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut answer = vec![0; 12];
    let answered = tokio::time::timeout(Duration::from_secs(60), read.read_exact(&mut answer));
    answered.await.expect("it is answered").unwrap();
    assert_eq!(answer, b"HTTP/1.1 408");
    trickle.abort();
}

/// Further connections wait until one is closed.
#[tokio::test]
async fn connections_are_limited() {
    let limits = Limits {
        connections: NonZeroUsize::new(1).unwrap(),
        ..Limits::default()
    };
    let address = listening(limits).await;
    let request = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(request).await.unwrap();
    let mut buffer = [0; 12];
    first.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"HTTP/1.1 200");
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(request).await.unwrap();
    let waits = tokio::time::timeout(Duration::from_millis(200), second.read_exact(&mut buffer));
    assert!(waits.await.is_err());
    drop(first);
    second.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"HTTP/1.1 200");
}
