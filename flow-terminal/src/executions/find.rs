//! Finds executions by their ids, or the ends of these.

use flow_durable::{Execution, ExecutionId, Executions, ListOptions, RuntimeError};

/// The number of the newest executions that are searched by the end of an id.
const NEWEST: usize = 1000;

/// Returns the execution with this id, or with this end of one.
pub(super) async fn find(executions: &Executions, id: &str) -> Result<Execution, String> {
    if let Ok(id) = id.parse::<ExecutionId>() {
        return executions.get(id).await.map_err(said);
    }
    ending_with(executions, id).await
}

/// Formats an error.
pub(super) fn said(error: RuntimeError) -> String {
    error.to_string()
}

/// Returns the only one of the newest executions whose id ends with this.
async fn ending_with(executions: &Executions, end: &str) -> Result<Execution, String> {
    let end = end.to_ascii_lowercase();
    let newest = executions.list(ListOptions::new().limit(NEWEST)).await;
    let newest = newest.map_err(said)?.into_iter();
    let ends_so = |execution: &Execution| execution.id().to_string().ends_with(&end);
    let mut found: Vec<Execution> = newest.filter(ends_so).collect();
    match (found.pop(), found.len()) {
        (Some(execution), 0) => Ok(execution),
        (Some(_), more) => Err(format!(
            "the ids of {} executions end with `{end}`",
            more + 1
        )),
        (None, _) => Err(format!("there is no execution `{end}`")),
    }
}
