//! Calls of the server, and the workers that it calls.

use std::sync::Arc;
use std::time::Duration;

use flow_restate::Endpoint;
use flow_runtime::Event;
use flow_services::Restate;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::flows::*;
use crate::wide::Wide;

/// The number of retries of a call while the server is down.
const PATIENCE: u32 = 600;

/// A process with flows, more or less: a separate tokio runtime, which leaves nothing when it is
/// killed.
pub(crate) struct Worker {
    pub(crate) port: u16,
    endpoint: fn(Settings) -> Endpoint,
    settings: Settings,
    runtime: Option<Runtime>,
}

/// The settings of a worker for its runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// The maximum number of steps.
    pub(crate) steps: u64,
    /// The number of entries after which they continue in a new invocation.
    pub(crate) entries: Option<u64>,
}

/// Runs that stay in their first invocation.
pub(crate) const WHOLE: Settings = Settings {
    steps: 100_000,
    entries: Some(u64::MAX),
};

/// Runs that continue in a new invocation after each entry of the journal.
pub(crate) const IN_PARTS: Settings = Settings {
    steps: 100_000,
    entries: Some(0),
};

impl Worker {
    pub(crate) fn start(settings: Settings) -> Worker {
        Worker::of(endpoint, settings)
    }

    pub(crate) fn of(endpoint: fn(Settings) -> Endpoint, settings: Settings) -> Worker {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let runtime = Some(serve(listener, endpoint(settings)));
        Worker {
            port,
            endpoint,
            settings,
            runtime,
        }
    }

    /// Registers the worker with a server.
    pub(crate) async fn register(&self, server: &Restate) {
        let (status, said) = self.try_to_register(server).await;
        assert_eq!(status, 201, "{said}");
    }

    /// Registers the worker with a server, and returns the status and the text.
    pub(crate) async fn try_to_register(&self, server: &Restate) -> (u16, String) {
        let address = json!({ "uri": format!("http://127.0.0.1:{}", self.port) });
        let admin = server.admin();
        let said = call(&admin, "POST", "/deployments", &address).await;
        said.unwrap()
    }

    /// Drops everything at once.
    pub(crate) fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }

    /// Starts again with other flows, or as another endpoint of the same ones.
    #[cfg(feature = "identity")]
    pub(crate) fn start_again_as(&mut self, endpoint: fn(Settings) -> Endpoint) {
        self.endpoint = endpoint;
        self.start_again();
    }

    pub(crate) fn start_again(&mut self) {
        let listener = std::net::TcpListener::bind(("127.0.0.1", self.port)).unwrap();
        self.runtime = Some(serve(listener, (self.endpoint)(self.settings)));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn serve(listener: std::net::TcpListener, endpoint: Endpoint) -> Runtime {
    listener.set_nonblocking(true).unwrap();
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    runtime.spawn(async {
        let listener = TcpListener::from_std(listener).unwrap();
        endpoint.serve(listener).await.unwrap();
    });
    runtime
}

/// The flows of the tests.
fn endpoint(settings: Settings) -> Endpoint {
    let endpoint = Endpoint::new()
        .flow(Answered::new())
        .flow(Asking::new())
        .flow(Batch::new())
        .flow(Bulky::new())
        .flow(Chain::new())
        .flow(Climb::new())
        .flow(Count::new())
        .flow(Doomed::new())
        .flow(Excused::new())
        .flow(Failing::new())
        .flow(Halted::new())
        .flow(Hasty::new())
        .flow(Heavy::new())
        .flow(Impatient::new())
        .flow(Laden::new())
        .flow(Long::new())
        .flow(Loud::new())
        .flow(Outer::new())
        .flow(Raced::new())
        .flow(Racing::new())
        .flow(Retried::new())
        .flow(SlowCount::new())
        .flow(SlowTally::new())
        .flow(Stubborn::new())
        .flow(Talking::new())
        .flow(Told::new())
        .flow(Torn::new())
        .flow(Waiting::new())
        .flow(Watched::new())
        .flow(Wide::new())
        .flow(Wild::new())
        .step_budget(settings.steps)
        .observer(Arc::new(|event: &Event<'_>| {
            EVENTS.lock().unwrap().push(event.to_string());
        }));
    match settings.entries {
        Some(entries) => endpoint.entries_per_invocation(entries),
        None => endpoint,
    }
}

/// Starts a server and a registered worker. Returns `None` if the server is not installed.
pub(crate) async fn server_and_worker() -> Option<(Restate, Worker)> {
    server_and_worker_with(WHOLE).await
}

/// Like [`server_and_worker`], but with these settings for the worker.
pub(crate) async fn server_and_worker_with(settings: Settings) -> Option<(Restate, Worker)> {
    let server = Restate::start()?;
    let worker = Worker::start(settings);
    worker.register(&server).await;
    Some((server, worker))
}

/// Runs a flow to its end, and returns the output, or the status and the error.
pub(crate) async fn run(
    server: &Restate,
    flow: &str,
    key: &str,
    input: &Value,
) -> Result<Value, (u16, String)> {
    start(server, flow, key, input).await;
    attach(&server.ingress(), flow, key).await
}

/// Starts a run, and returns the id of its invocation.
pub(crate) async fn start(server: &Restate, flow: &str, key: &str, input: &Value) -> String {
    let path = format!("/{flow}/{key}/run/send");
    let (status, said) = call(&server.ingress(), "POST", &path, input).await.unwrap();
    assert_eq!(status, 202, "{said}");
    let said: Value = serde_json::from_str(&said).unwrap();
    said["invocationId"].as_str().unwrap().to_owned()
}

/// Waits for the end of a run, also while the server is down.
pub(crate) async fn attach(ingress: &str, flow: &str, key: &str) -> Result<Value, (u16, String)> {
    let path = format!("/restate/workflow/{flow}/{key}/attach");
    for _ in 0..PATIENCE {
        match call(ingress, "GET", &path, &Value::Null).await {
            Some((200, said)) => return Ok(serde_json::from_str(&said).unwrap()),
            // Parts of the server are still down, or were when they were asked.
            Some((404 | 429 | 502 | 503 | 504, _)) | None => {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Some((status, said)) => return Err((status, said)),
        }
    }
    panic!("{flow}/{key} does not end");
}

/// Queries the server's tables, also while parts of the server are still down.
pub(crate) async fn query(server: &Restate, sql: &str) -> Vec<Value> {
    let body = json!({ "query": sql });
    for _ in 0..PATIENCE {
        match call(&server.admin(), "POST", "/query", &body).await {
            Some((200, said)) => {
                let said: Value = serde_json::from_str(&said).unwrap();
                return said["rows"].as_array().unwrap().clone();
            }
            Some((500 | 503, _)) | None => tokio::time::sleep(Duration::from_millis(100)).await,
            Some((status, said)) => panic!("{status}: {said}"),
        }
    }
    panic!("the server does not answer: {sql}");
}

/// Returns the status and the text, or `None` if the connection fails.
pub(crate) async fn call(
    host: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> Option<(u16, String)> {
    let address = host.strip_prefix("http://").unwrap();
    let stream = TcpStream::connect(address).await.ok()?;
    let connected = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = connected.ok()?;
    tokio::spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", address)
        .header("accept", "application/json");
    let mut text = String::new();
    if !body.is_null() {
        request = request.header("content-type", "application/json");
        text = body.to_string();
    }
    let request = request.body(Full::new(Bytes::from(text))).unwrap();
    let response = sender.send_request(request).await.ok()?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.ok()?.to_bytes();
    Some((status, String::from_utf8_lossy(&body).into_owned()))
}
