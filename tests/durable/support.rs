//! What the tests of durable runs have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_runtime::durable::{
    Execution, MemoryStore, Record, RecordKind, Runtime, RuntimeOptions, StartOptions,
};

/// A store that survives its runtimes.
pub(crate) type Shared = Arc<MemoryStore>;

/// An empty store.
pub(crate) fn store() -> Shared {
    Arc::new(MemoryStore::new())
}

/// A clock that goes with tokio's, so that it stands still with it.
pub(crate) fn clock() -> impl Fn() -> SystemTime + Send + Sync + 'static {
    let began = tokio::time::Instant::now();
    move || UNIX_EPOCH + Duration::from_secs(1_800_000_000) + began.elapsed()
}

/// Options with that clock.
pub(crate) fn options() -> RuntimeOptions {
    RuntimeOptions::new().clock(clock())
}

/// The kinds and paths of a journal, a line each.
pub(crate) fn lines(journal: &[Record]) -> String {
    let line = |record: &Record| {
        let visit = if record.visit > 1 { format!("#{}", record.visit) } else { String::new() };
        format!("{} {}{visit} {}\n", record.kind, record.path, record.payload)
    };
    journal.iter().map(line).collect()
}

/// How often a step's outcome is recorded, by path and visit.
pub(crate) fn outcomes(journal: &[Record]) -> BTreeMap<(String, u32), usize> {
    let mut counts = BTreeMap::new();
    for record in journal.iter().filter(|record| record.kind == RecordKind::Outcome) {
        *counts.entry((record.path.clone(), record.visit)).or_default() += 1;
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
pub(crate) async fn settled<F: flow_runtime::durable::DurableFlow>(runtime: &Runtime, input: F::Input) -> Execution {
    let execution = runtime.start::<F>(input, StartOptions::new()).await.unwrap();
    execution.settled().await.unwrap()
}
