//! The records of the journal: the history of an execution.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An entry in the journal of an execution.
///
/// A record names a place (`step`, and for people `path`) and an event. A replay finds the outcome
/// of a step by the name of the step, which does not depend on what happens in parallel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number within the execution: 0, 1, 2 and so on, without gaps.
    pub seq: u64,
    /// The time of the record, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// The kind of the event.
    pub kind: RecordKind,
    /// The path of the node, such as `orders.payment.charge` or `report.summaries[3]`; for a record
    /// about the whole execution, the path of the flow.
    pub path: String,
    /// The name of the step, unique in the execution. It consists of the flows, forks and loops
    /// that contain the node, from the outermost flow inwards, and the node, each counted within
    /// its container.
    ///
    /// | part | means |
    /// |---|---|
    /// | `orders.charge` | the first visit to the node |
    /// | `orders.charge#2` | the second visit |
    /// | `orders.payment#2.charge` | the first visit to it in the second visit to the flow `payment` |
    /// | `orders.payment~1.charge` | the same in the first retry of the flow `payment` |
    /// | `orders.fork.charge` | in a branch of the fork `fork` |
    /// | `orders.parcels[3].pack` | for item 3 of the loop `parcels` |
    /// | `orders.parcels[16..32]` | a part of the loop, which runs as an execution of its own |
    pub step: String,
    /// The number of the visit to the node within the part that contains it, from 1. 0 for a record
    /// about the whole execution.
    pub visit: u32,
    /// The index of the item that the node ran for, in a loop over items.
    pub item: Option<u32>,
    /// The index of the attempt, from 0.
    pub attempt: u32,
    /// Further content as JSON text. Empty if the kind has none.
    pub payload: String,
}

/// The kind of a record. Printed and stored in snake_case, such as `node_started`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RecordKind {
    /// The execution started. The payload is the input.
    RunStarted,
    /// The execution started as a copy of another one, up to one of its records. The payload names
    /// both.
    RunCopied,
    /// The execution had failed, and continues where it failed. The payload names the records that
    /// do not count any more.
    RunRetried,
    /// A node was reached.
    NodeStarted,
    /// An attempt of a node failed. The payload is the error's text.
    AttemptFailed,
    /// No further attempt follows. The fallback of a step is next, or `retry(…, if = …)` decided so
    /// for a flow used as a node. The payload is the error.
    GaveUp,
    /// A step has finished. The payload is its outcome.
    Outcome,
    /// A step failed after its last attempt. The payload is its error.
    NodeFailed,
    /// A visit to a node is done that can be undone. The payload has the values that its undo node
    /// will read.
    Undoable,
    /// What a flow has done so far is not undone any more.
    Committed,
    /// A flow used as a node failed, or a fork or a loop because something inside it did. The
    /// payload is the error's text.
    FlowFailed,
    /// A node took an action. The payload is the action.
    NodeFinished,
    /// The node waits. The payload is the time at which it resumes, in milliseconds since 1970
    /// (UTC).
    Waiting,
    /// The wait is over.
    Waited,
    /// A flow used as a node took longer than the flow around it allows.
    TimedOut,
    /// The node waits for an answer from outside. The payload is the question.
    Paused,
    /// An answer arrived, or the time for it ran out. The payload is the answer.
    Resumed,
    /// The node waits for a signal. The payload is its name.
    Awaiting,
    /// The node has taken a signal, or none came in time. The payload is the signal.
    Received,
    /// The state of the flow before its next node, from which a recovery resumes. The payload is
    /// the state.
    Snapshot,
    /// The items of a loop run in parts, which are separate executions. The payload has the number
    /// of items, and the size of a part.
    Spread,
    /// The execution is a part of a loop of another one, which the payload names.
    PartStarted,
    /// A flow used as a node, or the execution's own flow, reached an end. The payload is the end's
    /// label.
    FlowEnded,
    /// The execution completed. The payload is the output.
    RunCompleted,
    /// The execution failed. The payload is the error's text.
    RunFailed,
    /// The execution was cancelled. The payload is the reason.
    RunCancelled,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [RecordKind; 26] = [
        RecordKind::RunStarted,
        RecordKind::RunCopied,
        RecordKind::RunRetried,
        RecordKind::NodeStarted,
        RecordKind::AttemptFailed,
        RecordKind::GaveUp,
        RecordKind::Outcome,
        RecordKind::NodeFailed,
        RecordKind::Undoable,
        RecordKind::Committed,
        RecordKind::FlowFailed,
        RecordKind::NodeFinished,
        RecordKind::Waiting,
        RecordKind::Waited,
        RecordKind::TimedOut,
        RecordKind::Paused,
        RecordKind::Resumed,
        RecordKind::Awaiting,
        RecordKind::Received,
        RecordKind::Snapshot,
        RecordKind::Spread,
        RecordKind::PartStarted,
        RecordKind::FlowEnded,
        RecordKind::RunCompleted,
        RecordKind::RunFailed,
        RecordKind::RunCancelled,
    ];

    /// Returns the name of the kind, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            RecordKind::RunStarted => "run_started",
            RecordKind::RunCopied => "run_copied",
            RecordKind::RunRetried => "run_retried",
            RecordKind::NodeStarted => "node_started",
            RecordKind::AttemptFailed => "attempt_failed",
            RecordKind::GaveUp => "gave_up",
            RecordKind::Outcome => "outcome",
            RecordKind::NodeFailed => "node_failed",
            RecordKind::Undoable => "undoable",
            RecordKind::Committed => "committed",
            RecordKind::FlowFailed => "flow_failed",
            RecordKind::NodeFinished => "node_finished",
            RecordKind::Waiting => "waiting",
            RecordKind::Waited => "waited",
            RecordKind::TimedOut => "timed_out",
            RecordKind::Paused => "paused",
            RecordKind::Resumed => "resumed",
            RecordKind::Awaiting => "awaiting",
            RecordKind::Received => "received",
            RecordKind::Snapshot => "snapshot",
            RecordKind::Spread => "spread",
            RecordKind::PartStarted => "part_started",
            RecordKind::FlowEnded => "flow_ended",
            RecordKind::RunCompleted => "run_completed",
            RecordKind::RunFailed => "run_failed",
            RecordKind::RunCancelled => "run_cancelled",
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RecordKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        RecordKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| UnknownName(name.to_owned()))
    }
}

/// A stored name that this version does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName(pub String);

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name `{}` is not known", self.0)
    }
}

impl std::error::Error for UnknownName {}

/// Converts a time to milliseconds since 1970 (UTC); 0 for anything earlier.
pub fn to_ms(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// Converts milliseconds since 1970 (UTC) to a time.
pub fn from_ms(ms: u64) -> SystemTime {
    UNIX_EPOCH
        .checked_add(Duration::from_millis(ms))
        .unwrap_or(UNIX_EPOCH)
}

impl Record {
    /// Returns the time of the record.
    pub fn at(&self) -> SystemTime {
        from_ms(self.at_ms)
    }
}
