//! Test data of the cases.

use std::sync::Arc;

use uuid::Uuid;

use crate::{
    Append, Created, ExecutionId, JOURNAL_FORMAT, ListQuery, Logged, NewSignal, PauseRow,
    PauseState, Row, SignalRow, Status, Store, Token,
};
use crate::{Record, RecordKind};

/// The time at which every case starts.
pub const NOW: u64 = 1_700_000_000_000;

/// The length of claims.
pub const LEASE: u64 = 30_000;

/// The distance by which a clock is ahead.
pub const HOUR: u64 = 3_600_000;

pub type Stored = Arc<dyn Store>;

pub fn new_id() -> ExecutionId {
    ExecutionId::from(Uuid::now_v7())
}

/// Creates ids in ascending order.
pub fn new_ids(count: usize) -> Vec<ExecutionId> {
    let mut ids: Vec<ExecutionId> = (0..count).map(|_| new_id()).collect();
    ids.sort();
    ids
}

pub fn new_token() -> Token {
    Token::from(Uuid::new_v4())
}

pub fn row(id: ExecutionId) -> Row {
    Row {
        id,
        flow: "orders".to_owned(),
        structure: "structure".to_owned(),
        owner: None,
        idempotency_key: None,
        input_hash: "hash".to_owned(),
        status: Status::Running,
        format: JOURNAL_FORMAT,
        options: "{}".to_owned(),
        created_ms: NOW,
        updated_ms: NOW,
        wake_ms: None,
        next_seq: 0,
        snapshot_seq: None,
        copied_from: None,
        result: None,
        fence: 0,
        priority: 0,
        not_before_ms: None,
        concurrency: None,
        halted: None,
        take_overs: None,
        cancelled_ms: None,
    }
}

pub fn record(seq: u64, kind: RecordKind) -> Record {
    Record {
        seq,
        at_ms: NOW + seq,
        kind,
        path: "orders.payment.charge".to_owned(),
        step: "orders.payment#2.charge".to_owned(),
        visit: 1,
        item: None,
        attempt: 0,
        payload: format!("{{\"seq\":{seq}}}"),
    }
}

/// Creates records with these numbers and an arbitrary kind.
pub fn records(seqs: std::ops::Range<u64>) -> Vec<Record> {
    seqs.map(|seq| record(seq, RecordKind::Outcome)).collect()
}

pub fn question(execution: ExecutionId) -> PauseRow {
    PauseRow {
        token: new_token(),
        execution,
        path: "orders.approve".to_owned(),
        step: "orders.approve#3".to_owned(),
        prompt: "Approve?".to_owned(),
        expected: "bool".to_owned(),
        schema: None,
        created_ms: NOW,
        expires_ms: None,
        state: PauseState::Open,
    }
}

pub fn expiring(execution: ExecutionId, expires_ms: u64) -> PauseRow {
    PauseRow {
        expires_ms: Some(expires_ms),
        ..question(execution)
    }
}

pub fn signal(name: &str) -> NewSignal {
    NewSignal {
        name: name.to_owned(),
        payload: "1".to_owned(),
        digest: format!("the digest of {name}"),
        key: None,
        now_ms: NOW + 2,
    }
}

/// Creates a signal with an idempotency key.
pub fn keyed(name: &str, key: &str) -> NewSignal {
    NewSignal {
        key: Some(key.to_owned()),
        ..signal(name)
    }
}

pub fn append(records: Vec<Record>) -> Append {
    Append {
        records,
        now_ms: NOW + 1,
        ..Append::default()
    }
}

/// Creates an execution with one record and no claim.
pub async fn started(store: &dyn Store) -> ExecutionId {
    let id = new_id();
    let created = store
        .create(row(id), records(0..1), Vec::new(), None)
        .await
        .unwrap();
    assert_eq!(created, Created::New);
    id
}

/// Creates an execution with one record, claimed until `NOW + LEASE`, and returns its fence too.
pub async fn claimed(store: &dyn Store) -> (ExecutionId, u64) {
    let id = started(store).await;
    (id, claim(store, id).await)
}

pub async fn claim(store: &dyn Store, id: ExecutionId) -> u64 {
    let row = store.claim(id, Uuid::new_v4(), NOW, NOW + LEASE).await;
    row.unwrap().expect("nobody has claimed it").fence
}

/// Creates an execution that waits for answers to these questions, without a claim.
pub async fn paused(
    store: &Stored,
    questions: impl FnOnce(ExecutionId) -> Vec<PauseRow>,
) -> ExecutionId {
    let (id, fence) = claimed(store).await;
    let pause = Append {
        opened: questions(id),
        status: Some(Status::Paused),
        release: true,
        ..append(records(1..2))
    };
    store.append(id, fence, pause).await.unwrap();
    id
}

pub async fn stored(store: &Stored, id: ExecutionId) -> Row {
    let row = store.execution(id).await.unwrap();
    row.expect("the execution is stored")
}

pub async fn state(store: &Stored, token: Token) -> PauseState {
    let pause = store.pause(token).await.unwrap();
    pause.expect("the question is stored").state
}

/// Returns the result of a query, in which nothing may be damaged.
pub async fn list(store: &Stored, query: &ListQuery) -> Vec<Row> {
    let listed = store.list(query).await.unwrap();
    listed.into_iter().map(Result::unwrap).collect()
}

/// Returns the first due executions, none of which may be damaged.
pub async fn first_due(store: &Stored, now_ms: u64, limit: usize) -> Vec<ExecutionId> {
    due_after(store, now_ms, None, limit).await
}

/// Returns the due executions after an id, none of which may be damaged.
pub async fn due_after(
    store: &Stored,
    now_ms: u64,
    after: Option<ExecutionId>,
    limit: usize,
) -> Vec<ExecutionId> {
    let due = store.due(now_ms, after, limit).await.unwrap();
    due.into_iter().map(Result::unwrap).collect()
}

/// Returns the log after an offset, in which nothing may be damaged.
pub async fn log(store: &Stored, after: u64, limit: usize) -> Vec<Logged> {
    let log = store.log(None, after, limit).await.unwrap();
    log.into_iter().map(Result::unwrap).collect()
}

/// Returns the log of one execution after an offset, in which nothing may be damaged.
pub async fn log_of(
    store: &Stored,
    execution: ExecutionId,
    after: u64,
    limit: usize,
) -> Vec<Logged> {
    let log = store.log(Some(execution), after, limit).await.unwrap();
    log.into_iter().map(Result::unwrap).collect()
}

/// All data of a store about an execution, to check that nothing was written.
#[derive(Debug, PartialEq)]
pub struct Everything {
    row: Option<Row>,
    records: Vec<Record>,
    pauses: Vec<PauseRow>,
    signals: Vec<SignalRow>,
    offset: u64,
}

pub async fn everything(store: &Stored, id: ExecutionId) -> Everything {
    Everything {
        row: store.execution(id).await.unwrap(),
        records: store.records(id, 0, usize::MAX).await.unwrap(),
        pauses: store.pauses(id).await.unwrap(),
        signals: store.signals(id).await.unwrap(),
        offset: store.last_offset().await.unwrap(),
    }
}

/// Runs the same in many tasks at once, and collects the results.
pub async fn at_once<T, Fut>(tasks: usize, run: impl Fn(usize) -> Fut) -> Vec<T>
where
    T: Send + 'static,
    Fut: Future<Output = T> + Send + 'static,
{
    let running: Vec<_> = (0..tasks).map(|task| tokio::spawn(run(task))).collect();
    let mut outcomes = Vec::new();
    for task in running {
        outcomes.push(task.await.expect("the task does not panic"));
    }
    outcomes
}

/// Formats an error with its causes.
pub fn told(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        told += &format!(": {error}");
        source = error.source();
    }
    told
}

/// Prolongs the claims of a holder, and returns the executions to which it has one.
pub(super) async fn renewed(store: &Stored, holder: Uuid, until_ms: u64) -> Vec<ExecutionId> {
    let renewals = store.renew(holder, until_ms).await.unwrap();
    renewals.into_iter().map(|renewal| renewal.id).collect()
}
