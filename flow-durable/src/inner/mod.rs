//! The state that the clones of a [`Runtime`](crate::Runtime) share. There is one for each runtime
//! of a process.

mod as_part;
mod claims;
mod halts;
mod launch;
mod listen;
mod load;
mod look;
mod marks;
mod parts;
mod queue;
mod recover;
mod slots;
mod stranded;
mod tasks;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use flow_spec::FlowDocument;
use flow_store::{ExecutionId, Row, Store, StoreError, to_ms};
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use uuid::{ContextV7, Uuid};

use crate::clock::SetByStore;
use crate::deltas::Deltas;
use crate::driver::Signals;
use crate::error::RuntimeError;
use crate::lease::Lease;
use crate::options::RuntimeOptions;
use crate::parts::flow_with_loop;
use crate::registered::Registered;
use crate::versions::Versions;
use claims::{Claiming, Unknown, Watched};
use halts::Halts;

pub(crate) use claims::{FIRST_FENCE, UnusedClaim};
pub(crate) use halts::Look;
pub(crate) use listen::Hints;
pub(crate) use load::{
    Loaded, check_format, kept_elsewhere, loaded_visits, options_of, records_since_snapshot,
};
pub(crate) use marks::{halted, one_suspect};
pub use recover::Recovered;
pub(crate) use slots::{Slot, Slots};
pub(crate) use tasks::{Alarm, Gone, Once};

/// The number of records that are read at once.
pub(crate) const PAGE: usize = 1000;

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) options: RuntimeOptions,
    /// The source of the clock in the options.
    pub(crate) clock: Arc<SetByStore>,
    pub(crate) holder: Uuid,
    /// Counts the ids of the same millisecond, so that executions are listed as they were started.
    pub(crate) ids: Mutex<ContextV7>,
    pub(crate) flows: Mutex<HashMap<String, Versions>>,
    /// The hashes of the structures that are stored.
    pub(crate) structures: Mutex<HashSet<String>>,
    pub(crate) active: Mutex<HashMap<ExecutionId, Arc<ActiveRun>>>,
    /// The errors that kept executions from continuing here.
    pub(crate) halted: Mutex<Halts>,
    /// Permits one execution at a time to run that may kill the process.
    pub(crate) suspects: Arc<Semaphore>,
    /// The claims that are ahead of this clock.
    pub(crate) watched: Mutex<HashMap<ExecutionId, Watched>>,
    /// The executions that this process has claimed but does not continue, with the fence of the
    /// claim.
    pub(crate) unreleased: Mutex<HashMap<ExecutionId, u64>>,
    pub(crate) claiming: Claiming,
    /// The executions to which this process had a claim at the last renewal without running them.
    pub(crate) unknown: Mutex<HashMap<ExecutionId, Unknown>>,
    /// The times at which executions that this process has paused continue by themselves.
    pub(crate) alarm: Arc<Alarm>,
    pub(crate) waking: Once,
    pub(crate) slots: Arc<Slots>,
    /// The times at which executions that were queued here may begin.
    pub(crate) queued: Arc<Alarm>,
    pub(crate) taking: Once,
    pub(crate) renewing: Once,
    /// Notified when a claim has run out and a step is to begin.
    pub(crate) renew: Arc<Notify>,
    pub(crate) recovering: Once,
    /// Cancelled when nothing may begin or continue here: before `shut_down`, or with it.
    pub(crate) draining: CancellationToken,
    pub(crate) shut_down: CancellationToken,
    /// Cancelled when the runtime is dropped or shut down.
    pub(crate) gone: Gone,
    pub(crate) committed: Arc<Notify>,
    pub(crate) hints: Hints,
    pub(crate) deltas: Arc<Deltas>,
    /// The number of panics of observers.
    pub(crate) observer_failures: Arc<AtomicU64>,
}

/// A run of this process.
pub(crate) struct ActiveRun {
    pub(crate) fence: u64,
    pub(crate) lease: Arc<Lease>,
    pub(crate) signals: Signals,
    pub(crate) cancellation: CancellationToken,
    /// Becomes true when the run is over, or waits for people.
    pub(crate) done: watch::Sender<bool>,
    /// The row of the execution, once it is over.
    pub(crate) over: OnceLock<Row>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The flow that an execution with this flow runs: for a part of a loop, the flow with the loop.
fn flow_of<'a>(flows: &HashMap<String, Versions>, name: &'a str) -> &'a str {
    match flow_with_loop(name) {
        Some(flow) if !flows.contains_key(name) => flow,
        _ => name,
    }
}

fn not_registered(flow: &str) -> RuntimeError {
    RuntimeError::NotRegistered {
        flow: flow.to_owned(),
    }
}

/// A version in the place of one that cannot be loaded.
fn stand_in(known: &Registered, reason: &str) -> Arc<Registered> {
    let reason = format!("the version on which it started cannot be loaded: {reason}");
    Arc::new(known.standing_in(reason))
}

impl Inner {
    pub(crate) fn now_ms(&self) -> u64 {
        to_ms((self.options.clock)())
    }

    /// Returns when the tasks that begin and resume executions have ended. The claims that they
    /// were making when the runtime began to drain are then in use, or given up.
    pub(crate) async fn begins_nothing(&self) {
        self.recovering.ended().await;
        self.taking.ended().await;
        self.waking.ended().await;
    }

    /// Returns when no claim is being made and nothing runs, including calls of the program. The
    /// tasks that begin executions must have ended before.
    pub(crate) async fn nothing_is_left(&self) {
        self.claiming.all_done().await;
        // A call that noticed the drain in time has a slot and no claim.
        self.slots.all_free().await;
        // An execution that ended then may have notified the one that waits for it.
        self.claiming.all_done().await;
    }

    /// Sets the clock by that of the store, before times are written.
    pub(crate) async fn set_clock(&self) -> Result<(), StoreError> {
        self.clock.set_by(&*self.store).await
    }

    /// A UUID of version 7 with this time. It is greater than all earlier ones, even if the clock
    /// was set back.
    pub(crate) fn new_id(&self, now_ms: u64) -> Uuid {
        let nanos = u32::try_from(now_ms % 1000).unwrap_or(0) * 1_000_000;
        Uuid::new_v7(uuid::Timestamp::from_unix(
            &*lock(&self.ids),
            now_ms / 1000,
            nanos,
        ))
    }

    /// The version on which executions of a flow start. `None` if it is retired or not registered.
    pub(crate) fn current(&self, name: &str) -> Option<Arc<Registered>> {
        let flows = lock(&self.flows);
        flows.get(name).and_then(Versions::current).cloned()
    }

    /// The version on which executions of a flow start.
    pub(crate) fn to_start(&self, name: &str) -> Result<Arc<Registered>, RuntimeError> {
        self.current(name).ok_or_else(|| not_registered(name))
    }

    /// The version on which an execution started, or else the newest known one. `None` if its flow
    /// is not registered.
    pub(crate) fn known_version(&self, row: &Row) -> Option<Arc<Registered>> {
        let flows = lock(&self.flows);
        let versions = flows.get(flow_of(&flows, &row.flow))?;
        Some(versions.closest(&row.structure).clone())
    }

    /// The version of a flow whose structure has this hash. `None` if it is not registered.
    pub(crate) fn version_with(&self, flow: &str, structure: &str) -> Option<Arc<Registered>> {
        let flows = lock(&self.flows);
        let version = flows.get(flow)?.closest(structure);
        (version.hash() == structure).then(|| version.clone())
    }

    /// The version with which an execution continues: the one on which it started, loaded from its
    /// stored structure if necessary and possible. Otherwise the newest one, if that
    /// [fits](Self::load).
    pub(crate) async fn version(&self, row: &Row) -> Result<Arc<Registered>, RuntimeError> {
        let known = self.known_version(row);
        let known = known.ok_or_else(|| not_registered(&row.flow))?;
        let Some(load) = &self.options.load_version else {
            return Ok(known);
        };
        if known.hash() == row.structure {
            return Ok(known);
        }
        let structure = self.store.structure(&row.structure).await;
        let Some(structure) = structure.map_err(RuntimeError::of(row.id))? else {
            return Ok(known);
        };
        let loaded = load(&structure).map(Registered::any);
        let version = match loaded {
            Ok(loaded) if loaded.name() == known.name() && loaded.hash() == row.structure => loaded,
            Ok(_) => return Ok(stand_in(&known, "what is loaded is another flow")),
            Err(reason) => return Ok(stand_in(&known, &reason)),
        };
        let version = Arc::new(version);
        if let Some(versions) = lock(&self.flows).get_mut(known.name()) {
            versions.add_earlier(version.clone());
        }
        Ok(version)
    }

    /// The version with which an execution continues. `None` if the flow is not registered.
    pub(crate) async fn version_if_known(
        &self,
        row: &Row,
    ) -> Result<Option<Arc<Registered>>, RuntimeError> {
        match self.known_version(row) {
            Some(_) => self.version(row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The first segments of all paths of an execution, from its flow or else the stored structure.
    /// If neither can be read, the flow's name.
    pub(crate) async fn namespace(&self, row: &Row) -> String {
        if let Some(version) = self.known_version(row) {
            return version.namespace().to_owned();
        }
        let structure = self.store.structure(&row.structure).await;
        let parsed = structure.ok().flatten();
        let parsed = parsed.and_then(|text| FlowDocument::parse_spec(&text).ok());
        parsed.map_or_else(|| row.flow.clone(), |flow| flow.namespace)
    }

    pub(crate) async fn store_structure(&self, flow: &Registered) -> Result<(), RuntimeError> {
        if lock(&self.structures).contains(flow.hash()) {
            return Ok(());
        }
        self.store
            .put_structure(flow.hash(), flow.structure())
            .await?;
        lock(&self.structures).insert(flow.hash().to_owned());
        Ok(())
    }
}
