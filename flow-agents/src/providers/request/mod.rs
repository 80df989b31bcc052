//! Requests in the forms of the providers.

mod asked;
mod completions;
mod gemini;
mod messages;
mod responses;
mod schema;

use serde_json::Value;

use self::asked::Asked;
use super::provider::{Protocol, Provider};
use crate::error::ModelError;
use crate::model::Request;

/// The body of a request to this model.
///
/// # Errors
/// [`ModelError::Refused`] for content that the provider does not accept.
pub(super) fn body(
    provider: &Provider,
    model: &str,
    request: &Request,
    is_streamed: bool,
) -> Result<Value, ModelError> {
    let asked = Asked {
        provider,
        model,
        request,
        turns: asked::turns(request)?,
        is_streamed,
    };
    match provider.protocol {
        Protocol::Chat => Ok(completions::body(&asked)),
        Protocol::Responses => Ok(responses::body(&asked)),
        Protocol::Messages => Ok(messages::body(&asked)),
        Protocol::Gemini => gemini::body(&asked),
    }
}
