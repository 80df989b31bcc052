//! The stores that survive the processes of a case.
//!
//! The clock of a case is simulated, and stands still while a store works: the thread of the case
//! waits for a server, whose connections are served by other threads with a clock of their own. So
//! nothing else happens meanwhile, and a case does the same each time whichever store it has. Claims
//! are judged by the simulated clock, which no server has: that servers judge them by their own is
//! not shown here, but by `clock_suite!` and by `flow-survivor`.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use flow_durable::{MemoryStore, Store};
use flow_postgres::{PostgresOptions, PostgresStore};
use flow_redis::{RedisOptions, RedisStore};
use flow_services::{Postgres, Redis};
use flow_sqlite::{Durability, SqliteOptions, SqliteStore};
use tokio::runtime::{Handle, Runtime};
use uuid::Uuid;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Which store a case has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// In memory.
    Memory,
    /// In a file of SQLite.
    Sqlite,
    /// On a Postgres server.
    Postgres,
    /// On a Redis server.
    Redis,
}

impl Backend {
    /// All, with their names.
    pub(crate) const ALL: [(Backend, &str); 4] = [
        (Backend::Memory, "memory"),
        (Backend::Sqlite, "sqlite"),
        (Backend::Postgres, "postgres"),
        (Backend::Redis, "redis"),
    ];

    /// The one that the command line names.
    ///
    /// # Errors
    ///
    /// There is none of this name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Backend::ALL.iter().find(|(_, name)| *name == text);
        let found = found.map(|(backend, _)| *backend);
        found.ok_or_else(|| format!("`{text}` is not memory, sqlite, postgres or redis"))
    }

    /// Starts the server, which ends with this process. Returns false, after a line that says so, if
    /// it is not installed.
    ///
    /// # Panics
    ///
    /// It does not start; or it is not installed, and the variable `CI` is set.
    pub fn starts(self) -> bool {
        match self {
            Backend::Memory | Backend::Sqlite => true,
            Backend::Postgres => postgres().is_some(),
            Backend::Redis => redis().is_some(),
        }
    }
}

/// Nothing that a server does here has to outlive it, so it need not wait for its disk.
fn postgres() -> Option<&'static Postgres> {
    static SERVER: OnceLock<Option<Postgres>> = OnceLock::new();
    let start = || {
        let server = Postgres::start()?;
        server.query("ALTER SYSTEM SET fsync = off");
        server.query("SELECT pg_reload_conf()");
        Some(server)
    };
    SERVER.get_or_init(start).as_ref()
}

fn redis() -> Option<&'static Redis> {
    static SERVER: OnceLock<Option<Redis>> = OnceLock::new();
    let start = || Redis::start_with(&["--appendonly", "no"]);
    SERVER.get_or_init(start).as_ref()
}

/// What serves the connections.
fn connections() -> &'static Runtime {
    static CONNECTIONS: OnceLock<Runtime> = OnceLock::new();
    CONNECTIONS.get_or_init(|| {
        let connections = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        match connections {
            Ok(connections) => connections,
            Err(error) => unreachable!("a tokio runtime can be built: {error}"),
        }
    })
}

/// An empty store.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) store: Arc<dyn Store>,
    /// Where its connections are served, if it has any.
    connections: Option<Handle>,
    /// The last field: its end removes the folder, or lets another case have the schema.
    _place: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Stored {
    pub(crate) fn new(backend: Backend) -> Stored {
        let opened = match backend {
            Backend::Memory => Ok(Stored {
                store: Arc::new(MemoryStore::new()),
                connections: None,
                _place: None,
            }),
            Backend::Sqlite => in_sqlite(),
            Backend::Postgres => on_postgres(),
            Backend::Redis => on_redis(),
        };
        match opened {
            Ok(stored) => stored,
            // It is a server of this process alone.
            Err(error) => unreachable!("the store can be opened: {error}"),
        }
    }

    fn served(store: impl Store) -> Stored {
        Stored {
            store: Arc::new(store),
            connections: Some(connections().handle().clone()),
            _place: None,
        }
    }

    /// Waits for an answer of the store. No simulated time goes by.
    pub(crate) async fn ask<T>(&self, call: impl Future<Output = T>) -> T {
        match &self.connections {
            None => call.await,
            Some(connections) => answer(connections, call),
        }
    }

    /// The same where no clock is simulated.
    pub(crate) fn look<T>(&self, call: impl Future<Output = T>) -> T {
        answer(connections().handle(), call)
    }
}

/// Blocks this thread. Its own runtime gives a task that does not return only so many answers: more
/// are not counted.
fn answer<T>(connections: &Handle, call: impl Future<Output = T>) -> T {
    let _elsewhere = connections.enter();
    futures_executor::block_on(tokio::task::unconstrained(call))
}

fn in_sqlite() -> Outcome<Stored> {
    let folder = tempfile::tempdir()?;
    let options = SqliteOptions::new().durability(Durability::Normal);
    let opening = SqliteStore::open_with(folder.path().join("case.db"), options);
    let store = answer(connections().handle(), opening)?;
    Ok(Stored {
        _place: Some(Arc::new(folder)),
        ..Stored::served(store)
    })
}

/// The schemas that no case has. To empty one takes less time than to make one.
static SCHEMAS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A schema of Postgres, which has no rows at first.
struct Schema(String);

impl Schema {
    fn new(server: &Postgres) -> Schema {
        let mut unused = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(name) = unused.pop() else {
            return Schema(format!("case_{}", Uuid::new_v4().simple()));
        };
        drop(unused);
        let tables = ["signals", "pauses", "records", "executions", "structures"];
        let tables = tables.map(|table| format!("{name}.{table}")).join(", ");
        server.query(&format!(
            "TRUNCATE {tables}; ALTER SEQUENCE {name}.offsets RESTART"
        ));
        Schema(name)
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let mut unused = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
        unused.push(std::mem::take(&mut self.0));
    }
}

fn on_postgres() -> Outcome<Stored> {
    let server = postgres().ok_or("Postgres is not installed")?;
    let schema = Schema::new(server);
    let options = PostgresOptions::new()
        .schema(&*schema.0)
        .callers_clocks()
        .hints(false);
    let url = server.url();
    let store = answer(
        connections().handle(),
        PostgresStore::connect_with(&url, options),
    );
    Ok(Stored {
        _place: Some(Arc::new(schema)),
        ..Stored::served(store?)
    })
}

fn on_redis() -> Outcome<Stored> {
    let server = redis().ok_or("Redis is not installed")?;
    let options = RedisOptions::new()
        .name(Uuid::new_v4().to_string())
        .durability(flow_redis::Durability::Unchecked)
        .callers_clocks();
    let url = server.url();
    let store = answer(
        connections().handle(),
        RedisStore::connect_with(&url, options),
    );
    Ok(Stored::served(store?))
}
