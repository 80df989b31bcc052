//! The trait of stores.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::changes::Changes;
use crate::error::{Damaged, DamagedRecord, StoreError};
use crate::ids::{ExecutionId, Token};
use crate::record::Record;
use crate::rows::{
    Append, Claim, Created, EndIf, ListQuery, Logged, Mark, PauseRow, Row, Settlement, Status, Take,
};
use crate::transaction::StoreTransaction;

/// Keeps executions, their journals and their open questions.
///
/// An implementation has to pass the [suite](crate::suite!) (feature `suite`), whose cases test
/// what these comments say. Methods may be called from many tasks at once. Each is atomic: it has
/// its whole effect or, if it returns an error or its future is dropped, its whole effect or none.
///
/// # Clocks
///
/// A claim has to be judged by one clock, and the clocks of machines differ. A store that processes
/// on several machines use therefore has a [clock](Store::clock_ms) of its own, by which it judges
/// claims whatever times it is given: it reads the clock when it makes a claim, which is then valid
/// for as long as the given `until_ms` is after the given `now_ms`, and it prolongs a claim by the
/// length for which that was made. A store without one takes the given times.
///
/// Other times, such as `not_before_ms` and `wake_ms`, are compared with the given ones in every
/// store. A runtime gives times by the clock of its store.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// The time of the [clock](Store#clocks) by which this store judges claims, in milliseconds
    /// since 1970 (UTC). `None` if it has none, and judges them by the times that it is given.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// Adds an execution with its first records, without a claim (`fence` 0) or with its first
    /// claim (`fence` 1). If it is over, it has no claim, and its questions are closed. If it has
    /// an idempotency key, and there is an execution of the same flow and owner with that key,
    /// nothing is written.
    ///
    /// Values that follow from the records and questions are not taken from the row: `next_seq` (if
    /// there are records), `snapshot_seq` (if one of them is a snapshot) and `wake_ms`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Other`] if the `seq` of a record is not one more than that of the record
    /// before, the id or a token is taken, a question belongs to another execution, or the flow, the
    /// owner or a key has more than 512 bytes; or the store could not be written to.
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError>;

    /// Adds a part of a loop of the execution `of`, as [`create`](Store::create) without a claim, for
    /// the holder of the claim with this `fence`. If there is an execution with the part's id, nothing
    /// is written. The condition and the write are one: nothing is created for an execution that
    /// another call ends, removes or claims at the same time.
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the `fence` of the row of `of` is another one, its claim was given
    /// up, or it is over; [`StoreError::NotFound`] if it is gone; or as `create`.
    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError>;

    /// Stores a flow's structure, a JSON text, under its hash. A structure that is already there
    /// stays.
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
    /// The store could not be read, or the row is damaged.
    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError>;

    /// The execution with this id, without its [`result`](Row::result): for callers that do not need
    /// it. A store that keeps results in another place does not look there, so that an execution can
    /// be deleted whose result is lost.
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

    /// The executions that the query allows, the newest first. An execution that cannot be read is
    /// included as damaged, because it is not known whether the query allows it; it does not count
    /// towards the limit.
    ///
    /// # Errors
    ///
    /// The store could not be read. A damaged row is not an error.
    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError>;

    /// Claims an execution until a time, for a holder, if it is not over and nobody else has a
    /// claim that is valid at `now_ms`. Returns the row with its new `fence`, which is one more
    /// than before; `None` if it could not be claimed. A claim of the same holder is also refused
    /// while one is valid.
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

    /// Takes executions out of the queue: each gets the status [`Running`](Status::Running), a claim
    /// of the holder with the next `fence`, and `now_ms` as its `updated_ms`. Returns their rows as
    /// they are then, in the order in which they were taken. No other call takes the same.
    ///
    /// It takes those whose status is [`Queued`](Status::Queued), whose `not_before_ms` has come,
    /// to which nobody has a valid claim, whose flow has a place left in the [`Take`], and of whose
    /// [`Concurrency`](crate::Concurrency) key fewer than its own limit are under way, including
    /// the ones taken before it by this or any other call at the same time. Those with a higher
    /// `priority` come first, and then the older ones (with the lower id). One that has to wait
    /// does not keep back those after it.
    ///
    /// An execution that cannot be read is included as damaged, stays as it is, and does not count
    /// towards the limits.
    ///
    /// # Errors
    ///
    /// The store could not be written to. Nothing was taken then, or all of it. So a holder that
    /// [renews](Store::renew) its claims has to give up those of which it does not know.
    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError>;

    /// The last claim to an execution, valid or not. `None` if it was given up, or if there never
    /// was one.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the row is damaged.
    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError>;

    /// Lets a claim run out at once, if it is still the same. Returns true if it was. This is for a
    /// caller who knows that the holder is gone, although the claim [is ahead](Claim::is_ahead): a
    /// living holder would have prolonged it.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError>;

    /// Prolongs all claims of a holder, including those that have run out but were not taken by
    /// anybody else. A claim that is valid for longer stays so. The length for which the claims
    /// were made does not change. Returns the executions to which the holder still has a claim.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<ExecutionId>, StoreError>;

    /// Writes to a claimed execution.
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the row's `fence` is another one, the claim was given up, or
    /// the execution is over; [`StoreError::NotFound`]; [`StoreError::UnknownToken`] if a closed
    /// question does not belong to this execution; [`StoreError::Other`] if the records do not
    /// continue from `next_seq` without gaps, a new token is taken, a new question belongs to
    /// another execution, or `prune_before` is not a snapshot; or the store could not be written
    /// to.
    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError>;

    /// Writes to a claimed execution why it is halted, and how often it was taken over. Changes nothing
    /// else. An execution that is halted is not [due](Store::due).
    ///
    /// # Errors
    ///
    /// [`StoreError::LeaseLost`] if the row's `fence` is another one, the claim was given up, or the
    /// execution is over; [`StoreError::NotFound`]; or the store could not be written to.
    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError>;

    /// Ends an execution, whoever has claimed it: the claim becomes void (`fence` grows by one),
    /// and its questions are closed. The reason is the row's new `result`, the record's time its
    /// new `updated_ms`. The store sets the record's `seq`. Returns the row as it is now. If the
    /// execution is over already or the condition does not hold, nothing is written, and the row is
    /// returned unchanged.
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

    /// The records of an execution from this number on, in order, at most this many.
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

    /// The questions of an execution that are not closed, in the order asked.
    ///
    /// # Errors
    ///
    /// The store could not be read, or a question is damaged.
    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError>;

    /// The question with this token, also if it is closed.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the question is damaged.
    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError>;

    /// Settles an open question of an execution that is not over, and sets the execution's
    /// `updated_ms` to `now_ms`. If two callers try, one succeeds. Returns the question as it was
    /// before: if that is [`PauseState::Open`](crate::PauseState::Open), this call settled it.
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

    /// The executions that can continue and to which nobody has a valid claim, in the order of
    /// their ids (the oldest first), after this id, at most this many. These are the running ones,
    /// and the paused ones that have a question which is settled but not closed, or whose `wake_ms`
    /// has passed; but none that is [halted](Row::halted). Executions with a claim that [is ahead](Claim::is_ahead) of `now_ms` are
    /// included, because the holder may be gone. An execution that cannot be read is included as
    /// damaged, and does not count towards the limit.
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

    /// The records after this offset, of one execution or of all, in the order of their offsets, at
    /// most this many. A record never appears before one that was already returned. So while others
    /// write, the log may end before records that [`records`](Store::records) has already. A record
    /// that cannot be read is included as damaged; if it is not known whose it is, in the log of each
    /// execution.
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

    /// The offset of the newest record, even if the record cannot be read. 0 if there is none.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    async fn last_offset(&self) -> Result<u64, StoreError>;

    /// Removes an execution with everything that belongs to it. Returns false if there was none.
    ///
    /// # Errors
    ///
    /// The store could not be written to.
    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError>;

    /// Hints of what is written from now on, so that whoever waits for it need not look often. `None`
    /// if the store has none.
    fn changes(&self) -> Option<Box<dyn Changes>> {
        None
    }

    /// The name of the type of the [handle](StoreTransaction::handle) of its transactions, such as
    /// `flow_sqlite::Transaction`. `None` if it has no database in which steps can write.
    fn transactions(&self) -> Option<&'static str> {
        None
    }

    /// Begins a transaction of its own database, in which a step writes.
    ///
    /// # Errors
    ///
    /// The database could not be reached, or the store has [no transactions](Store::transactions).
    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        Err(crate::refusal::no_transactions())
    }
}

/// A shared store is a store as well.
#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        (**self).clock_ms().await
    }

    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        (**self).create(row, records, pauses, claim).await
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        (**self).create_part(of, fence, row, records).await
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

    async fn without_result(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        (**self).without_result(id).await
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

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        (**self).take_queued(take).await
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

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        (**self).mark(id, fence, mark).await
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
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        (**self).log(execution, after, limit).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        (**self).last_offset().await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        (**self).delete(id).await
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        (**self).changes()
    }

    fn transactions(&self) -> Option<&'static str> {
        (**self).transactions()
    }

    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        (**self).begin().await
    }
}
