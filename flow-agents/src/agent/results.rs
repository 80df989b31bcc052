//! The node of an agent that adds what tools returned to the conversation.

use std::collections::BTreeMap;

use flow_runtime::prelude::*;

use super::outcome::{Failures, ToolOutcome, ToolStatus};
use crate::messages::Messages;

/// Adds the results of tools to the messages, after their calls. Counts the consecutive turns in
/// which each tool was called and never returned a result.
#[node(writes(messages, failures))]
pub fn keep_results(
    messages: Messages,
    results: &[ToolOutcome],
    failures: Option<Failures>,
) -> (Messages, Failures) {
    let mut messages = messages;
    let mut failures = failures.unwrap_or_default();
    let mut has_returned: BTreeMap<&str, bool> = BTreeMap::new();
    for result in results {
        messages.add_result(&result.id, &result.content);
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
    (messages, failures)
}
