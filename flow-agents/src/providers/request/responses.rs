//! Responses of OpenAI.

use serde_json::{Value, json};

use super::asked::{Asked, Turn, address, arguments, said, set};
use super::schema;
use crate::message::{Part, ToolCall};
use crate::model::ToolDefinition;
use crate::providers::kept::{self, Thought};
use crate::providers::provider::Provider;

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let request = asked.request;
    let mut items = Vec::new();
    for turn in &asked.turns {
        match turn {
            Turn::System(content) => items.push(json!({ "role": "system", "content": content })),
            Turn::User(parts) => {
                items.push(json!({ "role": "user", "content": said(parts, part) }));
            }
            Turn::Assistant(content, calls) => {
                answered(asked.provider, content, calls, &mut items);
            }
            Turn::Results(results) => items.extend(results.iter().map(|(id, output)| {
                json!({ "type": "function_call_output", "call_id": id, "output": output })
            })),
        }
    }
    let mut body = json!({ "model": asked.model, "stream": asked.is_streamed, "store": false });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body["input"] = Value::Array(items);
    if let Some(output) = asked.output() {
        let schema = schema::strict(&output.schema);
        body["text"] = json!({ "format": {
            "type": "json_schema", "name": output.name, "strict": true, "schema": schema,
        } });
    }
    set(&mut body, "temperature", request.temperature);
    set(&mut body, "max_output_tokens", request.max_tokens);
    if thinks(asked.model) {
        // Asks for the thoughts, to send them with the next request. OpenAI gives summaries only to
        // verified organizations.
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    body
}

/// Returns `true` if a model of OpenAI thinks before it answers. For other models, OpenAI refuses
/// to send thoughts.
fn thinks(name: &str) -> bool {
    let others = ["gpt-3", "gpt-4", "chatgpt"];
    !others.iter().any(|other| name.starts_with(other)) && !name.contains("-chat")
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "input_text", "text": text }),
        Part::Image(image) => {
            json!({ "type": "input_image", "detail": "auto", "image_url": address(image) })
        }
    }
}

fn answered(provider: &Provider, content: &str, calls: &[ToolCall], items: &mut Vec<Value>) {
    let mut said = Some(content).filter(|it| !it.is_empty()).map(|text| {
        let content = json!([{ "type": "output_text", "text": text }]);
        json!({ "type": "message", "role": "assistant", "content": content })
    });
    for call in calls {
        for thought in kept::kept(provider, call) {
            if let Thought::Signature(signature) = thought {
                let thought = json!({
                    "type": "reasoning", "encrypted_content": signature, "summary": [],
                });
                items.push(thought);
            }
        }
        items.extend(said.take()); // after the thoughts before it
        items.push(json!({
            "type": "function_call", "call_id": call.id, "name": call.name,
            "arguments": arguments(call).to_string(),
        }));
    }
    items.extend(said);
}

fn tool(tool: &ToolDefinition) -> Value {
    let ToolDefinition {
        name,
        description,
        parameters,
    } = tool;
    json!({
        "type": "function", "name": name, "description": description,
        "parameters": parameters, "strict": false,
    })
}
