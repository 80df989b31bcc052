//! The state that the clones of a [`Runtime`](crate::Runtime) share. There is one for each runtime
//! of a process.
//!
//! Each type in it has one job and its own locks: the [`Registry`] knows flows, the [`Claims`] know
//! the executions that run here or could not, the [`Queue`] knows what waits, and the [`Tasks`] are
//! the loops. No function calls one of them while it holds a mutex of another. The turn for slots
//! is not a mutex in this sense: it lasts until the store has answered.

mod as_part;
mod claims;
mod halted;
mod hints;
mod ids;
mod isolated;
mod launch;
mod load;
mod look_back;
mod loops;
mod parts;
mod queue;
mod recover;
mod registry;
mod retry;
mod stop;
mod stranded;
mod take;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use flow_store::{Store, StoreError, to_ms};
use tokio::sync::Notify;

use crate::clock::SetByStore;
use crate::deltas::Deltas;
use crate::error::RuntimeError;
use crate::options::RuntimeOptions;
use crate::parts::flow_with_loop;
use crate::registered::Registered;
use claims::{ActiveRun, Claims};
use hints::Hints;
use ids::Ids;
use isolated::Isolated;
use queue::Queue;
use registry::Registry;
use tasks::Tasks;

pub(crate) use claims::{FIRST_FENCE, Look, UnusedClaim, halted};
pub(crate) use load::{
    Loaded, check_format, kept_elsewhere, loaded_visits, options_of, records_since_snapshot,
};
pub(crate) use queue::Slot;
pub use recover::Recovered;

/// The number of records that are read at once.
pub(crate) const PAGE: usize = 1000;

/// The state that the clones of a runtime share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) options: RuntimeOptions,
    /// The source of the clock in the options.
    clock: Arc<SetByStore>,
    pub(crate) ids: Ids,
    pub(crate) registry: Registry,
    pub(crate) claims: Claims,
    pub(crate) queue: Queue,
    pub(crate) tasks: Tasks,
    /// Notified whenever something was written.
    pub(crate) committed: Arc<Notify>,
    pub(crate) hints: Hints,
    pub(crate) deltas: Arc<Deltas>,
    /// The number of panics of observers.
    pub(crate) observer_failures: Arc<AtomicU64>,
}

impl Shared {
    pub(crate) fn new(store: Arc<dyn Store>, mut options: RuntimeOptions) -> Self {
        let observer_failures = Arc::new(AtomicU64::new(0));
        for observer in &mut options.observers {
            *observer = Arc::new(Isolated::new(observer.clone(), observer_failures.clone()));
        }
        let clock = SetByStore::new(options.clock);
        options.clock = clock.shown();
        Shared {
            ids: Ids::default(),
            registry: Registry::new(store.clone(), options.load_version.clone()),
            claims: Claims::new(store.clone(), clock.clone(), &options),
            queue: Queue::new(&options),
            tasks: Tasks::new(),
            store,
            options,
            clock,
            committed: Arc::default(),
            hints: Hints::default(),
            deltas: Arc::default(),
            observer_failures,
        }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        to_ms((self.options.clock)())
    }

    /// Sets the clock by that of the store, before times are written.
    pub(crate) async fn set_clock(&self) -> Result<(), StoreError> {
        self.clock.set_by(&*self.store).await
    }

    /// Sets the version on which executions start, if the current one is still this one. Returns
    /// true if it is.
    pub(crate) fn put_version(
        &self,
        name: &str,
        current: Option<&Arc<Registered>>,
        new: Registered,
    ) -> bool {
        if !self.registry.put(name, current, new) {
            return false;
        }
        // Executions that could not continue without this version are retried.
        self.claims.forget_halts(|error| match error {
            RuntimeError::NotRegistered { flow } | RuntimeError::FlowChanged { flow, .. } => {
                flow == name || flow_with_loop(flow) == Some(name)
            }
            _ => false,
        });
        true
    }
}
