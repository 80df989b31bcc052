//! The claims of this process to executions, and what it knows of those executions.

mod calls;
mod local;
mod marks;
mod renewal;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use flow_store::{Append, Claim, ExecutionId, Row, Status, Store, StoreError, to_ms};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::clock::{Clock, SetByStore, millis};
use crate::driver::Signals;
use crate::error::RuntimeError;
use crate::lease::{Lease, Term};
use crate::lock::lock;
use crate::options::RuntimeOptions;
use calls::Calls;
use local::{Halt, Locals, Run};

pub(crate) use calls::Call;
pub(crate) use local::{Look, WatchedClaim};
pub(crate) use marks::halted;

/// The fence of the claim with which an execution is created.
pub(crate) const FIRST_FENCE: u64 = 1;

/// The claims of this process, and what it knows of the executions.
pub(crate) struct Claims {
    store: Arc<dyn Store>,
    clock: Clock,
    /// The source of the clock.
    clock_source: Arc<SetByStore>,
    lease: Duration,
    /// The number of times that an execution may be taken over at one record.
    take_overs: u32,
    pub(crate) holder: Uuid,
    locals: Mutex<Locals>,
    calls: Calls,
    /// Notified when a claim has run out and a step is to begin.
    renewal_needed: Arc<Notify>,
    /// Permits one execution at a time to run that may kill the process.
    suspects: Arc<Semaphore>,
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
    /// True if the execution was cancelled before it was loaded, and is to be undone.
    pub(crate) was_cancelled: bool,
}

/// A claim to an execution that may have been stored. Dropping this gives the claim up, because
/// nothing runs the execution.
pub(crate) struct UnusedClaim<'a>(pub(crate) &'a Claims, pub(crate) ExecutionId);

impl UnusedClaim<'_> {
    pub(crate) fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnusedClaim<'_> {
    fn drop(&mut self) {
        self.0.to_release(self.1, FIRST_FENCE);
    }
}

impl Claims {
    pub(in crate::shared) fn new(
        store: Arc<dyn Store>,
        clock_source: Arc<SetByStore>,
        options: &RuntimeOptions,
    ) -> Self {
        Claims {
            store,
            clock: options.clock.clone(),
            clock_source,
            lease: options.lease,
            take_overs: options.take_overs,
            holder: Uuid::new_v4(),
            locals: Mutex::default(),
            calls: Calls::default(),
            renewal_needed: Arc::default(),
            suspects: Arc::new(Semaphore::new(1)),
        }
    }

    /// Begins a call that makes claims.
    pub(crate) fn begin(&self) -> Call<'_> {
        self.calls.begin()
    }

    /// Returns when no call that makes claims is under way.
    pub(crate) async fn all_done(&self) {
        self.calls.all_done().await;
    }

    pub(crate) async fn claim(
        &self,
        id: ExecutionId,
        term: Term,
    ) -> Result<Option<Row>, RuntimeError> {
        let Term {
            from_ms, until_ms, ..
        } = term;
        let claimed = self.store.claim(id, self.holder, from_ms, until_ms).await;
        claimed.map_err(RuntimeError::of(id))
    }

    pub(crate) fn new_claim(&self, term: Term) -> Claim {
        Claim {
            holder: self.holder,
            until_ms: term.until_ms,
            lease_ms: millis(self.lease),
        }
    }

    /// The term of claims that are made or renewed now.
    pub(crate) fn term(&self) -> Term {
        Term::begin(&self.clock, self.lease)
    }

    /// The lease of an execution that was claimed for this term.
    pub(crate) fn lease(&self, term: Term) -> Lease {
        Lease::new(self.clock.clone(), self.renewal_needed.clone(), term)
    }

    /// Notes that a claim is to be given up. A newer claim to the same execution stays noted.
    pub(crate) fn to_release(&self, id: ExecutionId, fence: u64) {
        lock(&self.locals).change(id, |local| {
            local.unreleased = local.unreleased.max(Some(fence));
        });
    }

    /// Gives up the executions that this process cannot continue, so that it or another process can
    /// retry at once.
    pub(crate) async fn release(&self) {
        let unreleased: Vec<_> = lock(&self.locals)
            .iter()
            .filter_map(|(id, local)| Some((id, local.unreleased?)))
            .collect();
        for (id, fence) in unreleased {
            self.release_one(id, fence).await;
        }
    }

    /// Gives up one execution. If the store fails, this is retried before claims are renewed.
    pub(crate) async fn release_one(&self, id: ExecutionId, fence: u64) {
        let Ok(row) = self.store.without_result(id).await else {
            return;
        };
        let paused = row.filter(|row| row.status == Status::Paused);
        let append = Append {
            release: true,
            // The timer stays: this write would remove it.
            timer_ms: paused.and_then(|row| row.wake_ms),
            now_ms: to_ms((self.clock)()),
            ..Append::default()
        };
        let released = self.store.append(id, fence, append).await;
        if let Ok(()) | Err(StoreError::LeaseLost(_) | StoreError::NotFound(_)) = released {
            lock(&self.locals).change(id, |local| {
                if local.unreleased == Some(fence) {
                    local.unreleased = None;
                }
            });
        }
    }

    /// The run of an execution in this process.
    pub(crate) fn running(&self, id: ExecutionId) -> Option<Arc<ActiveRun>> {
        lock(&self.locals).running(id).cloned()
    }

    pub(crate) fn is_running(&self, id: ExecutionId) -> bool {
        lock(&self.locals).running(id).is_some()
    }

    /// The runs of this process.
    pub(crate) fn all_running(&self) -> Vec<(ExecutionId, Arc<ActiveRun>)> {
        let locals = lock(&self.locals);
        let running = locals
            .iter()
            .filter_map(|(id, local)| Some((id, local.running()?.clone())));
        running.collect()
    }

    /// Registers the run of an execution. A process that was stopped while it made a claim may have
    /// made a newer one. The run with the newer claim counts, and the other one is notified that it
    /// has lost the execution. Returns false if that is this run.
    pub(crate) fn register(&self, id: ExecutionId, run: &Arc<ActiveRun>) -> bool {
        self.lose_older(id, run.fence);
        lock(&self.locals).change(id, |local| {
            if local.running().is_some_and(|other| other.fence > run.fence) {
                return false;
            }
            local.run = Run::Running(run.clone());
            true
        })
    }

    /// Notifies a run with an older claim of this process that it has lost the execution.
    pub(crate) fn lose_older(&self, id: ExecutionId, fence: u64) {
        if let Some(run) = self.running(id).filter(|run| run.fence < fence) {
            run.signals.lost.cancel();
        }
    }

    /// Notes that a run has stopped, and why it could not continue. Returns false if it was no
    /// longer the run of this process: then the execution is not affected.
    pub(crate) fn unregister(
        &self,
        id: ExecutionId,
        run: &Arc<ActiveRun>,
        error: Option<RuntimeError>,
    ) -> bool {
        lock(&self.locals).change(id, |local| {
            if !local.running().is_some_and(|one| Arc::ptr_eq(one, run)) {
                return false;
            }
            local.run = error.map_or(Run::None, |error| Run::Halted(Halt::new(error)));
            true
        })
    }

    /// Drops the process's own run of an execution.
    pub(crate) fn drop_run(&self, id: ExecutionId) {
        if let Some(run) = self.running(id) {
            run.cancellation.cancel();
            run.signals.lost.cancel();
        }
    }

    /// Notes why an execution cannot continue here, unless this process runs it anyway.
    pub(crate) fn cannot_continue(&self, id: ExecutionId, error: RuntimeError) {
        lock(&self.locals).change(id, |local| {
            if local.running().is_none() {
                local.run = Run::Halted(Halt::new(error));
            }
        });
    }

    /// The error that kept an execution from continuing here.
    pub(crate) fn halt_of(&self, id: ExecutionId) -> Option<RuntimeError> {
        let locals = lock(&self.locals);
        let halt = locals.get(id).and_then(|local| local.halt());
        halt.map(|halt| halt.error.clone())
    }

    /// Returns true if some execution could not continue here.
    pub(crate) fn any_halted(&self) -> bool {
        lock(&self.locals).any_halted()
    }

    /// Returns true if an execution could not continue here, and this look is not a reason to
    /// retry.
    pub(crate) fn keeps_out(&self, id: ExecutionId, look: Look, pause: Duration) -> bool {
        let locals = lock(&self.locals);
        let halt = locals.get(id).and_then(|local| local.halt());
        halt.is_some_and(|halt| halt.keeps_out(look, pause))
    }

    /// Forgets why an execution could not continue here.
    pub(crate) fn forget_halt(&self, id: ExecutionId) {
        lock(&self.locals).change(id, |local| {
            if local.halt().is_some() {
                local.run = Run::None;
            }
        });
    }

    /// Forgets the errors that no longer keep executions from continuing here.
    pub(crate) fn forget_halts(&self, is_past: impl Fn(&RuntimeError) -> bool) {
        lock(&self.locals).change_all(|_, local| {
            if local.halt().is_some_and(|halt| is_past(&halt.error)) {
                local.run = Run::None;
            }
        });
    }

    /// The executions that this process tried and failed to continue, with the errors.
    pub(crate) fn refused(&self) -> Vec<(ExecutionId, RuntimeError)> {
        let locals = lock(&self.locals);
        let halts = locals
            .iter()
            .filter_map(|(id, local)| Some((id, local.halt()?)));
        let refused = halts.filter(|(_, halt)| halt.is_refusal());
        refused.map(|(id, halt)| (id, halt.error.clone())).collect()
    }

    /// A claim as it was first seen. A changed claim is seen now.
    pub(crate) fn watch(&self, id: ExecutionId, claim: Claim) -> WatchedClaim {
        let locals = lock(&self.locals);
        let before = locals.get(id).and_then(|local| local.watched);
        let seen = before.filter(|before| before.claim == claim);
        seen.unwrap_or(WatchedClaim {
            claim,
            since: Instant::now(),
        })
    }

    /// Sets the claims that are watched from now on.
    pub(crate) fn set_watched(&self, mut watched: HashMap<ExecutionId, WatchedClaim>) {
        let mut locals = lock(&self.locals);
        locals.change_all(|id, local| local.watched = watched.remove(&id));
        for (id, new) in watched {
            locals.change(id, |local| local.watched = Some(new));
        }
    }
}
