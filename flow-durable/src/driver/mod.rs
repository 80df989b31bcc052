//! Drives one run: polls it, writes its records, passes it the answers that arrive, and ends or
//! pauses it.
//!
//! All of this is one task. The run waits for the store only where a step requires it; the records
//! made meanwhile are written together.

mod suspicion;
mod waiting;
mod writes;

use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake as _, Waker};
use std::time::Duration;

use flow_runtime::FlowError;
use flow_runtime::engine::{Hooks as _, Saved, panic_message};
use flow_store::{ExecutionId, RecordKind, Row, Status, Store, Token};
use tokio::sync::Notify;
use tokio::task::coop::has_budget_remaining;
use tokio_util::sync::CancellationToken;

use super::engine::Durable;
use super::error::RuntimeError;
use super::journal::Journal;
use super::payload::{self, PAYLOAD_DEPTH};
use super::replay::{Replay, Unused};
pub(crate) use suspicion::Suspicion;
use waiting::{LookState, Waiting, claim_is_lost, look};

/// The interval at which a busy run checks for answers and signals from other processes.
const LOOK_FOR_ANSWERS: Duration = Duration::from_millis(500);

/// The interval at which a run that waits for nothing else checks whether another process has
/// cancelled it.
const LOOK_FOR_CANCELLATION: Duration = Duration::from_secs(2);

/// The run itself. Its result contains the outputs as they are stored.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Saved, Ended>> + Send>>;

/// The reason a run ended without an output.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It failed.
    Failed(FlowError),
    /// Its input or its output does not fit.
    Refused(RuntimeError),
}

/// The state of a run when its driver is done with it.
#[derive(Debug)]
pub(crate) enum Driven {
    /// It is over, and this is its row in the store.
    Over(Box<Row>),
    /// It waits for answers to these questions, for signals, for parts of a loop, or for a time.
    /// `wake_ms` is when it continues by itself, in milliseconds since 1970 (UTC).
    Paused {
        asked: Vec<Token>,
        /// The names of the signals for which it waits.
        signals: Vec<String>,
        /// The parts of a loop for which it waits.
        parts: Vec<ExecutionId>,
        wake_ms: Option<u64>,
    },
    /// It cannot continue here. The store has it as of its last record, claimed by this process.
    Halted(RuntimeError),
}

/// Signals that tell a driver to stop, or that there is something new.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    /// An answer came.
    pub(crate) mail: Arc<Notify>,
    /// A part of a loop is over.
    pub(crate) parts: Arc<Notify>,
    /// Somebody else has taken over the run, or it was ended.
    pub(crate) lost: CancellationToken,
    /// The runtime shuts down.
    pub(crate) shut_down: CancellationToken,
    /// No further step may begin.
    pub(crate) draining: CancellationToken,
}

impl Signals {
    /// Returns when an answer comes.
    fn next_mail(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mail = self.mail.clone();
        Box::pin(async move { mail.notified().await })
    }
}

pub(crate) struct Driver {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) engine: Arc<Durable>,
    /// The execution as it was claimed, and later as it was last written.
    pub(crate) row: Row,
    pub(crate) signals: Signals,
    /// Notified whenever something was written.
    pub(crate) committed: Arc<Notify>,
    /// The path of the flow itself.
    pub(crate) path: String,
    /// The name of the flow and its changes, if it is not the version with which the execution
    /// was started.
    pub(crate) changes: Option<(String, Vec<String>)>,
    /// True if it is a part of a loop, and the execution with the loop routes its failure.
    pub(crate) is_routed: bool,
    /// Ended when there is a new record.
    pub(crate) suspicion: Suspicion,
}

/// The state of a run between two polls of its driver.
enum RunState {
    /// It is polled when it is woken.
    Running,
    /// It is over. What it has recorded may not be written yet.
    Over(Result<Saved, Ended>),
    /// It cannot continue. What it has recorded before may not be written yet.
    Halted(RuntimeError),
}

/// The reason a driver is done with a run.
enum Paused {
    /// The run is over.
    Done(Result<Saved, Ended>),
    /// It waits for people, for parts of a loop, or for a time.
    Waits,
    /// It cannot continue.
    Halted(RuntimeError),
}

impl Driver {
    /// Polls the run until it is over or only waits, and then writes its status.
    pub(crate) async fn drive(mut self, mut work: Work) -> Driven {
        let paused = self.run(&mut work).await;
        let driven = match paused {
            Paused::Halted(error) => {
                drop_quietly(work);
                return Driven::Halted(error);
            }
            Paused::Waits => self.end(Status::Paused, None).await,
            Paused::Done(Ok(output)) => {
                let output = serde_json::Value::Object(output.0).to_string();
                if let Err(reason) = payload::check(&output, PAYLOAD_DEPTH) {
                    return Driven::Halted(RuntimeError::Unstorable {
                        execution: Some(self.journal.execution()),
                        path: self.path.clone(),
                        reason: format!("the output: {reason}"),
                    });
                }
                self.end(Status::Completed, Some((RecordKind::RunCompleted, output)))
                    .await
            }
            Paused::Done(Err(Ended::Failed(FlowError::Cancelled { .. })))
                if let Some(reason) = self.journal.cancelled() =>
            {
                self.end(Status::Cancelled, Some((RecordKind::RunCancelled, reason)))
                    .await
            }
            Paused::Done(Err(Ended::Failed(error))) => {
                let error = match self.defect(error) {
                    Ok(error) => error,
                    // What led to a defect is not recorded, so that the execution can continue.
                    Err(defect) => {
                        return Driven::Halted(RuntimeError::Halted {
                            execution: self.journal.execution(),
                            reason: format!("{defect:#}"),
                            error: Some(Arc::new(defect)),
                        });
                    }
                };
                let text = format!("{error:#}");
                let driven = self
                    .end(Status::Failed, Some((RecordKind::RunFailed, text)))
                    .await;
                if let Driven::Over(_) = &driven {
                    self.engine.tell_failed(&self.path, &error);
                }
                driven
            }
            Paused::Done(Err(Ended::Refused(error))) => return Driven::Halted(error),
        };
        // Only now, because dropping a run closes its questions.
        drop_quietly(work);
        driven
    }

    /// Returns the failure of the run, as an error if it is a defect. A defect halts the execution,
    /// which continues with a program in which it is fixed. A panic in a part of a loop is a
    /// failure if the execution with the loop routes it.
    fn defect(&self, error: FlowError) -> Result<FlowError, FlowError> {
        match error {
            FlowError::Panicked { .. } | FlowError::StepLimit { .. } => Err(error),
            FlowError::Node(node) if !self.is_routed => match node.panicked() {
                Some(panicked) => Err(FlowError::Panicked {
                    path: node.path().to_owned(),
                    message: panicked.message.clone(),
                }),
                None => Ok(FlowError::Node(node)),
            },
            error => Ok(error),
        }
    }

    async fn run(&mut self, work: &mut Work) -> Paused {
        let mut waiting = Waiting::new(&self.signals);
        let mut state = RunState::Running;
        poll_fn(|cx| {
            waiting.run.driver.register(cx.waker());
            self.poll(work, &mut state, &mut waiting, cx)
        })
        .await
    }

    fn poll(
        &mut self,
        work: &mut Work,
        state: &mut RunState,
        waiting: &mut Waiting,
        cx: &mut Context<'_>,
    ) -> Poll<Paused> {
        loop {
            if let Some(error) = self.poll_signals(waiting, cx) {
                return Poll::Ready(Paused::Halted(error));
            }
            if let RunState::Running = state
                && waiting.run.woken.swap(false, Ordering::AcqRel)
            {
                *state = self.poll_run(work, &waiting.waker);
            }
            if self.poll_claim(waiting, cx).is_ready() {
                let taken_over = RuntimeError::TakenOver(self.journal.execution());
                return Poll::Ready(Paused::Halted(taken_over));
            }
            // The last outcomes are written together with the run's end, or before it stops without
            // one.
            let ends = matches!(state, RunState::Over(Ok(_) | Err(Ended::Failed(_))));
            if waiting.write.is_under_way() || !ends {
                match self.poll_append(waiting, cx) {
                    Poll::Ready(Ok(())) => continue,
                    Poll::Ready(Err(error)) => return Poll::Ready(Paused::Halted(error)),
                    Poll::Pending => {}
                }
            }
            if !waiting.write.is_under_way() {
                match mem::replace(state, RunState::Running) {
                    RunState::Running => {}
                    RunState::Over(ended) => return Poll::Ready(self.ended(ended)),
                    RunState::Halted(error) => return Poll::Ready(Paused::Halted(error)),
                }
            }
            match self.poll_answers(waiting, cx) {
                Poll::Ready(Ok(())) => continue,
                Poll::Ready(Err(error)) => return Poll::Ready(Paused::Halted(error)),
                Poll::Pending => {}
            }
            if let RunState::Running = state
                && waiting.run.woken.load(Ordering::Acquire)
            {
                continue;
            }
            if !has_budget_remaining() {
                // A future that is pending may only have yielded to other tasks. The state of the
                // run is not known until it is polled in another turn of this task.
                waiting.run.wake_by_ref();
                return Poll::Pending;
            }
            if waiting.is_idle() && self.journal.is_idle() {
                if self.journal.skip_starts() {
                    continue;
                }
                if !self.journal.replaying(Replay::is_over) && self.journal.release_stuck() {
                    continue;
                }
                if let Some(error) = self.diverged() {
                    return Poll::Ready(Paused::Halted(error));
                }
                if self.journal.only_waits() {
                    return Poll::Ready(Paused::Waits);
                }
            }
            if !waiting.write.is_under_way() && self.journal.is_drained() {
                let shut_down = RuntimeError::ShutDown(self.journal.execution());
                return Poll::Ready(Paused::Halted(shut_down));
            }
            return Poll::Pending;
        }
    }

    /// Returns an error if the run has to stop here: somebody else has taken it over, or the
    /// runtime shuts down. If the runtime only drains, stops starting new steps.
    fn poll_signals(&self, waiting: &mut Waiting, cx: &mut Context<'_>) -> Option<RuntimeError> {
        let execution = self.journal.execution();
        if waiting.lost.as_mut().poll(cx).is_ready() {
            return Some(RuntimeError::TakenOver(execution));
        }
        if waiting.draining.as_mut().poll(cx).is_ready() {
            self.journal.begin_no_more();
        }
        // The records being written may be in the store already.
        let shuts_down =
            !waiting.write.is_under_way() && waiting.shut_down.as_mut().poll(cx).is_ready();
        shuts_down.then_some(RuntimeError::ShutDown(execution))
    }

    /// Checks the store while a step waits for the lease to be renewed. Ready if somebody else has
    /// the execution: then nobody renews the lease, and nobody may notify this driver.
    fn poll_claim(&self, waiting: &mut Waiting, cx: &mut Context<'_>) -> Poll<()> {
        let Some(length) = self.journal.awaited_lease() else {
            waiting.claim = None;
            return Poll::Pending;
        };
        let claim = waiting.claim.get_or_insert_with(|| {
            let (id, fence) = (self.journal.execution(), self.row.fence);
            Box::pin(claim_is_lost(self.store.clone(), id, fence, length))
        });
        claim.as_mut().poll(cx)
    }

    /// Decides how a finished run ends. It does not need the rest of its records, unless they show
    /// that it took another path.
    fn ended(&self, ended: Result<Saved, Ended>) -> Paused {
        if let Err(Ended::Failed(_)) = &ended {
            self.journal.run_failed();
        }
        match (self.diverged(), ended) {
            (Some(error), Ok(_) | Err(Ended::Failed(_))) => Paused::Halted(error),
            (_, ended) => Paused::Done(ended),
        }
    }

    /// Returns the error of a replay in which nothing moves: the flow does not reach a record
    /// again. `None` if all records were used.
    pub(super) fn diverged(&self) -> Option<RuntimeError> {
        let execution = self.journal.execution();
        self.journal.replaying(|replay| {
            let Unused {
                seq, kind, step, ..
            } = replay.next()?.clone();
            let Some((flow, changes)) = &self.changes else {
                return Some(RuntimeError::ReplayDiverged {
                    execution,
                    seq,
                    kind,
                    step,
                });
            };
            let unused = replay.unused().map(|unused| match unused.kind {
                RecordKind::TimedOut | RecordKind::Waited => {
                    format!("the time that `{}` took has no use any more", unused.path)
                }
                _ => format!("what `{}` returned has no use any more", unused.path),
            });
            Some(RuntimeError::FlowChanged {
                execution,
                flow: flow.clone(),
                changes: changes.iter().cloned().chain(unused).collect(),
            })
        })
    }

    /// Looks for answers and signals when one is reported, when a wait for one ends, when a step
    /// wants it, and from time to time. Ready when it has looked.
    fn poll_answers(
        &mut self,
        waiting: &mut Waiting,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), RuntimeError>> {
        let outside = self.journal.awaited_outside();
        let now_ms = self.journal.now_ms();
        let expired = outside.next_expiry_ms.is_some_and(|at| at <= now_ms);
        let may_be_cancelled = !outside.is_awaited && self.journal.awaits_cancellation();
        if !waiting.look.is_under_way() && (outside.is_awaited || may_be_cancelled) {
            let soon = match outside.next_expiry_ms {
                Some(at) => Duration::from_millis(at.saturating_sub(now_ms)).min(LOOK_FOR_ANSWERS),
                None if may_be_cancelled => LOOK_FOR_CANCELLATION,
                None => LOOK_FOR_ANSWERS,
            };
            waiting.look.set_time(soon);
            let mailed = waiting.mail.as_mut().poll(cx).is_ready();
            if mailed {
                waiting.mail = self.signals.next_mail();
            }
            let is_due = mailed || expired || self.journal.wants_look();
            if is_due || waiting.look.poll_time(cx).is_ready() {
                self.journal.begin_look();
                let looking = look(self.store.clone(), self.journal.clone());
                waiting.look = LookState::Looking(Box::pin(looking));
            }
        }
        let LookState::Looking(looking) = &mut waiting.look else {
            return Poll::Pending;
        };
        looking.as_mut().poll(cx).map(|result| {
            waiting.look = LookState::Idle;
            self.journal.end_look();
            result.map_err(RuntimeError::of(self.journal.execution()))
        })
    }

    /// Polls the run. Returns its state then.
    fn poll_run(&self, work: &mut Work, waker: &Waker) -> RunState {
        let mut cx = Context::from_waker(waker);
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(&mut cx)));
        if let Some(error) = self.journal.take_halt() {
            return RunState::Halted(error);
        }
        match polled {
            Ok(Poll::Pending) => RunState::Running,
            Ok(Poll::Ready(ended)) => RunState::Over(ended),
            Err(payload) => {
                let place = self.engine.run().interrupted();
                let path = place.unwrap_or(&self.path).to_owned();
                let message = panic_message(&*payload);
                RunState::Over(Err(Ended::Failed(FlowError::Panicked { path, message })))
            }
        }
    }
}

/// Drops a run that is done. A panic in the `Drop` of a value does not change how the run ended.
fn drop_quietly(work: Work) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(work)));
}
