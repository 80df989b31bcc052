//! The errors of Redis, as errors of the store.

use std::time::Duration;

use flow_store::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// An unknown parameter. It hides anything that may be part of a password.
#[derive(Debug)]
pub(super) struct UnknownParameter(pub(super) Option<String>);

impl std::fmt::Display for UnknownParameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(name) => write!(f, "the parameter `{name}`"),
            None => f.write_str("an unknown parameter"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(
        "the address of the server is not valid: write `redis://user:password@host:port/number`, or \
         `rediss://…` for TLS"
    )]
    Address(#[source] RedisError),
    #[error("the address has {0}, and can have `name`, `durability` and, for TLS, `cacert`")]
    Parameter(UnknownParameter),
    #[error(
        "the address has the durability `{0}`, and can have `every_write`, `every_second` and `unchecked`"
    )]
    Durability(String),
    #[error(
        "the address has {0}, which says nothing here: write `%23` for a `#` in a password, and name the \
         certificates that are trusted by `?cacert=FILE`"
    )]
    Fragment(&'static str),
    #[cfg(not(feature = "tls"))]
    #[error(
        "the address asks for TLS, and this program was built without it: add the feature `tls` of typed-flows-redis, or \
         write `redis://` on a network that you trust"
    )]
    NoTls,
    #[error(
        "the address names certificates (`cacert`), and does not ask for TLS: write `rediss://`"
    )]
    CertificatesWithoutTls,
    #[cfg(feature = "tls")]
    #[error("TLS cannot be set up")]
    Roots(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[cfg(feature = "tls")]
    #[error(
        "the system has no certificates of authorities: name the file of yours by `?cacert=FILE` in the address"
    )]
    NoRoots,
    #[cfg(feature = "tls")]
    #[error("the certificates in `{file}`, which `cacert` names, cannot be read")]
    RootFile {
        file: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[cfg(feature = "tls")]
    #[error(
        "there is no TLS with a server that can be trusted: its certificate has to be for the host of the address, by \
         an authority that the system knows, or that `?cacert=FILE` in the address names"
    )]
    Untrusted(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the name of a store has from 1 to 64 bytes and no braces, and `{0}` has not")]
    Name(String),
    #[error("the server cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the connection to the server was lost, and could not be made again in time")]
    Lost(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the server refuses the user or the password")]
    Login(#[source] RedisError),
    #[error("the server has version {0} of Redis, and the store needs 6.2 or later")]
    Version(String),
    #[error(
        "the server has `maxmemory-policy {0}`, with which it removes executions when its memory is full: set it by \
         `CONFIG SET maxmemory-policy noeviction`, and in its configuration"
    )]
    Eviction(String),
    #[error(
        "the server has `{setting} {found}`, with which it can lose what the store has confirmed: set it by \
         `CONFIG SET {setting} {needed}`, and in its configuration, or allow the loss by {allowed}"
    )]
    Loss {
        setting: &'static str,
        found: String,
        needed: &'static str,
        allowed: &'static str,
    },
    #[error(
        "the server does not show `{0}`, so it is not known what it can lose: let the user run `INFO` and \
         `CONFIG GET`, or allow any loss by `Durability::Unchecked` (in an address, `?durability=unchecked`)"
    )]
    Hidden(&'static str),
    #[error("the server reports: {0}")]
    Reported(String, #[source] RedisError),
    #[error("the server answers what the store does not understand: {0}")]
    Answer(String),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        StoreError::Other(Box::new(failure))
    }
}

/// The reason why a call of the server has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("there is no connection")]
    NoConnection(#[source] RedisError),
    #[error(transparent)]
    Redis(#[from] RedisError),
    #[error("the server has not answered for {0:?}")]
    NoAnswer(Duration),
    /// An error that the store itself found.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        CallError::Store(failure.into())
    }
}

/// The effect of a failed call, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// The call had no effect, and would fail again.
    Refused,
    /// The call had no effect, and may succeed if repeated.
    Undone,
    /// The connection was lost: the call may have had its effect, or may still have it.
    Unknown,
}

impl CallError {
    pub(super) fn effect(&self) -> Effect {
        match self {
            // Nothing was sent.
            CallError::NoConnection(error) => match effect(error) {
                Effect::Undone | Effect::Unknown => Effect::Undone,
                Effect::Refused => Effect::Refused,
            },
            CallError::Redis(error) => effect(error),
            CallError::NoAnswer(_) => Effect::Unknown,
            CallError::Store(_) => Effect::Refused,
        }
    }

    /// Returns the text, without parts that are reported elsewhere.
    pub(super) fn text(&self) -> String {
        match self {
            CallError::NoConnection(error) => error.to_string(),
            other => other.to_string(),
        }
    }

    /// Returns `true` if the connection is still usable.
    pub(super) fn leaves_the_connection(&self) -> bool {
        let is_busy = matches!(self, CallError::Redis(error) if is_busy(error));
        is_busy || self.effect() == Effect::Refused
    }

    /// Returns the server that has the keys of the store, if another one was asked.
    pub(super) fn moved_to(&self) -> Option<(&str, u16)> {
        let (CallError::Redis(error) | CallError::NoConnection(error)) = self else {
            return None;
        };
        let is_moved = error.kind() == ErrorKind::Server(ServerErrorKind::Moved);
        let (address, _) = error.redirect_node().filter(|_| is_moved)?;
        let (host, port) = address.rsplit_once(':')?;
        Some((host, port.parse().ok()?))
    }
}

fn effect(error: &RedisError) -> Effect {
    match error.kind() {
        ErrorKind::Io | ErrorKind::Parse => Effect::Unknown,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask
            | ServerErrorKind::ReadOnly,
        ) => Effect::Undone,
        _ if is_busy(error) || is_elsewhere(error) => Effect::Undone,
        _ => Effect::Refused,
    }
}

/// Returns `true` if somebody else's script is running.
fn is_busy(error: &RedisError) -> bool {
    error.code() == Some("BUSY")
}

/// Returns `true` if a script ran on a server that does not have the keys, or not yet, or cannot
/// write to them. Scripts access all keys that they write before the first write.
fn is_elsewhere(error: &RedisError) -> bool {
    let texts = [
        // Before Redis 7.0, errors of commands are nested in that of the script.
        "-READONLY ",
        "non local key",
        "undeclared keys were accessed during rehashing",
        "slot not served",
    ];
    let detail = error.detail().unwrap_or_default();
    texts.iter().any(|text| detail.contains(text))
}

pub(super) fn store_error(error: CallError) -> StoreError {
    let is_undone = error.effect() != Effect::Refused;
    match error {
        CallError::Store(error) => error,
        CallError::NoAnswer(_) => Failure::Lost(Box::new(error)).into(),
        CallError::NoConnection(error) if is_undone => Failure::Unreachable(Box::new(error)).into(),
        CallError::Redis(error) if error.is_io_error() => Failure::Lost(Box::new(error)).into(),
        CallError::Redis(error) | CallError::NoConnection(error) => reported(error),
    }
}

fn reported(error: RedisError) -> StoreError {
    let code = error.code().unwrap_or_default().to_owned();
    let text = match error.detail() {
        Some(detail) => format!("{code} {detail}"),
        None => code.clone(),
    };
    if let Some(damaged) = damaged(&text) {
        return damaged;
    }
    if text.contains("OOM command not allowed") || text.contains("No space left") {
        return StoreError::Full(Box::new(error));
    }
    // Foreign data under the keys of the store.
    let corrupt = |place: &str| StoreError::Corrupt {
        place: place.to_owned(),
        reason: text.clone(),
    };
    if text.contains("WRONGTYPE") {
        return corrupt("a key of the store");
    }
    if text.contains("ID specified in XADD") {
        return corrupt("the log");
    }
    let is_login = error.kind() == ErrorKind::AuthenticationFailed
        || ["NOAUTH", "WRONGPASS"].contains(&code.as_str());
    if is_login {
        return Failure::Login(error).into();
    }
    if code.is_empty() {
        return StoreError::Other(Box::new(error));
    }
    Failure::Reported(text, error).into()
}

/// Returns the damage that a script found.
fn damaged(text: &str) -> Option<StoreError> {
    let (_, found) = text.split_once("FLOW-DAMAGED\u{1f}")?;
    let mut parts = found.split('\u{1f}');
    Some(StoreError::Corrupt {
        place: parts.next()?.to_owned(),
        reason: parts.next()?.to_owned(),
    })
}

/// Returns the error for an answer that does not have the expected form.
pub(super) fn not_understood(what: impl Into<String>) -> StoreError {
    Failure::Answer(what.into()).into()
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    /// Returns the library's error for an answer.
    fn answered(text: &str) -> CallError {
        let answer = format!("-{text}\r\n");
        let value = redis::parse_redis_value(answer.as_bytes()).unwrap();
        let result: Result<Value, RedisError> = value.extract_error();
        CallError::Redis(result.unwrap_err())
    }

    #[test]
    fn a_call_is_made_again_if_the_server_can_do_it_later_or_another_one_can() {
        for text in [
            "ERR Error running script (call to f_12): @user_script:63: @user_script: 63: -READONLY You can't write \
             against a read only replica.",
            "READONLY You can't write against a read only replica. script: 12, on @user_script:63.",
            "ERR Error running script (call to f_12): @user_script:49: @user_script: 49: Script attempted to access a \
             non local key in a cluster node",
            "ERR Script attempted to access a non local key in a cluster node script: 12, on @user_script:49.",
            "ERR Error running script: Script attempted to access keys that do not hash to the same slot, undeclared \
             keys were accessed during rehashing of the slot",
            "ERR Script attempted to access a slot not served script: 12, on @user_script:49.",
            "MOVED 866 127.0.0.1:7001",
            "TRYAGAIN Multiple keys request during rehashing of slot",
        ] {
            let error = answered(text);
            assert_eq!(error.effect(), Effect::Undone, "{text}");
            assert!(!error.leaves_the_connection(), "{text}");
        }
    }

    #[test]
    fn a_script_of_somebody_else_is_waited_for_on_the_same_connection() {
        let text = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
        let error = answered(text);
        assert_eq!(error.effect(), Effect::Undone);
        assert!(error.leaves_the_connection());
    }

    #[test]
    fn a_call_that_would_fail_again_is_refused() {
        for text in [
            "ERR Error running script (call to f_12): @user_script:49: @user_script: 49: this call was repeated \
             before it came",
            "ERR this call was repeated before it came script: 12, on @user_script:49.",
            "OOM command not allowed when used memory > 'maxmemory'.",
            "NOPERM this user has no permissions to run the 'eval' command",
        ] {
            let error = answered(text);
            assert_eq!(error.effect(), Effect::Refused, "{text}");
            assert!(error.leaves_the_connection(), "{text}");
        }
    }
}
