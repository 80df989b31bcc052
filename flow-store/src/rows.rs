//! The rows of a store, and the arguments of its methods.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::ids::{ExecutionId, Token};
use crate::record::{Record, UnknownName};

/// The status of an execution. Printed and stored in small letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is stored and has not begun: it waits for its time, or for a process that has a place for
    /// it. See [`Store::take_queued`](crate::Store::take_queued).
    Queued,
    /// It runs, in this process or another one, or will when `recover` is called.
    Running,
    /// It waits for an answer from outside, for the parts of a loop, or for a time that is some
    /// seconds ahead. No process has it.
    Paused,
    /// It has reached an end.
    Completed,
    /// A node failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// All statuses.
    pub const ALL: [Status; 6] = [
        Status::Queued,
        Status::Running,
        Status::Paused,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
    ];

    /// Its name, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Queued => "queued",
            Status::Running => "running",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Returns true if the execution will never continue.
    pub const fn is_over(self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Cancelled)
    }

    /// Returns true if the execution has begun and is not over. Such executions count towards the
    /// limit of their [`Concurrency`].
    pub const fn is_under_way(self) -> bool {
        matches!(self, Status::Running | Status::Paused)
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
/// the names of steps counted the visits to their path in the whole execution, was never released.
pub const JOURNAL_FORMAT: u32 = 2;

/// An execution, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: ExecutionId,
    /// The name of its flow.
    pub flow: String,
    /// The version of the flow that it runs: the hash of its structure. See
    /// [`Store::put_structure`](crate::Store::put_structure).
    pub structure: String,
    /// The owner, if it has one.
    pub owner: Option<String>,
    /// The idempotency key: a second start with the same key returns this execution.
    pub idempotency_key: Option<String>,
    /// The SHA-256 of the input, in hexadecimal digits. A second start with the same key has to
    /// have the same hash.
    pub input_hash: String,
    /// How it stands.
    pub status: Status,
    /// The format of its journal: see [`JOURNAL_FORMAT`].
    pub format: u32,
    /// The options with which it was started, as JSON.
    pub options: String,
    /// When it was started, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// When it was last written to, in milliseconds since 1970 (UTC). A claim does not count as a
    /// write.
    pub updated_ms: u64,
    /// When it continues without an answer, in milliseconds since 1970 (UTC): when the first of its
    /// open questions expires or, if that is earlier, at the [`timer_ms`](Append::timer_ms) with
    /// which it was paused.
    pub wake_ms: Option<u64>,
    /// The number of records that its journal has had: the `seq` of the next one.
    pub next_seq: u64,
    /// The newest snapshot, from which a recovery resumes.
    pub snapshot_seq: Option<u64>,
    /// The execution of which it is a copy, up to one of its records.
    pub copied_from: Option<ExecutionId>,
    /// The output as JSON if it is completed; the reason as text if it failed or was cancelled.
    pub result: Option<String>,
    /// How often it was claimed. A process may write only while this is the fence of its claim.
    pub fence: u64,
    /// Of those that are queued, the ones with a higher number begin first.
    pub priority: i32,
    /// Before this time, in milliseconds since 1970 (UTC), it does not leave the queue.
    pub not_before_ms: Option<u64>,
    /// How many executions like it may be under way at once.
    pub concurrency: Option<Concurrency>,
    /// Why it is halted: it does not continue by itself, and is not [due](crate::Store::due), until
    /// somebody [marks](crate::Store::mark) it otherwise. Of no meaning if it is over.
    pub halted: Option<String>,
    /// How often it was taken over at its last record. `None` if it never was.
    pub take_overs: Option<TakeOvers>,
}

impl Row {
    /// The reason for which it is halted, if it is.
    pub fn halt(&self) -> Option<&str> {
        self.halted.as_deref().filter(|_| !self.status.is_over())
    }
}

/// How often a process took an execution over from one that was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeOvers {
    /// How often, while the journal had the same length.
    pub count: u32,
    /// That length: the `next_seq` of the execution.
    pub at_seq: u64,
}

/// The state of an execution that [`Store::mark`](crate::Store::mark) writes. The values replace those
/// of the [`Row`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Why the execution is halted. `None` if it is not.
    pub halted: Option<String>,
    /// How often it was taken over.
    pub take_overs: Option<TakeOvers>,
    /// Its new options, as JSON. `None` leaves them as they were.
    pub options: Option<String>,
}

/// A limit on the executions that are under way at once, in all processes: those that have begun
/// and are not over, also while they are paused.
///
/// It holds back what is queued. An execution that is created with another status begins whatever
/// the limit says, and counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concurrency {
    /// What the executions have in common, such as the name of a customer. Executions of different
    /// flows and owners can have the same key.
    pub key: String,
    /// An execution leaves the queue only if fewer than this many with the same key are under way.
    /// Each execution has a limit of its own, which is compared with the number of all of them.
    pub at_most: u32,
}

/// Which queued executions a process takes: see [`Store::take_queued`](crate::Store::take_queued).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Take {
    /// The names of the flows that the process has, and how many executions of each it takes at
    /// most.
    pub flows: BTreeMap<String, usize>,
    /// At most this many in total.
    pub limit: usize,
    /// The holder of the claims.
    pub holder: Uuid,
    /// The time, in milliseconds since 1970 (UTC).
    pub now_ms: u64,
    /// Until when the claims are valid, in milliseconds since 1970 (UTC).
    pub until_ms: u64,
}

/// A question to a person, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRow {
    /// The token with which it is answered.
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
    /// When it was asked, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// When it expires, in milliseconds since 1970 (UTC).
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
    /// There was no answer in time. The run has not seen this yet.
    TimedOut,
    /// It was answered, and the run has continued.
    Used,
    /// There was no answer in time, and the run has continued.
    Expired,
    /// The run continued without it: the node that asked was dropped, or the execution is over.
    Withdrawn,
}

impl PauseState {
    /// Returns true if the run is done with the question.
    pub const fn is_closed(&self) -> bool {
        matches!(
            self,
            PauseState::Used | PauseState::Expired | PauseState::Withdrawn
        )
    }

    /// The state of the question when the run is done with it.
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
    /// There was no answer in time.
    TimedOut,
}

/// A claim to an execution: the right to write to it, until somebody else claims it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The holder of the claim.
    pub holder: Uuid,
    /// Until when nobody else can claim the execution, in milliseconds since 1970 (UTC).
    pub until_ms: u64,
    /// The length for which it was made, in milliseconds. It is never valid for longer, unless the
    /// clock by which it was made is ahead.
    pub lease_ms: u64,
}

impl Claim {
    /// A claim from now on, until this time.
    pub fn new(holder: Uuid, now_ms: u64, until_ms: u64) -> Claim {
        Claim {
            holder,
            until_ms,
            lease_ms: until_ms.saturating_sub(now_ms),
        }
    }

    /// Returns true if nobody else can claim the execution now.
    pub fn is_valid(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms
    }

    /// The claim as if it had been made in 1970: it has run out by any clock.
    pub fn broken(self) -> Claim {
        Claim {
            until_ms: self.lease_ms,
            ..self
        }
    }

    /// Returns true if it is valid for longer than it was made for, because the clock of its holder
    /// is ahead of this time.
    pub fn is_ahead(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms.saturating_add(self.lease_ms)
    }
}

/// The condition under which [`Store::end`](crate::Store::end) ends an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndIf {
    /// If it is not over.
    NotOver,
    /// If it is paused, its `updated_ms` is less than this, and none of its questions is settled
    /// but not closed: nobody has answered.
    PausedUntouchedSince(u64),
}

/// The result of [`Store::create`](crate::Store::create).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// The execution is stored.
    New,
    /// Nothing was written, because this execution has the same flow, owner and idempotency key.
    Existing(ExecutionId),
}

/// The changes that a process writes to an execution that it has claimed: all of them, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Append {
    /// New records, whose `seq` continues from the row's `next_seq`.
    pub records: Vec<Record>,
    /// New questions.
    pub opened: Vec<PauseRow>,
    /// Questions of this execution, including new ones, with which the run is done.
    pub closed: Vec<Token>,
    /// The new status. `None` leaves it as it was. If the status is one of an execution that is
    /// over, all its questions are closed and the claim is given up.
    pub status: Option<Status>,
    /// The row's new `result`. `None` leaves it as it was.
    pub result: Option<String>,
    /// The row's new `structure`. `None` leaves it as it was.
    pub structure: Option<String>,
    /// When an execution that this write pauses continues by itself, in milliseconds since 1970
    /// (UTC), whatever its questions: because of a wait or a timeout next to them. Any other write
    /// removes this time.
    pub timer_ms: Option<u64>,
    /// Whether to give up the claim.
    pub release: bool,
    /// Removes the records before this one, which is a snapshot.
    pub prune_before: Option<u64>,
    /// The time, in milliseconds since 1970 (UTC): the row's new `updated_ms`.
    pub now_ms: u64,
}

/// Selects the executions that [`Store::list`](crate::Store::list) returns: those that every part
/// of the query allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// With this flow.
    pub flow: Option<String>,
    /// With this status.
    pub status: Option<Status>,
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
    /// `Some(true)` selects those with an open question of their own, `Some(false)` those without one.
    pub asks: Option<bool>,
    /// Older than this one: the next page.
    pub before: Option<ExecutionId>,
    /// At most this many.
    pub limit: Option<usize>,
}

impl ListQuery {
    /// Returns true if the query allows this execution, as far as its row says: the row does not say
    /// what it [asks](ListQuery::asks).
    pub fn allows(&self, row: &Row) -> bool {
        self.flow.as_ref().is_none_or(|flow| *flow == row.flow)
            && self.status.is_none_or(|status| status == row.status)
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

/// A record with its position among the records of all executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The offset. It grows from record to record, with gaps. Reading on after it misses nothing.
    pub offset: u64,
    /// The execution.
    pub execution: ExecutionId,
    /// Its owner.
    pub owner: Option<String>,
    /// The record.
    pub record: Record,
}
