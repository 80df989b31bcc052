//! Stores for the executions of flows: the [`Store`] trait, the types that it uses, and the store
//! in memory.
//!
//! A store does not know flows. It keeps rows and records, hands out leases, and refuses the writes
//! of a process that has lost its lease. Once a method has returned `Ok`, its effect is durable.
//!
//! Programs that run flows use these types through `flow_durable`. A store for another database
//! depends on this crate alone. [`refusal`] has the common errors of all stores, the feature
//! `hints` tells other processes of writes, and the feature `suite` has the tests that a store must
//! pass.
//!
//! With the feature `blobs`, a `BlobStore` keeps large values outside of any store: in a folder, or
//! in an object store such as S3 (crate `flow-blobs`).

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
    PauseState, Row, Settlement, Status, Take, TakeOvers,
};
pub use store::Store;
pub use transaction::StoreTransaction;
