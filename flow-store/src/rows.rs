//! What a store has of an execution, and what is asked of it.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use crate::ids::{ExecutionId, Token};
use crate::record::{Record, UnknownName};

/// How an execution stands. Printed and stored in small letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It goes on, in this process or another one, or will when `recover` is called.
    Running,
    /// It waits for an answer from outside.
    Paused,
    /// It has reached an end.
    Completed,
    /// A node failed for good, or panicked, or the run exceeded a limit.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 5] = [
        Status::Running,
        Status::Paused,
        Status::Completed,
        Status::Failed,
        Status::Cancelled,
    ];

    /// Its name, as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// Whether the execution will never go on.
    pub const fn is_over(self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Cancelled)
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

/// The format of the journals that this version of the library reads and writes. Format 1 named
/// steps by how often their path had been visited in the whole run; it was never released.
pub const JOURNAL_FORMAT: u32 = 2;

/// An execution, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: ExecutionId,
    /// The name of its flow.
    pub flow: String,
    /// Which version of the flow it runs: the hash of its structure. See
    /// [`Store::put_structure`](crate::Store::put_structure).
    pub structure: String,
    /// Whose it is.
    pub owner: Option<String>,
    /// What makes a second start with the same key return this execution.
    pub idempotency_key: Option<String>,
    /// The SHA-256 of the input, in hexadecimal digits: a second start with the same key has to
    /// have the same.
    pub input_hash: String,
    /// How it stands.
    pub status: Status,
    /// The format of its journal: see [`JOURNAL_FORMAT`].
    pub format: u32,
    /// The options it was started with, as JSON.
    pub options: String,
    /// When it was started, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// When it was last written to, in milliseconds since 1970 (UTC). A claim is not a writing.
    pub updated_ms: u64,
    /// When it goes on though nobody has answered, in milliseconds since 1970 (UTC): when the
    /// first of its open questions is no longer to be answered or, if that is earlier, at the
    /// [`timer_ms`](Append::timer_ms) with which it was paused.
    pub wake_ms: Option<u64>,
    /// How many records its journal has had: the `seq` of the next one.
    pub next_seq: u64,
    /// The newest snapshot, from which a recovery goes on.
    pub snapshot_seq: Option<u64>,
    /// The execution that it was forked from.
    pub forked_from: Option<ExecutionId>,
    /// Of a completed execution the output as JSON; of a failed or cancelled one the reason as
    /// text.
    pub result: Option<String>,
    /// How often it was claimed. A process may write only while this is what its claim gave it.
    pub fence: u64,
}

/// A question to a person, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRow {
    /// Which answers it.
    pub token: Token,
    /// The execution that waits.
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
    /// When it is no longer to be answered, in milliseconds since 1970 (UTC).
    pub expires_ms: Option<u64>,
    /// What came of it.
    pub state: PauseState,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PauseState {
    /// Nothing yet.
    Open,
    /// An answer, as JSON. The run has not seen it yet.
    Answered(String),
    /// No answer in time. The run has not seen it yet.
    TimedOut,
    /// It was answered, and the run has gone on.
    Used,
    /// There was no answer in time, and the run has gone on.
    Expired,
    /// The run has gone on without it: what asked was dropped, or the run is over.
    Withdrawn,
}

impl PauseState {
    /// Whether the run is done with it.
    pub const fn is_closed(&self) -> bool {
        matches!(
            self,
            PauseState::Used | PauseState::Expired | PauseState::Withdrawn
        )
    }

    /// Its state when the run is done with it.
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

/// What becomes of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// This answer, as JSON.
    Answer(String),
    /// No answer in time.
    TimedOut,
}

/// A claim to an execution: the right to write to it, as long as nobody else has claimed it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// Whose it is.
    pub holder: Uuid,
    /// Until when nobody else can have it, in milliseconds since 1970 (UTC).
    pub until_ms: u64,
    /// For how long it was made, in milliseconds: it is never valid for longer, unless the clock
    /// by which it was made is ahead.
    pub lease_ms: u64,
}

impl Claim {
    /// A claim from now on, until a time.
    pub fn new(holder: Uuid, now_ms: u64, until_ms: u64) -> Claim {
        Claim {
            holder,
            until_ms,
            lease_ms: until_ms.saturating_sub(now_ms),
        }
    }

    /// Whether nobody else can have the execution now.
    pub fn is_valid(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms
    }

    /// The same as if it had been made in 1970: it has run out by any clock.
    pub fn broken(self) -> Claim {
        Claim {
            until_ms: self.lease_ms,
            ..self
        }
    }

    /// Whether it is valid for longer than it was made for: the clock of its holder is ahead of
    /// this time.
    pub fn is_ahead(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms.saturating_add(self.lease_ms)
    }
}

/// When [`Store::end`](crate::Store::end) ends an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndIf {
    /// If it is not over.
    NotOver,
    /// If it is paused, its `updated_ms` is less than this, and none of its questions is settled
    /// and not closed: nobody has answered since, nor before.
    PausedUntouchedSince(u64),
}

/// What [`Store::create`](crate::Store::create) came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    /// It is stored.
    New,
    /// Nothing was written: there is this execution with the same flow, owner and idempotency key.
    Existing(ExecutionId),
}

/// What a process writes to an execution that it has claimed: all of it, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Append {
    /// New records, whose `seq` goes on from the row's `next_seq`.
    pub records: Vec<Record>,
    /// Questions that are new.
    pub opened: Vec<PauseRow>,
    /// Questions of this execution, also such as are new, that the run is done with.
    pub closed: Vec<Token>,
    /// How the execution stands now. Left as it was if `None`. Once it is over, all its questions
    /// are closed and the claim is given up.
    pub status: Option<Status>,
    /// The row's new `result`. Left as it was if `None`.
    pub result: Option<String>,
    /// The row's new `structure`. Left as it was if `None`.
    pub structure: Option<String>,
    /// When an execution that this pauses goes on by itself, in milliseconds since 1970 (UTC),
    /// whatever its questions: a wait or a timeout beside them. Any other write takes that
    /// away.
    pub timer_ms: Option<u64>,
    /// Whether to give the claim up.
    pub release: bool,
    /// Removes the records before this one, which is a snapshot.
    pub prune_before: Option<u64>,
    /// The time, in milliseconds since 1970 (UTC): the row's new `updated_ms`.
    pub now_ms: u64,
}

/// Which executions [`Store::list`](crate::Store::list) returns: those that all of its parts allow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Of this flow.
    pub flow: Option<String>,
    /// Standing like this.
    pub status: Option<Status>,
    /// Of this owner; `Some(None)` are those that have none.
    pub owner: Option<Option<String>>,
    /// Started before this time, in milliseconds since 1970 (UTC).
    pub created_before_ms: Option<u64>,
    /// Last written to before this time, in milliseconds since 1970 (UTC).
    pub updated_before_ms: Option<u64>,
    /// Older than this one: for the next page.
    pub before: Option<ExecutionId>,
    /// At most so many.
    pub limit: Option<usize>,
}

impl ListQuery {
    /// Whether it allows an execution.
    pub fn allows(&self, row: &Row) -> bool {
        self.flow.as_ref().is_none_or(|flow| *flow == row.flow)
            && self.status.is_none_or(|status| status == row.status)
            && self.owner.as_ref().is_none_or(|owner| *owner == row.owner)
            && self.created_before_ms.is_none_or(|ms| row.created_ms < ms)
            && self.updated_before_ms.is_none_or(|ms| row.updated_ms < ms)
            && self.before.is_none_or(|id| row.id < id)
    }
}

/// A record with where it stands among those of all executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// Grows from record to record, with gaps. Reading on after it misses nothing.
    pub offset: u64,
    /// The execution.
    pub execution: ExecutionId,
    /// Its owner.
    pub owner: Option<String>,
    /// The record.
    pub record: Record,
}
