//! A node that asks a model.

use flow_runtime::prelude::*;
use futures_util::StreamExt as _;
use tracing::Instrument as _;
use tracing::field::Empty;

use crate::error::ModelError;
use crate::messages::Messages;
use crate::model::{Chunk, Model, Reply, Request};
use crate::reply_builder::ReplyBuilder;

/// A node that asks a model with the messages of a conversation: it reads `messages`, and writes
/// `messages` with the answer behind them, and `reply`.
///
/// The text of the answer is [emitted](Context::emit) as it comes. Only an answer that is complete
/// is written: that it was [cut off](ModelError::CutOff), [reached the limit of
/// tokens](ModelError::TooLong) or was [held back](ModelError::Filtered) is an error.
///
/// # Tracing
/// Each request is a span of `tracing`, `chat`, with the names that OpenTelemetry has for generative
/// AI: `gen_ai.operation.name`, `gen_ai.request.temperature` and `gen_ai.request.max_tokens` if they
/// are set, and, once the answer has come, `gen_ai.usage.input_tokens` and
/// `gen_ai.usage.output_tokens`. With the feature `tracing` of `flow-runtime`, it is in the span of
/// the node.
///
/// # Retries
/// With `retry(attempts = …)` where a flow declares the node, the model is asked again after an
/// error; [`is_transient`](crate::is_transient) says after which errors that makes sense:
/// `with retry(attempts = 3, wait = "1s", jitter = 0.5, if = is_transient)`.
///
/// What was emitted cannot be taken back: each attempt emits its answer from the beginning. Between
/// two attempts an observer is told [`EventKind::AttemptFailed`] with the path of the node, and
/// drops the text that it has of this path. Of an execution in `flow-durable`, the index of the
/// deltas starts again at 0 with each attempt, also after a crash.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use flow_agents::{Chat, Message, Messages, ScriptedModel};
/// use flow_runtime::prelude::*;
///
/// flow! {
///     Answer(messages: Messages) -> (messages: Messages) {
///         node chat: Chat<Arc<ScriptedModel>>;
///         start >> chat >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let model = Arc::new(ScriptedModel::new().text("It rains."));
/// let flow = Answer::builder().chat(Chat::new(model)).build();
/// let question = Messages::from_iter([Message::user("What is the weather?")]);
/// let output = flow.run(AnswerInput::builder().messages(question).build()).await?;
/// assert_eq!(output.messages[1], Message::assistant("It rains."));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Chat<M> {
    model: M,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
}

impl<M: Model> Chat<M> {
    /// Asks this model.
    pub fn new(model: M) -> Chat<M> {
        Chat {
            model,
            temperature: None,
            max_tokens: None,
        }
    }

    /// How much chance there is in the answers. Without one, the provider decides.
    pub fn temperature(mut self, temperature: f64) -> Chat<M> {
        self.temperature = Some(temperature);
        self
    }

    /// The most tokens that an answer may have. Without a number, the provider decides.
    pub fn max_tokens(mut self, max_tokens: u32) -> Chat<M> {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// The answer, whether it is complete or not.
    async fn answer(&self, cx: &Context, request: &Request) -> Result<Reply, ModelError> {
        let mut chunks = self.model.stream(request).await?;
        let mut reply = ReplyBuilder::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if let Chunk::Text(text) = &chunk {
                cx.emit(text);
            }
            let is_end = matches!(chunk, Chunk::End { .. });
            reply.push(chunk);
            if is_end {
                break; // what a connection does behind the answer does not matter to it
            }
        }
        reply.finish()
    }
}

#[node(writes(messages, reply))]
impl<M: Model> Chat<M> {
    async fn exec(
        &self,
        cx: &Context,
        messages: &Messages,
    ) -> Result<(Messages, Reply), ModelError> {
        let request = Request {
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            ..Request::new(messages)
        };
        let span = tracing::info_span!(
            "chat",
            "gen_ai.operation.name" = "chat",
            "gen_ai.request.temperature" = self.temperature,
            "gen_ai.request.max_tokens" = self.max_tokens,
            "gen_ai.usage.input_tokens" = Empty,
            "gen_ai.usage.output_tokens" = Empty,
        );
        let reply = self.answer(cx, &request).instrument(span.clone()).await?;
        span.record("gen_ai.usage.input_tokens", reply.usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", reply.usage.output_tokens);
        let reply = reply.into_complete()?;
        let mut messages = messages.clone();
        messages.push(reply.message());
        Ok((messages, reply))
    }
}
