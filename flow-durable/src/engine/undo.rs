//! Undoing in durable runs.
//!
//! What an undo node will read is recorded when the visit is done. So it is known after a crash, also
//! for the branches of a race that were lost, which a replay does not run again.

use std::future::pending;
use std::sync::Arc;

use flow_runtime::FlowError;
use flow_runtime::engine::{Failed, Frame, Place, Run, Saved, Scope};
use flow_store::RecordKind;

use crate::engine::Durable;
use crate::entry::{Received, UndoableVisit};
use crate::error::RuntimeError;
use crate::journal::{CANCEL, Found, NewRecord};
use crate::replay::{self, Outcome};

/// Adds the visits of a snapshot that can be undone.
pub(super) fn restore(run: &Run, visits: &[UndoableVisit]) {
    for visit in visits {
        let place = Place {
            path: visit.path.clone(),
            step: visit.step.clone(),
            visit: visit.visit,
            item: visit.item,
        };
        run.add_undoable_as(visit.number, place, Box::new(Saved(visit.values.clone())));
    }
}

/// Returns true if a flow that failed so is undone. One that halts the execution is not, because the
/// execution continues when the defect is mended.
pub(super) fn undoes(failed: &FlowError, is_handled: bool) -> bool {
    match failed {
        FlowError::Panicked { .. } | FlowError::StepLimit { .. } => false,
        FlowError::Node(node) => is_handled || node.panicked().is_none(),
        _ => true,
    }
}

impl Durable {
    /// Notes that a visit is done that can be undone, and records the values for its undo node.
    pub(super) fn add_undoable(&self, place: Place, values: Saved) {
        let (outcome, is_recorded) = self
            .journal
            .replaying(|replay| (replay.outcome(&place), replay.is_undoable(&place)));
        let number = outcome.unwrap_or_else(|| self.journal.next_seq());
        if !is_recorded {
            match serde_json::to_string(&values.0) {
                Ok(payload) => {
                    self.journal.add(NewRecord {
                        kind: RecordKind::Undoable,
                        place: &place,
                        attempt: 0,
                        payload,
                    });
                }
                Err(error) => {
                    let error = self.unstorable(place.path.clone(), error.to_string());
                    self.journal.stop_with(error);
                }
            }
        }
        self.run.add_undoable_as(number, place, Box::new(values));
    }

    /// Returns when a flow may forget what it has done. A replay can reach this step although the
    /// earlier run did not: it was finishing a step of a lost branch, and was cancelled meanwhile.
    pub(super) async fn may_commit(&self, place: &Place) {
        if !self.journal.replaying(|replay| replay.is_committed(place)) {
            self.journal.live().await;
        }
    }

    /// Records that a flow forgets what it has done, which a replay of a race could not know.
    pub(super) fn record_commit(&self, place: &Place) {
        if !self.journal.replaying(|replay| replay.is_committed(place)) {
            self.journal.add(NewRecord {
                kind: RecordKind::Committed,
                place,
                attempt: 0,
                payload: String::new(),
            });
        }
    }

    /// Lets a step rest that an earlier run has dropped without an outcome: it was between two
    /// attempts then, so it is not to be finished. The earlier run has recorded a failure around
    /// it, or the replay cannot continue before it is dropped.
    pub(super) async fn rest_if_dropped(&self, frame: &Frame<'_>, place: &Place) {
        if frame.is_undo() {
            // What it takes back may be inside what has failed.
            return;
        }
        let (has_outcome, is_over, is_dropped) = self.journal.replaying(|replay| {
            let is_dropped = replay.has_records() && replay.is_dropped(place);
            (
                replay.outcome(place).is_some(),
                replay.is_over(),
                is_dropped,
            )
        });
        if has_outcome {
            return;
        }
        if is_dropped {
            self.run.rest(frame);
            pending::<()>().await;
        }
        if !is_over && self.journal.live_or_stuck().await {
            self.run.rest(frame);
        }
    }

    /// Adds what was done in the lost branches of a race, if this run did not run them.
    pub(super) fn keep_lost(&self, scope: &Scope<'_>) {
        for lost in self.journal.take_lost(&scope.frame().place()) {
            let replay::Undoable {
                place,
                number,
                values,
                ..
            } = lost;
            match serde_json::from_str(&values) {
                Ok(values) => self
                    .run
                    .add_undoable_as(number, place, Box::new(Saved(values))),
                Err(error) => {
                    let error = self.unreadable_at(&place, error.to_string());
                    self.journal.stop_with(error);
                }
            }
        }
    }

    /// The visits that can be undone, for a snapshot.
    pub(super) fn undoable_visits(&self) -> Vec<UndoableVisit> {
        self.forget_those_of_the_original();
        let mut visits = Vec::new();
        self.run.undoables(|undoable| {
            if let Some(Saved(values)) = undoable.kept_ref() {
                let place = undoable.place();
                visits.push(UndoableVisit {
                    number: undoable.number(),
                    path: place.path.clone(),
                    step: place.step.clone(),
                    visit: place.visit,
                    item: place.item,
                    values: values.clone(),
                });
            }
        });
        visits
    }

    /// Forgets what the original of a copy has done: that is for the original to undo.
    pub(super) fn forget_those_of_the_original(&self) {
        let copied = self
            .journal
            .replaying(|replay| replay.copied().filter(|_| replay.is_own()));
        if let Some(copied) = copied {
            self.run.forget_undoables_before(copied);
        }
    }

    /// Returns false if the visit with this number is that of the original of a copy, which has not
    /// recorded that it is undone. It is forgotten then.
    pub(super) async fn is_own(&self, number: u64, undo: &Place) -> bool {
        let is_copied = self.journal.replaying(|replay| {
            let is_copied = replay.copied().is_some_and(|copied| number < copied);
            is_copied && replay.outcome(undo).is_none()
        });
        if is_copied {
            // Not until the replay is over: what the copy has done behind this undo is recorded.
            self.journal.own().await;
            self.forget_those_of_the_original();
        }
        !is_copied
    }

    /// Halts the execution because an undo node has failed. It is tried again when the execution
    /// continues.
    pub(super) async fn halt_not_undone(&self, failed: Failed) -> Failed {
        let error = RuntimeError::Halted {
            execution: self.journal.execution(),
            reason: format!("{failed:#}"),
            error: Some(Arc::new(*failed)),
        };
        self.journal.halt(error).await
    }

    /// Returns when the execution is cancelled, and records that.
    pub(super) async fn until_cancelled(&self, scope: &Scope<'_>) -> Failed {
        let place = cancellation(scope);
        let recorded = self.journal.replaying(|replay| replay.outcome(&place));
        let reason = if recorded.is_some()
            && let Some(Outcome::Signal(recorded)) = self.journal.recorded(&place).await
        {
            let received = self.payload(&place, &recorded).received();
            self.or_halt(received).await.body
        } else {
            self.journal.live().await;
            if self.captured.is_some() || self.of_part.is_some() {
                return pending().await;
            }
            let receiving = self.journal.receiving(CANCEL, None);
            let Found::Signal(row) = receiving.found().await else {
                return pending().await;
            };
            let received = Received {
                body: Some(serde_json::from_str(&row.payload).unwrap_or_default()),
                number: Some(row.number),
                timed_out: false,
            };
            let payload = match serde_json::to_string(&received) {
                Ok(payload) => payload,
                Err(error) => return self.halt_unstorable(&place, error.to_string()).await,
            };
            receiving.record(NewRecord {
                kind: RecordKind::Received,
                place: &place,
                attempt: 0,
                payload,
            });
            received.body
        };
        let reason = reason.and_then(|reason| reason.as_str().map(str::to_owned));
        self.journal.cancel(reason.unwrap_or_default());
        let path = scope.frame().path().to_string();
        Box::new(FlowError::Cancelled { path })
    }
}

/// The place of the record that says that an execution is cancelled.
fn cancellation(scope: &Scope<'_>) -> Place {
    let mut place = scope.frame().flow_place();
    place.step.push_str(CANCEL);
    place
}
