//! Flows as tools of the Model Context Protocol, at `/mcp`.
//!
//! A call starts an execution of the caller and waits until it is over. The execution is durable:
//! it continues if the connection is cut, and the client finds it among its executions.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use flow_durable::{
    DeltaContent, EventFilter, Execution, ExecutionEvent, RecordKind, StartOptions, Status,
};
use futures_util::future::{Either, select};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::access::Caller;
use crate::app::App;
use crate::body;
use crate::json;
use crate::problem::Problem;
use crate::views::FlowView;

/// Returns the route, whose requests are authenticated like all others.
pub(crate) fn router(app: &Arc<App>) -> Router<Arc<App>> {
    let tools = Tools(app.clone());
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_cancellation_token(app.closing().clone())
        // Authentication has checked the sender, or the host if there is none.
        .disable_allowed_hosts();
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(tools.clone()), sessions, config);
    Router::new()
        .route_service("/mcp", service)
        .layer(middleware::from_fn_with_state(app.clone(), authenticated))
}

async fn authenticated(
    State(app): State<Arc<App>>,
    caller: Result<Caller, Problem>,
    request: Request,
    next: Next,
) -> Response {
    match allowed(&app, caller, request).await {
        Ok(request) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// The time limit for sending the progress of the last steps.
const LAST_PROGRESS: Duration = Duration::from_secs(2);

/// Checks that the sender may use tools and that the body is unambiguous.
async fn allowed(
    app: &App,
    caller: Result<Caller, Problem>,
    request: Request,
) -> Result<Request, Problem> {
    let caller = caller?;
    caller.executions()?;
    let (mut parts, sent) = request.into_parts();
    parts.extensions.insert(caller);
    let body = body::whole(app.limits(), sent).await?;
    // The protocol itself refuses a body that is not JSON.
    if serde_json::from_slice::<IgnoredAny>(&body).is_ok() {
        json::check(&body).map_err(Problem::bad_request)?;
    }
    Ok(Request::from_parts(parts, body.into()))
}

#[derive(Clone)]
struct Tools(Arc<App>);

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities).with_instructions(
            "Each tool runs a flow to its end. If a flow asks people something, the result says so, and the \
             execution goes on when somebody has answered.",
        );
        info.server_info = Implementation::new("flow-server", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let flows = self.0.guard().flows();
        let tools = flows.iter().map(|flow| tool(flow.structure()));
        Ok(ListToolsResult::with_all_items(
            tools.collect::<Result<_, _>>()?,
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = context.extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        let Some(caller) = caller else {
            return Err(ErrorData::internal_error("it is not known who asks", None));
        };
        let known = self.0.guard().flows();
        if !known.iter().any(|flow| flow.name() == request.name) {
            let message = format!("there is no tool `{}`", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let executions = caller.starting(None).map_err(refused)?;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let started = executions.start_json(&request.name, input, StartOptions::new());
        let execution = match started.await {
            Ok(execution) => execution,
            // The model can correct its arguments if it learns what is wrong.
            Err(error) => {
                let problem = Problem::from(error).to_json();
                return Ok(CallToolResult::structured_error(problem).into());
            }
        };
        self.0.metrics().started(&request.name);
        let token = context.meta.get_progress_token();
        let progress = report_progress(&context, &execution, token);
        let settled = async {
            let (settled, progress) = (pin!(execution.settled()), pin!(progress));
            match select(settled, progress).await {
                Either::Right(((), settled)) => settled.await,
                // The last steps are reported before the result. If a part of a loop asks, no event
                // of its execution says so.
                Either::Left((settled, progress)) => {
                    let _ = tokio::time::timeout(LAST_PROGRESS, progress).await;
                    settled
                }
            }
        };
        let settled = tokio::select! {
            settled = settled => settled,
            () = context.ct.cancelled() => {
                let cancelled = executions.cancel(execution.id(), "the client cancelled the call");
                cancelled.await
            }
        };
        result(settled.map_err(|error| refused(error.into()))?).await
    }
}

/// Reports finished nodes and the progress of nodes to the client, if it asked for that.
async fn report_progress(
    context: &RequestContext<RoleServer>,
    execution: &Execution,
    token: Option<ProgressToken>,
) {
    let Some(token) = token else { return };
    let kinds = [
        RecordKind::NodeFinished,
        RecordKind::Paused,
        RecordKind::RunCompleted,
        RecordKind::RunFailed,
        RecordKind::RunCancelled,
    ];
    let filter = EventFilter::new().kinds(kinds).deltas();
    let Ok(mut events) = execution.events(filter).await else {
        return;
    };
    // The protocol requires a number that grows with each notification.
    let mut told = 0.0;
    while let Some(Ok(event)) = events.next().await {
        let message = match &event {
            ExecutionEvent::Recorded(event) if event.record.kind == RecordKind::NodeFinished => {
                event.record.path.clone()
            }
            ExecutionEvent::Recorded(_) => return,
            ExecutionEvent::Delta(delta) => match delta.content {
                DeltaContent::Progress { done, of: Some(of) } => {
                    format!("{}: {done} of {of}", delta.path)
                }
                DeltaContent::Progress { done, of: None } => format!("{}: {done}", delta.path),
                _ => continue,
            },
            _ => continue,
        };
        told += 1.0;
        let mut progress = ProgressNotificationParam::new(token.clone(), told);
        progress.message = Some(message);
        // A client that has disconnected does not stop the execution.
        let _ = context.peer.notify_progress(progress).await;
    }
}

/// Returns the result of a call whose execution has settled.
async fn result(execution: Execution) -> Result<CallToolResponse, ErrorData> {
    let id = execution.id().to_string();
    if execution.status() == Status::Completed {
        let output = execution
            .output_json()
            .map_err(|error| refused(error.into()))?;
        return Ok(CallToolResult::structured(output.unwrap_or_default()).into());
    }
    let status = execution.status().as_str();
    if let Some(reason) = execution.reason() {
        let failed = json!({ "execution": id, "status": status, "reason": reason });
        return Ok(CallToolResult::structured_error(failed).into());
    }
    let questions = execution.questions().await;
    let questions = questions.map_err(|error| refused(error.into()))?;
    let prompts: Vec<&str> = questions.iter().map(|question| question.prompt()).collect();
    let text = format!(
        "The execution {id} waits for somebody to answer: {}",
        prompts.join(" ")
    );
    let mut waiting = CallToolResult::success(vec![ContentBlock::text(text)]);
    let asked = json!({ "execution": id, "status": status, "questions": prompts });
    waiting.structured_content = Some(asked);
    Ok(waiting.into())
}

/// Describes a flow as a tool.
fn tool(structure: &str) -> Result<Tool, ErrorData> {
    let structure: Value = serde_json::from_str(structure)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let flow = FlowView::of(&structure);
    let description = match (flow.description(), asks(&structure)) {
        (Some(text), false) => text.to_owned(),
        (Some(text), true) => format!("{text} {ASKS}"),
        (None, false) => format!("Runs the flow {}.", flow.name()),
        (None, true) => format!("Runs the flow {}. {ASKS}", flow.name()),
    };
    let tool = Tool::new(
        flow.name().to_owned(),
        description,
        Arc::new(object(flow.inputs())),
    );
    if asks(&structure) {
        // The answer to a client whose execution waits is not an output.
        return Ok(tool);
    }
    let mut output = object(flow.outputs());
    let properties = output.entry("properties").or_insert_with(|| json!({}));
    properties["end"] = json!({ "type": "string", "description": "the label of the end" });
    Ok(tool.with_raw_output_schema(Arc::new(output)))
}

const ASKS: &str = "It asks people, and may wait for them.";

fn object(schema: &Value) -> JsonObject {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

/// Returns `true` if a flow, or a nested one, asks people.
fn asks(structure: &Value) -> bool {
    let mut nodes = structure["nodes"].as_array().into_iter().flatten();
    nodes.any(|node| node["type"] == "flow.human" || asks(&node["internalFlow"]))
}

fn refused(problem: Problem) -> ErrorData {
    let data = problem.to_json();
    ErrorData::internal_error(problem.to_string(), Some(data))
}
