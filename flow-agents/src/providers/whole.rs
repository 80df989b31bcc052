//! Answers that are not streamed.

use reqwest::Response;
use serde_json::Value;

use super::answer::{self, Parts};
use super::events::MARK;
use super::provider::Provider;
use super::{failure, halves, post};
use crate::error::ModelError;
use crate::model::Reply;
use crate::reply_builder::ReplyBuilder;

/// Reads an answer.
///
/// # Errors
/// Any error of the provider, and those of an unexpected or incomplete answer.
pub(super) async fn read(
    provider: &'static Provider,
    answer: Response,
    limit: usize,
) -> Result<Reply, ModelError> {
    let content_type = post::content_type(&answer);
    let expected = provider.protocol.answer();
    let body = json(answer, expected, limit).await?;
    if let Some(error) = failure::told(&body) {
        return Err(error);
    }
    let mut parts = Parts::new(provider);
    answer::reader(provider).whole(&body, &mut parts)?;
    if !parts.is_known {
        let found = body.to_string();
        return Err(failure::not_spoken(expected, &content_type, &found));
    }
    let mut reply = ReplyBuilder::new();
    let end = parts.end().map_err(|error| match error {
        // The body is whole: nothing was cut off.
        ModelError::CutOff { .. } => {
            let expected = format!("{expected} with the reason why it ended");
            failure::not_spoken(&expected, &content_type, &body.to_string())
        }
        other => other,
    })?;
    parts.ready.into_iter().for_each(|chunk| reply.push(chunk));
    reply.push(end);
    reply.finish()
}

/// Reads the JSON of a body.
///
/// # Errors
/// [`ModelError::Malformed`] if the body is not JSON, [`ModelError::CutOff`] if it is the beginning
/// of JSON, and [`ModelError::TooLarge`] if its bytes or its values exceed the limit.
pub(super) async fn json(
    answer: Response,
    expected: &str,
    limit: usize,
) -> Result<Value, ModelError> {
    let content_type = post::content_type(&answer);
    let bytes = bytes(answer, limit).await?;
    if takes_too_much(&bytes, limit) {
        return Err(ModelError::TooLarge { limit });
    }
    let text = String::from_utf8_lossy(&bytes);
    serde_json::from_str(&halves::replaced(&text)).map_err(|error| {
        if error.is_eof() && (content_type.is_empty() || is_json(&content_type)) {
            return ModelError::CutOff {
                characters: 0,
                calls: 0,
            };
        }
        failure::not_spoken(expected, &content_type, &text)
    })
}

/// Reads the bytes of a body, without its byte order mark.
///
/// # Errors
/// [`ModelError::TooLarge`] if the body has more bytes than the limit.
pub(super) async fn bytes(mut answer: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(failure::unreached)? {
        if bytes.len() + piece.len() > limit {
            return Err(ModelError::TooLarge { limit });
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(without_mark(bytes))
}

/// Removes the byte order mark of a body.
pub(super) fn without_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    bytes
}

/// The bytes that a JSON value counts for: it takes more memory than the two or three of its text.
const VALUE: usize = 64;

/// The bytes that JSON may always take in memory, whatever the limit.
const ALWAYS: usize = 1 << 20;

/// Returns `true` if the values of a JSON text take more memory than the limit allows.
pub(super) fn takes_too_much(json: &[u8], limit: usize) -> bool {
    let (mut values, mut is_text, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => values += 1,
            _ => {}
        }
    }
    json.len() + values * VALUE > limit.max(ALWAYS)
}

/// Returns `true` if a content type is that of JSON.
pub(super) fn is_json(content_type: &str) -> bool {
    content_type.to_ascii_lowercase().contains("json")
}
