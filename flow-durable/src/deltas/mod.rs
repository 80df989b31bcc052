//! Deltas on their way from the runs of this process to the listeners.
//!
//! Each listener has its own queue, which contains only the deltas that it asked for and may see.
//! So a run that emits a lot does not displace the deltas of other runs, and the number of deltas
//! that a listener missed reveals nothing about runs that it may not see.

mod chunks;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use flow_store::ExecutionId;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::filter::EventFilter;
use crate::owners::Owners;

pub(crate) use chunks::Chunks;

/// A part of a result, which is not stored.
#[derive(Debug, Clone)]
pub(crate) struct Delta {
    pub(crate) execution: ExecutionId,
    pub(crate) path: String,
    pub(crate) step: String,
    pub(crate) visit: u32,
    /// Its number within the attempt, from 0.
    pub(crate) index: u64,
    /// The number of the record that comes after it.
    pub(crate) next_seq: u64,
    pub(crate) at_ms: u64,
    pub(crate) content: DeltaContent,
}

/// The content that a node emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeltaContent {
    /// A part of its result, as text: [`Context::emit`](flow_runtime::Context::emit).
    Text(String),
    /// A part of its result, as JSON: [`Context::emit_json`](flow_runtime::Context::emit_json).
    Value(Value),
    /// The progress of the node: [`Context::progress`](flow_runtime::Context::progress).
    Progress {
        /// The amount that is done.
        done: u64,
        /// The total amount. `None` if it is not known.
        of: Option<u64>,
    },
}

impl DeltaContent {
    /// The content as JSON: a text, any JSON, or an object with `done` and `of`.
    pub fn to_json(&self) -> Value {
        match self {
            DeltaContent::Text(text) => text.as_str().into(),
            DeltaContent::Value(value) => value.clone(),
            DeltaContent::Progress { done, of } => json!({ "done": done, "of": of }),
        }
    }
}

/// The number of deltas that a slow listener may lag behind. Its filter limits their bytes.
const QUEUE: usize = 1024;

/// The size of a delta without its texts, in bytes.
const OTHERWISE: usize = 128;

/// The listeners to the deltas of a process.
#[derive(Debug, Default)]
pub(crate) struct Deltas(Mutex<Vec<Weak<Listener>>>);

/// One listener.
#[derive(Debug)]
pub(crate) struct Listener {
    owners: Owners,
    filter: EventFilter,
    queue: Mutex<Queue>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    deltas: VecDeque<Waiting>,
    bytes: usize,
    /// The number of deltas dropped since the last call of `take`.
    lost: u64,
}

/// A delta and its approximate size in bytes.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) delta: Delta,
    pub(crate) bytes: usize,
}

/// The sender of the deltas of one execution.
#[derive(Debug, Clone)]
pub(crate) struct Emitter {
    deltas: Arc<Deltas>,
    owner: Option<String>,
}

impl Deltas {
    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Listener>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener, which listens until it is dropped.
    pub(crate) fn listen(&self, owners: Owners, filter: EventFilter) -> Arc<Listener> {
        let listener = Arc::new(Listener {
            owners,
            filter,
            queue: Mutex::default(),
            came: Notify::new(),
        });
        let mut listeners = self.listeners();
        listeners.retain(|listener| listener.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        listener
    }

    /// An emitter for an execution of this owner.
    pub(crate) fn emitter(self: &Arc<Self>, owner: Option<String>) -> Emitter {
        Emitter {
            deltas: self.clone(),
            owner,
        }
    }
}

impl Emitter {
    /// Returns true if there is a listener that may see the deltas.
    pub(crate) fn is_heard(&self) -> bool {
        let listeners = self.deltas.listeners();
        listeners
            .iter()
            .any(|listener| self.reaches(listener).is_some())
    }

    /// Passes a delta to the listeners that asked for it and may see it.
    pub(crate) fn send(&self, delta: &Delta) {
        let listeners = self.deltas.listeners();
        let mut bytes = None;
        for listener in listeners.iter().filter_map(|it| self.reaches(it)) {
            listener.add(delta, *bytes.get_or_insert_with(|| delta.bytes()));
        }
    }

    fn reaches(&self, listener: &Weak<Listener>) -> Option<Arc<Listener>> {
        let listener = listener.upgrade()?;
        let is_seen = listener.owners.include(self.owner.as_deref());
        is_seen.then_some(listener)
    }
}

impl Delta {
    fn bytes(&self) -> usize {
        let content = match &self.content {
            DeltaContent::Text(text) => text.len(),
            DeltaContent::Value(value) => value.to_string().len(),
            DeltaContent::Progress { .. } => 0,
        };
        content + self.path.len() + self.step.len() + OTHERWISE
    }
}

impl Listener {
    fn add(&self, delta: &Delta, bytes: usize) {
        let filter = &self.filter;
        if !filter.is_of(delta.execution) || !filter.allows_path(&delta.path) {
            return;
        }
        let mut queue = self.queue();
        queue.bytes += bytes;
        let delta = delta.clone();
        queue.deltas.push_back(Waiting { delta, bytes });
        while queue.deltas.len() > 1
            && (queue.deltas.len() > QUEUE || queue.bytes > filter.read_ahead_bytes)
            && let Some(oldest) = queue.deltas.pop_front()
        {
            queue.bytes -= oldest.bytes;
            queue.lost += 1;
        }
        drop(queue);
        self.came.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the deltas that have arrived, and the number of those dropped before them.
    pub(crate) fn take(&self) -> (VecDeque<Waiting>, u64) {
        let Queue { deltas, lost, .. } = std::mem::take(&mut *self.queue());
        (deltas, lost)
    }

    /// Waits until deltas arrive. Returns at once if some arrived since the last call.
    pub(crate) async fn came(&self) {
        self.came.notified().await;
    }
}
