//! Why a store did not do what it was asked to.

use std::fmt;
use std::path::PathBuf;

use crate::ids::{ExecutionId, Token};

/// A row that cannot be read, among others that can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The execution that it belongs to. `None` if that cannot be read either.
    pub execution: Option<ExecutionId>,
    /// Where it stands, such as `execution …, record 3`.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damaged { place, reason, .. } = self;
        write!(f, "the store is damaged at {place}: {reason}")
    }
}

impl std::error::Error for Damaged {}

/// A record that cannot be read, among others that can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRecord {
    /// Its offset: reading on after it misses nothing else.
    pub offset: u64,
    /// What is known of it.
    pub damaged: Damaged,
}

/// Why a store did not do what it was asked to. What was there before is there still.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The claim was lost: another process has claimed the execution since, or it was cancelled or
    /// deleted.
    LeaseLost(ExecutionId),
    /// There is no such execution.
    NotFound(ExecutionId),
    /// There is no question with this token.
    UnknownToken(Token),
    /// What is stored cannot be read.
    Corrupt {
        /// Where it stands, such as `execution …, record 3`.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is something at the path that is not a store of this library. It was not touched.
    NotAStore {
        /// The path, as it was given.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// There is no room left to write to.
    Full(Box<dyn std::error::Error + Send + Sync>),
    /// Another process kept it locked for longer than the store waits.
    Locked(Box<dyn std::error::Error + Send + Sync>),
    /// The store was written by a newer version of this library.
    TooNew {
        /// The version of its tables.
        found: u64,
        /// The newest that this library knows.
        known: u64,
    },
    /// Anything else that the underlying store reports.
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::LeaseLost(id) => {
                write!(
                    f,
                    "execution {id} has been taken over or ended by another process"
                )
            }
            StoreError::NotFound(id) => write!(f, "there is no execution {id}"),
            StoreError::UnknownToken(_) => f.write_str("there is no question with this token"),
            StoreError::Corrupt { place, reason } => {
                write!(f, "the store is damaged at {place}: {reason}")
            }
            StoreError::NotAStore { path, reason } => {
                write!(f, "`{}` is not a store of flows: {reason}", path.display())
            }
            StoreError::Full(_) => {
                f.write_str("the store has no room left: make some, then `recover`")
            }
            StoreError::Locked(_) => f.write_str("the store is locked by another process"),
            StoreError::TooNew { found, known } => write!(
                f,
                "the store has tables of version {found}, and this program knows up to {known}: it needs a newer \
                 version of the library"
            ),
            StoreError::Other(_) => f.write_str("the store failed"),
        }
    }
}

impl From<Damaged> for StoreError {
    fn from(Damaged { place, reason, .. }: Damaged) -> Self {
        StoreError::Corrupt { place, reason }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Full(error) | StoreError::Locked(error) | StoreError::Other(error) => {
                Some(&**error)
            }
            _ => None,
        }
    }
}
