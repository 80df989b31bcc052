//! A store that fails, or whose process dies, at a call that is chosen.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use flow_durable::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, Record, Renewal, Row, Sent, Settlement, SignalRow, Status, Store,
    StoreError, Take, Token,
};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::backend::Stored;
use crate::case::{Case, Stop, StopKind};
use crate::ledger;
use crate::meanwhile::Meanwhile;
use crate::process::LEASE;
use crate::world::{hashed, world};

/// The store as one process sees it.
#[derive(Debug)]
pub(crate) struct Fragile {
    store: Arc<dyn Store>,
    stored: Stored,
    stop: Option<Stop>,
    meanwhile: Option<Meanwhile>,
    /// Whether other tasks run while it answers.
    is_busy: bool,
    calls: AtomicU64,
    dead: AtomicBool,
    /// Told when the stop has come.
    pub(crate) stopped: Notify,
    /// The number of the call at which somebody removes the execution, who is told.
    deleted: Option<u64>,
    pub(crate) deletion: Notify,
    /// Somebody cancels the execution when it has so many records, who is told.
    cancelled: Option<u64>,
    pub(crate) cancellation: Notify,
}

impl Fragile {
    pub(crate) fn new(
        stored: Stored,
        stop: Option<Stop>,
        meanwhile: Option<Meanwhile>,
        case: &Case,
    ) -> Self {
        Fragile {
            store: stored.store.clone(),
            stored,
            stop,
            meanwhile,
            is_busy: case.busy,
            deleted: case.deleted,
            deletion: Notify::new(),
            cancelled: case.cancelled,
            cancellation: Notify::new(),
            calls: AtomicU64::new(0),
            dead: AtomicBool::new(false),
            stopped: Notify::new(),
        }
    }

    async fn around<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        if self.dead.load(Ordering::Relaxed) {
            return pending().await;
        }
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let stop = self.stop.filter(|stop| stop.call == number);
        match stop.map(|stop| stop.kind) {
            Some(StopKind::DieBefore) => return self.die().await,
            Some(StopKind::FailBefore) => return Err(failed()),
            _ => {}
        }
        let meanwhile = self.meanwhile.as_ref();
        let meanwhile = meanwhile.filter(|meanwhile| meanwhile.freeze.call == number);
        if let Some(meanwhile) = meanwhile.filter(|it| !it.freeze.has_effect) {
            meanwhile.pass().await;
        }
        if self.deleted == Some(number) {
            self.deletion.notify_one();
        }
        self.turns(number, "before").await;
        let result = self.stored.ask(call).await;
        self.turns(number, "after").await;
        let one_late_in = [64, 64, 12][(hashed(&"late") % 3) as usize];
        if self.is_busy && hashed(&(number, "late")).is_multiple_of(one_late_in) {
            let lease = (hashed(&(number, "how late")) % 150) as u32;
            // Whoever waits may wait when it begins to be late, and when it comes.
            world(|world| world.late_answers += 1);
            tokio::time::sleep(LEASE * lease / 100).await;
            world(|world| world.late_answers += 1);
        }
        if let Some(meanwhile) = meanwhile.filter(|it| it.freeze.has_effect) {
            meanwhile.pass().await;
        }
        match stop.map(|stop| stop.kind) {
            Some(StopKind::DieAfter) => self.die().await,
            Some(StopKind::FailAfter) => Err(failed()),
            Some(StopKind::ShutDown) => {
                self.stopped.notify_one();
                result
            }
            _ => result,
        }
    }

    /// Lets other tasks run, so often as the case decides.
    async fn turns(&self, call: u64, when: &str) {
        if self.is_busy {
            for _ in 0..hashed(&(call, when)) % 4 {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Notes records that have been stored.
    fn note(&self, id: ExecutionId, records: &[Record]) {
        ledger::note(id, records);
        let count = world(|world| world.journals[&id].len() as u64);
        if self.cancelled.is_some_and(|cancelled| cancelled <= count) {
            self.cancellation.notify_one();
        }
    }

    async fn die<T>(&self) -> Result<T, StoreError> {
        self.dead.store(true, Ordering::Relaxed);
        self.stopped.notify_one();
        pending().await
    }
}

fn failed() -> StoreError {
    StoreError::Other("it was decided so".into())
}

#[async_trait]
impl Store for Fragile {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        self.stored.ask(self.store.clock_ms()).await
    }

    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        let (id, noted) = (row.id, records.clone());
        self.around(async {
            let created = self.store.create(row, records, pauses, claim).await?;
            if created == Created::New {
                self.note(id, &noted);
            }
            Ok(created)
        })
        .await
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        self.around(self.store.create_part(of, fence, row, records))
            .await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        self.around(self.store.put_structure(hash, structure)).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        self.around(self.store.structure(hash)).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.around(self.store.execution(id)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        self.around(self.store.list(query)).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        self.around(self.store.claim(id, holder, now_ms, until_ms))
            .await
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        self.around(self.store.take_queued(take)).await
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        self.around(self.store.claim_of(id)).await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        self.around(self.store.mark(id, fence, mark)).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        self.around(self.store.break_claim(id, claim)).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        self.around(self.store.renew(holder, until_ms)).await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        let noted = append.records.clone();
        self.around(async {
            self.store.append(id, fence, append).await?;
            self.note(id, &noted);
            Ok(())
        })
        .await
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        self.around(self.store.end(id, status, reason, record, condition))
            .await
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        self.around(self.store.reopen(id, status, record)).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.around(self.store.records(id, from_seq, limit)).await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        self.around(self.store.pauses(id)).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        self.around(self.store.pause(token)).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        self.around(self.store.settle(token, settlement, now_ms))
            .await
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        self.around(self.store.signal(id, signal)).await
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        self.around(self.store.signals(id)).await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        self.around(self.store.due(now_ms, after, limit)).await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        self.around(self.store.log(execution, after, limit)).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.around(self.store.last_offset()).await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        self.around(self.store.delete(id)).await
    }
}
