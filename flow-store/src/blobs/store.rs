//! A store whose large values are kept as blobs.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::entry::{Entry, Of};
use super::place::Blobs;
use super::transaction::BlobTransaction;
use super::values::{Filled, Values, all};
use crate::changes::Changes;
use crate::record::Record;
use crate::refusal;
use crate::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, PauseState, Renewal, Row, Sent, Settlement, SignalRow, Status, Store,
    StoreError, StoreTransaction, Take, Token,
};

/// A store that keeps large values elsewhere. Payloads of records and signals, results and answers
/// above a size are kept as [blobs](Blobs), and the store holds a short marker in place of each.
///
/// Callers see the contents of the inner store. A large value costs a write, which is durable
/// before the row that names it is written, and a fetch with each read of that row. Small values
/// are not affected.
///
/// Each process on the store has to open it with the same blobs. Executions that are already in the
/// store are read as before, and their new values are kept like all others. The size may differ
/// between processes and change over time.
///
/// # Checks
///
/// A marker has the length and the SHA-256 of its value. A blob that is missing, shorter or changed
/// counts as damage of its row: an error names the execution, the record and the blob.
///
/// # Crashes
///
/// A crash between the writes of a blob and of its row leaves a blob that no row names, as does a
/// refused write. It is invisible. It is removed when its execution is deleted or, if it belongs to
/// a record before a snapshot, with the next removal of such records.
/// [`delete_orphans`](BlobStore::delete_orphans) removes the blobs of executions that are gone.
/// Processes never overwrite each other's blobs with other content, since names derive from the
/// content.
///
/// # Examples
///
/// ```
/// use flow_store::{BlobStore, MemoryBlobs, MemoryStore, Store};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let store = BlobStore::new(MemoryStore::new(), MemoryBlobs::new()).above(16 * 1024);
/// assert_eq!(store.last_offset().await.unwrap(), 0);
/// # }
/// ```
pub struct BlobStore<S> {
    store: S,
    values: Values,
}

impl<S: Store> BlobStore<S> {
    /// Creates a store that keeps values of more than 64 KiB in this place.
    pub fn new(store: S, blobs: impl Blobs) -> BlobStore<S> {
        let values = Values {
            blobs: Arc::new(blobs),
            above: 64 * 1024,
        };
        BlobStore { store, values }
    }

    /// Sets the size in bytes above which values are kept as blobs.
    #[must_use]
    pub fn above(mut self, bytes: usize) -> BlobStore<S> {
        self.values.above = bytes;
        self
    }

    /// Returns the executions that have blobs, but are not or no longer in the store.
    ///
    /// Only executions whose id was created before this time, in milliseconds since 1970 (UTC), are
    /// checked: the first values of an execution are stored before the execution itself. An hour
    /// ago is enough, unless writing them takes longer. Ids of parts of loops have no time, so
    /// these are left out.
    ///
    /// # Errors
    ///
    /// The store or the blobs could not be read.
    pub async fn orphans(&self, made_before_ms: u64) -> Result<Vec<ExecutionId>, StoreError> {
        let mut orphans = Vec::new();
        for folder in self.values.blobs.folders().await? {
            // A folder that is not named after an execution belongs to somebody else.
            let Ok(id) = folder.parse::<ExecutionId>() else {
                continue;
            };
            let is_old = made_ms(id).is_some_and(|ms| ms < made_before_ms);
            if !is_old || folder != id.to_string() {
                continue;
            }
            let is_there = match self.store.without_result(id).await {
                Ok(row) => row.is_some(),
                Err(StoreError::Corrupt { .. }) => true,
                Err(error) => return Err(error),
            };
            if !is_there {
                orphans.push(id);
            }
        }
        Ok(orphans)
    }

    /// Removes the blobs of all [`orphans`](BlobStore::orphans), executions that are not or no
    /// longer in the store. Returns the number of these executions.
    ///
    /// # Errors
    ///
    /// The store could not be read, or the blobs could not be read or written to. Some may have
    /// been removed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the blobs of some of these executions are gone.
    pub async fn delete_orphans(&self, made_before_ms: u64) -> Result<u64, StoreError> {
        let mut deleted = 0;
        for id in self.orphans(made_before_ms).await? {
            self.delete_blobs(id).await?;
            deleted += 1;
        }
        Ok(deleted)
    }

    async fn delete_blobs(&self, id: ExecutionId) -> Result<(), StoreError> {
        let names = self.values.blobs.names(&id.to_string()).await?;
        self.values.delete(names).await
    }

    /// Reads a single entry.
    async fn one<T: Entry, Read>(&self, read: impl Fn() -> Read) -> Result<Option<T>, StoreError>
    where
        Read: Future<Output = Result<Option<T>, StoreError>>,
    {
        let read = self
            .values
            .read(async || Ok(read().await?.into_iter().collect()));
        Ok(all(read.await?)?.pop())
    }
}

/// Marks rows with a missing or changed blob as damaged.
fn damaged_among(filled: Filled<Result<Row, Damaged>>) -> Vec<Result<Row, Damaged>> {
    let rows = filled.into_iter().map(|(row, flaw)| match flaw {
        None => row,
        Some(flaw) => Err(flaw.damaged),
    });
    rows.collect()
}

/// An execution was deleted, but some of its blobs were not.
#[derive(Debug, thiserror::Error)]
#[error(
    "execution {id} is deleted, but not all of its blobs: deleting it again removes them, and so does \
     `BlobStore::delete_orphans`"
)]
struct LeftBehind {
    id: ExecutionId,
    source: Box<StoreError>,
}

/// Returns the time of an id in milliseconds since 1970 (UTC), or `None` if it has none.
fn made_ms(id: ExecutionId) -> Option<u64> {
    let (seconds, nanos) = id.as_uuid().get_timestamp()?.to_unix();
    seconds
        .checked_mul(1000)?
        .checked_add(u64::from(nanos / 1_000_000))
}

impl<S: fmt::Debug> fmt::Debug for BlobStore<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobStore")
            .field("store", &self.store)
            .field("blobs", &self.values.blobs)
            .field("above", &self.values.above)
            .finish()
    }
}

#[async_trait]
impl<S: Store> Store for BlobStore<S> {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        self.store.clock_ms().await
    }

    async fn create(
        &self,
        mut row: Row,
        mut records: Vec<Record>,
        mut pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        let id = row.id;
        let away = self.values.of_new(&mut row, &mut records, &mut pauses);
        let names: Vec<String> = away.blobs.keys().cloned().collect();
        away.put().await?;
        let created = self.store.create(row, records, pauses, claim).await?;
        if created != Created::New && created != Created::Existing(id) {
            // No later call removes these. If they stay, they are orphans.
            if let Ok(None) = self.store.execution(id).await {
                let _ = self.values.delete(names).await;
            }
        }
        Ok(created)
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        mut row: Row,
        mut records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        let id = row.id;
        let away = self.values.of_new(&mut row, &mut records, &mut []);
        let names: Vec<String> = away.blobs.keys().cloned().collect();
        away.put().await?;
        let created = self.store.create_part(of, fence, row, records).await;
        let is_refused = matches!(
            created,
            Err(StoreError::LeaseLost(_) | StoreError::NotFound(_))
        );
        if is_refused && let Ok(None) = self.store.execution(id).await {
            let _ = self.values.delete(names).await;
        }
        created
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        self.store.put_structure(hash, structure).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        self.store.structure(hash).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.one(|| self.store.execution(id)).await
    }

    async fn without_result(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.store.without_result(id).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let listed = self.values.read(|| self.store.list(query)).await?;
        Ok(damaged_among(listed))
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        let claimed = self.store.claim(id, holder, now_ms, until_ms).await?;
        Ok(all(self.values.fill(claimed.into_iter().collect()).await?)?.pop())
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let taken = self.store.take_queued(take).await?;
        Ok(damaged_among(self.values.fill(taken).await?))
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        self.store.claim_of(id).await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        self.store.mark(id, fence, mark).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        self.store.break_claim(id, claim).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        self.store.renew(holder, until_ms).await
    }

    async fn append(
        &self,
        id: ExecutionId,
        fence: u64,
        mut append: Append,
    ) -> Result<(), StoreError> {
        self.values.put_away(id, &mut append).await?;
        let pruned = append.prune_before;
        self.store.append(id, fence, append).await?;
        self.values.prune(id, pruned).await;
        Ok(())
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        mut record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        let mut away = self.values.away(id);
        let mut marker = reason.to_owned();
        away.take(None, &mut marker);
        // The number of the record is not known yet.
        away.take(None, &mut record.payload);
        away.put().await?;
        let ended = self.store.end(id, status, &marker, record, condition);
        let mut row = ended.await?;
        if row.result.as_ref() == Some(&marker) {
            // It has ended, even if the reason cannot be fetched now.
            row.result = Some(reason.to_owned());
            return Ok(row);
        }
        let mut filled = self.values.fill(vec![row]).await?;
        match filled.pop() {
            Some((row, None)) => Ok(row),
            // It may have been deleted since.
            _ => self.execution(id).await?.ok_or(StoreError::NotFound(id)),
        }
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        mut record: Record,
    ) -> Result<Row, StoreError> {
        let mut away = self.values.away(id);
        away.take(Some(record.seq), &mut record.payload);
        away.put().await?;
        let row = self.store.reopen(id, status, record).await?;
        let mut filled = self.values.fill(vec![row]).await?;
        match filled.pop() {
            Some((row, None)) => Ok(row),
            // It may have been deleted since.
            _ => self.execution(id).await?.ok_or(StoreError::NotFound(id)),
        }
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let read = async || {
            let records = self.store.records(id, from_seq, limit).await?;
            Ok(records.into_iter().map(|record| Of(id, record)).collect())
        };
        let records = all(self.values.read(read).await?)?;
        Ok(records.into_iter().map(|Of(_, record)| record).collect())
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        all(self.values.read(|| self.store.pauses(id)).await?)
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        self.one(|| self.store.pause(token)).await
    }

    async fn settle(
        &self,
        token: Token,
        mut settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        let unknown = StoreError::UnknownToken(token);
        if let Settlement::Answer(answer) = &mut settlement
            && self.values.are_to_keep(answer)
        {
            let asked = self.pause(token).await?.ok_or(unknown)?;
            if asked.state != PauseState::Open {
                return Ok(asked);
            }
            let mut away = self.values.away(asked.execution);
            away.take(None, answer);
            away.put().await?;
        }
        let before = self.store.settle(token, settlement, now_ms).await?;
        let mut filled = self.values.fill(vec![before]).await?;
        match filled.pop() {
            Some((before, None)) => Ok(before),
            // Its execution may have been deleted since.
            _ => {
                let asked = self.pause(token).await?;
                asked.ok_or(StoreError::UnknownToken(token))
            }
        }
    }

    async fn signal(&self, id: ExecutionId, mut signal: NewSignal) -> Result<Sent, StoreError> {
        if !self.values.are_to_keep(&signal.payload) {
            return self.store.signal(id, signal).await;
        }
        refusal::signal_names(id, &signal)?;
        let row = self.store.without_result(id).await?;
        if row.ok_or(StoreError::NotFound(id))?.status.is_over() {
            // Nothing will be written.
            return self.store.signal(id, signal).await;
        }
        let mut away = self.values.away(id);
        away.take(None, &mut signal.payload);
        let names: Vec<String> = away.blobs.keys().cloned().collect();
        away.put().await?;
        let sent = self.store.signal(id, signal).await;
        if matches!(sent, Err(StoreError::NotFound(_))) {
            // It was deleted meanwhile. If these stay, they are orphans.
            let _ = self.values.delete(names).await;
        }
        sent
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        let read = async || {
            let signals = self.store.signals(id).await?;
            Ok(signals.into_iter().map(|signal| Of(id, signal)).collect())
        };
        let signals = all(self.values.read(read).await?)?;
        Ok(signals.into_iter().map(|Of(_, signal)| signal).collect())
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        self.store.due(now_ms, after, limit).await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        let log = self.values.read(|| self.store.log(execution, after, limit));
        let log = log
            .await?
            .into_iter()
            .map(|(logged, flaw)| match (logged, flaw) {
                (Ok(logged), Some(flaw)) => Err(DamagedRecord {
                    offset: logged.offset,
                    damaged: flaw.damaged,
                }),
                (logged, _) => logged,
            });
        Ok(log.collect())
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.store.last_offset().await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        let deleted = self.store.delete(id).await?;
        let source = match self.delete_blobs(id).await {
            Ok(()) => return Ok(deleted),
            Err(error) => Box::new(error),
        };
        Err(StoreError::Other(Box::new(LeftBehind { id, source })))
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.store.changes()
    }

    fn transactions(&self) -> Option<&'static str> {
        self.store.transactions()
    }

    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        let begun = self.store.begin().await?;
        let values = self.values.clone();
        Ok(Box::new(BlobTransaction { begun, values }))
    }
}
