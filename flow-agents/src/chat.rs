//! A node that asks a model.

use flow_runtime::prelude::*;
use futures_util::StreamExt as _;

use crate::error::ModelError;
use crate::messages::Messages;
use crate::model::{Chunk, Model, Reply, Request};
use crate::reply_builder::ReplyBuilder;

/// A node that asks a model with the messages of a conversation: it reads `messages`, and writes
/// `messages` with the answer behind them, and `reply`.
///
/// The text of the answer is [emitted](Context::emit) as it comes. Only an answer that is complete
/// is written; with `retry(attempts = …)` where the flow declares the node, one that was cut off is
/// asked for again.
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
        let mut chunks = self.model.stream(&request).await?;
        let mut reply = ReplyBuilder::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk?;
            if let Chunk::Text(text) = &chunk {
                cx.emit(text);
            }
            reply.push(chunk);
        }
        let reply = reply.finish()?;
        let mut messages = messages.clone();
        messages.push(reply.message());
        Ok((messages, reply))
    }
}
