//! A server for a test.

use std::net::SocketAddr;

use flow_durable::{MemoryStore, Runtime, RuntimeOptions, Store};
use flow_server::Server;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::flows;

/// A server on a port of its own, until it is dropped.
pub(crate) struct Served {
    pub(crate) runtime: Runtime,
    pub(crate) address: String,
    threads: tokio::runtime::Runtime,
}

impl Served {
    pub(crate) fn new() -> Self {
        Served::with(MemoryStore::new(), |server| server)
    }

    pub(crate) fn with(store: impl Store, configure: impl FnOnce(Server) -> Server) -> Self {
        Served::with_options(store, RuntimeOptions::new(), configure)
    }

    pub(crate) fn with_options(
        store: impl Store,
        options: RuntimeOptions,
        configure: impl FnOnce(Server) -> Server,
    ) -> Self {
        Served::set_up(async || {
            let runtime = flows::runtime(store, options);
            (runtime.clone(), configure(Server::new(runtime)))
        })
    }

    /// With definitions, and no flows of its own.
    #[cfg(feature = "definitions")]
    pub(crate) fn editing(definitions: flow_definitions::Definitions) -> Self {
        Served::set_up(async || {
            let runtime = Runtime::new(MemoryStore::new());
            let server = Server::new(runtime.clone()).definitions(definitions);
            (runtime, server.await.unwrap())
        })
    }

    fn set_up(server: impl AsyncFnOnce() -> (Runtime, Server)) -> Self {
        let threads = tokio::runtime::Runtime::new().unwrap();
        let (runtime, address) = threads.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address: SocketAddr = listener.local_addr().unwrap();
            let (runtime, server) = server().await;
            tokio::spawn(server.serve_until(listener, std::future::pending()));
            (runtime, format!("http://{address}/"))
        });
        Served {
            runtime,
            address,
            threads,
        }
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.threads.block_on(work)
    }

    /// Starts a flow and returns the id of the execution.
    pub(crate) fn start(&self, flow: &str, input: Value) -> String {
        let executions = self.runtime.executions();
        let started = executions.start_json(flow, input, flow_durable::StartOptions::new());
        self.block_on(started).unwrap().id().to_string()
    }

    /// Starts a flow, and returns the id when it is over or asks somebody.
    pub(crate) fn run(&self, flow: &str, input: Value) -> String {
        let id = self.start(flow, input);
        let execution = self
            .block_on(self.runtime.executions().get(id.parse().unwrap()))
            .unwrap();
        self.block_on(execution.settled()).unwrap();
        id
    }

    pub(crate) fn at(&self, view: &str) -> String {
        format!("{}#/{view}", self.address)
    }
}
