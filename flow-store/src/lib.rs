#![doc = include_str!("../README.md")]
//!
//! # Promises
//!
//! A [`Store`] does not know flows. It keeps rows and records, hands out leases, and refuses the
//! writes of a process that has lost its lease. Once a method has returned `Ok`, its effect is
//! durable. [`refusal`] has the common errors of all stores.

mod blobs;
mod changes;
mod error;
#[cfg(feature = "hints")]
pub mod hints;
mod ids;
mod memory;
mod record;
pub mod refusal;
mod rows;
mod shared;
mod signals;
mod store;
#[cfg(feature = "suite")]
pub mod suite;
mod transaction;

#[cfg(feature = "blobs")]
pub use blobs::{BlobStore, Blobs, MemoryBlobs, check_blob_name};
pub use blobs::{free_text, is_blob_marker, is_blob_marker_of, no_blob_marker};
pub use changes::{Change, Changes};
pub use error::{Damaged, DamagedRecord, StoreError};
pub use ids::{ExecutionId, InvalidId, Token};
pub use memory::MemoryStore;
pub use record::{Record, RecordKind, UnknownName, from_ms, to_ms};
pub use rows::{
    Append, Claim, Concurrency, Created, EndIf, JOURNAL_FORMAT, ListQuery, Logged, Mark, PauseRow,
    PauseState, Renewal, Row, Settlement, Status, Take, TakeOvers,
};
pub use signals::{CANCEL, NewSignal, Sent, SignalRow};
pub use store::Store;
pub use transaction::StoreTransaction;
