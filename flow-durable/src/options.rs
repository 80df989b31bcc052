//! The options of a runtime, and of starting a single execution.

use std::collections::HashMap;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::clock::{Clock, of_tokio};
use super::engine::Durable;
use super::parts::Part;
use flow_runtime::engine::AnyFlow;
use flow_runtime::{Observer, RunOptions};
use flow_store::{Concurrency, Row};

/// The options of a [`Runtime`](super::Runtime), passed to
/// [`Runtime::with_options`](super::Runtime::with_options).
#[derive(Clone)]
#[must_use]
pub struct RuntimeOptions {
    pub(crate) lease: Duration,
    pub(crate) snapshot_every: usize,
    pub(crate) prune: bool,
    pub(crate) clock: Clock,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) load_version: Option<LoadVersion>,
    pub(crate) at_once: Option<usize>,
    pub(crate) at_once_of: HashMap<String, usize>,
    pub(crate) take_overs: u32,
    look_every: Option<Duration>,
}

/// Makes a flow from a structure. The error is a text.
pub(crate) type LoadVersion =
    Arc<dyn Fn(&str) -> Result<Arc<dyn AnyFlow<Durable>>, String> + Send + Sync>;

impl RuntimeOptions {
    /// The defaults: a lease of 30 s, a snapshot every 256 records, the whole history kept, and the
    /// system's clock.
    pub fn new() -> Self {
        RuntimeOptions {
            lease: Duration::from_secs(30),
            snapshot_every: 256,
            prune: false,
            clock: Arc::new(SystemTime::now),
            observers: Vec::new(),
            load_version: None,
            at_once: None,
            at_once_of: HashMap::new(),
            take_overs: 5,
            look_every: None,
        }
    }

    /// Sets how long an execution belongs to this process without a sign of life. The lease is
    /// renewed after a third of that time. When it has run out, another process resumes the
    /// execution.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Sets the number of records after which the whole state of a flow is stored, at the next node
    /// of the outermost flow. A recovery resumes from there. A smaller number makes recoveries
    /// faster, but runs write more. After a snapshot of more than 16 KiB, the next one also waits
    /// until the records since then are as large.
    pub fn snapshot_every(mut self, records: NonZeroUsize) -> Self {
        self.snapshot_every = records.get();
        self
    }

    /// Removes the records before a snapshot, which a recovery does not need. The store then does
    /// not grow with the length of an execution, but the past before the snapshot can no longer be
    /// inspected.
    pub fn prune_history(mut self) -> Self {
        self.prune = true;
        self
    }

    /// Sets how many executions this process runs at once. Paused ones do not count. An execution
    /// that starts at the limit is stored with the status [`Queued`](super::Status::Queued), and
    /// begins when this process, or another one, has a place. Executions that were answered, or
    /// left by another process, wait for a place too, and come before those that have not begun.
    ///
    /// A process with a limit looks for work in the store whenever a place becomes free, and [from
    /// time to time](RuntimeOptions::look_for_work). With 0 it only starts executions, and other
    /// processes run them: this suits a web server, for instance.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime, RuntimeOptions, StartOptions, Status};
    /// use flow_runtime::prelude::*;
    /// use std::sync::Arc;
    ///
    /// #[node]
    /// fn double(number: &u64) -> u64 {
    ///     number * 2
    /// }
    ///
    /// flow! {
    ///     Twice(number: u64) -> (double: u64) {
    ///         start >> double >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
    /// let store = Arc::new(MemoryStore::new());
    /// let front = RuntimeOptions::new().concurrent_executions(0);
    /// let front = Runtime::with_options(store.clone(), front);
    /// front.register(Twice::new())?;
    /// let execution = front.executions().start::<Twice>(TwiceInput { number: 4 }, StartOptions::new()).await?;
    /// assert_eq!(execution.status(), Status::Queued);
    ///
    /// let worker = RuntimeOptions::new().concurrent_executions(8);
    /// let worker = Runtime::with_options(store, worker);
    /// worker.register(Twice::new())?;
    /// worker.recover().await?;
    /// assert_eq!(execution.settled().await?.status(), Status::Completed);
    /// # Ok(()) }
    /// ```
    pub fn concurrent_executions(mut self, at_most: usize) -> Self {
        self.at_once = Some(at_most);
        self
    }

    /// Sets how many executions of a flow this process runs at once, besides the limit for
    /// [all](RuntimeOptions::concurrent_executions). With 0 it runs none of them.
    pub fn concurrent_executions_of(mut self, flow: impl Into<String>, at_most: usize) -> Self {
        self.at_once_of.insert(flow.into(), at_most);
        self
    }

    /// Sets how often this process looks for executions that others have queued or given up, from
    /// [`recover`](super::Runtime::recover) on. The default is once in every third of the
    /// [`lease`](RuntimeOptions::lease). Executions queued in this process are found at once.
    pub fn look_for_work(mut self, every: Duration) -> Self {
        self.look_every = Some(every);
        self
    }

    /// Sets how often in a row an execution is taken over from a lost process without a new record.
    /// If its process is lost once more, the execution is halted
    /// ([`RuntimeError::Halted`](super::RuntimeError::Halted)): a step that kills its process does
    /// so each time. Only [`retry`](super::Executions::retry) continues it
    /// then. The default is 5.
    ///
    /// From two before this number on, a process runs only one such execution at a time, until it
    /// has a new record or a [`lease`](RuntimeOptions::lease) has passed. This reveals the
    /// executions that were only lost with another one.
    pub fn take_overs(mut self, at_most: u32) -> Self {
        self.take_overs = at_most;
        self
    }

    pub(crate) fn look_for_work_every(&self) -> Duration {
        self.look_every.unwrap_or(self.lease / 3)
    }

    /// Returns true if work is looked for more often than with every recovery.
    pub(crate) fn takes_often(&self) -> bool {
        self.look_every.is_some() || self.at_once.is_some() || !self.at_once_of.is_empty()
    }

    /// Sets the clock for times that are stored: leases, waits and timeouts. For tests, see also
    /// [`tokio_clock`](RuntimeOptions::tokio_clock).
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Lets the times that are stored follow tokio's, which a test can pause. A test then has
    /// one clock: stored waits, timeouts of questions and leases end when tokio's time has passed.
    /// While that is not paused, it is the system's clock, apart from changes to it since the process
    /// began. All runtimes of a test have the same time.
    ///
    /// Let time pass with `tokio::time::sleep`: then everything that is due happens in its order.
    /// `tokio::time::advance` jumps, as if the machine had slept, and leases may be over behind it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use flow_durable::{MemoryStore, Runtime, RuntimeError, RuntimeOptions, StartOptions, Status};
    /// use flow_runtime::prelude::*;
    ///
    /// flow! {
    ///     Later() -> () {
    ///         start >> wait(2d) >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), RuntimeError> {
    /// let runtime = Runtime::with_options(MemoryStore::new(), RuntimeOptions::new().tokio_clock());
    /// runtime.register(Later::new())?;
    /// let executions = runtime.executions();
    /// let execution = executions.start::<Later>(LaterInput {}, StartOptions::new()).await?;
    /// tokio::time::sleep(Duration::from_secs(47 * 60 * 60)).await;
    /// assert_eq!(executions.get(execution.id()).await?.status(), Status::Paused);
    /// tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
    /// assert_eq!(executions.get(execution.id()).await?.status(), Status::Completed);
    /// # Ok(()) }
    /// ```
    pub fn tokio_clock(self) -> Self {
        self.clock(of_tokio)
    }

    /// Loads the versions of flows on which stored executions started, from the structures in the
    /// store. With flow-loader this is `move |structure| load(structure, Format::Json, &nodes)`.
    ///
    /// An execution of a registered flow then finishes on the version on which it started, even in
    /// a process that has only a later one. If its version cannot be loaded, for instance because
    /// one of its nodes is no longer registered, it continues with the newest version if that fits.
    ///
    /// The function is called when an execution is resumed, answered or looked back at. Each
    /// version is loaded once.
    pub fn load_versions<F, E>(
        mut self,
        load: impl Fn(&str) -> Result<F, E> + Send + Sync + 'static,
    ) -> Self
    where
        F: AnyFlow<Durable> + 'static,
        E: fmt::Display,
    {
        self.load_version = Some(Arc::new(move |structure| match load(structure) {
            Ok(flow) => Ok(Arc::new(flow)),
            Err(error) => Err(error.to_string()),
        }));
        self
    }

    /// Adds an observer. It is notified of the events in all executions of this process, after the
    /// observers that were added before it. Events that a recovery only repeats are not reported
    /// again.
    ///
    /// If an observer panics, the executions and the other observers continue: see
    /// [`Runtime::observer_failures`](super::Runtime::observer_failures).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use flow_durable::{MemoryStore, Runtime, RuntimeOptions, StartOptions};
    /// use flow_runtime::prelude::*;
    ///
    /// #[node]
    /// fn greet() -> String {
    ///     "Hello!".to_owned()
    /// }
    ///
    /// flow! {
    ///     Greeting() -> (greet: String) {
    ///         start >> greet >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lines = Arc::new(Mutex::new(Vec::new()));
    /// let to_lines = lines.clone();
    /// let options = RuntimeOptions::new()
    ///     .observer(Arc::new(|_: &Event<'_>| panic!("this one fails")))
    ///     .observer(Arc::new(move |event: &Event<'_>| to_lines.lock().unwrap().push(event.to_string())));
    /// let runtime = Runtime::with_options(MemoryStore::new(), options);
    /// runtime.register(Greeting::new())?;
    /// let execution = runtime.executions().start::<Greeting>(GreetingInput {}, StartOptions::new()).await?;
    /// execution.settled().await?;
    /// assert_eq!(lines.lock().unwrap().len(), 3);
    /// assert_eq!(runtime.observer_failures(), 3);
    /// # Ok(()) }
    /// ```
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        RuntimeOptions::new()
    }
}

impl fmt::Debug for RuntimeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeOptions")
            .field("lease", &self.lease)
            .field("snapshot_every", &self.snapshot_every)
            .field("prune_history", &self.prune)
            .finish_non_exhaustive()
    }
}

/// The options of a single execution, passed to [`Executions::start`](super::Executions::start).
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct StartOptions {
    pub(crate) idempotency_key: Option<String>,
    pub(crate) not_before: Option<SystemTime>,
    pub(crate) priority: i32,
    pub(crate) concurrency: Option<Concurrency>,
    pub(crate) stored: StoredOptions,
}

/// The options that a recovery has to know.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StoredOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    step_budget: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<NonZeroUsize>,
    /// The part of a loop that the execution runs. `None` if it runs its whole flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<Part>,
}

impl StartOptions {
    /// The defaults: no limit to the steps, and no idempotency key.
    pub fn new() -> Self {
        StartOptions::default()
    }

    /// Sets a key that makes it safe to start again. Another start of the same flow, by the same
    /// owner, with this key and the same input returns this execution. With another input it is
    /// refused ([`RuntimeError::OtherInput`](super::RuntimeError::OtherInput)). Two inputs are the
    /// same if their JSON is, whatever the order of the keys of a map. (The items of a `HashSet`
    /// vary in their order: use a `BTreeSet`.)
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Sets the time before which the execution does not begin, by the clock of the process that
    /// runs it. Until then its status is [`Queued`](super::Status::Queued).
    pub fn not_before(mut self, time: SystemTime) -> Self {
        self.not_before = Some(time);
        self
    }

    /// Sets the priority among executions that wait for a place: those with a higher one begin
    /// first. The default is 0. Of those with the same priority, the older ones come first.
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Delays the execution while as many with this key are under way, over all flows, owners and
    /// processes: begun and not over, paused ones included. Until then its status is
    /// [`Queued`](super::Status::Queued), and later executions with other keys pass it.
    ///
    /// Each execution is compared with its own limit. A copy of an execution begins at once, and
    /// counts.
    pub fn concurrency_key(mut self, key: impl Into<String>, at_most: NonZeroU32) -> Self {
        self.concurrency = Some(Concurrency {
            key: key.into(),
            at_most: at_most.get(),
        });
        self
    }

    /// Limits the steps of the execution, including those before a recovery: see
    /// [`RunOptions::step_budget`](flow_runtime::RunOptions::step_budget). Before it takes more, it
    /// is halted ([`RuntimeError::Halted`](super::RuntimeError::Halted)), and continues [with
    /// more](super::Executions::retry_with_steps). The steps in a part of a loop count when the
    /// part is over. By default there is no limit, since a flow may be meant to run for years.
    pub fn step_budget(mut self, steps: u64) -> Self {
        self.stored.step_budget = Some(steps);
        self
    }

    /// Limits the nodes that run at once: see
    /// [`RunOptions::concurrency`](flow_runtime::RunOptions::concurrency).
    pub fn concurrency(mut self, nodes: NonZeroUsize) -> Self {
        self.stored.concurrency = Some(nodes);
        self
    }
}

impl StoredOptions {
    pub(crate) fn parse(text: &str) -> serde_json::Result<StoredOptions> {
        serde_json::from_str(text)
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// The part of a loop that an execution runs. `None` if it runs none, or is a copy of a part.
    pub(crate) fn part_of(row: &Row) -> Option<Part> {
        let part = StoredOptions::parse(&row.options).ok()?.part?;
        (part.id() == row.id).then_some(part)
    }

    /// These options for an execution that runs this part of a loop.
    pub(crate) fn with_part(&self, part: Part) -> StoredOptions {
        StoredOptions {
            part: Some(part),
            ..self.clone()
        }
    }

    /// These options with a larger budget, if they have one.
    pub(crate) fn with_more_steps(&self, steps: u64) -> StoredOptions {
        StoredOptions {
            step_budget: self.step_budget.map(|budget| budget.saturating_add(steps)),
            ..self.clone()
        }
    }

    /// Returns true if the steps are limited.
    pub(crate) fn has_budget(&self) -> bool {
        self.step_budget.is_some()
    }

    pub(crate) fn run_options(&self) -> RunOptions {
        let options = RunOptions::new();
        let mut options = options.step_budget(self.step_budget.unwrap_or(u64::MAX));
        if let Some(nodes) = self.concurrency {
            options = options.concurrency(nodes);
        }
        options
    }
}

/// The options of a signal, passed to [`Executions::signal`](crate::Executions::signal).
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SignalOptions {
    pub(crate) idempotency_key: Option<String>,
}

impl SignalOptions {
    /// The defaults: no idempotency key.
    pub fn new() -> Self {
        SignalOptions::default()
    }

    /// Sets a key that makes it safe to send the signal again: the execution takes one signal with
    /// it. The same signal with the same key succeeds and sends nothing; another signal is refused
    /// ([`RuntimeError::OtherSignal`](super::RuntimeError::OtherSignal)). At most 512 bytes.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }
}
