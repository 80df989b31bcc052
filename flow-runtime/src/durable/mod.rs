#![doc = include_str!("../../docs/durable.md")]

mod driver;
mod engine;
mod error;
mod events;
mod execution;
mod executions;
mod journal;
mod lease;
mod listed;
mod memory;
mod node_errors;
mod options;
mod payload;
mod record;
mod refusal;
mod registered;
mod replay;
mod runtime;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
#[cfg(feature = "store-tests")]
pub mod store_tests;
mod travel;

pub use engine::Durable;
pub use error::RuntimeError;
pub use events::{
    DeltaEvent, EventFilter, Events, ExecutionEvent, InvalidPattern, MissedDeltas, Pattern,
    RecordedEvent,
};
pub use execution::{Execution, OpenQuestion};
pub use executions::Executions;
pub use journal::Journal;
pub use listed::Listed;
pub use memory::MemoryStore;
pub use options::{RuntimeOptions, StartOptions};
pub use record::{Record, RecordKind, UnknownName};
pub use registered::DurableFlow;
pub use runtime::{ListOptions, Recovered, Runtime};
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, SqliteOptions, SqliteStore};
pub use store::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, InvalidId, JOURNAL_FORMAT,
    ListQuery, Logged, PauseRow, PauseState, Row, Settlement, Status, Store, StoreError, Token,
};
pub use travel::{ExecutionState, StateChange, StateDiff};
