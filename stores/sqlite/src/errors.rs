//! The errors of SQLite, as errors of the store.

use std::sync::Arc;

use flow_store::StoreError;
use rusqlite::{ErrorCode, ffi};

/// An error that several requests may share, because they were in one transaction.
pub(super) type Shared = Arc<rusqlite::Error>;

pub(super) fn store_error(error: rusqlite::Error) -> StoreError {
    shared_error(&Arc::new(error))
}

pub(super) fn shared_error(error: &Shared) -> StoreError {
    let source = || Box::new(Arc::clone(error));
    match error.sqlite_error() {
        Some(reported) if is_full(*reported) => StoreError::Full(source()),
        Some(reported) => match reported.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked(source()),
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Corrupt {
                place: "the file".to_owned(),
                reason: error.to_string(),
            },
            _ => StoreError::Other(source()),
        },
        None => StoreError::Other(source()),
    }
}

fn is_full(error: ffi::Error) -> bool {
    // The index of the log is a file too, which grows before a write to the log.
    error.code == ErrorCode::DiskFull || error.extended_code == ffi::SQLITE_IOERR_SHMSIZE
}

/// A value that this library does not write.
pub(super) struct Damage(pub(super) String);

impl Damage {
    pub(super) fn at(self, place: String) -> StoreError {
        StoreError::Corrupt {
            place,
            reason: self.0,
        }
    }
}
