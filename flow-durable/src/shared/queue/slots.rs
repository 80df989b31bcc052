//! The slots of this process, which limit how many executions it runs at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{Notify, watch};

use crate::lock::lock;
use crate::options::RuntimeOptions;

/// The number of running executions, and its limits.
pub(crate) struct Slots {
    limit: Option<usize>,
    limits: HashMap<String, usize>,
    taken: Mutex<HashMap<String, usize>>,
    /// Held while a slot is assigned, so that nobody takes one that was promised.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// Notified when an execution has left a slot for which another one may wait.
    pub(crate) freed: Notify,
    /// The number of taken slots, even if there is no limit.
    all_taken: watch::Sender<usize>,
}

/// The slot of an execution that runs. It is free again when this is dropped.
pub(crate) struct Slot {
    slots: Arc<Slots>,
    flow: String,
    has_key: bool,
}

impl Slots {
    pub(crate) fn new(options: &RuntimeOptions) -> Slots {
        Slots {
            limit: options.at_once,
            limits: options.at_once_of.clone(),
            taken: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            freed: Notify::new(),
            all_taken: watch::Sender::new(0),
        }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.limit.is_some() || !self.limits.is_empty()
    }

    /// Returns true if no execution ever runs here.
    pub(crate) fn are_none(&self) -> bool {
        self.limit == Some(0)
    }

    /// The number of executions that can begin.
    pub(crate) fn free(&self) -> usize {
        let taken = || lock(&self.taken).values().sum();
        self.limit
            .map_or(usize::MAX, |limit| limit.saturating_sub(taken()))
    }

    /// The number of executions of a flow that can begin, if enough slots are free.
    pub(crate) fn free_of(&self, flow: &str) -> usize {
        let taken = || lock(&self.taken).get(flow).copied().unwrap_or(0);
        let limit = self.limits.get(flow);
        limit.map_or(usize::MAX, |limit| limit.saturating_sub(taken()))
    }

    /// Takes a slot for an execution of a flow, if one is free. `has_key` is true if executions
    /// with the same concurrency key may wait for the end of this one.
    pub(crate) async fn take(self: &Arc<Self>, flow: &str, has_key: bool) -> Option<Slot> {
        if !self.is_limited() {
            return Some(self.take_in_turn(flow, has_key));
        }
        let _turn = self.turn.lock().await;
        let is_free = self.free() > 0 && self.free_of(flow) > 0;
        is_free.then(|| self.take_in_turn(flow, has_key))
    }

    /// Takes a slot that is known to be free. The caller has the [`turn`](Slots::turn).
    pub(crate) fn take_in_turn(self: &Arc<Self>, flow: &str, has_key: bool) -> Slot {
        if self.is_limited() {
            *lock(&self.taken).entry(flow.to_owned()).or_default() += 1;
        }
        self.all_taken.send_modify(|taken| *taken += 1);
        Slot {
            slots: self.clone(),
            flow: flow.to_owned(),
            has_key,
        }
    }

    /// Returns when all slots are free.
    pub(crate) async fn all_free(&self) {
        let mut taken = self.all_taken.subscribe();
        // The sender lives in `self`.
        let _ = taken.wait_for(|taken| *taken == 0).await;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let is_limited = self.slots.is_limited();
        if is_limited && let Some(taken) = lock(&self.slots.taken).get_mut(&self.flow) {
            *taken -= 1;
        }
        self.slots.all_taken.send_modify(|taken| *taken -= 1);
        if is_limited || self.has_key {
            self.slots.freed.notify_one();
        }
    }
}
