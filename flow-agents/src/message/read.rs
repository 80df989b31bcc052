//! Reads messages. With an internally tagged enum, serde buffers all fields until it has the tag,
//! which takes twice the time. A durable agent reads its whole conversation in each turn.

use std::fmt;

use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::{Message, Part, ToolCall};

/// The fields of all messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    role: Role,
    content: Option<Content>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_call_id: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// A text, or parts: the role decides which of them are valid.
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
    }
}

/// The mistake in the fields of a message of this role.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum Unfit {
    #[error("missing field `{0}`")]
    Missing(&'static str),
    #[error("unknown field `{0}` in a message of the role `{1}`")]
    Unknown(&'static str, &'static str),
    #[error("invalid type: the `content` of a message of the role `{0}` has to be {1}")]
    Content(&'static str, &'static str),
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

impl Fields {
    fn text(&mut self) -> Result<String, Unfit> {
        match self.content.take() {
            Some(Content::Text(text)) => Ok(text),
            Some(Content::Parts(_)) => Err(Unfit::Content(self.role.name(), "a text")),
            None => Err(Unfit::Missing("content")),
        }
    }

    fn parts(&mut self) -> Result<Vec<Part>, Unfit> {
        match self.content.take() {
            Some(Content::Parts(parts)) => Ok(parts),
            Some(Content::Text(_)) => Err(Unfit::Content(self.role.name(), "a list of parts")),
            None => Err(Unfit::Missing("content")),
        }
    }

    /// Refuses the fields that a message of this role does not use.
    fn nothing_else(self) -> Result<(), Unfit> {
        let unknown = |field| Err(Unfit::Unknown(field, self.role.name()));
        match (self.tool_calls, self.tool_call_id) {
            (Some(_), _) => unknown("tool_calls"),
            (_, Some(_)) => unknown("tool_call_id"),
            (None, None) => Ok(()),
        }
    }
}

impl TryFrom<Fields> for Message {
    type Error = Unfit;

    fn try_from(mut fields: Fields) -> Result<Message, Unfit> {
        let message = match fields.role {
            Role::System => Message::System {
                content: fields.text()?,
            },
            Role::User => Message::User {
                content: fields.parts()?,
            },
            Role::Assistant => Message::Assistant {
                content: fields.text()?,
                tool_calls: fields.tool_calls.take().unwrap_or_default(),
            },
            Role::Tool => Message::Tool {
                tool_call_id: fields
                    .tool_call_id
                    .take()
                    .ok_or(Unfit::Missing("tool_call_id"))?,
                content: fields.text()?,
            },
        };
        fields.nothing_else()?;
        Ok(message)
    }
}
