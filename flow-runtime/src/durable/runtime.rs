//! Executions: started, looked at, answered, cancelled, recovered.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use flow_spec::FlowDocument;
use flow_spec::diff::{Change, Effect};
use futures_util::future::{Either, select};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::driver::{Driven, Driver, Signals};
use super::engine::{Durable, Snapshot, Snapshots};
use super::error::RuntimeError;
use super::events::{Deltas, Isolated};
use super::execution::{Execution, OpenQuestion};
use super::executions::Executions;
use super::journal::{Clock, Journal, Visits, sleep_until};
use super::lease::{Lease, Term};
use super::listed::Listed;
use super::options::{RuntimeOptions, StartOptions, StoredOptions};
use super::payload::{self, VALUE_DEPTH};
use super::registered::{DurableFlow, Entry, Registered, hash_of};
use super::steps::missing;
use crate::__private::{Saved, Unstorable};
use crate::observer::together;
use crate::question::Submission;
use flow_store::{
    Append, Claim, Created, Damaged, EndIf, ExecutionId, JOURNAL_FORMAT, ListQuery, PauseRow,
    PauseState, Row, Settlement, Status, Store, StoreError, Token,
};
use flow_store::{Record, RecordKind, to_ms};

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
    /// The claims that are ahead of this clock.
    watched: Mutex<HashMap<ExecutionId, Watched>>,
    /// What this process has a claim to and does not go on with, with the fence of the claim.
    unreleased: Mutex<HashMap<ExecutionId, u64>>,
    /// When executions that this process has paused go on by themselves.
    alarm: Arc<Alarm>,
    waking: Once,
    renewing: Once,
    /// Told when a claim has run out and a step is to begin.
    renew: Arc<Notify>,
    recovering: Once,
    shut_down: CancellationToken,
    /// Cancelled when the runtime is dropped or shut down.
    gone: Gone,
    pub(super) committed: Arc<Notify>,
    pub(super) deltas: Arc<Deltas>,
    /// How often an observer has panicked.
    pub(super) observer_failures: Arc<AtomicU64>,
}

/// A run of this process.
struct ActiveRun {
    fence: u64,
    lease: Arc<Lease>,
    signals: Signals,
    cancellation: CancellationToken,
    /// Turns true when the run is over, or waits for people.
    done: watch::Sender<bool>,
    /// How the execution stands, once it is over.
    over: OnceLock<Row>,
}

/// A claim whose holder may be gone.
#[derive(Debug, Clone, Copy)]
struct Watched {
    claim: Claim,
    /// Since when it has been as it is.
    since: Instant,
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
        let shut_down = CancellationToken::new();
        for observer in &mut options.observers {
            *observer = Arc::new(Isolated::new(observer.clone(), observer_failures.clone()));
        }
        let inner = Inner {
            store: Arc::new(store),
            options,
            holder: Uuid::new_v4(),
            flows: Mutex::default(),
            structures: Mutex::default(),
            active: Mutex::default(),
            halted: Mutex::default(),
            watched: Mutex::default(),
            unreleased: Mutex::default(),
            alarm: Arc::default(),
            waking: Once::default(),
            renewing: Once::default(),
            renew: Arc::default(),
            recovering: Once::default(),
            gone: Gone(shut_down.child_token()),
            shut_down,
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
    /// There is no new execution: [`RuntimeError::NotRegistered`]; [`RuntimeError::Unstorable`] if the input cannot be stored
    /// as JSON; [`RuntimeError::OtherInput`] if the idempotency key was used with another input;
    /// [`RuntimeError::ShutDown`]; or the store could not be written to. (If the store failed and could not even be asked
    /// whether it has the execution, it may have it: an idempotency key makes it safe to start again.)
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
        let input_json = Value::Object(saved.0.clone()).to_string();
        // The object with the inputs is one level more.
        payload::check(&input_json, VALUE_DEPTH + 1).map_err(|reason| {
            RuntimeError::Unstorable {
                execution: None,
                path: F::NAMESPACE.to_owned(),
                reason: format!("the input: {reason}"),
            }
        })?;
        let id = ExecutionId::from(self.inner.new_id(self.inner.now_ms()));
        if self.inner.shut_down.is_cancelled() {
            return Err(RuntimeError::ShutDown(id));
        }
        self.inner.store_structure(&*flow).await?;
        let now_ms = self.inner.now_ms();
        let row = Row {
            id,
            flow: F::NAME.to_owned(),
            structure: flow.hash().to_owned(),
            owner: self.owner.as_deref().map(str::to_owned),
            idempotency_key: options.idempotency_key,
            input_hash: hash_of(&payload::canonical(&Value::Object(saved.0.clone()))),
            status: Status::Running,
            format: JOURNAL_FORMAT,
            options: options.stored.to_json(),
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
            payload: input_json,
        };
        let loaded = Loaded {
            input: saved,
            snapshot: None,
            records: vec![began.clone()],
            pauses: Vec::new(),
            options: options.stored,
            changes: None,
        };
        let term = self.inner.term();
        let claim = self.inner.new_claim(term);
        let claimed = Row {
            fence: FIRST_FENCE,
            ..row.clone()
        };
        let unused = UnusedClaim(&self.inner, row.id);
        let create = self
            .inner
            .store
            .create(row.clone(), vec![began], Vec::new(), Some(claim));
        let created = match create.await {
            Ok(created) => created,
            Err(error) => self.created_all_the_same(&row, error).await?,
        };
        if let Created::Existing(id) = created {
            unused.forget();
            return self.started_before(id, &row).await;
        }
        self.inner.committed.notify_waiters();
        if self.inner.shut_down.is_cancelled() {
            // It is stored, so it has started: another process runs it.
            drop(unused);
            self.inner.release().await;
        } else {
            unused.forget();
            // What was just stored need not be read again.
            self.inner.spawn(&claimed, term, flow, loaded);
        }
        Ok(Execution::new(self.clone(), claimed))
    }

    /// The store reported an error, and may have created the execution before. Looks whether it has.
    pub(super) async fn created_all_the_same(
        &self,
        row: &Row,
        error: StoreError,
    ) -> Result<Created, RuntimeError> {
        match self.inner.store.execution(row.id).await {
            Ok(Some(_)) => Ok(Created::New),
            Ok(None) | Err(_) => Err(error.into()),
        }
    }

    /// The execution that was started with the same idempotency key, if it was started with the same input.
    async fn started_before(&self, id: ExecutionId, new: &Row) -> Result<Execution, RuntimeError> {
        let row = self.row(id).await?;
        if row.input_hash != new.input_hash {
            return Err(RuntimeError::OtherInput {
                execution: id,
                idempotency_key: row.idempotency_key.unwrap_or_default(),
            });
        }
        Ok(Execution::new(self.clone(), row))
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

    /// Answers a question, and goes on with the execution. The answer is a value of the type that was asked for, or a
    /// `serde_json::Value` that is one. If another process has the execution, that one goes on with it.
    ///
    /// # Errors
    ///
    /// The execution is as it was: [`RuntimeError::UnknownToken`], [`RuntimeError::AlreadyAnswered`],
    /// [`RuntimeError::Expired`], [`RuntimeError::Withdrawn`], [`RuntimeError::WrongType`], [`RuntimeError::Over`],
    /// [`RuntimeError::NotRegistered`], [`RuntimeError::FlowChanged`], or the store failed. Of several answers to one
    /// question, one is accepted.
    pub async fn resume(
        &self,
        token: Token,
        value: impl Submission,
    ) -> Result<Execution, RuntimeError> {
        let pause = self
            .inner
            .store
            .pause(token)
            .await?
            .ok_or(RuntimeError::UnknownToken)?;
        let row = self.row(pause.execution).await;
        let row = row.map_err(|error| match error {
            RuntimeError::NotFound(_) => RuntimeError::UnknownToken,
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
        let changes = match row.structure == flow.hash() {
            true => None,
            // Whether the journal fits depends on what it has.
            false => self.inner.load(&row, &*flow, None).await?.changes,
        };
        let asked = flow
            .question(&pause.path)
            .ok_or_else(|| RuntimeError::FlowChanged {
                execution: row.id,
                flow: row.flow.clone(),
                changes: changes
                    .into_iter()
                    .flatten()
                    .chain([format!("`{}` asks nothing any more", pause.path)])
                    .collect(),
            })?;
        let wrong = |reason: String| RuntimeError::WrongType {
            execution: row.id,
            path: pause.path.clone(),
            expected: pause.expected.clone(),
            reason,
        };
        let submitted = value.submit().map_err(|error| wrong(error.to_string()))?;
        asked.check_submitted(&submitted).map_err(wrong)?;
        let answer = submitted.value.to_string();
        payload::check(&answer, VALUE_DEPTH).map_err(wrong)?;
        let settlement = Settlement::Answer(answer);
        let store = &self.inner.store;
        let now_ms = self.inner.now_ms();
        match store.settle(token, settlement.clone(), now_ms).await {
            Ok(before) => self.inner.open(&before)?,
            Err(error) => {
                // The store may have taken the answer before it failed.
                let after = store.pause(token).await.ok().flatten();
                let taken = |pause: &PauseRow| pause.state == PauseState::from(settlement);
                if !after.as_ref().is_some_and(taken) {
                    return Err(RuntimeError::of(row.id)(error));
                }
            }
        }
        // The answer is stored. Whatever keeps the execution from going on here is not an error of the answer.
        self.inner.wake(row.id).await;
        match self.get(row.id).await {
            Ok(execution) => Ok(execution),
            Err(_) => Ok(Execution::new(self.clone(), row)),
        }
    }

    /// Ends an execution: what is under way is dropped at its next `.await`, in another process when that one next writes or
    /// renews its lease. Returns it as it is then.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::Over`], [`RuntimeError::NotFound`], or the store failed.
    pub async fn cancel(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        let row = self.row(id).await?;
        self.end(row, "cancelled", EndIf::NotOver).await
    }

    async fn end(
        &self,
        row: Row,
        reason: &str,
        condition: EndIf,
    ) -> Result<Execution, RuntimeError> {
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
        let store = &self.inner.store;
        let ended = store.end(id, Status::Cancelled, reason, record, condition);
        let row = match ended.await {
            Ok(row) => row,
            // The store may have ended it before it failed.
            Err(error) => match store.execution(id).await {
                Ok(Some(row)) if row.status == Status::Cancelled => row,
                _ => return Err(RuntimeError::of(id)(error)),
            },
        };
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
        let query = self.query(options);
        let untouched = EndIf::PausedUntouchedSince(query.updated_before_ms.unwrap_or(0));
        let mut expired = Listed::default();
        for row in self.inner.store.list(&query).await? {
            let ended = match row {
                Ok(row) => {
                    self.end(row, "expired: nobody answered in time", untouched)
                        .await
                }
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
            let halted = lock(&self.inner.halted).get(&id).cloned();
            // An execution that was taken over goes on there.
            let halted = halted.filter(|error| !matches!(error, RuntimeError::TakenOver(_)));
            match (row.status, halted) {
                (Status::Running, None) => {}
                (Status::Running, Some(error)) => return Err(error),
                // It was answered, and cannot go on with the answer.
                (Status::Paused, Some(error)) if self.inner.is_answered(id, |_| true).await? => {
                    return Err(error);
                }
                _ => return Ok(Execution::new(self.clone(), row)),
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

/// The nodes that an execution has reached, by path within its flow and without the indices of items.
struct Reached(HashSet<String>);

impl Reached {
    fn new(records: &[Record], snapshot: Option<&Snapshot>) -> Self {
        let started = records
            .iter()
            .filter(|record| record.kind == RecordKind::NodeStarted);
        // The namespace is that of the flow with which the execution was started.
        let namespace = snapshot.map(|snapshot| snapshot.namespace.as_str());
        let namespace = namespace.or(records.first().map(|first| first.path.as_str()));
        let namespace = namespace.unwrap_or_default();
        let mut reached: HashSet<String> = started
            .filter_map(|record| record.path.strip_prefix(namespace)?.strip_prefix('.'))
            .map(without_items)
            .collect();
        reached.extend(
            snapshot
                .into_iter()
                .flat_map(|it| it.visits.keys().cloned()),
        );
        Reached(reached)
    }

    /// Whether a change is about something that was reached: the flow itself always was.
    fn concerns(&self, change: &Change) -> bool {
        let path = change.old_path.as_ref().unwrap_or(&change.path);
        path.is_empty() || self.0.contains(path)
    }
}

/// A path without the indices of items.
fn without_items(path: &str) -> String {
    let mut kept = String::new();
    for part in path.split('[') {
        // Of each part but the first, what is before `]` is an index.
        kept.push_str(match kept.is_empty() {
            true => part,
            false => part.split_once(']').map_or("", |(_, rest)| rest),
        });
    }
    kept
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

/// A run of this process, which has stopped when this is dropped: also if its task is, because it panicked or because the
/// tokio runtime that it ran in has ended.
struct RunGuard {
    inner: Arc<Inner>,
    id: ExecutionId,
    run: Option<Arc<ActiveRun>>,
}

impl RunGuard {
    async fn ended(mut self, driven: Driven) {
        if let Some(run) = &self.run {
            self.inner.driven(self.id, run, driven).await;
        }
        self.run = None;
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        lock(&self.inner.unreleased).insert(self.id, run.fence);
        lock(&self.inner.halted).insert(self.id, RuntimeError::TaskEnded(self.id));
        lock(&self.inner.active).remove(&self.id);
        run.done.send_replace(true);
    }
}

/// Cancels when it is dropped.
struct Gone(CancellationToken);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A task of which there is one at a time: another one may be spawned when it has ended, or when its tokio runtime has.
#[derive(Default)]
struct Once(Arc<AtomicBool>);

impl Once {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if self.0.swap(true, Ordering::AcqRel) {
            return;
        }
        let ended = Ended(self.0.clone());
        tokio::spawn(async move {
            let _ended = ended;
            task.await;
        });
    }
}

struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Executions by the time at which they go on by themselves.
#[derive(Default)]
struct Alarm {
    times: Mutex<BTreeSet<(u64, ExecutionId)>>,
    changed: Notify,
}

impl Alarm {
    fn set(&self, at_ms: u64, id: ExecutionId) {
        lock(&self.times).insert((at_ms, id));
        self.changed.notify_one();
    }

    /// Waits for the next execution whose time has come.
    async fn next(&self, clock: &Clock) -> ExecutionId {
        loop {
            let first = lock(&self.times).first().copied();
            let Some((at_ms, id)) = first else {
                self.changed.notified().await;
                continue;
            };
            let time = pin!(sleep_until(clock, at_ms));
            if let Either::Left(_) = select(time, pin!(self.changed.notified())).await {
                lock(&self.times).remove(&(at_ms, id));
                return id;
            }
        }
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
        let (execution, path) = (pause.execution, pause.path.clone());
        let is_late = pause.expires_ms.is_some_and(|at| at <= self.now_ms());
        match pause.state {
            PauseState::Answered(_) | PauseState::Used => {
                Err(RuntimeError::AlreadyAnswered { execution, path })
            }
            PauseState::Withdrawn => Err(RuntimeError::Withdrawn { execution, path }),
            PauseState::TimedOut | PauseState::Expired => {
                Err(RuntimeError::Expired { execution, path })
            }
            PauseState::Open if is_late => Err(RuntimeError::Expired { execution, path }),
            PauseState::Open => Ok(()),
        }
    }

    /// What has changed in a flow since an execution was started, if it is not the same and the journal may still fit. A change
    /// of a node that the execution has not reached concerns nothing that is recorded.
    ///
    /// # Errors
    ///
    /// The journal does not fit.
    async fn changes(
        &self,
        row: &Row,
        flow: &dyn Registered,
        reached: &Reached,
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
        let breaks = |change: &&Change| change.runs == Effect::Breaking && reached.concerns(change);
        let breaking: Vec<String> = diff
            .changes
            .iter()
            .filter(breaks)
            .map(|change| change.message.clone())
            .collect();
        if breaking.is_empty() {
            let all = diff.changes.iter().map(|change| change.message.clone());
            return Ok(Some(all.collect()));
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
            // Where something has been pruned meanwhile, the store has gone on with later ones.
            let asked = |record: &Record| until.is_none_or(|until| record.seq < until);
            records.extend(page.into_iter().filter(asked));
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
        let reached = Reached::new(&records, snapshot.as_ref());
        let changes = self.changes(row, flow, &reached).await?;
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

    /// Tells the process's own run of an execution that there is an answer, or goes on with the execution. If it cannot go on
    /// here, [`Execution::settled`] says why, and another process may.
    async fn wake(self: &Arc<Self>, id: ExecutionId) {
        let run = lock(&self.active).get(&id).cloned();
        if let Some(run) = run {
            run.signals.mail.notify_one();
        }
        // A run that has just paused does not look for mail any more; one that still runs has its claim.
        self.try_to_launch(id).await;
    }

    /// Goes on with an execution that is stored. If it cannot go on here, [`Execution::settled`] says why.
    pub(super) async fn try_to_launch(self: &Arc<Self>, id: ExecutionId) {
        if let Err(error) = self.launch(id).await {
            lock(&self.halted).insert(id, error);
        }
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
            let term = inner.term();
            let Some(row) = inner.claim(id, term).await? else {
                return Ok(false);
            };
            let fence = row.fence;
            match inner.prepare(row, term, flow).await {
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

    async fn claim(&self, id: ExecutionId, term: Term) -> Result<Option<Row>, RuntimeError> {
        let (holder, until_ms) = (self.holder, term.until_ms);
        let claimed = self.store.claim(id, holder, self.now_ms(), until_ms).await;
        claimed.map_err(RuntimeError::of(id))
    }

    fn new_claim(&self, term: Term) -> Claim {
        Claim {
            holder: self.holder,
            until_ms: term.until_ms,
            lease_ms: millis(self.options.lease),
        }
    }

    /// For how long executions are claimed from now on.
    fn term(&self) -> Term {
        Term::begin(&self.options.clock, self.options.lease)
    }

    async fn prepare(
        self: &Arc<Self>,
        row: Row,
        term: Term,
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
        self.spawn(&row, term, flow, loaded);
        Ok(())
    }

    /// Goes on with a claimed execution, as a task of its own.
    fn spawn(self: &Arc<Self>, row: &Row, term: Term, flow: Arc<dyn Registered>, loaded: Loaded) {
        let id = row.id;
        let Loaded {
            input,
            snapshot,
            records,
            pauses,
            options,
            changes,
        } = loaded;
        let clock = self.options.clock.clone();
        let lease = Arc::new(Lease::new(clock.clone(), self.renew.clone(), term));
        let journal = Journal::new(id, clock, row.next_seq).with_lease(lease.clone());
        let journal = Arc::new(journal);
        journal.load(
            records,
            loaded_visits(flow.namespace(), snapshot.as_ref()),
            pauses,
        );
        let mut settings = options.settings(together(self.options.observers.iter().cloned()));
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
            lease,
            signals,
            cancellation,
            done: watch::Sender::new(false),
            over: OnceLock::new(),
        });
        lock(&self.active).insert(id, run.clone());
        lock(&self.halted).remove(&id);
        self.keep_renewing();
        let guard = RunGuard {
            inner: self.clone(),
            id,
            run: Some(run),
        };
        tokio::spawn(async move {
            let driven = driver.drive(work).await;
            guard.ended(driven).await;
        });
    }

    /// A run of this process has stopped.
    async fn driven(self: &Arc<Self>, id: ExecutionId, run: &Arc<ActiveRun>, driven: Driven) {
        if let Driven::Halted(error) = &driven {
            if !matches!(error, RuntimeError::TakenOver(_)) {
                lock(&self.unreleased).insert(id, run.fence);
                self.release_one(id, run.fence).await;
            }
            lock(&self.halted).insert(id, error.clone());
        }
        lock(&self.active).remove(&id);
        if let Driven::Over(row) = driven {
            // Nobody else sets it.
            let _ = run.over.set(*row);
        } else if let Driven::Paused { asked, wake_ms } = driven {
            // An answer that came while the run was pausing has woken nobody. If the store cannot say, it may have come.
            let asked = |pause: &PauseRow| asked.contains(&pause.token);
            if self.is_answered(id, asked).await.unwrap_or(true) {
                self.try_to_launch(id).await;
            } else if let Some(wake_ms) = wake_ms {
                self.alarm.set(wake_ms, id);
                self.keep_waking();
            }
        }
        run.done.send_replace(true);
    }

    /// Whether one of these questions has an answer that the run has not seen, or its time is over.
    async fn is_answered(
        &self,
        id: ExecutionId,
        asked: impl Fn(&PauseRow) -> bool,
    ) -> Result<bool, RuntimeError> {
        let pauses = self.store.pauses(id).await.map_err(RuntimeError::of(id))?;
        let settled = |pause: &PauseRow| pause.state != PauseState::Open && asked(pause);
        Ok(pauses.iter().any(settled))
    }

    /// Goes on with executions that this process has paused, when their time has come and nobody else has done so.
    fn keep_waking(self: &Arc<Self>) {
        let (inner, alarm) = (Arc::downgrade(self), self.alarm.clone());
        let (clock, gone) = (self.options.clock.clone(), self.gone.0.clone());
        self.waking.spawn(async move {
            loop {
                let next = pin!(alarm.next(&clock));
                let Either::Left((id, _)) = select(next, pin!(gone.cancelled())).await else {
                    return;
                };
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                inner.try_to_launch(id).await;
            }
        });
    }

    /// Gives up what this process cannot go on with, so that it, or another one, can try again at once.
    async fn release(&self) {
        let unreleased: Vec<_> = lock(&self.unreleased)
            .iter()
            .map(|(id, fence)| (*id, *fence))
            .collect();
        for (id, fence) in unreleased {
            self.release_one(id, fence).await;
        }
    }

    /// Gives one execution up. If the store fails, that is tried again before claims are renewed.
    async fn release_one(&self, id: ExecutionId, fence: u64) {
        let append = Append {
            release: true,
            now_ms: self.now_ms(),
            ..Append::default()
        };
        let released = self.store.append(id, fence, append).await;
        if let Ok(()) | Err(StoreError::LeaseLost(_) | StoreError::NotFound(_)) = released {
            let mut unreleased = lock(&self.unreleased);
            if unreleased.get(&id) == Some(&fence) {
                unreleased.remove(&id);
            }
        }
    }

    /// Goes on with what is due. What this process could not go on with for another reason than the store's is tried again
    /// only if it is asked to.
    async fn recover(self: &Arc<Self>, asked: bool) -> Result<Recovered, RuntimeError> {
        self.release().await;
        let mut recovered = Recovered::default();
        let mut watched = HashMap::new();
        let mut after = None;
        loop {
            let due = self.store.due(self.now_ms(), after, PAGE).await?;
            let mut last = None;
            for due in due {
                let (id, damaged) = match due {
                    Ok(id) => (id, None),
                    Err(damaged) => match damaged.execution {
                        Some(id) => (id, Some(damaged)),
                        None => {
                            // It is on each page, if it is before none of the others.
                            if !recovered.damaged.contains(&damaged) {
                                recovered.damaged.push(damaged);
                            }
                            continue;
                        }
                    },
                };
                last = last.max(Some(id));
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
                    None => self.launch_or_watch(id, &mut watched).await,
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
            if last.is_none() {
                *lock(&self.watched) = watched;
                return Ok(recovered);
            }
            after = last;
        }
    }

    /// Goes on with an execution, if it is to be had. If not, it is due because its claim is ahead of this clock: then watches
    /// that claim, and breaks it when nobody has renewed it for as long as it was made for, by a clock that cannot be set.
    async fn launch_or_watch(
        self: &Arc<Self>,
        id: ExecutionId,
        watched: &mut HashMap<ExecutionId, Watched>,
    ) -> Result<bool, RuntimeError> {
        let refused = match self.launch(id).await {
            Ok(true) => return Ok(true),
            Ok(false) => None,
            Err(error @ RuntimeError::NotRegistered { .. }) => Some(error),
            Err(error) => return Err(error),
        };
        let claim = self
            .store
            .claim_of(id)
            .await
            .map_err(RuntimeError::of(id))?;
        let now_ms = self.now_ms();
        let claim = match (claim, refused) {
            // It may be that others run it, who have its flow.
            (Some(claim), Some(_)) if claim.is_valid(now_ms) => return Ok(false),
            (_, Some(error)) => return Err(error),
            (Some(claim), None) if claim.is_ahead(now_ms) => claim,
            _ => return Ok(false),
        };
        let before = lock(&self.watched).get(&id).copied();
        let seen = before.filter(|before| before.claim == claim);
        let seen = seen.unwrap_or(Watched {
            claim,
            since: Instant::now(),
        });
        if seen.since.elapsed() < Duration::from_millis(claim.lease_ms) {
            watched.insert(id, seen);
            return Ok(false);
        }
        let broken = self.store.break_claim(id, claim).await;
        Ok(broken.map_err(RuntimeError::of(id))? && self.launch(id).await?)
    }

    fn keep_recovering(self: &Arc<Self>) {
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        let gone = self.gone.0.clone();
        self.recovering.spawn(async move {
            while tokio::time::timeout(every, gone.cancelled()).await.is_err() {
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                // What fails now is tried again the next time.
                let _ = inner.recover(false).await;
            }
        });
    }

    /// Renews the claims of this process for as long as it lives: in time, or when one that has run out is needed.
    fn keep_renewing(self: &Arc<Self>) {
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        let needed = self.renew.clone();
        self.renewing.spawn(async move {
            loop {
                // Both are reasons to renew.
                let _ = tokio::time::timeout(every, needed.notified()).await;
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
        let term = self.term();
        // If the store fails, the next time may be in time; and if not, what is written is refused.
        let Ok(held) = self.store.renew(self.holder, term.until_ms).await else {
            return;
        };
        let held: HashSet<ExecutionId> = held.into_iter().collect();
        for (id, run) in before {
            match held.contains(&id) {
                true => run.lease.prolong(term),
                false => run.signals.lost.cancel(),
            }
        }
    }
}
