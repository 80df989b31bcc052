//! The node of an agent that calls a tool.

use std::num::NonZeroU32;

use flow_runtime::prelude::*;

use super::event::{AgentEvent, shortened};
use super::outcome::{Failures, ToolOutcome, ToolStatus};
use crate::message::ToolCall;
use crate::tool::ToolError;
use crate::tools::Tools;

/// How many characters of a result the model reads unless [`CallTool::longest_result`] says otherwise.
const LONGEST: usize = 50_000;

/// After failures in how many turns in a row a tool is stopped unless [`CallTool::failures`] says otherwise.
const FAILURES: NonZeroU32 = NonZeroU32::new(3).expect("three is not zero");

/// A node that calls a tool for a model: it reads `call`, and `failures` if there are some, and writes the
/// [`ToolOutcome`].
///
/// It does not fail. What is wrong with the call, or why the tool has failed, is what the model reads as
/// the result, behind `Error: `. A tool that failed in several turns in a row is not called any more.
///
/// It calls what is among its tools, also what the model was not told of: give it those of
/// [`Think`](crate::agent::Think).
///
/// Each call is told to observers as [`AgentEvent`]s.
#[derive(Debug, Clone)]
pub struct CallTool {
    tools: Tools,
    longest: usize,
    failures: NonZeroU32,
}

impl CallTool {
    /// Calls these tools.
    pub fn new(tools: Tools) -> CallTool {
        CallTool {
            tools,
            longest: LONGEST,
            failures: FAILURES,
        }
    }

    /// How many characters of a result the model reads, 50,000 by default. Of a longer one it reads the
    /// beginning, and how many more there were.
    pub fn longest_result(mut self, characters: usize) -> CallTool {
        self.longest = characters;
        self
    }

    /// After failures in how many turns in a row a tool is not called any more, 3 by default. Calls that
    /// were refused do not count.
    pub fn failures(mut self, failures: NonZeroU32) -> CallTool {
        self.failures = failures;
        self
    }

    /// Whether the call is refused without its tool being called.
    pub(super) fn refuses(
        &self,
        cx: &Context,
        call: &ToolCall,
        failures: Option<&Failures>,
    ) -> bool {
        self.is_stopped(failed(call, failures)) || self.tools.check(cx, call).is_err()
    }

    fn is_stopped(&self, failures: u32) -> bool {
        failures >= self.failures.get()
    }

    async fn outcome(&self, cx: &Context, call: &ToolCall, failures: u32) -> (ToolStatus, String) {
        if self.is_stopped(failures) {
            let text = format!(
                "Error: the tool '{}' has failed in {failures} turns in a row, and is not called any more. \
                 Continue without it.",
                call.name
            );
            return (ToolStatus::Refused, text);
        }
        match self.tools.call(cx, call).await {
            Ok(result) => (ToolStatus::Returned, result),
            Err(error @ ToolError::Failed(_)) => (ToolStatus::Failed, format!("Error: {error}")),
            Err(error) => (ToolStatus::Refused, format!("Error: {error}")),
        }
    }
}

/// In how many turns in a row the tool has failed.
fn failed(call: &ToolCall, failures: Option<&Failures>) -> u32 {
    let failures = failures.and_then(|failures| failures.get(&call.name));
    failures.copied().unwrap_or_default()
}

/// Tells observers of the run. One that cannot be told is not worth failing for: an event consists of
/// texts, which can all be written as JSON.
fn tell(cx: &Context, event: &AgentEvent) {
    if let Err(error) = cx.emit_json(event) {
        unreachable!("an event consists of texts: {error}");
    }
}

#[node(writes = result)]
impl CallTool {
    async fn exec(
        &self,
        cx: &Context,
        call: &ToolCall,
        failures: Option<&Failures>,
    ) -> ToolOutcome {
        tell(cx, &AgentEvent::started(call));
        let (status, result) = self.outcome(cx, call, failed(call, failures)).await;
        tell(cx, &AgentEvent::finished(call, status, &result));
        ToolOutcome::new(call, status, shortened(&result, self.longest))
    }
}
