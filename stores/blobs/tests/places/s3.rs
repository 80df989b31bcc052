//! Blobs on a server that speaks the language of S3.

use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use flow_blobs::object_store::aws::{AmazonS3, AmazonS3Builder};
use flow_blobs::object_store::{BackoffConfig, RetryConfig};
use flow_blobs::{Blobs as _, ObjectBlobs};
use flow_services::S3;
use flow_store::suite::fixtures::told;
use uuid::Uuid;

/// The server, which ends with this process. `None` if it is not installed.
fn shared() -> Option<&'static S3> {
    static SERVER: OnceLock<Option<S3>> = OnceLock::new();
    SERVER.get_or_init(S3::start).as_ref()
}

fn bucket(server: &S3) -> AmazonS3 {
    let builder = AmazonS3Builder::new()
        .with_endpoint(server.endpoint())
        .with_allow_http(true)
        .with_bucket_name(server.bucket())
        .with_region("us-east-1")
        .with_access_key_id("key")
        .with_secret_access_key("very secret")
        .with_retry(RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: 2,
            retry_timeout: Duration::from_secs(5),
        });
    builder.build().unwrap()
}

/// Blobs under a prefix of their own.
fn fresh(server: &S3) -> ObjectBlobs {
    let prefix = format!("flows/{}", Uuid::new_v4());
    ObjectBlobs::new(Arc::new(bucket(server)), prefix)
}

mod suite {
    use super::*;

    flow_store::blob_suite!(|_folder| async { Some(fresh(shared()?)) });
}

mod store {
    use flow_blobs::BlobStore;
    use flow_store::MemoryStore;

    use super::*;

    flow_store::suite!(|_folder| async {
        Some(BlobStore::new(MemoryStore::new(), fresh(shared()?)).above(0))
    });
}

/// More than are in one page of a listing.
#[tokio::test]
async fn many_names_are_listed() {
    let Some(server) = shared() else {
        return;
    };
    let blobs = fresh(server);
    for number in 0..1100 {
        let name = format!("a/{number:04}");
        blobs.put(&name, Vec::new()).await.unwrap();
    }
    let names = blobs.names("a").await.unwrap();
    assert_eq!(names.len(), 1100);
    assert_eq!(names.last().unwrap(), "a/1099");
}

/// Is set in the process that opens an address, since settings are in its environment.
const OPENS: &str = "FLOW_BLOBS_TEST_OPENS";

/// Settings by bare names are meant for something else.
#[tokio::test]
async fn an_address_is_opened_with_the_settings_of_its_environment() {
    if let Ok(address) = std::env::var(OPENS) {
        let blobs = flow_blobs::open(&address).await.unwrap();
        blobs.put("a/b", b"value".to_vec()).await.unwrap();
        return;
    }
    let Some(server) = shared() else {
        return;
    };
    let prefix = format!("flows/{}", Uuid::new_v4());
    let name = "s3::an_address_is_opened_with_the_settings_of_its_environment";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", name, "--nocapture"]).envs([
        (OPENS, &*format!("s3://{}/{prefix}", server.bucket())),
        ("AWS_ENDPOINT", &server.endpoint()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "very secret"),
        ("TIMEOUT", "that of another program"),
        ("PROXY_URL", "that of another program"),
    ]);
    let output = child.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let blobs = ObjectBlobs::new(Arc::new(bucket(server)), prefix);
    let put = blobs.get("a/b").await.unwrap();
    assert_eq!(put, Some(b"value".to_vec()));
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_that_names_the_blob() {
    let Some(mut server) = S3::start() else {
        return;
    };
    let blobs = fresh(&server);
    blobs.put("a/b", b"value".to_vec()).await.unwrap();
    server.kill();
    for (error, words) in [
        (
            blobs.put("a/b", b"value".to_vec()).await.unwrap_err(),
            "the blob `a/b` cannot be written",
        ),
        (
            blobs.get("a/b").await.unwrap_err(),
            "the blob `a/b` cannot be read",
        ),
        (
            blobs.delete("a/b").await.unwrap_err(),
            "the blob `a/b` cannot be deleted",
        ),
        (
            blobs.names("a").await.unwrap_err(),
            "the blobs cannot be listed",
        ),
    ] {
        let told = told(&error);
        assert!(
            told.contains(words) && !told.contains("very secret"),
            "{told}"
        );
    }
    assert!(!format!("{blobs:?}").contains("very secret"));
}
