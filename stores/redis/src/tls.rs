//! TLS connections to a server.

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisConnectionInfo};

use super::errors::{CallError, Failure};

/// Encrypts connections.
#[cfg(feature = "tls")]
#[derive(Clone)]
pub(super) struct Tls(tokio_rustls::TlsConnector);
#[cfg(not(feature = "tls"))]
#[derive(Clone)]
pub(super) enum Tls {}

#[cfg(not(feature = "tls"))]
impl Tls {
    pub(super) fn new(_: Option<&str>) -> Result<Tls, Failure> {
        Err(Failure::NoTls)
    }

    pub(super) async fn connect(
        &self,
        _: &str,
        _: u16,
        _: &RedisConnectionInfo,
        _: AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection, CallError> {
        match *self {}
    }
}

#[cfg(feature = "tls")]
impl Tls {
    /// Trusts the authorities in a file of certificates, or those that the system trusts.
    pub(super) fn new(file: Option<&str>) -> Result<Tls, Failure> {
        use std::sync::Arc;

        use rustls::ClientConfig;
        use rustls::crypto::ring;

        let roots = match file {
            Some(file) => roots_in(file)?,
            None => roots_of_the_system()?,
        };
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Failure::Roots(Box::new(error)))?;
        let config = config.with_root_certificates(roots).with_no_client_auth();
        Ok(Tls(Arc::new(config).into()))
    }

    /// Opens a connection to a server with a certificate for this host.
    pub(super) async fn connect(
        &self,
        host: &str,
        port: u16,
        info: &RedisConnectionInfo,
        config: AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection, CallError> {
        use rustls::pki_types::ServerName;
        use tokio::net::TcpStream;

        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|error| Failure::Untrusted(Box::new(error)))?;
        let lost = |error: std::io::Error| match error.get_ref() {
            Some(inner) if inner.is::<rustls::Error>() => {
                Failure::Untrusted(Box::new(error)).into()
            }
            _ => CallError::NoConnection(error.into()),
        };
        let stream = TcpStream::connect((host, port)).await.map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        let stream = self.0.connect(name, stream).await.map_err(lost)?;
        let connection = MultiplexedConnection::new_with_config(info, stream, config).await;
        let (connection, driver) = connection.map_err(CallError::NoConnection)?;
        // It ends when the connection is no longer used.
        tokio::spawn(driver);
        Ok(connection)
    }
}

#[cfg(feature = "tls")]
fn roots_of_the_system() -> Result<rustls::RootCertStore, Failure> {
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    // Some systems also have certificates that cannot be read.
    let (added, _) = roots.add_parsable_certificates(found.certs);
    match found.errors.into_iter().next() {
        _ if added > 0 => Ok(roots),
        Some(error) => Err(Failure::Roots(Box::new(error))),
        None => Err(Failure::NoRoots),
    }
}

#[cfg(feature = "tls")]
fn roots_in(file: &str) -> Result<rustls::RootCertStore, Failure> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    let unreadable = |source: Box<dyn std::error::Error + Send + Sync>| Failure::RootFile {
        file: file.to_owned(),
        source,
    };
    let mut roots = rustls::RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file);
    for certificate in certificates.map_err(|error| unreadable(Box::new(error)))? {
        let certificate = certificate.map_err(|error| unreadable(Box::new(error)))?;
        let added = roots.add(certificate);
        added.map_err(|error| unreadable(Box::new(error)))?;
    }
    if roots.is_empty() {
        return Err(unreadable("it has no certificate".into()));
    }
    Ok(roots)
}
