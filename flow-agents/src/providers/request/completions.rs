//! Chat Completions of OpenAI.

use serde_json::{Value, json};

use super::asked::{Asked, Turn, address, arguments, said, set};
use super::schema;
use crate::message::{Part, ToolCall};
use crate::model::ToolDefinition;
use crate::providers::kept::{self, Thought};
use crate::providers::provider::Provider;

/// The prefixes of models that call the limit of tokens `max_completion_tokens`.
const THINKING: [&str; 5] = ["gpt-5", "gpt-6", "o1", "o3", "o4"];

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let request = asked.request;
    let mut messages = Vec::new();
    for turn in &asked.turns {
        match turn {
            Turn::System(content) => {
                messages.push(json!({ "role": "system", "content": content }));
            }
            Turn::User(parts) => {
                messages.push(json!({ "role": "user", "content": said(parts, part) }));
            }
            Turn::Assistant(content, calls) => {
                messages.push(answered(asked.provider, content, calls));
            }
            Turn::Results(results) => messages.extend(results.iter().map(
                |(id, content)| json!({ "role": "tool", "content": content, "tool_call_id": id }),
            )),
        }
    }
    let mut body = json!({ "model": asked.model, "stream": asked.is_streamed });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body["messages"] = Value::Array(messages);
    if let Some(output) = asked.output() {
        let schema = schema::strict(&output.schema);
        let schema = json!({ "name": output.name, "strict": true, "schema": schema });
        body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
    }
    if asked.is_streamed {
        body["stream_options"] = json!({ "include_usage": true });
    }
    set(&mut body, "temperature", request.temperature);
    let thinks = THINKING.iter().any(|it| asked.model.starts_with(it));
    let most = if thinks {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    set(&mut body, most, request.max_tokens);
    body
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image(image) => {
            json!({ "type": "image_url", "image_url": { "url": address(image) } })
        }
    }
}

fn answered(provider: &Provider, content: &str, calls: &[ToolCall]) -> Value {
    let mut message = json!({ "role": "assistant", "content": content });
    if calls.is_empty() {
        return message;
    }
    message["tool_calls"] = calls.iter().map(called).collect();
    // DeepSeek requires the field in each message with calls, even if nothing was kept.
    if provider.wants_thoughts() {
        let thoughts = calls.iter().flat_map(|call| kept::kept(provider, call));
        let thoughts = thoughts.filter_map(|thought| match thought {
            Thought::Text(text) => Some(text),
            Thought::Signature(_) | Thought::Block(_) => None,
        });
        let thoughts: Vec<String> = thoughts.collect();
        message["reasoning_content"] = json!(thoughts.join("\n"));
    }
    message
}

fn called(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": arguments(call).to_string() });
    json!({ "type": "function", "id": call.id, "function": function })
}

fn tool(tool: &ToolDefinition) -> Value {
    let ToolDefinition {
        name,
        description,
        parameters,
    } = tool;
    let function = json!({
        "name": name, "description": description, "parameters": parameters, "strict": false,
    });
    json!({ "type": "function", "function": function })
}
