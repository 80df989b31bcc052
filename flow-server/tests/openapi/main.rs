//! The OpenAPI document says what the server does: schemathesis sends what it allows, and what it does not allow, to all
//! routes, and compares each answer with it.
//!
//! Where schemathesis is not installed the test says that it was skipped; where `CI` is set, it fails. `OPENAPI_EXAMPLES` is
//! how many requests it makes for each route, 25 if it is not said: a longer run finds more. What it does not complain about
//! is in `schemathesis.toml`.

#[path = "../server/support.rs"]
#[expect(dead_code, reason = "for the tests of the routes")]
mod support;

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{self, Next};
use flow_runtime::prelude::*;
use flow_server::{Limits, Server};
use serde_json::{Value, json};
use support::{Client, runtime, tokens};
use tokio::net::TcpListener;

/// The folder with schemathesis, if it is here. `.ci/install` makes it.
fn environment() -> Option<PathBuf> {
    let named = env::var_os("OPENAPI_CHECK").map(PathBuf::from);
    let target = || {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
        Some(folder.join("openapi-check"))
    };
    let found = named.or_else(target)?;
    if found.join("bin/schemathesis").is_file() {
        return Some(found);
    }
    assert!(
        env::var_os("CI").is_none(),
        "no schemathesis in {}: `.ci/install` installs it",
        found.display()
    );
    println!("skipped: there is no schemathesis here");
    None
}

/// Any JSON.
#[node(signal)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
struct Note {
    note: Value,
}

flow! {
    Notes() -> (note: Value) {
        start >> Note >> end;
    }
}

/// All routes.
async fn served() -> Router {
    let (runtime, gate) = runtime(&Arc::default());
    runtime.register(Notes::new()).unwrap();
    gate.add_permits(1_000_000);
    let limits = Limits {
        // Nobody is asked to wait, and nothing is refused because there is much of it.
        wait: Duration::from_millis(10),
        requests_per_second: const { NonZeroU32::new(1_000_000).unwrap() },
        ..Limits::default()
    };
    let server = Server::new(runtime).authentication(tokens()).limits(limits);
    #[cfg(feature = "definitions")]
    let server = {
        use flow_definitions::{Definitions, MemoryDefinitions};
        let definitions = Definitions::new(MemoryDefinitions::new(), flow_loader::registry![]);
        server.definitions(definitions).await.unwrap()
    };
    server.router()
}

/// Serves, as if each request came from another address: one address is not told the reason for each refusal.
async fn serve(router: Router) -> SocketAddr {
    let peers = Arc::new(AtomicU32::new(0));
    let router = router.layer(middleware::from_fn(
        move |mut request: Request, next: Next| {
            let [.., high, middle, low] = peers.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            let peer = SocketAddr::from(([10, high, middle, low], 5000));
            request.extensions_mut().insert(ConnectInfo(peer));
            next.run(request)
        },
    ));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, router).await });
    address
}

/// The ids with which schemathesis sends requests.
#[derive(PartialEq)]
enum Ids {
    Random,
    /// Of an execution, a question and a flow that there are.
    Real,
    /// Of an execution that waits for signals.
    OfSignals,
}

/// Runs schemathesis on a server of its own.
async fn check(environment: &Path, routes: &[&str], ids: Ids) {
    let router = served().await;
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi");
    let mut settings = fs::read_to_string(here.join("schemathesis.toml")).unwrap();
    if ids == Ids::OfSignals {
        let client = Client::new(router.clone()).with_token("operator's token");
        // It does not begin, so all signals wait.
        let path = "/flows/Notes/executions?notBeforeMs=4102444800000";
        let started = client.post(path, json!({})).await.expect(201);
        let id = started["id"].as_str().unwrap();
        settings = format!(
            "[parameters]\n\"path.id\" = \"{id}\"\n\"path.signal\" = \"Note\"\n\n{settings}"
        );
    }
    if ids == Ids::Real {
        let client = Client::new(router.clone()).with_token("operator's token");
        let (id, token) = client.asking().await;
        #[cfg(feature = "definitions")]
        let id = {
            let body = serde_json::json!({ "flow": { "name": "Kept" } });
            let kept = client.post("/definitions", body).await.expect(201);
            format!(
                "{id}\"\n\"path.definition\" = \"{}",
                kept["id"].as_str().unwrap()
            )
        };
        settings = format!(
            "[parameters]\n\"path.name\" = \"Claim\"\n\"path.id\" = \"{id}\"\n\"path.token\" = \"{token}\"\n\n{settings}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schemathesis.toml");
    fs::write(&file, settings).unwrap();
    let address = serve(router).await;

    let examples = env::var("OPENAPI_EXAMPLES").unwrap_or_else(|_| "25".to_owned());
    let mut command = Command::new(environment.join("bin/schemathesis"));
    command.current_dir(folder.path());
    command.arg("--config-file").arg(file).arg("run");
    command.arg(format!("http://{address}/openapi.json"));
    command.args(["--header", "Authorization: Bearer operator's token"]);
    command.args(["--checks", "all", "--no-color"]);
    command.args(["--max-examples", &examples]);
    command.args([
        "--generation-deterministic",
        "--continue-on-failure",
        "--no-shrink",
    ]);
    command.args(routes);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output = output.await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // It has come to its end.
    assert!(said.contains("Test cases:"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_does_what_the_document_says() {
    if let Some(environment) = environment() {
        check(&environment, &[], Ids::Random).await;
    }
}

/// The same with an execution, a question and a flow that there are.
#[tokio::test(flavor = "multi_thread")]
async fn each_route_does_what_the_document_says_with_what_there_is() {
    if let Some(environment) = environment() {
        let others = ["--exclude-method", "DELETE"];
        check(&environment, &others, Ids::Real).await;
    }
}

/// The same with an execution that takes any JSON as a signal.
#[tokio::test(flavor = "multi_thread")]
async fn signals_are_sent_as_the_document_says() {
    if let Some(environment) = environment() {
        let routes = ["--include-operation-id", "send_signal"];
        let others = ["--include-operation-id", "list_signals"];
        check(&environment, &[routes, others].concat(), Ids::OfSignals).await;
    }
}
