//! The connection to a tool server, which is restarted when it ends if this program started it.

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::service::{RoleClient, RunningService};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::mcp::{Fault, McpError};

/// The number of restarts in a row, without a result in between, for which a call waits. Later
/// calls fail until the pause is over.
const STARTS: u32 = 3;

/// The pause before the second restart in a row. Each further one doubles it.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The client of a server.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, ()>,
    /// The reason why the connection ended, if it is known.
    pub(crate) fault: Fault,
}

/// A function that connects to a server.
pub(crate) type Connect =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Client, McpError>> + Send + Sync>;

/// A connection to a server.
pub(crate) struct Connection {
    /// The name of the server, for errors.
    name: String,
    /// Restarts the server, if this program started it.
    connect: Option<Connect>,
    /// Locked during a restart of the server.
    current: Arc<Mutex<Arc<Client>>>,
    starts: Arc<std::sync::Mutex<Starts>>,
    /// The newest task that restarts the server.
    starting: std::sync::Mutex<Option<AbortHandle>>,
}

/// The state from which the next pause follows.
struct Starts {
    /// The number of restarts since the last result.
    count: u32,
    /// The time of the last start or failure.
    failed: Instant,
}

impl Starts {
    /// The time until the server may be restarted.
    fn pause(&self) -> Duration {
        let Some(doublings) = self.count.checked_sub(1) else {
            return Duration::ZERO;
        };
        let pause = PAUSE.saturating_mul(2_u32.saturating_pow(doublings));
        let again = self.failed + pause.min(LONGEST_PAUSE);
        again.saturating_duration_since(Instant::now())
    }
}

impl Connection {
    /// Creates a connection without restarts. Errors show `name` and the server's own name.
    pub(crate) fn once(name: &str, client: Client) -> Connection {
        Connection::new(name, client, None)
    }

    /// Creates a connection that `connect` makes, and makes again when the server has ended.
    ///
    /// # Errors
    /// If the first connection cannot be made.
    pub(crate) async fn again(name: &str, connect: Connect) -> Result<Connection, McpError> {
        let client = connect().await?;
        Ok(Connection::new(name, client, Some(connect)))
    }

    fn new(name: &str, client: Client, connect: Option<Connect>) -> Connection {
        let info = client.service.peer_info();
        let own = info.and_then(|info| Some(info.server_info.as_ref()?.name.clone()));
        let name = match own.filter(|own| !own.is_empty() && own != name) {
            Some(own) => format!("`{name}` ({own})"),
            None => format!("`{name}`"),
        };
        Connection {
            name,
            connect,
            current: Arc::new(Mutex::new(Arc::new(client))),
            starts: Arc::new(std::sync::Mutex::new(Starts {
                count: 0,
                failed: Instant::now(),
            })),
            starting: std::sync::Mutex::new(None),
        }
    }

    /// The name of the server.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the client of the server, which is restarted if it has ended and that is possible.
    ///
    /// # Errors
    /// [`McpError::Ended`] during a pause after several restarts, and the error of a restart that
    /// failed.
    ///
    /// # Cancel safety
    /// If the future is dropped, the restart continues, and a later call finds the server.
    pub(crate) async fn client(&self) -> Result<Arc<Client>, McpError> {
        let current = Arc::clone(&self.current).lock_owned().await;
        let Some(connect) = self
            .connect
            .as_ref()
            .filter(|_| current.service.is_transport_closed())
        else {
            return Ok(Arc::clone(&current));
        };
        let (name, starts) = (self.name.clone(), Arc::clone(&self.starts));
        let start = tokio::spawn(start_again(name, Arc::clone(connect), current, starts));
        *lock(&self.starting) = Some(start.abort_handle());
        let cut_off = |error| McpError::NotConnected(Box::new(error));
        start.await.map_err(cut_off)?
    }

    /// Records that the server works: a call had a result, or the tools were listed.
    pub(crate) fn works(&self) {
        lock(&self.starts).count = 0;
    }

    /// Records that a call found the server ended. The pause begins now, unless a restart has
    /// already begun.
    pub(crate) fn fails(&self, client: &Arc<Client>) {
        let current = self.current.try_lock();
        if current.is_ok_and(|current| Arc::ptr_eq(&current, client)) {
            lock(&self.starts).failed = Instant::now();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // No caller waits for the restart.
        if let Some(start) = lock(&self.starting).take() {
            start.abort();
        }
    }
}

/// Restarts a server, and retries with pauses if that fails. `current` holds the last client.
async fn start_again(
    server: String,
    connect: Connect,
    mut current: OwnedMutexGuard<Arc<Client>>,
    starts: Arc<std::sync::Mutex<Starts>>,
) -> Result<Arc<Client>, McpError> {
    while current.service.is_transport_closed() {
        let (count, pause) = {
            let starts = lock(&starts);
            (starts.count, starts.pause())
        };
        if count >= STARTS && !pause.is_zero() {
            let again = Duration::from_secs(pause.as_secs_f64().ceil() as u64);
            return Err(McpError::Ended { server, again });
        }
        tokio::time::sleep(pause).await;
        let count = count.saturating_add(1);
        let begun = |failed| Starts { count, failed };
        *lock(&starts) = begun(Instant::now()); // in case the future is dropped
        let connected = connect().await;
        *lock(&starts) = begun(Instant::now());
        match connected {
            Ok(client) => *current = Arc::new(client),
            Err(error) if count >= STARTS => return Err(error),
            Err(_) => {}
        }
    }
    Ok(Arc::clone(&current))
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rmcp::model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    };
    use rmcp::service::{RequestContext, ServiceExt as _};
    use rmcp::{ErrorData, RoleServer, ServerHandler};
    use serde_json::{Map, json};

    use super::*;
    use crate::agent::{Agent, AgentInput};
    use crate::mcp::{McpServer, connected};
    use crate::message::Message;
    use crate::messages::Messages;
    use crate::scripted::ScriptedModel;
    use crate::tools::Tools;

    /// A server that counts its starts and can be ended. If `ends` is set, each call ends it.
    #[derive(Clone, Default)]
    struct Server {
        starts: Arc<AtomicU32>,
        ends: Arc<std::sync::Mutex<bool>>,
        running: Arc<Mutex<Option<RunningService<RoleServer, Server>>>>,
    }

    impl ServerHandler for Server {
        fn get_info(&self) -> ServerConfig {
            ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        }

        async fn list_tools(
            &self,
            _: Option<PaginatedRequestParams>,
            _: RequestContext<RoleServer>,
        ) -> Result<ListToolsResult, ErrorData> {
            let tool = Tool::new("say", "Says hello.", Arc::new(Map::new()));
            Ok(ListToolsResult::with_all_items(vec![tool]))
        }

        async fn call_tool(
            &self,
            _: CallToolRequestParams,
            _: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            if *self.ends.lock().unwrap() {
                drop(self.running.lock().await.take());
                std::future::pending::<()>().await;
            }
            Ok(CallToolResult::success(vec![ContentBlock::text("hello")]).into())
        }
    }

    impl Server {
        fn connect(&self) -> Connect {
            let server = self.clone();
            Arc::new(move || {
                let server = server.clone();
                Box::pin(async move {
                    server.starts.fetch_add(1, Ordering::Relaxed);
                    let (ours, theirs) = tokio::io::duplex(64 * 1024);
                    let running = Arc::clone(&server.running);
                    let served = server.serve(tokio::io::split(theirs));
                    let (served, client) =
                        tokio::join!(served, connected(tokio::io::split(ours), Fault::default()));
                    *running.lock().await = Some(served.unwrap());
                    client.map_err(McpError::NotConnected)
                })
            })
        }

        async fn end(&self) {
            let running = self.running.lock().await.take();
            running.unwrap().cancel().await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await; // until the client has seen it
        }

        fn starts(&self) -> u32 {
            self.starts.load(Ordering::Relaxed)
        }
    }

    /// The result of a call as an agent reads it.
    async fn said(tools: &Tools) -> String {
        let model = ScriptedModel::new()
            .calls([("say", json!({}))])
            .text("Done.");
        let messages = Messages::from_iter([Message::user("Go.")]);
        let input = AgentInput::builder().messages(messages).build();
        let output = Agent::of(model, tools.clone()).run(input).await.unwrap();
        output.messages[2].text()
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_has_ended_is_started_again() {
        let server = Server::default();
        let connection = Connection::again("files", server.connect()).await.unwrap();
        let tools = McpServer::new(connection).tools().await.unwrap();
        for starts in 1..6 {
            assert_eq!(
                (said(&tools).await.as_str(), server.starts()),
                ("hello", starts)
            );
            server.end().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_ends_with_each_call_is_started_so_often() {
        let server = Server::default();
        let connection = Connection::again("files", server.connect()).await.unwrap();
        let tools = McpServer::new(connection).tools().await.unwrap();
        *server.ends.lock().unwrap() = true;
        let began = Instant::now();
        for starts in 1..=4 {
            let told = said(&tools).await;
            assert!(
                told.starts_with("Error: the server of tools `files`"),
                "{told}"
            );
            assert!(
                told.contains("it is not known whether the call had an effect"),
                "{told}"
            );
            assert_eq!(server.starts(), starts);
        }
        assert!(began.elapsed() >= Duration::from_secs(1 + 2)); // plus the time that rmcp takes to close
        let told = said(&tools).await;
        assert!(
            told.contains("does so each time that it is started again"),
            "{told}"
        );
        assert_eq!(server.starts(), 4);
    }

    /// Calls during a pause fail immediately, and a result resets the pauses.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_ended_too_often_is_started_again_after_longer_and_longer_pauses() {
        let server = Server::default();
        let connection = Connection::again("files", server.connect()).await.unwrap();
        let tools = McpServer::new(connection).tools().await.unwrap();
        *server.ends.lock().unwrap() = true;
        for _ in 0..4 {
            said(&tools).await;
        }
        for (starts, pause) in [(4, 4), (5, 8), (6, 16), (7, 32), (8, 60), (9, 60)] {
            let told = said(&tools).await;
            let expected = format!(
                "Error: the server of tools `files` (rmcp) has ended, and does so each time that \
                 it is started again; it is started once more in {pause}s; try its command in a \
                 terminal"
            );
            assert_eq!(told, expected);
            tokio::time::advance(Duration::from_secs(pause - 1)).await;
            let told = said(&tools).await;
            assert!(told.contains("once more in 1s"), "{told}");
            assert_eq!(server.starts(), starts);
            tokio::time::advance(Duration::from_secs(1)).await;
            let told = said(&tools).await;
            assert!(told.contains("it is not known whether"), "{told}");
            assert_eq!(server.starts(), starts + 1);
        }
        *server.ends.lock().unwrap() = false;
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(
            (said(&tools).await.as_str(), server.starts()),
            ("hello", 11)
        );
        server.end().await;
        assert_eq!(
            (said(&tools).await.as_str(), server.starts()),
            ("hello", 12)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_cannot_be_started_is_tried_again_later() {
        let server = Server::default();
        let (first, starts) = (server.connect(), AtomicU32::new(0));
        let connect: Connect = Arc::new(move || match starts.fetch_add(1, Ordering::Relaxed) {
            1..=4 => {
                let error = Err(McpError::NotConnected("it is not there".into()));
                Box::pin(std::future::ready(error))
            }
            _ => first(),
        });
        let connection = Connection::again("files", connect).await.unwrap();
        let tools = McpServer::new(connection).tools().await.unwrap();
        server.end().await;
        for (waits, expected) in [
            (0, "cannot be connected"),
            (0, "once more in 4s"),
            (4, "cannot be connected"),
            (7, "once more in 1s"),
            (1, "hello"),
        ] {
            tokio::time::advance(Duration::from_secs(waits)).await;
            let told = said(&tools).await;
            assert!(told.contains(expected), "{waits}: {told}");
        }
    }

    /// A list of tools counts as a result too.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_ends_whenever_it_has_listed_its_tools_is_started_again() {
        let server = Server::default();
        let connection = Connection::again("files", server.connect()).await.unwrap();
        let client = McpServer::new(connection);
        for starts in 1..8 {
            assert_eq!(client.tools().await.unwrap().definitions().len(), 1);
            assert_eq!(server.starts(), starts);
            server.end().await;
        }
    }

    /// The start may take longer than the timeout of a call.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_starts_slowly_is_found_by_a_later_call() {
        let server = Server::default();
        let (first, starts) = (server.connect(), AtomicU32::new(0));
        let connect: Connect = Arc::new(move || {
            let first = Arc::clone(&first);
            let takes = Duration::from_secs(match starts.fetch_add(1, Ordering::Relaxed) {
                0 => 0,
                _ => 5,
            });
            Box::pin(async move {
                tokio::time::sleep(takes).await;
                first().await
            })
        });
        let connection = Connection::again("files", connect).await.unwrap();
        let client = McpServer::new(connection).timeout(Duration::from_secs(2));
        let tools = client.tools().await.unwrap();
        server.end().await;
        let began = Instant::now();
        for _ in 0..2 {
            let expected = "Error: the server of tools `files` (rmcp) is being started again, which \
                            takes longer than 2s; a later call finds it when it has started";
            assert_eq!(said(&tools).await, expected);
        }
        assert_eq!(said(&tools).await, "hello");
        assert!(began.elapsed() < Duration::from_secs(6));
        assert_eq!(server.starts(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_whose_tools_are_dropped_is_not_started_any_more() {
        let server = Server::default();
        let (first, starts) = (server.connect(), AtomicU32::new(0));
        let alive = Arc::new(());
        let in_start = Arc::downgrade(&alive);
        let connect: Connect = Arc::new(move || match starts.fetch_add(1, Ordering::Relaxed) {
            0 => first(),
            _ => {
                let alive = Arc::clone(&alive);
                Box::pin(async move {
                    std::future::pending::<()>().await;
                    drop(alive);
                    unreachable!("it is pending")
                })
            }
        });
        let connection = Connection::again("files", connect).await.unwrap();
        let client = McpServer::new(connection).timeout(Duration::from_secs(2));
        let tools = client.tools().await.unwrap();
        server.end().await;
        said(&tools).await;
        assert!(in_start.strong_count() > 1);
        drop((client, tools));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(in_start.strong_count(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_hangs_when_it_is_started_again_holds_up_no_call() {
        let server = Server::default();
        let (first, starts) = (server.connect(), AtomicU32::new(0));
        let connect = move || match starts.fetch_add(1, Ordering::Relaxed) {
            0 => first(),
            _ => Box::pin(std::future::pending()) as _,
        };
        let connection = Connection::again("files", Arc::new(connect)).await.unwrap();
        let client = McpServer::new(connection).timeout(Duration::from_secs(1));
        let tools = client.tools().await.unwrap();
        server.end().await;
        for _ in 0..2 {
            let began = Instant::now();
            let told = said(&tools).await;
            assert!(
                told.contains("is being started again, which takes longer than 1s"),
                "{told}"
            );
            assert!(began.elapsed() < Duration::from_secs(10));
        }
    }
}
