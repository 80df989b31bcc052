//! The rows of a store, and the arguments of its methods.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::ids::{ExecutionId, Token};
use crate::record::{Record, UnknownName};

/// The status of an execution. Printed and stored in lowercase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is stored, but has not started: it waits for its time, or for a process with capacity.
    /// See [`Store::take_queued`](crate::Store::take_queued).
    Queued,
    /// It runs in some process, or will when `recover` is called.
    Running,
    /// It waits for an answer or a signal from outside, for the parts of a loop, or for a time that
    /// is some seconds ahead. No process holds it.
    Paused,
    /// It was [cancelled](crate::CANCEL), and is undone before it ends. The [`Row`] of such an
    /// execution has [`Running`](Status::Running) or [`Paused`](Status::Paused) and the time of the
    /// cancellation: see [`Row::shown_status`].
    Cancelling,
    /// It has reached an end.
    Completed,
    /// A node failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// All statuses.
    pub const ALL: [Status; 7] = [
        Status::Queued,
        Status::Running,
        Status::Paused,
        Status::Cancelling,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
    ];

    /// The statuses that a [`Row`] can have: all but [`Cancelling`](Status::Cancelling).
    pub const STORED: [Status; 6] = [
        Status::Queued,
        Status::Running,
        Status::Paused,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
    ];

    /// Returns the status of a [`Row`] with this name.
    ///
    /// # Errors
    ///
    /// No row can have a status of this name.
    pub fn stored(name: &str) -> Result<Status, UnknownName> {
        let status = name.parse::<Status>().ok();
        let stored = status.filter(|status| Status::STORED.contains(status));
        stored.ok_or_else(|| UnknownName(name.to_owned()))
    }

    /// Returns the name of the status, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Queued => "queued",
            Status::Running => "running",
            Status::Paused => "paused",
            Status::Cancelling => "cancelling",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Returns `true` if the execution will never continue.
    pub const fn is_over(self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Cancelled)
    }

    /// Returns `true` if the execution has started and is not over. Such executions count towards
    /// the limit of their [`Concurrency`].
    pub const fn is_under_way(self) -> bool {
        matches!(self, Status::Running | Status::Paused | Status::Cancelling)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Status {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Status::ALL
            .into_iter()
            .find(|status| status.as_str() == name)
            .ok_or_else(|| UnknownName(name.to_owned()))
    }
}

/// The format of the journals that this version of the library reads and writes. Format 1, in which
/// step names counted the visits to their path in the whole execution, was never released.
pub const JOURNAL_FORMAT: u32 = 2;

/// An execution, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The id.
    pub id: ExecutionId,
    /// The name of the flow.
    pub flow: String,
    /// The version of the flow that it runs: the hash of its structure. See
    /// [`Store::put_structure`](crate::Store::put_structure).
    pub structure: String,
    /// The owner, if any.
    pub owner: Option<String>,
    /// The idempotency key: a second start with it returns this execution.
    pub idempotency_key: Option<String>,
    /// The SHA-256 of the input, in hexadecimal digits. A second start with the same key has to
    /// have the same hash.
    pub input_hash: String,
    /// The status: one of [`Status::STORED`].
    pub status: Status,
    /// The format of the journal: see [`JOURNAL_FORMAT`].
    pub format: u32,
    /// The options of the start, as JSON.
    pub options: String,
    /// The start time, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// The time of the last write, in milliseconds since 1970 (UTC). A claim does not count as a
    /// write.
    pub updated_ms: u64,
    /// The time at which it resumes without an answer, in milliseconds since 1970 (UTC): the expiry
    /// of the first of its open questions or, if earlier, the [`timer_ms`](Append::timer_ms) of its
    /// pause, or the time from which it has had a signal for which it [waits](Append::awaited).
    pub wake_ms: Option<u64>,
    /// The number of records ever written to its journal: the `seq` of the next one.
    pub next_seq: u64,
    /// The newest snapshot, from which a recovery resumes.
    pub snapshot_seq: Option<u64>,
    /// The execution that it was copied from, up to one of the records.
    pub copied_from: Option<ExecutionId>,
    /// The output as JSON if it is completed; the reason as text if it failed or was cancelled.
    pub result: Option<String>,
    /// The number of claims so far. A process may write only while this is the fence of its claim.
    pub fence: u64,
    /// The priority in the queue: a higher number begins first.
    pub priority: i32,
    /// The earliest time to leave the queue, in milliseconds since 1970 (UTC).
    pub not_before_ms: Option<u64>,
    /// The limit on similar executions in progress at once.
    pub concurrency: Option<Concurrency>,
    /// The reason why it is halted: it does not resume by itself and is not
    /// [due](crate::Store::due), until it is [marked](crate::Store::mark) otherwise. Meaningless if
    /// it is over.
    pub halted: Option<String>,
    /// The number of takeovers at its last record, if any.
    pub take_overs: Option<TakeOvers>,
    /// The time at which it was [cancelled](crate::CANCEL), if it is to be undone first, in
    /// milliseconds since 1970 (UTC). Meaningless if it is over.
    pub cancelled_ms: Option<u64>,
}

impl Row {
    /// Returns `true` if it was [cancelled](crate::CANCEL) and is not over: it is to be undone.
    pub fn is_cancelling(&self) -> bool {
        self.cancelled_ms.is_some() && !self.status.is_over()
    }

    /// Returns the status of the execution for those who look at it:
    /// [`Cancelling`](Status::Cancelling) if it [is being cancelled](Row::is_cancelling), and the
    /// stored one otherwise.
    pub fn shown_status(&self) -> Status {
        if self.is_cancelling() {
            Status::Cancelling
        } else {
            self.status
        }
    }

    /// Makes this the row of an execution that [continues](crate::Store::reopen) with this status
    /// from this time on.
    pub fn reopen(&mut self, status: Status, now_ms: u64) {
        self.status = status;
        self.updated_ms = now_ms;
        self.result = None;
        self.halted = None;
        self.take_overs = None;
        self.cancelled_ms = None;
    }

    /// Returns the reason why it is halted, if it is.
    pub fn halt(&self) -> Option<&str> {
        self.halted.as_deref().filter(|_| !self.status.is_over())
    }
}

/// The number of times that a process took an execution over from a lost one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeOvers {
    /// The count while the journal had the same length.
    pub count: u32,
    /// The length of the journal then: the `next_seq` of the execution.
    pub at_seq: u64,
}

/// The state that [`Store::mark`](crate::Store::mark) writes to an execution. The values replace
/// those of the [`Row`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// The reason why the execution is halted, if it is.
    pub halted: Option<String>,
    /// The takeovers.
    pub take_overs: Option<TakeOvers>,
    /// The new options, as JSON. `None` keeps the current ones.
    pub options: Option<String>,
}

/// A limit on executions in progress at once, in all processes. An execution is in progress from
/// its start until it is over, also while paused.
///
/// The limit applies to queued executions. An execution that is created with another status begins
/// regardless, and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concurrency {
    /// The key that the executions share, such as the name of a customer. Executions of different
    /// flows and owners can have the same key.
    pub key: String,
    /// The limit: the execution leaves the queue only while fewer than this many with the same key
    /// are in progress. Executions with the same key may have different limits.
    pub at_most: u32,
}

/// The arguments of [`Store::take_queued`](crate::Store::take_queued).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// The names of the flows that the process has, each with the maximum number of its executions.
    pub flows: BTreeMap<String, usize>,
    /// The maximum number in total.
    pub limit: usize,
    /// The holder of the claims.
    pub holder: Uuid,
    /// The time, in milliseconds since 1970 (UTC).
    pub now_ms: u64,
    /// The end of the claims, in milliseconds since 1970 (UTC).
    pub until_ms: u64,
}

/// A question to a person, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRow {
    /// The token for the answer.
    pub token: Token,
    /// The execution that asks.
    pub execution: ExecutionId,
    /// The path of the node that asks.
    pub path: String,
    /// The step that asks: see [`Record::step`].
    pub step: String,
    /// The question.
    pub prompt: String,
    /// The type of the answer: its name, as written in Rust.
    pub expected: String,
    /// The JSON Schema of the answer, if its type has one.
    pub schema: Option<String>,
    /// The time of the question, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// The expiry, in milliseconds since 1970 (UTC).
    pub expires_ms: Option<u64>,
    /// The state of the question.
    pub state: PauseState,
}

/// The state of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseState {
    /// Not answered yet.
    Open,
    /// An answer, as JSON. The run has not seen it yet.
    Answered(String),
    /// The time ran out without an answer. The run has not seen this yet.
    TimedOut,
    /// It was answered, and the run has continued.
    Used,
    /// The time ran out without an answer, and the run has continued.
    Expired,
    /// The run continued without it: the node that asked was dropped, or the execution is over.
    Withdrawn,
}

impl PauseState {
    /// Returns `true` if the run has dealt with the question.
    pub const fn is_closed(&self) -> bool {
        matches!(
            self,
            PauseState::Used | PauseState::Expired | PauseState::Withdrawn
        )
    }

    /// Returns the state of the question after the run has dealt with it.
    pub fn closed(&self) -> PauseState {
        match self {
            PauseState::Answered(_) | PauseState::Used => PauseState::Used,
            PauseState::TimedOut | PauseState::Expired => PauseState::Expired,
            PauseState::Open | PauseState::Withdrawn => PauseState::Withdrawn,
        }
    }
}

impl From<Settlement> for PauseState {
    fn from(settlement: Settlement) -> Self {
        match settlement {
            Settlement::Answer(answer) => PauseState::Answered(answer),
            Settlement::TimedOut => PauseState::TimedOut,
        }
    }
}

/// The outcome of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// An answer, as JSON.
    Answer(String),
    /// The time ran out without an answer.
    TimedOut,
}

/// A claim that has been prolonged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renewal {
    /// The execution.
    pub id: ExecutionId,
    /// The fence of the claim. An older claim of the same holder is over.
    pub fence: u64,
}

/// A claim to an execution: the right to write to it, until another claim replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The holder of the claim.
    pub holder: Uuid,
    /// The time until which nobody else can claim the execution, in milliseconds since 1970 (UTC).
    pub until_ms: u64,
    /// The length of the claim when it was made, in milliseconds. It is never valid for longer,
    /// unless the clock of its maker is ahead.
    pub lease_ms: u64,
}

impl Claim {
    /// Creates a claim from now until this time.
    pub fn new(holder: Uuid, now_ms: u64, until_ms: u64) -> Claim {
        Claim {
            holder,
            until_ms,
            lease_ms: until_ms.saturating_sub(now_ms),
        }
    }

    /// Returns `true` if nobody else can claim the execution now.
    pub fn is_valid(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms
    }

    /// Returns the claim as if made in 1970, so that it has expired by any clock.
    pub fn broken(self) -> Claim {
        Claim {
            until_ms: self.lease_ms,
            ..self
        }
    }

    /// Returns `true` if it is valid for longer than its length, because the clock of its holder is
    /// ahead of this time.
    pub fn is_ahead(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms.saturating_add(self.lease_ms)
    }
}

/// The condition under which [`Store::end`](crate::Store::end) ends an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndIf {
    /// It is not over.
    NotOver,
    /// It is paused, its `updated_ms` is less than this, all its settled questions are closed, and
    /// it has no signal for which it [waits](Append::awaited): nobody has answered.
    PausedUntouchedSince(u64),
    /// It is queued: it has not begun.
    Queued,
}

/// The result of [`Store::create`](crate::Store::create).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The execution is stored.
    New,
    /// Nothing was written, because this execution has the same flow, owner and idempotency key.
    Existing(ExecutionId),
}

/// The changes that a process writes to an execution that it has claimed. They apply as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Append {
    /// New records, whose `seq` continues from the row's `next_seq`.
    pub records: Vec<Record>,
    /// New questions.
    pub opened: Vec<PauseRow>,
    /// Questions of this execution, including new ones, that the run has dealt with.
    pub closed: Vec<Token>,
    /// The new status. `None` keeps the current one. A status of an execution that is over closes
    /// all its questions and releases the claim.
    pub status: Option<Status>,
    /// The row's new `result`. `None` keeps the current one.
    pub result: Option<String>,
    /// The row's new `structure`. `None` keeps the current one.
    pub structure: Option<String>,
    /// The time at which an execution that this write pauses resumes by itself, in milliseconds
    /// since 1970 (UTC), regardless of its questions: because of a parallel wait or timeout. Any
    /// other write removes this time.
    pub timer_ms: Option<u64>,
    /// Signals, by number, that the run has taken. They lose their payload, and are removed if they
    /// have no key.
    pub taken: Vec<u64>,
    /// The names of the signals for which an execution that this write pauses waits. If it has one
    /// that is not taken, this write sets its `wake_ms` to `now_ms`, unless that is earlier. Any
    /// other write removes the names, except one that leaves a paused execution paused without
    /// naming a status, such as a release of its claim alone.
    pub awaited: Vec<String>,
    /// Releases the claim.
    pub release: bool,
    /// Removes the records before this one, which is a snapshot.
    pub prune_before: Option<u64>,
    /// The time, in milliseconds since 1970 (UTC): the row's new `updated_ms`.
    pub now_ms: u64,
}

/// Selects the executions that [`Store::list`](crate::Store::list) returns. All parts of the query
/// have to match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// With this flow.
    pub flow: Option<String>,
    /// With this stored status, whether it is being cancelled or not. See
    /// [`with_status`](ListQuery::with_status).
    pub status: Option<Status>,
    /// `Some(true)` selects those that [are being cancelled](Row::is_cancelling), `Some(false)`
    /// those that are not.
    pub cancelling: Option<bool>,
    /// With this owner. `Some(None)` selects those without an owner.
    pub owner: Option<Option<String>>,
    /// Started at this time or later, in milliseconds since 1970 (UTC).
    pub created_from_ms: Option<u64>,
    /// Started before this time, in milliseconds since 1970 (UTC).
    pub created_before_ms: Option<u64>,
    /// Last written to before this time, in milliseconds since 1970 (UTC).
    pub updated_before_ms: Option<u64>,
    /// Copied from this one.
    pub copied_from: Option<ExecutionId>,
    /// `Some(true)` selects those that are halted, `Some(false)` those that are not.
    pub halted: Option<bool>,
    /// `Some(true)` selects those with an open question of their own, `Some(false)` all others.
    pub asks: Option<bool>,
    /// Older than this one: the next page.
    pub before: Option<ExecutionId>,
    /// At most this many.
    pub limit: Option<usize>,
}

impl ListQuery {
    /// Selects the executions with this [shown status](Row::shown_status).
    #[must_use]
    pub fn with_status(self, status: Status) -> ListQuery {
        let is_cancelling = status == Status::Cancelling;
        ListQuery {
            status: Some(status).filter(|_| !is_cancelling),
            cancelling: (!status.is_over()).then_some(is_cancelling),
            ..self
        }
    }

    /// Returns `true` if the query matches this row. [`asks`](ListQuery::asks) is not part of a row
    /// and not checked.
    pub fn allows(&self, row: &Row) -> bool {
        self.flow.as_ref().is_none_or(|flow| *flow == row.flow)
            && self.status.is_none_or(|status| status == row.status)
            && self
                .cancelling
                .is_none_or(|cancelling| row.is_cancelling() == cancelling)
            && self.owner.as_ref().is_none_or(|owner| *owner == row.owner)
            && self.created_from_ms.is_none_or(|ms| row.created_ms >= ms)
            && self.created_before_ms.is_none_or(|ms| row.created_ms < ms)
            && self.updated_before_ms.is_none_or(|ms| row.updated_ms < ms)
            && self
                .copied_from
                .is_none_or(|id| row.copied_from == Some(id))
            && self
                .halted
                .is_none_or(|halted| row.halt().is_some() == halted)
            && self.before.is_none_or(|id| row.id < id)
    }
}

/// A record with its offset in the log of all executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The offset, which grows with gaps. A reader that continues after it misses nothing.
    pub offset: u64,
    /// The execution that the record belongs to.
    pub execution: ExecutionId,
    /// The owner of the execution.
    pub owner: Option<String>,
    /// The record.
    pub record: Record,
}
