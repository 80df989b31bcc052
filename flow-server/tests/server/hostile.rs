//! Clients that mean no good.

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderName, HeaderValue, Method, Request, header};
use flow_server::Server;
use http_body_util::BodyExt as _;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt as _;

use crate::support::{runtime, served, tokens};

/// Paths that would lead out of a folder, if there were one.
#[tokio::test]
async fn paths_lead_nowhere_else() {
    let client = served().client;
    for path in [
        "/../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/flows/..%2f..%2fetc%2fpasswd",
        "/flows/%00",
        "/flows/Claim%2f..",
        "/executions/..%2fflows",
        "/studio/../../Cargo.toml",
        "//etc/passwd",
    ] {
        let answer = client.get(path).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        assert!(!answer.text.contains("root:"), "{path}");
    }
}

/// What users write comes back as JSON, which no browser takes for a page.
#[tokio::test]
async fn markup_of_users_is_never_a_page() {
    let client = served().client;
    let markup = "<script>alert(1)</script>";
    let input = json!({ "employee": markup, "amount": 950 });
    let id = client.started("Claim", input).await;
    let wrong = json!({ markup: markup });
    let answers = [
        client.get(&format!("/executions/{id}/journal")).await,
        client.get(&format!("/executions/{id}/questions")).await,
        client.post("/flows/Claim/executions", wrong).await,
        client
            .get("/flows/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
            .await,
        client.get("/executions?status=%3Cscript%3E").await,
    ];
    for answer in answers {
        let content_type = answer.headers[header::CONTENT_TYPE].to_str().unwrap();
        assert!(content_type.ends_with("json"), "{content_type}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    }
}

/// Random requests: none makes the server panic or say that it is its own fault.
#[tokio::test]
async fn random_requests_are_never_the_servers_fault() {
    let (runtime, _) = runtime(&Default::default());
    let router = Server::new(runtime).authentication(tokens()).router();
    let mut random = fastrand::Rng::with_seed(7);
    let paths: Vec<String> = flow_server::open_api()["paths"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    let words = [
        "",
        "0",
        "-1",
        "18446744073709551616",
        "null",
        "{}",
        "[]",
        "\"",
        "%",
        "%ff",
        "a..b",
        "Claim",
        "*",
        "true",
        "01a00000-0000-7000-8000-000000000000",
        "💥",
        "'; drop table",
        "running",
    ];
    for _ in 0..3000 {
        let mut path = random.choice(&paths).unwrap().clone();
        for part in ["{id}", "{name}", "{token}"] {
            let word = random.choice(words).unwrap();
            path = path.replace(part, &encoded(word));
        }
        for (index, key) in [
            "wait", "limit", "from", "seq", "after", "kind", "path", "status", "link", "x",
        ]
        .iter()
        .enumerate()
        {
            if random.u8(..) < 40 {
                let mark = if path.contains('?') { '&' } else { '?' };
                // Waiting would take its time.
                let word = if index == 0 {
                    "0"
                } else {
                    random.choice(words).unwrap()
                };
                path = format!("{path}{mark}{key}={}", encoded(word));
            }
        }
        let method = random
            .choice([Method::GET, Method::POST, Method::DELETE, Method::PUT])
            .unwrap();
        let body = match random.u8(..4) {
            0 => String::new(),
            1 => (*random.choice(words).unwrap()).to_owned(),
            2 => "[".repeat(random.usize(..5000)),
            _ => json!({ "employee": random.choice(words).unwrap(), "amount": random.i64(..) })
                .to_string(),
        };
        let Ok(mut request) = Request::builder()
            .method(method.clone())
            .uri(&path)
            .body(Body::from(body))
        else {
            continue;
        };
        let token = HeaderValue::from_static("Bearer ann's token");
        request.headers_mut().insert(header::AUTHORIZATION, token);
        for name in ["content-type", "last-event-id", "idempotency-key", "accept"] {
            if random.u8(..) < 60 {
                let bytes: Vec<u8> = (0..random.usize(..20)).map(|_| random.u8(32..)).collect();
                if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                    request
                        .headers_mut()
                        .insert(HeaderName::from_static(name), value);
                }
            }
        }
        let peer: std::net::SocketAddr = ([127, 0, 0, 1], 5000).into();
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        assert!(!status.is_server_error(), "{method} {path}: {status}");
        if response
            .headers()
            .get(header::CONTENT_TYPE)
            .is_some_and(|it| it == "text/event-stream")
        {
            continue;
        }
        let body = response.into_body().collect().await.unwrap().to_bytes();
        if status.is_client_error() {
            let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(problem["status"], status.as_u16());
        }
    }
}

fn encoded(word: &str) -> String {
    word.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Bytes that are no HTTP: the connection is closed, and the server goes on.
#[tokio::test]
async fn random_bytes_do_no_harm() {
    let (runtime, _) = runtime(&Default::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(runtime).authentication(tokens());
    tokio::spawn(server.serve_until(listener, std::future::pending()));
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..200 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let bytes: Vec<u8> = (0..random.usize(1..2000)).map(|_| random.u8(..)).collect();
        if random.bool() {
            let _ = stream.write_all(b"GET /health HTTP/1.1\r\nX: ").await;
        }
        let _ = stream.write_all(&bytes).await;
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
