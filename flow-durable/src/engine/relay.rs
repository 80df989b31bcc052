//! Passes events on to observers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flow_runtime::engine::Path;
use flow_runtime::{Event, EventKind, Observer, RunId};

use crate::deltas::{Chunks, Delta, DeltaContent, Emitter};
use crate::journal::Journal;

/// An event that is passed on when the records before it are stored.
#[derive(Debug)]
struct Held {
    awaited: u64,
    run: RunId,
    path: String,
    kind: HeldKind,
}

#[derive(Debug)]
enum HeldKind {
    NodeStarted,
    NodeFinished { action: String },
    FlowEnded { end: String },
}

/// Passes on every event. The end of a node is passed on when it is stored.
pub(crate) struct Relay {
    journal: Arc<Journal>,
    /// The observers. Their panics are caught.
    observers: Vec<Arc<dyn Observer>>,
    /// Events after an outcome that is not stored yet, in order.
    held: Mutex<VecDeque<Held>>,
    deltas: Option<Emitter>,
    chunks: Chunks,
}

impl Observer for Relay {
    fn on_event(&self, event: &Event<'_>) {
        let index = self.chunks.count(event);
        if let (Some(index), Some(deltas)) = (index, &self.deltas)
            && deltas.is_heard()
            && let Some(content) = content(event.kind())
            && let Some(place) = event.path().place()
        {
            let delta = Delta {
                execution: self.journal.execution(),
                path: place.path,
                step: place.step,
                visit: place.visit,
                index,
                next_seq: self.journal.next_seq(),
                at_ms: self.journal.now_ms(),
                content,
            };
            deltas.send(&delta);
        }
        if !self.observers.is_empty() && !self.hold(event) {
            self.tell(event);
        }
    }
}

/// The content of a delta. `None` for an event of another kind.
fn content(kind: EventKind<'_>) -> Option<DeltaContent> {
    match kind {
        EventKind::Delta(text) => Some(DeltaContent::Text(text.to_owned())),
        EventKind::DeltaJson(json) => {
            let value = serde_json::from_str(json);
            // serde_json writes values that are too deep for it to read.
            Some(value.map_or_else(|_| DeltaContent::Text(json.to_owned()), DeltaContent::Value))
        }
        EventKind::Progress { done, of } => Some(DeltaContent::Progress { done, of }),
        _ => None,
    }
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay")
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

impl Relay {
    pub(crate) fn new(
        journal: Arc<Journal>,
        observers: Vec<Arc<dyn Observer>>,
        deltas: Option<Emitter>,
    ) -> Self {
        Relay {
            journal,
            observers,
            held: Mutex::default(),
            deltas,
            chunks: Chunks::default(),
        }
    }

    fn held(&self) -> MutexGuard<'_, VecDeque<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &Event<'_>) {
        for observer in &self.observers {
            observer.on_event(event);
        }
    }

    /// Holds back an event if it has to wait. Returns true if it does.
    fn hold(&self, event: &Event<'_>) -> bool {
        let Some(awaited) = self.journal.awaited() else {
            return false;
        };
        let kind = match event.kind() {
            EventKind::NodeStarted => HeldKind::NodeStarted,
            EventKind::NodeFinished { action } => HeldKind::NodeFinished {
                action: action.to_owned(),
            },
            EventKind::FlowEnded { end } => HeldKind::FlowEnded {
                end: end.to_owned(),
            },
            _ => return false,
        };
        self.held().push_back(Held {
            awaited,
            run: event.run(),
            path: event.path().to_string(),
            kind,
        });
        true
    }

    /// Passes on the held events that wait only for records before this number.
    pub(super) fn tell_before(&self, stored: u64) {
        loop {
            let next = self.held().pop_front_if(|held| held.awaited <= stored);
            let Some(held) = next else {
                return;
            };
            let kind = match &held.kind {
                HeldKind::NodeStarted => EventKind::NodeStarted,
                HeldKind::NodeFinished { action } => EventKind::NodeFinished { action },
                HeldKind::FlowEnded { end } => EventKind::FlowEnded { end },
            };
            self.tell(&Event::new(held.run, Path::of_text(&held.path), kind));
        }
    }
}
