//! What came of the calls of tools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::message::ToolCall;

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// What the model reads as the result.
    pub content: String,
    /// What became of the call.
    pub status: ToolStatus,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolStatus {
    /// The tool has returned a result.
    Returned,
    /// The tool was called, and has failed.
    Failed,
    /// The tool was not called: there is none, the arguments do not fit it, it was stopped, or a person
    /// rejected the call.
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

/// In how many turns in a row each tool has failed, by its name. A tool that has not failed is not there.
pub type Failures = BTreeMap<String, u32>;
