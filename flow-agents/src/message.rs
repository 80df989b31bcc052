//! One message of a conversation.

mod read;

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A message of a conversation with a model.
///
/// The roles and their fields can be matched in full: where a [`Model`](crate::Model) turns them into
/// those of a provider, none of them can be forgotten. What people say grows by [`Part`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case", try_from = "read::Fields")]
pub enum Message {
    /// What the model is told before the conversation.
    System {
        /// The text.
        content: String,
    },
    /// What a person says.
    User {
        /// Texts and images, in their order.
        content: Vec<Part>,
    },
    /// What the model answered.
    Assistant {
        /// The text; empty if the model only calls tools.
        content: String,
        /// The tools that the model calls.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool returned.
    Tool {
        /// The [`id`](ToolCall::id) of the call.
        tool_call_id: String,
        /// The result, or the error, as text.
        content: String,
    },
}

impl Message {
    /// A message of the system.
    pub fn system(content: impl Into<String>) -> Message {
        let content = content.into();
        Message::System { content }
    }

    /// A text of a person.
    pub fn user(content: impl Into<String>) -> Message {
        let content = vec![Part::Text(content.into())];
        Message::User { content }
    }

    /// A text of the model.
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

    /// The text of the message. Texts between images are separated by line breaks.
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

    /// The tools that the message calls; none unless it is one of the assistant.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Message::Assistant { tool_calls, .. } => tool_calls,
            _ => &[],
        }
    }
}

/// A part of what a person says. A [`Model`](crate::Model) refuses a part that it does not know
/// ([`ModelError::Refused`](crate::ModelError::Refused)), and does not leave it out.
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
    /// Where the image is.
    pub source: ImageSource,
}

impl Image {
    /// An image of this media type, such as `image/png`.
    pub fn new(media_type: impl Into<String>, source: ImageSource) -> Image {
        let media_type = media_type.into();
        Image { media_type, source }
    }
}

/// Where an image is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ImageSource {
    /// At this address, from which the provider fetches it.
    Url(String),
    /// Here, in base64.
    Base64(String),
}

/// A call of a tool that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCall {
    /// The name of the call, which its result repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them. They need not be JSON: see
    /// [`parse`](ToolCall::parse).
    pub arguments: String,
    /// What the provider sent with the call and wants back with it, such as a signature of what the
    /// model thought before it. Only the [`Model`](crate::Model) that wrote it reads it.
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

    /// A call whose arguments are as the model wrote them.
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

    /// The arguments as a value. No arguments at all are those of a tool without parameters: `{}`.
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

/// As in a program: the name, and the arguments in parentheses, as the tool will read them. Control
/// characters are escaped.
impl fmt::Display for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.escape_debug();
        match self.parse::<serde_json::Value>() {
            Ok(arguments) => write!(f, "{name}({arguments})"),
            Err(_) => write!(f, "{name}({:?})", self.arguments),
        }
    }
}
