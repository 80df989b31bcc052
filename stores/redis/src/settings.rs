//! The requirements on the server.

use flow_store::StoreError;
use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, RedisError, ServerErrorKind, Value};
use uuid::Uuid;

use super::call::Call;
use super::errors::{CallError, Failure};
use super::options::Durability;
use super::reply::{self, Fields};
use super::script::{self, Arguments};

/// Checks a server on a new connection, and creates or upgrades the store there. This key holds its
/// version.
pub(super) async fn check(
    durability: Durability,
    key: String,
    connection: &mut MultiplexedConnection,
) -> Result<(), CallError> {
    let is_checked = durability != Durability::Unchecked;
    let info = match redis::cmd("INFO").query_async::<String>(connection).await {
        Err(error) if is_hidden(&error) && !is_checked => String::new(),
        Err(error) if is_hidden(&error) => return Err(Failure::Hidden("INFO").into()),
        Err(error) => return Err(CallError::NoConnection(error)),
        Ok(info) => info,
    };
    let of = |name: &str| {
        let mut lines = info.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    };
    if of("loading") == Some("1") {
        // While the server loads its log, it reports that it has none.
        return Err(CallError::NoConnection(RedisError::from((
            ErrorKind::Server(ServerErrorKind::BusyLoading),
            "the server starts",
        ))));
    }
    if let Some(version) = of("redis_version").filter(|version| is_too_old(version)) {
        return Err(Failure::Version(version.to_owned()).into());
    }
    if let Some(policy) = of("maxmemory_policy").filter(|policy| *policy != "noeviction") {
        return Err(Failure::Eviction(policy.to_owned()).into());
    }
    if is_checked {
        if of("maxmemory_policy").is_none() {
            return Err(Failure::Hidden("maxmemory-policy").into());
        }
        check_log(durability, of("aof_enabled"), connection).await?;
    }
    open(key, of("run_id"), connection).await
}

fn is_too_old(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
    let first = parts.next().flatten();
    let second = parts.next().flatten();
    first.is_some_and(|first| (first, second.unwrap_or(0)) < (6, 2))
}

/// Returns `true` if the command is forbidden or renamed.
fn is_hidden(error: &RedisError) -> bool {
    let is_unknown = error
        .detail()
        .is_some_and(|detail| detail.contains("unknown command"));
    is_unknown || error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)
}

const WITHOUT_LOG: &str = "`Durability::Unchecked` (in an address, `?durability=unchecked`)";
const WITHIN_SECONDS: &str =
    "`Durability::EverySecond` (in an address, `?durability=every_second`)";

/// A setting, the required values, and the option that allows others.
type Needed = (&'static str, &'static [&'static str], &'static str);

/// Returns the settings that the log of a server needs.
fn needed(durability: Durability) -> [Needed; 2] {
    let (often_enough, allowed): (&[_], _) = match durability {
        Durability::EveryWrite => (&["always"], WITHIN_SECONDS),
        Durability::EverySecond | Durability::Unchecked => (&["everysec", "always"], WITHOUT_LOG),
    };
    [
        ("appendfsync", often_enough, allowed),
        ("no-appendfsync-on-rewrite", &["no"], allowed),
    ]
}

/// Refuses a server that can lose more than is allowed.
async fn check_log(
    durability: Durability,
    is_on: Option<&str>,
    connection: &mut MultiplexedConnection,
) -> Result<(), CallError> {
    match is_on {
        Some("1") => {}
        None => return Err(Failure::Hidden("aof_enabled").into()),
        Some(_) => {
            return Err(Failure::Loss {
                setting: "appendonly",
                found: "no".to_owned(),
                needed: "yes",
                allowed: WITHOUT_LOG,
            }
            .into());
        }
    }
    let mut get = redis::cmd("CONFIG");
    get.arg("GET").arg("*appendfsync*");
    let found = match get.query_async::<Value>(connection).await {
        Err(error) if is_hidden(&error) => return Err(Failure::Hidden("appendfsync").into()),
        Err(error) => return Err(CallError::NoConnection(error)),
        Ok(found) => Fields::new(found)?,
    };
    for (setting, needed, allowed) in needed(durability) {
        match found.text(setting) {
            Ok(found) if needed.contains(&found.as_str()) => {}
            Ok(found) => {
                return Err(Failure::Loss {
                    setting,
                    found,
                    needed: needed[0],
                    allowed,
                }
                .into());
            }
            Err(_) => return Err(Failure::Hidden("appendfsync").into()),
        }
    }
    Ok(())
}

/// Creates the store if it does not exist.
async fn open(
    key: String,
    server: Option<&str>,
    connection: &mut MultiplexedConnection,
) -> Result<(), CallError> {
    // A server without an id may be another one each time.
    let server = server.map_or_else(|| Uuid::new_v4().to_string(), str::to_owned);
    let arguments = Arguments::default().number(script::VERSION).owned(server);
    let call = Call::Script {
        script: &script::OPEN,
        key,
        arguments: arguments.iter().collect(),
    };
    let answer = call.send(connection.clone()).await?;
    let (tag, parts) = reply::tagged(answer)?;
    match tag.as_str() {
        "ok" => Ok(()),
        "too_new" => {
            let found = parts.into_iter().next().and_then(reply::text);
            let found = found.and_then(|found| found.parse().ok());
            Err(CallError::Store(StoreError::TooNew {
                found: found.unwrap_or(u64::MAX),
                known: script::VERSION,
            }))
        }
        other => Err(reply::unknown(other).into()),
    }
}
