//! The HTTP/2 endpoint that a Restate server calls.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
#[cfg(feature = "identity")]
use std::time::SystemTime;

use bytes::Bytes;
use flow_runtime::Observer;
use flow_runtime::engine::AnyFlow;
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
use tokio::time::Instant;

use crate::answer::answer;
use crate::connection::Connection;
use crate::continued::HANDLER;
use crate::engine::OnRestate;
#[cfg(feature = "identity")]
use crate::identity::{Keys, PREFIX};
use crate::manifest::{MEDIA_TYPE, manifest};
use crate::options::Options;
use crate::refusal::{EndpointError, check};
use crate::run::Invocation;
use crate::unacknowledged::Unacknowledged;

/// The interval between pings on an idle connection, and the timeout of their answers. Without
/// pings, a server whose machine is gone would keep its runs here.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The maximum time for which the listener may fail.
const PATIENCE: Duration = Duration::from_secs(60);

type Body = UnsyncBoxBody<Bytes, Infallible>;
type SharedFlow = Arc<dyn AnyFlow<OnRestate>>;

/// The server sends a journal in small frames, one for each entry, faster than they are read. `h2`
/// ends a connection (`ENHANCE_YOUR_CALM`) on which too many wait; a larger window allows more.
/// With the default of 1 MiB, each replay of 10,000 steps ended that way.
const WINDOW: u32 = 64 * 1024 * 1024;

/// The flows that a Restate server can run here. Each flow is a workflow of the same name, with the
/// handlers `run` and `answer`, and a handler `continue` that only handlers can call.
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
    options: Options,
    #[cfg(feature = "identity")]
    keys: Keys,
    unacknowledged: Unacknowledged,
}

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
    /// Creates an endpoint without flows.
    pub fn new() -> Self {
        Endpoint::default()
    }

    /// Adds a flow, under its name. [`serve`](Endpoint::serve) reports an invalid name, and a flow
    /// that opens transactions, waits for signals or can be undone.
    #[must_use]
    pub fn flow(mut self, flow: impl AnyFlow<OnRestate> + 'static) -> Self {
        let name = flow.name().to_owned();
        let mistake = if self.flows.contains_key(&name) {
            Some(EndpointError::Twice(name.clone()))
        } else {
            check(&name, flow.structure()).err()
        };
        self.mistake = self.mistake.or(mistake);
        self.flows.insert(name, Arc::new(flow));
        self
    }

    /// Sets the maximum number of steps of a run, including those of nested flows: see
    /// [`RunOptions::step_budget`](flow_runtime::RunOptions::step_budget). A run keeps the number
    /// with which it began.
    #[must_use]
    pub fn step_budget(mut self, steps: u64) -> Self {
        self.options.step_budget = steps;
        self
    }

    /// Adds an observer of all runs here. The id of a run is the same in all processes.
    ///
    /// Replayed events are not reported. Events around a crash may be reported twice or not at all.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.options.observers.push(observer);
        self
    }

    /// Sets the number of journal entries after which a run continues in a new invocation. The
    /// default is 4,000. A step and a wait are one entry each, and a question is two. A timeout
    /// adds a third, and its expiry a fourth. The end of a question that is no longer asked is one.
    /// Only these commands count: the server's table `sys_journal` also has an entry for each
    /// completion. The run continues between two nodes of its own flow, never within a nested flow.
    /// A run keeps the number with which it began.
    ///
    /// With a smaller number, less is replayed after a crash, but the values of the flow are sent
    /// to the server more often. If they are too large, or have an integer of more than 64 bits,
    /// the run stays in its invocation, and retries after as many entries. It also continues in a
    /// new invocation after 64 MiB of outcomes and answers. With `u64::MAX` it always stays in its
    /// first invocation.
    #[must_use]
    pub fn entries_per_invocation(mut self, entries: u64) -> Self {
        self.options.entries = entries;
        self
    }

    /// Accepts only requests signed by the server with this key, or with another key added by this
    /// method. All others get the status 401. [`serve`](Endpoint::serve) reports an invalid key.
    /// Needs the feature `identity`.
    ///
    /// The server logs the key as `publickeyv1_…` when it starts with the setting
    /// `request-identity-private-key-pem-file`. A signature is for the path of a request, and valid
    /// for a minute or two, by the clocks of both machines. It does not cover the body: where
    /// others can read or change that, put TLS in front of the endpoint.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_restate::Endpoint;
    ///
    /// let endpoint =
    ///     Endpoint::new().identity_key("publickeyv1_ChjENKeMvCtRnqG2mrBK1HmPKufgFUc98K8B3ononQvp");
    /// # let _ = endpoint;
    /// ```
    #[cfg(feature = "identity")]
    #[must_use]
    pub fn identity_key(mut self, key: &str) -> Self {
        if let Err(reason) = self.keys.add(key) {
            // A private key that is passed by mistake is never shown.
            let key = key.starts_with(PREFIX).then(|| key.to_owned());
            self.mistake
                .get_or_insert(EndpointError::IdentityKey { key, reason });
        }
        self
    }

    /// Serves the flows until the future is dropped.
    ///
    /// Without an `identity_key`, everybody who can connect to the listener can run the flows:
    /// allow only the Restate server.
    ///
    /// # Errors
    ///
    /// The flows cannot be served, or not together; or the listener has failed for a minute without
    /// accepting a connection.
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
        let mut failing: Option<Instant> = None;
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    failing = None;
                    connections.spawn(endpoint.clone().serve_connection(stream));
                }
                Err(error) => {
                    let since = failing.get_or_insert_with(Instant::now);
                    if since.elapsed() >= PATIENCE {
                        return Err(EndpointError::Listener(Arc::new(error)));
                    }
                    // For example, too many files are open. A connection that ends makes room.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
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
        // A connection that breaks ends its invocations, which the server retries.
        let _ = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .serve_connection(TokioIo::new(stream), answer)
            .await;
    }

    fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let path = request.uri().path().to_owned();
        #[cfg(feature = "identity")]
        if let Err(reason) = self.keys.check(request.headers(), &path, SystemTime::now()) {
            return Ok(plain(StatusCode::UNAUTHORIZED, reason));
        }
        let segments: Vec<_> = path.split('/').skip(1).collect();
        Ok(match segments[..] {
            ["discover"] => self.discover(&request),
            ["invoke", flow, handler] => match (self.flows.get(flow), Handler::named(handler)) {
                (Some(flow), Some(handler)) => self.invoke(flow.clone(), handler, request),
                (None, _) => plain(StatusCode::NOT_FOUND, "no flow of this name is served here"),
                (_, None) => plain(StatusCode::NOT_FOUND, "flows have no handler of this name"),
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
        handler: Handler,
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
            handler,
            options: self.options.clone(),
            unacknowledged: self.unacknowledged.clone(),
        };
        let connection = Connection::new(body, sender);
        // The journal decides when the flow continues, not the amount of work that it has done.
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

#[derive(Debug, Clone, Copy)]
enum Handler {
    Run,
    Answer,
    Continue,
}

impl Handler {
    fn named(name: &str) -> Option<Handler> {
        match name {
            "run" => Some(Handler::Run),
            "answer" => Some(Handler::Answer),
            HANDLER => Some(Handler::Continue),
            _ => None,
        }
    }
}

/// A call to a handler.
struct Call {
    flow: SharedFlow,
    handler: Handler,
    options: Options,
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
            // The journal reports the reason to the server.
            return connection.flush(&mut vm);
        };
        let invocation = Invocation {
            flow: &*self.flow,
            options: self.options,
            unacknowledged: self.unacknowledged,
            vm,
            connection,
            key: input.key.clone(),
        };
        match self.handler {
            Handler::Run => invocation.run(input).await,
            Handler::Answer => {
                let Invocation { vm, connection, .. } = invocation;
                answer(&*self.flow, vm, connection, &input.input).await;
            }
            Handler::Continue => invocation.go_on(&input.input).await,
        }
    }
}

fn full(text: String) -> Body {
    Full::new(Bytes::from(text)).boxed_unsync()
}

fn plain(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(full(text.to_owned()));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use flow_runtime::prelude::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[node]
    fn double(number: u64) -> u64 {
        number * 2
    }

    flow! {
        Doubled(number: u64) -> (double: u64) {
            start >> double >> end;
        }
    }

    #[node(transaction)]
    async fn book(transaction: &mut Book, number: u64) -> u64 {
        let _ = transaction;
        number
    }

    /// A transaction.
    struct Book;

    flow! {
        Booked(number: u64) -> (book: u64) {
            start >> book >> end;
        }
    }

    flow! {
        Outer(number: u64) -> (book: u64) {
            start >> Booked >> end;
        }
    }

    async fn listener() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").await.unwrap()
    }

    #[tokio::test]
    async fn refuses_a_flow_that_opens_transactions() {
        for (endpoint, flow, node) in [
            (Endpoint::new().flow(Booked::new()), "Booked", "book"),
            (Endpoint::new().flow(Outer::new()), "Outer", "booked.book"),
        ] {
            let refused = endpoint.serve(listener().await).await.unwrap_err();
            let text = refused.to_string();
            assert!(
                text.starts_with(&format!(
                    "`{node}` in the flow `{flow}` writes in a transaction"
                )),
                "{text}"
            );
        }
    }

    #[node(signal)]
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Paid {
        cents: u64,
    }

    flow! {
        Payment() -> (cents: u64) {
            start >> Paid >> end;
        }
    }

    flow! {
        Sale() -> (cents: u64) {
            start >> Payment >> end;
        }
    }

    #[tokio::test]
    async fn refuses_a_flow_that_waits_for_signals() {
        for (endpoint, flow, node) in [
            (Endpoint::new().flow(Payment::new()), "Payment", "paid"),
            (Endpoint::new().flow(Sale::new()), "Sale", "payment.paid"),
        ] {
            let refused = endpoint.serve(listener().await).await.unwrap_err();
            let text = refused.to_string();
            assert!(
                text.starts_with(&format!("`{node}` in the flow `{flow}` waits for a signal")),
                "{text}"
            );
        }
    }

    #[node]
    fn halve(double: &u64) {
        let _ = double;
    }

    flow! {
        Undone(number: u64) -> (double: u64) {
            node twice: double with undo = halve;
            start >> twice >> end;
        }
    }

    flow! {
        OfUndone(number: u64) -> (double: u64) {
            start >> Undone >> undo >> end;
        }
    }

    #[tokio::test]
    async fn refuses_a_flow_that_can_be_undone() {
        for (endpoint, flow, node) in [
            (Endpoint::new().flow(Undone::new()), "Undone", "twice"),
            (
                Endpoint::new().flow(OfUndone::new()),
                "OfUndone",
                "undone.twice",
            ),
        ] {
            let refused = endpoint.serve(listener().await).await.unwrap_err();
            let text = refused.to_string();
            assert!(
                text.starts_with(&format!("`{node}` in the flow `{flow}` can be undone")),
                "{text}"
            );
        }
    }

    #[tokio::test]
    async fn refuses_two_flows_of_one_name_and_none() {
        let twice = Endpoint::new().flow(Doubled::new()).flow(Doubled::new());
        let refused = twice.serve(listener().await).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "two flows have the name `Doubled`: rename one"
        );
        let refused = Endpoint::new().serve(listener().await).await.unwrap_err();
        assert!(matches!(refused, EndpointError::Empty));
    }

    /// Other systems do not shut down a socket that listens.
    #[cfg(target_os = "linux")]
    #[tokio::test(start_paused = true)]
    async fn ends_when_its_listener_fails_for_long() {
        use std::error::Error as _;
        use std::net::Shutdown;
        use std::os::fd::OwnedFd;

        let listener = listener().await.into_std().unwrap();
        let socket = std::net::TcpStream::from(OwnedFd::from(listener.try_clone().unwrap()));
        socket.shutdown(Shutdown::Both).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let began = Instant::now();
        let endpoint = Endpoint::new().flow(Doubled::new());
        let failed = endpoint.serve(listener).await.unwrap_err();
        assert!(failed.source().is_some(), "{failed:?}");
        assert_eq!(began.elapsed().as_secs(), PATIENCE.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn ends_a_connection_of_a_server_that_says_nothing() {
        let listener = listener().await;
        let address = listener.local_addr().unwrap();
        let endpoint = Endpoint::new().flow(Doubled::new());
        let _serving = tokio::spawn(endpoint.serve(listener));
        let mut server = TcpStream::connect(address).await.unwrap();
        // The beginning of HTTP/2, and an empty frame of settings.
        let hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
        server.write_all(hello).await.unwrap();
        let began = Instant::now();
        let mut said = Vec::new();
        // Time advances only while all tasks are idle.
        let ended = tokio::time::timeout(KEEP_ALIVE * 10, server.read_to_end(&mut said));
        assert!(ended.await.is_ok(), "the connection is still open");
        assert!(began.elapsed() >= KEEP_ALIVE);
    }
}
