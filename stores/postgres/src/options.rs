//! How a store is opened.

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
#[derive(Debug, Clone)]
#[must_use]
pub struct PostgresOptions {
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
    pub(crate) answer_timeout: Duration,
    pub(crate) prepared_statements: bool,
    pub(crate) transaction_idle_timeout: Duration,
}

impl PostgresOptions {
    /// The schema `flow`, 8 connections, 10 seconds of patience, 30 seconds for an answer, no
    /// prepared statements, and 60 seconds for a step in a transaction to do something there.
    pub fn new() -> PostgresOptions {
        PostgresOptions {
            schema: "flow".to_owned(),
            connections: 8,
            patience: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(30),
            prepared_statements: false,
            transaction_idle_timeout: Duration::from_secs(60),
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

    /// Whether the server keeps statements prepared for each connection, which is faster. Leave
    /// this off (the default) if a pooler such as PgBouncer gives each transaction another
    /// connection to the server: a statement could be one of another program there.
    pub fn prepared_statements(mut self, keep: bool) -> PostgresOptions {
        self.prepared_statements = keep;
        self
    }
}

impl Default for PostgresOptions {
    fn default() -> PostgresOptions {
        PostgresOptions::new()
    }
}
