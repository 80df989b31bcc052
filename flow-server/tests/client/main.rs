//! A client that a generator made from the OpenAPI document, in Python, does what clients of others do.
//!
//! Where the generator is not installed the test says that it was skipped; where `CI` is set, it fails.

#[path = "../server/support.rs"]
#[expect(dead_code, reason = "for the tests of the routes")]
mod support;

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use flow_durable::{MemoryStore, Runtime};
use flow_server::Server;
use support::{Claim, Order, tokens};
use tokio::net::TcpListener;

/// The folder with the generator and Python, if it is here. `.ci/install` makes it.
fn environment() -> Option<PathBuf> {
    let named = env::var_os("OPENAPI_CLIENT").map(PathBuf::from);
    let target = || {
        Some(
            Path::new(env!("CARGO_TARGET_TMPDIR"))
                .parent()?
                .join("openapi-client"),
        )
    };
    let found = named.or_else(target)?;
    if found.join("bin/openapi-python-client").is_file() {
        return Some(found);
    }
    assert!(
        env::var_os("CI").is_none(),
        "no openapi-python-client in {}: `.ci/install` installs it",
        found.display()
    );
    println!("skipped: there is no openapi-python-client here");
    None
}

/// Runs a program that must succeed, and returns what it printed.
fn called(program: &mut Command) -> String {
    let output = program.output().unwrap();
    let (text, error) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{program:?}\n{text}{error}");
    text
}

/// The document has nothing that the generator does not understand, and everything that the client
/// sends and gets is as it says.
#[tokio::test(flavor = "multi_thread")]
async fn a_generated_client_uses_the_server() {
    let Some(environment) = environment() else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client");
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("openapi.json");
    fs::write(&document, flow_server::open_api().to_string()).unwrap();
    let mut generator = Command::new(environment.join("bin/openapi-python-client"));
    generator.args(["generate", "--meta", "none", "--fail-on-warning", "--path"]);
    generator.arg(document).arg("--config");
    generator
        .arg(here.join("generator.yaml"))
        .arg("--output-path");
    called(generator.arg(folder.path().join("generated")));

    let runtime = Runtime::new(Arc::new(MemoryStore::new()));
    runtime.register(Claim::new()).unwrap();
    runtime.register(Order::new()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let server = Server::new(runtime).authentication(tokens());
    tokio::spawn(server.serve_until(listener, std::future::pending()));

    let mut python = Command::new(environment.join("bin/python"));
    python.arg("-B").arg(here.join("use.py"));
    python.arg(folder.path()).arg(format!("http://{address}"));
    let used = tokio::task::spawn_blocking(move || called(&mut python));
    assert_eq!(used.await.unwrap(), "the client did it all\n");
}
