//! The routes and messages of the agent framework behind the requirements, so that
//! its clients can watch flows of this library.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use flow_durable::{
    EventFilter, Events, ExecutionEvent, ExecutionId, RecordKind, RuntimeError, StartOptions,
};
use flow_runtime::engine::NodePath;
use futures_util::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::access::Caller;
use crate::app::App;
use crate::live::READ_AHEAD;
use crate::problem::Problem;

/// The time for which the token of an execution is valid.
const TOKEN_HOLDS: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/api/flows/{name}", get(watch).post(start))
        .route("/api/flows/{id}/resume", post(resume))
        .with_state(app)
}

/// An error answer: a status and a sentence.
type Refused = (StatusCode, String);

fn failed(error: impl Into<Problem>) -> Refused {
    let problem = error.into();
    let message = problem.detail();
    match problem.status() {
        StatusCode::NOT_FOUND => (StatusCode::NOT_FOUND, "No such flow execution".to_owned()),
        status @ (StatusCode::BAD_REQUEST
        | StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::TOO_MANY_REQUESTS) => (status, format!("Error: {message}")),
        _ => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("Error: {message}"),
        ),
    }
}

/// A caller whose refusal is a sentence.
struct Known(Caller);

impl FromRequestParts<Arc<App>> for Known {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refused> {
        let caller = Caller::from_request_parts(parts, app).await;
        caller.map(Known).map_err(failed)
    }
}

/// Reads the body of a request, or `{}` if it is empty.
async fn body<T: serde::de::DeserializeOwned>(
    app: &App,
    body: axum::body::Body,
) -> Result<T, Refused> {
    let Ok(bytes) = crate::body::whole(app.limits(), body).await else {
        let reason = "Error: the body is too large, or did not arrive in time".to_owned();
        return Err((StatusCode::BAD_REQUEST, reason));
    };
    let text: &[u8] = match bytes.trim_ascii() {
        [] => b"{}",
        // Serde would also read a struct from a list.
        [b'[', ..] => return Err((StatusCode::BAD_REQUEST, "Error: not an object".to_owned())),
        text => text,
    };
    crate::json::read(text).map_err(|error| (StatusCode::BAD_REQUEST, format!("Error: {error}")))
}

#[derive(Deserialize)]
struct StartBody {
    prompt: Option<String>,
}

async fn start(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    Known(caller): Known,
    request: axum::body::Body,
) -> Result<Json<Value>, Refused> {
    let StartBody { prompt } = body(&app, request).await?;
    let flows = app.guard().flows();
    let mut names = flows.iter().map(|flow| flow.name());
    // The framework's paths are in lowercase.
    let Some(flow) = names.find(|flow| flow.eq_ignore_ascii_case(&name)) else {
        return Err((
            StatusCode::NOT_FOUND,
            format!("Error: there is no flow `{name}`"),
        ));
    };
    let prompt = prompt.unwrap_or_else(|| "No prompt.".to_owned());
    let executions = caller.starting(None).map_err(failed)?;
    let started = executions.start_json(flow, json!({ "prompt": prompt }), StartOptions::new());
    let execution = started.await.map_err(failed)?;
    app.metrics().started(flow);
    Ok(Json(json!({
        "executionId": execution.id().to_string(),
        "status": execution.status().as_str(),
        "executionToken": app.guard().links().execution(execution.id(), TOKEN_HOLDS),
    })))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WatchParams {
    execution_id: Option<String>,
}

async fn watch(
    State(app): State<Arc<App>>,
    Known(caller): Known,
    axum::extract::Query(params): axum::extract::Query<WatchParams>,
) -> Result<Response, Refused> {
    let Some(id) = params.execution_id.filter(|id| !id.is_empty()) else {
        return Err((StatusCode::BAD_REQUEST, "Missing executionId".to_owned()));
    };
    let id: ExecutionId = id
        .parse()
        .map_err(|_| failed(Problem::not_found("no such execution")))?;
    let execution = caller.execution(id).await.map_err(failed)?;
    let owner = caller.counted_for(Some(&execution));
    let permit = app.streams().open(owner).map_err(failed)?;
    let filter = EventFilter::new().read_ahead(READ_AHEAD).deltas();
    let events = execution.events(filter).await.map_err(failed)?;
    let open = (permit, app.metrics().stream());
    let closing = app.closing().clone().cancelled_owned();
    let messages = stream::unfold(Some(events), next_messages)
        .flat_map(stream::iter)
        .take_until(Box::pin(closing))
        .map(move |message| {
            // Dropped with the stream.
            let _ = &open;
            Ok::<_, Infallible>(Event::default().data(message))
        });
    Ok(Sse::new(messages)
        .keep_alive(KeepAlive::new())
        .into_response())
}

/// Returns the messages of the next event, or `None` after the last one.
async fn next_messages(events: Option<Events>) -> Option<(Vec<String>, Option<Events>)> {
    let mut events = events?;
    match events.next().await? {
        Err(error) => Some((vec![error_entry(Problem::from(error).detail())], None)),
        Ok(event) => {
            let is_end = event.record().is_some_and(|record| {
                matches!(
                    record.kind,
                    RecordKind::RunCompleted | RecordKind::RunFailed | RecordKind::RunCancelled
                )
            });
            Some((messages(&event), (!is_end).then_some(events)))
        }
    }
}

fn error_entry(message: &str) -> String {
    json!({ "type": "error", "message": message }).to_string()
}

/// Converts an event to messages of the framework.
fn messages(event: &ExecutionEvent) -> Vec<String> {
    let envelope = event.to_json();
    let node = &envelope["nodeId"];
    let payload = &envelope["payload"];
    let Some(record) = event.record() else {
        let delta = match &payload["chunk"] {
            Value::Null => return Vec::new(),
            Value::String(text) => text.clone(),
            chunk => chunk.to_string(),
        };
        return vec![json!({ "type": "agentDelta", "nodeId": node, "delta": delta }).to_string()];
    };
    match record.kind {
        RecordKind::Outcome => {
            let content = &payload["execResult"];
            vec![json!({ "type": "agentResult", "nodeId": node, "content": content }).to_string()]
        }
        RecordKind::Paused => {
            let message = &payload["data"]["prompt"];
            vec![json!({ "type": "human-prompt", "nodeId": node, "message": message }).to_string()]
        }
        RecordKind::RunCompleted => vec!["[DONE]".to_owned()],
        RecordKind::RunFailed | RecordKind::RunCancelled => vec![error_entry(&record.payload)],
        _ => Vec::new(),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResumeBody {
    node_id: Option<String>,
    #[serde(default = "nothing")]
    user_input: Value,
}

fn nothing() -> Value {
    json!({})
}

async fn resume(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Known(caller): Known,
    request: axum::body::Body,
) -> Result<&'static str, Refused> {
    let ResumeBody {
        node_id,
        user_input,
    } = body(&app, request).await?;
    let Some(node) = node_id.filter(|node| !node.is_empty()) else {
        return Err((StatusCode::BAD_REQUEST, "Missing nodeId".to_owned()));
    };
    let id: ExecutionId = id
        .parse()
        .map_err(|_| failed(Problem::not_found("no such execution")))?;
    let questions = caller.questions(id).await.map_err(failed)?;
    let asked = questions.iter().find(|question| {
        let path = question.path();
        path == node || NodePath::new(path).last() == node
    });
    let Some(asked) = asked else {
        let reason = format!("Error: the node `{node}` asks nothing");
        return Err((StatusCode::INTERNAL_SERVER_ERROR, reason));
    };
    let answered = caller.answering().resume(asked.token(), user_input).await;
    answered.map_err(|error: RuntimeError| failed(error))?;
    app.metrics().answered();
    Ok("Flow resumed.")
}
