//! The errors of Postgres, as errors of the store.

use deadpool_postgres::{PoolError, TimeoutType};
use flow_store::StoreError;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

/// What the functions in the database refuse.
pub(super) const NOT_FOUND: &str = "FW001";
pub(super) const LEASE_LOST: &str = "FW002";
pub(super) const GAP: &str = "FW003";
pub(super) const UNKNOWN_TOKEN: &str = "FW004";
pub(super) const NOT_A_SNAPSHOT: &str = "FW005";

/// A failure that is not a refusal.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the address of the database is not valid")]
    Address(#[source] Error),
    #[error(
        "the address of the database asks for TLS (`sslmode={0}`), which this store does not have yet: \
         leave `sslmode` out on a network that you trust"
    )]
    Tls(&'static str),
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

/// Returns true if the same can succeed once the database is there again.
pub(super) fn is_passing(error: &Error) -> bool {
    match error.code() {
        // The server ends or starts, or had to start again.
        Some(code) => {
            code.code().starts_with("08")
                || [
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::TOO_MANY_CONNECTIONS,
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    SqlState::T_R_DEADLOCK_DETECTED,
                ]
                .contains(code)
        }
        None => error.is_closed() || has_io_error(error),
    }
}

fn has_io_error(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<std::io::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Returns true if another try can get a connection.
pub(super) fn is_passing_pool(error: &PoolError) -> bool {
    matches!(error, PoolError::Backend(error) if is_passing(error))
}

pub(super) fn pool_error(error: PoolError) -> StoreError {
    match error {
        PoolError::Backend(error) if is_passing(&error) => {
            Failure::Unreachable(Box::new(error)).into()
        }
        PoolError::Backend(error) => store_error(error),
        PoolError::Timeout(TimeoutType::Wait) => Failure::NoConnection.into(),
        other => Failure::Unreachable(Box::new(other)).into(),
    }
}

pub(super) fn store_error(error: Error) -> StoreError {
    let Some(reported) = error.as_db_error() else {
        return if is_passing(&error) {
            Failure::Lost(Box::new(error)).into()
        } else {
            StoreError::Other(Box::new(error))
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

/// The code and the detail of an error that a function of the store has raised.
pub(super) fn refused(error: &Error) -> Option<(&str, &str)> {
    let reported = error.as_db_error()?;
    Some((
        reported.code().code(),
        reported.detail().unwrap_or_default(),
    ))
}

/// The name of the constraint that a row violates.
pub(super) fn violated(error: &Error) -> Option<&str> {
    let reported = error
        .as_db_error()
        .filter(|it| *it.code() == SqlState::UNIQUE_VIOLATION);
    reported.and_then(DbError::constraint)
}
