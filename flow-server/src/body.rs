//! The bodies of requests.

use axum::body::{Body, Bytes, to_bytes};
use axum::http::StatusCode;

use crate::limits::Limits;
use crate::problem::Problem;

/// Reads a whole body, within the limits of size and time.
pub(crate) async fn whole(limits: &Limits, body: Body) -> Result<Bytes, Problem> {
    let body = to_bytes(body, limits.body_bytes);
    let body = tokio::time::timeout(limits.request_time, body).await;
    let body = body.map_err(|_| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "too-slow",
            "The request takes too long",
            "the body did not arrive in time",
        )
    })?;
    body.map_err(|_| {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "The body is too large",
            format!("a body may have {} bytes", limits.body_bytes),
        )
    })
}
