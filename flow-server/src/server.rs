//! The server and its settings.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
#[cfg(feature = "definitions")]
use flow_definitions::{ActiveDefinitions, DefinitionError, Definitions};
use flow_durable::Runtime;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio_util::sync::CancellationToken;

use crate::access::{Authenticate, Guard, Links};
use crate::app::App;
use crate::limits::Limits;
use crate::listen::listen;
use crate::routes;

/// Serves the executions of a [`Runtime`].
///
/// Without [`authentication`](Server::authentication), only requests of the same machine are let
/// in, with all rights.
///
/// # Examples
///
/// In a program with its own routes:
///
/// ```no_run
/// use std::net::SocketAddr;
/// use axum::Router;
/// use flow_durable::{MemoryStore, Runtime};
/// use flow_server::Server;
///
/// # async fn example() -> std::io::Result<()> {
/// let runtime = Runtime::new(MemoryStore::new());
/// let router = Router::new().nest("/flows", Server::new(runtime).router());
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:7878").await?;
/// axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
/// # }
/// ```
#[must_use = "nothing is served until `serve` or `router` is called"]
pub struct Server {
    runtime: Runtime,
    authentication: Option<Arc<dyn Authenticate>>,
    links: Links,
    limits: Limits,
    #[cfg(feature = "definitions")]
    definitions: Option<ActiveDefinitions>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("runtime", &self.runtime)
            .field("authenticates", &self.authentication.is_some())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Errors that prevent a server from serving.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The server cannot listen on the address.
    #[error("cannot listen: {0}")]
    Listen(#[from] io::Error),
    /// Other machines can reach the address, and everyone would have all rights.
    #[error(
        "{0} can be reached from other machines, and the server has no authentication: set \
         `Server::authentication`, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
}

impl Server {
    /// Creates a server without authentication, whose links are valid until the process ends.
    pub fn new(runtime: Runtime) -> Self {
        Server {
            runtime,
            authentication: None,
            links: Links::random(),
            limits: Limits::default(),
            #[cfg(feature = "definitions")]
            definitions: None,
        }
    }

    /// Keeps flows that operators edit: adds the routes `/definitions`, and `/catalog` with the
    /// nodes that they may use. Replaces the definitions of an earlier call.
    ///
    /// An active definition is a flow of the runtime, under its name. The active ones are
    /// registered at once, so call this before [`Runtime::recover`]. A definition that no longer
    /// loads, or has the name of another flow of the runtime, is left out and logged as an error.
    ///
    /// A definition that changes is a new version of its flow: executions in progress finish on the
    /// version on which they started. In another process, or after a restart, that needs
    /// [`load_versions`](flow_durable::RuntimeOptions::load_versions). A flow that was renamed,
    /// deleted or made a draft again can no longer be started; its executions finish in this
    /// process. Another process with the same definitions notices a change when the definition is
    /// started there by its id, or after a restart. A runtime has the definitions of one server.
    ///
    /// # Errors
    ///
    /// [`DefinitionError::Store`]: the definitions cannot
    /// be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_definitions::{Definitions, MemoryDefinitions};
    /// use flow_durable::{MemoryStore, Runtime};
    /// use flow_loader::registry;
    /// use flow_runtime::prelude::*;
    /// use flow_server::Server;
    ///
    /// #[node]
    /// fn greet(name: &str) -> String {
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let definitions = Definitions::new(MemoryDefinitions::new(), registry![greet]);
    /// let runtime = Runtime::new(MemoryStore::new());
    /// let server = Server::new(runtime.clone()).definitions(definitions).await?;
    /// runtime.recover().await?;
    /// # drop(server);
    /// # Ok(()) }
    /// ```
    #[cfg(feature = "definitions")]
    pub async fn definitions(mut self, definitions: Definitions) -> Result<Self, DefinitionError> {
        if let Some(earlier) = self.definitions.take() {
            earlier.withdraw_all();
        }
        self.definitions = Some(ActiveDefinitions::new(definitions, self.runtime.clone()).await?);
        Ok(self)
    }

    /// Lets in only the senders that this authenticates.
    pub fn authentication(mut self, authentication: impl Authenticate) -> Self {
        self.authentication = Some(Arc::new(authentication));
        self
    }

    /// Signs links with this key.
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// Sets the limits on clients.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the routes, to nest in your own router. The number and duration of connections are
    /// up to the listener.
    ///
    /// Without authentication, the server has to see where requests come from: see
    /// [`Router::into_make_service_with_connect_info`].
    pub fn router(self) -> Router {
        routes::router(Arc::new(self.app(CancellationToken::new())))
    }

    /// Returns the routes of the agent framework, for its clients, to merge with your own router.
    /// The input of a flow that is started there is its `prompt`.
    ///
    /// | route | |
    /// |---|---|
    /// | `POST /api/flows/{flow}` with `{"prompt": …}` | starts; returns `executionId`, `status` and an `executionToken` |
    /// | `GET /api/flows/{flow}?executionId=…` | streams `agentDelta`, `agentResult`, `human-prompt`, `error` and `[DONE]` |
    /// | `POST /api/flows/{executionId}/resume` with `{"nodeId": …, "userInput": …}` | answers |
    ///
    /// The last two also accept the `executionToken` in the query. The status for executions of
    /// others is 404, where the framework returns 403.
    pub fn agent_framework_router(self) -> Router {
        let app = Arc::new(self.app(CancellationToken::new()));
        crate::agent_framework::router(app)
    }

    /// Refuses an address that other machines can reach, if there is no authentication.
    pub(crate) fn check_address(&self, address: SocketAddr) -> Result<(), ServeError> {
        let is_own = address.ip().to_canonical().is_loopback();
        if self.authentication.is_none() && !is_own {
            return Err(ServeError::Open(address));
        }
        Ok(())
    }

    fn app(self, closing: CancellationToken) -> App {
        let guard = Guard::new(self.runtime, self.authentication, self.links, &self.limits);
        let app = App::new(guard, self.limits, closing);
        #[cfg(feature = "definitions")]
        let app = app.with_definitions(self.definitions);
        app
    }

    /// Serves at an address until the process ends.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError::Listen`], or [`ServeError::Open`] without authentication if
    /// other machines can reach the address.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        let listener = TcpListener::bind(address).await?;
        self.serve_until(listener, std::future::pending()).await
    }

    /// Serves until the future is ready. Then the server accepts no connections, streams end and no
    /// step begins. Requests and running steps have the time of [`Limits::drain`] to finish. The
    /// runtime is [drained](Runtime::drain), so that another process can continue its executions.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`serve`](Server::serve).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, all connections are closed at once, and the runtime continues.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use flow_durable::{MemoryStore, Runtime};
    /// use flow_server::Server;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Runtime::new(MemoryStore::new()));
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:7878").await?;
    /// let interrupted = async {
    ///     let _ = tokio::signal::ctrl_c().await;
    /// };
    /// server.serve_until(listener, interrupted).await?;
    /// # Ok(()) }
    /// ```
    pub async fn serve_until(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        self.check_address(listener.local_addr()?)?;
        let limits = self.limits.clone();
        let closing = CancellationToken::new();
        let app = Arc::new(self.app(closing.clone()));
        let router = routes::router(app.clone());
        tokio::pin!(stop);
        let drain = async {
            closing.cancelled().await;
            app.guard().drain(limits.drain).await;
        };
        tokio::join!(listen(listener, router, &limits, stop, &closing), drain);
        Ok(())
    }
}

/// Returns the routes of a server without authentication: see [`Server::router`].
pub fn router(runtime: Runtime) -> Router {
    Server::new(runtime).router()
}

/// Serves this machine without authentication: see [`Server::serve`].
///
/// # Errors
///
/// Returns the same errors as [`Server::serve`].
pub async fn serve(runtime: Runtime, address: impl ToSocketAddrs) -> Result<(), ServeError> {
    Server::new(runtime).serve(address).await
}
