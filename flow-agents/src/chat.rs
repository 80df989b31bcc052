//! A node that asks a model.

use std::fmt;
use std::sync::Arc;

use flow_runtime::prelude::*;

use crate::asked::asked;
use crate::error::ModelError;
use crate::message::Message;
use crate::messages::Messages;
use crate::model::{Model, Reply, Request};

/// A node that sends a conversation to a model: it reads `messages`, writes `reply`, and adds the
/// answer to `messages`.
///
/// The text of the answer is [emitted](Context::emit) as it arrives. Only a complete answer is
/// written: one that was [cut off](ModelError::CutOff), [reached the limit of
/// tokens](ModelError::TooLong) or was [held back](ModelError::Filtered) is an error.
///
/// # Tracing
/// With the feature `tracing`, each request is a span named `chat`, within the span of the node if
/// `flow-runtime` has the feature too. Its fields have OpenTelemetry's names for generative AI:
///
/// - `gen_ai.operation.name`;
/// - `gen_ai.provider.name` and `gen_ai.request.model`, if they are [known](Model::about);
/// - `gen_ai.request.temperature` and `gen_ai.request.max_tokens`, if they are set;
/// - `gen_ai.usage.input_tokens` and `gen_ai.usage.output_tokens`, once the answer has arrived.
/// # Retries
/// With `retry(attempts = …)` where a flow declares the node, a failed request is attempted again.
/// [`is_transient`](crate::is_transient) selects the errors after which that makes sense:
/// `with retry(attempts = 3, wait = "1s", jitter = 0.5, if = is_transient)`.
///
/// Emitted text cannot be taken back: each attempt emits its answer from the beginning. Between two
/// attempts, an observer receives [`EventKind::AttemptFailed`] with the path of the node, and
/// discards its text of this path. In an execution of `flow-durable`, the index of the deltas
/// restarts at 0 with each attempt, also after a crash.
///
/// # Examples
/// ```
/// use flow_agents::{Chat, Message, Messages, ScriptedModel};
/// use flow_runtime::prelude::*;
///
/// flow! {
///     Answer(messages: Messages) -> (messages: Messages) {
///         node chat: Chat;
///         start >> chat >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), FlowError> {
/// let model = ScriptedModel::new().text("It rains.");
/// let flow = Answer::builder().chat(Chat::new(model)).build();
/// let question = Messages::from_iter([Message::user("What is the weather?")]);
/// let output = flow.run(AnswerInput::builder().messages(question).build()).await?;
/// assert_eq!(output.messages[1], Message::assistant("It rains."));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Chat {
    model: Arc<dyn Model>,
    temperature: Option<f64>,
    max_tokens: Option<u32>,
}

impl Chat {
    /// Creates a node that asks this model.
    pub fn new(model: impl Model + 'static) -> Chat {
        Chat {
            model: Arc::new(model),
            temperature: None,
            max_tokens: None,
        }
    }

    /// Sets the sampling temperature. Without it, the provider decides.
    pub fn temperature(mut self, temperature: f64) -> Chat {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the maximum number of tokens of an answer. Without it, the provider decides.
    pub fn max_tokens(mut self, max_tokens: u32) -> Chat {
        self.max_tokens = Some(max_tokens);
        self
    }
}

#[node(writes(+messages, reply))]
impl Chat {
    async fn exec(
        &self,
        cx: &Context,
        messages: &Messages,
    ) -> Result<(Message, Reply), ModelError> {
        let request = Request {
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            ..Request::new(messages)
        };
        let reply = asked(&*self.model, &request, |text| cx.emit(text)).await?;
        let reply = reply.into_complete()?;
        Ok((reply.message(), reply))
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("model", &self.model.about())
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .finish()
    }
}
