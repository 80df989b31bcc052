//! A model with the rate limits of its provider.
//!
//! Requests wait in one queue. Only the first one looks at the limits, so a later and smaller one
//! cannot overtake it.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::about::AboutModel;
use crate::embedding::{Embedded, Embedding};
use crate::error::ModelError;
use crate::estimate::{characters, tokens};
use crate::limits::rate::{Rate, Reserved};
use crate::model::{Chunk, Model, Reply, ReplyStream, Request};

/// The largest number of a semaphore.
const MOST: usize = Semaphore::MAX_PERMITS;

/// A model that respects the rate limits of its provider, over all runs of a process.
///
/// A request waits until it fits, in the order of arrival. Clones share the limits: give each flow
/// a clone, or share it in an `Arc`. The wait counts towards the `timeout` of a node.
///
/// The minute of a limit is any 60 seconds, so a full minute is never followed by a burst. The
/// tokens of a request are known only after its answer. Until then, it counts as one token for each
/// four characters that it sends, plus its [`max_tokens`](Request::max_tokens). This also holds if
/// the answer does not report its use. A request that is larger than the limit is sent when nothing
/// else counts.
///
/// If the provider still refuses a request and says how long to wait, all others wait too. Put a
/// `Limited` inside a [`Retrying`](crate::Retrying), and each attempt waits for its turn.
///
/// An [`Embedding`] is limited in the same way.
///
/// # Cancel safety
/// A request that is dropped while it waits leaves the queue and does not count. Dropped later, it
/// counts as described above.
///
/// # Examples
/// ```
/// use flow_agents::{Limited, Message, Messages, Model, Request, ScriptedModel};
/// use tokio::time::Instant;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), flow_agents::ModelError> {
/// let model = Limited::new(ScriptedModel::new().text("one").text("two").text("three"))
///     .requests_per_minute(2)
///     .tokens_per_minute(40_000)
///     .concurrency(4);
/// let request = Request::new(&Messages::from_iter([Message::user("Count.")]));
/// let began = Instant::now();
/// for _ in 0..3 {
///     model.complete(&request).await?;
/// }
/// assert_eq!(began.elapsed().as_secs(), 60);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Limited<M> {
    model: M,
    requests: Option<u32>,
    tokens: Option<u64>,
    slots: Option<Arc<Semaphore>>,
    rate: Arc<Rate>,
}

impl<M> Limited<M> {
    /// Wraps a model or embedding, without limits.
    pub fn new(model: M) -> Limited<M> {
        Limited {
            model,
            requests: None,
            tokens: None,
            slots: None,
            rate: Arc::default(),
        }
    }

    /// Sets the maximum number of requests that begin in a minute. 0 counts as 1.
    pub fn requests_per_minute(mut self, requests: u32) -> Limited<M> {
        self.requests = Some(requests.max(1));
        self
    }

    /// Sets the maximum number of tokens of the requests of a minute, input and output together.
    pub fn tokens_per_minute(mut self, tokens: u64) -> Limited<M> {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the maximum number of concurrent requests. 0 counts as 1. A stream is under way until
    /// it has ended or is dropped.
    pub fn concurrency(mut self, requests: usize) -> Limited<M> {
        self.slots = Some(Arc::new(Semaphore::new(requests.clamp(1, MOST))));
        self
    }

    /// Waits until a request may begin.
    async fn turn(&self, expected: u64) -> Turn {
        let _first = self.rate.queue().await;
        let slot = match &self.slots {
            Some(slots) => Arc::clone(slots).acquire_owned().await.ok(), // never closed
            None => None,
        };
        let reserved = Rate::begin(&self.rate, self.requests, self.tokens, expected).await;
        Turn {
            reserved,
            _slot: slot,
        }
    }
}

/// A request that is under way.
struct Turn {
    reserved: Reserved,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Turn {
    fn failed(&self, error: &ModelError) {
        if let ModelError::RateLimited {
            retry_after: Some(wait),
            ..
        } = error.last()
        {
            self.reserved.close_for(*wait);
        }
    }
}

/// The tokens for which a request counts until its answer arrives.
fn expected_tokens(request: &Request) -> u64 {
    let messages = request.messages.iter().map(characters);
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len());
    let answer = request.max_tokens.unwrap_or_default().into();
    tokens(messages.chain(tools).sum()).saturating_add(answer)
}

#[async_trait]
impl<M: Embedding> Embedding for Limited<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        if texts.is_empty() {
            return self.model.embed(texts).await; // no request
        }
        let characters = texts.iter().map(|text| text.chars().count()).sum();
        let mut turn = self.turn(tokens(characters)).await;
        let embedded = self.model.embed(texts).await;
        match &embedded {
            Ok(embedded) => turn.reserved.used(embedded.usage.total()),
            Err(error) => turn.failed(error),
        }
        embedded
    }
}

#[async_trait]
impl<M: Model> Model for Limited<M> {
    fn about(&self) -> AboutModel {
        self.model.about()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        let mut turn = self.turn(expected_tokens(request)).await;
        let replied = self.model.complete(request).await;
        match &replied {
            Ok(reply) => turn.reserved.used(reply.usage.total()),
            Err(error) => turn.failed(error),
        }
        replied
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let turn = self.turn(expected_tokens(request)).await;
        match self.model.stream(request).await {
            Ok(rest) => Ok(stream::unfold(Some((rest, turn)), next_limited).boxed()),
            Err(error) => {
                turn.failed(&error);
                Err(error)
            }
        }
    }
}

type UnderWay = Option<(ReplyStream, Turn)>;

/// The next part, and the rest unless that was the last part.
async fn next_limited(rest: UnderWay) -> Option<(Result<Chunk, ModelError>, UnderWay)> {
    let (mut rest, mut turn) = rest?;
    let chunk = rest.next().await?;
    match &chunk {
        Ok(Chunk::End { usage, .. }) => turn.reserved.used(usage.total()),
        Ok(_) => return Some((chunk, Some((rest, turn)))),
        Err(error) => turn.failed(error),
    }
    Some((chunk, None))
}
