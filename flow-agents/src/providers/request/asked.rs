//! A request in the parts that all protocols share.

use serde_json::{Map, Value, json};

use crate::error::ModelError;
use crate::message::{Image, ImageSource, Message, Part, ToolCall};
use crate::model::{OutputSchema, Request};
use crate::providers::provider::Provider;

/// A request to a model of a provider.
pub(super) struct Asked<'a> {
    pub(super) provider: &'a Provider,
    pub(super) model: &'a str,
    pub(super) request: &'a Request,
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) is_streamed: bool,
}

impl Asked<'_> {
    /// The schema of the answer, if the provider accepts it.
    pub(super) fn output(&self) -> Option<&OutputSchema> {
        let output = self.request.output.as_ref();
        output.filter(|_| self.provider.takes_schemas())
    }
}

/// A turn of one side. The results of the calls of one message are one turn: some providers say
/// that a model otherwise learns to call one tool at a time.
pub(super) enum Turn<'a> {
    System(&'a str),
    User(&'a [Part]),
    Assistant(&'a str, &'a [ToolCall]),
    /// The results of calls, each after the id of its call.
    Results(Vec<(&'a str, &'a str)>),
}

pub(super) fn turns(request: &Request) -> Result<Vec<Turn<'_>>, ModelError> {
    let mut turns = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        let turn = match (message, turns.last_mut()) {
            (Message::System { content }, _) => Turn::System(content),
            (Message::User { content }, _) => {
                content.iter().try_for_each(check)?;
                Turn::User(content)
            }
            (
                Message::Assistant {
                    content,
                    tool_calls,
                },
                _,
            ) => Turn::Assistant(content, tool_calls),
            (
                Message::Tool {
                    tool_call_id,
                    content,
                },
                last,
            ) => {
                let result = (tool_call_id.as_str(), content.as_str());
                if let Some(Turn::Results(results)) = last {
                    results.push(result);
                    continue;
                }
                Turn::Results(vec![result])
            }
        };
        turns.push(turn);
    }
    Ok(turns)
}

fn check(part: &Part) -> Result<(), ModelError> {
    match part {
        Part::Image(Image { media_type, .. }) if !media_type.starts_with("image/") => {
            let why = format!(
                "a message has an image of the media type `{media_type}`, which is not one of images"
            );
            Err(ModelError::Refused { source: why.into() })
        }
        Part::Text(_) | Part::Image(_) => Ok(()),
    }
}

/// The content of a user message: a single text as a string, else parts in the provider's form.
pub(super) fn said(parts: &[Part], part: impl Fn(&Part) -> Value) -> Value {
    match parts {
        [Part::Text(text)] => json!(text),
        parts => parts.iter().map(part).collect(),
    }
}

/// The address of an image, or a `data:` URL if the message contains the image.
pub(super) fn address(image: &Image) -> String {
    match &image.source {
        ImageSource::Url(url) => url.clone(),
        ImageSource::Base64(data) => format!("data:{};base64,{data}", image.media_type),
    }
}

/// The arguments as an object, which all providers require. Invalid ones are sent back to the model
/// in the form that Anthropic documents for this.
pub(super) fn arguments(call: &ToolCall) -> Value {
    match call.parse::<Map<String, Value>>() {
        Ok(arguments) => Value::Object(arguments),
        Err(_) => json!({ "INVALID_JSON": call.arguments }),
    }
}

/// Sets a field if there is a value for it.
pub(super) fn set<T: Into<Value>>(body: &mut Value, name: &str, value: Option<T>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}
