//! A store that notes which process had which execution when, and what it wrote.
//!
//! Each line has the time before the call and the time after its answer, in microseconds: what the
//! call did, it did between them.

use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use flow_durable::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, Record, RecordKind, Renewal, Row, Sent, Settlement, SignalRow, Status,
    Store, StoreError, Take, Token,
};
use flow_store::{Changes, StoreTransaction};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::note_whole;

/// The store, and what it was asked is noted.
#[derive(Debug)]
pub struct Told<S>(pub S);

/// The time in microseconds since 1970 (UTC).
pub fn now_us() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_micros()).unwrap_or(u64::MAX)
}

fn note(line: &Value) -> Result<(), StoreError> {
    note_whole(&line.to_string()).map_err(|error: io::Error| StoreError::Other(Box::new(error)))
}

/// What is noted of an append. What it comes to is added.
fn told(id: ExecutionId, fence: u64, append: &Append) -> Value {
    let outcomes = append
        .records
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    json!({
        "id": id.to_string(),
        "fence": fence,
        "seqs": append.records.iter().map(|record| record.seq).collect::<Vec<_>>(),
        "outcomes": outcomes.map(|record| &record.step).collect::<Vec<_>>(),
        "status": append.status.map(Status::as_str),
        "release": append.release,
    })
}

#[async_trait]
impl<S: Store> Store for Told<S> {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        self.0.clock_ms().await
    }

    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        self.0.create(row, records, pauses, claim).await
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        self.0.create_part(of, fence, row, records).await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        self.0.put_structure(hash, structure).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        self.0.structure(hash).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.0.execution(id).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        self.0.list(query).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        let from = now_us();
        let claimed = self.0.claim(id, holder, now_ms, until_ms).await?;
        if let Some(row) = &claimed {
            note(&json!({
                "call": "claim", "from": from, "to": now_us(), "now_ms": now_ms, "until_ms": until_ms,
                "had": [{ "id": id.to_string(), "fence": row.fence }],
            }))?;
        }
        Ok(claimed)
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        let from = now_us();
        let taken = self.0.take_queued(take).await?;
        let rows = taken.iter().flatten();
        let had: Vec<_> = rows
            .map(|row| json!({ "id": row.id.to_string(), "fence": row.fence }))
            .collect();
        if !had.is_empty() {
            note(&json!({
                "call": "take", "from": from, "to": now_us(), "now_ms": take.now_ms,
                "until_ms": take.until_ms, "flows": take.flows, "limit": take.limit, "had": had,
            }))?;
        }
        Ok(taken)
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        self.0.claim_of(id).await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        self.0.mark(id, fence, mark).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        let broken = self.0.break_claim(id, claim).await?;
        if broken {
            note(&json!({ "call": "break", "id": id.to_string() }))?;
        }
        Ok(broken)
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        let from = now_us();
        let held = self.0.renew(holder, until_ms).await?;
        let ids: Vec<_> = held.iter().map(|renewal| renewal.id.to_string()).collect();
        note(&json!({
            "call": "renew", "from": from, "to": now_us(), "until_ms": until_ms, "held": ids,
        }))?;
        Ok(held)
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        let mut line = told(id, fence, &append);
        line["from"] = now_us().into();
        line["call"] = "begin".into();
        note(&line)?;
        let written = self.0.append(id, fence, append).await;
        line["call"] = "append".into();
        line["to"] = now_us().into();
        line["error"] = match &written {
            Ok(()) => Value::Null,
            Err(StoreError::LeaseLost(_)) => "lost".into(),
            Err(error) => error.to_string().into(),
        };
        note(&line)?;
        written
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        self.0.end(id, status, reason, record, condition).await
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        self.0.reopen(id, status, record).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.0.records(id, from_seq, limit).await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        self.0.pauses(id).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        self.0.pause(token).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        self.0.settle(token, settlement, now_ms).await
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        self.0.signal(id, signal).await
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        self.0.signals(id).await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        self.0.due(now_ms, after, limit).await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        self.0.log(execution, after, limit).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.0.last_offset().await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        self.0.delete(id).await
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.0.changes()
    }

    fn transactions(&self) -> Option<&'static str> {
        self.0.transactions()
    }

    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        self.0.begin().await
    }
}
