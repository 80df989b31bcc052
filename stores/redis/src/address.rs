//! The address of a server, with what belongs to the store in it.

use flow_store::StoreError;
use redis::{ConnectionInfo, IntoConnectionInfo as _, RedisError};

use super::errors::Failure;
use super::options::{Durability, RedisOptions};

/// Where to connect, and the options as the address changes them.
pub(super) fn read(
    url: &str,
    mut options: RedisOptions,
) -> Result<(ConnectionInfo, RedisOptions), StoreError> {
    let mut address = redis::parse_redis_url(url).ok_or_else(|| {
        let reason = "it has no scheme, or one that is not `redis`";
        Failure::Address(RedisError::from((
            redis::ErrorKind::InvalidClientConfig,
            reason,
        )))
    })?;
    if ["rediss", "valkeys"].contains(&address.scheme()) {
        return Err(Failure::Tls(address.scheme().to_owned()).into());
    }
    // On the path of a socket, the number of the database and the user stand among the parameters.
    let is_socket = address.scheme().ends_with("unix");
    let mut others = Vec::new();
    for (key, value) in address.query_pairs() {
        match &*key {
            "name" => options.name = value.into_owned(),
            "durability" => options.durability = durability(&value)?,
            "db" | "user" | "pass" if is_socket => {
                others.push((key.into_owned(), value.into_owned()));
            }
            _ => return Err(Failure::Parameter(key.into_owned()).into()),
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
    let info = address.into_connection_info().map_err(Failure::Address)?;
    Ok((info, options))
}

fn durability(name: &str) -> Result<Durability, Failure> {
    match name {
        "every_write" => Ok(Durability::EveryWrite),
        "every_second" => Ok(Durability::EverySecond),
        "unchecked" => Ok(Durability::Unchecked),
        other => Err(Failure::Durability(other.to_owned())),
    }
}
