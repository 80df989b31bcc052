//! Lists, shows, cancels, copies and removes executions.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use flow_durable::{Execution, ListOptions, Status};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::extract::{Body, Id, Params, execution_id, page_size, time, whole};
use super::structure::{drawn, parsed};
use super::wait::waited;
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;
use crate::views::{
    ExecutionView, ExecutionsView, LinkView, ProblemView, UndoableStepView, UndoableView,
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ListParams {
    /// Only executions of this flow.
    flow: Option<String>,
    /// The status: `queued`, `running`, `paused`, `cancelling`, `completed`, `failed` or `cancelled`.
    status: Option<String>,
    /// With `true`, only executions that are halted; with `false`, only those that are not.
    halted: Option<bool>,
    /// Only executions that were started at this time or later, in milliseconds since 1970 (UTC).
    started_from_ms: Option<u64>,
    /// Only executions that were started before this time, in milliseconds since 1970 (UTC).
    started_before_ms: Option<u64>,
    /// Only copies of this execution.
    #[param(format = "uuid")]
    copies_of: Option<String>,
    /// Only executions older than this one: the `next` of the previous page.
    #[param(format = "uuid")]
    before: Option<String>,
    /// The maximum number of executions: 100 by default, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

impl ListParams {
    fn options(self) -> Result<ListOptions, Problem> {
        let mut options = ListOptions::new().limit(page_size(self.limit)?);
        if let Some(flow) = self.flow {
            options = options.flow(flow);
        }
        if let Some(status) = self.status {
            let status: Status = status.parse().map_err(|_| {
                Problem::bad_request(format!(
                    "`{status}` is not a status: `queued`, `running`, `paused`, `cancelling`, `completed`, `failed` or \
                     `cancelled`"
                ))
            })?;
            options = options.status(status);
        }
        if let Some(halted) = self.halted {
            options = options.halted(halted);
        }
        if let Some(from) = self.started_from_ms {
            options = options.started_from(time(from)?);
        }
        if let Some(before) = self.started_before_ms {
            options = options.started_before(time(before)?);
        }
        if let Some(original) = self.copies_of {
            options = options.copies_of(execution_id(&original)?);
        }
        if let Some(before) = self.before {
            options = options.before(execution_id(&before)?);
        }
        Ok(options)
    }
}

/// Executions, the newest first
#[utoipa::path(get, path = "/executions", operation_id = "list_executions", tag = "executions", params(ListParams), responses(
    (status = 200, description = "A page of executions", body = ExecutionsView),
    (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn list(
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<ExecutionsView>, Problem> {
    let listed = caller.executions()?.list(params.options()?).await?;
    Ok(Json(ExecutionsView {
        executions: listed.iter().map(ExecutionView::listed).collect(),
        next: listed.next_page().map(|id| id.to_string()),
        damaged: listed.damaged().len(),
    }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct GetParams {
    /// The seconds to wait until it ends or waits for people.
    wait: Option<u64>,
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// An execution
#[utoipa::path(get, path = "/executions/{id}", operation_id = "get_execution", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), GetParams),
    responses(
        (status = 200, description = "The execution", body = ExecutionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Id(id): Id,
    Params(params): Params<GetParams>,
) -> Result<Json<ExecutionView>, Problem> {
    let execution = caller.execution(id).await?;
    match params.wait {
        None => Ok(Json(ExecutionView::of(&execution)?)),
        Some(seconds) => Ok(Json(waited(&app, &execution, seconds).await?)),
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CancelBody {
    /// The reason, which the execution and its last record contain.
    reason: String,
    /// With `false`, ends it at once and leaves as it is what its steps have done. `true` by default.
    #[serde(default = "undo_by_default")]
    #[schema(default = true)]
    undo: bool,
}

const fn undo_by_default() -> bool {
    true
}

/// Cancel an execution
///
/// An execution with steps that can be undone is undone first, and is `cancelling` until then. For one
/// that cannot be undone, cancel it again with `undo: false`.
#[utoipa::path(post, path = "/executions/{id}/cancel", operation_id = "cancel_execution", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution")),
    request_body = CancelBody,
    responses(
        (status = 200, description = "The execution", body = ExecutionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    Id(id): Id,
    Body(body): Body<CancelBody>,
) -> Result<Json<ExecutionView>, Problem> {
    let executions = caller.executions()?;
    let execution = if body.undo {
        executions.cancel(id, &body.reason).await?
    } else {
        executions.end_without_undoing(id, &body.reason).await?
    };
    app.metrics().cancelled();
    Ok(Json(ExecutionView::of(&execution)?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RetryParams {
    /// The steps to add to its budget, if it has one. By default, none.
    #[param(minimum = 0)]
    more_steps: Option<u64>,
}

/// Try an execution again that has failed or is halted
///
/// It continues at the step that failed, which has all its attempts again. What was done stays done. An
/// execution that is neither failed nor halted, and not over, stays as it is. Adding steps to one that is
/// not halted is an error.
#[utoipa::path(post, path = "/executions/{id}/retry", operation_id = "retry_execution", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), RetryParams),
    responses(
        (status = 200, description = "The execution", body = ExecutionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn retry(
    caller: Caller,
    Id(id): Id,
    Params(params): Params<RetryParams>,
) -> Result<Json<ExecutionView>, Problem> {
    let executions = caller.executions()?;
    let execution = match params.more_steps {
        None => executions.retry(id).await?,
        Some(steps) => executions.retry_with_steps(id, steps).await?,
    };
    Ok(Json(ExecutionView::of(&execution)?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CopyBody {
    /// The number of the last record that the copy shares with the original.
    #[serde(deserialize_with = "whole")]
    seq: u64,
    /// New values for keys of the outermost flow, with which the copy continues.
    #[serde(default)]
    #[schema(value_type = Option<Object>, nullable = false)]
    values: Map<String, Value>,
}

/// Start a copy that continues from a record, optionally with other values
#[utoipa::path(post, path = "/executions/{id}/copies", operation_id = "copy_execution", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution")),
    request_body = CopyBody,
    responses(
        (status = 201, description = "The execution", body = ExecutionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn copy(
    caller: Caller,
    Id(id): Id,
    Body(body): Body<CopyBody>,
) -> Result<(StatusCode, Json<ExecutionView>), Problem> {
    let executions = caller.executions()?;
    let copied = if body.values.is_empty() {
        executions.copy(id, body.seq).await?
    } else {
        executions.copy_with(id, body.seq, body.values).await?
    };
    Ok((StatusCode::CREATED, Json(ExecutionView::of(&copied)?)))
}

/// Delete an execution with its journal
///
/// A running execution is cancelled first.
#[utoipa::path(delete, path = "/executions/{id}", operation_id = "delete_execution", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution")),
    responses(
        (status = 204, description = "It is removed"),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn delete(caller: Caller, Id(id): Id) -> Result<StatusCode, Problem> {
    caller.executions()?.delete(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct LinkBody {
    /// The step whose question the link is for. Without it, the link is for the whole execution.
    #[serde(default)]
    step: Option<String>,
    /// The seconds for which the link is valid.
    #[serde(deserialize_with = "whole")]
    expires_in_seconds: u64,
}

/// Create a signed link to an execution or to one of its questions
#[utoipa::path(post, path = "/executions/{id}/links", operation_id = "link_execution", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution")),
    request_body = LinkBody,
    responses(
        (status = 201, description = "The link", body = LinkView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn link(
    State(app): State<Arc<App>>,
    caller: Caller,
    Id(id): Id,
    Body(body): Body<LinkBody>,
) -> Result<(StatusCode, Json<LinkView>), Problem> {
    // A link must not create links that are valid for longer.
    caller.executions()?.get(id).await?;
    let holds = Duration::from_secs(body.expires_in_seconds);
    let links = app.guard().links();
    let link = match body.step {
        None => links.execution(id, holds),
        Some(step) => {
            let questions = caller.questions(id).await?;
            let asked = questions.iter().find(|question| question.step() == step);
            let asked = asked.ok_or_else(|| {
                Problem::not_found(format!("the step `{step}` has no open question"))
            })?;
            links.question(asked, holds)
        }
    };
    Ok((StatusCode::CREATED, Json(LinkView { link })))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoableParams {
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// The steps of an execution that are done and not undone
///
/// While it is `cancelling`, these are the steps that are not undone yet. If it was ended with `undo:
/// false`, they are those that stay as they are. Without the steps of its parts.
#[utoipa::path(get, path = "/executions/{id}/undoable", operation_id = "list_undoable_steps", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), UndoableParams),
    responses(
        (status = 200, description = "The steps", body = UndoableView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn undoable(
    caller: Caller,
    Id(id): Id,
    Params(_): Params<UndoableParams>,
) -> Result<Json<UndoableView>, Problem> {
    let steps = caller.execution(id).await?.undoable().await?;
    let steps = steps.iter().map(UndoableStepView::of).collect();
    Ok(Json(UndoableView { steps }))
}

/// The structure of the flow with which an execution was started
#[utoipa::path(get, path = "/executions/{id}/structure", operation_id = "get_structure", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution")),
    responses(
        (status = 200, description = "The structure", body = Object),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn structure(caller: Caller, Id(id): Id) -> Result<Json<Value>, Problem> {
    let structure = stored_structure(&caller.execution(id).await?).await?;
    Ok(Json(parsed(&structure)?))
}

/// The flow with which an execution was started, as a picture
#[utoipa::path(get, path = "/executions/{id}/picture.svg", operation_id = "get_picture", tag = "executions",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution")),
    responses(
        (status = 200, description = "The picture", body = String, content_type = "image/svg+xml"),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn picture(caller: Caller, Id(id): Id) -> Result<Response, Problem> {
    drawn(&stored_structure(&caller.execution(id).await?).await?)
}

async fn stored_structure(execution: &Execution) -> Result<String, Problem> {
    let structure = execution.structure().await?;
    structure.ok_or_else(|| Problem::not_found("the structure of the flow is not in the store"))
}
