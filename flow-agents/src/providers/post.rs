//! Sends requests.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Client, Response, header};
use serde_json::Value;

use super::provider::Protocol;
use super::{failure, whole};
use crate::error::ModelError;

/// The version of Anthropic's interface.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// The maximum number of bytes that are read of an error.
const LONGEST_ERROR: usize = 64 * 1024;

/// The time limit for reading the body of an error.
const ERROR_WITHIN: Duration = Duration::from_secs(10);

/// Posts a body to this address of a provider. The status of the returned answer is a success.
///
/// # Errors
/// Any error of the provider before the body of an answer.
pub(super) async fn post(
    client: &Client,
    protocol: Protocol,
    url: &str,
    key: String,
    body: &Value,
) -> Result<Response, ModelError> {
    let (name, value) = match protocol {
        Protocol::Chat | Protocol::Responses => (AUTHORIZATION, format!("Bearer {key}")),
        Protocol::Messages => (HeaderName::from_static("x-api-key"), key),
        Protocol::Gemini => (HeaderName::from_static("x-goog-api-key"), key),
    };
    let mut value = HeaderValue::try_from(value)
        .map_err(|_| failure::refused("the key has a character that no key can have"))?;
    value.set_sensitive(true);
    let mut request = client.post(url).header(name, value);
    if protocol == Protocol::Messages {
        request = request.header(VERSION.0, VERSION.1);
    }
    let request = request.header(CONTENT_TYPE, "application/json");
    let answer = request.body(body.to_string()).send().await;
    let answer = answer.map_err(failure::unreached)?;
    if answer.status().is_success() {
        return Ok(answer);
    }
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = beginning(answer).await;
    Err(failure::answered(status, &headers, &body))
}

/// The content type of an answer; empty if it has none.
pub(super) fn content_type(answer: &Response) -> String {
    let value = answer.headers().get(header::CONTENT_TYPE);
    let text = value.map(|it| String::from_utf8_lossy(it.as_bytes()));
    text.unwrap_or_default().into_owned()
}

/// The beginning of the body of an error, read within the time limit.
async fn beginning(mut answer: Response) -> String {
    let mut bytes = Vec::new();
    let read = async {
        while bytes.len() < LONGEST_ERROR
            && let Ok(Some(piece)) = answer.chunk().await
        {
            bytes.extend_from_slice(&piece);
        }
    };
    // The beginning says enough, and some servers never end a body.
    let _ = tokio::time::timeout(ERROR_WITHIN, read).await;
    let bytes = whole::without_mark(bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
