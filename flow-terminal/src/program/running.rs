//! The nodes that run at the moment.
//!
//! A node that is dropped, such as the nodes of the other branches when a race is over, has no event
//! of its own. It is over with the step that contains it, and its path does not name a fork or a
//! race.

use std::collections::{BTreeMap, HashMap};

use flow_runtime::engine::{Path, StepKey};
use flow_runtime::{Event, EventKind};

/// The nodes that run, each with a value.
pub(super) struct Running<T> {
    /// The nodes, by step.
    nodes: BTreeMap<String, Node<T>>,
    /// The steps of the nodes, by path.
    steps: HashMap<String, String>,
}

/// A node that runs.
pub(super) struct Node<T> {
    pub(super) path: String,
    pub(super) value: T,
}

impl<T> Default for Running<T> {
    fn default() -> Self {
        Running {
            nodes: BTreeMap::new(),
            steps: HashMap::new(),
        }
    }
}

impl<T> Running<T> {
    /// Adds a node that begins.
    pub(super) fn begin(&mut self, path: Path<'_>, value: T) {
        let step = path.place().map(|place| place.step);
        let path = path.to_string();
        let step = step.unwrap_or_else(|| path.clone());
        self.steps.insert(path.clone(), step.clone());
        self.nodes.insert(step, Node { path, value });
    }

    /// Removes the node, or the run's own flow, that has ended or failed with this event, and all
    /// nodes in it. Returns them.
    pub(super) fn end(&mut self, event: &Event<'_>) -> Vec<Node<T>> {
        // Another attempt at the flow may follow, and an end of the node does.
        let stays = matches!(
            event.kind(),
            EventKind::FlowFailed { .. } | EventKind::CompositeFailed { .. }
        );
        let path = event.path().to_string();
        let step = self.steps.get(&path).unwrap_or(&path);
        let within = StepKey::new(step).within(&self.nodes).map(|(it, _)| it);
        let over = within.filter(|within| !stays || within != step);
        let over: Vec<String> = over.map(str::to_owned).collect();
        let over = over.iter().filter_map(|step| self.nodes.remove(step));
        let over: Vec<Node<T>> = over.collect();
        for node in &over {
            self.steps.remove(&node.path);
        }
        over
    }

    /// The value of the node at a path.
    pub(super) fn get(&self, path: &str) -> Option<&T> {
        let node = self.nodes.get(self.steps.get(path)?)?;
        Some(&node.value)
    }

    /// The values of all nodes.
    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.nodes.values().map(|node| &node.value)
    }
}
