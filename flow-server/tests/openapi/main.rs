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
use std::time::Duration;

use axum::Router;
use flow_server::{Limits, Server};
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

/// A server with all routes, and how it answers without a network.
async fn served() -> (Server, Router) {
    let (runtime, gate) = runtime(&Arc::default());
    gate.add_permits(1_000_000);
    let limits = Limits {
        // Nobody is asked to wait, and nothing is refused because there is much of it.
        wait: Duration::from_millis(10),
        requests_per_second: const { NonZeroU32::new(1_000_000).unwrap() },
        ..Limits::default()
    };
    let server = || async {
        let server = Server::new(runtime.clone()).authentication(tokens());
        server.limits(limits.clone())
    };
    (server().await, server().await.router())
}

/// Runs schemathesis on a server of its own, with these lines added to its settings.
async fn check(environment: &Path, seed: u32, routes: &[&str], real: bool) {
    let (server, router) = served().await;
    #[cfg(feature = "definitions")]
    let server = {
        use flow_definitions::{Definitions, MemoryDefinitions};
        let definitions = Definitions::new(MemoryDefinitions::new(), flow_loader::registry![]);
        server.definitions(definitions).await.unwrap()
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openapi");
    let mut settings = fs::read_to_string(here.join("schemathesis.toml")).unwrap();
    if real {
        let client = Client::new(router).with_token("operator's token");
        let (id, token) = client.asking().await;
        settings = format!(
            "[parameters]\n\"path.name\" = \"Claim\"\n\"path.id\" = \"{id}\"\n\"path.token\" = \"{token}\"\n\n{settings}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schemathesis.toml");
    fs::write(&file, settings).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    tokio::spawn(server.serve_until(listener, std::future::pending()));

    let examples = env::var("OPENAPI_EXAMPLES").unwrap_or_else(|_| "25".to_owned());
    let mut command = Command::new(environment.join("bin/schemathesis"));
    command.current_dir(folder.path());
    command.arg("--config-file").arg(file).arg("run");
    command.arg(format!("http://{address}/openapi.json"));
    command.args(["--header", "Authorization: Bearer operator's token"]);
    command.args([
        "--checks",
        "all",
        "--no-color",
        "--generation-database",
        "none",
    ]);
    command.args(["--max-examples", &examples, "--seed", &seed.to_string()]);
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
    // It has not left out what it was to do.
    assert!(said.contains("No issues found"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_route_does_what_the_document_says() {
    if let Some(environment) = environment() {
        check(&environment, 1, &[], false).await;
    }
}

/// The same with an execution, a question and a flow that there are.
#[tokio::test(flavor = "multi_thread")]
async fn each_route_does_what_the_document_says_with_what_there_is() {
    if let Some(environment) = environment() {
        let others = [
            "--exclude-method",
            "DELETE",
            "--exclude-path-regex",
            "definition",
        ];
        check(&environment, 2, &others, true).await;
    }
}
