//! The connections, and calls that go on when a connection breaks.

use std::time::{Duration, Instant};

use deadpool_postgres::{Client, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use flow_store::StoreError;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Error, NoTls, Row as Found};

use super::PostgresOptions;
use super::errors::{self, Failure};

/// A value of a statement, and its type.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Database {
    pub(super) pool: Pool,
    /// Connections for steps in transactions: however long these take, others get one.
    steps: Pool,
    pub(super) idle_in_transaction: Duration,
    /// The schema, quoted.
    schema: String,
    /// The class of the advisory locks of this schema.
    class: i32,
    patience: Duration,
    prepared_statements: bool,
}

/// Tries of the same, with longer and longer pauses.
struct Tries {
    until: Instant,
    pause: Duration,
}

impl Tries {
    fn is_last(&self) -> bool {
        Instant::now() >= self.until
    }

    async fn wait(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_millis(500));
    }
}

/// The result of a statement.
pub(super) struct Answer {
    pub(super) result: Result<Vec<Found>, Error>,
    /// Whether the connection was lost in an earlier try, so that its effect may be there already.
    pub(super) again: bool,
}

impl Database {
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Database, StoreError> {
        let mut config: Config = url.parse().map_err(Failure::Address)?;
        if config.get_ssl_mode() == SslMode::Require {
            return Err(Failure::Tls("require").into());
        }
        let schema = &options.schema;
        if schema.is_empty() || schema.len() > 63 || schema.contains('\0') {
            return Err(Failure::Schema(schema.clone()).into());
        }
        if config.get_application_name().is_none() {
            config.application_name("flow");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(5));
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(Duration::from_secs(30));
        }
        let pool = |wait: Option<Duration>| {
            let recycling_method = RecyclingMethod::Fast;
            let manager = ManagerConfig { recycling_method };
            Pool::builder(Manager::from_config(config.clone(), NoTls, manager))
                .max_size(options.connections)
                .runtime(Runtime::Tokio1)
                .wait_timeout(wait)
                .build()
                .map_err(|error| Failure::Unreachable(Box::new(error)))
        };
        Ok(Database {
            pool: pool(Some(options.patience))?,
            // Each waits for steps, which take as long as they take.
            steps: pool(None)?,
            idle_in_transaction: options.transaction_idle_timeout,
            schema: format!("\"{}\"", schema.replace('"', "\"\"")),
            class: class(schema),
            patience: options.patience,
            prepared_statements: options.prepared_statements,
        })
    }

    /// A statement with the name of the schema in it.
    pub(super) fn sql(&self, template: &str) -> String {
        template
            .replace(
                "'{schema}.",
                &format!("'{}.", self.schema.replace('\'', "''")),
            )
            .replace("{schema}", &self.schema)
            .replace("{class}", &self.class.to_string())
    }

    /// Runs a statement. If the connection breaks, it runs again on another one.
    pub(super) async fn call(
        &self,
        template: &str,
        values: &[Value<'_>],
    ) -> Result<Answer, StoreError> {
        let sql = self.sql(template);
        let mut tries = self.tries();
        let mut again = false;
        loop {
            let is_last = tries.is_last();
            match self.pool.get().await {
                Ok(client) => {
                    let result = self.query(&client, &sql, values).await;
                    match result {
                        Err(error) if errors::is_passing(&error) && !is_last => again = true,
                        result => return Ok(Answer { result, again }),
                    }
                }
                Err(error) if errors::is_passing_pool(&error) && !is_last => {}
                Err(error) => return Err(errors::pool_error(error)),
            }
            tries.wait().await;
        }
    }

    /// Runs a statement on this connection.
    pub(super) async fn call_on(
        &self,
        client: &Client,
        template: &str,
        values: &[Value<'_>],
    ) -> Answer {
        Answer {
            result: client.query_typed(&self.sql(template), values).await,
            again: false,
        }
    }

    /// A connection on which these statements have begun a transaction.
    pub(super) async fn connection_for_step(&self, begin: &str) -> Result<Client, StoreError> {
        let mut tries = self.tries();
        loop {
            let is_last = tries.is_last();
            match self.steps.get().await {
                Ok(client) => match client.batch_execute(begin).await {
                    Ok(()) => return Ok(client),
                    Err(error) => {
                        drop(Object::take(client));
                        if !errors::is_passing(&error) || is_last {
                            return Err(errors::store_error(error));
                        }
                    }
                },
                Err(error) if errors::is_passing_pool(&error) && !is_last => {}
                Err(error) => return Err(errors::pool_error(error)),
            }
            tries.wait().await;
        }
    }

    fn tries(&self) -> Tries {
        Tries {
            until: Instant::now() + self.patience,
            pause: Duration::from_millis(10),
        }
    }

    async fn query(
        &self,
        client: &Client,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Found>, Error> {
        if !self.prepared_statements {
            return client.query_typed(sql, values).await;
        }
        let types: Vec<Type> = values.iter().map(|(_, of)| of.clone()).collect();
        let values: Vec<_> = values.iter().map(|(value, _)| *value).collect();
        let statement = client.prepare_typed_cached(sql, &types).await?;
        client.query(&statement, &values).await
    }

    /// Runs a statement of which no refusal is expected.
    pub(super) async fn rows(
        &self,
        template: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Found>, StoreError> {
        let answer = self.call(template, values).await?;
        answer.result.map_err(errors::store_error)
    }
}

/// A number for the advisory locks of a schema (FNV-1a). A number that another program uses too
/// would cost time only.
fn class(schema: &str) -> i32 {
    let bytes = b"typed flows ".iter().chain(schema.as_bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    (hash >> 1).cast_signed()
}
