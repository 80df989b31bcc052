//! Executions: started, looked at, answered, cancelled, recovered.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use flow_spec::FlowDocument;
use flow_spec::diff::Effect;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::driver::{Driven, Driver, Signals};
use super::engine::{Durable, Snapshot, Snapshots};
use super::error::RuntimeError;
use super::events::{Deltas, Isolated};
use super::execution::{Execution, OpenQuestion};
use super::executions::Executions;
use super::journal::{Journal, Visits};
use super::listed::Listed;
use super::options::{RuntimeOptions, StartOptions, StoredOptions};
use super::record::{Record, RecordKind, missing, to_ms};
use super::registered::{DurableFlow, Entry, Registered};
use super::store::{
    Append, Claim, Created, Damaged, ExecutionId, JOURNAL_FORMAT, ListQuery, PauseRow, PauseState,
    Row, Settlement, Status, Store, StoreError, Token,
};
use crate::__private::{Saved, Unstorable};
use crate::observer::Observer;

/// How many records are read at once.
const PAGE: usize = 1000;

/// How often a look at an execution that another process runs is repeated.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Starts executions of flows, keeps them in a store, and goes on with them after a crash, a restart, or an answer that took
/// a week.
///
/// Each execution runs as a task of the tokio runtime in which it was started. What its steps return is in the store before
/// the next step starts; after a crash, [`recover`](Runtime::recover) takes these outcomes from there and goes on with the first
/// step that has none. A step that was under way at the crash runs again (at least once): what it does elsewhere should
/// therefore bear being done twice, for which [`Context::step_id`](crate::Context::step_id) is of use.
///
/// A clone is the same runtime. [`owned_by`](Runtime::owned_by) gives the executions of an owner; the runtime itself sees those
/// that have none. Only what concerns the process is for all of them: [`register`](Runtime::register),
/// [`recover`](Runtime::recover) and [`shut_down`](Runtime::shut_down).
///
/// # Examples
///
/// ```
/// use flow_runtime::durable::{MemoryStore, Runtime, StartOptions, Status};
/// use flow_runtime::prelude::*;
///
/// #[node]
/// async fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_runtime::durable::RuntimeError> {
/// let runtime = Runtime::new(MemoryStore::new());
/// runtime.register(Greeting::new())?;
/// let input = GreetingInput::builder().name("Ann".into()).build();
/// let execution = runtime.start::<Greeting>(input, StartOptions::new()).await?;
/// let execution = execution.settled().await?;
/// assert_eq!(execution.status(), Status::Completed);
/// assert_eq!(execution.output::<Greeting>()?.unwrap().greet, "Hello, Ann!");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Runtime {
    pub(super) inner: Arc<Inner>,
    owner: Option<Arc<str>>,
}

pub(super) struct Inner {
    pub(super) store: Arc<dyn Store>,
    options: RuntimeOptions,
    holder: Uuid,
    flows: Mutex<HashMap<&'static str, Arc<dyn Registered>>>,
    /// The hashes of the structures that are stored.
    structures: Mutex<HashSet<String>>,
    active: Mutex<HashMap<ExecutionId, Arc<ActiveRun>>>,
    /// Why executions could not go on here.
    halted: Mutex<HashMap<ExecutionId, RuntimeError>>,
    /// What this process has a claim to and does not go on with, with the fence of the claim.
    unreleased: Mutex<HashMap<ExecutionId, u64>>,
    renewing: Mutex<bool>,
    recovering: Mutex<bool>,
    shut_down: CancellationToken,
    pub(super) committed: Arc<Notify>,
    pub(super) deltas: Arc<Deltas>,
    /// How often an observer has panicked.
    pub(super) observer_failures: Arc<AtomicU64>,
}

/// A run of this process.
struct ActiveRun {
    fence: u64,
    signals: Signals,
    cancellation: CancellationToken,
    /// Turns true when the run is over, or waits for people.
    done: watch::Sender<bool>,
    /// How the execution stands, once it is over.
    over: OnceLock<Row>,
}

/// What [`Runtime::recover`] came to.
#[derive(Debug, Default)]
pub struct Recovered {
    /// The executions that go on.
    pub resumed: Vec<ExecutionId>,
    /// Those that cannot, and why. They are as they were.
    pub refused: Vec<(ExecutionId, RuntimeError)>,
    /// What cannot be read so far that it could be said which execution it is.
    pub damaged: Vec<Damaged>,
}

/// Which executions [`Runtime::list`] returns.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ListOptions {
    query: ListQuery,
    created_before: Option<Duration>,
    untouched_for: Option<Duration>,
}

impl ListOptions {
    /// All of them.
    pub fn new() -> Self {
        ListOptions::default()
    }

    /// Only those of this flow.
    pub fn flow(mut self, name: impl Into<String>) -> Self {
        self.query.flow = Some(name.into());
        self
    }

    /// Only those that stand like this.
    pub fn status(mut self, status: Status) -> Self {
        self.query.status = Some(status);
        self
    }

    /// Only those that were started longer ago than this.
    pub fn older_than(mut self, age: Duration) -> Self {
        self.created_before = Some(age);
        self
    }

    /// Only those whose journal has not grown for so long.
    pub fn untouched_for(mut self, time: Duration) -> Self {
        self.untouched_for = Some(time);
        self
    }

    /// At most so many.
    pub fn limit(mut self, executions: usize) -> Self {
        self.query.limit = Some(executions);
        self
    }

    /// Only those that were started before this one: the next page.
    pub fn before(mut self, execution: ExecutionId) -> Self {
        self.query.before = Some(execution);
        self
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("store", &self.inner.store)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runtime {
    /// A runtime with this store, and options that suit most.
    pub fn new(store: impl Store) -> Self {
        Runtime::with_options(store, RuntimeOptions::new())
    }

    /// A runtime with this store.
    pub fn with_options(store: impl Store, mut options: RuntimeOptions) -> Self {
        let observer_failures = Arc::new(AtomicU64::new(0));
        options.observer = options.observer.map(|observer| -> Arc<dyn Observer> {
            Arc::new(Isolated::new(observer, observer_failures.clone()))
        });
        let inner = Inner {
            store: Arc::new(store),
            options,
            holder: Uuid::new_v4(),
            flows: Mutex::default(),
            structures: Mutex::default(),
            active: Mutex::default(),
            halted: Mutex::default(),
            unreleased: Mutex::default(),
            renewing: Mutex::new(false),
            recovering: Mutex::new(false),
            shut_down: CancellationToken::new(),
            committed: Arc::default(),
            deltas: Arc::default(),
            observer_failures,
        };
        Runtime {
            inner: Arc::new(inner),
            owner: None,
        }
    }

    /// Makes a flow known, with its settings. Executions of flows that are not known can be looked at, but do not go on.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::AlreadyRegistered`]: flows are told apart by their names.
    pub fn register<F: DurableFlow>(&self, flow: F) -> Result<(), RuntimeError> {
        let mut flows = lock(&self.inner.flows);
        if flows.contains_key(F::NAME) {
            return Err(RuntimeError::AlreadyRegistered { flow: F::NAME });
        }
        flows.insert(F::NAME, Arc::new(Entry::new(flow)));
        Ok(())
    }

    /// The executions of this owner.
    pub fn owned_by(&self, owner: impl Into<Arc<str>>) -> Executions {
        Executions::new(Runtime {
            inner: self.inner.clone(),
            owner: Some(owner.into()),
        })
    }

    /// The executions of nobody, which are those that the runtime itself sees, as [`owned_by`](Runtime::owned_by) gives those
    /// of an owner.
    pub fn executions(&self) -> Executions {
        Executions::new(self.clone())
    }

    /// Whose executions it sees: `None` unless it is within [`Executions`].
    pub(super) fn owner(&self) -> Option<&str> {
        self.owner.as_deref()
    }

    /// Starts an execution of a registered flow, and returns as soon as it is stored. It runs as a task of its own.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotRegistered`]; [`RuntimeError::Unstorable`] if the input is nothing that JSON can say; or the store
    /// could not be written to: then there is no execution.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the execution may have been stored or not; if so, `recover` goes on with it, in another
    /// process once the [`lease`](RuntimeOptions::lease) has run out. An
    /// [`idempotency_key`](StartOptions::idempotency_key) makes it safe to start it again.
    pub async fn start<F: DurableFlow>(
        &self,
        input: F::Input,
        options: StartOptions,
    ) -> Result<Execution, RuntimeError> {
        let flow = self.inner.flow(F::NAME)?;
        let saved = F::save_input(&input).and_then(|saved| {
            // What cannot be read back would be found out after the first crash.
            F::load_input(saved.clone())?;
            Ok(saved)
        });
        let saved = saved.map_err(|Unstorable { key, reason }| RuntimeError::Unstorable {
            execution: None,
            path: F::NAMESPACE.to_owned(),
            reason: format!("input `{key}`: {reason}"),
        })?;
        self.inner.store_structure(&*flow).await?;
        let now_ms = self.inner.now_ms();
        let row = Row {
            id: ExecutionId::from(self.inner.new_id(now_ms)),
            flow: F::NAME.to_owned(),
            structure: flow.hash().to_owned(),
            owner: self.owner.as_deref().map(str::to_owned),
            idempotency_key: options.idempotency_key,
            status: Status::Running,
            format: JOURNAL_FORMAT,
            options: json(&options.stored),
            created_ms: now_ms,
            updated_ms: now_ms,
            wake_ms: None,
            next_seq: 1,
            snapshot_seq: None,
            forked_from: None,
            result: None,
            fence: 0,
        };
        let began = Record {
            seq: 0,
            at_ms: now_ms,
            kind: RecordKind::RunStarted,
            path: F::NAMESPACE.to_owned(),
            step: F::NAMESPACE.to_owned(),
            visit: 0,
            item: None,
            attempt: 0,
            payload: Value::Object(saved.0.clone()).to_string(),
        };
        let loaded = Loaded {
            input: saved,
            snapshot: None,
            records: vec![began.clone()],
            pauses: Vec::new(),
            options: options.stored,
            changes: None,
        };
        let claim = self.inner.new_claim(now_ms);
        let claimed = Row {
            fence: FIRST_FENCE,
            ..row.clone()
        };
        let unused = UnusedClaim(&self.inner, row.id);
        let create = self
            .inner
            .store
            .create(row, vec![began], Vec::new(), Some(claim));
        match create.await? {
            Created::Existing(id) => {
                unused.forget();
                return self.get(id).await;
            }
            Created::New => self.inner.committed.notify_waiters(),
        }
        if self.inner.shut_down.is_cancelled() {
            drop(unused);
            self.inner.release().await;
            return Err(RuntimeError::ShutDown(claimed.id));
        }
        unused.forget();
        // What was just stored need not be read again.
        self.inner.spawn(&claimed, flow, loaded);
        Ok(Execution::new(self.clone(), claimed))
    }

    /// An execution, as it stands now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`], also if it belongs to somebody else; or the store could not be read.
    pub async fn get(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        Ok(Execution::new(self.clone(), self.row(id).await?))
    }

    pub(super) async fn row(&self, id: ExecutionId) -> Result<Row, RuntimeError> {
        let row = self
            .inner
            .store
            .execution(id)
            .await
            .map_err(RuntimeError::of(id))?;
        self.own(row.ok_or(RuntimeError::NotFound(id))?)
    }

    fn own(&self, row: Row) -> Result<Row, RuntimeError> {
        match row.owner.as_deref() == self.owner() {
            true => Ok(row),
            // As if there were none: who asks shall not learn that there is.
            false => Err(RuntimeError::NotFound(row.id)),
        }
    }

    /// The owner's executions, the newest first. What cannot be read of them is in [`Listed::damaged`].
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn list(&self, options: ListOptions) -> Result<Listed, RuntimeError> {
        let mut listed = Listed::default();
        for row in self.inner.store.list(&self.query(options)).await? {
            match row {
                Ok(row) => listed.executions.push(Execution::new(self.clone(), row)),
                Err(damaged) => listed.damaged.push(damaged),
            }
        }
        Ok(listed)
    }

    fn query(&self, options: ListOptions) -> ListQuery {
        let now_ms = self.inner.now_ms();
        let before = |age: Duration| now_ms.saturating_sub(millis(age));
        ListQuery {
            owner: Some(self.owner().map(str::to_owned)),
            created_before_ms: options.created_before.map(before),
            updated_before_ms: options.untouched_for.map(before),
            ..options.query
        }
    }

    /// Answers a question, and goes on with the execution. The value is checked against the type that was asked for, as JSON:
    /// both a value of that type and a `serde_json::Value` will do. If another process has the execution, that one goes on
    /// with it.
    ///
    /// # Errors
    ///
    /// The execution is as it was: [`RuntimeError::UnknownToken`], [`RuntimeError::AlreadyAnswered`],
    /// [`RuntimeError::Expired`], [`RuntimeError::WrongType`], [`RuntimeError::Over`], [`RuntimeError::NotRegistered`],
    /// [`RuntimeError::FlowChanged`], or the store failed. Of several answers to one
    /// question, one is accepted.
    pub async fn resume(
        &self,
        token: Token,
        value: impl Serialize,
    ) -> Result<Execution, RuntimeError> {
        let pause = self
            .inner
            .store
            .pause(token)
            .await?
            .ok_or(RuntimeError::UnknownToken(token))?;
        let row = self.row(pause.execution).await;
        let row = row.map_err(|error| match error {
            RuntimeError::NotFound(_) => RuntimeError::UnknownToken(token),
            error => error,
        })?;
        let flow = self.inner.flow(&row.flow)?;
        if row.status.is_over() {
            return Err(RuntimeError::Over {
                execution: row.id,
                status: row.status,
            });
        }
        self.inner.open(&pause)?;
        let changes = self.inner.changes(&row, &*flow).await?;
        let asked = flow
            .question(&pause.path)
            .ok_or_else(|| RuntimeError::FlowChanged {
                execution: row.id,
                flow: row.flow.clone(),
                changes: changes
                    .unwrap_or_default()
                    .into_iter()
                    .chain([format!("`{}` asks nothing any more", pause.path)])
                    .collect(),
            })?;
        let wrong = |reason: String| RuntimeError::WrongType {
            token,
            execution: row.id,
            path: pause.path.clone(),
            expected: pause.expected.clone(),
            reason,
        };
        let value = serde_json::to_value(value).map_err(|error| wrong(error.to_string()))?;
        asked.check(&value).map_err(wrong)?;
        let settlement = Settlement::Answer(value.to_string());
        let before = self
            .inner
            .store
            .settle(token, settlement, self.inner.now_ms())
            .await;
        let before = before.map_err(RuntimeError::of(row.id))?;
        self.inner.open(&before)?;
        self.inner.wake(row.id).await?;
        self.get(row.id).await
    }

    /// Ends an execution: what is under way is dropped at its next `.await`, in another process when that one next writes or
    /// renews its lease. Returns it as it is then.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Over`], [`RuntimeError::NotFound`], or the store failed.
    pub async fn cancel(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        let row = self.row(id).await?;
        self.end(row, "cancelled").await
    }

    async fn end(&self, row: Row, reason: &str) -> Result<Execution, RuntimeError> {
        let id = row.id;
        if row.status.is_over() {
            return Err(RuntimeError::Over {
                execution: id,
                status: row.status,
            });
        }
        let path = lock(&self.inner.flows)
            .get(row.flow.as_str())
            .map(|flow| flow.namespace().to_owned());
        let path = path.unwrap_or(row.flow);
        let record = Record {
            seq: 0,
            at_ms: self.inner.now_ms(),
            kind: RecordKind::RunCancelled,
            path: path.clone(),
            step: path,
            visit: 0,
            item: None,
            attempt: 0,
            payload: reason.to_owned(),
        };
        let row = self
            .inner
            .store
            .end(id, Status::Cancelled, reason, record)
            .await;
        let row = row.map_err(RuntimeError::of(id))?;
        if row.status != Status::Cancelled {
            return Err(RuntimeError::Over {
                execution: id,
                status: row.status,
            });
        }
        self.inner.committed.notify_waiters();
        self.inner.drop_run(id);
        Ok(Execution::new(self.clone(), row))
    }

    /// Cancels the owner's paused executions whose journal has not grown for so long. Returns them; what cannot be read of
    /// them is in [`Listed::damaged`], and stays as it is. (A question with a `timeout` needs no such call: its flow goes on
    /// when the time is over.)
    ///
    /// # Errors
    ///
    /// The store failed. What has been cancelled until then stays so.
    pub async fn expire(&self, untouched_for: Duration) -> Result<Listed, RuntimeError> {
        let options = ListOptions::new()
            .status(Status::Paused)
            .untouched_for(untouched_for);
        let mut expired = Listed::default();
        for row in self.inner.store.list(&self.query(options)).await? {
            let ended = match row {
                Ok(row) => self.end(row, "expired: nobody answered in time").await,
                Err(damaged) => Err(damaged.into()),
            };
            match ended {
                Ok(execution) => expired.executions.push(execution),
                // It was answered or ended at this moment.
                Err(RuntimeError::Over { .. } | RuntimeError::NotFound(_)) => {}
                Err(error) => expired.damaged.push(error.damaged().ok_or(error)?),
            }
        }
        Ok(expired)
    }

    /// Removes an execution with its journal. One that runs is cancelled.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`], or the store failed.
    pub async fn delete(&self, id: ExecutionId) -> Result<(), RuntimeError> {
        self.row(id).await?;
        let deleted = self
            .inner
            .store
            .delete(id)
            .await
            .map_err(RuntimeError::of(id))?;
        self.inner.drop_run(id);
        lock(&self.inner.halted).remove(&id);
        match deleted {
            true => Ok(()),
            false => Err(RuntimeError::NotFound(id)),
        }
    }

    /// Goes on with what could go on and belongs to no living process, whoever owns it: what ran in a process that crashed, what
    /// was answered meanwhile, and questions whose time is over. To be called when a program starts. From then on and until
    /// the runtime is shut down or dropped, this is repeated after every third of the [`lease`](RuntimeOptions::lease): what a
    /// crashed process was running can be had only when its lease has run out.
    ///
    /// # Errors
    ///
    /// The store could not be read. An execution that cannot go on is no error, nor is one that is damaged: it is among
    /// [`Recovered::refused`], and [`Execution::settled`] says why.
    pub async fn recover(&self) -> Result<Recovered, RuntimeError> {
        let recovered = self.inner.recover(true).await?;
        self.inner.keep_recovering();
        Ok(recovered)
    }

    /// Stops the executions of this process where they are, and gives them up, so that another process can go on with them at
    /// once. Returns when all have stopped. Steps under way are dropped at their next `.await`, and will run again.
    pub async fn shut_down(&self) {
        self.inner.shut_down.cancel();
        let runs: Vec<_> = lock(&self.inner.active).values().cloned().collect();
        for run in runs {
            let mut done = run.done.subscribe();
            // The sender lives in `run`.
            let _ = done.wait_for(|done| *done).await;
        }
    }

    pub(super) async fn settled(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        loop {
            let run = lock(&self.inner.active).get(&id).cloned();
            if let Some(run) = run {
                let mut done = run.done.subscribe();
                let _ = done.wait_for(|done| *done).await;
                drop(done);
                if let Some(row) = run.over.get() {
                    return Ok(Execution::new(self.clone(), self.own(row.clone())?));
                }
            }
            let row = self.row(id).await?;
            if row.status != Status::Running {
                return Ok(Execution::new(self.clone(), row));
            }
            match lock(&self.inner.halted).get(&id) {
                // It goes on there.
                None | Some(RuntimeError::TakenOver(_)) => {}
                Some(error) => return Err(error.clone()),
            }
            if !lock(&self.inner.active).contains_key(&id) {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        }
    }

    pub(super) async fn questions(
        &self,
        id: ExecutionId,
    ) -> Result<Vec<OpenQuestion>, RuntimeError> {
        self.row(id).await?;
        let pauses = self
            .inner
            .store
            .pauses(id)
            .await
            .map_err(RuntimeError::of(id))?;
        let open = pauses
            .into_iter()
            .filter(|pause| pause.state == PauseState::Open);
        Ok(open.map(OpenQuestion::new).collect())
    }

    pub(super) async fn journal(&self, id: ExecutionId) -> Result<Vec<Record>, RuntimeError> {
        let row = self.row(id).await?;
        let records = self.inner.records(id, 0, None).await?;
        match missing(&records, row.next_seq) {
            None => Ok(records),
            Some(seq) => Err(RuntimeError::Unreadable {
                execution: id,
                path: row.flow,
                reason: format!("record {seq} is missing"),
            }),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn json(options: &StoredOptions) -> String {
    serde_json::to_string(options).unwrap_or_default()
}

/// The visits to nodes of the outermost flow that a snapshot counts.
pub(super) fn loaded_visits(
    namespace: &str,
    snapshot: Option<&Snapshot>,
) -> Option<(String, Visits)> {
    snapshot.map(|snapshot| (namespace.to_owned(), snapshot.visits.clone()))
}

/// Everything of an execution that is needed to go on with it.
pub(super) struct Loaded {
    pub(super) input: Saved,
    pub(super) snapshot: Option<Snapshot>,
    pub(super) records: Vec<Record>,
    pub(super) pauses: Vec<PauseRow>,
    pub(super) options: StoredOptions,
    /// What has changed in the flow since.
    pub(super) changes: Option<Vec<String>>,
}

/// What the claim of a new execution gives.
const FIRST_FENCE: u64 = 1;

/// A claim to an execution that may have been stored, and that nobody goes on with if this is dropped.
struct UnusedClaim<'a>(&'a Inner, ExecutionId);

impl UnusedClaim<'_> {
    fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnusedClaim<'_> {
    fn drop(&mut self) {
        lock(&self.0.unreleased).insert(self.1, FIRST_FENCE);
    }
}

impl Inner {
    pub(super) fn now_ms(&self) -> u64 {
        to_ms((self.options.clock)())
    }

    pub(super) fn options(&self) -> &RuntimeOptions {
        &self.options
    }

    /// A UUID of version 7 of this time.
    pub(super) fn new_id(&self, now_ms: u64) -> Uuid {
        let nanos = u32::try_from(now_ms % 1000).unwrap_or(0) * 1_000_000;
        Uuid::new_v7(uuid::Timestamp::from_unix(
            uuid::NoContext,
            now_ms / 1000,
            nanos,
        ))
    }

    pub(super) fn flow(&self, name: &str) -> Result<Arc<dyn Registered>, RuntimeError> {
        let flow = lock(&self.flows).get(name).cloned();
        flow.ok_or_else(|| RuntimeError::NotRegistered {
            flow: name.to_owned(),
        })
    }

    pub(super) async fn store_structure(&self, flow: &dyn Registered) -> Result<(), RuntimeError> {
        if lock(&self.structures).contains(flow.hash()) {
            return Ok(());
        }
        self.store
            .put_structure(flow.hash(), flow.structure())
            .await?;
        lock(&self.structures).insert(flow.hash().to_owned());
        Ok(())
    }

    /// Whether a question can be answered now.
    fn open(&self, pause: &PauseRow) -> Result<(), RuntimeError> {
        let (token, execution, path) = (pause.token, pause.execution, pause.path.clone());
        match pause.state {
            PauseState::Answered(_) | PauseState::Closed => Err(RuntimeError::AlreadyAnswered {
                token,
                execution,
                path,
            }),
            PauseState::TimedOut => Err(RuntimeError::Expired {
                token,
                execution,
                path,
            }),
            PauseState::Open if pause.expires_ms.is_some_and(|at| at <= self.now_ms()) => {
                Err(RuntimeError::Expired {
                    token,
                    execution,
                    path,
                })
            }
            PauseState::Open => Ok(()),
        }
    }

    /// What has changed in a flow since an execution was started, if it is not the same and the journal may still fit.
    ///
    /// # Errors
    ///
    /// The journal does not fit.
    pub(super) async fn changes(
        &self,
        row: &Row,
        flow: &dyn Registered,
    ) -> Result<Option<Vec<String>>, RuntimeError> {
        if row.structure == flow.hash() {
            return Ok(None);
        }
        let unreadable = |reason: String| RuntimeError::Unreadable {
            execution: row.id,
            path: flow.namespace().to_owned(),
            reason,
        };
        let old = self
            .store
            .structure(&row.structure)
            .await
            .map_err(RuntimeError::of(row.id))?;
        let old = old.ok_or_else(|| {
            unreadable("the structure of its flow is not in the store".to_owned())
        })?;
        let parse = |text: &str| {
            FlowDocument::parse_spec(text).map_err(|problems| {
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                unreadable(format!(
                    "the structure of its flow is damaged: {}",
                    problems.join("; ")
                ))
            })
        };
        let diff = flow_spec::diff(&parse(&old)?, &parse(flow.structure())?);
        let breaking = diff
            .changes
            .iter()
            .filter(|change| change.runs == Effect::Breaking);
        let breaking: Vec<String> = breaking.map(|change| change.message.clone()).collect();
        if breaking.is_empty() {
            return Ok(Some(
                diff.changes
                    .iter()
                    .map(|change| change.message.clone())
                    .collect(),
            ));
        }
        Err(RuntimeError::FlowChanged {
            execution: row.id,
            flow: row.flow.clone(),
            changes: breaking,
        })
    }

    /// The records from one on, up to and without another one.
    pub(super) async fn records(
        &self,
        id: ExecutionId,
        from: u64,
        until: Option<u64>,
    ) -> Result<Vec<Record>, RuntimeError> {
        let mut records: Vec<Record> = Vec::new();
        let mut next = from;
        loop {
            let left = until.map_or(u64::MAX, |until| until.saturating_sub(next));
            let limit = usize::try_from(left).map_or(PAGE, |left| left.min(PAGE));
            let page = self
                .store
                .records(id, next, limit)
                .await
                .map_err(RuntimeError::of(id))?;
            let full = page.len() == PAGE;
            next = page.last().map_or(next, |last| last.seq + 1);
            records.extend(page);
            if !full {
                return Ok(records);
            }
        }
    }

    /// Reads what is needed to go on, up to and without this record.
    pub(super) async fn load(
        &self,
        row: &Row,
        flow: &dyn Registered,
        until: Option<u64>,
    ) -> Result<Loaded, RuntimeError> {
        if row.format != JOURNAL_FORMAT {
            return Err(RuntimeError::JournalFormat {
                execution: row.id,
                found: row.format,
                known: JOURNAL_FORMAT,
            });
        }
        let changes = self.changes(row, flow).await?;
        let unreadable = |path: &str, reason: String| RuntimeError::Unreadable {
            execution: row.id,
            path: path.to_owned(),
            reason,
        };
        let snapshot_seq = match (row.snapshot_seq, until) {
            (Some(seq), None) => Some(seq),
            (Some(seq), Some(until)) if seq < until => Some(seq),
            _ => None,
        };
        let from = snapshot_seq.unwrap_or(0);
        let mut records = self.records(row.id, from, until).await?;
        let end = until.map_or(row.next_seq, |until| until.min(row.next_seq));
        let gap = missing(&records, end).map(|seq| {
            let after = records.iter().find(|record| record.seq > seq);
            let path = after.map_or(flow.namespace(), |record| &record.path);
            unreadable(path, format!("record {seq} is missing"))
        });
        let at = records
            .iter()
            .rposition(|record| record.kind == RecordKind::Snapshot);
        let snapshot = match at {
            None => None,
            Some(at) => {
                let mut rest = records.split_off(at).into_iter();
                let record = rest.next();
                records = rest.collect();
                record
            }
        };
        let snapshot = match snapshot {
            None => None,
            Some(Record {
                seq, path, payload, ..
            }) => Some(serde_json::from_str::<Snapshot>(&payload).map_err(|error| {
                unreadable(
                    &path,
                    format!("record {seq}, a snapshot, is damaged: {error}"),
                )
            })?),
        };
        let input = match (&snapshot, records.first()) {
            (Some(snapshot), _) => snapshot.input.clone(),
            (None, Some(first)) if first.seq == 0 => {
                serde_json::from_str(&first.payload).map_err(|error| {
                    unreadable(
                        &first.path,
                        format!("record 0, the input, is damaged: {error}"),
                    )
                })?
            }
            _ => {
                return Err(unreadable(
                    flow.namespace(),
                    "its first record is missing".to_owned(),
                ));
            }
        };
        if let Some(gap) = gap {
            return Err(gap);
        }
        let pauses = self
            .store
            .pauses(row.id)
            .await
            .map_err(RuntimeError::of(row.id))?;
        let options = serde_json::from_str(&row.options).map_err(|error| {
            unreadable(
                flow.namespace(),
                format!("its options are damaged: {error}"),
            )
        })?;
        Ok(Loaded {
            input: Saved(input),
            snapshot,
            records,
            pauses,
            options,
            changes,
        })
    }

    /// Tells the process's own run of an execution that there is an answer, or goes on with the execution.
    async fn wake(self: &Arc<Self>, id: ExecutionId) -> Result<(), RuntimeError> {
        let run = lock(&self.active).get(&id).cloned();
        if let Some(run) = run {
            run.signals.mail.notify_one();
        }
        // A run that has just paused does not look for mail any more; one that still runs has its claim.
        self.launch(id).await.map(drop)
    }

    /// Drops the process's own run of an execution.
    fn drop_run(&self, id: ExecutionId) {
        if let Some(run) = lock(&self.active).get(&id) {
            run.cancellation.cancel();
            run.signals.lost.cancel();
        }
    }

    /// Claims an execution and goes on with it. Whether it was to be had.
    pub(super) fn launch(
        self: &Arc<Self>,
        id: ExecutionId,
    ) -> Pin<Box<dyn Future<Output = Result<bool, RuntimeError>> + Send>> {
        let inner = self.clone();
        Box::pin(async move {
            if inner.shut_down.is_cancelled() {
                return Err(RuntimeError::ShutDown(id));
            }
            // Even if its claim has run out, while this process was stopped: it is renewed or lost soon.
            if lock(&inner.active).contains_key(&id) {
                return Ok(false);
            }
            let row = inner
                .store
                .execution(id)
                .await
                .map_err(RuntimeError::of(id))?;
            let row = row.ok_or(RuntimeError::NotFound(id))?;
            let flow = inner.flow(&row.flow)?;
            let Some(row) = inner.claim(id).await? else {
                return Ok(false);
            };
            let fence = row.fence;
            match inner.prepare(row, flow).await {
                Ok(()) => Ok(true),
                // The claim had run out already: this process was slow, or stopped.
                Err(RuntimeError::TakenOver(_)) => Ok(false),
                Err(error) => {
                    lock(&inner.unreleased).insert(id, fence);
                    inner.release().await;
                    Err(error)
                }
            }
        })
    }

    async fn claim(&self, id: ExecutionId) -> Result<Option<Row>, RuntimeError> {
        let now_ms = self.now_ms();
        let Claim {
            holder, until_ms, ..
        } = self.new_claim(now_ms);
        let claimed = self.store.claim(id, holder, now_ms, until_ms).await;
        claimed.map_err(RuntimeError::of(id))
    }

    fn new_claim(&self, now_ms: u64) -> Claim {
        let until_ms = now_ms.saturating_add(millis(self.options.lease));
        Claim::new(self.holder, now_ms, until_ms)
    }

    async fn prepare(
        self: &Arc<Self>,
        row: Row,
        flow: Arc<dyn Registered>,
    ) -> Result<(), RuntimeError> {
        let id = row.id;
        let loaded = self.load(&row, &*flow, None).await?;
        if row.structure != flow.hash() {
            self.store_structure(&*flow).await?;
        }
        if row.status != Status::Running {
            let append = Append {
                status: Some(Status::Running),
                now_ms: self.now_ms(),
                ..Append::default()
            };
            self.store
                .append(id, row.fence, append)
                .await
                .map_err(RuntimeError::of(id))?;
        }
        self.spawn(&row, flow, loaded);
        Ok(())
    }

    /// Goes on with a claimed execution, as a task of its own.
    fn spawn(self: &Arc<Self>, row: &Row, flow: Arc<dyn Registered>, loaded: Loaded) {
        let id = row.id;
        let Loaded {
            input,
            snapshot,
            records,
            pauses,
            options,
            changes,
        } = loaded;
        let journal = Arc::new(Journal::new(id, self.options.clock.clone(), row.next_seq));
        journal.load(
            records,
            loaded_visits(flow.namespace(), snapshot.as_ref()),
            pauses,
        );
        let mut settings = options.settings(self.options.observer.clone());
        let cancellation = CancellationToken::new();
        settings.cancellation = Some(cancellation.clone());
        let snapshots = Snapshots {
            every: self.options.snapshot_every,
            prune: self.options.prune,
        };
        let deltas = Some(self.deltas.emitter(row.owner.clone()));
        let engine = Arc::new(Durable::new(
            journal.clone(),
            settings,
            &input,
            snapshots,
            snapshot,
            None,
            deltas,
        ));
        let signals = Signals {
            shut_down: self.shut_down.clone(),
            ..Signals::default()
        };
        let driver = Driver {
            store: self.store.clone(),
            journal,
            engine: engine.clone(),
            row: row.clone(),
            signals: signals.clone(),
            committed: self.committed.clone(),
            path: flow.namespace().to_owned(),
            changes: changes.map(|changes| (row.flow.clone(), changes)),
            structure: (row.structure != flow.hash()).then(|| flow.hash().to_owned()),
        };
        let work = flow.run(id, engine, input);
        let run = Arc::new(ActiveRun {
            fence: row.fence,
            signals,
            cancellation,
            done: watch::Sender::new(false),
            over: OnceLock::new(),
        });
        lock(&self.active).insert(id, run.clone());
        lock(&self.halted).remove(&id);
        self.keep_renewing();
        let inner = self.clone();
        tokio::spawn(async move {
            let driven = driver.drive(work).await;
            inner.driven(id, &run, driven).await;
        });
    }

    /// A run of this process has stopped.
    async fn driven(self: &Arc<Self>, id: ExecutionId, run: &Arc<ActiveRun>, driven: Driven) {
        if let Driven::Halted(error) = &driven {
            if !matches!(error, RuntimeError::TakenOver(_)) {
                lock(&self.unreleased).insert(id, run.fence);
                self.release().await;
            }
            lock(&self.halted).insert(id, error.clone());
        }
        lock(&self.active).remove(&id);
        if let Driven::Over(row) = driven {
            // Nobody else sets it.
            let _ = run.over.set(*row);
        } else if let Driven::Paused = driven {
            // An answer that came while the run was pausing has woken nobody.
            let pauses = self.store.pauses(id).await.unwrap_or_default();
            if pauses.iter().any(|pause| pause.state != PauseState::Open)
                && let Err(error) = self.launch(id).await
            {
                lock(&self.halted).insert(id, error);
            }
        }
        run.done.send_replace(true);
    }

    /// Gives up what this process cannot go on with, so that it, or another one, can try again at once.
    async fn release(&self) {
        let unreleased = lock(&self.unreleased).clone();
        for (id, fence) in unreleased {
            let append = Append {
                release: true,
                now_ms: self.now_ms(),
                ..Append::default()
            };
            match self.store.append(id, fence, append).await {
                Ok(()) | Err(StoreError::LeaseLost(_) | StoreError::NotFound(_)) => {
                    lock(&self.unreleased).remove(&id);
                }
                // It is tried again before claims are renewed.
                Err(_) => {}
            }
        }
    }

    /// Goes on with what is due. What this process could not go on with for another reason than the store's is tried again
    /// only if it is asked to.
    async fn recover(self: &Arc<Self>, asked: bool) -> Result<Recovered, RuntimeError> {
        self.release().await;
        let mut recovered = Recovered::default();
        let mut seen = HashSet::new();
        loop {
            let due = self.store.due(self.now_ms(), PAGE + seen.len()).await?;
            let mut new = Vec::new();
            for due in due {
                let (id, damaged) = match due {
                    Ok(id) => (Some(id), None),
                    Err(damaged) => (damaged.execution, Some(damaged)),
                };
                match (id, damaged) {
                    (Some(id), damaged) if seen.insert(id) => new.push((id, damaged)),
                    (None, Some(damaged)) if !recovered.damaged.contains(&damaged) => {
                        recovered.damaged.push(damaged);
                    }
                    _ => {}
                }
            }
            if new.is_empty() {
                return Ok(recovered);
            }
            for (id, damaged) in new {
                let hopeless = lock(&self.halted)
                    .get(&id)
                    .is_some_and(|error| match error {
                        RuntimeError::Store { .. } => error.damaged().is_some(),
                        RuntimeError::TakenOver(_) => false,
                        _ => true,
                    });
                if hopeless && !asked {
                    continue;
                }
                let launched = match damaged {
                    None => self.launch(id).await,
                    Some(damaged) => Err(damaged.into()),
                };
                match launched {
                    Ok(true) => recovered.resumed.push(id),
                    Ok(false) => {}
                    Err(error) => {
                        lock(&self.halted).insert(id, error.clone());
                        recovered.refused.push((id, error));
                    }
                }
            }
        }
    }

    fn keep_recovering(self: &Arc<Self>) {
        if std::mem::replace(&mut *lock(&self.recovering), true) {
            return;
        }
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        let shut_down = self.shut_down.clone();
        tokio::spawn(async move {
            while tokio::time::timeout(every, shut_down.cancelled())
                .await
                .is_err()
            {
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                // What fails now is tried again the next time.
                let _ = inner.recover(false).await;
            }
        });
    }

    /// Renews the claims of this process for as long as it lives.
    fn keep_renewing(self: &Arc<Self>) {
        let mut renewing = lock(&self.renewing);
        if std::mem::replace(&mut *renewing, true) {
            return;
        }
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                inner.renew().await;
            }
        });
    }

    async fn renew(&self) {
        let before: Vec<_> = lock(&self.active)
            .iter()
            .map(|(id, run)| (*id, run.clone()))
            .collect();
        self.release().await;
        if before.is_empty() {
            return;
        }
        let until_ms = self.now_ms().saturating_add(millis(self.options.lease));
        // If the store fails, the next time may be in time; and if not, what is written is refused.
        let Ok(held) = self.store.renew(self.holder, until_ms).await else {
            return;
        };
        let held: HashSet<ExecutionId> = held.into_iter().collect();
        for (id, run) in before {
            if !held.contains(&id) {
                run.signals.lost.cancel();
            }
        }
    }
}
