//! The address of a database, and TLS to it.

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::errors::Failure;

/// The encryption of connections.
#[cfg(feature = "tls")]
pub(super) type Tls = tokio_postgres_rustls::MakeRustlsConnect;
#[cfg(not(feature = "tls"))]
pub(super) type Tls = tokio_postgres::NoTls;

/// Parses an address. The settings for TLS are handled here: the driver does not know all of them.
pub(super) fn read(address: &str) -> Result<(Config, Tls), Failure> {
    let (address, said) = if let Some(beginning) = url_beginning(address) {
        without_url_parameters(address, beginning)?
    } else {
        without_settings(address)
    };
    let mut config: Config = address.parse().map_err(Failure::Address)?;
    let is_encrypted = match said.mode.as_deref() {
        // The rest, which goes to the driver, may ask for TLS in an unknown way.
        None | Some("disable" | "prefer") => {
            !matches!(config.get_ssl_mode(), SslMode::Disable | SslMode::Prefer)
        }
        Some("require" | "verify-full") => true,
        Some(other) => return Err(Failure::SslMode(other.to_owned())),
    };
    if !is_encrypted && said.root.is_some() {
        return Err(Failure::RootWithoutTls);
    }
    // `prefer` does not protect against an attacker who can change messages.
    config.ssl_mode(if is_encrypted {
        SslMode::Require
    } else {
        SslMode::Disable
    });
    let tls = connector(is_encrypted, said.root.as_deref())?;
    Ok((config, tls))
}

/// The settings for TLS in an address.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    mode: Option<String>,
    root: Option<String>,
}

impl Said {
    /// Takes a setting for TLS. Returns `false` for any other.
    fn takes(&mut self, name: &str, value: impl FnOnce() -> String) -> bool {
        match name {
            "sslmode" => self.mode = Some(value()),
            "sslrootcert" => self.root = Some(value()),
            _ => return false,
        }
        true
    }
}

/// Returns the start of a URL, or `None` if the driver reads the address as settings.
fn url_beginning(address: &str) -> Option<&'static str> {
    let mut beginnings = ["postgres://", "postgresql://"].into_iter();
    beginnings.find(|beginning| address.starts_with(beginning))
}

/// `postgres://user@host/database?name=value&…`
fn without_url_parameters(address: &str, beginning: &str) -> Result<(String, Said), Failure> {
    let mut said = Said::default();
    // Like in the driver, everything before the first `@` is the user and the password.
    let host = address.find('@').map_or(beginning.len(), |at| at + 1);
    let credentials = &address[..host];
    let is_about_tls =
        |part: &str| part.starts_with("sslmode=") || part.starts_with("sslrootcert=");
    if credentials.split(['?', '&']).any(is_about_tls) {
        return Err(Failure::AtInParameters);
    }
    let Some(parameters) = address[host..].find('?') else {
        return Ok((address.to_owned(), said));
    };
    let (before, parameters) = address.split_at(host + parameters);
    let parameters = &parameters[1..];
    let others: Vec<&str> = parameters
        .split('&')
        .filter(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = || percent_encoding::percent_decode_str(value).decode_utf8_lossy();
            !said.takes(name, || value().into_owned())
        })
        .collect();
    let rest = if others.is_empty() {
        before.to_owned()
    } else {
        format!("{before}?{}", others.join("&"))
    };
    Ok((rest, said))
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
    // A server requires this if TLS begins at once (`sslnegotiation=direct`).
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
            let beginning = url_beginning(address).unwrap();
            assert_eq!(
                without_url_parameters(address, beginning).unwrap(),
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
    /// Returns `true` if connections to this address are encrypted. Without the feature, a refusal
    /// implies so.
    fn is_encrypted(address: &str) -> bool {
        match read(address) {
            #[cfg(not(feature = "tls"))]
            Err(Failure::NoTls) => true,
            Ok((config, _)) => match config.get_ssl_mode() {
                SslMode::Require => true,
                SslMode::Disable => false,
                mode => panic!("{address}: {mode:?}"),
            },
            Err(error) => panic!("{address}: {error:?}"),
        }
    }

    #[test]
    fn an_address_that_asks_for_tls_is_never_used_without() {
        for address in [
            "postgres://u:p?w@h/d?sslmode=require",
            "postgresql://u:p?w@h/d?sslmode=require",
            "postgres://h?sslmode=require",
            "postgres://h/d?ssl%6Dode=require",
            "postgres://h/d?sslmode=disable&ssl%6Dode=require",
            "host=h password=a://b sslmode=require",
            "host=h password=a://b?c=d sslmode=require",
            "host=h password=it's sslmode=require",
            "host=h password=postgres:// sslmode=verify-full",
        ] {
            assert!(is_encrypted(address), "{address}");
        }
        for address in [
            "postgres://u:p?w@h/d",
            "postgres://u:p?w@h/d?sslmode=prefer",
            "postgres://u:p@h/d?application_name=sslmode%3Drequire",
            "host=h password=a://b?sslmode=require",
            "host=h password='x sslmode=require'",
        ] {
            assert!(!is_encrypted(address), "{address}");
        }
        // The driver takes everything before the last sign for a password.
        let address = "postgres://h/d?sslmode=require&application_name=a@b";
        let refused = read(address);
        assert!(matches!(refused, Err(Failure::AtInParameters)));
    }
}
