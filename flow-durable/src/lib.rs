#![doc = include_str!("../docs/durable.md")]

mod clock;
mod deltas;
mod driver;
mod engine;
mod entry;
mod error;
mod events;
mod execution;
mod execution_state;
mod executions;
mod filter;
mod journal;
mod lease;
mod listed;
mod lock;
mod names;
mod options;
mod owned;
mod owners;
mod parts;
mod payload;
mod registered;
mod replay;
mod retried;
mod runtime;
#[cfg(feature = "schedule")]
pub mod schedule;
mod shared;
mod steps;
mod store_transactions;
mod undoable;
mod values;
mod versions;
mod writes;

pub use deltas::DeltaContent;
pub use engine::Durable;
pub use entry::Payload;
pub use error::{RuntimeError, StoreFailure};
pub use events::{
    DeltaEvent, EventStatistics, Events, ExecutionEvent, MissedDeltas, RecordedEvent,
};
pub use execution::{AwaitedSignal, Execution, OpenQuestion, UntakenSignal};
pub use execution_state::{ExecutionState, StateChange, StateDiff, StateSource};
pub use executions::Executions;
pub use filter::{EventFilter, InvalidPattern, Pattern};
pub use flow_store::{
    Append, Claim, Concurrency, Created, Damaged, DamagedRecord, EndIf, ExecutionId, InvalidId,
    JOURNAL_FORMAT, ListQuery, Logged, Mark, MemoryStore, NewSignal, PauseRow, PauseState, Record,
    RecordKind, Renewal, Row, Sent, Settlement, SignalRow, Status, Store, StoreError, Take,
    TakeOvers, Token, UnknownName,
};
pub use listed::{ListOptions, Listed};
pub use options::{RuntimeOptions, SignalOptions, StartOptions};
pub use registered::DurableFlow;
pub use runtime::Runtime;
pub use shared::Recovered;
pub use store_transactions::StoreTransactions;
pub use undoable::UndoableStep;
pub use values::{AccessedValue, KeyAccess, NodeValues};
pub use writes::{KeyWrite, Writer};
