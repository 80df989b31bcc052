//! Extractors for handlers, which refuse a request with a problem.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, OriginalUri, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use flow_durable::{ExecutionId, Token};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use crate::access::Caller;
use crate::app::App;
use crate::body;
use crate::problem::Problem;

/// The body of a request as a JSON object.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let body = required_body(app, request).await?;
        // Serde would also read a struct from a list.
        if body.trim_ascii_start().first() != Some(&b'{') {
            let detail = "the body does not fit: it has to be an object";
            return Err(Problem::bad_request(detail));
        }
        read(&body).map(Body)
    }
}

/// The body of a request as any JSON.
pub(crate) struct AnyBody(pub(crate) Value);

impl FromRequest<Arc<App>> for AnyBody {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        read(&required_body(app, request).await?).map(AnyBody)
    }
}

async fn required_body(app: &App, request: Request) -> Result<Bytes, Problem> {
    let body = json_body(app, request).await?;
    if body.trim_ascii().is_empty() {
        return Err(Problem::bad_request(
            "the body is empty, and has to be JSON",
        ));
    }
    Ok(body)
}

/// Reads a value that may be missing, but not `null`.
#[cfg(feature = "definitions")]
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The input of a flow, or a signal: the body of a request as JSON. An empty one is `null`.
pub(crate) struct Input(pub(crate) Value);

impl FromRequest<Arc<App>> for Input {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let body = json_body(app, request).await?;
        match body.trim_ascii() {
            [] => Ok(Input(Value::Null)),
            body => read(body).map(Input),
        }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let read = crate::json::read(body);
    read.map_err(|reason| Problem::bad_request(format!("the body does not fit: {reason}")))
}

/// Returns the body of a request whose content type is JSON.
async fn json_body(app: &App, request: Request) -> Result<Bytes, Problem> {
    let headers = request.headers();
    let says = |name, fits: fn(&str) -> bool| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| value.to_str().is_ok_and(fits))
    };
    let is_json = says(header::CONTENT_TYPE, is_json)
        && says(header::CONTENT_ENCODING, |encoding| {
            encoding.eq_ignore_ascii_case("identity")
        });
    if !is_json {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not-json",
            "The body is not JSON",
            "send the body with `Content-Type: application/json`, and not compressed",
        ));
    }
    body::whole(app.limits(), request.into_body()).await
}

/// Reads a number without a fraction, such as `7` or `7.0`: JSON Schema regards both as integers.
pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = Number::deserialize(deserializer)?;
    let of_float = || {
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        let is_exact = (0.0..9_007_199_254_740_992.0).contains(&float);
        is_exact.then_some(float as u64)
    };
    let expected = || D::Error::custom(format!("expected an integer from 0 on, found {number}"));
    number.as_u64().or_else(of_float).ok_or_else(expected)
}

fn is_json(content_type: &str) -> bool {
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
        || (media_type.len() > 5 && media_type.to_ascii_lowercase().ends_with("+json"))
}

/// The query of a request.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Params(params)),
            Err(error) => Err(Problem::bad_request(error.body_text())),
        }
    }
}

/// The id of an execution, in the path: a whole one, or its first digits, as a person types them.
pub(crate) struct Id(pub(crate) ExecutionId);

impl FromRequestParts<Arc<App>> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let text = in_path(parts, "id").await?;
        if let Ok(id) = text.parse() {
            return Ok(Id(id));
        }
        let caller = Caller::from_request_parts(parts, app).await?;
        caller.find_id(&text).await.map(Id)
    }
}

/// The token of a question, in the path.
pub(crate) struct QuestionToken(pub(crate) Token);

impl FromRequestParts<Arc<App>> for QuestionToken {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let text = in_path(parts, "token").await?;
        let parsed = text.parse().map(QuestionToken);
        parsed.map_err(|_| Problem::not_found("there is no question with this token"))
    }
}

/// The name of a flow, in the path.
pub(crate) struct Name(pub(crate) String);

impl FromRequestParts<Arc<App>> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        in_path(parts, "name").await.map(Name)
    }
}

/// The name of a signal, in the path.
pub(crate) struct SignalName(pub(crate) String);

impl FromRequestParts<Arc<App>> for SignalName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        in_path(parts, "signal").await.map(SignalName)
    }
}

/// The part of the path that a nested router does not see.
pub(crate) struct Base(pub(crate) String);

impl FromRequestParts<Arc<App>> for Base {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let seen = parts.uri.path();
        let original = parts.extensions.get::<OriginalUri>();
        let original = original.map_or(seen, |original| original.path());
        let base = original.strip_suffix(seen).unwrap_or_default();
        Ok(Base(base.to_owned()))
    }
}

/// The header `Idempotency-Key`, if there is one.
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl FromRequestParts<Arc<App>> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let Some(key) = parts.headers.get("idempotency-key") else {
            return Ok(IdempotencyKey(None));
        };
        // The draft of the standard puts it in quotes.
        match key.to_str().map(unquoted) {
            Ok(key) if (1..=255).contains(&key.len()) => Ok(IdempotencyKey(Some(key.to_owned()))),
            _ => Err(Problem::bad_request(
                "an `Idempotency-Key` has from 1 to 255 visible characters of ASCII",
            )),
        }
    }
}

fn unquoted(key: &str) -> &str {
    let within = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    within.unwrap_or(key)
}

/// Returns the part of the path that the route gives this name.
pub(super) async fn in_path(parts: &mut Parts, name: &str) -> Result<String, Problem> {
    match Path::<HashMap<String, String>>::from_request_parts(parts, &()).await {
        Ok(Path(mut named)) => Ok(named
            .remove(name)
            .unwrap_or_else(|| unreachable!("a route has `{{{name}}}` in its path"))),
        Err(error) => Err(Problem::bad_request(error.body_text())),
    }
}

/// Splits a query parameter with comma-separated values.
pub(crate) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(|part| part.trim_matches(' '))
        .filter(|part| !part.is_empty())
}

/// The default number of items in a page.
const PAGE: usize = 100;

/// The maximum number of items in a page.
const LARGEST_PAGE: usize = 1000;

/// Returns the number of items of the requested page.
pub(crate) fn page_size(asked: Option<usize>) -> Result<usize, Problem> {
    match asked {
        None => Ok(PAGE),
        Some(limit) if (1..=LARGEST_PAGE).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::bad_request(format!(
            "`limit` is from 1 to {LARGEST_PAGE}"
        ))),
    }
}

/// The time this many milliseconds after 1970 (UTC).
pub(crate) fn time(ms: u64) -> Result<SystemTime, Problem> {
    // Stores have signed numbers.
    let ms = i64::try_from(ms)
        .is_ok()
        .then_some(Duration::from_millis(ms));
    let time = ms.and_then(|ms| UNIX_EPOCH.checked_add(ms));
    time.ok_or_else(|| Problem::bad_request("there is no such time"))
}

/// The id of an execution, in a query.
pub(crate) fn execution_id(text: &str) -> Result<ExecutionId, Problem> {
    text.parse()
        .map_err(|_| Problem::bad_request(format!("`{text}` is not the id of an execution")))
}
