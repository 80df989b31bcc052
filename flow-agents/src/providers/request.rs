//! Requests in the types of `genai`.

use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ContentPart, JsonSpec, MessageContent, ReasoningEffort,
    Tool, ToolCall as Call, ToolResponse,
};
use serde_json::{Map, Value, json};

use super::kept::{self, Thought};
use super::provider::{Protocol, Provider};
use crate::error::ModelError;
use crate::message::{Image, ImageSource, Message, Part, ToolCall};
use crate::model::{Request, ToolDefinition};

/// The names by which Gemini's own tools are asked for.
const OF_GEMINI: [&str; 4] = [
    "googleSearch",
    "googleSearchRetrieval",
    "codeExecution",
    "urlContext",
];

/// The messages of a request.
///
/// # Errors
/// [`ModelError::Refused`] for what the provider does not take.
pub(super) fn chat(provider: &Provider, request: &Request) -> Result<ChatRequest, ModelError> {
    let mut messages = Vec::with_capacity(request.messages.len());
    let mut results = Vec::new();
    for message in &request.messages {
        if let Message::Tool {
            tool_call_id,
            content,
        } = message
        {
            results.push(ToolResponse::new(tool_call_id, content));
            continue;
        }
        flush(&mut results, &mut messages);
        messages.push(match message {
            Message::System { content } => ChatMessage::system(content),
            Message::User { content } => ChatMessage::user(said(provider, content)?),
            Message::Assistant {
                content,
                tool_calls,
            } => ChatMessage::assistant(answered(provider, content, tool_calls)),
            Message::Tool { .. } => continue,
        });
    }
    flush(&mut results, &mut messages);
    let chat = ChatRequest::from_messages(messages);
    if request.tools.is_empty() || by_ourselves(provider, &request.tools) {
        return Ok(chat);
    }
    let tools = request.tools.iter().map(|it| tool(provider, it));
    Ok(chat.with_tools(tools.collect::<Result<Vec<_>, _>>()?))
}

/// The results of the calls of one message belong into one message: some providers say that a model
/// otherwise learns to call one tool at a time.
fn flush(results: &mut Vec<ToolResponse>, messages: &mut Vec<ChatMessage>) {
    if !results.is_empty() {
        let results = MessageContent::from_tool_responses(std::mem::take(results));
        messages.push(ChatMessage::tool(results));
    }
}

fn said(provider: &Provider, parts: &[Part]) -> Result<MessageContent, ModelError> {
    let parts = parts.iter().map(|part| match part {
        Part::Text(text) => Ok(ContentPart::from_text(text)),
        Part::Image(image) => picture(provider, image),
    });
    Ok(MessageContent::from_parts(
        parts.collect::<Result<Vec<_>, _>>()?,
    ))
}

fn picture(provider: &Provider, image: &Image) -> Result<ContentPart, ModelError> {
    let media_type = image.media_type.as_str();
    if !media_type.starts_with("image/") {
        let why = format!(
            "a message has an image of the media type `{media_type}`, which is not one of images"
        );
        return Err(ModelError::Refused { source: why.into() });
    }
    Ok(match &image.source {
        // `genai` leaves these out for Anthropic, which takes them.
        ImageSource::Url(url) if provider.protocol == Protocol::Messages => {
            let source = json!({ "type": "url", "url": url });
            ContentPart::from_custom(json!({ "type": "image", "source": source }), None)
        }
        ImageSource::Url(url) => ContentPart::from_binary_url(media_type, url, None),
        ImageSource::Base64(data) => {
            ContentPart::from_binary_base64(media_type, data.as_str(), None)
        }
    })
}

fn answered(provider: &Provider, text: &str, calls: &[ToolCall]) -> MessageContent {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(ContentPart::from_text(text));
    }
    // DeepSeek wants the field with each message that calls, also where nothing was kept.
    let mut is_missing = provider.kind == AdapterKind::DeepSeek && !calls.is_empty();
    for call in calls {
        let mut signatures = Vec::new();
        for thought in kept::kept(provider, call) {
            match thought {
                Thought::Signature(it) if provider.protocol == Protocol::Gemini => {
                    signatures.push(it)
                }
                Thought::Signature(it) => parts.push(ContentPart::ThoughtSignature(it)),
                Thought::Text(it) => {
                    is_missing = false;
                    parts.push(ContentPart::ReasoningContent(it));
                }
                Thought::Block(it) => parts.push(ContentPart::from_custom(it, None)),
            }
        }
        parts.push(ContentPart::ToolCall(Call {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: arguments(call),
            thought_signatures: (!signatures.is_empty()).then_some(signatures),
        }));
    }
    if is_missing {
        parts.push(ContentPart::ReasoningContent(String::new()));
    }
    MessageContent::from_parts(parts)
}

/// The arguments as an object, which all providers ask for. Ones that the model wrote badly are sent
/// back to it in the form that Anthropic documents for this.
fn arguments(call: &ToolCall) -> Value {
    match call.parse::<Map<String, Value>>() {
        Ok(arguments) => Value::Object(arguments),
        Err(_) => json!({ "INVALID_JSON": call.arguments }),
    }
}

fn tool(provider: &Provider, tool: &ToolDefinition) -> Result<Tool, ModelError> {
    let ToolDefinition {
        name,
        description,
        parameters,
    } = tool;
    if provider.protocol == Protocol::Gemini && OF_GEMINI.contains(&name.as_str()) {
        let why =
            format!("a tool is called `{name}`, which is the name of a tool of Gemini itself");
        return Err(ModelError::Refused { source: why.into() });
    }
    let tool = Tool::new(name)
        .with_schema(parameters.clone())
        .with_strict(false);
    let tool = if provider.protocol == Protocol::Messages {
        Tool {
            strict: None,
            ..tool
        }
    } else {
        tool
    };
    Ok(tool.with_description(description))
}

/// Whether the tools are sent without `genai`, which turns one called `web_search` into the
/// provider's own.
fn by_ourselves(provider: &Provider, tools: &[ToolDefinition]) -> bool {
    matches!(provider.protocol, Protocol::Messages | Protocol::Responses)
        && tools.iter().any(|tool| tool.name == "web_search")
}

fn raw_tool(provider: &Provider, tool: &ToolDefinition) -> Value {
    let ToolDefinition {
        name,
        description,
        parameters,
    } = tool;
    if provider.protocol == Protocol::Messages {
        json!({ "name": name, "description": description, "input_schema": parameters })
    } else {
        json!({
            "type": "function", "name": name, "description": description,
            "parameters": parameters, "strict": false,
        })
    }
}

/// The settings of a request, and what of the answer is wanted.
pub(super) fn options(provider: &Provider, name: &str, request: &Request) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_tool_calls(provider.protocol != Protocol::Chat)
        .with_capture_raw_body(true);
    if provider.wants_thoughts() {
        options = options.with_capture_reasoning_content(true);
    }
    options.temperature = request.temperature;
    options.max_tokens = request.max_tokens;
    if let Some(output) = &request.output
        && provider.takes_schemas()
    {
        options = options.with_response_format(JsonSpec::new(&output.name, output.schema.clone()));
    }
    // Otherwise, `genai` takes the end of a name such as `qwen3-max` for an effort, and cuts it off.
    if ReasoningEffort::from_model_name(name).0.is_some()
        && matches!(provider.protocol, Protocol::Chat | Protocol::Responses)
    {
        options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
    }
    let mut body = Map::new();
    if provider.protocol == Protocol::Responses && thinks(name) {
        // What the model thought, for the next request, without a summary, for which OpenAI wants a
        // proof of who asks.
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if by_ourselves(provider, &request.tools) {
        let tools = request.tools.iter().map(|it| raw_tool(provider, it));
        body.insert("tools".to_owned(), tools.collect());
    }
    if !body.is_empty() {
        options = options.with_extra_body(Value::Object(body));
    }
    options
}

/// Whether a model of OpenAI thinks before it answers. Of one that does not, OpenAI refuses to send
/// the thoughts.
fn thinks(name: &str) -> bool {
    let others = ["gpt-3", "gpt-4", "chatgpt"];
    !others.iter().any(|other| name.starts_with(other)) && !name.contains("-chat")
}
