//! The HTTP/2 endpoint that a Restate server calls.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flow_runtime::engine::AnyFlow;
use flow_runtime::{Observer, RunOptions};
use futures_util::stream::unfold;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use restate_sdk_shared_core::{CoreVM, VM, VMOptions};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::answer::answer;
use crate::connection::Connection;
use crate::engine::OnRestate;
use crate::invocation::run;
use crate::manifest::{MEDIA_TYPE, manifest};
use crate::unacknowledged::Unacknowledged;

type Body = UnsyncBoxBody<Bytes, Infallible>;
type SharedFlow = Arc<dyn AnyFlow<OnRestate>>;

/// With the defaults of HTTP/2, a journal of 10,000 steps cannot be replayed.
const WINDOW: u32 = 64 * 1024 * 1024;

/// The flows that a Restate server can run here: each is a workflow of its name, with a handler
/// `run` and a handler `answer`.
///
/// # Examples
///
/// ```no_run
/// use flow_restate::Endpoint;
/// use flow_runtime::prelude::*;
///
/// #[node]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// flow! {
///     Greeting(name: String) -> (greet: String) {
///         start >> greet >> end;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:9080").await?;
/// Endpoint::new().flow(Greeting::new()).serve(listener).await?;
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct Endpoint {
    flows: BTreeMap<String, SharedFlow>,
    mistake: Option<EndpointError>,
    step_budget: Option<u64>,
    observers: Vec<Arc<dyn Observer>>,
    unacknowledged: Unacknowledged,
}

/// Flows that cannot be served together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointError {
    /// Two flows have this name.
    Twice(String),
    /// A server does not take this name: it takes letters, digits, `_`, `-` and `.`, after a letter
    /// or `_`.
    Name(String),
    /// There is no flow.
    Empty,
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndpointError::Twice(name) => write!(f, "two flows have the name `{name}`: rename one"),
            EndpointError::Name(name) => write!(
                f,
                "the name `{name}` is none that Restate takes: use letters, digits, `_`, `-` and \
                 `.`, after a letter or `_`"
            ),
            EndpointError::Empty => f.write_str("there is no flow: add one by `.flow(…)`"),
        }
    }
}

impl std::error::Error for EndpointError {}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flows: Vec<_> = self.flows.keys().collect();
        f.debug_struct("Endpoint")
            .field("flows", &flows)
            .field("mistake", &self.mistake)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint without flows.
    pub fn new() -> Self {
        Endpoint::default()
    }

    /// Adds a flow, under its name. [`serve`](Endpoint::serve) reports a name that cannot be.
    #[must_use]
    pub fn flow(mut self, flow: impl AnyFlow<OnRestate> + 'static) -> Self {
        let name = flow.name().to_owned();
        let mistake = if self.flows.contains_key(&name) {
            Some(EndpointError::Twice(name.clone()))
        } else if !is_name(&name) {
            Some(EndpointError::Name(name.clone()))
        } else {
            None
        };
        self.mistake = self.mistake.or(mistake);
        self.flows.insert(name, Arc::new(flow));
        self
    }

    /// How many steps a run may take, including those of nested flows, as
    /// [`RunOptions::step_budget`] says.
    #[must_use]
    pub fn step_budget(mut self, steps: u64) -> Self {
        self.step_budget = Some(steps);
        self
    }

    /// Tells this observer what happens in the runs, while they are here. All runs have it; the id
    /// of a run is the same in all processes.
    ///
    /// What is replayed is not told again. An event around a crash may be told twice, or not at all.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    fn options(&self) -> RunOptions {
        let options = match self.step_budget {
            Some(steps) => RunOptions::new().step_budget(steps),
            None => RunOptions::new(),
        };
        self.observers
            .iter()
            .cloned()
            .fold(options, RunOptions::observer)
    }

    /// Serves the flows, until the future is dropped.
    ///
    /// Whoever can connect to the listener can run the flows: let only the Restate server.
    ///
    /// # Errors
    ///
    /// The flows cannot be served together.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all connections, and with them the attempts at invocations here.
    /// The server makes another attempt, here or elsewhere.
    pub async fn serve(self, listener: TcpListener) -> Result<Infallible, EndpointError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        if self.flows.is_empty() {
            return Err(EndpointError::Empty);
        }
        let endpoint = Arc::new(self);
        let mut connections = JoinSet::new();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    connections.spawn(endpoint.clone().serve_connection(stream));
                }
                // Too many files are open, say. A connection that ends makes room.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
            while connections.try_join_next().is_some() {}
        }
    }

    async fn serve_connection(self: Arc<Self>, stream: TcpStream) {
        // Without it, each step takes 40 ms. It fails if the connection is gone already.
        if stream.set_nodelay(true).is_err() {
            return;
        }
        let answer = service_fn(|request| std::future::ready(self.answer(request)));
        // A connection that breaks off ends its invocations, which the server tries again.
        let _ = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .serve_connection(TokioIo::new(stream), answer)
            .await;
    }

    fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let path = request.uri().path().to_owned();
        let segments: Vec<_> = path.split('/').skip(1).collect();
        Ok(match segments[..] {
            ["discover"] => self.discover(&request),
            ["invoke", flow, handler @ ("run" | "answer")] => match self.flows.get(flow) {
                Some(flow) => self.invoke(flow.clone(), handler == "answer", request),
                None => plain(StatusCode::NOT_FOUND, "no flow of this name is served here"),
            },
            _ => plain(StatusCode::NOT_FOUND, "nothing is served at this path"),
        })
    }

    fn discover(&self, request: &Request<Incoming>) -> Response<Body> {
        let mut accepted = request.headers().get_all("accept").iter();
        if !accepted.any(|types| types.to_str().is_ok_and(|types| types.contains(MEDIA_TYPE))) {
            let reason =
                format!("the server does not take `{MEDIA_TYPE}`: use Restate 1.5 or later");
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, &reason);
        }
        let manifest = manifest(self.flows.keys().map(String::as_str));
        let mut response = Response::new(full(manifest.to_string()));
        let kind = HeaderValue::from_static(MEDIA_TYPE);
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    fn invoke(
        &self,
        flow: SharedFlow,
        is_answer: bool,
        request: Request<Incoming>,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let vm = match CoreVM::new(parts.headers, VMOptions::default()) {
            Ok(vm) => vm,
            Err(error) => return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, error.message()),
        };
        let head = vm.get_response_head();
        let (sender, receiver) = mpsc::unbounded_channel();
        let call = Call {
            flow,
            is_answer,
            options: self.options(),
            unacknowledged: self.unacknowledged.clone(),
        };
        let connection = Connection::new(body, sender);
        // The journal decides when the flow goes on, and not how much it has done.
        tokio::spawn(tokio::task::unconstrained(call.carry_out(vm, connection)));
        let stream = unfold(receiver, |mut receiver| async {
            let bytes: Bytes = receiver.recv().await?;
            Some((Ok(Frame::data(bytes)), receiver))
        });
        let mut response = Response::builder().status(head.status_code);
        for header in &head.headers {
            response = response.header(&*header.key, &*header.value);
        }
        match response.body(StreamBody::new(stream).boxed_unsync()) {
            Ok(response) => response,
            Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

/// A call of a handler.
struct Call {
    flow: SharedFlow,
    is_answer: bool,
    options: RunOptions,
    unacknowledged: Unacknowledged,
}

impl Call {
    async fn carry_out(self, mut vm: CoreVM, mut connection: Connection) {
        while let Ok(false) = vm.is_ready_to_execute() {
            if !connection.feed(&mut vm, || false).await {
                return;
            }
        }
        let Ok(input) = vm.sys_input() else {
            // The journal tells the server why.
            return connection.flush(&mut vm);
        };
        if self.is_answer {
            answer(&*self.flow, vm, connection, &input.input).await;
        } else {
            let (options, unacknowledged) = (self.options, self.unacknowledged);
            run(&*self.flow, options, vm, connection, input, unacknowledged).await;
        }
    }
}

/// Whether the server takes a service of this name.
fn is_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_other = |c: char| is_first(c) || c.is_ascii_digit() || c == '-' || c == '.';
    name.starts_with(is_first) && name.chars().all(is_other)
}

fn full(text: String) -> Body {
    Full::new(Bytes::from(text)).boxed_unsync()
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(full(text.to_owned()));
    *response.status_mut() = status;
    response
}
