//! Flows that operators edit.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use flow_definitions::{Definition, DefinitionId, Status};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::definition_views::{
    ContentBody, DefinitionView, DefinitionsView, FindingView, FindingsView, PatchBody,
    check_places,
};
use super::extract::{AnyBody, Base, Body, IdempotencyKey, Input, Params, in_path};
use super::flows::{StartParams, begun};
use crate::access::{Caller, Operator};
use crate::app::App;
use crate::problem::Problem;
use crate::views::{ExecutionView, ProblemView};

/// The id of a definition, in the path.
pub(super) struct DefinitionInPath(DefinitionId);

impl FromRequestParts<Arc<App>> for DefinitionInPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        let text = in_path(parts, "definition").await?;
        let none = |_| Problem::not_found(format!("there is no definition {text}"));
        text.parse().map(DefinitionInPath).map_err(none)
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct RevisionParams {
    /// The revision that the client has seen.
    revision: u64,
}

/// The nodes and flows that definitions may use
#[utoipa::path(get, path = "/catalog", operation_id = "get_catalog", tag = "definitions", responses(
    (status = 200, description = "The catalog: `nodes`, and the `dependencies` that their settings can name", body = Object),
    (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn catalog(
    State(app): State<Arc<App>>,
    _: Operator,
) -> Result<Json<Value>, Problem> {
    Ok(Json(json!(
        app.active_definitions()?.definitions().catalog()
    )))
}

/// The definitions, the newest first
#[utoipa::path(get, path = "/definitions", operation_id = "list_definitions", tag = "definitions", responses(
    (status = 200, description = "The definitions", body = DefinitionsView),
    (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    _: Operator,
) -> Result<Json<DefinitionsView>, Problem> {
    let stored = app.active_definitions()?.definitions().list().await?;
    Ok(Json(DefinitionsView::of(stored)))
}

/// Create a definition
///
/// A draft may have errors. An active definition must have none, and can be started as a flow.
#[utoipa::path(post, path = "/definitions", operation_id = "create_definition", tag = "definitions",
    request_body = ContentBody,
    responses(
        (status = 201, description = "The definition", body = DefinitionView, headers(("Location" = String, description = "Where the definition is"))),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn create(
    State(app): State<Arc<App>>,
    _: Operator,
    Base(base): Base,
    Body(body): Body<ContentBody>,
) -> Result<Response, Problem> {
    let content = body.content()?;
    let changed = Arc::clone(&app);
    let definition =
        to_its_end(async move { Ok(changed.active_definitions()?.create(content).await?) }).await?;
    let location = format!("{base}/definitions/{}", definition.id);
    let headers = [(header::LOCATION, location)];
    let view = whole(&app, definition)?;
    Ok((StatusCode::CREATED, headers, Json(view)).into_response())
}

/// Check a definition without storing it
#[utoipa::path(post, path = "/definitions/validate", operation_id = "validate_definition", tag = "definitions",
    request_body = ContentBody,
    responses(
        (status = 200, description = "What is wrong with it, the errors first", body = FindingsView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn validate(
    State(app): State<Arc<App>>,
    _: Operator,
    Body(body): Body<ContentBody>,
) -> Result<Json<FindingsView>, Problem> {
    let findings = app
        .active_definitions()?
        .definitions()
        .validate(&body.content()?);
    let findings = findings.into_iter().map(FindingView::of).collect();
    Ok(Json(FindingsView { findings }))
}

/// A definition
#[utoipa::path(get, path = "/definitions/{definition}", operation_id = "get_definition", tag = "definitions",
    params(("definition" = String, Path, format = "uuid", description = "The id of the definition")),
    responses(
        (status = 200, description = "The definition", body = DefinitionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    _: Operator,
    DefinitionInPath(id): DefinitionInPath,
) -> Result<Json<DefinitionView>, Problem> {
    let definition = app.active_definitions()?.definitions().get(id).await?;
    Ok(Json(whole(&app, definition)?))
}

/// Change a definition as a whole
///
/// The body is a JSON Merge Patch (RFC 7396) of `flow`, `status`, `layout` and `configuration`.
/// Fields that are missing stay, `null` removes, and a list is replaced as a whole.
#[utoipa::path(patch, path = "/definitions/{definition}", operation_id = "patch_definition", tag = "definitions",
    params(("definition" = String, Path, format = "uuid", description = "The id of the definition"), RevisionParams),
    request_body = PatchBody,
    responses(
        (status = 200, description = "The definition as it is now", body = DefinitionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn patch(
    State(app): State<Arc<App>>,
    _: Operator,
    DefinitionInPath(id): DefinitionInPath,
    Params(params): Params<RevisionParams>,
    AnyBody(patch): AnyBody,
) -> Result<Json<DefinitionView>, Problem> {
    check_places(patch.get("layout"))?;
    let (changed, revision) = (Arc::clone(&app), params.revision);
    let patched = async move {
        Ok(changed
            .active_definitions()?
            .patch(id, revision, &patch)
            .await?)
    };
    let definition = to_its_end(patched).await?;
    Ok(Json(whole(&app, definition)?))
}

/// Replace the content of a definition
///
/// Unlike a patch, this can also set a value to `null`. Missing fields get their defaults: `status`
/// is `draft`, and `layout` and `configuration` are empty.
#[utoipa::path(put, path = "/definitions/{definition}", operation_id = "replace_definition", tag = "definitions",
    params(("definition" = String, Path, format = "uuid", description = "The id of the definition"), RevisionParams),
    request_body = ContentBody,
    responses(
        (status = 200, description = "The definition as it is now", body = DefinitionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    _: Operator,
    DefinitionInPath(id): DefinitionInPath,
    Params(params): Params<RevisionParams>,
    Body(body): Body<ContentBody>,
) -> Result<Json<DefinitionView>, Problem> {
    let content = body.content()?;
    let (changed, revision) = (Arc::clone(&app), params.revision);
    let replaced = async move {
        Ok(changed
            .active_definitions()?
            .replace(id, revision, content)
            .await?)
    };
    let definition = to_its_end(replaced).await?;
    Ok(Json(whole(&app, definition)?))
}

/// Delete a definition
///
/// Its flow can no longer be started in this process. Executions in progress continue.
/// Another process notices that when the definition is started there, or after a restart.
#[utoipa::path(delete, path = "/definitions/{definition}", operation_id = "delete_definition", tag = "definitions",
    params(("definition" = String, Path, format = "uuid", description = "The id of the definition"), RevisionParams),
    responses(
        (status = 204, description = "It is removed"),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    _: Operator,
    DefinitionInPath(id): DefinitionInPath,
    Params(params): Params<RevisionParams>,
) -> Result<StatusCode, Problem> {
    let deleted = async move {
        Ok(app
            .active_definitions()?
            .delete(id, params.revision)
            .await?)
    };
    to_its_end(deleted).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The flow of a definition as Rust
#[utoipa::path(get, path = "/definitions/{definition}/source", operation_id = "get_definition_source", tag = "definitions",
    params(("definition" = String, Path, format = "uuid", description = "The id of the definition")),
    responses(
        (status = 200, description = "`flow!`, without the nodes and the configuration", body = String, content_type = "text/plain"),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn source(
    State(app): State<Arc<App>>,
    _: Operator,
    DefinitionInPath(id): DefinitionInPath,
) -> Result<String, Problem> {
    let definitions = app.active_definitions()?.definitions();
    let definition = definitions.get(id).await?;
    Ok(definitions.source(&definition.content)?)
}

/// Start an execution of an active definition, in its current version
///
/// Like `POST /flows/{name}/executions` with the name of the definition, but also works after
/// another process has changed the definition.
#[utoipa::path(post, path = "/definitions/{definition}/executions", operation_id = "start_definition", tag = "definitions",
    params(
        ("definition" = String, Path, format = "uuid", description = "The id of the definition"),
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
    DefinitionInPath(id): DefinitionInPath,
    Params(params): Params<StartParams>,
    Base(base): Base,
    IdempotencyKey(key): IdempotencyKey,
    Input(input): Input,
) -> Result<Response, Problem> {
    caller.must_be_operator()?;
    let definition = app.active_definitions()?.current(id).await?;
    if definition.content.status == Status::Draft {
        let title = "The definition is a draft";
        let detail = "only an active definition can be started";
        return Err(Problem::new(StatusCode::CONFLICT, "draft", title, detail));
    }
    begun(&app, &caller, definition.name(), &params, &base, key, input).await
}

/// Completes a change even if the client disconnects, so that the store and the runtime agree.
async fn to_its_end<T: Send + 'static>(
    change: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    let changed = tokio::spawn(change).await;
    changed.unwrap_or_else(|panicked| {
        tracing::error!(error = %panicked, "a change of a definition panicked");
        Err(Problem::unavailable("the log of the server says why"))
    })
}

fn whole(app: &App, definition: Definition) -> Result<DefinitionView, Problem> {
    let findings = app
        .active_definitions()?
        .definitions()
        .validate(&definition.content);
    Ok(DefinitionView::whole(definition, findings))
}
