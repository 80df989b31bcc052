//! Stores with something wrong with them, around one that survives.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use flow_durable::{
    Append, Claim, Created, Damaged as DamagedRow, DamagedRecord, EndIf, ExecutionId, ListQuery,
    Logged, Mark, NewSignal, PauseRow, Record, Renewal, Row, Sent, Settlement, SignalRow, Status,
    Store, StoreError, Take, Token,
};
use flow_store::{Changes, StoreTransaction};
use uuid::Uuid;

use crate::support::Shared;
use crate::transactions::OfMemory;

/// What goes wrong.
pub(crate) trait Fault: Debug + Send + Sync + 'static {
    /// Before anything is written.
    fn write(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The clock of the store.
    fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// The hints of the store.
    fn changes(&self) -> Option<Box<dyn Changes>> {
        None
    }

    /// Whether anybody hears of it when an execution was stored.
    fn reports_creation(&self) -> bool {
        true
    }

    /// Before a method of this name has its effect.
    fn before(&self, _method: &'static str) -> Result<(), StoreError> {
        Ok(())
    }

    /// After a method of this name has had its effect.
    fn after(&self, _method: &'static str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Before records are written.
    fn append(&self, _: &Append) -> Result<(), StoreError> {
        Ok(())
    }

    /// For how long nobody hears that records were written.
    fn answers_late(&self) -> Duration {
        Duration::ZERO
    }

    /// For how long records are not written yet.
    fn writes_late(&self) -> Duration {
        Duration::ZERO
    }

    /// For how long executions are not ended yet.
    fn ends_late(&self) -> Duration {
        Duration::ZERO
    }

    /// For how long questions are not settled yet.
    fn settles_late(&self) -> Duration {
        Duration::ZERO
    }

    /// For how long transactions have not begun yet.
    fn begins_late(&self) -> Duration {
        Duration::ZERO
    }

    /// For how long nobody hears of what was claimed or taken out of the queue.
    fn claims_late(&self) -> Duration {
        Duration::ZERO
    }

    /// Before claims are renewed.
    fn renew(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Before anything is read.
    fn look(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// For how long records are not read yet.
    fn reads_late(&self) -> Duration {
        Duration::ZERO
    }

    /// What is read instead of these records.
    fn read(&self, records: Vec<Record>) -> Vec<Record> {
        records
    }
}

/// A store in which something goes wrong.
#[derive(Debug)]
pub(crate) struct Faulty<F> {
    store: Shared,
    pub(crate) fault: F,
}

impl<F: Fault> Faulty<F> {
    pub(crate) fn new(store: &Shared, fault: F) -> std::sync::Arc<Self> {
        std::sync::Arc::new(Faulty {
            store: store.clone(),
            fault,
        })
    }
}

/// Refuses every write after this many appends: the process crashes before it makes the next one.
#[derive(Debug)]
pub(crate) struct CrashAfter {
    appends: usize,
    made: AtomicUsize,
}

impl CrashAfter {
    pub(crate) fn appends(appends: usize) -> Self {
        CrashAfter {
            appends,
            made: AtomicUsize::new(0),
        }
    }

    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

fn crashed() -> StoreError {
    StoreError::Other("the process has crashed".into())
}

impl Fault for CrashAfter {
    fn write(&self) -> Result<(), StoreError> {
        if self.made() > self.appends {
            Err(crashed())
        } else {
            Ok(())
        }
    }

    fn append(&self, _: &Append) -> Result<(), StoreError> {
        if self.made.fetch_add(1, Ordering::SeqCst) >= self.appends {
            Err(crashed())
        } else {
            Ok(())
        }
    }
}

/// Stores executions without a word.
#[derive(Debug)]
pub(crate) struct SilentCreation;

impl Fault for SilentCreation {
    fn reports_creation(&self) -> bool {
        false
    }
}

/// Says only after a second what was claimed.
#[derive(Debug)]
pub(crate) struct SlowClaims;

impl Fault for SlowClaims {
    fn claims_late(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// Ends executions late.
#[derive(Debug)]
pub(crate) struct SlowEnds;

impl Fault for SlowEnds {
    fn ends_late(&self) -> Duration {
        Duration::from_millis(50)
    }
}

/// Renews no claim.
#[derive(Debug)]
pub(crate) struct NoRenewal;

impl Fault for NoRenewal {
    fn renew(&self) -> Result<(), StoreError> {
        Err(StoreError::Other("no connection".into()))
    }
}

/// Writes no records as long as it is told not to, for this reason.
#[derive(Debug)]
pub(crate) struct Refusing {
    pub(crate) refuses: AtomicBool,
    pub(crate) from_path: &'static str,
    pub(crate) reason: fn() -> StoreError,
}

impl Fault for Refusing {
    fn append(&self, append: &Append) -> Result<(), StoreError> {
        let concerned = append
            .records
            .iter()
            .any(|record| record.path == self.from_path);
        if concerned && self.refuses.load(Ordering::SeqCst) {
            Err((self.reason)())
        } else {
            Ok(())
        }
    }
}

/// Reads nothing, once, when it is told to.
#[derive(Debug)]
pub(crate) struct Flaky {
    /// How many reads succeed before one fails; none will if it is negative.
    reads_left: AtomicI64,
}

impl Flaky {
    pub(crate) fn new() -> Self {
        Flaky {
            reads_left: AtomicI64::new(-1),
        }
    }

    /// The read after so many from now on fails.
    pub(crate) fn fail_after(&self, reads: i64) {
        self.reads_left.store(reads, Ordering::Relaxed);
    }
}

impl Fault for Flaky {
    fn look(&self) -> Result<(), StoreError> {
        match self.reads_left.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(StoreError::Other("the disk is away".into())),
            _ => Ok(()),
        }
    }
}

/// Counts the records that are read.
#[derive(Debug, Default)]
pub(crate) struct Counting(AtomicUsize);

impl Counting {
    pub(crate) fn records_read(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Fault for Counting {
    fn read(&self, records: Vec<Record>) -> Vec<Record> {
        self.0.fetch_add(records.len(), Ordering::SeqCst);
        records
    }
}

/// Reads something else than what was written, if told so.
#[derive(Debug, Default)]
pub(crate) struct Damaged(pub(crate) Mutex<Option<(u64, Damage)>>);

/// What became of a record.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    /// Its payload is another one.
    Payload(&'static str),
    /// It is gone.
    Missing,
}

impl Damaged {
    pub(crate) fn at(seq: u64, damage: Damage) -> Self {
        Damaged(Mutex::new(Some((seq, damage))))
    }

    pub(crate) fn mend(&self) {
        *self.0.lock().unwrap() = None;
    }
}

impl Fault for Damaged {
    fn read(&self, mut records: Vec<Record>) -> Vec<Record> {
        match &*self.0.lock().unwrap() {
            Some((seq, Damage::Missing)) => records.retain(|record| record.seq != *seq),
            Some((seq, Damage::Payload(payload))) => records
                .iter_mut()
                .filter(|record| record.seq == *seq)
                .for_each(|record| record.payload = (*payload).to_owned()),
            None => {}
        }
        records
    }
}

/// The history is pruned while it is read: the next read of it that begins at its beginning lacks its first records.
#[derive(Debug, Default)]
pub(crate) struct Torn(AtomicUsize);

impl Torn {
    /// The next one.
    pub(crate) fn tear(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// The one after the next one.
    pub(crate) fn tear_second(&self) {
        self.0.store(2, Ordering::Relaxed);
    }
}

impl Fault for Torn {
    fn read(&self, mut records: Vec<Record>) -> Vec<Record> {
        let left = self.0.load(Ordering::Relaxed);
        if records.len() > 3 && left > 0 {
            self.0.store(left - 1, Ordering::Relaxed);
            if left == 1 {
                records.drain(..3);
            }
        }
        records
    }
}

/// A store that fails in one method, before or after that has its effect, for as long as it is told to; and counts calls.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    before: Mutex<Option<&'static str>>,
    after: Mutex<Option<&'static str>>,
    calls: crate::support::Calls,
}

impl Broken {
    /// From now on, this method fails and has no effect.
    pub(crate) fn fail(&self, method: &'static str) {
        *self.before.lock().unwrap() = Some(method);
    }

    /// From now on, this method fails after it has had its effect.
    pub(crate) fn lose_reply(&self, method: &'static str) {
        *self.after.lock().unwrap() = Some(method);
    }

    /// From now on, nothing fails.
    pub(crate) fn mend(&self) {
        *self.before.lock().unwrap() = None;
        *self.after.lock().unwrap() = None;
    }

    /// How often a method was called.
    pub(crate) fn calls(&self, method: &str) -> usize {
        self.calls.of(method)
    }
}

impl Fault for Broken {
    fn before(&self, method: &'static str) -> Result<(), StoreError> {
        self.calls.call(method);
        if *self.before.lock().unwrap() == Some(method) {
            Err(StoreError::Other("it does not work".into()))
        } else {
            Ok(())
        }
    }

    fn after(&self, method: &'static str) -> Result<(), StoreError> {
        if *self.after.lock().unwrap() == Some(method) {
            Err(StoreError::Other("the connection was cut".into()))
        } else {
            Ok(())
        }
    }
}

#[async_trait]
impl<F: Fault> Store for Faulty<F> {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        self.fault.clock_ms()
    }

    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        self.fault.write()?;
        self.fault.before("create")?;
        let created = self.store.create(row, records, pauses, claim).await;
        self.fault.after("create")?;
        if !self.fault.reports_creation() {
            std::future::pending::<()>().await;
        }
        created
    }

    async fn create_part(
        &self,
        of: ExecutionId,
        fence: u64,
        row: Row,
        records: Vec<Record>,
    ) -> Result<Created, StoreError> {
        self.fault.write()?;
        self.fault.before("create_part")?;
        tokio::time::sleep(self.fault.answers_late()).await;
        let created = self.store.create_part(of, fence, row, records).await;
        self.fault.after("create_part")?;
        created
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        self.fault.write()?;
        self.fault.before("put_structure")?;
        self.store.put_structure(hash, structure).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        self.fault.look()?;
        self.store.structure(hash).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.fault.look()?;
        self.store.execution(id).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, DamagedRow>>, StoreError> {
        self.fault.look()?;
        self.store.list(query).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        self.fault.write()?;
        self.fault.before("claim")?;
        let claimed = self.store.claim(id, holder, now_ms, until_ms).await;
        tokio::time::sleep(self.fault.claims_late()).await;
        self.fault.after("claim")?;
        claimed
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, DamagedRow>>, StoreError> {
        self.fault.look()?;
        self.fault.before("take_queued")?;
        let taken = self.store.take_queued(take).await;
        tokio::time::sleep(self.fault.claims_late()).await;
        self.fault.after("take_queued")?;
        taken
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        self.fault.look()?;
        self.store.claim_of(id).await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        self.fault.write()?;
        self.store.mark(id, fence, mark).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        self.fault.write()?;
        self.store.break_claim(id, claim).await
    }

    async fn renew(&self, holder: Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        self.fault.write()?;
        self.fault.renew()?;
        self.store.renew(holder, until_ms).await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        self.fault.append(&append)?;
        self.fault.before("append")?;
        if !self.fault.writes_late().is_zero() {
            tokio::time::sleep(self.fault.writes_late()).await;
        }
        let appended = self.store.append(id, fence, append).await;
        tokio::time::sleep(self.fault.answers_late()).await;
        self.fault.after("append")?;
        appended
    }

    async fn end(
        &self,
        id: ExecutionId,
        status: Status,
        reason: &str,
        record: Record,
        condition: EndIf,
    ) -> Result<Row, StoreError> {
        self.fault.write()?;
        self.fault.before("end")?;
        tokio::time::sleep(self.fault.ends_late()).await;
        let ended = self.store.end(id, status, reason, record, condition).await;
        self.fault.after("end")?;
        ended
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        self.fault.write()?;
        self.fault.before("reopen")?;
        let reopened = self.store.reopen(id, status, record).await;
        self.fault.after("reopen")?;
        reopened
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.fault.look()?;
        let late = self.fault.reads_late();
        if !late.is_zero() {
            tokio::time::sleep(late).await;
        }
        let records = self.store.records(id, from_seq, limit).await?;
        Ok(self.fault.read(records))
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        self.fault.look()?;
        self.store.pauses(id).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        self.fault.look()?;
        self.store.pause(token).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        self.fault.write()?;
        self.fault.before("settle")?;
        if !self.fault.settles_late().is_zero() {
            tokio::time::sleep(self.fault.settles_late()).await;
        }
        let settled = self.store.settle(token, settlement, now_ms).await;
        self.fault.after("settle")?;
        settled
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        self.fault.write()?;
        self.fault.before("signal")?;
        let sent = self.store.signal(id, signal).await;
        self.fault.after("signal")?;
        sent
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        self.fault.look()?;
        self.fault.before("signals")?;
        self.store.signals(id).await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, DamagedRow>>, StoreError> {
        self.fault.look()?;
        self.fault.before("due")?;
        self.store.due(now_ms, after, limit).await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        self.fault.look()?;
        self.store.log(execution, after, limit).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.fault.look()?;
        self.store.last_offset().await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        self.fault.write()?;
        self.store.delete(id).await
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.fault.changes()
    }

    fn transactions(&self) -> Option<&'static str> {
        Some("Rows")
    }

    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        self.fault.before("begin")?;
        tokio::time::sleep(self.fault.begins_late()).await;
        Ok(Box::new(OfMemory::new(&self.store)))
    }
}
