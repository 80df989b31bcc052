//! The errors of stores.

use std::path::PathBuf;

use crate::ids::{ExecutionId, Token};

/// Damaged data among data that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store is damaged at {place}: {reason}")]
pub struct Damaged {
    /// The execution to which the data belongs. `None` if that cannot be read either.
    pub execution: Option<ExecutionId>,
    /// The place of the damage, such as `execution …, record 3`.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A damaged record among records that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRecord {
    /// The offset of the record. A reader that continues after it misses no other record.
    pub offset: u64,
    /// The known facts about the damage.
    pub damaged: Damaged,
}

/// Errors of a store. Everything stored before is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The claim was lost: another process has claimed the execution since, or it was cancelled or
    /// deleted.
    #[error("execution {0} has been taken over or ended by another process")]
    LeaseLost(ExecutionId),
    /// There is no such execution.
    #[error("there is no execution {0}")]
    NotFound(ExecutionId),
    /// There is no question with this token.
    #[error("there is no question with this token")]
    UnknownToken(Token),
    /// Stored data cannot be read.
    #[error("the store is damaged at {place}: {reason}")]
    Corrupt {
        /// The place of the damage, such as `execution …, record 3`.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The path leads to something that is not a store of this library. It was not touched.
    #[error("`{path}` is not a store of flows: {reason}")]
    NotAStore {
        /// The path, as it was given.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// There is no room left to write to.
    #[error("the store has no room left: make some, then `recover`")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another process kept the store locked for longer than the store waits.
    #[error("the store is locked by another process")]
    Locked(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store was written by a newer version of this library.
    #[error(
        "the store has tables of version {found}, and this program knows up to {known}: it needs a newer version \
         of the library"
    )]
    TooNew {
        /// The version of its tables.
        found: u64,
        /// The newest version that this library knows.
        known: u64,
    },
    /// Anything else that the underlying store reports.
    #[error("the store failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<Damaged> for StoreError {
    fn from(Damaged { place, reason, .. }: Damaged) -> Self {
        StoreError::Corrupt { place, reason }
    }
}
