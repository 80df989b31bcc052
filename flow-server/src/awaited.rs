//! Executions that wait for signals.
//!
//! An execution that waits for a signal and for a time beside it does not settle: whoever waits for it
//! here is told what it waits for, as with a question.

use std::pin::pin;
use std::time::Duration;

use flow_durable::{Durable, Execution, Executions, RuntimeError, Status};
use flow_runtime::engine::AnyFlow;
use flow_spec::FlowDocument;

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
            let execution = settled?;
            let awaited = match execution.status() {
                Status::Paused => awaited(&execution).await?,
                _ => Vec::new(),
            };
            return Ok(Ended { execution, awaited });
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
    let awaited = awaited(&execution).await?;
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

/// The names of the signals for which an execution waits.
async fn awaited(execution: &Execution) -> Result<Vec<String>, RuntimeError> {
    let awaited = execution.awaited_signals().await?;
    let mut names: Vec<String> = awaited.iter().map(|it| it.name().to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}
