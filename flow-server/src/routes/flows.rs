//! Lists, shows and starts flows.

use std::num::NonZeroU32;
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

use super::extract::{Base, IdempotencyKey, Input, Name, Params, time};
use super::structure::{drawn, parsed};
use super::wait::waited;
use crate::access::{Caller, not_too_long};
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
        .map(|flow| Ok(FlowView::of(&**flow, &structure(&**flow)?)));
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
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct StartParams {
    // Lengths in bytes have no `max_length` here: that of JSON Schema counts characters.
    /// The seconds to wait until the execution ends or waits for people.
    wait: Option<u64>,
    /// The owner, if an operator starts the execution for one: at most 512 bytes in UTF-8.
    owner: Option<String>,
    /// The maximum number of steps.
    steps: Option<u64>,
    /// The priority among queued executions: higher ones begin first. 0 by default. For operators.
    priority: Option<i32>,
    /// The earliest time to begin, in milliseconds since 1970 (UTC).
    not_before_ms: Option<u64>,
    /// Begin only while fewer than `concurrencyAtMost` executions with this key are in progress,
    /// whatever their flow and owner: at most 512 bytes in UTF-8. For operators.
    concurrency_key: Option<String>,
    /// The maximum number of executions with the `concurrencyKey`, itself included: 1 or more.
    #[param(minimum = 1)]
    concurrency_at_most: Option<u32>,
}

impl StartParams {
    /// # Errors
    ///
    /// An owner sets an option for operators, or the key or its number is missing.
    fn options(&self, caller: &Caller) -> Result<StartOptions, Problem> {
        let mut options = StartOptions::new();
        if let Some(steps) = self.steps {
            options = options.step_budget(steps);
        }
        if let Some(ms) = self.not_before_ms {
            options = options.not_before(time(ms)?);
        }
        let is_for_operators = self.priority.is_some() || self.concurrency_key.is_some();
        if is_for_operators && !caller.is_operator() {
            return Err(Problem::forbidden(
                "`priority` and `concurrencyKey` hold up others: only an operator sets them",
            ));
        }
        if let Some(priority) = self.priority {
            options = options.priority(priority);
        }
        not_too_long("concurrency key", self.concurrency_key.as_deref())?;
        match (&self.concurrency_key, self.concurrency_at_most) {
            (None, None) => Ok(options),
            (Some(key), Some(at_most)) => {
                let at_most = NonZeroU32::new(at_most).ok_or_else(|| {
                    Problem::bad_request("with `concurrencyAtMost=0` it would never begin")
                })?;
                Ok(options.concurrency_key(key, at_most))
            }
            _ => Err(Problem::bad_request(
                "`concurrencyKey` and `concurrencyAtMost` need each other",
            )),
        }
    }
}

/// Start an execution
///
/// The body is the input. With the header `Idempotency-Key`, a repeated request returns the
/// execution that the first one started.
#[utoipa::path(post, path = "/flows/{name}/executions", operation_id = "start_execution", tag = "flows",
    params(
        ("name" = String, Path, description = "The flow's name"),
        ("Idempotency-Key" = Option<String>, Header, max_length = 255, description = "A key of the client's own choice"),
        StartParams,
    ),
    request_body = Option<Object>,
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
    Input(input): Input,
) -> Result<Response, Problem> {
    begun(&app, &caller, &name, &params, &base, key, input).await
}

/// Starts an execution, and returns it as the answer.
pub(super) async fn begun(
    app: &App,
    caller: &Caller,
    name: &str,
    params: &StartParams,
    base: &str,
    key: Option<String>,
    input: Value,
) -> Result<Response, Problem> {
    not_too_long("name of the flow", Some(name))?;
    let mut options = params.options(caller)?;
    if let Some(key) = key {
        options = options.idempotency_key(key);
    }
    let executions = caller.starting(params.owner.as_deref())?;
    let started = executions.start_json(name, input, options).await;
    let execution = started.map_err(|error| match error {
        RuntimeError::NotRegistered { flow } => no_flow(&flow),
        error => error.into(),
    })?;
    app.metrics().started(name);
    let location = format!("{base}/executions/{}", execution.id());
    let view = match params.wait {
        None => ExecutionView::of(&execution)?,
        Some(seconds) => waited(app, &execution, seconds).await?,
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
