//! The provider and the name of a model.

use serde::{Deserialize, Serialize};

/// The provider and the name of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AboutModel {
    /// The provider's name in OpenTelemetry, such as `openai`, `anthropic` or `gcp.gemini`. Empty
    /// if it is not known.
    pub provider: String,
    /// The provider's name for the model, such as `gpt-5-mini`. Empty if it is not known.
    pub name: String,
}

impl AboutModel {
    /// A model with this provider and this name.
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> AboutModel {
        let (provider, name) = (provider.into(), name.into());
        AboutModel { provider, name }
    }
}
