//! Executions that wait for signals.
//!
//! An execution that waits only for a signal is paused, and it does not settle: whoever waits for it
//! here is told what it waits for, as with a question.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use flow_durable::{Durable, Execution, Executions, Record, RecordKind, RuntimeError, Status};
use flow_runtime::engine::{AnyFlow, StepKey};
use flow_spec::FlowDocument;
use serde_json::Value;

/// The time between two looks at whether an execution waits for a signal.
const LOOK: Duration = Duration::from_millis(250);

/// An execution that is over, or that waits for somebody else.
pub(crate) struct Ended {
    pub(crate) execution: Execution,
    /// The names of the signals for which it waits.
    pub(crate) awaited: Vec<String>,
}

impl Ended {
    pub(crate) fn settled(execution: Execution) -> Self {
        Ended {
            execution,
            awaited: Vec::new(),
        }
    }
}

/// Returns `true` if a step of a flow waits for a signal.
pub(crate) fn takes_signals(flow: &dyn AnyFlow<Durable>) -> bool {
    let document = FlowDocument::parse_spec(flow.structure());
    document.is_ok_and(|document| !document.signals().is_empty())
}

/// Waits until an execution is over, or waits for people or, if its flow `takes_signals`, for a
/// signal.
pub(crate) async fn settled(
    executions: &Executions,
    execution: &Execution,
    takes_signals: bool,
) -> Result<Ended, RuntimeError> {
    let mut settled = pin!(execution.settled());
    if !takes_signals {
        return settled.await.map(Ended::settled);
    }
    let mut looked = 0;
    loop {
        if let Ok(settled) = tokio::time::timeout(LOOK, settled.as_mut()).await {
            return settled.map(Ended::settled);
        }
        if let Some(waiting) = waiting(executions, execution, &mut looked).await? {
            return Ok(waiting);
        }
    }
}

/// Returns an execution if it is paused and waits for a signal that nobody has sent. `looked` is the
/// number of records at the last look.
async fn waiting(
    executions: &Executions,
    execution: &Execution,
    looked: &mut u64,
) -> Result<Option<Ended>, RuntimeError> {
    let execution = execution.refreshed().await?;
    if execution.status() != Status::Paused || *looked == execution.record_count() {
        return Ok(None);
    }
    let awaited = awaited(&execution.journal().await?);
    let untaken = executions.untaken_signals(execution.id()).await?;
    let is_sent = |name: &String| untaken.iter().any(|signal| signal.name() == name);
    if awaited.iter().any(is_sent) {
        // A process is about to take it.
        return Ok(None);
    }
    *looked = execution.record_count();
    let waits = !awaited.is_empty();
    Ok(waits.then_some(Ended { execution, awaited }))
}

/// Returns the names of the signals for which steps wait after these records, each once.
fn awaited(records: &[Record]) -> Vec<String> {
    let mut waiting: BTreeMap<&str, &Record> = BTreeMap::new();
    for record in records {
        let step = record.step.as_str();
        let with_itself = match record.kind {
            RecordKind::Awaiting => {
                waiting.insert(step, record);
                continue;
            }
            RecordKind::Received | RecordKind::NodeFinished | RecordKind::NodeFailed => true,
            RecordKind::FlowFailed | RecordKind::TimedOut => false,
            _ => continue,
        };
        // The other branches of a race end with it, and have no records of their own.
        let within = StepKey::new(step).within(&waiting);
        let over = within.filter(|(other, _)| with_itself || *other != step);
        let over: Vec<&str> = over.map(|(_, record)| record.step.as_str()).collect();
        for step in over {
            waiting.remove(step);
        }
    }
    let mut names: Vec<String> = waiting.into_values().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the name of the signal in a record of the kind `awaiting`.
fn name(record: &Record) -> Option<String> {
    let payload: Value = serde_json::from_str(&record.payload).ok()?;
    payload["signal"].as_str().map(str::to_owned)
}
