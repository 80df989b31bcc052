//! Models of real providers.
//!
//! A [`request`] is [sent](post), and its [`answer`] is read either [`whole`] or as a [`stream`] of
//! [`events`]. The HTTP client's types are private, so its new versions do not force one of this
//! crate.

mod answer;
mod embedding;
mod endpoint;
mod error;
mod events;
mod failure;
mod halves;
mod kept;
mod post;
mod provider;
mod request;
mod stream;
mod whole;

use std::fmt;

use async_trait::async_trait;
use reqwest::Response;
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

pub use self::error::GenAiError;
use self::provider::Provider;
use crate::about::AboutModel;
use crate::error::ModelError;
use crate::model::{Model, Reply, ReplyStream, Request};

/// The maximum number of bytes of an answer, unless [`GenAi::max_bytes`] changes it.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A model of a real provider, for texts or for [embeddings](crate::Embedding).
///
/// It is named by its provider and the provider's name for it, such as `openai:gpt-5-mini`:
///
/// | provider | provider in [`Prices`](crate::Prices) | key for the provider's own server | interface |
/// |---|---|---|---|
/// | `openai` | `openai` | `OPENAI_API_KEY` | OpenAI's Chat Completions, also those of another server with an [`endpoint`](GenAi::endpoint) |
/// | `openai-responses` | `openai` | `OPENAI_API_KEY` | OpenAI's Responses, for models that only these have, and for models that think between tool calls |
/// | `anthropic` | `anthropic` | `ANTHROPIC_API_KEY` | Anthropic's Messages |
/// | `gemini` | `gcp.gemini` | `GEMINI_API_KEY` | Google's Gemini |
/// | `ollama` | `ollama` | | Ollama, on this machine unless an [`endpoint`](GenAi::endpoint) is set |
/// | `mistral` | `mistral_ai` | `MISTRAL_API_KEY` | Mistral |
/// | `deepseek` | `deepseek` | `DEEPSEEK_API_KEY` | DeepSeek |
/// | `groq` | `groq` | `GROQ_API_KEY` | Groq |
/// | `xai` | `x_ai` | `XAI_API_KEY` | xAI |
///
/// The key is read from the environment variable for each request, unless one is
/// [given](GenAi::key). It is sent only to the provider's own server: an
/// [`endpoint`](GenAi::endpoint) with another scheme, host or port receives only a given key.
/// Without a key, such a server and `ollama` receive the provider's name instead. No debug output
/// and no error contains the key.
///
/// Anthropic requires [`max_tokens`](Request::max_tokens): without it, the maximum of the model is
/// sent. Tokens of a model's thoughts count as output. The schema of [`output`](Request::output) is
/// not sent to DeepSeek and Groq, which refuse it for many models.
///
/// # Errors of a request
/// | cause | error |
/// |---|---|
/// | HTTP status 429 | [`RateLimited`](ModelError::RateLimited), with the time that the provider asks to wait; [`Refused`](ModelError::Refused) if the account has no money left |
/// | no connection; HTTP status 408, or 500 and above | [`Unavailable`](ModelError::Unavailable) |
/// | another HTTP status that is not a success; no key; content that the provider does not accept | [`Refused`](ModelError::Refused), with the provider's message |
/// | an unexpected answer, such as a web page or other JSON | [`Malformed`](ModelError::Malformed), with its content type |
/// | an answer that ends without a reason for its end | [`CutOff`](ModelError::CutOff) |
/// | an answer of more than [`max_bytes`](GenAi::max_bytes) | [`TooLarge`](ModelError::TooLarge) |
///
/// The answer of a model that refuses is [`Filtered`](crate::Stop::Filtered). Requests have no time
/// limit of their own: set the `timeout` of the node. The body of an error is read for at most ten
/// seconds. A redirect is an error, since it would forward the key.
///
/// An answer contains only calls of the program's own tools. Calls of the provider's tools, and
/// unknown kinds of parts, are ignored. Invalid UTF-8 and lone surrogates become `\u{fffd}`.
///
/// # Examples
/// ```
/// use flow_agents::{GenAi, Model};
///
/// let model = GenAi::new("anthropic:claude-sonnet-4-5")?.key("not-a-real-key");
/// assert_eq!(model.about().name, "claude-sonnet-4-5");
/// assert!(!format!("{model:?}").contains("not-a-real-key"));
///
/// let error = GenAi::new("gpt-5-mini").unwrap_err();
/// assert!(error.to_string().contains("openai, openai-responses, anthropic, gemini, ollama"));
/// # Ok::<(), flow_agents::GenAiError>(())
/// ```
///
/// With retries while the provider is overloaded, and as a node of a flow:
///
/// ```
/// use flow_agents::{Chat, GenAi, Retrying};
///
/// let model = GenAi::new("openai:my-model")?.endpoint("http://localhost:8000/v1")?;
/// let chat = Chat::new(Retrying::new(model)).max_tokens(300);
/// # Ok::<(), flow_agents::GenAiError>(())
/// ```
///
/// Vectors of texts:
///
/// ```no_run
/// use flow_agents::{Embedding, GenAi};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = GenAi::new("openai:text-embedding-3-small")?.dimensions(256);
/// let embedded = model.embed(&["It rains.".to_owned(), "It snows.".to_owned()]).await?;
/// assert_eq!(embedded.vectors[1].len(), 256);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct GenAi {
    provider: &'static Provider,
    name: String,
    endpoint: String,
    /// `true` if the address is on the provider's own server.
    is_own: bool,
    key: Option<SecretString>,
    dimensions: Option<usize>,
    max_bytes: usize,
    client: reqwest::Client,
}

impl GenAi {
    /// Creates a model from a name such as `openai:gpt-5-mini` or `ollama:qwen3:4b`.
    ///
    /// # Errors
    /// [`GenAiError::Provider`] if the text does not begin with a known provider,
    /// [`GenAiError::Name`] if no name follows, and [`GenAiError::Client`] if the system has no
    /// certificates to verify servers.
    pub fn new(model: &str) -> Result<GenAi, GenAiError> {
        let (provider, name) = model.split_once(':').unwrap_or((model, ""));
        let Some(provider) = Provider::find(provider.trim()) else {
            let model = model.to_owned();
            return Err(GenAiError::Provider { model });
        };
        let name = name.trim().to_owned();
        if name.is_empty() {
            let model = model.to_owned();
            return Err(GenAiError::Name { model });
        }
        Ok(GenAi {
            provider,
            name,
            endpoint: provider.endpoint.to_owned(),
            is_own: true,
            key: None,
            dimensions: None,
            max_bytes: MAX_BYTES,
            client: client()?,
        })
    }

    /// Sets the key, instead of the one in the environment. It is sent to any
    /// [`endpoint`](GenAi::endpoint).
    pub fn key(mut self, key: impl Into<SecretString>) -> GenAi {
        self.key = Some(key.into());
        self
    }

    /// Sets the base address, instead of the provider's own: `http://localhost:8000/v1` for
    /// `http://localhost:8000/v1/chat/completions`.
    ///
    /// A server other than the provider's own does not receive the key in the environment.
    ///
    /// # Errors
    /// [`GenAiError::Endpoint`] if it is not an address with `http` or `https`, or has a user name, a
    /// password, a query or a fragment.
    pub fn endpoint(mut self, url: &str) -> Result<GenAi, GenAiError> {
        let url = endpoint::parse(url)?;
        self.is_own = endpoint::is_own(self.provider, &url);
        self.endpoint = url.into();
        Ok(self)
    }

    /// Sets the number of dimensions of an [embedding](crate::Embedding), for models that support
    /// several lengths. It does not affect answers in text.
    pub fn dimensions(mut self, dimensions: usize) -> GenAi {
        self.dimensions = Some(dimensions);
        self
    }

    /// Sets the maximum number of bytes of an answer, 16 MiB by default, so that a server cannot
    /// exhaust the memory. In a stream, it limits each event, and the sum of texts, calls and
    /// thoughts; otherwise the body.
    pub fn max_bytes(mut self, max_bytes: usize) -> GenAi {
        self.max_bytes = max_bytes;
        self
    }

    /// Returns the key to send. `variable` reads the environment.
    fn secret(&self, variable: impl Fn(&str) -> Option<String>) -> Result<String, ModelError> {
        if let Some(key) = &self.key {
            return Ok(key.expose_secret().to_owned());
        }
        let Some(name) = self.provider.variable.filter(|_| self.is_own) else {
            return Ok(self.provider.name.to_owned()); // the header needs a value
        };
        let key = variable(name).filter(|key| !key.is_empty());
        key.ok_or_else(|| ModelError::Refused {
            source: format!(
                "there is no key for {}: set the environment variable {name}, or call `key`",
                self.provider.name
            )
            .into(),
        })
    }
}

impl GenAi {
    async fn asked(&self, request: &Request, is_streamed: bool) -> Result<Response, ModelError> {
        let body = request::body(self.provider, &self.name, request, is_streamed)?;
        let path = self.provider.protocol.path(&self.name, is_streamed);
        self.post(&path, &body).await
    }

    /// Posts a body to this path of the provider.
    async fn post(&self, path: &str, body: &Value) -> Result<Response, ModelError> {
        let key = self.secret(|name| std::env::var(name).ok())?;
        let url = format!("{}{path}", self.endpoint);
        post::post(&self.client, self.provider.protocol, &url, key, body).await
    }
}

/// A client that follows no redirects, since these would forward the key in the header.
fn client() -> Result<reqwest::Client, GenAiError> {
    let client = reqwest::Client::builder().redirect(Policy::none()).build();
    client.map_err(|source| GenAiError::Client {
        source: source.into(),
    })
}

impl fmt::Debug for GenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenAi")
            .field("provider", &self.provider.name)
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .field("key", &self.key)
            .field("dimensions", &self.dimensions)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for GenAi {
    fn about(&self) -> AboutModel {
        AboutModel::new(self.provider.telemetry, self.name.as_str())
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        whole::read(
            self.provider,
            self.asked(request, false).await?,
            self.max_bytes,
        )
        .await
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        stream::read(
            self.provider,
            self.asked(request, true).await?,
            self.max_bytes,
        )
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [(&str, &str); 8] = [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("openai-responses:gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini:gemini-3-flash-preview", "GEMINI_API_KEY"),
        ("mistral:mistral-small-latest", "MISTRAL_API_KEY"),
        ("deepseek:deepseek-chat", "DEEPSEEK_API_KEY"),
        ("groq:llama-3.3-70b-versatile", "GROQ_API_KEY"),
        ("xai:grok-4", "XAI_API_KEY"),
    ];

    #[test]
    fn a_key_that_is_missing_is_asked_for_by_its_name() {
        for (name, variable) in MODELS {
            let model = GenAi::new(name).unwrap();
            for missing in [None, Some(String::new())] {
                let error = model.secret(|_| missing.clone()).unwrap_err();
                let ModelError::Refused { source } = error else {
                    panic!("{error:?}");
                };
                assert!(source.to_string().contains(variable), "{source}");
            }
        }
    }

    #[test]
    fn the_key_of_the_environment_goes_only_to_the_provider() {
        for (name, variable) in MODELS {
            let secret = |model: &GenAi| {
                let environment = |it: &str| (it == variable).then(|| "of the provider".to_owned());
                model.secret(environment).unwrap()
            };
            let model = GenAi::new(name).unwrap();
            let own = model.endpoint.clone();
            assert_eq!(secret(&model), "of the provider", "{name}");
            let beside = model.clone().endpoint(&format!("{own}beta")).unwrap();
            assert_eq!(secret(&beside), "of the provider", "{name}");

            let path = own.find(".com").or(own.find(".ai")).unwrap();
            let port = own[path..].find('/').unwrap() + path;
            let elsewhere = [
                "http://localhost:8000/v1".to_owned(),
                own.replace("https:", "http:"),
                format!("{}:8443{}", &own[..port], &own[port..]),
                format!("{}.example.org{}", &own[..port], &own[port..]),
            ];
            for url in elsewhere {
                let model = model.clone().endpoint(&url).unwrap();
                assert_eq!(secret(&model), name.split(':').next().unwrap(), "{url}");
                assert_eq!(secret(&model.key("given")), "given", "{url}");
            }
        }
    }
}
