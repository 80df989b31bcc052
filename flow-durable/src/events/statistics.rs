//! Counts of events.

use std::collections::{BTreeMap, BTreeSet};

use flow_runtime::engine::NodePath;
use flow_store::ExecutionId;
use serde::Serialize;

use super::event::ExecutionEvent;

/// Counts of events, which are [added](EventStatistics::add) one by one. Their size grows with the
/// nodes and the executions, not with the events and items.
///
/// # Examples
///
/// ```
/// use flow_durable::{EventFilter, EventStatistics, MemoryStore, Runtime, StartOptions};
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn double(number: u32) -> u32 {
///     number * 2
/// }
///
/// flow! {
///     Doubled(numbers: Vec<u32>) -> (doubles: Vec<u32>) {
///         node doubles: for number in numbers { double };
///         start >> doubles >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = Runtime::new(MemoryStore::new());
/// runtime.register(Doubled::new())?;
/// let input = DoubledInput { numbers: vec![1, 2, 3] };
/// let execution = runtime.executions().start::<Doubled>(input, StartOptions::new()).await?;
///
/// let mut statistics = EventStatistics::new();
/// let mut events = execution.events(EventFilter::new()).await?;
/// while let Some(event) = events.next().await.transpose()? {
///     statistics.add(&event);
/// }
/// assert_eq!(statistics.by_type()["exec_complete"], 3);
/// assert_eq!(statistics.nodes().collect::<Vec<_>>(), ["doubled.doubles"]);
/// assert_eq!(statistics.executions(), 1);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventStatistics {
    total: u64,
    by_type: BTreeMap<&'static str, u64>,
    nodes: BTreeSet<String>,
    executions: BTreeSet<ExecutionId>,
}

impl EventStatistics {
    /// Creates statistics without events.
    pub fn new() -> Self {
        EventStatistics::default()
    }

    /// Counts an event.
    pub fn add(&mut self, event: &ExecutionEvent) {
        self.total += 1;
        *self.by_type.entry(event.event_type()).or_default() += 1;
        self.executions.extend(event.execution());
        let is_of_node = event.record().is_none_or(|record| record.visit > 0);
        if let Some(path) = event.path().filter(|_| is_of_node) {
            let node = NodePath::new(path).without_items();
            if !self.nodes.contains(&node) {
                self.nodes.insert(node);
            }
        }
    }

    /// The number of events.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The number of events of each [type](ExecutionEvent::event_type).
    pub fn by_type(&self) -> &BTreeMap<&'static str, u64> {
        &self.by_type
    }

    /// The paths of the nodes, in order, without the indices of items.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(String::as_str)
    }

    /// The number of executions to which the events belong.
    pub fn executions(&self) -> usize {
        self.executions.len()
    }
}
