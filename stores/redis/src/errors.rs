//! The errors of Redis, as errors of the store.

use std::time::Duration;

use flow_store::StoreError;
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// A failure that is not a refusal.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(
        "the address of the server is not valid: write `redis://user:password@host:port/number`"
    )]
    Address(#[source] RedisError),
    #[error("the address has the parameter `{0}`, and can have `name` and `durability`")]
    Parameter(String),
    #[error(
        "the address has the durability `{0}`, and can have `every_write`, `every_second` and `unchecked`"
    )]
    Durability(String),
    #[error(
        "the address asks for TLS (`{0}://`), which this store does not have yet: write `redis://` on a network that \
         you trust"
    )]
    Tls(String),
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

/// Why a call of the server has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("there is no connection")]
    NoConnection(#[source] RedisError),
    #[error(transparent)]
    Redis(#[from] RedisError),
    #[error("the server has not answered for {0:?}")]
    NoAnswer(Duration),
    /// What the store itself has found wrong.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        CallError::Store(failure.into())
    }
}

/// What is known about a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It had none, and would fail again.
    Refused,
    /// It had none, and can succeed if it is made again.
    Undone,
    /// The connection was lost: it may have had its effect, and may still have it.
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

    /// The server that has the keys of the store, if another one was asked.
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
        // A script of somebody else runs.
        _ if error.code() == Some("BUSY") => Effect::Undone,
        _ => Effect::Refused,
    }
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
    // What somebody else has written under the keys of the store.
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

/// The damage that a script has found.
fn damaged(text: &str) -> Option<StoreError> {
    let (_, found) = text.split_once("FLOW-DAMAGED\u{1f}")?;
    let mut parts = found.split('\u{1f}');
    Some(StoreError::Corrupt {
        place: parts.next()?.to_owned(),
        reason: parts.next()?.to_owned(),
    })
}

/// The error if an answer does not have the form that the scripts give it.
pub(super) fn not_understood(what: impl Into<String>) -> StoreError {
    Failure::Answer(what.into()).into()
}
