//! The interface of models: messages in, a message or a stream of its parts out.

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
/// References and `Arc`s to a model are models too, also to a `dyn Model`.
#[async_trait]
pub trait Model: Send + Sync {
    /// The provider and name of the model, for spans, price tables and limits. Empty by default.
    fn about(&self) -> AboutModel {
        AboutModel::default()
    }

    /// Returns the whole answer.
    ///
    /// # Errors
    /// See [`ModelError`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the answer is lost; a provider may still count the tokens.
    async fn complete(&self, request: &Request) -> Result<Reply, ModelError>;

    /// Returns the parts of the answer as they arrive. [`ReplyBuilder`](crate::ReplyBuilder)
    /// assembles them. By default, all parts arrive at once.
    ///
    /// # Errors
    /// See [`complete`](Model::complete). A stream ends with [`Chunk::End`] or with an error, and
    /// is not read further. A stream that ends otherwise was cut off.
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

/// A stream of the parts of an answer.
pub type ReplyStream = BoxStream<'static, Result<Chunk, ModelError>>;

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// The messages, as [`Messages::for_model`] returns them.
    pub messages: Messages,
    /// The tools that the model may call. All requests of an agent share them.
    #[serde(default, skip_serializing_if = "has_none")]
    pub tools: Arc<[ToolDefinition]>,
    /// The sampling temperature. Without it, the provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The maximum number of tokens of the answer. Without it, the provider decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The schema for the text of the answer. Without it, any text is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputSchema>,
}

impl Request {
    /// Creates a request with the messages of a conversation and without tools. Fields can be set.
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

/// The JSON Schema for the text of an answer.
///
/// Some providers enforce it; others may answer with any text. So the answer is always checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OutputSchema {
    /// The name, of letters, digits and `_`.
    pub name: String,
    /// The JSON Schema.
    pub schema: serde_json::Value,
}

impl OutputSchema {
    /// Creates a schema with a name of letters, digits and `_`.
    pub fn new(name: impl Into<String>, schema: serde_json::Value) -> OutputSchema {
        let name = name.into();
        OutputSchema { name, schema }
    }
}

/// The definition of a tool for a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name with which the model calls the tool.
    pub name: String,
    /// The description for the model.
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

/// An answer of a model.
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
    /// The tokens that the request used.
    pub usage: Usage,
    /// The reason why the model stopped.
    pub stop: Stop,
}

impl Reply {
    /// Creates an answer from a text, tool calls, the usage and the reason to stop.
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

    /// Returns the answer if it is complete.
    ///
    /// # Errors
    /// [`ModelError::TooLong`] if the model stopped at the limit of tokens,
    /// [`ModelError::Filtered`] if the provider held the answer back, and [`ModelError::Stopped`]
    /// if the model stopped for [another reason](Stop::Other).
    pub fn into_complete(self) -> Result<Reply, ModelError> {
        let reply = Box::new(self);
        match reply.stop {
            Stop::Done => Ok(*reply),
            Stop::Other(_) => Err(ModelError::Stopped { reply }),
            Stop::Length => Err(ModelError::TooLong { reply }),
            Stop::Filtered => Err(ModelError::Filtered { reply }),
        }
    }

    /// Splits the answer into the chunks of a stream: the text, the calls and the end.
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

/// The reason why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// The answer is complete, or the model waits for its tools.
    #[default]
    Done,
    /// The answer reached the limit of tokens, and is incomplete.
    Length,
    /// The provider held the answer back.
    Filtered,
    /// Another reason, in the provider's own word. The answer may be incomplete.
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
    /// The end of the answer: see [`end`](Chunk::end).
    #[non_exhaustive]
    End {
        /// The tokens that the request used.
        usage: Usage,
        /// The reason why the model stopped.
        stop: Stop,
    },
}

impl Chunk {
    /// More of the text.
    pub fn text(text: impl Into<String>) -> Chunk {
        Chunk::Text(text.into())
    }

    /// The end of an answer, with its usage and the reason why it stopped.
    pub fn end(usage: Usage, stop: Stop) -> Chunk {
        Chunk::End { usage, stop }
    }
}

/// A part of a call. The parts of one call have the same index; names and arguments may be split
/// anywhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCallChunk {
    /// The index of the call in the message.
    pub index: usize,
    /// The id of the call, in one or each of its parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// More of the tool's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// More of the arguments.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
    /// The [`extra`](ToolCall::extra) of the call, whole in one of its parts.
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
