//! Signals to executions.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use flow_durable::{Execution, SignalOptions};
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::{Id, IdempotencyKey, Input, Params, SignalName};
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;
use crate::views::{AcceptedSignalView, ExecutionView, ProblemView, SignalView, SignalsView};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkParams {
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

/// The signals of an execution: those that were sent and not taken, and those that it takes
///
/// The signals of an execution that is over will not be taken.
#[utoipa::path(get, path = "/executions/{id}/signals", operation_id = "list_signals", tag = "signals",
    params(("id" = String, Path, format = "uuid", description = "The id of the execution"), LinkParams),
    responses(
        (status = 200, description = "The signals", body = SignalsView, example = json!({
            "signals": [{
                "number": 1, "name": "CancelRequest", "body": { "reason": "too late" },
                "sentAtMs": 1796083200000u64, "idempotencyKey": "request 17",
            }],
            "accepted": [{
                "name": "CancelRequest",
                "schema": { "type": "object", "properties": { "reason": { "type": "string" } } },
            }],
        })),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Id(id): Id,
    Params(_): Params<LinkParams>,
) -> Result<Json<SignalsView>, Problem> {
    let execution = caller.execution(id).await?;
    let untaken = caller
        .executions_with(id)
        .await?
        .untaken_signals(id)
        .await?;
    Ok(Json(SignalsView {
        signals: untaken.iter().map(SignalView::of).collect(),
        accepted: accepted(&app, &execution).await?,
    }))
}

/// Returns the signals that an execution takes, by the structure with which it was started.
async fn accepted(app: &App, execution: &Execution) -> Result<Vec<AcceptedSignalView>, Problem> {
    let Some(structure) = execution.structure().await? else {
        return Ok(Vec::new());
    };
    let flows = app.guard().flows();
    // The flow may have another version by now, whose schemas are not those of this execution.
    let flow = flows.iter().find(|flow| flow.structure() == structure);
    let flow = flow.map(|flow| &**flow);
    Ok(AcceptedSignalView::of(&structure, flow))
}

/// Send a signal to an execution
///
/// The body is the signal, as JSON of its type. An empty body is `null`, which is a signal without
/// fields. The signal is stored before the answer. It is kept until a step takes it, also if it comes
/// before its step. With the header `Idempotency-Key`, a repeated request sends it once.
#[utoipa::path(post, path = "/executions/{id}/signals/{signal}", operation_id = "send_signal", tag = "signals",
    params(
        ("id" = String, Path, format = "uuid", description = "The id of the execution"),
        ("signal" = String, Path, description = "The name of the signal, percent-encoded", example = "CancelRequest"),
        ("Idempotency-Key" = Option<String>, Header, max_length = 255, description = "A key of the client's own choice"),
    ),
    request_body(content = Option<Value>, example = json!({ "reason": "too late" })),
    responses(
        (status = 200, description = "The execution", body = ExecutionView),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Id(id): Id,
    SignalName(name): SignalName,
    IdempotencyKey(key): IdempotencyKey,
    Input(body): Input,
) -> Result<Json<ExecutionView>, Problem> {
    let mut options = SignalOptions::new();
    if let Some(key) = key {
        options = options.idempotency_key(key);
    }
    let sent = caller.executions()?.signal_json(id, &name, body, options);
    let execution = sent.await?;
    app.metrics().signalled();
    Ok(Json(ExecutionView::of(&execution)?))
}
