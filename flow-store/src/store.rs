//! The trait of stores.

use std::fmt;

use async_trait::async_trait;
use uuid::Uuid;

use crate::changes::Changes;
use crate::error::{Damaged, DamagedRecord, StoreError};
use crate::ids::{ExecutionId, Token};
use crate::record::Record;
use crate::rows::{
    Append, Claim, Created, EndIf, ListQuery, Logged, Mark, PauseRow, Renewal, Row, Settlement,
    Status, Take,
};
use crate::signals::{NewSignal, Sent, SignalRow};
use crate::transaction::StoreTransaction;

/// Keeps executions, their journals and their open questions.
///
/// An implementation has to pass the [suite](crate::suite!) (feature `suite`), which tests the
/// behaviour described here. Methods may be called from many tasks at once. Each is atomic. If it
/// returns an error or its future is dropped, it has its whole effect or none.
///
/// # Clocks
///
/// One clock has to judge a claim, and the clocks of machines differ. A store for processes on
/// several machines therefore has its own [clock](Store::clock_ms), which judges claims whatever
/// times it is given. A claim starts at that clock's time, and is valid for the difference between
/// the given `until_ms` and `now_ms`. It is prolonged by the same length. A store without a clock
/// uses the given times.
///
/// All stores compare other times, such as `not_before_ms` and `wake_ms`, with the given ones. A
/// runtime passes times of the clock of its store.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Returns the time of the [clock](Store#clocks) that judges claims, in milliseconds since 1970
    /// (UTC). `None` if the store has no clock and uses the times that it is given.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Adds an execution with its first records, without a claim (`fence` 0) or with its first
    /// claim (`fence` 1). If it is over, it has no claim, and its questions are closed. Writes
    /// nothing if it has an idempotency key that another execution of the same flow and owner has.
    ///
    /// Three values follow from the records and questions instead of the row: `next_seq` (if there
    /// are records), `snapshot_seq` (if one of them is a snapshot) and `wake_ms`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Other`] if the `seq` of a record is not one more than that of the record
    /// before, the id or a token is taken, a question belongs to another execution, or the flow,
    /// the owner or a key has more than 512 bytes; or the store could not be written to.
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError>;

    /// Adds a part of a loop of the execution `of`, like [`create`](Store::create) without a claim,
    /// for the holder of the claim with this `fence`. Writes nothing if an execution has the part's
    /// id. The check and the write are atomic: no part is created for an execution that another
    /// call ends, removes or claims at the same time.
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the row of `of` has another `fence`, its claim was released, or
    /// it is over; [`StoreError::NotFound`] if it is gone; or an error of `create`.
    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError>;

    /// Stores a flow's structure, a JSON text, under its hash. An existing structure is kept.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError>;

    /// Returns the structure with this hash.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError>;

    /// Returns the execution with this id.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the row is damaged.
    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError>;

    /// Returns the execution with this id without its [`result`](Row::result), for callers that do
    /// not need it. A store that keeps results elsewhere does not look there, so that an execution
    /// whose result is lost can be deleted.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the row is damaged.
    async fn without_result(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        let row = self.execution(id).await?;
        Ok(row.map(|row| Row {
            result: None,
            ..row
        }))
    }

    /// Returns the executions that match the query, the newest first. A damaged execution is
    /// included, because it may match; it does not count towards the limit.
    ///
    /// # Errors
    ///
    /// The store could not be read. A damaged row is not an error.
    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError>;

    /// Claims an execution until a time, for a holder, if it is not over and has no claim that is
    /// valid at `now_ms`. Returns the row with its new `fence`, which is one more than before, or
    /// `None` if it could not be claimed. A valid claim of the same holder prevents another one
    /// too.
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

    /// Takes executions out of the queue: each gets the status [`Running`](Status::Running), a
    /// claim of the holder with the next `fence`, and `now_ms` as its `updated_ms`. Returns their
    /// new rows in the order in which they were taken. No other call takes the same ones.
    ///
    /// An execution is taken if all of these hold:
    ///
    /// - its status is [`Queued`](Status::Queued), and its `not_before_ms` has come;
    /// - nobody has a valid claim to it;
    /// - its flow has a place left in the [`Take`];
    /// - fewer executions with its [`Concurrency`](crate::Concurrency) key than its limit are in
    ///   progress, counting those that this and concurrent calls took before it.
    ///
    /// Higher `priority` comes first, then age (the lower id). One that has to wait does not block
    /// others.
    ///
    /// A damaged execution is included, stays as it is, and does not count towards the limits.
    ///
    /// # Errors
    ///
    /// The store could not be written to. Either nothing was taken or all of it, so a holder that
    /// [renews](Store::renew) its claims has to release the unknown ones.
    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError>;

    /// Returns the last claim to an execution, valid or not. `None` if it was released, or if there
    /// never was one.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the row is damaged.
    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError>;

    /// Ends a claim at once, if it is still the current one. Returns `true` if it was. For a caller
    /// who knows that the holder is gone although the claim [is ahead](Claim::is_ahead): a living
    /// holder would have prolonged it.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError>;

    /// Prolongs all claims of a holder, including expired ones that nobody else has taken. A claim
    /// that is valid for longer stays so. The length of the claims does not change. Returns the
    /// claims that the holder still has, each with its fence: a holder that was stopped for longer
    /// than its claim, and has claimed an execution again since, may still run it by the old claim.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError>;

    /// Writes to a claimed execution.
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the row has another `fence`, the claim was released, or the
    /// execution is over; [`StoreError::NotFound`]; [`StoreError::UnknownToken`] if a closed
    /// question does not belong to this execution; [`StoreError::Other`] if the records do not
    /// continue from `next_seq` without gaps, a new token is taken, a new question belongs to
    /// another execution, a taken signal is none of those that this execution
    /// [has](Store::signals), or `prune_before` is not a snapshot; or the store could not be
    /// written to.
    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError>;

    /// Writes the reason of a halt and the number of takeovers to a claimed execution. Changes
    /// nothing else. A halted execution is not [due](Store::due).
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the row has another `fence`, the claim was released, or the
    /// execution is over; [`StoreError::NotFound`]; or the store could not be written to.
    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError>;

    /// Ends an execution regardless of its claim, which becomes void (`fence` grows by one), and
    /// closes its questions. Signals that were not taken stay. The row's new `result` is the
    /// reason, its new `updated_ms` the record's time. The store sets the record's `seq`. Returns
    /// the new row. If the execution is already over or the condition does not hold, writes nothing
    /// and returns the row unchanged.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Other`] if the status does not end an execution; or
    /// the store could not be written to.
    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError>;

    /// Continues an execution that is over: adds the record, whose `seq` has to be the next one,
    /// and gives the row this status, [`Running`](Status::Running) or [`Queued`](Status::Queued).
    /// The row's new `updated_ms` is the record's time. It has no `result`, halt, number of
    /// takeovers and [`cancelled_ms`](Row::cancelled_ms) any more. Its questions stay closed, and
    /// nobody has a claim to it. Returns the new row. If the execution is not over or has another
    /// next record, writes nothing and returns the row unchanged.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Other`] if the status is another one; or the store
    /// could not be written to.
    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError>;

    /// Returns the records of an execution from this number on, in order, at most this many.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a record is damaged.
    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;

    /// Returns the questions of an execution that are not closed, in the order asked.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a question is damaged.
    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError>;

    /// Returns the question with this token, even if it is closed.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the question is damaged.
    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError>;

    /// Settles an open question of an execution that is not over, and sets the execution's
    /// `updated_ms` to `now_ms`. Of two callers, one succeeds. Returns the previous state of the
    /// question: if it was [`PauseState::Open`](crate::PauseState::Open), this call settled it.
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

    /// Sends a signal to an execution that is not over, and sets its `updated_ms` to `now_ms`. The
    /// claims to the execution do not matter. The signal gets the next number: of signals that are
    /// sent at once, each has its own. If the execution is paused and [waits](Append::awaited) for
    /// a signal of this name, it is [due](Store::due) from `now_ms` on: that is the new `wake_ms`,
    /// unless it has an earlier one. A signal with the name [`CANCEL`](crate::CANCEL) sets
    /// [`cancelled_ms`](Row::cancelled_ms) to `now_ms`.
    ///
    /// Writes nothing if the execution has had a signal with the same key, or is over. The key is
    /// looked at first.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`]; [`StoreError::Other`] if the name or the key has more than 512
    /// bytes; or the store could not be written to.
    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError>;

    /// Returns the signals of an execution that the run has not [taken](Append::taken), in the
    /// order of their numbers.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a signal is damaged.
    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError>;

    /// Returns the executions after this id that can continue and have no valid claim, in the order
    /// of their ids (the oldest first), at most this many. These are the running ones, and the
    /// paused ones that have a settled question which is not closed, or whose `wake_ms` has passed,
    /// unless [halted](Row::halted). A signal for which a paused execution [waits](Append::awaited)
    /// sets its `wake_ms`. Executions with a claim that [is ahead](Claim::is_ahead) of `now_ms` are
    /// included, because the holder may be gone. A damaged execution is included and does not count
    /// towards the limit.
    ///
    /// # Errors
    ///
    /// The store could not be read. A damaged row is not an error.
    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError>;

    /// Returns the records after this offset, of one execution or of all, in the order of their
    /// offsets, at most this many. A record never appears before one that was already returned. So
    /// during concurrent writes, the log may lag behind [`records`](Store::records). A damaged
    /// record is included; if its execution is unknown, it is in the log of each execution.
    ///
    /// # Errors
    ///
    /// The store could not be read. A damaged record is not an error.
    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError>;

    /// Returns the offset of the newest record, even if the record is damaged. 0 if there is none.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn last_offset(&self) -> Result<u64, StoreError>;

    /// Removes an execution and all its data. Returns `false` if there was none.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError>;

    /// Returns hints about later writes, so that callers who wait for them can look less often.
    /// `None` if the store has none.
    fn changes(&self) -> Option<Box<dyn Changes>> {
        None
    }

    /// Returns the type name of the [handle](StoreTransaction::handle) of its transactions, such as
    /// `flow_sqlite::Transaction`. `None` if steps cannot write to its database.
    fn transactions(&self) -> Option<&'static str> {
        None
    }

    /// Begins a transaction of the store's database, for the writes of a step.
    ///
    /// # Errors
    ///
    /// The database could not be reached, or the store has [no transactions](Store::transactions).
    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        Err(crate::refusal::no_transactions())
    }
}
