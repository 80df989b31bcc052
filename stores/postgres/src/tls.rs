//! The address of a database, and TLS to it.

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::errors::Failure;

/// How connections are encrypted.
#[cfg(feature = "tls")]
pub(super) type Tls = tokio_postgres_rustls::MakeRustlsConnect;
#[cfg(not(feature = "tls"))]
pub(super) type Tls = tokio_postgres::NoTls;

/// Reads an address. What it says about TLS is read here: the driver does not know all of it.
pub(super) fn read(address: &str) -> Result<(Config, Tls), Failure> {
    let (address, said) = if address.contains("://") {
        without_url_parameters(address)
    } else {
        without_settings(address)
    };
    let mut config: Config = address.parse().map_err(Failure::Address)?;
    let is_encrypted = match said.mode.as_deref() {
        None | Some("disable" | "prefer") => false,
        Some("require" | "verify-full") => true,
        Some(other) => return Err(Failure::SslMode(other.to_owned())),
    };
    if !is_encrypted && said.root.is_some() {
        return Err(Failure::RootWithoutTls);
    }
    // `prefer` protects against nobody who can change what is sent.
    config.ssl_mode(if is_encrypted {
        SslMode::Require
    } else {
        SslMode::Disable
    });
    let tls = connector(is_encrypted, said.root.as_deref())?;
    Ok((config, tls))
}

/// What an address says about TLS.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    mode: Option<String>,
    root: Option<String>,
}

impl Said {
    /// Takes a setting that is about TLS. Returns false if it is not.
    fn takes(&mut self, name: &str, value: impl FnOnce() -> String) -> bool {
        match name {
            "sslmode" => self.mode = Some(value()),
            "sslrootcert" => self.root = Some(value()),
            _ => return false,
        }
        true
    }
}

/// `postgres://user@host/database?name=value&…`
fn without_url_parameters(address: &str) -> (String, Said) {
    let mut said = Said::default();
    let Some((before, parameters)) = address.split_once('?') else {
        return (address.to_owned(), said);
    };
    let others: Vec<&str> = parameters
        .split('&')
        .filter(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = || percent_encoding::percent_decode_str(value).decode_utf8_lossy();
            !said.takes(name, || value().into_owned())
        })
        .collect();
    if others.is_empty() {
        (before.to_owned(), said)
    } else {
        (format!("{before}?{}", others.join("&")), said)
    }
}

/// `host=… user=… name='a value'`
fn without_settings(address: &str) -> (String, Said) {
    let (mut said, mut others) = (Said::default(), Vec::new());
    let (mut is_quoted, mut is_escaped) = (false, false);
    let settings = address.split(|letter: char| {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\'' => is_quoted = !is_quoted,
            _ => return letter.is_whitespace() && !is_quoted,
        }
        false
    });
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        let quoted = value
            .strip_prefix('\'')
            .and_then(|it| it.strip_suffix('\''));
        if !said.takes(name, || quoted.unwrap_or(value).to_owned()) {
            others.push(setting);
        }
    }
    (others.join(" "), said)
}

#[cfg(not(feature = "tls"))]
fn connector(is_encrypted: bool, _: Option<&str>) -> Result<Tls, Failure> {
    if is_encrypted {
        return Err(Failure::NoTls);
    }
    Ok(tokio_postgres::NoTls)
}

#[cfg(feature = "tls")]
fn connector(is_encrypted: bool, root: Option<&str>) -> Result<Tls, Failure> {
    use std::sync::Arc;

    use rustls::crypto::ring;
    use rustls::{ClientConfig, RootCertStore};

    let mut roots = RootCertStore::empty();
    if is_encrypted {
        add_roots(&mut roots, root)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::Roots(Box::new(error)))?;
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    // A server asks for this where TLS begins at once (`sslnegotiation=direct`).
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Tls::new(config))
}

/// Adds the certificates in a file, or those of the system.
#[cfg(feature = "tls")]
fn add_roots(roots: &mut rustls::RootCertStore, file: Option<&str>) -> Result<(), Failure> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    let Some(file) = file.filter(|file| *file != "system") else {
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        return match found.errors.into_iter().next() {
            _ if added > 0 => Ok(()),
            Some(error) => Err(Failure::Roots(Box::new(error))),
            None => Err(Failure::NoRoots),
        };
    };
    let unreadable = |source: Box<dyn std::error::Error + Send + Sync>| Failure::RootFile {
        file: file.to_owned(),
        source,
    };
    let certificates = CertificateDer::pem_file_iter(file);
    for certificate in certificates.map_err(|error| unreadable(Box::new(error)))? {
        let certificate = certificate.map_err(|error| unreadable(Box::new(error)))?;
        let added = roots.add(certificate);
        added.map_err(|error| unreadable(Box::new(error)))?;
    }
    if roots.is_empty() {
        return Err(unreadable("it has no certificate".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(mode: &str, root: &str) -> Said {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Said {
            mode: some(mode),
            root: some(root),
        }
    }

    #[test]
    fn what_an_address_says_of_tls_is_taken_out_of_it() {
        for (address, rest, expected) in [
            ("postgres://h/d", "postgres://h/d", said("", "")),
            (
                "postgres://h/d?sslmode=verify-full",
                "postgres://h/d",
                said("verify-full", ""),
            ),
            (
                "postgres://h/d?a=b&sslrootcert=%2Fmy%20ca.pem&sslmode=require&c=d",
                "postgres://h/d?a=b&c=d",
                said("require", "/my ca.pem"),
            ),
        ] {
            assert_eq!(
                without_url_parameters(address),
                (rest.to_owned(), expected),
                "{address}"
            );
        }
        for (address, rest, expected) in [
            ("host=h user=u", "host=h user=u", said("", "")),
            (
                "host=h sslmode=require sslrootcert='/my ca.pem' user='a b'",
                "host=h user='a b'",
                said("require", "/my ca.pem"),
            ),
            (
                r"password='it\'s sslmode=x' host=h",
                r"password='it\'s sslmode=x' host=h",
                said("", ""),
            ),
        ] {
            assert_eq!(
                without_settings(address),
                (rest.to_owned(), expected),
                "{address}"
            );
        }
    }
}
