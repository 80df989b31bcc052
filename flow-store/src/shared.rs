//! A shared store is a store as well.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::changes::Changes;
use crate::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, Record, Renewal, Row, Sent, Settlement, SignalRow, Status, Store,
    StoreError, StoreTransaction, Take, Token,
};

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

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
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

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        (**self).reopen(id, status, record).await
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

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        (**self).signal(id, signal).await
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        (**self).signals(id).await
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
