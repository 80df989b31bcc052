//! Connections that are encrypted, to a server with a certificate of an authority that is made here.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use flow_postgres::{PostgresOptions, PostgresStore};
use flow_services::Postgres;
use flow_store::Store as _;
use flow_store::suite::fixtures::{append, claimed, records, told};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

use crate::servers::{options, shared};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// An authority, whose certificate is in a file.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    file: PathBuf,
    _folder: TempDir,
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
            _folder: folder,
        })
    }

    /// A server with a certificate for this name. `None` if Postgres is not installed.
    fn server(&self, name: &str) -> Outcome<Option<Postgres>> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![name.to_owned()])?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        let (certificate, key) = (certificate.pem(), key.serialize_pem());
        Ok(Postgres::start_with_tls(&certificate, &key))
    }

    /// Its file, as in an address.
    fn root(&self) -> String {
        let file = self.file.display().to_string();
        format!("sslrootcert={}", file.replace(' ', "%20"))
    }
}

/// Why a store cannot be opened, which is told at once.
async fn refused(url: &str) -> String {
    let began = Instant::now();
    let options = PostgresOptions::new().patience(Duration::from_secs(60));
    let opened = PostgresStore::connect_with(url, options).await;
    assert!(began.elapsed() < Duration::from_secs(30), "{url}");
    told(&opened.expect_err("it is not trusted"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_connections_are_encrypted_where_the_address_says_so() -> Outcome {
    let authority = Authority::new()?;
    let Some(server) = authority.server("localhost")? else {
        return Ok(());
    };
    let root = authority.root();
    for (mode, is_encrypted) in [
        (format!("sslmode=verify-full&{root}"), true),
        (format!("sslmode=require&{root}"), true),
        ("sslmode=prefer".to_owned(), false),
        ("sslmode=disable".to_owned(), false),
    ] {
        let name = format!("encrypted_{}", uuid::Uuid::new_v4().simple());
        let url = server.url().replace("127.0.0.1", "localhost");
        let url = format!("{url}?{mode}&application_name={name}");
        let store = PostgresStore::connect_with(&url, options()).await?;
        let (id, fence) = claimed(&store).await;
        store.append(id, fence, append(records(1..2))).await?;
        let begun = store.begin().await?;
        begun.append(id, fence, append(records(2..3))).await?;
        let mut changes = store.changes().ok_or("it listens")?;
        while !changes.next().await.is_live {}
        let count = format!(
            "SELECT count(*) > 3, bool_and(ssl = {is_encrypted}) FROM pg_stat_ssl \
             JOIN pg_stat_activity USING (pid) WHERE application_name = '{name}'"
        );
        assert_eq!(server.query(&count), "t|t", "{mode}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_be_trusted_is_refused() -> Outcome {
    let (authority, other) = (Authority::new()?, Authority::new()?);
    let Some(server) = authority.server("localhost")? else {
        return Ok(());
    };
    let address = server.url();
    let by_name = address.replace("127.0.0.1", "localhost");
    for url in [
        // The system does not know the authority.
        format!("{by_name}?sslmode=require"),
        format!("{by_name}?sslmode=verify-full&sslrootcert=system"),
        format!("{by_name}?sslmode=verify-full&{}", other.root()),
        // Its certificate is for a name.
        format!("{address}?sslmode=verify-full&{}", authority.root()),
    ] {
        let error = refused(&url).await;
        let says = "by `sslrootcert` in the address";
        assert!(error.contains(says), "{url}: {error}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_an_address_is_told() -> Outcome {
    let Some(server) = shared() else {
        return Ok(());
    };
    let authority = Authority::new()?;
    let (url, root) = (server.url(), authority.root());
    for (parameters, expected) in [
        (
            format!("sslmode=require&{root}"),
            "server does not support TLS",
        ),
        (
            "sslmode=verify-ca".to_owned(),
            "`require` or `verify-full`, and not `verify-ca`",
        ),
        (
            root.clone(),
            "which without `sslmode=verify-full` nothing uses",
        ),
        (
            "sslmode=require&sslrootcert=nowhere.pem".to_owned(),
            "the certificates in `nowhere.pem`, which `sslrootcert` names, cannot be read",
        ),
        (
            "sslmode=require&sslrootcert=Cargo.toml".to_owned(),
            "it has no certificate",
        ),
    ] {
        let error = refused(&format!("{url}?{parameters}")).await;
        assert!(error.contains(expected), "{parameters}: {error}");
    }
    Ok(())
}

/// The password would be sent as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_for_tls_does_not_listen_without_it() {
    for listen_at in [
        "postgres://localhost/d",
        "postgres://localhost/d?sslmode=disable",
    ] {
        let options = PostgresOptions::new().listen_at(listen_at);
        let url = "postgres://localhost/d?sslmode=require";
        let error = PostgresStore::connect_with(url, options).await.unwrap_err();
        let says = "the address at which to listen has no TLS, and that of the store has";
        assert!(told(&error).contains(says), "{}", told(&error));
    }
}
