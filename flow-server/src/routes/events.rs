//! Events, as a stream or a page.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use flow_durable::{Events, RecordKind};
use futures_util::{Stream, StreamExt as _, stream};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::extract::{Id, Params, list};
use crate::access::Caller;
use crate::app::App;
use crate::live::{Frame, Wanted, Watch};
use crate::problem::Problem;
use crate::streams::StreamPermit;
use crate::views::{EventsView, ProblemView};

/// The interval between keep-alive messages of a stream.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The maximum number of events in a page.
const PAGE: usize = 1000;

/// The size in bytes at which a page ends, after the event that reaches it.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// The time to wait for events that the store already has.
const AT_ONCE: Duration = Duration::from_millis(20);

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsParams {
    /// Only events after the one with this offset, for instance the last one seen.
    after: Option<u64>,
    /// Only events of these kinds of records, separated by commas, such as `outcome,node_failed`.
    kind: Option<String>,
    /// Only events whose path matches one of these patterns, such as `research.*,review`.
    path: Option<String>,
    /// With `true`, also the output that nodes emit while they run.
    #[serde(default)]
    deltas: bool,
    /// With `true`, also the settings of each node without secrets, its reads when it is reached,
    /// and its writes when it took an action: `params`, `reads` and `writes` of the payload, and
    /// `items`, the number of items of a loop.
    #[serde(default)]
    values: bool,
    /// For a page: how many seconds to wait for the first event.
    #[serde(default)]
    wait: u64,
    /// A signed link, in place of a token.
    #[serde(rename = "link")]
    #[param(ignore)]
    _link: Option<String>,
}

impl EventsParams {
    fn wanted(&self) -> Result<Wanted, Problem> {
        let kinds = list(self.kind.as_deref().unwrap_or_default()).map(|kind| {
            kind.parse::<RecordKind>()
                .map_err(|_| Problem::bad_request(format!("`{kind}` is not a kind of record")))
        });
        let paths = list(self.path.as_deref().unwrap_or_default()).map(|path| {
            path.parse()
                .map_err(|error| Problem::bad_request(format!("`path`: {error}")))
        });
        Ok(Wanted {
            kinds: kinds.collect::<Result<_, _>>()?,
            paths: paths.collect::<Result<_, _>>()?,
            deltas: self.deltas,
            values: self.values,
        })
    }

    /// Returns the offset of the last event that the client has seen. A browser that reconnects
    /// sends it in a header.
    fn seen(&self, headers: &HeaderMap) -> Result<Option<u64>, Problem> {
        let Some(id) = headers.get("last-event-id") else {
            return Ok(self.after);
        };
        let offset = id.to_str().ok().and_then(|text| text.trim().parse().ok());
        let offset = offset.ok_or_else(|| {
            Problem::bad_request("`Last-Event-ID` is not the id of an event of this server")
        })?;
        Ok(Some(offset))
    }
}

/// The events of an execution, from its first record until its end
///
/// With `Accept: text/event-stream`, the answer is a stream whose ids are the offsets of the
/// records; otherwise a page. The events are those of `ExecutionEvent::to_json`.
#[utoipa::path(get, path = "/executions/{id}/events", operation_id = "get_events_of_execution", tag = "events",
    params(
        ("id" = String, Path, format = "uuid", description = "The id of the execution"),
        ("Last-Event-ID" = Option<u64>, Header, description = "As `after`"),
        EventsParams,
    ),
    responses(
        (status = 200, description = "A page of events, or a stream of them", content(
            (EventsView = "application/json"), (String = "text/event-stream"))),
        (status = 204, description = "No more events follow: a stream need not be opened again"),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn of_execution(
    State(app): State<Arc<App>>,
    caller: Caller,
    Id(id): Id,
    Params(params): Params<EventsParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let wanted = params.wanted()?;
    let offset = params.seen(&headers)?;
    let executions = caller.executions_with(id).await?;
    let watching = Watch::new(
        app.hub().clone(),
        executions.clone(),
        id,
        offset.unwrap_or(0),
        wanted,
    );
    let mut watch = watching.await?;
    if !is_stream(&headers) {
        return page(&app, Source::One(Box::new(watch)), params.wait).await;
    }
    // A browser reopens a stream that ends, unless it learns that no event follows.
    let execution = caller.execution(id).await?;
    let permit = app.streams().open(caller.counted_for(Some(&execution)))?;
    let first = match (execution.status().is_over(), offset) {
        (true, Some(_)) => match watch.next().await {
            None => return Ok(StatusCode::NO_CONTENT.into_response()),
            first => first,
        },
        _ => None,
    };
    Ok(streamed(&app, permit, first, Source::One(Box::new(watch))))
}

/// New events of all executions
///
/// With `Accept: text/event-stream`, the answer is a stream that does not end; otherwise a page.
#[utoipa::path(get, path = "/events", operation_id = "get_events", tag = "events",
    params(
        ("Last-Event-ID" = Option<u64>, Header, description = "As `after`"),
        EventsParams,
    ),
    responses(
        (status = 200, description = "A page of events, or a stream of them", content(
            (EventsView = "application/json"), (String = "text/event-stream"))),
        (status = "4XX", description = "The request was not carried out", body = ProblemView, content_type = "application/problem+json"),
    ))]
pub(super) async fn of_all(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<EventsParams>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let wanted = params.wanted()?;
    let offset = params.seen(&headers)?;
    let mut filter = wanted.filter();
    if let Some(offset) = offset {
        filter = filter.from_offset(offset);
    }
    if wanted.deltas {
        filter = filter.deltas();
    }
    let events = caller.executions()?.events(filter).await?;
    let source = Source::All {
        events: Box::new(events),
        wanted,
        offset: offset.unwrap_or(0),
    };
    if is_stream(&headers) {
        let permit = app.streams().open(caller.counted_for(None))?;
        Ok(streamed(&app, permit, None, source))
    } else {
        page(&app, source, params.wait).await
    }
}

/// The source of a client's events.
enum Source {
    /// One execution, whose reader other clients share.
    One(Box<Watch>),
    /// All executions that the client may see.
    All {
        events: Box<Events>,
        wanted: Wanted,
        offset: u64,
    },
}

impl Source {
    async fn next(&mut self) -> Option<Arc<Frame>> {
        match self {
            Source::One(watch) => watch.next().await,
            Source::All {
                events,
                wanted,
                offset,
            } => loop {
                let frame = match events.next().await? {
                    Ok(event) => Frame::of(&event),
                    Err(error) => Frame::failed(error),
                };
                *offset = frame.offset().unwrap_or(*offset);
                if wanted.wants(&frame) {
                    return Some(Arc::new(frame));
                }
            },
        }
    }

    fn offset(&self) -> u64 {
        match self {
            Source::One(watch) => watch.offset(),
            Source::All { offset, .. } => *offset,
        }
    }

    fn is_over(&self) -> bool {
        match self {
            Source::One(watch) => watch.is_over(),
            Source::All { .. } => false,
        }
    }
}

fn is_stream(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT);
    accepts
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/event-stream"))
}

fn streamed(
    app: &Arc<App>,
    permit: StreamPermit,
    first: Option<Arc<Frame>>,
    source: Source,
) -> Response {
    let open = (permit, app.metrics().stream());
    let closing = app.closing().clone().cancelled_owned();
    let events = stream::iter(first)
        .chain(frames(source))
        .take_until(Box::pin(closing))
        .map({
            let app = app.clone();
            move |frame| {
                // Dropped with the stream.
                let _ = &open;
                app.metrics().event();
                Ok::<_, Infallible>(sent(&frame))
            }
        });
    let mut response = Sse::new(events)
        .keep_alive(KeepAlive::new().interval(HEARTBEAT))
        .into_response();
    // Proxies must not buffer events.
    let no_buffer = HeaderName::from_static("x-accel-buffering");
    response
        .headers_mut()
        .insert(no_buffer, HeaderValue::from_static("no"));
    response
}

fn frames(source: Source) -> impl Stream<Item = Arc<Frame>> {
    stream::unfold(source, async |mut source| {
        let frame = source.next().await?;
        Some((frame, source))
    })
}

fn sent(frame: &Frame) -> Event {
    let event = Event::default().data(&frame.json);
    match frame.offset() {
        Some(offset) => event.id(offset.to_string()),
        None => event,
    }
}

/// Returns the events that are there, or waits this many seconds for the first one.
async fn page(app: &App, mut source: Source, wait: u64) -> Result<Response, Problem> {
    let wait = Duration::from_secs(wait).clamp(AT_ONCE, app.limits().wait.max(AT_ONCE));
    let mut events = Vec::new();
    let mut next = tokio::select! {
        biased;
        first = tokio::time::timeout(wait, source.next()) => first.ok().flatten(),
        () = app.closing().cancelled() => None,
    };
    let mut bytes = 0;
    while let Some(frame) = next {
        bytes += frame.bytes();
        events.push(parsed(&frame)?);
        if events.len() == PAGE || bytes > PAGE_BYTES {
            break;
        }
        let following = tokio::time::timeout(AT_ONCE, source.next()).await;
        next = following.ok().flatten();
    }
    let view = EventsView {
        events,
        next: source.offset(),
        over: source.is_over(),
    };
    Ok(Json(view).into_response())
}

fn parsed(frame: &Frame) -> Result<Value, Problem> {
    let parsed = serde_json::from_str(&frame.json);
    parsed.map_err(|error| Problem::unavailable(error.to_string()))
}
