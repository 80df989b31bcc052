//! Tools of servers that speak the Model Context Protocol.

mod call;
mod lines;
mod process;

pub(crate) use lines::Fault;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use flow_runtime::Context;
use process_wrap::tokio::CommandWrap;
use rmcp::model::{CallToolRequestParams, PaginatedRequestParams};
use rmcp::service::{RoleClient, ServiceError, ServiceExt as _};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;
use tokio::time::Instant;

use self::call::{call_tool, text_of};
use self::lines::Lines;
use self::process::{Process, restartable};
use crate::mcp_connection::{Client, Connection};
use crate::model::ToolDefinition;
use crate::tool::{Tool, ToolError};
use crate::tools::Tools;

/// The timeout of calls unless [`McpServer::timeout`] sets another one, and that of connecting and
/// listing.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The maximum number of characters in the name of a tool: providers accept no more.
const LONGEST_NAME: usize = 64;

/// The maximum numbers of pages and of tools of a server: a longer list counts as endless.
const MOST_PAGES: usize = 256;
const MOST_TOOLS: usize = 10_000;

/// A server that speaks the [Model Context Protocol](https://modelcontextprotocol.io). A model can
/// call its tools. It stays connected until it and all its [tools](McpServer::tools) are dropped.
///
/// # Examples
/// ```no_run
/// use flow_agents::agent::Agent;
/// use flow_agents::{McpServer, ScriptedModel, Tools};
/// use tokio::process::Command;
///
/// # async fn example() -> Result<(), flow_agents::McpError> {
/// let mut command = Command::new("npx");
/// command.args(["-y", "@modelcontextprotocol/server-everything"]);
/// let server = McpServer::command(command).await?;
/// let tools: Tools = server.tools().await?;
/// let agent = Agent::of(ScriptedModel::new().text("Done."), tools);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct McpServer {
    connection: Arc<Connection>,
    timeout: Duration,
}

/// An error of a tool server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The server cannot be started or reached, or does not agree on the protocol.
    #[error("the server of tools cannot be connected")]
    NotConnected(#[source] Box<dyn Error + Send + Sync>),
    /// A server started by [`command`](McpServer::command) has ended after each restart. Another
    /// restart follows only after a pause.
    #[error(
        "the server of tools {server} has ended, and does so each time that it is started again; \
         it is started once more in {again:?}; try its command in a terminal"
    )]
    Ended {
        /// The name of the server.
        server: String,
        /// The time until a call restarts it, in whole seconds.
        again: Duration,
    },
    /// The server does not list its tools.
    #[error("the server does not list its tools")]
    NotListed(#[source] Box<dyn Error + Send + Sync>),
    /// A tool of the server has no name.
    #[error("a tool of the server {server} has no name; it is described as {description:?}")]
    NoName {
        /// The name of the server.
        server: String,
        /// The beginning of the server's description.
        description: String,
    },
    /// Two tools of the server have names that providers of models cannot tell apart.
    #[error(
        "the tools {first:?} and {second:?} of the server {server} would both be called {name:?}"
    )]
    SameName {
        /// The name of the server.
        server: String,
        /// One of the names.
        first: String,
        /// The other one.
        second: String,
        /// The name that both would get: at most 64 letters, digits, `_` and `-`.
        name: String,
    },
}

impl McpServer {
    /// Starts a command, and speaks with it over its standard input and output. It is stopped when
    /// the last tool is dropped: its input is closed, after three seconds it is asked to end, and
    /// after three more it is killed.
    ///
    /// The command and its child processes form a process group, which is killed when this program
    /// ends, in whatever way. On Unix this needs the program `sh`. Processes that the command moves
    /// to another group, as `timeout` and shells with job control do, are not killed.
    ///
    /// If the command ends before that, the next call restarts it. The call during which it ended
    /// fails, and is not repeated, since it may have had an effect. After three restarts in a row
    /// without a result, it is restarted only after a pause, which doubles from 4 seconds to a
    /// minute. Calls during the pause fail immediately with [`McpError::Ended`].
    ///
    /// If a restart takes longer than the timeout of the call, the call fails. The restart
    /// continues, and a later call finds the server.
    ///
    /// # Errors
    /// [`McpError::NotConnected`].
    ///
    /// # Cancel safety
    /// If the future is dropped, the process is killed.
    pub async fn command(command: Command) -> Result<McpServer, McpError> {
        let program = command.as_std().get_program().to_string_lossy();
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = program.to_owned();
        let command = Arc::new(Mutex::new(restartable(command)));
        let program = name.clone();
        let connect = move || {
            let (command, program) = (Arc::clone(&command), program.clone());
            Box::pin(async move {
                let failed = |error| not_started(&program, error);
                started(&command).await.map_err(failed)
            }) as _
        };
        let connection = Connection::again(&name, Arc::new(connect)).await?;
        Ok(McpServer::new(connection))
    }

    /// Connects over HTTP to the server at this address, such as `http://localhost:8000/mcp`.
    ///
    /// # Errors
    /// [`McpError::NotConnected`].
    pub async fn http(address: &str) -> Result<McpServer, McpError> {
        Self::at(StreamableHttpClientTransportConfig::with_uri(address)).await
    }

    /// Connects like [`http`](McpServer::http), and sends a bearer token with each request.
    ///
    /// # Errors
    /// [`McpError::NotConnected`].
    pub async fn http_with_token(address: &str, token: &str) -> Result<McpServer, McpError> {
        let config = StreamableHttpClientTransportConfig::with_uri(address);
        Self::at(config.auth_header(token)).await
    }

    async fn at(config: StreamableHttpClientTransportConfig) -> Result<McpServer, McpError> {
        let name = config.uri.to_string();
        let transport = StreamableHttpClientTransport::from_config(config);
        Self::connected(&name, transport, Fault::default()).await
    }

    /// Connects to a server over a connection, such as a socket.
    ///
    /// # Errors
    /// [`McpError::NotConnected`].
    pub async fn over(
        connection: impl AsyncRead + AsyncWrite + Send + 'static,
    ) -> Result<McpServer, McpError> {
        let fault = Fault::default();
        let (read, write) = tokio::io::split(connection);
        let read = Lines::new(read, Fault::clone(&fault));
        Self::connected("connection", (read, write), fault).await
    }

    async fn connected<T, E, A>(
        name: &str,
        transport: T,
        fault: Fault,
    ) -> Result<McpServer, McpError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let client = connected(transport, fault).await;
        let client = client.map_err(McpError::NotConnected)?;
        Ok(McpServer::new(Connection::once(name, client)))
    }

    pub(crate) fn new(connection: Connection) -> McpServer {
        McpServer {
            connection: Arc::new(connection),
            timeout: TIMEOUT,
        }
    }

    /// Sets the timeout of a call, which includes a restart of the server. It is a minute by
    /// default. A call that times out is cancelled at the server.
    pub fn timeout(mut self, timeout: Duration) -> McpServer {
        self.timeout = timeout;
        self
    }

    /// Lists the tools that the server has now, in its order.
    ///
    /// Providers accept only names of up to 64 letters, digits, `_` and `-`. In the names for the
    /// model, `_` replaces any other character, and longer names are cut.
    ///
    /// # Errors
    /// [`McpError::NotListed`], also for an endless list, [`McpError::NoName`] and
    /// [`McpError::SameName`]. If the server cannot be restarted, [`McpError::NotConnected`] or
    /// [`McpError::Ended`].
    pub async fn tools(&self) -> Result<Tools, McpError> {
        let server = self.connection.name();
        let not_listed = |error: Failure| McpError::NotListed(format!("{server}: {error}").into());
        let listed = async {
            let client = self.connection.client().await?;
            let listed = listed(&client).await;
            if listed.is_err() && client.service.is_transport_closed() {
                self.connection.fails(&client);
            }
            listed.map_err(not_listed)
        };
        let listed = tokio::time::timeout(TIMEOUT, listed).await;
        let listed = listed.map_err(|_| not_listed(no_answer().into()))??;
        self.connection.works();
        let mut tools = Tools::new();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for tool in listed {
            let description = tool.description.as_deref().unwrap_or_default();
            // A name without letters and digits counts as none.
            if !tool.name.contains(char::is_alphanumeric) {
                let description = description.chars().take(100).collect();
                let server = server.to_owned();
                return Err(McpError::NoName {
                    server,
                    description,
                });
            }
            let name = called(&tool.name);
            if let Some(first) = names.insert(name.clone(), tool.name.to_string()) {
                let second = tool.name.to_string();
                return Err(McpError::SameName {
                    server: server.to_owned(),
                    first,
                    second,
                    name,
                });
            }
            let parameters = Value::Object((*tool.input_schema).clone());
            tools.add(McpTool {
                definition: ToolDefinition::new(name, description, parameters),
                name: tool.name,
                server: self.clone(),
            });
        }
        Ok(tools)
    }
}

/// Reads all pages of tools.
async fn listed(client: &Client) -> Result<Vec<rmcp::model::Tool>, Failure> {
    let (mut tools, mut seen) = (Vec::new(), BTreeSet::new());
    let mut cursor = None;
    loop {
        let wanted = PaginatedRequestParams::default().with_cursor(cursor);
        let page = client.service.list_tools(Some(wanted)).await;
        let page = page.map_err(|error| named(&client.fault, error))?;
        tools.extend(page.tools);
        let Some(next) = page.next_cursor else {
            return Ok(tools);
        };
        if seen.contains(&next) {
            let next: String = next.chars().take(100).collect();
            return Err(format!("its list does not end: {next:?} follows twice").into());
        }
        if seen.len() + 1 >= MOST_PAGES || tools.len() > MOST_TOOLS {
            let count = tools.len();
            return Err(format!(
                "its list does not end: more follow after {count} tools on {} pages",
                seen.len() + 1
            )
            .into());
        }
        seen.insert(next.clone());
        cursor = Some(next);
    }
}

/// The reason why the connection ended if it is known, and this error otherwise.
fn named(fault: &Fault, error: impl Into<Failure>) -> Failure {
    match fault.get() {
        Some(fault) => (*fault).into(),
        None => error.into(),
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer")
            .field("connection", &self.connection)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Connects to a server. `fault` holds the reason if the connection ends.
pub(crate) async fn connected<T, E, A>(transport: T, fault: Fault) -> Result<Client, Failure>
where
    T: IntoTransport<RoleClient, E, A>,
    E: Error + Send + Sync + 'static,
{
    let service = tokio::time::timeout(TIMEOUT, ().serve(transport)).await;
    let service = service.map_err(|_| no_answer())?;
    let service = service.map_err(|error| named(&fault, error))?;
    Ok(Client { service, fault })
}

/// Starts a server, and connects to it.
async fn started(command: &Mutex<CommandWrap>) -> Result<Client, Failure> {
    let fault = Fault::default();
    let process = {
        let mut command = command.lock().unwrap_or_else(PoisonError::into_inner);
        Process::start(&mut command, Fault::clone(&fault))
    };
    connected(process?, fault).await
}

fn not_started(program: &str, error: Failure) -> McpError {
    McpError::NotConnected(format!("`{program}`: {error}").into())
}

fn no_answer() -> String {
    format!("there is no answer within {TIMEOUT:?}")
}

/// The name of a tool for models.
fn called(name: &str) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    name.chars().map(letter).take(LONGEST_NAME).collect()
}

struct McpTool {
    definition: ToolDefinition,
    /// The server's own name for it.
    name: Cow<'static, str>,
    server: McpServer,
}

#[async_trait]
impl Tool for McpTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: &Context, arguments: Map<String, Value>) -> Result<String, ToolError> {
        let request = CallToolRequestParams::new(self.name.clone()).with_arguments(arguments);
        let connection = &self.server.connection;
        let server = connection.name();
        let (began, after) = (Instant::now(), self.server.timeout);
        let Ok(client) = tokio::time::timeout(after, connection.client()).await else {
            return Err(ToolError::failed(format!(
                "the server of tools {server} is being started again, which takes longer than \
                 {after:?}; a later call finds it when it has started"
            )));
        };
        let client = client.map_err(ToolError::failed)?;
        let call = async {
            let result = call_tool(&client.service, request).await;
            if let Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) = result {
                connection.fails(&client);
            }
            let has_ended = |why: &dyn fmt::Display| {
                ToolError::failed(format!(
                    "the server of tools {server} has ended, or its connection{why}; it is not known \
                     whether the call had an effect"
                ))
            };
            result.map_err(|error| match (client.fault.get(), error) {
                (Some(fault), _) => ToolError::failed(format!("{server}: {fault}")),
                (None, ServiceError::TransportClosed) => has_ended(&""),
                (None, ServiceError::TransportSend(error)) => has_ended(&format_args!(": {error}")),
                (None, error) => ToolError::failed(error),
            })
        };
        let left = after.saturating_sub(began.elapsed());
        let Ok(result) = tokio::time::timeout(left, call).await else {
            let text = format!("the server of tools {server} gives no result within {after:?}");
            return Err(ToolError::failed(text));
        };
        let result = result?;
        connection.works();
        let failed = result.is_error == Some(true);
        match (failed, text_of(result)) {
            (false, Some(text)) => Ok(text),
            (false, None) => Ok("Done.".to_owned()),
            (true, Some(text)) => Err(ToolError::failed(text)),
            (true, None) => Err(ToolError::failed("the tool does not say why it has failed")),
        }
    }
}
