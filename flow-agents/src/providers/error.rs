//! Why a model of a provider cannot be asked.

use super::provider::Provider;

/// A model of a provider cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenAiError {
    /// The text does not begin with a known provider.
    #[error(
        "the model `{model}` does not begin with a known provider and a colon, such as \
         `openai:gpt-5-mini`; known providers: {}",
        Provider::known()
    )]
    Provider {
        /// The text.
        model: String,
    },
    /// The text has no name behind its provider.
    #[error("the model `{model}` has no name behind its provider, such as in `openai:gpt-5-mini`")]
    Name {
        /// The text.
        model: String,
    },
    /// The address cannot be asked at.
    #[error("`{url}` cannot be an endpoint: {why}")]
    Endpoint {
        /// The text. What may be secret is left out of it: all that stands before an `@`, and what
        /// stands behind a `?` or a `#`.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The system gives nothing to make secure connections with.
    #[error("secure connections cannot be made")]
    Client {
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
