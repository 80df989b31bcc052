//! Errors in the configuration of a provider's model.

use super::provider::Provider;

/// An error in the configuration of a provider's model.
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
    /// The text has no name after its provider.
    #[error("the model `{model}` has no name behind its provider, such as in `openai:gpt-5-mini`")]
    Name {
        /// The text.
        model: String,
    },
    /// The text cannot be an endpoint.
    #[error("`{url}` cannot be an endpoint: {why}")]
    Endpoint {
        /// The text without possible secrets: the part before an `@`, and the part after a `?` or a
        /// `#`, are left out.
        url: String,
        /// The reason.
        why: &'static str,
    },
    /// The system does not support secure connections, for example because it has no certificates.
    #[error("secure connections cannot be made")]
    Client {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
