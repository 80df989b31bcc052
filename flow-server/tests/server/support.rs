//! Flows that are served, and a client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use flow_durable::{MemoryStore, Runtime};
use flow_runtime::prelude::*;
use flow_server::{BearerTokens, Server};
use http_body_util::BodyExt as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

#[derive(Action, Serialize, Deserialize)]
pub(crate) enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn measure(amount: &u64) -> Size {
    match *amount {
        0..=100 => Size::Small,
        _ => Size::Large,
    }
}

#[node(human = "Approve {amount} EUR for {employee}?", timeout = "14d")]
#[derive(Serialize, Deserialize)]
enum Decision {
    Approve { comment: String },
    Reject { reason: String },
}

#[node(writes = receipt)]
fn pay(cx: &Context, amount: &u64, employee: &str) -> String {
    cx.emit("pay");
    cx.emit("ing");
    format!("{amount} EUR to {employee}")
}

flow! {
    /// Pays expenses.
    pub(crate) Claim(employee: String, amount: u64) -> (receipt: Option<String>) {
        start >> measure;
        measure  - "small"   >> pay;
        measure  - "large"   >> Decision;
        Decision - "approve" >> pay >> end;
        Decision - "reject"  >> end("rejected");
        Decision - "timeout" >> end("late");
    }
}

/// Lets a run pass when it may.
pub(crate) struct Gate(pub(crate) Arc<Semaphore>);

#[node(writes = passed)]
impl Gate {
    async fn exec(&self, cx: &Context, number: &u64) -> Result<u64, String> {
        cx.emit("waits");
        let permit = self.0.acquire().await.map_err(|error| error.to_string())?;
        permit.forget();
        cx.progress(1, Some(2));
        Ok(*number)
    }
}

flow! {
    pub(crate) Pass(number: u64) -> (passed: u64) {
        node gate: Gate;

        start >> gate >> end;
    }
}

#[node]
fn fails(text: &str) -> Result<u8, std::num::ParseIntError> {
    text.parse()
}

flow! {
    pub(crate) Failing(text: String) -> (fails: u8) {
        start >> fails >> end;
    }
}

#[node(writes = counted)]
fn count(counted: u64) -> u64 {
    counted + 1
}

flow! {
    pub(crate) Counting(counted: u64, until: u64) -> (counted: u64) {
        branch enough(counted, until) {
            counted >= until => "yes",
            else => "no",
        }
        start >> enough;
        enough - "no"  >> count >> enough;
        enough - "yes" >> end;
    }
}

/// The customer has changed their mind.
#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest {
    reason: String,
}

/// Everything is there.
#[node(signal)]
#[derive(Serialize, Deserialize)]
struct Vollständig;

flow! {
    /// Sends what was ordered.
    pub(crate) Order() -> (reason: Option<String>) {
        node outcome: first { CancelRequest => "cancelled", Vollständig => "complete", wait(2d) => "sent" };

        start >> outcome;
        outcome - "cancelled" >> end("cancelled");
        outcome - "complete"  >> end("complete");
        outcome - "sent"      >> end;
    }
}

/// Serves a flow that waits for signals, beside all others.
pub(crate) fn served_orders() -> Served {
    let (runtime, gate) = runtime(&Arc::default());
    runtime.register(Order::new()).unwrap();
    let server = Server::new(runtime).authentication(tokens());
    let client = Client::new(server.router()).with_token("ann's token");
    Served { gate, client }
}

/// A runtime with all flows, and what the gate waits for.
pub(crate) fn runtime(store: &Arc<MemoryStore>) -> (Runtime, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let runtime = Runtime::new(store.clone());
    runtime.register(Claim::new()).unwrap();
    let pass = Pass::builder().gate(Gate(gate.clone())).build();
    runtime.register(pass).unwrap();
    runtime.register(Failing::new()).unwrap();
    runtime.register(Counting::new()).unwrap();
    (runtime, gate)
}

/// The tokens of the tests.
pub(crate) fn tokens() -> BearerTokens {
    BearerTokens::new()
        .operator("operator's token")
        .owner("ann", "ann's token")
        .owner("ben", "ben's token")
}

/// A server with tokens, and a client of it.
pub(crate) struct Served {
    pub(crate) gate: Arc<Semaphore>,
    pub(crate) client: Client,
}

/// Serves all flows, from memory.
pub(crate) fn served() -> Served {
    served_with(|server| server)
}

pub(crate) fn served_with(change: impl FnOnce(Server) -> Server) -> Served {
    let (runtime, gate) = runtime(&Arc::default());
    let server = change(Server::new(runtime).authentication(tokens()));
    let client = Client::new(server.router()).with_token("ann's token");
    Served { gate, client }
}

/// Sends requests to a router.
#[derive(Clone)]
pub(crate) struct Client {
    router: Router,
    token: Option<String>,
    headers: Vec<(String, String)>,
    peer: Option<SocketAddr>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{error} in {}: {}", self.status, self.text))
    }

    /// The JSON of an answer that has this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self.json()
    }

    /// Checks that it is a problem of this kind, and returns it.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, kind: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(problem["type"], format!("urn:flow-server:{kind}"));
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string() && problem["detail"].is_string());
        let content_type = &self.headers[header::CONTENT_TYPE];
        assert_eq!(content_type, "application/problem+json");
        problem
    }
}

impl Client {
    pub(crate) fn new(router: Router) -> Self {
        Client {
            router,
            token: None,
            headers: Vec::new(),
            peer: None,
        }
    }

    pub(crate) fn with_token(&self, token: &str) -> Self {
        Client {
            token: Some(token.to_owned()),
            ..self.clone()
        }
    }

    pub(crate) fn without_token(&self) -> Self {
        Client {
            token: None,
            ..self.clone()
        }
    }

    pub(crate) fn with_header(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) fn from(&self, peer: &str) -> Self {
        Client {
            peer: Some(peer.parse().unwrap()),
            ..self.clone()
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.send_body(method, path, body).await
    }

    pub(crate) async fn send_body(&self, method: Method, path: &str, body: Body) -> Answer {
        let response = self.open(method, path, body).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    async fn open(&self, method: Method, path: &str, body: Body) -> axum::response::Response {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut request = request.body(body).unwrap();
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(ConnectInfo(peer));
        }
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Opens a stream of events.
    pub(crate) async fn stream(&self, path: &str) -> Sse {
        let client = self.with_header("accept", "text/event-stream");
        let response = client.open(Method::GET, path, Body::empty()).await;
        assert_eq!(response.status(), StatusCode::OK);
        Sse {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// What an open stream sends, until nothing comes for a while.
    pub(crate) async fn streamed(&self, path: &str) -> Vec<SentEvent> {
        let mut stream = self.stream(path).await;
        let mut events = Vec::new();
        let pause = Duration::from_millis(100);
        while let Ok(Some(event)) = tokio::time::timeout(pause, stream.next()).await {
            events.push(event);
        }
        events
    }

    /// Starts an execution, and returns its id when it has settled.
    pub(crate) async fn started(&self, flow: &str, input: Value) -> String {
        let path = format!("/flows/{flow}/executions?wait=5");
        let execution = self.post(&path, input).await.expect(201);
        execution["id"].as_str().unwrap().to_owned()
    }

    /// Starts an order that waits for signals, and returns its id.
    pub(crate) async fn waiting_order(&self) -> String {
        let started = self.post("/flows/Order/executions", json!({}));
        let id = started.await.expect(201)["id"].as_str().unwrap().to_owned();
        let path = format!("/executions/{id}");
        while self.get(&path).await.expect(200)["status"] != "paused" {
            tokio::task::yield_now().await;
        }
        id
    }

    /// Starts a claim that has to be approved, and returns its id and the token of its question.
    pub(crate) async fn asking(&self) -> (String, String) {
        let input = json!({ "employee": "Ann", "amount": 950 });
        let id = self.started("Claim", input).await;
        let questions = self.get(&format!("/executions/{id}/questions")).await;
        let token = questions.expect(200)["questions"][0]["token"].clone();
        (id, token.as_str().unwrap().to_owned())
    }
}

/// A stream of events.
pub(crate) struct Sse {
    body: Body,
    text: String,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentEvent {
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

impl Sse {
    /// The next event. `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<SentEvent> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
                if let Some(data) = field("data: ") {
                    return Some(SentEvent {
                        id: field("id: ").map(|id| id.parse().unwrap()),
                        data: serde_json::from_str(data).unwrap_or_else(|_| data.into()),
                    });
                }
            }
            let frame = self.body.frame().await?.unwrap();
            let data = frame.into_data().unwrap();
            self.text += std::str::from_utf8(&data).unwrap();
        }
    }

    /// All events until the stream ends.
    pub(crate) async fn all(mut self) -> Vec<SentEvent> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }

    /// Whether nothing comes for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(100), self.next())
            .await
            .is_err()
    }
}
