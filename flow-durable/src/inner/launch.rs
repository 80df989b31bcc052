//! Starts the runs of this process, and handles their ends.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock, Weak};

use flow_runtime::RunOptions;
use flow_runtime::engine::Saved;
use flow_store::{Append, ExecutionId, PauseRow, PauseState, Row, Status, Store};
use futures_util::future::{Either, select};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::as_part::as_part;
use super::load::{Loaded, loaded_visits};
use super::{ActiveRun, Inner, Slot, lock};
use crate::driver::{Driven, Driver, Signals, Suspicion, Work};
use crate::engine::{Durable, Relay, Snapshots, Spreads};
use crate::entry::Snapshot;
use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::journal::transaction::RunTransactions;
use crate::lease::{Lease, Term};
use crate::options::StoredOptions;
use crate::parts::loop_of_parts;
use crate::registered::Registered;

/// Marks a run of this process as stopped when it is dropped. The run's task also drops it if it
/// panics or its tokio runtime ends.
pub(crate) struct RunGuard {
    pub(crate) inner: Arc<Inner>,
    pub(crate) id: ExecutionId,
    pub(crate) run: Option<Arc<ActiveRun>>,
    pub(crate) slot: Option<Slot>,
}

impl RunGuard {
    async fn ended(mut self, driven: Driven) {
        let Some(run) = &self.run else { return };
        self.inner.driven(self.id, run, driven).await;
        let over = run.over.get().cloned();
        // A drain waits until the execution that waits for this one is notified.
        let inner = self.inner.clone();
        let _call = over.as_ref().map(|_| inner.claiming.begin());
        self.run = None;
        // The execution that waits for this one may need its slot.
        drop(self.slot.take());
        if let Some(row) = over {
            inner.over(&row).await;
        }
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        let ended = RuntimeError::TaskEnded(self.id);
        if self.inner.unregister(self.id, &run, Some(ended)) {
            self.inner.to_release(self.id, run.fence);
        }
        drop(self.slot.take());
        run.done.send_replace(true);
    }
}

impl Inner {
    /// Notifies the process's own run of an execution of an answer, or resumes the execution. If it
    /// cannot continue here, [`Execution::settled`] says why, and another process may resume it.
    pub(crate) async fn wake(self: &Arc<Self>, id: ExecutionId) {
        let run = lock(&self.active).get(&id).cloned();
        if let Some(run) = run {
            run.signals.mail.notify_one();
        }
        // A run that has just paused no longer looks for mail; one that still runs has the claim.
        self.try_to_launch(id).await;
    }

    /// Resumes a stored execution. If it cannot continue here, [`Execution::settled`] says why.
    pub(crate) async fn try_to_launch(self: &Arc<Self>, id: ExecutionId) {
        if let Err(error) = self.launch(id).await {
            self.cannot_continue(id, error);
        }
    }

    /// Notes why an execution cannot continue here, unless this process runs it anyway.
    pub(crate) fn cannot_continue(&self, id: ExecutionId, error: RuntimeError) {
        let active = lock(&self.active);
        if !active.contains_key(&id) {
            lock(&self.halted).insert(id, error);
        }
    }

    /// Drops the process's own run of an execution.
    pub(crate) fn drop_run(&self, id: ExecutionId) {
        if let Some(run) = lock(&self.active).get(&id) {
            run.cancellation.cancel();
            run.signals.lost.cancel();
        }
    }

    /// Claims an execution and resumes it. Returns false if it could not be claimed.
    pub(crate) fn launch(
        self: &Arc<Self>,
        id: ExecutionId,
    ) -> Pin<Box<dyn Future<Output = Result<bool, RuntimeError>> + Send>> {
        let inner = self.clone();
        Box::pin(async move {
            if inner.draining.is_cancelled() {
                return Err(RuntimeError::ShutDown(id));
            }
            // Even if its claim has run out while this process was stopped: the claim is renewed or
            // lost soon.
            if lock(&inner.active).contains_key(&id) {
                return Ok(false);
            }
            let row = inner
                .store
                .execution(id)
                .await
                .map_err(RuntimeError::of(id))?;
            let row = row.ok_or(RuntimeError::NotFound(id))?;
            if row.status == Status::Queued {
                // Only the queue says whose turn it is.
                return Ok(false);
            }
            if row.halt().is_some() {
                // It continues only on request.
                return Ok(false);
            }
            let is_lost = inner.is_lost(&row).await?;
            let suspicion = if is_lost {
                inner.suspect(&row)
            } else {
                Some(Suspicion::default())
            };
            let Some(suspicion) = suspicion else {
                // It is due again at the next look.
                return Ok(false);
            };
            let flow = inner.version(&row).await?;
            let has_key = row.concurrency.is_some();
            let Some(slot) = inner.slots.take(&row.flow, has_key).await else {
                // It resumes when a slot becomes free, here or in another process.
                inner.keep_taking();
                return Ok(false);
            };
            if inner.draining.is_cancelled() {
                // A drain may have seen that all slots are free.
                return Err(RuntimeError::ShutDown(id));
            }
            let (_call, term) = (inner.claiming.begin(), inner.term());
            let Some(row) = inner.claim(id, term).await? else {
                return Ok(false);
            };
            let fence = row.fence;
            inner.lose_older(id, fence);
            if row.halt().is_some() {
                // Another process has halted it at this moment.
                inner.to_release(id, fence);
                inner.release().await;
                return Ok(false);
            }
            let counted = if is_lost {
                inner.count_take_over(&row).await
            } else {
                Ok(())
            };
            let prepared = match counted {
                Ok(()) => inner.prepare(row, term, flow, slot, suspicion).await,
                Err(error) => Err(error),
            };
            match prepared {
                Ok(()) => Ok(true),
                // The claim had run out already, because this process was slow or stopped.
                Err(RuntimeError::TakenOver(_)) => Ok(false),
                Err(error) => {
                    inner.to_release(id, fence);
                    inner.release().await;
                    Err(error)
                }
            }
        })
    }

    pub(crate) async fn prepare(
        self: &Arc<Self>,
        row: Row,
        term: Term,
        flow: Arc<Registered>,
        slot: Slot,
        suspicion: Suspicion,
    ) -> Result<(), RuntimeError> {
        let id = row.id;
        let flow = if row.structure == flow.hash() {
            flow
        } else {
            // Before it was claimed, another process may have moved it to another version.
            self.version(&row).await?
        };
        self.judge(&row, &flow).await?;
        let loaded = self.load(&row, &flow, None).await?;
        if row.structure != flow.hash() {
            self.store_structure(&flow).await?;
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
        self.spawn(&row, term, flow, loaded, slot, suspicion);
        Ok(())
    }

    /// Resumes a claimed execution, as a task of its own.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        row: &Row,
        term: Term,
        flow: Arc<Registered>,
        loaded: Loaded,
        slot: Slot,
        suspicion: Suspicion,
    ) {
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
        let visits = loaded_visits(flow.namespace(), snapshot.as_ref());
        journal.load(records, visits, pauses);
        let journal = Arc::new(journal);
        let cancellation = CancellationToken::new();
        let counts_steps = options.has_budget();
        let run_options = options.run_options().cancellation(cancellation.clone());
        let signals = Signals {
            shut_down: self.shut_down.clone(),
            draining: self.draining.clone(),
            ..Signals::default()
        };
        let parts: Weak<Inner> = Arc::downgrade(self);
        let spreads = Spreads {
            parts,
            row: Row {
                structure: flow.hash().to_owned(),
                ..row.clone()
            },
            told: signals.parts.clone(),
        };
        let engine = self.engine(row, journal.clone(), run_options, &input, snapshot);
        let engine = engine.of_part(options.part).spreading(spreads);
        let engine = Arc::new(engine);
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
            suspicion,
            is_routed: loop_of_parts(&row.flow).is_some_and(|each| flow.routes_failure_of(each)),
        };
        let mut work = flow.run(id, engine.clone(), input);
        if engine.part().is_some() {
            work = as_part(
                work,
                engine,
                StoredOptions::part_of(row),
                Arc::downgrade(self),
                counts_steps,
            );
        }
        let run = Arc::new(ActiveRun {
            fence: row.fence,
            lease,
            signals,
            cancellation,
            done: watch::Sender::new(false),
            over: OnceLock::new(),
        });
        self.run(run, driver, work, slot);
    }

    /// The engine of an execution.
    fn engine(
        &self,
        row: &Row,
        journal: Arc<Journal>,
        options: RunOptions,
        input: &Saved,
        snapshot: Option<Snapshot>,
    ) -> Durable {
        let snapshots = Snapshots {
            every: self.options.snapshot_every,
            prune: self.options.prune,
        };
        let deltas = Some(self.deltas.emitter(row.owner.clone()));
        let observers = self.options.observers.clone();
        let relay = Relay::new(journal.clone(), observers, deltas);
        let options = options.transactions(RunTransactions {
            store: self.store.clone(),
            journal: journal.clone(),
        });
        Durable::new(journal, options, relay, input, snapshots, snapshot)
    }

    /// Drives a run, as a task of its own.
    fn run(self: &Arc<Self>, run: Arc<ActiveRun>, driver: Driver, work: Work, slot: Slot) {
        let id = driver.row.id;
        if !self.register(id, &run) {
            return;
        }
        self.keep_renewing();
        let guard = RunGuard {
            inner: self.clone(),
            id,
            run: Some(run),
            slot: Some(slot),
        };
        tokio::spawn(async move {
            let driven = driver.drive(work).await;
            guard.ended(driven).await;
        });
    }

    /// Registers the run of an execution. A process that was stopped while it made a claim may have
    /// made a newer one. The run with the newer claim counts, and the other one is notified that it
    /// has lost the execution. Returns false if that is this run.
    fn register(&self, id: ExecutionId, run: &Arc<ActiveRun>) -> bool {
        self.lose_older(id, run.fence);
        let mut active = lock(&self.active);
        if active.get(&id).is_some_and(|other| other.fence > run.fence) {
            return false;
        }
        lock(&self.halted).remove(&id);
        active.insert(id, run.clone());
        true
    }

    /// Notifies a run with an older claim of this process that it has lost the execution.
    fn lose_older(&self, id: ExecutionId, fence: u64) {
        let run = lock(&self.active).get(&id).cloned();
        if let Some(run) = run.filter(|run| run.fence < fence) {
            run.signals.lost.cancel();
        }
    }

    /// Notes that a run has stopped, and why it could not continue. Returns false if it was no
    /// longer the run of this process: then the execution is not affected.
    fn unregister(
        &self,
        id: ExecutionId,
        run: &Arc<ActiveRun>,
        error: Option<RuntimeError>,
    ) -> bool {
        let mut active = lock(&self.active);
        if !active.get(&id).is_some_and(|one| Arc::ptr_eq(one, run)) {
            return false;
        }
        if let Some(error) = error {
            lock(&self.halted).insert(id, error);
        }
        active.remove(&id);
        true
    }

    /// Handles the end of a run of this process.
    pub(crate) async fn driven(
        self: &Arc<Self>,
        id: ExecutionId,
        run: &Arc<ActiveRun>,
        driven: Driven,
    ) {
        let mut halted = None;
        if let Driven::Halted(error) = &driven {
            let error = self.halt(run.fence, error.clone()).await;
            if !matches!(error, RuntimeError::TakenOver(_)) {
                self.to_release(id, run.fence);
                self.release_one(id, run.fence).await;
            }
            halted = Some(error);
        }
        self.unregister(id, run, halted);
        if let Driven::Over(row) = driven {
            // Nobody else sets it.
            let _ = run.over.set(*row);
        } else if let Driven::Paused {
            asked,
            parts,
            wake_ms,
        } = driven
        {
            // An answer that arrived while the run was pausing has woken nobody, nor has a part
            // that ended then. If the store cannot be read, assume that there is one.
            let is_asked = |pause: &PauseRow| asked.contains(&pause.token);
            if !asked.is_empty() && self.is_answered(id, is_asked).await.unwrap_or(true)
                || self.parts_are_over(&parts).await.unwrap_or(true)
            {
                self.try_to_launch(id).await;
            }
            if let Some(wake_ms) = wake_ms.filter(|_| !lock(&self.active).contains_key(&id)) {
                self.alarm.set(wake_ms, id);
                self.keep_waking();
            }
        }
        run.done.send_replace(true);
    }

    /// Returns true if one of these questions has an answer that the run has not seen, or has
    /// expired.
    pub(crate) async fn is_answered(
        &self,
        id: ExecutionId,
        asked: impl Fn(&PauseRow) -> bool,
    ) -> Result<bool, RuntimeError> {
        let pauses = self.store.pauses(id).await.map_err(RuntimeError::of(id))?;
        let settled = |pause: &PauseRow| pause.state != PauseState::Open && asked(pause);
        Ok(pauses.iter().any(settled))
    }

    /// Resumes executions that this process has paused when their time has come, unless somebody
    /// else has done so.
    pub(crate) fn keep_waking(self: &Arc<Self>) {
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
}
