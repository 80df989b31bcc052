//! The settings of a node that are part of the structure.

use serde::{Deserialize, Serialize};

/// The settings of a node. Durations are written as in the language: `200ms`, `1m 30s`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsDocument {
    /// The settings for retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySettings>,
    /// The maximum duration of one attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// The settings for polling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<PollSettings>,
    /// The number of branches or items that run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u64>,
    /// The number of items in one part of a loop whose parts can run on several workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<u64>,
    /// True if it runs on the pool for blocking work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocking: bool,
    /// True if it runs in a transaction, which is committed together with its outcome.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transaction: bool,
    /// The id of the node that takes back one visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The id that it had in an earlier version of the flow, under which the steps of earlier
    /// executions are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// True if a loop over items keeps errors as values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub collect_errors: bool,
}

/// The number of attempts, the failures that are retried, and the pauses between attempts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetrySettings {
    /// The number of attempts, including the first.
    pub attempts: u32,
    /// The pause before the second attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// The factor by which the pause grows each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff: Option<f64>,
    /// The longest pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait: Option<String>,
    /// The random part of the pause, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
    /// The function that decides whether another attempt follows a failure.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub only_if: Option<String>,
}

/// The settings for the polling of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollSettings {
    /// The pause after each poll without an answer.
    pub every: String,
    /// The time after which it gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

impl SettingsDocument {
    /// Returns `true` if there are no settings.
    pub fn is_empty(&self) -> bool {
        *self == SettingsDocument::default()
    }
}
