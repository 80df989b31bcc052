//! A store that kills or stops its process before or after one of its calls.

use std::any::Any;
use std::io;
use std::process::Command;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use flow_durable::{
    Append, Claim, Created, Damaged, DamagedRecord, EndIf, ExecutionId, ListQuery, Logged, Mark,
    NewSignal, PauseRow, PauseState, Record, RecordKind, Renewal, Row, Sent, Settlement, SignalRow,
    Status, Store, StoreError, Take, Token,
};
use flow_store::{Changes, StoreTransaction};
use serde_json::{Value, json};

use crate::ledger::Transaction;
use crate::note_line;

/// A call of the store, counted from 1: `before 7` or `after 7` as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// When nothing of it has been done.
    Before(u64),
    /// When its effect is durable, and nobody has seen its answer.
    After(u64),
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no moment, such as `before 7`");
        let (when, call) = text.split_once(' ').ok_or_else(wrong)?;
        let call = call.parse().map_err(|_| wrong())?;
        match when {
            "before" => Ok(Moment::Before(call)),
            "after" => Ok(Moment::After(call)),
            _ => Err(wrong()),
        }
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Moment::Before(call) => write!(f, "before {call}"),
            Moment::After(call) => write!(f, "after {call}"),
        }
    }
}

/// The store, whose calls are counted. It notes beside the effects of the steps which of them are recorded,
/// and which answers are stored.
#[derive(Debug)]
pub struct Mortal<S> {
    store: S,
    counter: Counter,
}

/// Counts the calls, and knows at which one the process dies.
#[derive(Debug, Clone)]
struct Counter {
    fate: Fate,
    calls: Arc<AtomicU64>,
}

impl Counter {
    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        let number = 1 + self.calls.fetch_add(1, Ordering::SeqCst);
        self.fate.befalls(Moment::Before(number));
        let answer = call.await;
        self.fate.befalls(Moment::After(number));
        answer
    }
}

/// What happens to the process, if anything does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fate {
    /// When it dies.
    pub death: Option<Moment>,
    /// When it is stopped, until it is sent `SIGCONT`.
    pub stop: Option<Moment>,
}

impl Fate {
    /// What the environment variables `DIE` and `STOP` say.
    ///
    /// # Errors
    ///
    /// That is no moment.
    pub fn from_env() -> Result<Fate, String> {
        let moment = |name| {
            std::env::var(name)
                .ok()
                .map(|text| text.parse())
                .transpose()
        };
        Ok(Fate {
            death: moment("DIE")?,
            stop: moment("STOP")?,
        })
    }

    fn befalls(&self, now: Moment) {
        if self.death == Some(now) {
            std::process::abort();
        }
        if self.stop == Some(now) {
            let stopped = stop();
            assert!(stopped.is_ok(), "{stopped:?}");
        }
    }
}

/// Stops all threads of this process. Where it goes on, time has gone by.
fn stop() -> io::Result<()> {
    note_line(&json!({ "stops": true }))?;
    let id = std::process::id().to_string();
    let sent = Command::new("kill").args(["-STOP", &id]).status()?;
    if sent.success() {
        Ok(())
    } else {
        Err(io::Error::other("`kill -STOP` failed"))
    }
}

impl<S: Store> Mortal<S> {
    /// A store whose process has this fate.
    pub fn new(store: S, fate: Fate) -> Self {
        let calls = Arc::default();
        Mortal {
            store,
            counter: Counter { fate, calls },
        }
    }

    /// How many calls there have been.
    pub fn calls(&self) -> u64 {
        self.counter.calls.load(Ordering::SeqCst)
    }

    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        self.counter.call(call).await
    }
}

/// What a line says of each record that is a step's last word, after which it must not begin again, or the end of an
/// attempt at a flow that took too long.
fn words(id: ExecutionId, records: &[Record]) -> Vec<Value> {
    let word = |record: &Record| {
        let word = match record.kind {
            RecordKind::Outcome | RecordKind::NodeFailed | RecordKind::Resumed => "recorded",
            RecordKind::TimedOut => "timed_out",
            _ => return None,
        };
        Some(json!({ word: format!("{id}/{}", record.step) }))
    };
    records.iter().filter_map(word).collect()
}

fn note(words: &[Value]) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::Other(Box::new(error));
    words.iter().try_for_each(note_line).map_err(failed)
}

#[async_trait]
impl<S: Store> Store for Mortal<S> {
    async fn clock_ms(&self) -> Result<Option<u64>, StoreError> {
        // No step of a run: it is not counted.
        self.store.clock_ms().await
    }

    async fn create(
        &self,
        row: Row,
        records: Vec<Record>,
        pauses: Vec<PauseRow>,
        claim: Option<Claim>,
    ) -> Result<Created, StoreError> {
        let words = words(row.id, &records);
        self.call(async {
            let created = self.store.create(row, records, pauses, claim).await?;
            if created == Created::New {
                note(&words)?;
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
        let words = words(row.id, &records);
        self.call(async {
            let created = self.store.create_part(of, fence, row, records).await?;
            if created == Created::New {
                note(&words)?;
            }
            Ok(created)
        })
        .await
    }

    async fn put_structure(&self, hash: &str, structure: &str) -> Result<(), StoreError> {
        self.call(self.store.put_structure(hash, structure)).await
    }

    async fn structure(&self, hash: &str) -> Result<Option<String>, StoreError> {
        self.call(self.store.structure(hash)).await
    }

    async fn execution(&self, id: ExecutionId) -> Result<Option<Row>, StoreError> {
        self.call(self.store.execution(id)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        self.call(self.store.list(query)).await
    }

    async fn claim(
        &self,
        id: ExecutionId,
        holder: uuid::Uuid,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Option<Row>, StoreError> {
        self.call(self.store.claim(id, holder, now_ms, until_ms))
            .await
    }

    async fn take_queued(&self, take: &Take) -> Result<Vec<Result<Row, Damaged>>, StoreError> {
        self.call(self.store.take_queued(take)).await
    }

    async fn claim_of(&self, id: ExecutionId) -> Result<Option<Claim>, StoreError> {
        self.call(self.store.claim_of(id)).await
    }

    async fn mark(&self, id: ExecutionId, fence: u64, mark: Mark) -> Result<(), StoreError> {
        self.call(self.store.mark(id, fence, mark)).await
    }

    async fn break_claim(&self, id: ExecutionId, claim: Claim) -> Result<bool, StoreError> {
        self.call(self.store.break_claim(id, claim)).await
    }

    async fn renew(&self, holder: uuid::Uuid, until_ms: u64) -> Result<Vec<Renewal>, StoreError> {
        self.call(self.store.renew(holder, until_ms)).await
    }

    async fn append(&self, id: ExecutionId, fence: u64, append: Append) -> Result<(), StoreError> {
        let words = words(id, &append.records);
        self.call(async {
            self.store.append(id, fence, append).await?;
            note(&words)
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
        self.call(self.store.end(id, status, reason, record, condition))
            .await
    }

    async fn reopen(
        &self,
        id: ExecutionId,
        status: Status,
        record: Record,
    ) -> Result<Row, StoreError> {
        self.call(self.store.reopen(id, status, record)).await
    }

    async fn records(
        &self,
        id: ExecutionId,
        from_seq: u64,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.call(self.store.records(id, from_seq, limit)).await
    }

    async fn pauses(&self, id: ExecutionId) -> Result<Vec<PauseRow>, StoreError> {
        self.call(self.store.pauses(id)).await
    }

    async fn pause(&self, token: Token) -> Result<Option<PauseRow>, StoreError> {
        self.call(self.store.pause(token)).await
    }

    async fn settle(
        &self,
        token: Token,
        settlement: Settlement,
        now_ms: u64,
    ) -> Result<PauseRow, StoreError> {
        let answer = match &settlement {
            Settlement::Answer(answer) => Some(answer.clone()),
            Settlement::TimedOut => None,
        };
        self.call(async {
            let question = self.store.settle(token, settlement, now_ms).await?;
            if let (Some(answer), PauseState::Open) = (answer, &question.state) {
                let step = format!("{}/{}", question.execution, question.step);
                note(&[json!({ "answered": step, "answer": answer })])?;
            }
            Ok(question)
        })
        .await
    }

    async fn signal(&self, id: ExecutionId, signal: NewSignal) -> Result<Sent, StoreError> {
        self.call(self.store.signal(id, signal)).await
    }

    async fn signals(&self, id: ExecutionId) -> Result<Vec<SignalRow>, StoreError> {
        self.call(self.store.signals(id)).await
    }

    async fn due(
        &self,
        now_ms: u64,
        after: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Vec<Result<ExecutionId, Damaged>>, StoreError> {
        self.call(self.store.due(now_ms, after, limit)).await
    }

    async fn log(
        &self,
        execution: Option<ExecutionId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Result<Logged, DamagedRecord>>, StoreError> {
        self.call(self.store.log(execution, after, limit)).await
    }

    async fn last_offset(&self) -> Result<u64, StoreError> {
        self.call(self.store.last_offset()).await
    }

    async fn delete(&self, id: ExecutionId) -> Result<bool, StoreError> {
        self.call(self.store.delete(id)).await
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.store.changes()
    }

    fn transactions(&self) -> Option<&'static str> {
        self.store.transactions().map(|_| "Transaction")
    }

    async fn begin(&self) -> Result<Box<dyn StoreTransaction>, StoreError> {
        let transaction = self.call(self.store.begin()).await?;
        Ok(Box::new(MortalTransaction {
            transaction: Transaction(transaction),
            counter: self.counter.clone(),
        }))
    }
}

/// A transaction, whose calls are counted too.
struct MortalTransaction {
    /// What the steps write with, too.
    transaction: Transaction,
    counter: Counter,
}

#[async_trait]
impl StoreTransaction for MortalTransaction {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        &mut self.transaction
    }

    async fn check(&mut self) -> Result<(), StoreError> {
        self.counter.call(self.transaction.0.check()).await
    }

    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        append: Append,
    ) -> Result<(), StoreError> {
        let words = words(id, &append.records);
        let MortalTransaction {
            transaction,
            counter,
        } = *self;
        let written = async {
            transaction.0.append(id, fence, append).await?;
            note(&words)
        };
        counter.call(written).await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.counter.call(self.transaction.0.commit()).await
    }

    async fn roll_back(self: Box<Self>) {
        self.counter.call(self.transaction.0.roll_back()).await
    }
}
