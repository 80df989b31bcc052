//! The values of a flow between two nodes: snapshots, and states captured to look into the past.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::PoisonError;

use flow_runtime::FlowError;
use flow_runtime::engine::{
    Failed, Frame, Hooks, Json, Saved, Scope, Spread, StateHooks, StoredState, Undoable, Unstorable,
};

use crate::engine::Durable;
use crate::engine::spread::Runs;
use crate::entry::Snapshot;
use crate::journal::name_of;
use crate::payload::{self, PAYLOAD_DEPTH};

/// The options for snapshots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snapshots {
    /// The number of records between two snapshots.
    pub(crate) every: usize,
    /// True if the records before a snapshot are removed.
    pub(crate) prune: bool,
}

/// The states captured to look into the past.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// The states of the running flows by path.
    pub(crate) flows: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
    /// The node at which the outermost flow is. `None` if it is at none.
    pub(crate) at: Option<AtNode>,
}

/// The node at which the outermost flow of an execution is.
#[derive(Debug)]
pub(crate) struct AtNode {
    /// The state before it.
    pub(crate) before: Snapshot,
    /// The step of the visit to it.
    pub(crate) step: String,
    /// True if the records contain a result of the visit. If the node finished, or failed and was
    /// routed, the replay reaches the next node.
    has_records: bool,
}

impl Durable {
    /// The state as JSON. Halts the run if it cannot be written as JSON.
    pub(super) fn saved(&self, frame: &Frame<'_>, state: &impl StoredState<Json>) -> Option<Saved> {
        let path = frame.flow_path().to_string();
        let unstorable = |Unstorable { key, reason }| {
            let error = self.unstorable(path, format!("`{key}`: {reason}"));
            self.journal.stop_with(error);
        };
        state.save().map_err(unstorable).ok()
    }

    /// Captures the state before a node, or at an end, if this engine looks into the past.
    pub(super) fn capture(
        &self,
        frame: &Frame<'_>,
        node: Option<u16>,
        state: &impl StoredState<Json>,
    ) {
        if let Some(captured) = &self.captured
            && let Some(saved) = self.saved(frame, state)
        {
            let mut captured = captured.lock().unwrap_or_else(PoisonError::into_inner);
            let is_before = captured.at.as_ref().is_none_or(|at| at.has_records);
            if frame.around_flow().is_none() && is_before {
                captured.at = node.map(|node| self.at_node(frame, node, saved.clone()));
            }
            captured
                .flows
                .insert(frame.flow_path().to_string(), saved.0);
        }
    }

    fn at_node(&self, frame: &Frame<'_>, node: u16, saved: Saved) -> AtNode {
        let before = self.before(frame, node, saved);
        self.journal.begins_again(frame, node);
        let place = frame.place();
        AtNode {
            before,
            has_records: self.journal.replaying(|replay| replay.has_come_of(&place)),
            step: place.step,
        }
    }

    /// The state from which a run can begin before a node.
    fn before(&self, frame: &Frame<'_>, node: u16, saved: Saved) -> Snapshot {
        let place = frame.flow_place();
        Snapshot {
            namespace: place.path,
            node: name_of(frame, node).to_owned(),
            state: saved.0,
            input: self.input.clone(),
            visits: self.journal.visits(&place.step),
            steps: self.run.steps_taken(),
            undoable: self.undoable_visits(),
        }
    }

    pub(super) fn snapshot(&self, frame: &Frame<'_>, node: u16, saved: Saved) {
        let place = frame.flow_place();
        let snapshot = self.before(frame, node, saved);
        let payload = serde_json::to_string(&snapshot)
            .map_err(|error| error.to_string())
            .and_then(|payload| payload::check(&payload, PAYLOAD_DEPTH).map(|()| payload));
        match payload {
            Ok(payload) => self
                .journal
                .add_snapshot(&place, payload, self.snapshots.prune),
            Err(reason) => self.journal.stop_with(self.unstorable(place.path, reason)),
        }
    }
}

/// The prefix of the error for a snapshot whose state does not fit the flow.
pub(crate) const UNFIT: &str = "the value of a snapshot does not fit its type: ";

impl<S: StoredState<Json>> StateHooks<S> for Durable {
    fn before_node(&self, scope: &Scope<'_>, node: u16, state: &S) -> Result<(), Failed> {
        let frame = scope.frame();
        let outermost = frame.around_flow().is_none();
        self.only_the_loop(frame)?;
        self.capture(frame, Some(node), state);
        if outermost
            && self.journal.snapshot_is_due(self.snapshots.every)
            // A run that began with it would not know that it is cancelled.
            && self.journal.cancelled().is_none()
            // Records of the visit, such as when a wait ends, would be before the snapshot.
            && !self.journal.begins_again(frame, node)
            && let Some(saved) = self.saved(frame, state)
        {
            self.snapshot(frame, node, saved);
        }
        self.node_started(scope, node)
    }

    fn spread<W>(
        &self,
        scope: &Scope<'_>,
        spread: Spread<'_>,
        state: &S,
        here: W,
    ) -> impl Future<Output = Result<S, Failed>> + Send
    where
        W: Future<Output = Result<S, Failed>> + Send,
    {
        let runs = self.runs(scope, &spread);
        let saved = match runs {
            Runs::InParts(_) => self.saved(scope.frame(), state),
            Runs::Here | Runs::AsPart => None,
        };
        async move {
            let place = || scope.frame().place();
            match runs {
                Runs::Here => here.await,
                Runs::AsPart => {
                    let ran = here.await.map(|results| results.save());
                    let ran = match ran {
                        Ok(Ok(results)) => Ok(results),
                        Ok(Err(Unstorable { key, reason })) => {
                            let reason = format!("`{key}`: {reason}");
                            return self.halt_unstorable(&place(), reason).await;
                        }
                        Err(failed) => Err(failed),
                    };
                    self.ran_as_part(ran).await
                }
                Runs::InParts(division) => {
                    let results = self.in_parts(scope, spread, division, saved).await;
                    let results = results
                        .inspect_err(|failed| Hooks::composite_failed(self, scope, failed))?;
                    let reason = match S::load(results) {
                        Ok(results) => return Ok(results),
                        Err(Unstorable { key, reason }) => {
                            format!("the results of its parts: `{key}`: {reason}")
                        }
                    };
                    self.journal
                        .halt(self.unreadable_at(&place(), reason))
                        .await
                }
            }
        }
    }

    fn undoable(&self, scope: &Scope<'_>, kept: S) {
        let frame = scope.frame();
        if let Some(values) = self.saved(frame, &kept) {
            self.add_undoable(frame.place(), values);
        }
    }

    async fn kept(&self, scope: &Scope<'_>, undoable: Undoable) -> Result<S, Failed> {
        let place = undoable.place().clone();
        let values = undoable.kept::<Saved>().unwrap_or_default();
        match S::load(values) {
            Ok(state) => Ok(state),
            Err(Unstorable { key, reason }) => {
                let reason = format!("what was kept for its undo node: `{key}`: {reason}");
                let _ = scope;
                self.journal.halt(self.unreadable_at(&place, reason)).await
            }
        }
    }

    fn at_end(&self, scope: &Scope<'_>, state: &S) {
        self.capture(scope.frame(), None, state);
    }

    fn resume_from(&self, scope: &Scope<'_>) -> Result<Option<(usize, S)>, Failed> {
        let frame = scope.frame();
        if frame.around_flow().is_some() {
            return Ok(None);
        }
        let restored = self
            .restored
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(Snapshot { node, state, .. }) = restored else {
            return Ok(None);
        };
        let place = frame.flow_place();
        let reason = match (frame.flow().node_named(&node), S::load(Saved(state))) {
            (Some(at), Ok(state)) => return Ok(Some((at, state))),
            (None, _) => format!("the flow has no node `{node}`, before which a snapshot was made"),
            (_, Err(unstorable)) => format!("{UNFIT}{unstorable}"),
        };
        self.journal.stop_with(self.unreadable_at(&place, reason));
        // The driver sees that the run was stopped, and not this error.
        Err(Box::new(FlowError::Cancelled { path: place.path }))
    }
}
