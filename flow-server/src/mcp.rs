//! Flows as tools of the Model Context Protocol, at `/mcp`.
//!
//! A call starts an execution of the caller and waits until it is over, or until it waits for people
//! or for signals. The execution is durable: it continues if the connection is cut, and the client
//! finds it among its executions. The tool `send_signal` sends signals to executions.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use flow_durable::{
    DeltaContent, Durable, EventFilter, Execution, ExecutionEvent, Executions, RecordKind,
    RuntimeError, SignalOptions, StartOptions, Status,
};
use flow_runtime::engine::AnyFlow;
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
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::access::Caller;
use crate::app::App;
use crate::awaited::{Ended, settled, takes_signals};
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
             execution goes on when somebody has answered. If it waits for a signal, the result says so, and \
             the execution goes on when `send_signal` has sent it.",
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
        let tools = flows.iter().map(|flow| tool(&**flow));
        let mut tools = tools.collect::<Result<Vec<_>, _>>()?;
        if sends_signals(&flows) {
            tools.push(send_signal_tool());
        }
        Ok(ListToolsResult::with_all_items(tools))
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
        if request.name == SEND_SIGNAL && sends_signals(&known) {
            return self.send_signal(caller, request, &context).await;
        }
        let Some(flow) = known.iter().find(|flow| flow.name() == request.name) else {
            let message = format!("there is no tool `{}`", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
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
        let ended = tokio::select! {
            ended = ended(&context, &executions, &execution, takes_signals(&**flow), 0) => ended,
            () = context.ct.cancelled() => {
                let cancelled = executions.cancel(execution.id(), "the client cancelled the call");
                cancelled.await.map(Ended::settled)
            }
        };
        result(ended.map_err(|error| refused(error.into()))?).await
    }
}

impl Tools {
    /// Sends a signal, and waits for the execution as the call that started it did. If the client
    /// cancels the call, the execution continues.
    async fn send_signal(
        &self,
        caller: &Caller,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let executions = caller.executions().map_err(refused)?;
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let sent = async {
            let arguments: SendSignal = serde_json::from_value(arguments).map_err(|error| {
                Problem::bad_request(format!("the arguments do not fit: {error}"))
            })?;
            let id = caller.find_id(&arguments.execution).await?;
            let mut options = SignalOptions::new();
            if let Some(key) = arguments.idempotency_key {
                options = options.idempotency_key(key);
            }
            let from = executions.get(id).await?.record_count();
            let (signal, body) = (&arguments.signal, arguments.body);
            let execution = executions.signal_json(id, signal, body, options).await?;
            Ok::<_, Problem>((execution, from))
        };
        // The model can correct its arguments if it learns what is wrong.
        let (execution, from) = match sent.await {
            Ok(sent) => sent,
            Err(problem) => return Ok(CallToolResult::structured_error(problem.to_json()).into()),
        };
        self.0.metrics().signalled();
        let ended = tokio::select! {
            ended = ended(context, executions, &execution, true, from) => ended,
            () = context.ct.cancelled() => Ok(Ended::settled(execution)),
        };
        result(ended.map_err(|error| refused(error.into()))?).await
    }
}

/// The arguments of the tool `send_signal`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SendSignal {
    execution: String,
    signal: String,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    idempotency_key: Option<String>,
}

/// Waits until an execution is over, or waits for people or for signals. Reports its progress from
/// the record with the number `from` on.
async fn ended(
    context: &RequestContext<RoleServer>,
    executions: &Executions,
    execution: &Execution,
    takes_signals: bool,
    from: u64,
) -> Result<Ended, RuntimeError> {
    let token = context.meta.get_progress_token();
    let progress = pin!(report_progress(context, execution, token, from));
    let settled = settled(executions, execution, takes_signals);
    match select(pin!(settled), progress).await {
        Either::Right(((), settled)) => settled.await,
        // The last steps are reported before the result. If a part of a loop asks, no event
        // of its execution says so.
        Either::Left((settled, progress)) => {
            let _ = tokio::time::timeout(LAST_PROGRESS, progress).await;
            settled
        }
    }
}

/// Reports finished nodes and the progress of nodes to the client, if it asked for that: from the
/// record with the number `from` on.
async fn report_progress(
    context: &RequestContext<RoleServer>,
    execution: &Execution,
    token: Option<ProgressToken>,
    from: u64,
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
            ExecutionEvent::Recorded(event) if event.record.seq < from => continue,
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

/// Returns the result of a call whose execution is over or waits.
async fn result(ended: Ended) -> Result<CallToolResponse, ErrorData> {
    let Ended { execution, awaited } = ended;
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
    if execution.status() == Status::Cancelling {
        let text = format!("The execution {id} is cancelled, and is undone before it ends");
        let mut cancelling = CallToolResult::success(vec![ContentBlock::text(text)]);
        cancelling.structured_content = Some(json!({ "execution": id, "status": status }));
        return Ok(cancelling.into());
    }
    let questions = execution.questions().await;
    let questions = questions.map_err(|error| refused(error.into()))?;
    let prompts: Vec<&str> = questions.iter().map(|question| question.prompt()).collect();
    let mut text = Vec::new();
    if !prompts.is_empty() || awaited.is_empty() {
        let prompts = prompts.join(" ");
        text.push(format!(
            "The execution {id} waits for somebody to answer: {prompts}"
        ));
    }
    if !awaited.is_empty() {
        let names = quoted(&awaited);
        text.push(format!("The execution {id} waits for a signal: {names}"));
    }
    let text = text.join("\n");
    let mut waiting = CallToolResult::success(vec![ContentBlock::text(text)]);
    let mut asked = json!({ "execution": id, "status": status, "questions": prompts });
    if !awaited.is_empty() {
        asked["signals"] = json!(awaited);
    }
    waiting.structured_content = Some(asked);
    Ok(waiting.into())
}

/// Describes a flow as a tool.
fn tool(flow: &dyn AnyFlow<Durable>) -> Result<Tool, ErrorData> {
    let structure: Value = serde_json::from_str(flow.structure())
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let flow = FlowView::of(flow, &structure);
    let mut description = match flow.description() {
        Some(text) => text.to_owned(),
        None => format!("Runs the flow {}.", flow.name()),
    };
    if asks(&structure) {
        description = format!("{description} {ASKS}");
    }
    let signals: Vec<&str> = flow.signals().iter().map(|signal| &*signal.name).collect();
    if !signals.is_empty() {
        let names = quoted(&signals);
        description = format!("{description} It may wait for signals: {names}.");
    }
    let tool = Tool::new(
        flow.name().to_owned(),
        description,
        Arc::new(object(flow.inputs())),
    );
    if asks(&structure) || !signals.is_empty() {
        // The answer to a client whose execution waits is not an output.
        return Ok(tool);
    }
    let mut output = object(flow.outputs());
    let properties = output.entry("properties").or_insert_with(|| json!({}));
    properties["end"] = json!({ "type": "string", "description": "the label of the end" });
    Ok(tool.with_raw_output_schema(Arc::new(output)))
}

/// The name of the tool that sends signals.
const SEND_SIGNAL: &str = "send_signal";

/// Returns `true` if a flow takes signals, and none has the name of the tool that sends them.
fn sends_signals(flows: &[Arc<dyn AnyFlow<Durable>>]) -> bool {
    flows.iter().any(|flow| takes_signals(&**flow))
        && flows.iter().all(|flow| flow.name() != SEND_SIGNAL)
}

fn send_signal_tool() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "execution": { "type": "string", "description": "the id of the execution" },
            "signal": { "type": "string", "description": "the name of the signal" },
            "body": { "description": "the signal, as JSON of its type; `null` for one without fields" },
            "idempotencyKey": {
                "type": "string",
                "description": "a key of the client's own choice: a repeated call with it sends the signal once",
            },
        },
        "required": ["execution", "signal"],
        "additionalProperties": false,
    });
    let description = "Sends a signal to an execution that waits for it, now or later, and waits until the \
                       execution is over or waits again.";
    Tool::new(SEND_SIGNAL, description, Arc::new(object(&input)))
}

/// Returns names as a list for people.
fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    quoted.join(", ")
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
