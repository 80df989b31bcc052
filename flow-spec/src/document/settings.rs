//! How a node is run: the settings that are part of the structure.

use serde::{Deserialize, Serialize};

/// How a node is run. Durations are written as in the language: `200ms`, `1m 30s`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsDocument {
    /// How often it is tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySettings>,
    /// How long one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
    /// How it asks again and again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<PollSettings>,
    /// How many branches or items run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u64>,
    /// It runs on the pool for work that blocks.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub blocking: bool,
    /// A loop over items keeps their errors as values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub collect_errors: bool,
}

/// How often a node is tried, and with which pauses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetrySettings {
    /// All attempts, the first included.
    pub attempts: u32,
    /// The pause before the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// By what the pause is multiplied each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backoff: Option<f64>,
    /// The longest pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait: Option<String>,
    /// The share of the pause, of 0 to 1, that is random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<f64>,
}

/// How a node asks again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PollSettings {
    /// The pause after each answer that is none.
    pub every: String,
    /// After how long it gives up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

impl SettingsDocument {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == SettingsDocument::default()
    }
}
