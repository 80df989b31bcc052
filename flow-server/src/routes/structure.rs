//! The structures of flows, as JSON and as pictures.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flow_spec::FlowDocument;
use serde_json::Value;

use crate::problem::Problem;

/// Parses the structure of a flow as JSON.
pub(super) fn parsed(structure: &str) -> Result<Value, Problem> {
    serde_json::from_str(structure).map_err(|error| unreadable(error.to_string()))
}

/// Draws a flow as SVG.
pub(super) fn drawn(structure: &str) -> Result<Response, Problem> {
    let document = FlowDocument::parse_spec(structure).map_err(|problems| {
        unreadable(
            problems
                .first()
                .map_or_else(String::new, ToString::to_string),
        )
    })?;
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        // Opened directly, it is a page of this server.
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        ),
    ];
    Ok((headers, flow_render::svg(&document)).into_response())
}

fn unreadable(reason: String) -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "damaged",
        "What is stored is damaged",
        format!("the structure of the flow cannot be read: {reason}"),
    )
}
