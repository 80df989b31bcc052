//! The answer to a request that was not carried out.

use std::fmt;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flow_durable::{RuntimeError, StoreError};
use flow_runtime::SignalError;
use serde_json::{Map, Value, json};

/// An error answer as `application/problem+json` ([RFC
/// 9457](https://www.rfc-editor.org/rfc/rfc9457)).
#[derive(Debug, Clone)]
pub struct Problem(Box<Content>);

#[derive(Debug, Clone)]
struct Content {
    status: StatusCode,
    kind: &'static str,
    title: &'static str,
    detail: String,
    /// The additional fields for programs.
    more: Map<String, Value>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Self {
        Problem(Box::new(Content {
            status,
            kind,
            title,
            detail: detail.into(),
            more: Map::new(),
        }))
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        let title = "The request makes no sense";
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", title, detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        let title = "There is nothing here";
        Problem::new(StatusCode::NOT_FOUND, "not-found", title, detail)
    }

    /// The sender of the request is unknown: status 401.
    pub fn unauthenticated(detail: impl Into<String>) -> Self {
        let title = "It is not known who asks";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated", title, detail)
    }

    /// The sender is not allowed to do this: status 403.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        let title = "This is not allowed";
        Problem::new(StatusCode::FORBIDDEN, "forbidden", title, detail)
    }

    pub(crate) fn too_many(detail: impl Into<String>, retry_after: u64) -> Self {
        let title = "There are too many requests";
        Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too-many-requests",
            title,
            detail,
        )
        .with("retryAfter", retry_after)
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        let title = "The server cannot do this now";
        Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            title,
            detail,
        )
    }

    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.more.insert(field.to_owned(), value.into());
        self
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns the kind, such as `not-found`: the last part of the `type`.
    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    /// Returns a sentence that says what is wrong.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    pub(crate) fn to_json(&self) -> Value {
        let mut body = json!({
            "type": format!("urn:flow-server:{}", self.0.kind),
            "title": self.0.title,
            "status": self.0.status.as_u16(),
            "detail": self.0.detail,
        });
        for (field, value) in &self.0.more {
            body[field] = value.clone();
        }
        body
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.title, self.0.detail)
    }
}

impl std::error::Error for Problem {}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.0.status, self.to_json().to_string()).into_response();
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if self.0.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.0.more.get("retryAfter").and_then(Value::as_u64) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<RuntimeError> for Problem {
    fn from(error: RuntimeError) -> Self {
        let detail = error.to_string();
        match &error {
            RuntimeError::Store(failure) => return store_failed(&failure.error, &detail),
            RuntimeError::NotFound(_)
            | RuntimeError::UnknownId(_)
            | RuntimeError::NoRecord { .. }
            | RuntimeError::UnknownToken => return Problem::not_found(detail),
            RuntimeError::ShutDown(_) | RuntimeError::TaskEnded(_) => {
                return Problem::unavailable(detail);
            }
            _ => {}
        }
        let (status, kind, title) = classified(&error);
        let problem = Problem::new(status, kind, title, detail);
        match &error {
            RuntimeError::NotRegistered { flow } => problem.with("flow", flow.as_str()),
            RuntimeError::AmbiguousId { executions, .. } => {
                problem.with("executions", json!(executions))
            }
            RuntimeError::Over { status, .. } => problem.with("executionStatus", status.as_str()),
            RuntimeError::FlowChanged { changes, .. } => problem.with("changes", changes.clone()),
            RuntimeError::Input { error, .. } => problem.with("errors", json!(error.violations())),
            RuntimeError::WrongType { expected, .. } => problem.with("expected", expected.as_str()),
            RuntimeError::Signal { error, .. } => match error {
                SignalError::Unknown { known, .. } => problem.with("signals", json!(known)),
                SignalError::WrongType { name, .. } => problem.with("expected", name.as_str()),
                _ => problem,
            },
            RuntimeError::Unchangeable { reasons, .. } => problem.with("errors", reasons.clone()),
            RuntimeError::OtherInput { execution, .. } => {
                problem.with("execution", execution.to_string())
            }
            _ => problem,
        }
    }
}

/// Returns the status, the kind and the title of an error of the runtime.
fn classified(error: &RuntimeError) -> (StatusCode, &'static str, &'static str) {
    let conflict = |kind, title| (StatusCode::CONFLICT, kind, title);
    let unprocessable = |kind, title| (StatusCode::UNPROCESSABLE_ENTITY, kind, title);
    match error {
        RuntimeError::NotRegistered { .. } => {
            let title = "The flow is not registered in this server";
            conflict("flow-not-registered", title)
        }
        RuntimeError::AmbiguousId { .. } => {
            conflict("ambiguous-id", "Several executions have such an id")
        }
        RuntimeError::Over { .. } => conflict("over", "The execution is over"),
        RuntimeError::NotRetried { .. } => conflict("not-retried", "The execution is not retried"),
        RuntimeError::NotHalted(_) => conflict("not-halted", "The execution is not halted"),
        RuntimeError::IsPart { .. } => conflict("is-part", "Another execution waits for this one"),
        RuntimeError::AlreadyAnswered { .. } => {
            conflict("already-answered", "The question is answered already")
        }
        RuntimeError::FlowChanged { .. } => conflict("flow-changed", "The flow has changed"),
        RuntimeError::NoTransactions { .. } => conflict(
            "no-transactions",
            "The store has no database for a node's transaction",
        ),
        RuntimeError::NotStorable { .. } => conflict(
            "not-storable",
            "A value or an action of the flow cannot be stored",
        ),
        RuntimeError::NoSchema { .. } => {
            conflict("no-schema", "The answer cannot be checked in this server")
        }
        RuntimeError::TakenOver(_)
        | RuntimeError::ReplayDiverged { .. }
        | RuntimeError::Halted { .. }
        | RuntimeError::JournalFormat { .. } => {
            conflict("cannot-continue", "The execution cannot continue here")
        }
        RuntimeError::Withdrawn { .. } | RuntimeError::Expired { .. } => {
            let title = "The question is no longer asked";
            (StatusCode::GONE, "no-longer-asked", title)
        }
        RuntimeError::Input { .. } => unprocessable("input", "The input does not fit the flow"),
        RuntimeError::Unstorable { .. } => unprocessable("unstorable", "A value cannot be stored"),
        RuntimeError::WrongType { .. } => {
            unprocessable("wrong-type", "The answer is not of its type")
        }
        RuntimeError::Signal { error, .. } => match error {
            SignalError::Unknown { .. } => {
                let title = "The flow does not wait for such a signal";
                unprocessable("unknown-signal", title)
            }
            SignalError::Over => conflict("over", "The execution is over"),
            _ => unprocessable("wrong-type", "The signal is not of its type"),
        },
        RuntimeError::OtherSignal { .. } => {
            let title = "The idempotency key was used with another signal";
            conflict("other-signal", title)
        }
        RuntimeError::OtherInput { .. } => {
            let title = "The idempotency key was used with another input";
            unprocessable("idempotency-key", title)
        }
        RuntimeError::Unchangeable { .. } => unprocessable("values", "The values do not fit"),
        _ => {
            let title = "The server could not do this";
            (StatusCode::INTERNAL_SERVER_ERROR, "internal", title)
        }
    }
}

/// Logs an error of the store, which may name files and hosts that only the operator may see.
fn store_failed(error: &StoreError, detail: &str) -> Problem {
    tracing::error!(error = detail, "the store failed");
    match error {
        StoreError::Corrupt { .. } => Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "damaged",
            "What is stored is damaged",
            "the log of the server says where",
        ),
        _ => Problem::unavailable("the store failed; the log of the server says why"),
    }
}
