//! Flows, and how they are started.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use flow_durable::{Durable, RuntimeError, StartOptions};
use flow_runtime::engine::AnyFlow;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::extract::{Base, Body, IdempotencyKey, Name, Params};
use super::structure::{drawn, parsed};
use super::wait::waited;
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;
use crate::views::{ExecutionView, FlowView, FlowsView, ProblemView};

/// The flows that can be started
#[utoipa::path(get, path = "/flows", operation_id = "list_flows", tag = "flows", responses(
    (status = 200, description = "The flows", body = FlowsView),
    (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
) -> Result<Json<FlowsView>, Problem> {
    caller.executions()?;
    let flows = app.guard().flows();
    let flows = flows
        .iter()
        .map(|flow| Ok(FlowView::of(&structure(&**flow)?)));
    let flows = flows.collect::<Result<_, Problem>>()?;
    Ok(Json(FlowsView { flows }))
}

/// A flow's structure: nodes, edges, values
#[utoipa::path(get, path = "/flows/{name}", operation_id = "get_flow", tag = "flows",
    params(("name" = String, Path, description = "The flow's name")),
    responses(
        (status = 200, description = "The structure", body = Object),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Name(name): Name,
) -> Result<Json<Value>, Problem> {
    caller.executions()?;
    Ok(Json(structure(&*flow(&app, &name)?)?))
}

/// A flow as a picture
#[utoipa::path(get, path = "/flows/{name}/picture.svg", operation_id = "get_flow_picture", tag = "flows",
    params(("name" = String, Path, description = "The flow's name")),
    responses(
        (status = 200, description = "The picture", body = String, content_type = "image/svg+xml"),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn picture(
    State(app): State<Arc<App>>,
    caller: Caller,
    Name(name): Name,
) -> Result<Response, Problem> {
    caller.executions()?;
    drawn(flow(&app, &name)?.structure())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct StartParams {
    /// For how many seconds to wait until it is over or waits for people.
    wait: Option<u64>,
    /// The owner, if an operator starts it for one.
    owner: Option<String>,
    /// How many steps it may take.
    steps: Option<u64>,
}

/// Start an execution
///
/// The body is the input. With the header `Idempotency-Key`, a repeated request returns the execution
/// that the first one started.
#[utoipa::path(post, path = "/flows/{name}/executions", operation_id = "start_execution", tag = "flows",
    params(
        ("name" = String, Path, description = "The flow's name"),
        ("Idempotency-Key" = Option<String>, Header, description = "A key of the client's own choice"),
        StartParams,
    ),
    request_body = Object,
    responses(
        (status = 201, description = "The execution", body = ExecutionView, headers(("Location" = String, description = "Where the execution is"))),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn start(
    State(app): State<Arc<App>>,
    caller: Caller,
    Name(name): Name,
    Params(params): Params<StartParams>,
    Base(base): Base,
    IdempotencyKey(key): IdempotencyKey,
    Body(input): Body<Value>,
) -> Result<Response, Problem> {
    let mut options = StartOptions::new();
    if let Some(key) = key {
        options = options.idempotency_key(key);
    }
    if let Some(steps) = params.steps {
        options = options.step_budget(steps);
    }
    let executions = caller.starting(params.owner.as_deref())?;
    let started = executions.start_any(&name, input, options).await;
    let execution = started.map_err(|error| match error {
        RuntimeError::NotRegistered { flow } => no_flow(&flow),
        error => error.into(),
    })?;
    app.metrics().started(&name);
    let location = format!("{base}/executions/{}", execution.id());
    let view = match params.wait {
        None => ExecutionView::of(&execution)?,
        Some(seconds) => waited(&app, &execution, seconds).await?,
    };
    let headers = [(header::LOCATION, location)];
    Ok((StatusCode::CREATED, headers, Json(view)).into_response())
}

fn flow(app: &App, name: &str) -> Result<Arc<dyn AnyFlow<Durable>>, Problem> {
    let mut flows = app.guard().flows().into_iter();
    flows
        .find(|flow| flow.name() == name)
        .ok_or_else(|| no_flow(name))
}

fn no_flow(name: &str) -> Problem {
    Problem::not_found(format!("there is no flow `{name}`"))
}

fn structure(flow: &dyn AnyFlow<Durable>) -> Result<Value, Problem> {
    parsed(flow.structure())
}
