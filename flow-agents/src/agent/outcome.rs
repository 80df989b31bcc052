//! Outcomes of tool calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::message::ToolCall;

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The result as the model reads it.
    pub content: String,
    /// The status of the call.
    pub status: ToolStatus,
}

/// The status of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolStatus {
    /// The tool returned a result.
    Returned,
    /// The tool was called and failed.
    Failed,
    /// The tool was not called: it does not exist, the arguments do not fit it, it was stopped, or
    /// a person rejected the call.
    Refused,
}

impl ToolOutcome {
    pub(super) fn new(call: &ToolCall, status: ToolStatus, content: String) -> ToolOutcome {
        ToolOutcome {
            id: call.id.clone(),
            tool: call.name.clone(),
            content,
            status,
        }
    }
}

/// The number of consecutive turns with failures of each tool, by its name, if not zero.
pub type Failures = BTreeMap<String, u32>;
