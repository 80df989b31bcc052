//! Errors of `genai`, sorted by what can be done about them.

use std::error::Error as StdError;
use std::string::FromUtf8Error;
use std::time::{Duration, SystemTime};

use genai::Error;
use genai::webc::{Error as WebError, StreamTimeout};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::error::ModelError;

/// The most characters of a body that is not JSON that an error shows.
const SHOWN: usize = 500;

/// Sorts an error. How far the answer came is not known here.
pub(super) fn sort(error: Error) -> ModelError {
    match error {
        Error::HttpError {
            status,
            body,
            headers,
            ..
        } => answered(status, &headers, &body),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            web(webc_error)
        }
        Error::WebStream { error, .. } => broken(error),
        Error::ChatResponse { body, .. } => failed(&body),
        Error::StreamParse { serde_error, .. } => unreadable(serde_error),
        Error::SerdeJson(error) => unreadable(error),
        Error::ChatResponseGeneration { cause, .. } => malformed(cause),
        error @ (Error::InvalidJsonResponseElement { .. }
        | Error::NoChatResponse { .. }
        | Error::JsonValueExt(_)) => malformed(error.to_string()),
        other => refused(other.to_string()),
    }
}

fn web(error: WebError) -> ModelError {
    match error {
        WebError::ResponseFailedStatus {
            status,
            body,
            headers,
        } => answered(status, &headers, &body),
        WebError::Reqwest(error) => unreached(error),
        WebError::ResponseFailedInvalidJson { body, .. } => {
            match serde_json::from_str::<Value>(&body) {
                Err(error) => unreadable(error),
                Ok(_) => malformed("the body is not JSON"),
            }
        }
        WebError::ResponseFailedNotJson { content_type, body } => {
            let body = shortened(&body);
            malformed(format!(
                "its content type is `{content_type}`, and not JSON: {body}"
            ))
        }
        WebError::JsonValueExt(error) => malformed(error.to_string()),
    }
}

/// Sorts what ended a stream.
fn broken(error: Box<dyn StdError + Send + Sync>) -> ModelError {
    let error = match error.downcast::<Error>() {
        Ok(error) => return sort(*error),
        Err(error) => error,
    };
    let error = match error.downcast::<reqwest::Error>() {
        Ok(error) => return unreached(*error),
        Err(error) => error,
    };
    match error.downcast::<FromUtf8Error>() {
        // Half a letter is at the end.
        Ok(error) if error.utf8_error().error_len().is_none() => cut(),
        Ok(error) => ModelError::Malformed { source: error },
        Err(source) if source.is::<StreamTimeout>() => unavailable(None, source),
        Err(source) => ModelError::Malformed { source },
    }
}

fn unreached(error: reqwest::Error) -> ModelError {
    if error.is_body() || error.is_decode() {
        cut()
    } else if error.is_builder() {
        ModelError::Refused {
            source: error.into(),
        }
    } else {
        unavailable(None, error.into())
    }
}

/// JSON that stops before its end was cut off, as far as anyone can tell.
pub(super) fn unreadable(error: serde_json::Error) -> ModelError {
    if error.is_eof() {
        return cut();
    }
    ModelError::Malformed {
        source: error.into(),
    }
}

/// Sorts an answer of this status.
fn answered(status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
    let json = serde_json::from_str::<Value>(body).ok();
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

/// Sorts an error that a provider sends within an answer.
pub(super) fn failed(body: &Value) -> ModelError {
    let message = message(body).unwrap_or_else(|| shortened(&body.to_string()));
    let error = inner(body);
    let words = ["type", "code", "status"].map(|name| match &error[name] {
        Value::String(word) => word.to_lowercase(),
        other => other.to_string(),
    });
    let says = |part: &str| words.iter().any(|word| word.contains(part));
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
        || error["code"].as_u64().is_some_and(|code| code >= 500)
    {
        unavailable(retry_delay(body), message.into())
    } else {
        refused(message)
    }
}

/// The part of a body that describes the error. Some send it within others.
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

/// What a provider says about its error.
fn message(body: &Value) -> Option<String> {
    let error = inner(body);
    let said = error
        .get("message")
        .or_else(|| error.get("error"))
        .unwrap_or(error);
    said.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
}

/// OpenAI says with the status of a rate limit that an account has no money left, which no waiting
/// changes.
fn is_unpaid(body: &Value) -> bool {
    let error = inner(body);
    [&error["code"], &error["type"]]
        .iter()
        .any(|it| *it == "insufficient_quota")
}

/// How long the headers ask to wait.
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

/// How long Gemini asks to wait, such as `34s`, which it says in the body.
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

fn cut() -> ModelError {
    ModelError::CutOff {
        characters: 0,
        calls: 0,
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

fn refused(why: impl Into<String>) -> ModelError {
    ModelError::Refused {
        source: why.into().into(),
    }
}

fn malformed(why: impl Into<String>) -> ModelError {
    ModelError::Malformed {
        source: why.into().into(),
    }
}
