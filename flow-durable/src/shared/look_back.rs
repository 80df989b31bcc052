//! Replays the journal of an execution without running a step, to see the state that it reaches and
//! whether a version of the flow can continue it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use flow_store::{Row, Status, Store as _};
use futures_util::FutureExt as _;
use tokio::sync::Notify;
use tokio::task::coop::unconstrained;

use super::{Loaded, Shared, loaded_visits};
use crate::driver::{Driver, Signals, Suspicion, Work};
use crate::engine::{Captured, Durable, Relay, Snapshots};
use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::lock::lock;
use crate::options::StoredOptions;
use crate::parts::loop_of_parts;
use crate::registered::Registered;
use crate::replay::Replay;

impl Shared {
    /// Decides whether an execution can continue with a version of its flow, before anything is
    /// written. Returns the changes since its own version. A part continues if the execution with
    /// the loop does.
    ///
    /// # Errors
    ///
    /// It cannot: [`RuntimeError::FlowChanged`] or [`RuntimeError::Unreadable`] with the reason.
    pub(crate) async fn judge(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
    ) -> Result<Vec<String>, RuntimeError> {
        if let Some(part) = StoredOptions::part_of(row) {
            let of = RuntimeError::of(part.of);
            let whole = self.store.without_result(part.of).await.map_err(of)?;
            // A part of an execution that is over ends by itself.
            if let Some(whole) = whole.filter(|whole| !whole.status.is_over()) {
                let version = self.registry.version(&whole).await?;
                self.changed(&whole, &version).await?;
            }
        }
        let changes = self.changed(row, flow).await?;
        match self.loop_of_part(row) {
            Some(each) if !flow.spread_loops().iter().any(|name| name == each) => {
                let changed = format!("`{each}` is no longer a loop `with spread`");
                Err(RuntimeError::FlowChanged {
                    execution: row.id,
                    flow: row.flow.clone(),
                    changes: changes.into_iter().chain([changed]).collect(),
                })
            }
            _ => Ok(changes),
        }
    }

    /// Judges like `judge`, before an answer is accepted. A paused execution is replayed even on
    /// its own version: a type may have changed while its name has not. The process of a running
    /// one has replayed it, and adds records meanwhile.
    pub(crate) async fn judge_to_answer(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
    ) -> Result<Vec<String>, RuntimeError> {
        let changes = self.judge(row, flow).await?;
        if row.status == Status::Paused && self.is_on(row, flow).await? {
            self.replays(row, flow).await?;
        }
        Ok(changes)
    }

    /// Returns true if an execution is of this version, under its own names or under former ones.
    async fn is_on(&self, row: &Row, flow: &Registered) -> Result<bool, RuntimeError> {
        let names = self.registry.names(row, flow).await?;
        let hash = names.as_ref().map_or(flow.hash(), |names| names.hash());
        Ok(row.structure == hash)
    }

    /// The changes in a version with which an execution can continue.
    async fn changed(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
    ) -> Result<Vec<String>, RuntimeError> {
        if self.is_on(row, flow).await? {
            return Ok(Vec::new());
        }
        self.replays(row, flow).await
    }

    /// The node of the loop whose items an execution runs, if it is a part or a copy of one.
    fn loop_of_part<'a>(&self, row: &'a Row) -> Option<&'a str> {
        let options = StoredOptions::parse(&row.options).ok()?;
        options.part.and(loop_of_parts(&row.flow))
    }

    /// Decides whether the journal of an execution can be replayed with a version of its flow.
    async fn replays(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
    ) -> Result<Vec<String>, RuntimeError> {
        let mut row = row.clone();
        loop {
            let loaded = self.load(&row, flow, None).await;
            let error = match loaded {
                Ok(loaded) => {
                    let changes = loaded.changes.clone().unwrap_or_default();
                    return match self.look(&row, flow, loaded).await {
                        // A run need not store its state.
                        Ok(_) | Err(RuntimeError::Unstorable { .. }) => Ok(changes),
                        Err(error) => Err(error),
                    };
                }
                Err(error) => error,
            };
            // The process that runs it may have pruned it while it was read.
            let now = self.store.without_result(row.id).await.ok().flatten();
            match now.filter(|now| now.snapshot_seq != row.snapshot_seq) {
                Some(now) => row = now,
                None => return Err(error),
            }
        }
    }

    /// Replays records, and captures the state that they lead to.
    pub(crate) async fn look(
        &self,
        row: &Row,
        flow: &Arc<Registered>,
        loaded: Loaded,
    ) -> Result<Captured, RuntimeError> {
        let namespace = flow.namespace();
        let Loaded {
            input,
            snapshot,
            snapshot_bytes,
            records,
            options,
            changes,
            names,
            ..
        } = loaded;
        let clock = self.options.clock.clone();
        let journal = Arc::new(Journal::new(row.id, clock, row.next_seq));
        let visits = loaded_visits(namespace, snapshot.as_ref());
        journal.load(records, snapshot_bytes, visits, Vec::new());
        let state = match &snapshot {
            Some(snapshot) => snapshot.state.clone(),
            None => input.0.clone(),
        };
        let captured = Arc::new(Mutex::new(Captured {
            flows: BTreeMap::from([(namespace.to_owned(), state)]),
            at: None,
        }));
        let snapshots = Snapshots {
            every: usize::MAX,
            prune: false,
        };
        let engine = Durable::new(
            journal.clone(),
            options.run_options(),
            Relay::new(journal.clone(), Vec::new(), None),
            &input,
            snapshots,
            snapshot,
        );
        let engine = engine.of_part(options.part).under(names);
        let engine = engine.capturing(captured.clone());
        let engine = Arc::new(engine);
        let driver = Driver {
            store: self.store.clone(),
            journal,
            engine: engine.clone(),
            row: row.clone(),
            signals: Signals::default(),
            committed: Arc::new(Notify::new()),
            path: namespace.to_owned(),
            changes: changes.map(|changes| (row.flow.clone(), changes)),
            is_routed: false,
            suspicion: Suspicion::default(),
        };
        driver.look_back(flow.run(row.id, engine, input)).await?;
        Ok(std::mem::take(&mut *lock(&captured)))
    }
}

/// Remembers whether a run was woken while it was polled during a look into the past. A fork may
/// leave branches that it has just woken for its next poll.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

impl Driver {
    /// Polls a run for as long as it has records to use. Does not write anything.
    async fn look_back(self, work: Work) -> Result<(), RuntimeError> {
        // The run starts no step, so it waits for nothing. With tokio's budget, a future that is
        // ready could report that it is pending.
        let mut work = unconstrained(work);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            woken.0.store(false, Ordering::Release);
            match catch_unwind(AssertUnwindSafe(|| work.poll_unpin(&mut cx))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(ended)) => {
                    if let Some(error) = self.journal.take_halt() {
                        return Err(error);
                    }
                    if ended.is_err() {
                        self.journal.run_failed();
                    }
                    return self.diverged().map_or(Ok(()), Err);
                }
                Err(_) => return self.diverged().map_or(Ok(()), Err),
            }
            if let Some(error) = self.journal.take_halt() {
                return Err(error);
            }
            let moves = woken.0.load(Ordering::Acquire) || self.journal.skip_starts();
            let is_over = || self.journal.replaying(Replay::is_over);
            if !moves && (is_over() || !self.journal.release_stuck()) {
                return self.diverged().map_or(Ok(()), Err);
            }
        }
    }
}
