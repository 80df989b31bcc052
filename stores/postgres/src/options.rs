//! How a store is opened.

use std::fmt;
use std::time::Duration;

/// How a [`PostgresStore`](crate::PostgresStore) is opened.
///
/// # Examples
///
/// ```
/// use flow_postgres::PostgresOptions;
///
/// let options = PostgresOptions::new().schema("billing_flows").connections(32);
/// ```
#[derive(Clone)]
#[must_use]
pub struct PostgresOptions {
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
    pub(crate) answer_timeout: Duration,
    pub(crate) prepared_statements: bool,
    pub(crate) transaction_idle_timeout: Duration,
    pub(crate) callers_clocks: bool,
    pub(crate) hints: bool,
    pub(crate) listen_at: Option<String>,
}

impl PostgresOptions {
    /// The schema `flow`, 8 connections, 10 seconds of patience, 30 seconds for an answer, no
    /// prepared statements, 60 seconds for a step in a transaction to do something there, and hints.
    pub fn new() -> PostgresOptions {
        PostgresOptions {
            schema: "flow".to_owned(),
            connections: 8,
            patience: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(30),
            prepared_statements: false,
            transaction_idle_timeout: Duration::from_secs(60),
            callers_clocks: false,
            hints: true,
            listen_at: None,
        }
    }

    /// The schema that the tables are in. It is created if it does not exist.
    pub fn schema(mut self, name: impl Into<String>) -> PostgresOptions {
        self.schema = name.into();
        self
    }

    /// How many connections this process uses at most: from one to 262143, which is also the most
    /// that a server can allow. Steps that write in transactions use up to as many others, and wait
    /// for one that is free.
    pub fn connections(mut self, count: usize) -> PostgresOptions {
        self.connections = count.clamp(1, 262_143);
        self
    }

    /// How long a call goes on trying while the database cannot be reached or the connection
    /// breaks, such as while the server starts again, and how long it waits for a free connection.
    pub fn patience(mut self, patience: Duration) -> PostgresOptions {
        self.patience = patience;
        self
    }

    /// How long a call waits for the answer to a statement. A connection on which none came is given
    /// up as broken, and the statement is repeated on another one as long as the
    /// [`patience`](PostgresOptions::patience) lasts, but at least once.
    pub fn answer_timeout(mut self, timeout: Duration) -> PostgresOptions {
        self.answer_timeout = timeout;
        self
    }

    /// How long a step with a [`Transaction`](crate::Transaction) may do nothing in it before the
    /// database ends it, such as while the process is stopped; at least a millisecond.
    pub fn transaction_idle_timeout(mut self, timeout: Duration) -> PostgresOptions {
        self.transaction_idle_timeout = timeout;
        self
    }

    /// Whether this process tells others of what it writes, and is told by them
    /// ([`Store::changes`](flow_store::Store::changes)): by NOTIFY, after the commit, and by two more
    /// connections. Without this, what others write is found by looking for it.
    pub fn hints(mut self, on: bool) -> PostgresOptions {
        self.hints = on;
        self
    }

    /// The address at which this process listens to what others write: that of the server itself if
    /// the address of the store is that of a pooler, through which nothing is heard.
    pub fn listen_at(mut self, url: impl Into<String>) -> PostgresOptions {
        self.listen_at = Some(url.into());
        self
    }

    /// Judges claims by the times that processes give, instead of by the clock of the database: for
    /// tests that [set the clock](flow_store::Store#clocks). Where several machines use the store,
    /// an execution could then begin anew on another machine while it still runs.
    pub fn callers_clocks(mut self) -> PostgresOptions {
        self.callers_clocks = true;
        self
    }

    /// Whether the server keeps statements prepared for each connection, which is faster. Leave
    /// this off (the default) if a pooler such as PgBouncer gives each transaction another
    /// connection to the server: a statement could be one of another program there.
    pub fn prepared_statements(mut self, keep: bool) -> PostgresOptions {
        self.prepared_statements = keep;
        self
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the address, which may have a password.
        f.debug_struct("PostgresOptions")
            .field("schema", &self.schema)
            .field("connections", &self.connections)
            .field("patience", &self.patience)
            .field("answer_timeout", &self.answer_timeout)
            .field("prepared_statements", &self.prepared_statements)
            .field("transaction_idle_timeout", &self.transaction_idle_timeout)
            .field("callers_clocks", &self.callers_clocks)
            .field("hints", &self.hints)
            .finish_non_exhaustive()
    }
}

impl Default for PostgresOptions {
    fn default() -> PostgresOptions {
        PostgresOptions::new()
    }
}
