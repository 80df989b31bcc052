//! Parses the address of a server, including the options of the store in it.

use flow_store::StoreError;
use redis::{ConnectionInfo, ErrorKind, IntoConnectionInfo as _, RedisError};

use super::errors::{Failure, UnknownParameter};
use super::options::{Durability, RedisOptions};
use super::tls::Tls;

/// Returns where to connect, the encryption of connections if any, and the options, changed by the
/// address.
pub(super) fn read(
    url: &str,
    mut options: RedisOptions,
) -> Result<(ConnectionInfo, Option<Tls>, RedisOptions), StoreError> {
    let mut address = redis::parse_redis_url(url).ok_or_else(|| {
        not_valid("it is not one as `redis://user:password@host`, with special characters as `%23`")
    })?;
    let is_encrypted = ["rediss", "valkeys"].contains(&address.scheme());
    // Other programs trust every server with `#insecure`. Anything else may be part of a password.
    match address.fragment() {
        Some("insecure") => return Err(Failure::Fragment("`#insecure` at its end").into()),
        Some(_) => return Err(Failure::Fragment("a `#` in it").into()),
        None => {}
    }
    let mut certificates = None;
    // With a socket, the number of the database and the user are parameters.
    let is_socket = address.scheme().ends_with("unix");
    let mut others = Vec::new();
    for (key, value) in address.query_pairs() {
        match &*key {
            "name" => options.name = value.into_owned(),
            "durability" => options.durability = durability(&value)?,
            "cacert" if is_encrypted => certificates = Some(value.into_owned()),
            "cacert" => return Err(Failure::CertificatesWithoutTls.into()),
            "db" | "user" | "pass" if is_socket => {
                others.push((key.into_owned(), value.into_owned()));
            }
            _ => {
                let is_word = key.chars().all(|it| it.is_ascii_lowercase() || it == '_');
                let name = (is_word && !value.is_empty()).then(|| key.into_owned());
                return Err(Failure::Parameter(UnknownParameter(name)).into());
            }
        }
    }
    address.set_query(None);
    if !others.is_empty() {
        address.query_pairs_mut().extend_pairs(others);
    }
    let name = &options.name;
    if name.is_empty() || name.len() > 64 || name.contains(['{', '}']) {
        return Err(Failure::Name(name.clone()).into());
    }
    let tls = is_encrypted.then(|| Tls::new(certificates.as_deref()));
    // The library, built without TLS, parses the rest.
    if is_encrypted && address.set_scheme("redis").is_err() {
        return Err(not_valid("its scheme cannot be read").into());
    }
    let info = address.into_connection_info().map_err(Failure::Address)?;
    Ok((info, tls.transpose()?, options))
}

fn not_valid(reason: &'static str) -> Failure {
    Failure::Address(RedisError::from((ErrorKind::InvalidClientConfig, reason)))
}

fn durability(name: &str) -> Result<Durability, Failure> {
    match name {
        "every_write" => Ok(Durability::EveryWrite),
        "every_second" => Ok(Durability::EverySecond),
        "unchecked" => Ok(Durability::Unchecked),
        other => Err(Failure::Durability(other.to_owned())),
    }
}
