//! Executions that one of two flows begins and the other finishes.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{Durable, ExecutionId, MemoryStore, Runtime};
use flow_runtime::engine::AnyFlow;
use serde_json::Value;
use tokio::time::Instant;

use crate::ways::{Answers, Everywhere, Ran, durable, runtime, to_its_end};

/// The most records of an execution from which it is continued.
const RECORDS: usize = 40;

/// From executions that wait for longer, not each record is tried.
const LONG: Duration = Duration::from_secs(60);

/// Runs one of the flows, and lets both continue from each of its records; and the other way round.
/// Returns how many runs were compared.
///
/// # Errors
///
/// What differs, in words.
pub(crate) async fn handed_over(
    compiled: Arc<dyn Everywhere>,
    loaded: Arc<dyn Everywhere>,
    input: &Value,
    answers: &Answers,
) -> Result<usize, String> {
    let mut compared = 0;
    for begins_compiled in [true, false] {
        let store = Arc::new(MemoryStore::new());
        let name = AnyFlow::<Durable>::name(&*compiled).to_owned();
        let flows: [Arc<dyn AnyFlow<Durable>>; 2] = [compiled.clone(), loaded.clone()];
        let [with_compiled, with_loaded] = flows.map(|flow| runtime(store.clone(), flow));
        let begins = if begins_compiled {
            &with_compiled
        } else {
            &with_loaded
        };
        let began = Instant::now();
        let (ran, id) = durable(begins, &name, input, answers).await;
        let step = if began.elapsed() < LONG { 1 } else { 13 };
        let Some(id) = id else { return Ok(compared) };
        let records = ran.happened.len().min(RECORDS) as u64;
        for seq in (0..records).step_by(step) {
            // At the same time, since journals say until when they wait.
            let (with_compiled, with_loaded) = tokio::join!(
                continued(&with_compiled, id, seq, answers),
                continued(&with_loaded, id, seq, answers),
            );
            let (with_compiled, with_loaded) = (with_compiled?, with_loaded?);
            compared += 1;
            if let Some(difference) = with_compiled.difference(&with_loaded) {
                let begun = if begins_compiled {
                    "compiled"
                } else {
                    "loaded"
                };
                return Err(format!(
                    "begun {begun}, continued from record {seq}, with {input}:\n{difference}"
                ));
            }
        }
    }
    Ok(compared)
}

/// Continues an execution from one of its records.
async fn continued(
    runtime: &Runtime,
    id: ExecutionId,
    seq: u64,
    answers: &Answers,
) -> Result<Ran, String> {
    let copy = runtime.executions().copy(id, seq).await;
    let copy = copy.map_err(|error| format!("no copy from record {seq}: {error}"))?;
    Ok(to_its_end(runtime, copy, answers).await)
}
