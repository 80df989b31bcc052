//! The state of an execution at a record, and the changes between two such states.

use std::collections::{BTreeMap, BTreeSet};

use flow_store::ExecutionId;
use serde::Serialize;
use serde_json::{Map, Value};

/// The state of an execution at one of its records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionState {
    /// The execution.
    pub execution: ExecutionId,
    /// The number of the record. The state is the one after it.
    pub seq: u64,
    /// The values of each running flow by key, by the path of the flow. The values that a branch of
    /// a fork writes appear when all branches are done.
    pub flows: BTreeMap<String, Map<String, Value>>,
    /// The paths of the running nodes.
    pub under_way: Vec<String>,
    /// The source of the values.
    pub source: StateSource,
    /// The keys whose values are not among `flows`, because the journal does not show them, by the
    /// path of the flow. Empty for [`StateSource::Replay`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: BTreeMap<String, Vec<String>>,
}

/// The source of the values of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StateSource {
    /// A replay of the flow: these are the values with which it would continue. A value that a node
    /// has taken is not among them.
    Replay,
    /// The journal and the structure of the flow, because the flow itself is not here or has
    /// changed. Three things differ. A value that a node has taken stays until its key is written
    /// again, as does one that nobody reads. A node's values appear with the record
    /// [`NodeFinished`](flow_store::RecordKind::NodeFinished), the next one after its outcome. The
    /// values of [`unknown`](ExecutionState::unknown) are missing.
    Journal,
}

/// The changes between two states.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateDiff {
    /// Values that are new.
    pub added: Vec<StateChange>,
    /// Values that are gone.
    pub removed: Vec<StateChange>,
    /// Values that differ.
    pub modified: Vec<StateChange>,
}

/// One value that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateChange {
    /// The path of the flow.
    pub flow: String,
    /// The key.
    pub key: String,
    /// The value before, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The value after, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

impl ExecutionState {
    /// The changes from this state to a later one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use flow_durable::{MemoryStore, Runtime, StartOptions};
    /// # use flow_runtime::prelude::*;
    /// # #[node] fn double(number: &u64) -> u64 { number * 2 }
    /// # flow! { Twice(number: u64) -> (double: u64) { start >> double >> end; } }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
    /// # let runtime = Runtime::new(MemoryStore::new());
    /// # runtime.register(Twice::new())?;
    /// # let execution = runtime.executions().start::<Twice>(TwiceInput { number: 4 }, StartOptions::new()).await?.settled().await?;
    /// let last = execution.journal().await?.len() as u64 - 1;
    /// let (before, after) = (runtime.executions().state(execution.id(), 0).await?, runtime.executions().state(execution.id(), last).await?);
    /// let diff = before.diff(&after);
    /// assert_eq!(diff.added[0].key, "double");
    /// assert_eq!(diff.added[0].new, Some(8.into()));
    /// # Ok(()) }
    /// ```
    pub fn diff(&self, later: &ExecutionState) -> StateDiff {
        let mut diff = StateDiff::default();
        let values = |state: &ExecutionState, flow: &str, key: &str| -> Option<Value> {
            state.flows.get(flow)?.get(key).cloned()
        };
        let keys = [self, later].into_iter().flat_map(|state| {
            let of_flow =
                |(flow, values): (&String, &Map<String, Value>)| -> Vec<(String, String)> {
                    values
                        .keys()
                        .map(|key| (flow.clone(), key.clone()))
                        .collect()
                };
            state.flows.iter().flat_map(of_flow).collect::<Vec<_>>()
        });
        for (flow, key) in keys.collect::<BTreeSet<_>>() {
            let (old, new) = (values(self, &flow, &key), values(later, &flow, &key));
            let list = match (&old, &new) {
                (None, _) => &mut diff.added,
                (_, None) => &mut diff.removed,
                (Some(old), Some(new)) if old == new => continue,
                _ => &mut diff.modified,
            };
            list.push(StateChange {
                flow,
                key,
                old,
                new,
            });
        }
        diff
    }
}
