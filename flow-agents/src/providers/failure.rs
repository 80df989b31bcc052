//! Errors of providers, classified by the possible remedies.

use std::error::Error as StdError;
use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::halves;
use crate::error::ModelError;

/// The maximum number of characters that an error shows of a body that is not JSON.
const SHOWN: usize = 500;

/// The error of a connection that failed before or within an answer, at an unknown position.
pub(super) fn unreached(error: reqwest::Error) -> ModelError {
    if error.is_body() || error.is_decode() {
        ModelError::CutOff {
            characters: 0,
            calls: 0,
        }
    } else if error.is_builder() {
        ModelError::Refused {
            source: error.into(),
        }
    } else {
        unavailable(None, error.into())
    }
}

/// Returns the error of an answer that the provider broke off, with the provider's reason.
pub(super) fn broken_off(word: &str, characters: usize) -> ModelError {
    let said = format!("it broke its answer off after {characters} characters: {word}");
    unavailable(None, said.into())
}

/// Returns the error of a server that does not speak the protocol.
pub(super) fn not_spoken(expected: &str, content_type: &str, found: &str) -> ModelError {
    let content_type = match content_type {
        "" => "no content type",
        other => other,
    };
    malformed(format!(
        "expected {expected}, found {content_type}: {}",
        shortened(found)
    ))
}

/// Classifies an answer with an error status.
pub(super) fn answered(status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
    let json = serde_json::from_str::<Value>(&halves::replaced(body)).ok();
    let message = json.as_ref().and_then(message);
    let message = message.unwrap_or_else(|| shortened(body));
    let retry_after = retry_after(headers).or_else(|| json.as_ref().and_then(retry_delay));
    let said = format!("HTTP status {status}: {message}");
    match status.as_u16() {
        429 if json.as_ref().is_some_and(is_unpaid) => refused(said),
        429 => ModelError::RateLimited {
            retry_after,
            message,
        },
        408 | 500.. => unavailable(retry_after, said.into()),
        _ => refused(said),
    }
}

/// Classifies an error that a provider sends within an answer.
pub(super) fn failed(body: &Value) -> ModelError {
    let message = message(body).unwrap_or_else(|| shortened(&body.to_string()));
    let error = inner(body);
    let words = ["type", "code", "status"].map(|name| match &error[name] {
        Value::String(word) => word.to_lowercase(),
        other => other.to_string(),
    });
    let says = |part: &str| words.iter().any(|word| word.contains(part));
    // The status that the error would have had, as a number or a text.
    let status = words[1].parse::<u64>().ok();
    if is_unpaid(body) {
        refused(message)
    } else if says("rate_limit") || says("resource_exhausted") || says("429") {
        ModelError::RateLimited {
            retry_after: retry_delay(body),
            message,
        }
    } else if [
        "overloaded",
        "server_error",
        "api_error",
        "timeout",
        "unavailable",
        "internal",
    ]
    .iter()
    .any(|part| says(part))
        || status.is_some_and(|status| status == 408 || (500..600).contains(&status))
    {
        unavailable(retry_delay(body), message.into())
    } else {
        refused(message)
    }
}

/// Returns the error in an answer or an event with a success status, if it contains one.
pub(super) fn told(body: &Value) -> Option<ModelError> {
    // Some servers send an empty error with each part.
    let says_something = |error: &&Value| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let error = body.get("error").filter(says_something);
    // vLLM marks an error in `object`.
    let is_error = error.is_some()
        || body["type"] == "error"
        || body["object"] == "error"
        || !body[0]["error"].is_null();
    is_error.then(|| failed(body))
}

/// The part of a body that describes the error. Some servers nest it.
fn inner(body: &Value) -> &Value {
    match body {
        Value::Array(list) => list.first().map_or(&Value::Null, inner),
        Value::Object(fields) => match fields.get("error") {
            Some(error @ Value::Object(_)) => error,
            _ => body,
        },
        other => other,
    }
}

/// The provider's message in an error.
fn message(body: &Value) -> Option<String> {
    let error = inner(body);
    let said = error
        .get("message")
        .or_else(|| error.get("error"))
        .unwrap_or(error);
    said.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

/// Returns `true` if the account has no money left. OpenAI reports this with the status of a rate
/// limit, but waiting does not help.
fn is_unpaid(body: &Value) -> bool {
    let error = inner(body);
    [&error["code"], &error["type"]]
        .iter()
        .any(|it| *it == "insufficient_quota")
}

/// The time that the headers ask to wait.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| {
        headers
            .get(name)
            .and_then(|it| it.to_str().ok())
            .map(str::trim)
    };
    let milliseconds = text("retry-after-ms").and_then(|it| it.parse::<f64>().ok());
    let wait = milliseconds.and_then(|it| Duration::try_from_secs_f64(it / 1000.0).ok());
    if wait.is_some() {
        return wait;
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = httpdate::parse_http_date(asked).ok()?;
    Some(
        then.duration_since(SystemTime::now())
            .unwrap_or(Duration::ZERO),
    )
}

/// The pause that Gemini asks for in the body, such as `34s`.
fn retry_delay(body: &Value) -> Option<Duration> {
    let details = inner(body).get("details")?.as_array()?;
    let delay = details
        .iter()
        .find_map(|it| it.get("retryDelay")?.as_str())?;
    let seconds = delay.strip_suffix('s')?.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn shortened(body: &str) -> String {
    let body = body.trim();
    let left = body.chars().count().saturating_sub(SHOWN);
    match left {
        0 if body.is_empty() => "it says nothing more".to_owned(),
        0 => body.to_owned(),
        left => format!(
            "{} … {left} more characters",
            body.chars().take(SHOWN).collect::<String>()
        ),
    }
}

fn unavailable(
    retry_after: Option<Duration>,
    source: Box<dyn StdError + Send + Sync>,
) -> ModelError {
    ModelError::Unavailable {
        retry_after,
        source,
    }
}

pub(super) fn refused(why: impl Into<String>) -> ModelError {
    ModelError::Refused {
        source: why.into().into(),
    }
}

pub(super) fn malformed(why: impl Into<String>) -> ModelError {
    ModelError::Malformed {
        source: why.into().into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Errors within answers: of OpenRouter, of gateways, and of vLLM.
    #[test]
    fn errors_that_pass_are_tried_again() {
        for body in [
            json!({ "error": { "code": 408, "message": "Your request timed out" } }),
            json!({ "error": { "code": 502, "message": "Provider returned error" } }),
            json!({ "error": { "code": "503", "message": "no worker" } }),
            json!({ "object": "error", "type": "InternalServerError", "code": 500, "message": "died" }),
        ] {
            let error = told(&body).unwrap();
            assert!(
                matches!(error, ModelError::Unavailable { .. }),
                "{body}: {error:?}"
            );
        }
        for body in [
            json!({ "error": { "code": 400, "message": "too many tokens" } }),
            json!({ "object": "error", "type": "BadRequestError", "code": 400, "message": "no" }),
        ] {
            let error = told(&body).unwrap();
            assert!(
                matches!(error, ModelError::Refused { .. }),
                "{body}: {error:?}"
            );
        }
        assert!(told(&json!({ "object": "chat.completion.chunk", "choices": [] })).is_none());
    }
}
