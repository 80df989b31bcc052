//! Counts of the visits to nodes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use crate::frame::Frame;

/// Counts the visits to each node, for engines that name steps: the count is part of
/// [`Place::step`](super::Place::step). It starts again with each attempt at a flow.
#[derive(Debug, Default)]
pub struct Visits(Mutex<HashMap<String, HashMap<u16, u32>>>);

impl Visits {
    /// Creates an empty count.
    pub fn new() -> Self {
        Visits::default()
    }

    /// Moves a frame to a node and counts the visit. Called by
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

    /// Forgets the visits of an attempt at a flow that is over. Called by
    /// [`Hooks::flow_ended`](super::Hooks::flow_ended) and
    /// [`Hooks::flow_failed`](super::Hooks::flow_failed).
    pub fn end(&self, frame: &Frame<'_>) {
        let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flows.remove(&frame.flow_step());
    }

    /// The number of visits to each node of the frame's flow, by its name. An engine that resumes
    /// the flow elsewhere stores it.
    pub fn of_flow(&self, frame: &Frame<'_>) -> BTreeMap<String, u32> {
        let flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes = flows.get(&frame.flow_step()).into_iter().flatten();
        nodes
            .filter_map(|(node, count)| {
                let name = frame.flow().node(usize::from(*node))?;
                Some((name.to_owned(), *count))
            })
            .collect()
    }

    /// Continues the count for the nodes of the frame's flow from [these](Self::of_flow). Names
    /// that are not nodes of it are left out.
    pub fn go_on(&self, frame: &Frame<'_>, visits: &BTreeMap<String, u32>) {
        let nodes = visits.iter().filter_map(|(name, count)| {
            let node = frame.flow().node_named(name)?;
            Some((u16::try_from(node).ok()?, *count))
        });
        let nodes = nodes.collect();
        let mut flows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        flows.insert(frame.flow_step(), nodes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::FlowInfo;

    #[test]
    fn visits_go_on_where_they_were() {
        let nodes = ["a", "b", "c"].map(str::to_owned).to_vec();
        let flow = FlowInfo::new("flow".to_owned(), nodes);
        let frame = Frame::root(&flow);
        let visits = Visits::new();
        for node in [0, 1, 0] {
            visits.begin(&frame, node);
        }
        let stored = visits.of_flow(&frame);
        let elsewhere = Visits::new();
        elsewhere.go_on(&frame, &stored);
        for (node, visit) in [(0, 3), (1, 2), (2, 1)] {
            elsewhere.begin(&frame, node);
            assert_eq!(frame.visit(), visit);
        }
    }
}
