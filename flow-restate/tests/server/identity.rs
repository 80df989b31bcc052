//! Requests that the server signs.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::SigningKey;
use flow_restate::Endpoint;
use flow_services::Restate;
use serde_json::json;

use crate::client::{IN_PARTS, Settings, WHOLE, Worker, attach, query, run, start};
use crate::flows::Count;

fn own() -> SigningKey {
    SigningKey::from_bytes(&[7; 32])
}

/// A private key in the server's format (RFC 8410).
fn pem(key: &SigningKey) -> String {
    let mut der = vec![
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
    ];
    der.extend(key.to_bytes());
    let text = STANDARD.encode(der);
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

fn public(key: &SigningKey) -> String {
    let text = bs58::encode(key.verifying_key().to_bytes()).into_string();
    format!("publickeyv1_{text}")
}

/// An endpoint for this server and another one.
fn for_own(settings: Settings) -> Endpoint {
    let endpoint = Endpoint::new().flow(Count::new());
    endpoint
        .entries_per_invocation(settings.entries.unwrap_or(u64::MAX))
        .identity_key(&public(&SigningKey::from_bytes(&[8; 32])))
        .identity_key(&public(&own()))
}

/// An endpoint for another server.
fn for_other(_: Settings) -> Endpoint {
    let endpoint = Endpoint::new().flow(Count::new());
    endpoint.identity_key(&public(&SigningKey::from_bytes(&[8; 32])))
}

#[tokio::test]
async fn a_server_that_signs_is_known_by_its_key() {
    let Some(server) = Restate::start_signing(&pem(&own())) else {
        return;
    };
    let worker = Worker::of(for_own, IN_PARTS);
    worker.register(&server).await;
    let input = json!({ "number": 0, "limit": 3 });
    let output = run(&server, "Count", "a", &input).await;
    assert_eq!(output, Ok(json!({ "number": 3, "end": "default" })));
    let other = Worker::of(for_other, WHOLE);
    let (status, said) = other.try_to_register(&server).await;
    assert_ne!(status, 201);
    assert!(said.contains("401"), "{said}");
}

#[tokio::test]
async fn a_server_that_does_not_sign_is_refused() {
    let Some(server) = Restate::start() else {
        return;
    };
    let worker = Worker::of(for_own, WHOLE);
    let (status, said) = worker.try_to_register(&server).await;
    assert_ne!(status, 201);
    assert!(said.contains("401"), "{said}");
}

/// A run that began before the endpoint had a key for another server only.
#[tokio::test(flavor = "multi_thread")]
async fn calls_of_another_server_are_not_run() {
    let Some(server) = Restate::start_signing(&pem(&own())) else {
        return;
    };
    let mut worker = Worker::of(for_own, WHOLE);
    worker.register(&server).await;
    tokio::task::block_in_place(|| worker.kill());
    worker.start_again_as(for_other);
    let input = json!({ "number": 0, "limit": 3 });
    start(&server, "Count", "a", &input).await;
    let sql = "SELECT last_failure FROM sys_invocation WHERE last_failure IS NOT NULL";
    let mut rows = Vec::new();
    for _ in 0..1200 {
        rows = query(&server, sql).await;
        if !rows.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!rows.is_empty(), "the endpoint takes the calls");
    let said = rows[0]["last_failure"].as_str().unwrap();
    assert!(said.contains("401"), "{said}");
    tokio::task::block_in_place(|| worker.kill());
    worker.start_again_as(for_own);
    let output = attach(&server.ingress(), "Count", "a").await;
    assert_eq!(output, Ok(json!({ "number": 3, "end": "default" })));
}
