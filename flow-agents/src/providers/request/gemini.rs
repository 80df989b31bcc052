//! Requests to Gemini.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::asked::{Asked, Turn, arguments, set};
use crate::error::ModelError;
use crate::message::{ImageSource, Part, ToolCall};
use crate::model::ToolDefinition;
use crate::providers::kept::{self, Thought};

/// The names that requests use for Gemini's own tools.
const OF_GEMINI: [&str; 4] = [
    "googleSearch",
    "googleSearchRetrieval",
    "codeExecution",
    "urlContext",
];

/// The value that Gemini 3 accepts for the signature of a call that has none.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn body(asked: &Asked<'_>) -> Result<Value, ModelError> {
    let request = asked.request;
    let (mut system, mut contents) = (Vec::new(), Vec::new());
    let mut names = BTreeMap::new();
    for turn in &asked.turns {
        let (role, parts) = match turn {
            Turn::System(content) => {
                system.push(*content);
                continue;
            }
            Turn::User(parts) => ("user", parts.iter().map(part).collect()),
            Turn::Assistant(content, calls) => {
                names.extend(calls.iter().map(|it| (it.id.as_str(), it.name.as_str())));
                ("model", answered(asked, content, calls))
            }
            Turn::Results(results) => {
                let result = |it: &(&str, &str)| result(*it, &names);
                ("user", results.iter().map(result).collect())
            }
        };
        if !parts.is_empty() {
            contents.push(json!({ "role": role, "parts": parts }));
        }
    }
    let mut body = json!({});
    if !system.is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": system.join("\n") }] });
    }
    if !request.tools.is_empty() {
        let tools: Result<Vec<Value>, ModelError> = request.tools.iter().map(tool).collect();
        body["tools"] = json!([{ "functionDeclarations": tools? }]);
    }
    body["contents"] = Value::Array(contents);
    let mut config = json!({});
    if let Some(output) = asked.output() {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = output.schema.clone();
    }
    set(&mut config, "temperature", request.temperature);
    set(&mut config, "maxOutputTokens", request.max_tokens);
    if config != json!({}) {
        body["generationConfig"] = config;
    }
    Ok(body)
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Image(image) => match &image.source {
            ImageSource::Url(url) => {
                json!({ "file_data": { "mime_type": image.media_type, "file_uri": url } })
            }
            ImageSource::Base64(data) => {
                json!({ "inline_data": { "mime_type": image.media_type, "data": data } })
            }
        },
    }
}

fn answered(asked: &Asked<'_>, content: &str, calls: &[ToolCall]) -> Vec<Value> {
    let mut parts = Vec::new();
    if !content.is_empty() {
        parts.push(json!({ "text": content }));
    }
    // The first call of a message needs a signature.
    let mut instead = asked
        .model
        .contains("gemini-3")
        .then(|| UNSIGNED.to_owned());
    for call in calls {
        let mut function = json!({ "name": call.name, "args": arguments(call) });
        set(&mut function, "id", id(&call.id));
        let mut part = json!({ "functionCall": function });
        let thoughts = kept::kept(asked.provider, call);
        let signature = thoughts.into_iter().find_map(|thought| match thought {
            Thought::Signature(signature) => Some(signature),
            Thought::Text(_) | Thought::Block(_) => None,
        });
        let instead = instead.take();
        set(&mut part, "thoughtSignature", signature.or(instead));
        parts.push(part);
    }
    parts
}

fn result((call, content): (&str, &str), names: &BTreeMap<&str, &str>) -> Value {
    let name = names.get(call).copied();
    let id = name.and_then(|_| id(call));
    let name = name.unwrap_or(call);
    let response = json!({ "name": name, "content": content });
    let mut result = json!({ "name": name, "response": response });
    set(&mut result, "id", id);
    json!({ "functionResponse": result })
}

/// The id of a call, if Gemini gave it.
fn id(call: &str) -> Option<&str> {
    (!call.is_empty() && !call.starts_with(kept::NAMELESS)).then_some(call)
}

fn tool(tool: &ToolDefinition) -> Result<Value, ModelError> {
    let ToolDefinition {
        name,
        description,
        parameters,
    } = tool;
    if OF_GEMINI.contains(&name.as_str()) {
        let why =
            format!("a tool is called `{name}`, which is the name of a tool of Gemini itself");
        return Err(ModelError::Refused { source: why.into() });
    }
    Ok(json!({ "name": name, "description": description, "parametersJsonSchema": parameters }))
}
