//! Where executions are kept: one small trait, and what goes through it.
//!
//! A store knows nothing of flows. It keeps rows and records, hands out leases, and refuses what a process writes that
//! has lost its lease. Whatever a method returns `Ok` for is durable.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::record::{Record, UnknownName};
use crate::error::BoxError;

/// Names an execution. Ids are UUIDs of version 7: later ones are greater, also as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(Uuid);

/// Names one question to one person, and can be used once. A UUID of version 4: it cannot be guessed. Whoever has it can answer,
/// so `Debug` does not show it, and logs do not have it; `Display` does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(Uuid);

macro_rules! id {
    ($name:ident, $what:literal) => {
        impl $name {
            /// The id as a UUID.
            pub fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                $name(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::from_str(text).map($name).map_err(|_| InvalidId {
                    what: $what,
                    text: text.to_owned(),
                })
            }
        }
    };
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

id!(ExecutionId, "an execution");
id!(Token, "a token");

/// A text that should be an id and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId {
    what: &'static str,
    text: String,
}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not the id of {}: expected a UUID",
            self.text, self.what
        )
    }
}

impl std::error::Error for InvalidId {}

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

/// The format of the journals that this version of the library reads and writes. Format 1 named steps by how often their
/// path had been visited in the whole run; it was never released.
pub const JOURNAL_FORMAT: u32 = 2;

/// An execution, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: ExecutionId,
    /// The name of its flow.
    pub flow: String,
    /// Which version of the flow it runs: the hash of its structure. See [`Store::put_structure`].
    pub structure: String,
    /// Whose it is.
    pub owner: Option<String>,
    /// What makes a second start with the same key return this execution.
    pub idempotency_key: Option<String>,
    /// The SHA-256 of the input, in hexadecimal digits: a second start with the same key has to have the same.
    pub input_hash: String,
    /// How it stands.
    pub status: Status,
    /// The format of its journal: see [`JOURNAL_FORMAT`].
    pub format: u32,
    /// The options it was started with, as JSON.
    pub options: String,
    /// When it was started, in milliseconds since 1970 (UTC).
    pub created_ms: u64,
    /// When it was last written to, in milliseconds since 1970 (UTC). A claim is no writing.
    pub updated_ms: u64,
    /// When it goes on though nobody has answered, in milliseconds since 1970 (UTC): when the first of its open questions is no
    /// longer to be answered or, if that is earlier, at the [`timer_ms`](Append::timer_ms) with which it was paused.
    pub wake_ms: Option<u64>,
    /// How many records its journal has had: the `seq` of the next one.
    pub next_seq: u64,
    /// The newest snapshot, from which a recovery goes on.
    pub snapshot_seq: Option<u64>,
    /// The execution that it was forked from.
    pub forked_from: Option<ExecutionId>,
    /// Of a completed execution the output as JSON; of a failed or cancelled one the reason as text.
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
    /// For how long it was made, in milliseconds: it is never valid for longer, unless the clock by which it was made is
    /// ahead.
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
    pub(crate) fn broken(self) -> Claim {
        Claim {
            until_ms: self.lease_ms,
            ..self
        }
    }

    /// Whether it is valid for longer than it was made for: the clock of its holder is ahead of this time.
    pub fn is_ahead(&self, now_ms: u64) -> bool {
        self.until_ms > now_ms.saturating_add(self.lease_ms)
    }
}

/// When [`Store::end`] ends an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndIf {
    /// If it is not over.
    NotOver,
    /// If it is paused, its `updated_ms` is less than this, and none of its questions is settled and not closed: nobody has
    /// answered since, nor before.
    PausedUntouchedSince(u64),
}

/// What [`Store::create`] came to.
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
    /// How the execution stands now. Left as it was if `None`. Once it is over, all its questions are closed and the claim
    /// is given up.
    pub status: Option<Status>,
    /// The row's new `result`. Left as it was if `None`.
    pub result: Option<String>,
    /// The row's new `structure`. Left as it was if `None`.
    pub structure: Option<String>,
    /// When an execution that this pauses goes on by itself, in milliseconds since 1970 (UTC), whatever its questions: a wait or
    /// a timeout beside them. Any other write takes that away.
    pub timer_ms: Option<u64>,
    /// Whether to give the claim up.
    pub release: bool,
    /// Removes the records before this one, which is a snapshot.
    pub prune_before: Option<u64>,
    /// The time, in milliseconds since 1970 (UTC): the row's new `updated_ms`.
    pub now_ms: u64,
}

/// Which executions [`Store::list`] returns: those that all of its parts allow.
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
    pub(super) fn allows(&self, row: &Row) -> bool {
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

/// A row that cannot be read, among others that can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The execution that it belongs to. `None` if that cannot be read either.
    pub execution: Option<ExecutionId>,
    /// Where it stands, such as `execution …, record 3`.
    pub place: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damaged { place, reason, .. } = self;
        write!(f, "the store is damaged at {place}: {reason}")
    }
}

impl std::error::Error for Damaged {}

/// A record that cannot be read, among others that can.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRecord {
    /// Its offset: reading on after it misses nothing else.
    pub offset: u64,
    /// What is known of it.
    pub damaged: Damaged,
}

/// Why a store did not do what it was asked to. What was there before is there still.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The claim was lost: another process has claimed the execution since, or it was cancelled or deleted.
    LeaseLost(ExecutionId),
    /// There is no such execution.
    NotFound(ExecutionId),
    /// There is no question with this token.
    UnknownToken(Token),
    /// What is stored cannot be read.
    Corrupt {
        /// Where it stands, such as `execution …, record 3`.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is something at the path that is not a store of this library. It was not touched.
    NotAStore {
        /// The path, as it was given.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// There is no room left to write to.
    Full(BoxError),
    /// Another process kept it locked for longer than the store waits.
    Locked(BoxError),
    /// The store was written by a newer version of this library.
    TooNew {
        /// The version of its tables.
        found: u64,
        /// The newest that this library knows.
        known: u64,
    },
    /// Anything else that the underlying store reports.
    Other(BoxError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::LeaseLost(id) => {
                write!(
                    f,
                    "execution {id} has been taken over or ended by another process"
                )
            }
            StoreError::NotFound(id) => write!(f, "there is no execution {id}"),
            StoreError::UnknownToken(_) => f.write_str("there is no question with this token"),
            StoreError::Corrupt { place, reason } => {
                write!(f, "the store is damaged at {place}: {reason}")
            }
            StoreError::NotAStore { path, reason } => {
                write!(f, "`{}` is not a store of flows: {reason}", path.display())
            }
            StoreError::Full(_) => {
                f.write_str("the store has no room left: make some, then `recover`")
            }
            StoreError::Locked(_) => f.write_str("the store is locked by another process"),
            StoreError::TooNew { found, known } => write!(
                f,
                "the store has tables of version {found}, and this program knows up to {known}: it needs a newer \
                 version of the library"
            ),
            StoreError::Other(_) => f.write_str("the store failed"),
        }
    }
}

impl From<Damaged> for StoreError {
    fn from(Damaged { place, reason, .. }: Damaged) -> Self {
        StoreError::Corrupt { place, reason }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StoreError::Full(error) | StoreError::Locked(error) | StoreError::Other(error) => {
                Some(&**error)
            }
            _ => None,
        }
    }
}

/// Keeps executions, their journals and their open questions.
///
/// An implementation passes the suite in `store_tests` (feature `store-tests`), which says in cases what these
/// comments say in words. Methods may be called from many tasks at once. Each is atomic: it has its whole effect or,
/// if it returns an error or its future is dropped, its whole effect or none.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Adds an execution with its first records, claimed by nobody (`fence` 0) or with its first claim (`fence` 1; none if
    /// it is over). If it has an idempotency key and there is an execution of the same flow and owner with that key, nothing
    /// is written.
    ///
    /// What follows from the records and questions is not taken from the row: `next_seq` (if there are records),
    /// `snapshot_seq` (if one of them is a snapshot) and `wake_ms`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Other`] if the `seq` of a record is not one more than that of the record before, the id or a token is
    /// taken, or a question is one of another execution; or the store could not be written to.
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError>;

    /// Keeps a flow's structure, a JSON text, under its hash. One that is there already stays.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError>;

    /// The structure with this hash.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError>;

    /// The execution with this id.
    ///
    /// # Errors
    ///
    /// The store could not be read, or what it has is damaged.
    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError>;

    /// The executions that the query allows, the newest first. One that cannot be read stands among the others, though it is
    /// not known whether the query allows it; it does not count towards the limit.
    ///
    /// # Errors
    ///
    /// The store could not be read. A row that is damaged is not an error.
    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError>;

    /// Claims an execution until a time, for a holder, if it is not over and nobody else has a claim that is valid at
    /// `now_ms`. Returns the row with its new `fence`, which is one more than before; nothing if it is not to be had. The
    /// same holder is refused as any other.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError>;

    /// The claim that was last made to an execution, valid or not. Nothing if it was given up, or nobody has made any.
    ///
    /// # Errors
    ///
    /// The store could not be read, or what it has is damaged.
    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError>;

    /// Lets a claim run out at once, if it is still this one. Whether it was. For who knows that its holder is gone, though it
    /// [is ahead](Claim::is_ahead): a holder that lives would have prolonged it.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError>;

    /// Prolongs all claims of a holder, also such as have run out but were taken by nobody else. One that is valid for
    /// longer stays so. For how long they were made stays as it is. Returns the executions that it still has a claim to.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<ExecutionId>, StoreError>;

    /// Writes to a claimed execution.
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the row's `fence` is another one, the claim was given up, or the execution is over;
    /// [`StoreError::NotFound`]; [`StoreError::UnknownToken`] if a closed question is not one of this execution;
    /// [`StoreError::Other`] if the records do not go on from `next_seq` without a gap, a new token is taken, a new question is
    /// one of another execution, or `prune_before` is not a snapshot; or the store could not be written to.
    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError>;

    /// Ends an execution, whoever has a claim to it: the claim is void from now on (`fence` grows by one), and its questions are
    /// closed. The reason is the row's new `result`, the record's time its new `updated_ms`. The record's `seq` is set by
    /// the store. Returns the row as it is now; nothing is written if it is over already or the condition does not hold,
    /// and then the row is returned as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Other`] if the status is not one of an execution that is over; or the store
    /// could not be written to.
    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError>;

    /// The records of an execution from this number on, in order, at most so many.
    ///
    /// # Errors
    ///
    /// The store could not be read, or what it has is damaged.
    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// The questions of an execution that are not closed, in the order asked.
    ///
    /// # Errors
    ///
    /// The store could not be read, or what it has is damaged.
    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError>;

    /// The question with this token, also if it is closed.
    ///
    /// # Errors
    ///
    /// The store could not be read, or what it has is damaged.
    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError>;

    /// Settles an open question of an execution that is not over, whose `updated_ms` is then `now_ms`. Of two that try, one
    /// succeeds. Returns the question as it was before: it was settled by this call if that is [`PauseState::Open`].
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownToken`], or the store could not be written to.
    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError>;

    /// The executions that nobody has a valid claim to and that could go on, in the order of their ids (the oldest first),
    /// after this id, at most so many: those that are running, and those that are paused with a question that is settled but
    /// not closed or whose `wake_ms` has passed. Also those with a claim that [is ahead](Claim::is_ahead) of `now_ms`: its
    /// holder may be gone. One that cannot be read stands among the others, and does not count towards the limit.
    ///
    /// # Errors
    ///
    /// The store could not be read. A row that is damaged is not an error.
    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError>;

    /// The records of all executions after this offset, in the order of their offsets, at most so many. A record never
    /// comes to stand before one that was returned. One that cannot be read stands among the others.
    ///
    /// # Errors
    ///
    /// The store could not be read. A record that is damaged is not an error.
    async fn log(
        &self,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError>;

    /// The offset of the newest record, also if that cannot be read; 0 if there is none.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn last_offset(&self) -> Result<u64, StoreError>;

    /// Removes an execution with all that belongs to it. Whether there was one.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError>;
}

/// A store that is shared.
#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        (**self).create(row, records, pauses, claim).await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        (**self).put_structure(hash, structure).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        (**self).structure(hash).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        (**self).execution(id).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        (**self).list(query).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        (**self).claim(id, holder, now_ms, until_ms).await
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        (**self).claim_of(id).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        (**self).break_claim(id, claim).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<ExecutionId>, StoreError> {
        (**self).renew(holder, until_ms).await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        (**self).append(id, fence, append).await
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        (**self).end(id, status, reason, record, condition).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        (**self).records(id, from_seq, limit).await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        (**self).pauses(id).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        (**self).pause(token).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        (**self).settle(token, settlement, now_ms).await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        (**self).due(now_ms, after, limit).await
    }

    async fn log(
        &self,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        (**self).log(after, limit).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        (**self).last_offset().await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        (**self).delete(id).await
    }
}
