//! A store that fails when it is told to.

use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use flow_runtime::durable::{
    Append, Claim, Created, ExecutionId, ListQuery, Logged, MemoryStore, PauseRow, Record, Row,
    Settlement, Status, Store, StoreError, Token,
};
use uuid::Uuid;

/// A store whose reads fail, once, when it is told to.
#[derive(Debug)]
pub(crate) struct Flaky {
    store: MemoryStore,
    /// How many reads succeed before one fails; none will if it is negative.
    reads_left: AtomicI64,
}

impl Flaky {
    pub(crate) fn new(store: MemoryStore) -> Self {
        Flaky {
            store,
            reads_left: AtomicI64::new(-1),
        }
    }

    /// The read after so many from now on fails.
    pub(crate) fn fail_after(&self, reads: i64) {
        self.reads_left.store(reads, Ordering::Relaxed);
    }

    fn read(&self) -> Result<(), StoreError> {
        match self.reads_left.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(StoreError::Other("the disk is away".into())),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Flaky {
    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        self.store.create(row, records, pauses, claim).await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        self.store.put_structure(hash, structure).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        self.read()?;
        self.store.structure(hash).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.read()?;
        self.store.execution(id).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Row>, StoreError> {
        self.read()?;
        self.store.list(query).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        self.store.claim(id, holder, now_ms, until_ms).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<ExecutionId>, StoreError> {
        self.store.renew(holder, until_ms).await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        self.store.append(id, fence, append).await
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
    ) -> Result<Row, StoreError> {
        self.store.end(id, status, reason, record).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.read()?;
        self.store.records(id, from_seq, limit).await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        self.read()?;
        self.store.pauses(id).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        self.read()?;
        self.store.pause(token).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        self.store.settle(token, settlement, now_ms).await
    }

    async fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<ExecutionId>, StoreError> {
        self.read()?;
        self.store.due(now_ms, limit).await
    }

    async fn log(&self, after: u64, limit: usize) -> Result<Vec<Logged>, StoreError> {
        self.read()?;
        self.store.log(after, limit).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.read()?;
        self.store.last_offset().await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        self.store.delete(id).await
    }
}
