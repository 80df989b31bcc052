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
        "/studio/..%2f..%2fCargo.toml",
        "/studio/%2e%2e%2fmod.rs",
        "/studio/mod.rs",
        "/studio/app.js%00",
        "/studio/%2fetc%2fpasswd",
        "/studio//etc/passwd",
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

/// A route with what a request can have there, from the OpenAPI document, so that none is forgotten.
struct Route {
    method: Method,
    path: String,
    queries: Vec<String>,
    headers: Vec<String>,
}

fn routes() -> Vec<Route> {
    let api = flow_server::open_api();
    let mut routes = Vec::new();
    for (path, methods) in api["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let named = |place: &str| {
                let at = parameters.clone().filter(|it| it["in"] == place);
                at.map(|it| it["name"].as_str().unwrap().to_owned())
                    .collect()
            };
            routes.push(Route {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                queries: named("query"),
                headers: named("header"),
            });
        }
    }
    let undescribed = [
        (Method::GET, "/"),
        (Method::GET, "/openapi.json"),
        (Method::GET, "/studio/{name}"),
        (Method::POST, "/mcp"),
    ];
    routes.extend(undescribed.map(|(method, path)| Route {
        method,
        path: path.to_owned(),
        queries: Vec::new(),
        headers: Vec::new(),
    }));
    routes
}

/// A body that some route takes, with random content.
fn random_body(random: &mut fastrand::Rng, words: &[String]) -> String {
    let number = random.u64(..) >> random.u32(..64);
    let mut word = || random.choice(words).unwrap().clone();
    let (first, second) = (word(), word());
    let body = match random.u8(..11) {
        0 => return String::new(),
        1 => return first,
        2 => return "[".repeat(random.usize(..5000)),
        3 => json!({ "reason": first }),
        4 => json!({ "seq": number, "values": { "amount": first, second: null } }),
        5 => json!({ "seq": number % 8, "values": { "amount": number } }),
        6 => json!({ "expiresInSeconds": number, "step": first }),
        7 => json!({ "Approve": { "comment": first } }),
        8 => json!({ "flow": { "name": first, "nodes": [] }, "status": "active" }),
        9 => {
            json!({ "flow": { "description": first }, "layout": null, "configuration": { second: 1 } })
        }
        _ => json!({ "employee": first, "amount": number }),
    };
    body.to_string()
}

/// The server with a definition, and the id of that.
#[cfg(feature = "definitions")]
async fn keeping_one(server: Server) -> (Server, String) {
    use flow_definitions::{Content, Definitions, MemoryDefinitions};

    let nodes = flow_loader::registry![];
    let definitions = Definitions::new(MemoryDefinitions::new(), nodes);
    let content = Content::new(json!({ "name": "Begun", "nodes": [], "edges": [] }));
    let definition = definitions.create(content).await.unwrap();
    let server = server.definitions(definitions).await.unwrap();
    (server, definition.id.to_string())
}

/// Random requests: none makes the server panic or say that it is its own fault.
#[tokio::test]
async fn random_requests_are_never_the_servers_fault() {
    let (runtime, gate) = runtime(&Default::default());
    gate.add_permits(10_000);
    let server = Server::new(runtime).authentication(tokens());
    #[cfg(not(feature = "definitions"))]
    let definition = String::new();
    #[cfg(feature = "definitions")]
    let (server, definition) = keeping_one(server).await;
    let router = server.router();
    let client = crate::support::Client::new(router.clone()).with_token("ann's token");
    let mut random = fastrand::Rng::with_seed(7);
    let routes = routes();
    let mut words: Vec<String> = [
        "",
        "0",
        "-1",
        "18446744073709551615",
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
        "outcome",
        "claim.decision",
    ]
    .map(str::to_owned)
    .into();
    words.push("x".repeat(600));
    let mut statuses = std::collections::BTreeSet::new();
    let mut asking = (String::new(), String::new());
    for round in 0..6000 {
        // Some of the requests remove it.
        if round % 40 == 0 {
            asking = client.asking().await;
        }
        let route = random.choice(&routes).unwrap();
        let mut word = |real: &str| {
            if random.bool() {
                real.to_owned()
            } else {
                encoded(random.choice(&words).unwrap())
            }
        };
        let path = route.path.replace("{id}", &word(&asking.0));
        let path = path.replace("{definition}", &word(&definition));
        let path = path.replace("{token}", &word(&asking.1));
        let path = path.replace("{signal}", &word("CancelRequest"));
        let mut path = path.replace("{name}", &word("Claim"));
        for key in route.queries.iter().map(String::as_str).chain(["x"]) {
            if random.u8(..) < 20 {
                let mark = if path.contains('?') { '&' } else { '?' };
                // Waiting would take its time.
                let word = match key {
                    "wait" => "0",
                    _ => random.choice(&words).unwrap(),
                };
                path = format!("{path}{mark}{key}={}", encoded(word));
            }
        }
        let any = [Method::GET, Method::POST, Method::DELETE, Method::PUT];
        let method = match random.u8(..4) {
            0 => random.choice(any).unwrap(),
            _ => route.method.clone(),
        };
        let Ok(mut request) = Request::builder()
            .method(method.clone())
            .uri(&path)
            .body(Body::from(random_body(&mut random, &words)))
        else {
            continue;
        };
        let token = random.choice(["Bearer ann's token", "Bearer operator's token"]);
        let token = HeaderValue::from_static(token.unwrap());
        request.headers_mut().insert(header::AUTHORIZATION, token);
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(header::CONTENT_TYPE, json);
        let common = ["content-type", "accept", "host", "if-none-match", "origin"];
        let headers = route.headers.iter().map(String::as_str).chain(common);
        for name in headers {
            if random.u8(..) < 20 {
                let bytes: Vec<u8> = (0..random.usize(..20)).map(|_| random.u8(32..)).collect();
                let Ok(value) = HeaderValue::from_bytes(&bytes) else {
                    continue;
                };
                let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
                request.headers_mut().insert(name, value);
            }
        }
        if random.u8(..) < 60 {
            let stream = HeaderValue::from_static("text/event-stream, application/json");
            request.headers_mut().insert(header::ACCEPT, stream);
        }
        let peer: std::net::SocketAddr = ([127, 0, 0, 1], 5000).into();
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        assert!(!status.is_server_error(), "{method} {path}: {status}");
        statuses.insert(status.as_u16());
        let content_type = response.headers().get(header::CONTENT_TYPE);
        if content_type.is_some_and(|it| it == "text/event-stream") {
            continue;
        }
        let is_problem = content_type.is_some_and(|it| it == "application/problem+json");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        // The protocol of tools has errors of its own.
        if status.is_client_error() && (is_problem || !path.starts_with("/mcp")) {
            let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(problem["status"], status.as_u16());
        }
    }
    // It came far enough to be taken at its word.
    for status in [200, 201, 204, 400, 404, 405, 409, 422] {
        assert!(statuses.contains(&status), "{statuses:?}");
    }
}

/// The same of the routes of the agent framework, whose errors are sentences.
#[tokio::test]
async fn random_requests_to_the_agent_framework_do_no_harm() {
    let (runtime, _) = runtime(&Default::default());
    let server = Server::new(runtime).authentication(tokens());
    let client =
        crate::support::Client::new(server.agent_framework_router()).with_token("ann's token");
    let mut random = fastrand::Rng::with_seed(7);
    let words = [
        "", "x", "%00", "%ff", "..%2f", "claim", "Claim", "decision", "%3Cb%3E",
    ];
    for _ in 0..500 {
        let mut word = || random.choice(words).unwrap();
        let path = match word() {
            "x" => format!("/api/flows/{}/resume", word()),
            key => format!("/api/flows/{}?executionId={key}&{key}={}", word(), word()),
        };
        let body = json!({ "prompt": word(), "nodeId": word(), "userInput": word() });
        let method = random.choice([Method::GET, Method::POST]).unwrap();
        let answer = client.send(method.clone(), &path, Some(body)).await;
        let reason = answer.text;
        match answer.status.as_u16() {
            200 | 400 | 404 | 405 => {}
            // The framework says this of everything that a flow refuses.
            500 => assert!(reason.starts_with("Error: "), "{method} {path}: {reason}"),
            other => panic!("{method} {path}: {other} {reason}"),
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
