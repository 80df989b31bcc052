//! The errors of Postgres, as errors of the store.

use std::io;
use std::time::Duration;

use deadpool_postgres::{PoolError, TimeoutType};
use flow_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// The codes of refusals by the functions in the database.
pub(super) const NOT_FOUND: &str = "FW001";
pub(super) const LEASE_LOST: &str = "FW002";
pub(super) const GAP: &str = "FW003";
pub(super) const UNKNOWN_TOKEN: &str = "FW004";
pub(super) const NOT_A_SNAPSHOT: &str = "FW005";
pub(super) const NOT_A_SIGNAL: &str = "FW006";

/// A failure that is not a refusal.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the address of the database is not valid")]
    Address(#[source] Error),
    #[error("`sslmode` is `disable`, `prefer`, `require` or `verify-full`, and not `{0}`")]
    SslMode(String),
    #[error(
        "the address of the database has a `sslrootcert`, which without `sslmode=verify-full` nothing uses"
    )]
    RootWithoutTls,
    #[error(
        "the address at which to listen has no TLS, and that of the store has: write `sslmode=verify-full` there, too"
    )]
    ListensWithoutTls,
    #[error(
        "the address of the database has an `@` after its parameters about TLS, so they would be read as a part of \
         the password: write `%40` for an `@` in a parameter, and `%3F` and `%26` for `?` and `&` in a password"
    )]
    AtInParameters,
    #[cfg(not(feature = "tls"))]
    #[error(
        "the address of the database asks for TLS, and this program was built without it: add the feature \
         `tls` of typed-flows-postgres, or leave `sslmode` out on a network that you trust"
    )]
    NoTls,
    #[cfg(feature = "tls")]
    #[error("TLS cannot be set up")]
    Roots(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[cfg(feature = "tls")]
    #[error(
        "the system has no certificates of authorities: name the file of yours by `sslrootcert` in the address"
    )]
    NoRoots,
    #[cfg(feature = "tls")]
    #[error("the certificates in `{file}`, which `sslrootcert` names, cannot be read")]
    RootFile {
        file: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(
        "the database cannot be trusted: if it has the right certificate, name the file with that of its \
         authority by `sslrootcert` in the address"
    )]
    Untrusted(#[source] Error),
    #[error("the name of a schema has from 1 to 63 bytes and no NUL, and `{0}` has not")]
    Schema(String),
    #[error("the database cannot be reached")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the connection to the database was lost, and could not be made again in time")]
    Lost(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error(
        "the connection to the database was lost in the middle of the step's transaction, which was undone"
    )]
    TransactionLost,
    #[error(
        "the connection to the database was lost while the step's transaction was committed: it is not known \
         whether it was"
    )]
    CommitUnknown(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the step ended its transaction by a statement of its own")]
    EndedByStep,
    #[error(
        "a statement of the step failed, which undid its transaction: return the error, or go back to a \
         `SAVEPOINT` before it"
    )]
    Aborted,
    #[error(
        "all connections to the database are in use: allow more by `PostgresOptions::connections`"
    )]
    NoConnection,
    #[error("{message}{hint}")]
    Reported {
        message: String,
        hint: String,
        #[source]
        source: Error,
    },
    #[error(
        "the setting `{name}` of the database is `{found}`, with which the store cannot keep what it promises: \
         set it by `ALTER ROLE … SET {name} = '{needed}'`"
    )]
    Setting {
        name: &'static str,
        found: String,
        needed: &'static str,
    },
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        StoreError::Other(Box::new(failure))
    }
}

/// The reason why a call of the database has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("there is no connection")]
    NoConnection(#[source] PoolError),
    #[error(transparent)]
    Postgres(#[from] Error),
    #[error("the database has not answered for {0:?}")]
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
            CallError::NoConnection(PoolError::Backend(error)) => match effect(error) {
                Effect::Undone | Effect::Unknown => Effect::Undone,
                Effect::Refused => Effect::Refused,
            },
            CallError::NoConnection(PoolError::Timeout(TimeoutType::Create)) => Effect::Undone,
            CallError::NoConnection(_) | CallError::Store(_) => Effect::Refused,
            CallError::Postgres(error) => effect(error),
            CallError::NoAnswer(_) => Effect::Unknown,
        }
    }

    fn postgres(&self) -> Option<&Error> {
        match self {
            CallError::Postgres(error) => Some(error),
            _ => None,
        }
    }
}

fn effect(error: &Error) -> Effect {
    let Some(code) = error.code() else {
        return if error.is_closed() || is_lost(error) {
            Effect::Unknown
        } else {
            Effect::Refused
        };
    };
    let undone = [
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    // The server shuts down, possibly between the commit and the answer.
    let unknown = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
    if undone.contains(code) {
        Effect::Undone
    } else if unknown.contains(code) || code.code().starts_with("08") {
        Effect::Unknown
    } else {
        Effect::Refused
    }
}

/// Returns `true` if the connection failed. A message that cannot be sent, such as a text of more
/// than two gigabytes, is an I/O error too, but leaves the connection usable.
fn is_lost(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            // An untrusted certificate is invalid data.
            let kinds = [io::ErrorKind::InvalidInput, io::ErrorKind::InvalidData];
            return !kinds.contains(&error.kind());
        }
        cause = error.source();
    }
    false
}

fn has_bad_certificate(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return error.kind() == io::ErrorKind::InvalidData;
        }
        cause = error.source();
    }
    false
}

pub(super) fn store_error(error: impl Into<CallError>) -> StoreError {
    let error = error.into();
    let effect = error.effect();
    match error {
        CallError::Postgres(error) => reported(error, effect),
        CallError::Store(error) => error,
        CallError::NoAnswer(_) => Failure::Lost(Box::new(error)).into(),
        CallError::NoConnection(PoolError::Backend(error)) if effect == Effect::Refused => {
            reported(error, effect)
        }
        CallError::NoConnection(PoolError::Timeout(TimeoutType::Wait)) => {
            Failure::NoConnection.into()
        }
        CallError::NoConnection(PoolError::Backend(error)) => {
            Failure::Unreachable(Box::new(error)).into()
        }
        CallError::NoConnection(error) => Failure::Unreachable(Box::new(error)).into(),
    }
}

fn reported(error: Error, effect: Effect) -> StoreError {
    let Some(reported) = error.as_db_error() else {
        return match effect {
            _ if has_bad_certificate(&error) => Failure::Untrusted(error).into(),
            Effect::Unknown => Failure::Lost(Box::new(error)).into(),
            Effect::Refused | Effect::Undone => StoreError::Other(Box::new(error)),
        };
    };
    let code = reported.code();
    if *code == SqlState::DISK_FULL {
        return StoreError::Full(Box::new(error));
    }
    let locked = [
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::QUERY_CANCELED,
        SqlState::T_R_DEADLOCK_DETECTED,
    ];
    if locked.contains(code) {
        return StoreError::Locked(Box::new(error));
    }
    if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) {
        return StoreError::Corrupt {
            place: "the database".to_owned(),
            reason: reported.message().to_owned(),
        };
    }
    let message = reported.message().to_owned();
    let hint = reported.hint().map(|hint| format!(" ({hint})"));
    Failure::Reported {
        message,
        hint: hint.unwrap_or_default(),
        source: error,
    }
    .into()
}

/// Returns the code of an error of the database.
pub(super) fn code(error: &CallError) -> Option<&str> {
    Some(error.postgres()?.code()?.code())
}

/// Returns the code and the detail of an error raised by a function of the store.
pub(super) fn refused(error: &CallError) -> Option<(&str, &str)> {
    let reported = error.postgres()?.as_db_error()?;
    Some((
        reported.code().code(),
        reported.detail().unwrap_or_default(),
    ))
}

/// Returns the name of the violated constraint.
pub(super) fn violated(error: &CallError) -> Option<&str> {
    let reported = error.postgres()?.as_db_error()?;
    let is_taken = *reported.code() == SqlState::UNIQUE_VIOLATION;
    reported.constraint().filter(|_| is_taken)
}

#[cfg(test)]
mod tests {
    use flow_services::Postgres;
    use tokio_postgres::NoTls;

    use super::*;

    #[tokio::test]
    async fn what_cannot_be_sent_is_refused_and_a_closed_connection_is_unknown() {
        let Some(server) = Postgres::start() else {
            return;
        };
        let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
        tokio::spawn(connection);
        // Like a text that is too long, it fails when the message is built.
        let error = client.query_typed("SELECT '\0'", &[]).await.unwrap_err();
        assert_eq!(effect(&error), Effect::Refused, "{error:?}");
        let deadlock = "DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$";
        let error = client.batch_execute(deadlock).await.unwrap_err();
        assert_eq!(effect(&error), Effect::Undone, "{error:?}");
        let end = "SELECT pg_terminate_backend(pg_backend_pid())";
        let error = client.batch_execute(end).await.unwrap_err();
        assert_eq!(effect(&error), Effect::Unknown, "{error:?}");
        let error = client.batch_execute("SELECT 1").await.unwrap_err();
        assert_eq!(effect(&error), Effect::Unknown, "{error:?}");
    }
}
