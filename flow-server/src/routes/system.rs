//! Routes for operators: health and metrics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::Operator;
use crate::app::App;
use crate::problem::Problem;
use crate::views::ProblemView;

#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HealthView {
    /// `ok`.
    status: &'static str,
}

/// Check that the server runs. Needs no token
#[utoipa::path(get, path = "/health", operation_id = "get_health", tag = "system", security(()),
    responses((status = 200, description = "It does", body = HealthView)))]
pub(super) async fn health() -> Json<HealthView> {
    Json(HealthView { status: "ok" })
}

/// Check that the server reaches its store and is not shutting down. Needs no token
#[utoipa::path(get, path = "/health/ready", operation_id = "get_readiness", tag = "system", security(()), responses(
    (status = 200, description = "It does", body = HealthView),
    (status = 503, description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn ready(State(app): State<Arc<App>>) -> Result<Json<HealthView>, Problem> {
    if app.closing().is_cancelled() {
        return Err(Problem::unavailable("the server shuts down"));
    }
    app.guard().check_store().await?;
    Ok(Json(HealthView { status: "ok" }))
}

/// The metrics for Prometheus
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "system", responses(
    (status = 200, description = "The numbers", body = String, content_type = "application/openmetrics-text"),
    (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn metrics(State(app): State<Arc<App>>, _: Operator) -> Response {
    // If the store cannot be read, the number stays; `/health/ready` reports the store.
    if let Ok(refused) = app.guard().refused().await {
        app.metrics().refused(refused);
    }
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let headers = [(header::CONTENT_TYPE, content_type)];
    (headers, app.metrics().text()).into_response()
}
