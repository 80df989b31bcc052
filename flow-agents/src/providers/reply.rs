//! Answers in our types.

use genai::chat::{
    ChatResponse, ContentPart, MessageContent, StopReason, ToolCall as Call, Usage as Tokens,
};
use serde::Deserialize as _;
use serde_json::Value;

use super::completions::{CallPart, Completion};
use super::failure;
use super::frames::{Seen, read_whole};
use super::kept::{self, Thought};
use super::provider::{Protocol, Provider};
use crate::error::ModelError;
use crate::log::warning;
use crate::message::ToolCall;
use crate::model::{Chunk, Reply, Stop};
use crate::reply_builder::ReplyBuilder;
use crate::usage::Usage;

/// A whole answer, from what `genai` made of it, or why it could not, and from the body.
///
/// # Errors
/// Those of [`failure::sort`]; and [`ModelError::CutOff`] if the answer does not say why it ended.
pub(super) fn whole(
    provider: &Provider,
    answer: Result<ChatResponse, genai::Error>,
) -> Result<Reply, ModelError> {
    match (provider.protocol, answer) {
        (Protocol::Chat, Ok(answer)) => {
            let body = answer.captured_raw_body.unwrap_or_default();
            completion(
                provider,
                &body,
                answer.stop_reason.as_ref(),
                usage(&answer.usage),
            )
        }
        // Of calls whose arguments are not JSON.
        (Protocol::Chat, Err(genai::Error::ChatResponseGeneration { response_body, .. })) => {
            completion(provider, &response_body, None, None)
        }
        (_, Ok(answer)) => response(provider, answer),
        (
            protocol,
            Err(genai::Error::ChatResponseGeneration {
                response_body,
                cause,
                ..
            }),
        ) => blocked(protocol, &response_body).ok_or_else(|| ModelError::Malformed {
            source: cause.into(),
        }),
        (_, Err(error)) => Err(failure::sort(error)),
    }
}

/// An answer that was held back before it began.
fn blocked(protocol: Protocol, body: &Value) -> Option<Reply> {
    let seen = read_whole(protocol, body);
    let usage = seen.into_iter().find_map(|it| match it {
        Seen::Filtered(usage) => Some(usage),
        _ => None,
    })?;
    Some(Reply::new("", Vec::new(), told(usage), Stop::Filtered))
}

fn completion(
    provider: &Provider,
    body: &Value,
    stop: Option<&StopReason>,
    usage: Option<Usage>,
) -> Result<Reply, ModelError> {
    if body.get("error").is_some_and(|it| !it.is_null()) {
        return Err(failure::failed(body));
    }
    let completion = Completion::deserialize(body).map_err(failure::unreadable)?;
    let usage = usage.or_else(|| completion.usage());
    let Some(choice) = completion.choices.into_iter().next() else {
        let why = "an answer has no `choices`";
        return Err(ModelError::Malformed { source: why.into() });
    };
    let named = choice.finish_reason.map(StopReason::from);
    let said = choice.message.unwrap_or_default();
    let refusal = said.refusal.clone().filter(|it| !it.is_empty());
    let thoughts = said
        .reasoning_content
        .clone()
        .filter(|_| provider.wants_thoughts());
    let mut text = said.text();
    let mut calls = calls_of(said.calls());
    if let (Some(thought), Some(call)) = (thoughts, calls.first_mut()) {
        call.extra = kept::keep(provider, vec![Thought::Text(thought)]);
    }
    text.push_str(refusal.as_deref().unwrap_or_default());
    let reason = stop.or(named.as_ref());
    let stop = match refusal {
        Some(_) => Some(Stop::Filtered),
        None => why(reason),
    };
    finished(text, calls, usage, stop)
}

/// The calls of a whole answer.
fn calls_of(calls: impl Iterator<Item = CallPart>) -> Vec<ToolCall> {
    let mut reply = ReplyBuilder::new();
    for (index, call) in calls.enumerate() {
        reply.push(Chunk::ToolCall(call.of(index)));
    }
    reply.push(Chunk::end(Usage::default(), Stop::Done));
    reply
        .finish()
        .map(|reply| reply.tool_calls)
        .unwrap_or_default()
}

fn response(provider: &Provider, answer: ChatResponse) -> Result<Reply, ModelError> {
    let body = answer.captured_raw_body.unwrap_or_default();
    let mut stop = why(answer.stop_reason.as_ref());
    let (mut text, calls) = content(provider, answer.content);
    for seen in read_whole(provider.protocol, &body) {
        match seen {
            Seen::Refusal(refusal) => {
                text.push_str(&refusal);
                stop = Some(Stop::Filtered);
            }
            Seen::Filtered(_) => stop = Some(Stop::Filtered),
            Seen::Failed(error) => return Err(failure::failed(&error)),
            Seen::Call(_) | Seen::Signature(_) | Seen::HalfEnd | Seen::Unreadable(_) => {}
        }
    }
    finished(text, calls, usage(&answer.usage), stop)
}

fn finished(
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    stop: Option<Stop>,
) -> Result<Reply, ModelError> {
    let Some(stop) = stop else {
        return Err(ModelError::CutOff {
            characters: text.chars().count(),
            calls: calls.len(),
        });
    };
    Ok(Reply::new(text, calls, told(usage), stop))
}

/// The text and the calls of an answer, with the thoughts that belong to the calls.
pub(super) fn content(provider: &Provider, content: MessageContent) -> (String, Vec<ToolCall>) {
    let (mut text, mut calls, mut thoughts) = (String::new(), Vec::new(), Vec::new());
    for part in content.into_parts() {
        match part {
            ContentPart::Text(more) => text.push_str(&more),
            ContentPart::ThoughtSignature(it) => thoughts.push(Thought::Signature(it)),
            ContentPart::ReasoningContent(it) => thoughts.push(Thought::Text(it)),
            ContentPart::Custom(it) => thoughts.push(Thought::Block(it.data)),
            ContentPart::ToolCall(call) => {
                let id = id(&call, calls.len());
                let mut before = std::mem::take(&mut thoughts);
                // With Gemini, a signature belongs to one part. With others, `genai` has those of
                // the calls only from the parts before them.
                if provider.protocol == Protocol::Gemini {
                    let own = call.thought_signatures.unwrap_or_default();
                    before = own.into_iter().map(Thought::Signature).collect();
                }
                let arguments = arguments(&call.fn_arguments);
                let mut call = ToolCall::raw(id, call.fn_name, arguments);
                call.extra = kept::keep(provider, before);
                calls.push(call);
            }
            ContentPart::Binary(_) | ContentPart::ToolResponse(_) => {
                warning!("a part of an answer that is neither a text nor a call is left out");
            }
        }
    }
    (text, calls)
}

/// The id of a call. Gemini gives none, and `genai` counts anew with each event. It knows those that
/// it made by their form, and does not send them.
fn id(call: &Call, place: usize) -> String {
    if call.call_id.starts_with("call#") {
        format!("call#{}#{place}", call.fn_name)
    } else {
        call.call_id.clone()
    }
}

/// The arguments as the model wrote them: text that is not JSON is what `genai` could not read.
fn arguments(arguments: &Value) -> String {
    match arguments {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        json => json.to_string(),
    }
}

/// Why the answer ended, if the provider says it. Some servers send an empty word until it does.
pub(super) fn why(reason: Option<&StopReason>) -> Option<Stop> {
    Some(match reason.filter(|it| !it.raw().is_empty())? {
        StopReason::Completed(_) | StopReason::ToolCall(_) | StopReason::StopSequence(_) => {
            Stop::Done
        }
        StopReason::MaxTokens(_) => Stop::Length,
        StopReason::ContentFilter(_) => Stop::Filtered,
        StopReason::Other(word) => Stop::Other(word.clone()),
    })
}

/// What an answer used, if the provider says it. It counts what a model thinks as answered.
pub(super) fn usage(tokens: &Tokens) -> Option<Usage> {
    let thought = tokens.completion_tokens_details.as_ref();
    let thought = thought.and_then(|it| it.reasoning_tokens);
    let output = tokens.completion_tokens.or(thought);
    if tokens.prompt_tokens.is_none() && output.is_none() {
        return None;
    }
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or_default()).unwrap_or_default();
    let sent = tokens.prompt_tokens_details.as_ref();
    let mut usage = Usage::new(count(tokens.prompt_tokens), count(output));
    usage.cached_input_tokens = count(sent.and_then(|it| it.cached_tokens));
    Some(usage)
}

/// The usage, with a warning if it is not known.
pub(super) fn told(usage: Option<Usage>) -> Usage {
    usage.unwrap_or_else(|| {
        warning!("a provider does not say how many tokens it used, so they count as none");
        Usage::default()
    })
}
