//! Starts the runs of this process, and handles their ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};

use flow_runtime::RunOptions;
use flow_runtime::engine::Saved;
use flow_store::{Append, ExecutionId, PauseRow, PauseState, Row, Status, Store};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::as_part::as_part;
use super::load::{Loaded, loaded_visits};
use super::{ActiveRun, Shared, Slot};
use crate::driver::{Driven, Driver, Signals, Suspicion, Work};
use crate::engine::{Durable, Relay, Snapshots, Spreads};
use crate::entry::Snapshot;
use crate::error::RuntimeError;
use crate::journal::transaction::RunTransactions;
use crate::journal::{CANCEL, Journal};
use crate::lease::Term;
use crate::options::StoredOptions;
use crate::parts::loop_of_parts;
use crate::registered::Registered;

/// Marks a run of this process as stopped when it is dropped. The run's task also drops it if it
/// panics or its tokio runtime ends.
pub(crate) struct RunGuard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: ExecutionId,
    pub(crate) run: Option<Arc<ActiveRun>>,
    pub(crate) slot: Option<Slot>,
}

impl RunGuard {
    async fn ended(mut self, driven: Driven) {
        let Some(run) = &self.run else { return };
        self.shared.driven(self.id, run, driven).await;
        let over = run.over.get().cloned();
        // A drain waits until the execution that waits for this one is notified.
        let shared = self.shared.clone();
        let _call = over.as_ref().map(|_| shared.claims.begin());
        self.run = None;
        // The execution that waits for this one may need its slot.
        drop(self.slot.take());
        if let Some(row) = over {
            shared.over(&row).await;
        }
    }
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else {
            return;
        };
        let ended = RuntimeError::TaskEnded(self.id);
        if self.shared.claims.unregister(self.id, &run, Some(ended)) {
            self.shared.claims.to_release(self.id, run.fence);
        }
        drop(self.slot.take());
        run.done.send_replace(true);
    }
}

impl Shared {
    /// Notifies the process's own run of an execution of an answer, or resumes the execution. If it
    /// cannot continue here, [`Execution::settled`] says why, and another process may resume it.
    pub(crate) async fn wake(self: &Arc<Self>, id: ExecutionId) {
        if let Some(run) = self.claims.running(id) {
            run.signals.mail.notify_one();
        }
        // A run that has just paused no longer looks for mail; one that still runs has the claim.
        self.try_to_launch(id).await;
    }

    /// Resumes a stored execution. If it cannot continue here, [`Execution::settled`] says why.
    pub(crate) async fn try_to_launch(self: &Arc<Self>, id: ExecutionId) {
        if let Err(error) = self.launch(id).await {
            self.claims.cannot_continue(id, error);
        }
    }

    /// Claims an execution and resumes it. Returns false if it could not be claimed.
    pub(crate) fn launch(
        self: &Arc<Self>,
        id: ExecutionId,
    ) -> Pin<Box<dyn Future<Output = Result<bool, RuntimeError>> + Send>> {
        let shared = self.clone();
        Box::pin(async move {
            if shared.tasks.are_draining() {
                return Err(RuntimeError::ShutDown(id));
            }
            // Even if its claim has run out while this process was stopped: the claim is renewed or
            // lost soon.
            if shared.claims.is_running(id) {
                return Ok(false);
            }
            let row = shared
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
            let is_lost = shared.claims.is_lost(&row).await?;
            let suspicion = if is_lost {
                shared.claims.suspect(&row)
            } else {
                Some(Suspicion::default())
            };
            let Some(suspicion) = suspicion else {
                // It is due again at the next look.
                return Ok(false);
            };
            let flow = shared.registry.version(&row).await?;
            let has_key = row.concurrency.is_some();
            let Some(slot) = shared.queue.slots.take(&row.flow, has_key).await else {
                // It resumes when a slot becomes free, here or in another process.
                shared.keep_taking();
                return Ok(false);
            };
            if shared.tasks.are_draining() {
                // A drain may have seen that all slots are free.
                return Err(RuntimeError::ShutDown(id));
            }
            let (_call, term) = (shared.claims.begin(), shared.claims.term());
            let Some(row) = shared.claims.claim(id, term).await? else {
                return Ok(false);
            };
            let fence = row.fence;
            shared.claims.lose_older(id, fence);
            if row.halt().is_some() {
                // Another process has halted it at this moment.
                shared.claims.to_release(id, fence);
                shared.claims.release().await;
                return Ok(false);
            }
            let counted = if is_lost {
                shared.claims.count_take_over(&row).await
            } else {
                Ok(())
            };
            let prepared = match counted {
                Ok(()) => shared.prepare(row, term, flow, slot, suspicion).await,
                Err(error) => Err(error),
            };
            match prepared {
                Ok(()) => Ok(true),
                // The claim had run out already, because this process was slow or stopped.
                Err(RuntimeError::TakenOver(_)) => Ok(false),
                Err(error) => {
                    shared.claims.to_release(id, fence);
                    shared.claims.release().await;
                    Err(error)
                }
            }
        })
    }

    pub(crate) async fn prepare(
        self: &Arc<Self>,
        mut row: Row,
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
            self.registry.version(&row).await?
        };
        self.judge(&row, &flow).await?;
        if row.is_cancelling() && !flow.undoes() {
            return self.end_cancelled(&row).await;
        }
        let loaded = self.load(&row, &flow, None).await?;
        let (hash, structure) = loaded.structure(&flow);
        let new_structure = (row.structure != hash).then(|| hash.to_owned());
        if let Some(hash) = &new_structure {
            self.registry.store_structure(hash, structure).await?;
        }
        if row.status != Status::Running || new_structure.is_some() {
            // Before the first step: whoever cancels the execution then decides by its structure
            // whether a step that is under way has to be undone.
            let append = Append {
                status: Some(Status::Running),
                structure: new_structure.clone(),
                now_ms: self.now_ms(),
                ..Append::default()
            };
            self.store
                .append(id, row.fence, append)
                .await
                .map_err(RuntimeError::of(id))?;
        }
        if let Some(hash) = new_structure {
            row.structure = hash;
        }
        self.spawn(&row, term, flow, loaded, slot, suspicion);
        Ok(())
    }

    /// Ends an execution that was cancelled in a version with undo nodes, and would continue in one
    /// that has none. It has passed none of those nodes, since it could not continue otherwise.
    async fn end_cancelled(self: &Arc<Self>, row: &Row) -> Result<(), RuntimeError> {
        let signals = self.store.signals(row.id).await;
        let signals = signals.map_err(RuntimeError::of(row.id))?;
        let cancellation = signals.iter().find(|signal| signal.name == CANCEL);
        let reason = cancellation.and_then(|signal| serde_json::from_str(&signal.payload).ok());
        let reason: String = reason.unwrap_or_default();
        self.end_part(row.id, &reason).await?;
        let ended = self.store.execution(row.id).await;
        if let Some(row) = ended.map_err(RuntimeError::of(row.id))? {
            self.over(&row).await;
        }
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
            snapshot_bytes,
            records,
            pauses,
            cancellation,
            options,
            changes,
            names,
        } = loaded;
        let clock = self.options.clock.clone();
        let lease = Arc::new(self.claims.lease(term));
        let journal = Journal::new(id, clock, row.next_seq).with_lease(lease.clone());
        let visits = loaded_visits(flow.namespace(), snapshot.as_ref());
        journal.load(records, snapshot_bytes, visits, pauses);
        let was_cancelled = cancellation.is_some();
        journal.cancelled_by(cancellation);
        let journal = Arc::new(journal);
        let cancellation = CancellationToken::new();
        let counts_steps = options.has_budget();
        let run_options = options.run_options().cancellation(cancellation.clone());
        let signals = Signals {
            shut_down: self.tasks.shut_down.clone(),
            draining: self.tasks.draining.clone(),
            ..Signals::default()
        };
        let parts: Weak<Shared> = Arc::downgrade(self);
        let spreads = Spreads {
            parts,
            row: row.clone(),
            told: signals.parts.clone(),
        };
        let engine = self.engine(row, journal.clone(), run_options, &input, snapshot);
        let engine = engine.of_part(options.part).under(names.clone());
        let engine = engine.spreading(spreads);
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
            suspicion,
            is_routed: loop_of_parts(&row.flow).is_some_and(|each| {
                let each = names
                    .as_ref()
                    .map_or(each, |names| names.present_node(each));
                flow.routes_failure_of(each)
            }),
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
            was_cancelled,
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
        if !self.claims.register(id, &run) {
            return;
        }
        self.keep_renewing();
        let guard = RunGuard {
            shared: self.clone(),
            id,
            run: Some(run),
            slot: Some(slot),
        };
        tokio::spawn(async move {
            let driven = driver.drive(work).await;
            guard.ended(driven).await;
        });
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
            let error = self.claims.halt(run.fence, error.clone()).await;
            if !matches!(error, RuntimeError::TakenOver(_)) {
                self.claims.to_release(id, run.fence);
                self.claims.release_one(id, run.fence).await;
            }
            halted = Some(error);
        }
        let is_halted = halted.is_some();
        self.claims.unregister(id, run, halted);
        if is_halted && !run.was_cancelled {
            self.continue_if_cancelled(id).await;
        }
        if let Driven::Over(row) = driven {
            // Nobody else sets it.
            let _ = run.over.set(*row);
        } else if let Driven::Paused {
            asked,
            signals,
            parts,
            wake_ms,
        } = driven
        {
            // An answer or a signal that arrived while the run was pausing has woken nobody, nor
            // has a part that ended then. If the store cannot be read, assume that there is one.
            let is_asked = |pause: &PauseRow| asked.contains(&pause.token);
            if !asked.is_empty() && self.is_answered(id, is_asked).await.unwrap_or(true)
                || !signals.is_empty() && self.has_signal(id, &signals).await.unwrap_or(true)
                || self.parts_are_over(&parts).await.unwrap_or(true)
            {
                self.try_to_launch(id).await;
            }
            if let Some(wake_ms) = wake_ms.filter(|_| !self.claims.is_running(id)) {
                self.queue.paused.set(wake_ms, id);
                self.keep_waking();
            }
        }
        run.done.send_replace(true);
    }

    /// Continues an execution that was halted at the moment when it was cancelled, so that it is
    /// undone. If that fails, another call of `cancel` does it.
    async fn continue_if_cancelled(self: &Arc<Self>, id: ExecutionId) {
        let is_cancelled = self.has_signal(id, &[CANCEL.to_owned()]).await;
        if let (Ok(true), Ok(Some(row))) = (is_cancelled, self.store.execution(id).await)
            && row.halt().is_some()
            && self.continues(&row, None).await.is_ok()
        {
            self.try_to_launch(id).await;
        }
    }

    /// Returns true if one of these questions has an answer that the run has not seen, or has
    /// expired.
    async fn is_answered(
        &self,
        id: ExecutionId,
        asked: impl Fn(&PauseRow) -> bool,
    ) -> Result<bool, RuntimeError> {
        let questions = self.questions_of(id).await?;
        let settled = |pause: &PauseRow| pause.state != PauseState::Open && asked(pause);
        Ok(questions.iter().any(settled))
    }

    /// Returns true if a signal of one of these names was sent and not taken.
    async fn has_signal(&self, id: ExecutionId, names: &[String]) -> Result<bool, RuntimeError> {
        let signals = self.store.signals(id).await.map_err(RuntimeError::of(id))?;
        Ok(signals.iter().any(|signal| names.contains(&signal.name)))
    }

    /// The questions that an execution is not done with.
    pub(crate) async fn questions_of(
        &self,
        id: ExecutionId,
    ) -> Result<Vec<PauseRow>, RuntimeError> {
        self.store.pauses(id).await.map_err(RuntimeError::of(id))
    }
}
