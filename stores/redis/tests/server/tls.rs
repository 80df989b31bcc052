//! Connections that are encrypted, to a server with a certificate of an authority that is made here.
#![cfg(feature = "tls")]

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use flow_redis::RedisStore;
use flow_services::Redis;
use flow_store::Store as _;
use flow_store::suite::fixtures::{append, claimed, records, told};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

use crate::servers::options;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// An authority, whose certificate is in a file.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
    folder: TempDir,
}

impl Authority {
    fn new() -> Outcome<Authority> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = TempDir::new()?;
        let file = folder.path().join("its certificate.pem");
        std::fs::write(&file, params.self_signed(&key)?.pem())?;
        Ok(Authority {
            issuer: Issuer::new(params, key),
            file,
            folder,
        })
    }

    /// A server with a certificate for `localhost`, and its port for TLS. `None` if Redis is not installed.
    fn server(&self) -> Outcome<Option<(Redis, u16)>> {
        let Some(server) = Redis::start() else {
            return Ok(None);
        };
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec!["localhost".to_owned()])?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let file = |name: &str, text: String| -> Outcome<String> {
            let file = self.folder.path().join(name);
            std::fs::write(&file, text)?;
            Ok(file.display().to_string())
        };
        let certificate = file("server.pem", certificate.pem())?;
        let key = file("server.key", key.serialize_pem())?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let set = [
            "CONFIG",
            "SET",
            "tls-cert-file",
            &certificate,
            "tls-key-file",
            &key,
        ];
        let listens = ["tls-auth-clients", "no", "tls-port", &port.to_string()];
        server.command(&[&set[..], &listens].concat());
        Ok(Some((server, port)))
    }

    /// Its file, as in an address.
    fn file(&self) -> String {
        self.file.display().to_string().replace(' ', "%20")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_connections_are_encrypted_where_the_address_says_so() -> Outcome {
    let authority = Authority::new()?;
    let Some((server, port)) = authority.server()? else {
        return Ok(());
    };
    // There is no way in without it any more.
    let without = format!("redis://localhost:{port}");
    let refused = RedisStore::connect_with(&without, options().patience(Duration::ZERO)).await;
    assert!(refused.is_err());
    let url = format!("rediss://localhost:{port}?cacert={}", authority.file());
    let (store, other) = (
        RedisStore::connect_with(&url, options().name("one")).await?,
        RedisStore::connect_with(&url, options().name("one")).await?,
    );
    let mut changes = other.changes().ok_or("it listens")?;
    while !changes.next().await.is_live {}
    let (id, fence) = claimed(&store).await;
    store.append(id, fence, append(records(1..3))).await?;
    assert_eq!(other.records(id, 0, 9).await?.len(), 3);

    // The connection is made again, by TLS.
    server.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    store.append(id, fence, append(records(3..4))).await?;
    assert_eq!(other.records(id, 0, 9).await?.len(), 4);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_be_trusted_is_refused_at_once() -> Outcome {
    let (authority, other) = (Authority::new()?, Authority::new()?);
    let Some((_server, port)) = authority.server()? else {
        return Ok(());
    };
    let untrusted = "there is no TLS with a server that can be trusted";
    for (url, words) in [
        // The system does not know the authority.
        (format!("rediss://localhost:{port}"), untrusted),
        (
            format!("rediss://localhost:{port}?cacert={}", other.file()),
            untrusted,
        ),
        // Its certificate is for a name.
        (
            format!("rediss://127.0.0.1:{port}?cacert={}", authority.file()),
            untrusted,
        ),
        (
            format!("rediss://localhost:{port}?cacert=nowhere.pem"),
            "the certificates in `nowhere.pem`, which `cacert` names, cannot be read",
        ),
    ] {
        let began = Instant::now();
        let opened =
            RedisStore::connect_with(&url, options().patience(Duration::from_secs(60))).await;
        let error = told(&opened.err().ok_or("it is not trusted")?);
        assert!(error.contains(words), "{url}: {error}");
        assert!(began.elapsed() < Duration::from_secs(30), "{url}");
    }
    Ok(())
}
