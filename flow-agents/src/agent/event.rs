//! Events that an agent emits to the observers of its run.

use serde::{Deserialize, Serialize};

use super::outcome::ToolStatus;
use crate::message::ToolCall;

/// The maximum number of characters of a result in an event.
const SHOWN: usize = 1000;

/// The events of the node [`CallTool`](crate::agent::CallTool), as the JSON of
/// [`EventKind::DeltaJson`](flow_runtime::EventKind::DeltaJson). The text of the model is emitted
/// as [`EventKind::Delta`](flow_runtime::EventKind::Delta).
///
/// # Examples
/// ```
/// use flow_agents::agent::AgentEvent;
///
/// let json = r#"{ "type": "tool_started", "id": "call_1", "tool": "search", "arguments": "{}" }"#;
/// let event: AgentEvent = serde_json::from_str(json)?;
/// assert!(matches!(event, AgentEvent::ToolStarted { tool, .. } if tool == "search"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentEvent {
    /// A tool is about to be called.
    ToolStarted {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        tool: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// A call is over, or was refused.
    ToolFinished {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        tool: String,
        /// The status of the call.
        status: ToolStatus,
        /// The result. A long one is cut to a thousand characters, with a note.
        output: String,
    },
}

impl AgentEvent {
    pub(super) fn started(call: &ToolCall) -> AgentEvent {
        AgentEvent::ToolStarted {
            id: call.id.clone(),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
        }
    }

    pub(super) fn finished(call: &ToolCall, status: ToolStatus, output: &str) -> AgentEvent {
        AgentEvent::ToolFinished {
            id: call.id.clone(),
            tool: call.name.clone(),
            status,
            output: shortened(output, SHOWN),
        }
    }
}

/// The first characters of a text, and the number of those left out.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}… ({more} more characters)", &text[..end])
        }
    }
}
