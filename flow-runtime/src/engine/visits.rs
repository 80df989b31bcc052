//! How often nodes are visited.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::frame::Frame;

/// Counts the visits to each node, for engines that name steps: the count is part of
/// [`Place::step`](super::Place::step). It starts again with each attempt at a flow.
#[derive(Debug, Default)]
pub struct Visits(Mutex<HashMap<String, HashMap<u16, u32>>>);

impl Visits {
    /// No visits yet.
    pub fn new() -> Self {
        Visits::default()
    }

    /// Moves a frame to a node and counts the visit: called by
    /// [`Hooks::node_started`](super::Hooks::node_started).
    pub fn begin(&self, frame: &Frame<'_>, node: u16) {
        frame.enter(node);
        // A branch visits its nodes once, within the visit to its fork.
        let visit = if frame.is_branch() {
            1
        } else {
            let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let nodes = flows.entry(frame.flow_step()).or_default();
            let count = nodes.entry(node).or_default();
            *count += 1;
            *count
        };
        frame.set_visit(visit);
    }

    /// Forgets the visits of an attempt at a flow that is over: called by
    /// [`Hooks::flow_ended`](super::Hooks::flow_ended) and
    /// [`Hooks::flow_failed`](super::Hooks::flow_failed).
    pub fn end(&self, frame: &Frame<'_>) {
        let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flows.remove(&frame.flow_step());
    }
}
