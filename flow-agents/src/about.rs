//! Which model a model is.

use serde::{Deserialize, Serialize};

/// Which model it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AboutModel {
    /// Who serves it, by the name that OpenTelemetry has for them, such as `openai`, `anthropic` or
    /// `gcp.gemini`. Empty if that is not known.
    pub provider: String,
    /// The provider's name of the model, such as `gpt-5-mini`. Empty if that is not known.
    pub name: String,
}

impl AboutModel {
    /// A model by the names of its provider and of itself.
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> AboutModel {
        let (provider, name) = (provider.into(), name.into());
        AboutModel { provider, name }
    }
}
