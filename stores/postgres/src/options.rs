//! The options of a store.

use std::fmt;
use std::time::Duration;

/// The options to open a [`PostgresStore`](crate::PostgresStore) with.
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
    /// Creates the defaults: the schema `flow`, 8 connections, 10 seconds of patience, 30 seconds
    /// for an answer, no prepared statements, 60 seconds for an idle transaction of a step, and
    /// hints.
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

    /// Sets the schema of the tables. It is created if it does not exist.
    pub fn schema(mut self, name: impl Into<String>) -> PostgresOptions {
        self.schema = name.into();
        self
    }

    /// Sets the maximum number of connections of this process, from 1 to 262143, the maximum of a
    /// server. Steps that write in transactions use up to as many others, and wait for a free one.
    pub fn connections(mut self, count: usize) -> PostgresOptions {
        self.connections = count.clamp(1, 262_143);
        self
    }

    /// Sets how long a call retries while the database cannot be reached or the connection breaks,
    /// for instance during a restart of the server. Also limits the wait for a free connection.
    pub fn patience(mut self, patience: Duration) -> PostgresOptions {
        self.patience = patience;
        self
    }

    /// Sets how long a call waits for the answer to a statement. A connection without an answer
    /// counts as broken. The statement is repeated on another one while the
    /// [`patience`](PostgresOptions::patience) lasts, but at least once.
    pub fn answer_timeout(mut self, timeout: Duration) -> PostgresOptions {
        self.answer_timeout = timeout;
        self
    }

    /// Sets how long a step with a [`Transaction`](crate::Transaction) may leave it idle before the
    /// database ends it, for instance while the process is stopped. At least a millisecond.
    pub fn transaction_idle_timeout(mut self, timeout: Duration) -> PostgresOptions {
        self.transaction_idle_timeout = timeout;
        self
    }

    /// Turns hints between processes on or off ([`Store::changes`](flow_store::Store::changes)).
    /// They use NOTIFY after the commit, and two more connections. Without them, processes look for
    /// the writes of others regularly.
    pub fn hints(mut self, on: bool) -> PostgresOptions {
        self.hints = on;
        self
    }

    /// Sets the address to listen at for hints. If the address of the store is a pooler, which
    /// passes on no hints, set that of the server itself.
    pub fn listen_at(mut self, url: impl Into<String>) -> PostgresOptions {
        self.listen_at = Some(url.into());
        self
    }

    /// Judges claims by the times that processes give, instead of by the clock of the database: for
    /// tests that [set the clock](flow_store::Store#clocks). With several machines, an execution
    /// could then start again on another machine while it still runs.
    pub fn callers_clocks(mut self) -> PostgresOptions {
        self.callers_clocks = true;
        self
    }

    /// Keeps statements prepared for each connection, which is faster. Leave this off (the default)
    /// behind a pooler such as PgBouncer, which switches connections between transactions: a
    /// statement could be another program's.
    pub fn prepared_statements(mut self, keep: bool) -> PostgresOptions {
        self.prepared_statements = keep;
        self
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address is left out, since it may contain a password.
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
