//! Messages of Anthropic.

use serde_json::{Value, json};

use super::asked::{Asked, Turn, arguments, said, set};
use super::schema;
use crate::message::{ImageSource, Part, ToolCall};
use crate::model::ToolDefinition;
use crate::providers::kept::{self, Thought};
use crate::providers::provider::Provider;

pub(super) fn body(asked: &Asked<'_>) -> Value {
    let request = asked.request;
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for turn in &asked.turns {
        let (role, content) = match turn {
            Turn::System(content) => {
                system.push(*content);
                continue;
            }
            Turn::User(parts) => ("user", said(parts, part)),
            Turn::Assistant(content, calls) => {
                ("assistant", answered(asked.provider, content, calls))
            }
            Turn::Results(results) => ("user", results.iter().map(result).collect()),
        };
        messages.push(json!({ "role": role, "content": content }));
    }
    let mut body = json!({ "model": asked.model, "stream": asked.is_streamed });
    if !system.is_empty() {
        body["system"] = json!(system.join("\n\n"));
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
    }
    body["messages"] = Value::Array(messages);
    if let Some(output) = asked.output() {
        let schema = schema::closed(&output.schema);
        body["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } });
    }
    set(&mut body, "temperature", request.temperature);
    let most = request
        .max_tokens
        .unwrap_or_else(|| most_tokens(asked.model));
    body["max_tokens"] = json!(most);
    body
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Image(image) => {
            let source = match &image.source {
                ImageSource::Url(url) => json!({ "type": "url", "url": url }),
                ImageSource::Base64(data) => {
                    json!({ "type": "base64", "media_type": image.media_type, "data": data })
                }
            };
            json!({ "type": "image", "source": source })
        }
    }
}

fn answered(provider: &Provider, content: &str, calls: &[ToolCall]) -> Value {
    if calls.is_empty() {
        return json!(content);
    }
    let mut blocks = Vec::new();
    let mut said = Some(content).filter(|it| !it.is_empty());
    for call in calls {
        // Anthropic accepts a thought only with its signature, which is kept before it.
        let mut signature = None;
        for thought in kept::kept(provider, call) {
            match (thought, signature.take()) {
                (Thought::Signature(it), _) => signature = Some(it),
                (Thought::Text(thought), Some(signature)) => blocks.push(
                    json!({ "type": "thinking", "thinking": thought, "signature": signature }),
                ),
                (Thought::Text(_), None) => {}
                (Thought::Block(block), _) => blocks.push(block),
            }
        }
        // A message begins with the thoughts before it.
        blocks.extend(
            said.take()
                .map(|text| json!({ "type": "text", "text": text })),
        );
        blocks.push(json!({
            "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(call),
        }));
    }
    Value::Array(blocks)
}

fn result((id, content): &(&str, &str)) -> Value {
    json!({ "type": "tool_result", "content": content, "tool_use_id": id })
}

fn tool(tool: &ToolDefinition) -> Value {
    let ToolDefinition {
        name,
        description,
        parameters,
    } = tool;
    json!({ "name": name, "input_schema": parameters, "description": description })
}

/// The maximum number of output tokens of a model, inferred from its name.
fn most_tokens(model: &str) -> u32 {
    let version = |family: &str| {
        let mut numbers = model.split_once(family)?.1.split('-').map(|it| {
            let is_number = it.len() <= 2; // and not a date
            it.parse::<u32>().ok().filter(|_| is_number)
        });
        let major = numbers.next()??;
        Some((major, numbers.next().flatten().unwrap_or_default()))
    };
    if model.contains("fable") || model.contains("mythos") {
        return 128_000;
    }
    match (version("claude-opus-"), version("claude-haiku-")) {
        (Some((4, 8..) | (5.., _)), _) | (_, Some((5.., _))) => 128_000,
        (Some((4, 5..)), _) => 64_000,
        (Some((4, _)), _) => 32_000,
        _ if model.contains("3-opus") || model.contains("3-haiku") => 4_096,
        _ if model.contains("claude-3-5") => 8_192,
        _ => 64_000,
    }
}

#[cfg(test)]
mod tests {
    use super::most_tokens;

    #[test]
    fn the_most_tokens_of_a_model_are_known_by_its_name() {
        for (model, most) in [
            ("claude-sonnet-4-5", 64_000),
            ("claude-opus-4-20250514", 32_000),
            ("claude-opus-4-1-20250805", 32_000),
            ("claude-opus-4-5", 64_000),
            ("claude-opus-4-8", 128_000),
            ("claude-opus-5", 128_000),
            ("claude-haiku-4-5", 64_000),
            ("claude-haiku-5", 128_000),
            ("claude-3-7-sonnet-latest", 64_000),
            ("claude-3-5-haiku-20241022", 8_192),
            ("claude-3-haiku-20240307", 4_096),
            ("of-another-server", 64_000),
        ] {
            assert_eq!(most_tokens(model), most, "{model}");
        }
    }
}
