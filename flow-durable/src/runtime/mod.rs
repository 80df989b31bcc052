//! A runtime: its flows, its recovery and its end.

mod once;
mod versions;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flow_runtime::engine::AnyFlow;
use flow_spec::FlowDocument;
use flow_store::{ExecutionId, Status, Store};

use crate::engine::Durable;
use crate::error::RuntimeError;
use crate::executions::Executions;
use crate::options::RuntimeOptions;
use crate::owners::Owners;
use crate::registered::Registered;
use crate::shared::{Look, Recovered, Shared};

/// Starts executions of flows, keeps them in a store, and resumes them after a crash, a restart, or
/// an answer that took a week.
///
/// Each execution runs as a task of the tokio runtime in which it was started. The outcomes of its
/// steps are in the store before the next step starts; after a crash, [`recover`](Runtime::recover)
/// reads these outcomes and continues with the first step that has none. A step that was running at
/// the crash runs again (at least once). If it has effects outside the flow, it has to tolerate
/// this; [`Context::step_id`](flow_runtime::Context::step_id) helps.
///
/// A clone is the same runtime. Its methods concern the process and the executions of all owners.
/// [`executions`](Runtime::executions) are those without an owner, and
/// [`owned_by`](Runtime::owned_by) those of an owner.
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
/// let execution = runtime.executions().start::<Greeting>(input, StartOptions::new()).await?;
/// let execution = execution.settled().await?;
/// assert_eq!(execution.status(), Status::Completed);
/// assert_eq!(execution.output::<Greeting>()?.unwrap().greet, "Hello, Ann!");
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Runtime {
    pub(crate) shared: Arc<Shared>,
    /// Those without an owner.
    executions: Executions,
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("store", &self.shared.store)
            .finish_non_exhaustive()
    }
}

/// The statuses of executions that are not over.
const UNFINISHED: [Status; 3] = [Status::Queued, Status::Running, Status::Paused];

impl Runtime {
    /// A runtime with this store and the default options.
    pub fn new(store: impl Store) -> Self {
        Runtime::with_options(store, RuntimeOptions::new())
    }

    /// A runtime with this store.
    pub fn with_options(store: impl Store, options: RuntimeOptions) -> Self {
        let shared = Arc::new(Shared::new(Arc::new(store), options));
        let executions = Executions::new(shared.clone(), Owners::One(None));
        Runtime { shared, executions }
    }

    /// Registers a flow, with its settings: a compiled one, one that was loaded from a document, or
    /// an `Arc` of either. [`Executions::start`] starts a compiled flow with its typed input, and
    /// [`Executions::start_json`] any flow. Executions of flows that are not registered can be
    /// inspected, but do not continue.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::AlreadyRegistered`]: a flow with the same name is registered;
    /// [`RuntimeError::NoTransactions`]: a node writes in a transaction, and the store has no
    /// database for that; [`RuntimeError::NotStorable`]: a value or an action of a loaded flow
    /// cannot be stored.
    pub fn register(&self, flow: impl AnyFlow<Durable> + 'static) -> Result<(), RuntimeError> {
        self.check_flow(&flow)?;
        let name = flow.name().to_owned();
        let flow = Registered::new(Arc::new(flow));
        if self.shared.put_version(&name, None, flow) {
            return Ok(());
        }
        Err(RuntimeError::AlreadyRegistered { flow: name })
    }

    /// The executions without an owner.
    pub fn executions(&self) -> &Executions {
        &self.executions
    }

    /// The executions of this owner.
    pub fn owned_by(&self, owner: impl Into<Arc<str>>) -> Executions {
        Executions::new(self.shared.clone(), Owners::One(Some(owner.into())))
    }

    /// The executions of all owners, and those without an owner. This is for whoever runs the
    /// program, not for its users. An execution that starts here has no owner.
    ///
    /// # Examples
    ///
    /// A program that looks into a store needs none of the flows:
    ///
    /// ```
    /// use flow_durable::{ListOptions, MemoryStore, Runtime, Status};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// let paused = ListOptions::new().status(Status::Paused);
    /// for execution in runtime.all_owners().list(paused).await? {
    ///     println!("{} of {:?} asks:", execution.id(), execution.owner());
    ///     for question in execution.questions().await? {
    ///         println!("  {}", question.prompt());
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    pub fn all_owners(&self) -> Executions {
        Executions::new(self.shared.clone(), Owners::All)
    }

    /// Resumes the executions of all owners that can continue and belong to no living process:
    /// those of a process that crashed, those that were answered meanwhile, and those with a
    /// question that has expired. Call it when a program starts. Until the runtime is shut down or
    /// dropped, this is repeated once in every third of the [`lease`](RuntimeOptions::lease). The
    /// executions of a crashed process are available only when its lease has run out.
    ///
    /// This also begins [queued](flow_store::Status::Queued) executions of the flows that are
    /// registered here. If the number of executions is
    /// [limited](RuntimeOptions::concurrent_executions), it resumes and begins as many as there are
    /// places, and the others when places become free.
    ///
    /// # Errors
    ///
    /// The store could not be read. An execution that is damaged or cannot continue is not an
    /// error: it is in [`Recovered::refused`], and
    /// [`Execution::settled`](crate::Execution::settled) says why. So is one that waits for people
    /// and could not continue with their answers, because its flow has changed.
    pub async fn recover(&self) -> Result<Recovered, RuntimeError> {
        let mut recovered = self.shared.recover(Look::Asked).await?;
        for (id, error) in self.shared.stranded_while_paused().await? {
            if !recovered.refused.iter().any(|(known, _)| *known == id) {
                recovered.refused.push((id, error));
            }
        }
        self.shared.keep_listening();
        self.shared.keep_recovering();
        if self.shared.options.takes_often() {
            self.shared.keep_taking();
        }
        Ok(recovered)
    }

    /// The unfinished executions of the registered flows, of all owners, that cannot continue with
    /// the versions registered here, with the errors. [`recover`](Runtime::recover) would refuse
    /// them, now or when they are answered. This writes nothing, so a new version can be checked
    /// before it is deployed. The journals of executions that wait, or have another version, are
    /// replayed without running a step. So this also finds a stored value whose type has changed
    /// while its name has not, unlike `recover`.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn check_executions(&self) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        self.shared.stranded(&UNFINISHED, true).await
    }

    /// The unfinished executions that this process failed to continue, with the errors: for a
    /// metric that raises an alert. Each execution is as it was after its last record, and another
    /// process may have it.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn refused(&self) -> Result<Vec<(ExecutionId, RuntimeError)>, RuntimeError> {
        self.shared.refused().await
    }

    /// The unfinished executions of a flow, of all owners, that a version of it breaks, with the
    /// changes that break them. The version need not be registered, because this compares
    /// documents. So it may report an execution that passed a change by another way. If the version
    /// is registered, [`check_executions`](Runtime::check_executions) is exact.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn broken_by(
        &self,
        new: &FlowDocument,
    ) -> Result<Vec<(ExecutionId, Vec<String>)>, RuntimeError> {
        let shared = &self.shared;
        let mut broken = Vec::new();
        for row in shared.rows_of(&new.name, &UNFINISHED).await? {
            let changes = shared.changes_up_to(&row, new).await?;
            if !changes.is_empty() {
                broken.push((row.id, changes));
            }
        }
        Ok(broken)
    }

    /// The number of times that an observer
    /// ([`RuntimeOptions::observer`](crate::RuntimeOptions::observer)) has panicked. Runs continue,
    /// and the observer is notified of the next event as if nothing had happened.
    pub fn observer_failures(&self) -> u64 {
        self.shared.observer_failures.load(Ordering::Relaxed)
    }

    /// Stops the executions of this process as soon as their running steps have ended, and gives up
    /// its claims, including those that the store is making at this moment. Another process can
    /// then resume them at once, and repeats no step. No further step, execution or recovery
    /// begins. Executions that have not stopped after this time are stopped as by
    /// [`shut_down`](Runtime::shut_down). Returns when all have stopped.
    ///
    /// Executions are not run to their end. A wait is not a running step, nor is the time before
    /// another attempt: the process that resumes the execution knows how many attempts there were.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, still no step begins, and running ones end. To stop them then,
    /// call [`shut_down`](Runtime::shut_down).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use flow_durable::{MemoryStore, Runtime};
    ///
    /// # async fn example() -> std::io::Result<()> {
    /// let runtime = Runtime::new(MemoryStore::new());
    /// tokio::signal::ctrl_c().await?;
    /// runtime.drain(Duration::from_secs(20)).await;
    /// # Ok(()) }
    /// ```
    pub async fn drain(&self, at_most: Duration) {
        self.shared.drain(at_most).await;
    }

    /// Stops the executions of this process where they are, and gives up its claims, so that
    /// another process can resume them at once. Returns when all have stopped, and when the claims
    /// that other calls are making are given up. A call that makes no progress, because nobody
    /// polls it, is waited for as long as a [`lease`](RuntimeOptions::lease). Running steps are
    /// dropped at their next `.await`, and will run again.
    pub async fn shut_down(&self) {
        self.shared.shut_down().await;
    }
}
