//! Messages of a conversation.

mod read;

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A message of a conversation with a model.
///
/// The roles and their fields can be matched exhaustively, so a [`Model`](crate::Model) that
/// converts them for a provider cannot forget any. New kinds of content are added as [`Part`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", try_from = "read::Fields")]
pub enum Message {
    /// Instructions for the model before the conversation.
    System {
        /// The text.
        content: String,
    },
    /// A message of a person.
    User {
        /// Texts and images, in order.
        content: Vec<Part>,
    },
    /// An answer of the model.
    Assistant {
        /// The text; empty if the model only calls tools.
        content: String,
        /// The tools that the model calls.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a tool.
    Tool {
        /// The [`id`](ToolCall::id) of the call.
        tool_call_id: String,
        /// The result, or the error, as text.
        content: String,
    },
}

impl Message {
    /// A system message.
    pub fn system(content: impl Into<String>) -> Message {
        let content = content.into();
        Message::System { content }
    }

    /// A user message with this text.
    pub fn user(content: impl Into<String>) -> Message {
        let content = vec![Part::Text(content.into())];
        Message::User { content }
    }

    /// An answer with this text and without calls.
    pub fn assistant(content: impl Into<String>) -> Message {
        let (content, tool_calls) = (content.into(), Vec::new());
        Message::Assistant {
            content,
            tool_calls,
        }
    }

    /// The result of a call.
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<String>) -> Message {
        let (tool_call_id, content) = (tool_call_id.into(), content.into());
        Message::Tool {
            tool_call_id,
            content,
        }
    }

    /// The text of the message. Several texts are separated by line breaks.
    pub fn text(&self) -> String {
        match self {
            Message::System { content }
            | Message::Assistant { content, .. }
            | Message::Tool { content, .. } => content.clone(),
            Message::User { content } => {
                let texts = content.iter().filter_map(|part| match part {
                    Part::Text(text) => Some(text.as_str()),
                    Part::Image(_) => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The tools that the message calls. Only messages of the assistant have calls.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Message::Assistant { tool_calls, .. } => tool_calls,
            _ => &[],
        }
    }
}

/// A part of a person's message. A [`Model`](crate::Model) does not drop a part that it does not
/// know: it refuses it with [`ModelError::Refused`](crate::ModelError::Refused).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// A text.
    Text(String),
    /// An image.
    Image(Image),
}

/// An image in a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Image {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The address of the image, or its data.
    pub source: ImageSource,
}

impl Image {
    /// An image of this media type, such as `image/png`.
    pub fn new(media_type: impl Into<String>, source: ImageSource) -> Image {
        let media_type = media_type.into();
        Image { media_type, source }
    }
}

/// The address of an image, or its data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageSource {
    /// An address from which the provider fetches the image.
    Url(String),
    /// The data of the image in base64.
    Base64(String),
}

/// A tool call that a model requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCall {
    /// The identifier of the call, which its result repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them. They may be invalid JSON: see
    /// [`parse`](ToolCall::parse).
    pub arguments: String,
    /// Data that the provider sent with the call and expects back, such as a signature of the
    /// model's thoughts. Only the [`Model`](crate::Model) that wrote it reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<serde_json::Value>,
}

impl ToolCall {
    /// A call whose arguments are a JSON value.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: &serde_json::Value,
    ) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.to_string(),
            extra: None,
        }
    }

    /// A call with the arguments as the model wrote them.
    pub fn raw(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            extra: None,
        }
    }

    /// Parses the arguments. An empty text counts as `{}`.
    ///
    /// # Errors
    /// If the arguments are not JSON, or do not fit the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match self.arguments.trim() {
            "" => serde_json::from_str("{}"),
            arguments => serde_json::from_str(arguments),
        }
    }
}

/// Shows the name, and in parentheses the arguments as the tool reads them. Control characters are
/// escaped.
impl fmt::Display for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.escape_debug();
        match self.parse::<serde_json::Value>() {
            Ok(arguments) => write!(f, "{name}({arguments})"),
            Err(_) => write!(f, "{name}({:?})", self.arguments),
        }
    }
}
