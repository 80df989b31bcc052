//! The results of tools, which an agent adds to its conversation.

use std::collections::BTreeMap;

use flow_runtime::Accumulate;
use flow_runtime::prelude::*;

use super::outcome::{Failures, ToolOutcome, ToolStatus};
use crate::messages::Messages;

/// Adds the result of a call, after the call.
impl Accumulate<ToolOutcome> for Messages {
    fn add(&mut self, outcome: ToolOutcome) {
        self.add_result(outcome.id, outcome.content);
    }
}

/// Adds the results of calls, each after its call.
impl Accumulate<Vec<ToolOutcome>> for Messages {
    fn add(&mut self, outcomes: Vec<ToolOutcome>) {
        outcomes.into_iter().for_each(|outcome| self.add(outcome));
    }
}

/// Counts the consecutive turns in which each tool was called and never returned a result.
#[node(writes = failures)]
pub fn count_failures(results: &[ToolOutcome], failures: Option<Failures>) -> Failures {
    let mut failures = failures.unwrap_or_default();
    let mut has_returned: BTreeMap<&str, bool> = BTreeMap::new();
    for result in results {
        match result.status {
            ToolStatus::Returned => *has_returned.entry(&result.tool).or_default() = true,
            ToolStatus::Failed => *has_returned.entry(&result.tool).or_default() |= false,
            ToolStatus::Refused => {}
        }
    }
    for (tool, has_returned) in has_returned {
        if has_returned {
            failures.remove(tool);
        } else {
            let count = failures.entry(tool.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
    }
    failures
}

flow! {
    /// Counts the failures of tools, and passes on the results of a turn. An agent adds them to its
    /// messages with a mapping: `node keep_results: KeepResults { results -> +messages };`.
    ///
    /// A durable run has each result in the record of its call. This flow records none again,
    /// because it returns what it was given.
    pub KeepResults(results: Vec<ToolOutcome>, failures: Option<Failures>) -> (
        results: Vec<ToolOutcome>,
        failures: Failures,
    ) {
        start >> count_failures >> end;
    }
}
