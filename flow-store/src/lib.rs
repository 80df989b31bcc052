//! Where executions of flows are kept: the [`Store`] trait, what goes through it, and the store in
//! memory.
//!
//! A store knows nothing of flows. It keeps rows and records, hands out leases, and refuses what a
//! process writes that has lost its lease. What a method has returned `Ok` for is durable.
//!
//! Those who run flows use these types through `flow_durable`. Those who write a store for another
//! database depend on this crate alone: [`refusal`] has what every store refuses, in the same
//! words, and with the feature `suite` there is a test for each case that a store has to pass.

mod error;
mod ids;
mod memory;
mod record;
pub mod refusal;
mod rows;
mod store;
#[cfg(feature = "suite")]
pub mod suite;

pub use error::{Damaged, DamagedRecord, StoreError};
pub use ids::{ExecutionId, InvalidId, Token};
pub use memory::MemoryStore;
pub use record::{Record, RecordKind, UnknownName, from_ms, to_ms};
pub use rows::{
    Append, Claim, Created, EndIf, JOURNAL_FORMAT, ListQuery, Logged, PauseRow, PauseState, Row,
    Settlement, Status,
};
pub use store::Store;
