//! The state of an execution at one of its records.

use std::collections::BTreeMap;

use flow_runtime::engine::StepKey;
use flow_spec::FlowDocument;
use flow_store::{ExecutionId, Record, RecordKind, Row, Store as _};

use super::Executions;
use crate::error::RuntimeError;
use crate::execution_state::{ExecutionState, StateSource};
use crate::retried::counting;
use crate::shared::{check_format, kept_elsewhere};
use crate::values::{State, Values};

impl Executions {
    /// The state of an execution after one of its records. No step runs for this, and it reads the
    /// records from the snapshot before this one on.
    ///
    /// If the flow is registered here, it is replayed. A process without the flow, or with one that
    /// has changed too much, follows the journal by the stored structure of the flow. This can
    /// leave a value out: [`ExecutionState::source`] says how the values were found, and
    /// [`ExecutionState::unknown`] which are missing.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::NoRecord`] if the record does not exist, or if the records before it have
    /// been pruned; [`RuntimeError::NotFound`], [`RuntimeError::JournalFormat`];
    /// [`RuntimeError::DamagedRecord`]; [`RuntimeError::Unreadable`] if a record is missing or,
    /// without the flow, the structure of the flow is damaged; [`RuntimeError::ReplayDiverged`] if
    /// the flow does something else than it did; or the store could not be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_durable::{MemoryStore, Runtime, StartOptions, StateSource};
    /// use flow_runtime::prelude::*;
    /// use std::sync::Arc;
    ///
    /// #[node]
    /// fn double(number: &u64) -> u64 {
    ///     number * 2
    /// }
    ///
    /// flow! {
    ///     Twice(number: u64) -> (double: u64) {
    ///         start >> double >> end;
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), flow_durable::RuntimeError> {
    /// let store = Arc::new(MemoryStore::new());
    /// let runtime = Runtime::new(store.clone());
    /// runtime.register(Twice::new())?;
    /// let execution = runtime.executions().start::<Twice>(TwiceInput { number: 4 }, StartOptions::new()).await?.settled().await?;
    /// let last = execution.journal().await?.len() as u64 - 1;
    ///
    /// let viewer = Runtime::new(store); // does not have the flow
    /// let state = viewer.executions().state(execution.id(), last).await?;
    /// assert_eq!(state.flows["twice"]["double"], 8);
    /// assert_eq!(state.source, StateSource::Journal);
    /// assert!(state.unknown.is_empty());
    /// # Ok(()) }
    /// ```
    pub async fn state(&self, id: ExecutionId, seq: u64) -> Result<ExecutionState, RuntimeError> {
        let row = self.owned.row(id).await?;
        if self.owned.shared.registry.known_version(&row).is_some() {
            match self.replayed_state(id, seq).await {
                Err(RuntimeError::FlowChanged { .. }) => {}
                replayed => return replayed,
            }
        }
        check_format(&row)?;
        self.check_record(&row, seq).await?;
        let structure = self.structure(&row).await?;
        let records = self.records_to(&row, seq).await?;
        let mut values = Values::new(id, &structure, State::default());
        for record in &records {
            values.add(record)?;
        }
        let under_way = under_way(&records);
        let mut state = ExecutionState {
            execution: id,
            seq,
            flows: BTreeMap::new(),
            under_way,
            source: StateSource::Journal,
            unknown: BTreeMap::new(),
        };
        for (path, of_flow) in values.into_flows() {
            if path != structure.namespace && !state.under_way.contains(&path) {
                continue;
            }
            if !of_flow.unknown.is_empty() {
                state.unknown.insert(path.clone(), of_flow.unknown);
            }
            state.flows.insert(path, of_flow.values);
        }
        Ok(state)
    }

    async fn replayed_state(
        &self,
        id: ExecutionId,
        seq: u64,
    ) -> Result<ExecutionState, RuntimeError> {
        let (row, loaded) = self.load_until(id, seq).await?;
        let flow = self.owned.shared.registry.version(&row).await?;
        let under_way = under_way(&loaded.records);
        let namespace = flow.namespace();
        let mut flows = self.owned.shared.look(&row, &flow, loaded).await?.flows;
        // The replay continues to the first step that has no outcome, which may be in a flow that
        // was not reached yet.
        flows.retain(|path, _| path == namespace || under_way.contains(path));
        Ok(ExecutionState {
            execution: id,
            seq,
            flows,
            under_way,
            source: StateSource::Replay,
            unknown: BTreeMap::new(),
        })
    }

    /// The structure of the flow of an execution, as it is stored.
    pub(super) async fn structure(&self, row: &Row) -> Result<FlowDocument, RuntimeError> {
        let structure = self.owned.shared.store.structure(&row.structure).await;
        let structure = structure.map_err(RuntimeError::of(row.id))?;
        let unreadable = |reason: &str| {
            let reason = format!("the structure of its flow {reason}");
            unreadable(row.id, &row.flow, reason)
        };
        let structure = structure.ok_or_else(|| unreadable("is not in the store"))?;
        FlowDocument::parse_spec(&structure).map_err(|_| unreadable("is damaged"))
    }

    /// The records up to this one that [count](counting), from the newest snapshot among them on.
    async fn records_to(&self, row: &Row, seq: u64) -> Result<Vec<Record>, RuntimeError> {
        let mut records = self.owned.shared.records_to(row, seq + 1).await?;
        if crate::steps::missing(&records, seq + 1).is_some() {
            // Some have been pruned meanwhile, or one is missing.
            records = self.history(row.id, seq).await?;
        }
        match kept_elsewhere(row.id, &records) {
            Some(error) => Err(error),
            None => counting(row.id, records),
        }
    }
}

fn unreadable(execution: ExecutionId, path: &str, reason: String) -> RuntimeError {
    RuntimeError::Unreadable {
        execution,
        path: path.to_owned(),
        reason,
    }
}

/// The paths of the nodes that were started but not finished, the outermost first.
fn under_way(records: &[Record]) -> Vec<String> {
    let mut under_way: BTreeMap<&str, &Record> = BTreeMap::new();
    for record in records {
        let with_itself = match record.kind {
            RecordKind::NodeStarted => {
                under_way.insert(&record.step, record);
                continue;
            }
            RecordKind::NodeFinished | RecordKind::NodeFailed => true,
            RecordKind::FlowFailed | RecordKind::TimedOut => false,
            _ => continue,
        };
        let step = record.step.as_str();
        let within = StepKey::new(step).within(&under_way);
        let over = within.filter(|(other, _)| with_itself || *other != step);
        let over: Vec<&str> = over.map(|(_, record)| record.step.as_str()).collect();
        for step in over {
            under_way.remove(step);
        }
    }
    let mut started: Vec<&Record> = under_way.into_values().collect();
    started.sort_unstable_by_key(|record| record.seq);
    started
        .into_iter()
        .map(|record| record.path.clone())
        .collect()
}
