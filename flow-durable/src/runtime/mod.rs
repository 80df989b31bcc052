//! Executions: started, looked at, answered, cancelled, recovered.

mod answers;
mod endings;
mod events;
mod start;
mod travel;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_store::{ExecutionId, ListQuery, Store};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::error::RuntimeError;
use crate::events::Isolated;
use crate::execution::Execution;
use crate::executions::Executions;
use crate::inner::{Gone, Inner, Once, Recovered, lock, millis};
use crate::listed::{ListOptions, Listed};
use crate::options::RuntimeOptions;
use crate::owned::Owned;
use crate::registered::{DurableFlow, Registered};

/// Starts executions of flows, keeps them in a store, and goes on with them after a crash, a
/// restart, or an answer that took a week.
///
/// Each execution runs as a task of the tokio runtime in which it was started. What its steps
/// return is in the store before the next step starts; after a crash, [`recover`](Runtime::recover)
/// takes these outcomes from there and goes on with the first step that has none. A step that was
/// under way at the crash runs again (at least once): what it does elsewhere should therefore bear
/// being done twice, for which [`Context::step_id`](flow_runtime::Context::step_id) is of use.
///
/// A clone is the same runtime. [`owned_by`](Runtime::owned_by) gives the executions of an owner;
/// the runtime itself sees those that have none. Only what concerns the process is for all of them:
/// [`register`](Runtime::register), [`recover`](Runtime::recover) and
/// [`shut_down`](Runtime::shut_down).
///
/// # Examples
///
/// ```
/// use flow_durable::{MemoryStore, Runtime, StartOptions, Status};
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
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
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
    pub(crate) owned: Owned,
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("store", &self.owned.inner.store)
            .field("owner", &self.owned.owner())
            .finish_non_exhaustive()
    }
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
            owned: Owned::new(Arc::new(inner), None),
        }
    }

    /// Makes a flow known, with its settings. Executions of flows that are not known can be looked
    /// at, but do not go on.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::AlreadyRegistered`]: flows are told apart by their names.
    pub fn register<F: DurableFlow>(&self, flow: F) -> Result<(), RuntimeError> {
        let mut flows = lock(&self.owned.inner.flows);
        if flows.contains_key(F::NAME) {
            return Err(RuntimeError::AlreadyRegistered { flow: F::NAME });
        }
        flows.insert(F::NAME, Arc::new(Registered::new(flow)));
        Ok(())
    }

    /// The executions of this owner.
    pub fn owned_by(&self, owner: impl Into<Arc<str>>) -> Executions {
        Executions::new(Runtime {
            owned: Owned::new(self.owned.inner.clone(), Some(owner.into())),
        })
    }

    /// The executions of nobody, which are those that the runtime itself sees, as
    /// [`owned_by`](Runtime::owned_by) gives those of an owner.
    pub fn executions(&self) -> Executions {
        Executions::new(self.clone())
    }

    /// An execution, as it stands now.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NotFound`], also if it belongs to somebody else; or the store could not be
    /// read.
    pub async fn get(&self, id: ExecutionId) -> Result<Execution, RuntimeError> {
        Ok(Execution::new(
            self.owned.clone(),
            self.owned.row(id).await?,
        ))
    }

    /// The owner's executions, the newest first. What cannot be read of them is in
    /// [`Listed::damaged`].
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn list(&self, options: ListOptions) -> Result<Listed, RuntimeError> {
        let mut listed = Listed::default();
        for row in self.owned.inner.store.list(&self.query(options)).await? {
            match row {
                Ok(row) => listed
                    .executions
                    .push(Execution::new(self.owned.clone(), row)),
                Err(damaged) => listed.damaged.push(damaged),
            }
        }
        Ok(listed)
    }

    pub(crate) fn query(&self, options: ListOptions) -> ListQuery {
        let now_ms = self.owned.inner.now_ms();
        let before = |age: Duration| now_ms.saturating_sub(millis(age));
        ListQuery {
            owner: Some(self.owned.owner().map(str::to_owned)),
            created_before_ms: options.created_before.map(before),
            updated_before_ms: options.untouched_for.map(before),
            ..options.query
        }
    }

    /// Goes on with what could go on and belongs to no living process, whoever owns it: what ran in
    /// a process that crashed, what was answered meanwhile, and questions whose time is over.
    /// To be called when a program starts. From then on and until the runtime is shut down or
    /// dropped, this is repeated after every third of the [`lease`](RuntimeOptions::lease): what a
    /// crashed process was running can be had only when its lease has run out.
    ///
    /// # Errors
    ///
    /// The store could not be read. An execution that cannot go on is not an error, nor is one that
    /// is damaged: it is among [`Recovered::refused`], and [`Execution::settled`] says why.
    pub async fn recover(&self) -> Result<Recovered, RuntimeError> {
        let recovered = self.owned.inner.recover(true).await?;
        self.owned.inner.keep_recovering();
        Ok(recovered)
    }

    /// Stops the executions of this process where they are, and gives them up, so that another
    /// process can go on with them at once. Returns when all have stopped. Steps under way are
    /// dropped at their next `.await`, and will run again.
    pub async fn shut_down(&self) {
        self.owned.inner.shut_down.cancel();
        let runs: Vec<_> = lock(&self.owned.inner.active).values().cloned().collect();
        for run in runs {
            let mut done = run.done.subscribe();
            // The sender lives in `run`.
            let _ = done.wait_for(|done| *done).await;
        }
    }
}
