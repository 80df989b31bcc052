//! What a model is: messages in, a message or a stream of its parts out.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde::{Deserialize, Serialize};

use crate::about::AboutModel;
use crate::error::ModelError;
use crate::message::{Message, ToolCall};
use crate::messages::Messages;
use crate::usage::Usage;

/// A language model.
///
/// A reference to a model is one too, and so is an `Arc`, also of a `dyn Model`.
#[async_trait]
pub trait Model: Send + Sync {
    /// Which model it is, for spans, price tables and limits. By default, nothing is known.
    fn about(&self) -> AboutModel {
        AboutModel::default()
    }

    /// Answers with the whole message.
    ///
    /// # Errors
    /// See [`ModelError`].
    ///
    /// # Cancel safety
    /// The answer of a dropped request is lost; a provider may count its tokens all the same.
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError>;

    /// Answers with the parts of the message as they come. [`ReplyBuilder`](crate::ReplyBuilder) makes a message of
    /// them. A model that cannot do this answers with all parts at once.
    ///
    /// # Errors
    /// As [`complete`](Model::complete). A stream ends with [`Chunk::End`] or with an error, and is
    /// not read further; one that ends otherwise was cut off.
    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        let reply = self.complete(request).await?;
        Ok(stream::iter(reply.into_chunks().into_iter().map(Ok)).boxed())
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn about(&self) -> AboutModel {
        (**self).about()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        (**self).complete(request).await
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        (**self).stream(request).await
    }
}

#[async_trait]
impl<M: Model + ?Sized> Model for &M {
    fn about(&self) -> AboutModel {
        (**self).about()
    }

    async fn complete(&self, request: &Request) -> Result<Reply, ModelError> {
        (**self).complete(request).await
    }

    async fn stream(&self, request: &Request) -> Result<ReplyStream, ModelError> {
        (**self).stream(request).await
    }
}

/// The parts of an answer as they come.
pub type ReplyStream = BoxStream<'static, Result<Chunk, ModelError>>;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// The messages, as [`Messages::for_model`] returns them.
    pub messages: Messages,
    /// The tools that the model may call. All requests of an agent share them.
    #[serde(default, skip_serializing_if = "has_none")]
    pub tools: Arc<[ToolDefinition]>,
    /// How much chance there is in the answer. Without one, the provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The most tokens that the answer may have. Without a number, the provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// What the text of the answer has to be. Without it, any text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
}

impl Request {
    /// Asks with the messages of a conversation, and without tools; the fields can be set.
    pub fn new(messages: &Messages) -> Request {
        Request {
            messages: messages.for_model(),
            tools: Arc::default(),
            temperature: None,
            max_tokens: None,
            output: None,
        }
    }
}

fn has_none(tools: &Arc<[ToolDefinition]>) -> bool {
    tools.is_empty()
}

/// The JSON that the text of an answer has to be.
///
/// A provider that can do so sees to it; others may answer with any text, so what comes is checked
/// all the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputSchema {
    /// A name for it, of letters, digits and `_`.
    pub name: String,
    /// Its JSON Schema.
    pub schema: serde_json::Value,
}

impl OutputSchema {
    /// An answer of this JSON Schema, by a name of letters, digits and `_`.
    pub fn new(name: impl Into<String>, schema: serde_json::Value) -> OutputSchema {
        let name = name.into();
        OutputSchema { name, schema }
    }
}

/// What a model knows of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name by which the model calls it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments, which are an object.
    pub parameters: serde_json::Value,
}

impl ToolDefinition {
    /// A tool with this name, description, and JSON Schema of its arguments.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: serde_json::Value,
    ) -> ToolDefinition {
        ToolDefinition {
            name: name.into(),
            description: description.into(),
            parameters,
        }
    }
}

/// What a model answered.
///
/// # Examples
/// ```
/// use flow_agents::{Reply, Stop, Usage};
///
/// let reply = Reply::new("It rains.", Vec::new(), Usage::new(12, 3), Stop::Done);
/// assert_eq!(reply.usage.total(), 15);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// The text; empty if the model only calls tools.
    pub content: String,
    /// The tools that the model calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What the request used.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: Stop,
}

impl Reply {
    /// An answer of this text and these calls of tools, with what it used and why it stopped.
    pub fn new(
        content: impl Into<String>,
        tool_calls: Vec<ToolCall>,
        usage: Usage,
        stop: Stop,
    ) -> Reply {
        Reply {
            content: content.into(),
            tool_calls,
            usage,
            stop,
        }
    }

    /// The answer as a message of the conversation.
    pub fn message(&self) -> Message {
        Message::Assistant {
            content: self.content.clone(),
            tool_calls: self.tool_calls.clone(),
        }
    }

    /// The answer, if it is complete.
    ///
    /// # Errors
    /// [`ModelError::TooLong`] if the model stopped at the limit of tokens, [`ModelError::Filtered`] if the provider
    /// held the answer back, and [`ModelError::Stopped`] if it stopped for [another reason](Stop::Other).
    pub fn into_complete(self) -> Result<Reply, ModelError> {
        let reply = Box::new(self);
        match reply.stop {
            Stop::Done => Ok(*reply),
            Stop::Other(_) => Err(ModelError::Stopped { reply }),
            Stop::Length => Err(ModelError::TooLong { reply }),
            Stop::Filtered => Err(ModelError::Filtered { reply }),
        }
    }

    /// The answer as a stream would bring it: the text, the calls, the end.
    pub fn into_chunks(self) -> Vec<Chunk> {
        let text = (!self.content.is_empty()).then_some(Chunk::Text(self.content));
        let calls = self.tool_calls.into_iter().enumerate();
        let calls = calls.map(|(index, call)| {
            Chunk::ToolCall(ToolCallChunk {
                index,
                id: Some(call.id),
                name: call.name,
                arguments: call.arguments,
                extra: call.extra,
            })
        });
        let end = Chunk::end(self.usage, self.stop);
        text.into_iter().chain(calls).chain([end]).collect()
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The answer is complete, or the model waits for its tools.
    #[default]
    Done,
    /// The answer has as many tokens as it may have, and is not complete.
    Length,
    /// The provider held the answer back.
    Filtered,
    /// The provider's own word for another reason. Whether the answer is complete is not known.
    Other(String),
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chunk {
    /// More of the text.
    Text(String),
    /// More of a call.
    ToolCall(ToolCallChunk),
    /// The answer has ended: see [`end`](Chunk::end).
    #[non_exhaustive]
    End {
        /// What the request used.
        usage: Usage,
        /// Why the model stopped.
        stop: Stop,
    },
}

impl Chunk {
    /// More of the text.
    pub fn text(text: impl Into<String>) -> Chunk {
        Chunk::Text(text.into())
    }

    /// The answer has ended, with what it used and why it stopped.
    pub fn end(usage: Usage, stop: Stop) -> Chunk {
        Chunk::End { usage, stop }
    }
}

/// A part of a call. The parts of one call have the same index; names and arguments may be split
/// anywhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCallChunk {
    /// Which call of the message this is.
    pub index: usize,
    /// The id of the call, which comes with one of its parts or with each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// More of the tool's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// More of the arguments.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
    /// The [`extra`](ToolCall::extra) of the call, which comes whole with one of its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<serde_json::Value>,
}

impl ToolCallChunk {
    /// An empty part of the call with this index; the fields can be set.
    pub fn new(index: usize) -> ToolCallChunk {
        ToolCallChunk {
            index,
            ..ToolCallChunk::default()
        }
    }
}
