//! The node of an agent that calls a tool.

use std::num::NonZeroU32;

use flow_runtime::prelude::*;

use super::event::{AgentEvent, shortened};
use super::outcome::{Failures, ToolOutcome, ToolStatus};
use crate::message::ToolCall;
use crate::tool::ToolError;
use crate::tools::Tools;

/// The default of [`CallTool::longest_result`].
const LONGEST: usize = 50_000;

/// The default of [`CallTool::failures`].
const FAILURES: NonZeroU32 = NonZeroU32::new(3).expect("three is not zero");

/// A node that calls a tool for a model. It reads `call` and the optional `failures`, and writes
/// the [`ToolOutcome`].
///
/// It does not fail. The model reads errors of the call or the tool as the result, after `Error: `.
/// A tool that failed in several consecutive turns is no longer called.
///
/// It calls any of its tools, even those unknown to the model: give it the tools of
/// [`Think`](crate::agent::Think).
///
/// It emits each call to observers as [`AgentEvent`]s.
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

    /// Sets the maximum number of characters of a result that the model reads. The default is
    /// 50,000. A longer one is cut, with the number of those left out.
    pub fn longest_result(mut self, characters: usize) -> CallTool {
        self.longest = characters;
        self
    }

    /// Sets the number of consecutive turns with failures after which a tool is no longer called.
    /// The default is 3. Refused calls do not count.
    pub fn failures(mut self, failures: NonZeroU32) -> CallTool {
        self.failures = failures;
        self
    }

    /// Returns true if the call is refused without calling its tool.
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

/// The number of consecutive turns in which the tool has failed.
fn failed(call: &ToolCall, failures: Option<&Failures>) -> u32 {
    let failures = failures.and_then(|failures| failures.get(&call.name));
    failures.copied().unwrap_or_default()
}

/// Emits an event to the observers of the run. It always succeeds: events consist of texts, which
/// can be written as JSON.
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
