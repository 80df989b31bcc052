//! What the tests of durable runs have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flow_durable::{
    Execution, ExecutionId, MemoryStore, Record, RecordKind, Runtime, RuntimeOptions, StartOptions,
    Status, Store, Token,
};

/// A store that survives its runtimes.
pub(crate) type Shared = Arc<MemoryStore>;

/// An empty store.
pub(crate) fn store() -> Shared {
    Arc::new(MemoryStore::new())
}

/// A clock that goes with tokio's, so that it stands still with it. All of one test show the same time.
pub(crate) fn clock() -> impl Fn() -> SystemTime + Send + Sync + 'static {
    // Somewhat before the first of the clocks that tokio lets stand still. The clocks of some systems
    // begin when they start.
    static BEGAN: LazyLock<Instant> = LazyLock::new(|| {
        let now = Instant::now();
        now.checked_sub(Duration::from_secs(60)).unwrap_or(now)
    });
    let began = tokio::time::Instant::from_std(*BEGAN);
    move || UNIX_EPOCH + Duration::from_secs(1_800_000_000) + began.elapsed()
}

/// Options with that clock.
pub(crate) fn options() -> RuntimeOptions {
    RuntimeOptions::new().clock(clock())
}

/// The kinds and steps of a journal, a line each.
pub(crate) fn lines(journal: &[Record]) -> String {
    let line = |record: &Record| format!("{} {} {}\n", record.kind, record.step, record.payload);
    journal.iter().map(line).collect()
}

/// How often a step's outcome is recorded, by step.
pub(crate) fn outcomes(journal: &[Record]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome)
    {
        *counts.entry(record.step.clone()).or_default() += 1;
    }
    counts
}

/// Counts calls by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<BTreeMap<String, usize>>>);

impl Calls {
    pub(crate) fn call(&self, name: impl Into<String>) {
        *self.0.lock().unwrap().entry(name.into()).or_default() += 1;
    }

    pub(crate) fn of(&self, name: &str) -> usize {
        self.0.lock().unwrap().get(name).copied().unwrap_or(0)
    }
}

/// Starts with default options, and waits until it is over or waits for people.
pub(crate) async fn settled<F: flow_durable::DurableFlow>(
    runtime: &Runtime,
    input: F::Input,
) -> Execution {
    let execution = runtime
        .executions()
        .start::<F>(input, StartOptions::new())
        .await
        .unwrap();
    execution.settled().await.unwrap()
}

/// A runtime with this store and the options of tests, which knows this flow.
pub(crate) fn runtime<F: flow_durable::DurableFlow>(store: impl Store, flow: F) -> Runtime {
    let runtime = Runtime::with_options(store, options());
    runtime.register(flow).unwrap();
    runtime
}

/// Lets time go by.
pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Minutes.
pub(crate) const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// What an execution shows from outside: how it stands, its journal, and what it asks.
pub(crate) async fn seen(runtime: &Runtime, id: ExecutionId) -> (Status, Vec<Record>, Vec<Token>) {
    let execution = runtime.executions().get(id).await.unwrap();
    let questions = execution.questions().await.unwrap();
    let tokens = questions.iter().map(|question| question.token()).collect();
    (
        execution.status(),
        execution.journal().await.unwrap(),
        tokens,
    )
}

/// Whoever is shown an error may not answer a question with what it says.
#[track_caller]
pub(crate) fn assert_no_token(error: &flow_durable::RuntimeError, token: Token) {
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(&token.to_string()), "{shown}");
}
