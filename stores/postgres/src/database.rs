//! The connections, and calls that are repeated if a connection breaks.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{Client, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use flow_store::StoreError;
use flow_store::hints::{Hints, Written};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Row as Found};

use super::PostgresOptions;
use super::errors::{self, CallError, Effect, Failure};
use super::given;
use super::hints::Notifications;
use super::tls;
pub(super) use super::tls::Tls;

/// A value of a statement, and its type.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

pub(super) struct Database {
    pool: Pool,
    /// Connections for steps in transactions, separate so that long steps do not block other calls.
    steps: Pool,
    pub(super) idle_in_transaction: Duration,
    /// The schema, quoted.
    schema: String,
    /// The quote around bodies of functions, which does not occur in the name of the schema.
    body: String,
    /// The class of the advisory locks of this schema.
    class: i32,
    patience: Duration,
    answer_timeout: Duration,
    prepared_statements: bool,
    callers_clocks: bool,
    tls: Tls,
    /// The hints, if they are on.
    pub(super) hints: Option<Arc<Hints<Notifications>>>,
}

/// The attempts of a call, with growing pauses.
pub(super) struct Tries {
    /// The deadline. `None` if it is too far away for a clock.
    until: Option<Instant>,
    is_last: bool,
    pause: Duration,
}

impl Tries {
    /// Returns `true`, after a pause, if the call is to be retried after this error.
    pub(super) async fn go_on_after(&mut self, error: &CallError) -> bool {
        if self.is_last || error.effect() == Effect::Refused {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_millis(500));
        self.is_last = self.until.is_some_and(|until| Instant::now() >= until);
        true
    }
}

/// The result of a statement.
pub(super) struct Answer {
    pub(super) result: Result<Vec<Found>, CallError>,
    /// `true` if an earlier attempt may have had its effect.
    pub(super) again: bool,
}

/// A connection that is closed unless it is returned, so that nobody gets it in the middle of a
/// transaction.
pub(super) struct Held(Option<Client>);

impl Held {
    pub(super) fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(client) = self.0.take() {
            drop(Object::take(client));
        }
    }
}

impl Deref for Held {
    type Target = Client;

    #[expect(clippy::expect_used, reason = "who takes it out consumes the whole")]
    fn deref(&self) -> &Client {
        self.0.as_ref().expect("it was not given back")
    }
}

impl DerefMut for Held {
    #[expect(clippy::expect_used, reason = "who takes it out consumes the whole")]
    fn deref_mut(&mut self) -> &mut Client {
        self.0.as_mut().expect("it was not given back")
    }
}

/// Returns the address to listen at. Its messages are as secret as those of the store.
fn listening(url: &str, store: &Config) -> Result<(Config, Tls), StoreError> {
    let (config, tls) = address(url)?;
    let is_encrypted = |config: &Config| config.get_ssl_mode() == SslMode::Require;
    if is_encrypted(store) && !is_encrypted(&config) {
        return Err(Failure::ListensWithoutTls.into());
    }
    Ok((config, tls))
}

impl Database {
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Database, StoreError> {
        let (config, tls) = address(url)?;
        let schema = &options.schema;
        if schema.is_empty() || schema.len() > 63 || schema.contains('\0') {
            return Err(Failure::Schema(schema.clone()).into());
        }
        let pool = |connections: usize, wait: Option<Duration>| {
            let recycling_method = RecyclingMethod::Fast;
            let manager = ManagerConfig { recycling_method };
            Pool::builder(Manager::from_config(
                config.clone(),
                Tls::clone(&tls),
                manager,
            ))
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            .wait_timeout(wait)
            .create_timeout(Some(options.answer_timeout))
            .build()
            .map_err(|error| Failure::Unreachable(Box::new(error)))
        };
        let class = class(schema);
        let listens_at = match &options.listen_at {
            Some(url) => listening(url, &config)?,
            None => (config.clone(), Tls::clone(&tls)),
        };
        let sender = pool(1, Some(options.answer_timeout))?;
        let channel = Notifications::new(class, sender, listens_at, options.answer_timeout);
        Ok(Database {
            pool: pool(options.connections, Some(options.patience))?,
            // Each may be held for as long as a step takes.
            steps: pool(options.connections, None)?,
            idle_in_transaction: options.transaction_idle_timeout,
            schema: format!("\"{}\"", schema.replace('"', "\"\"")),
            body: body(schema),
            class,
            patience: options.patience,
            answer_timeout: options.answer_timeout,
            prepared_statements: options.prepared_statements,
            callers_clocks: options.callers_clocks,
            hints: options.hints.then(|| Hints::new(channel)),
            tls,
        })
    }

    /// Tells other processes what was written, if there are hints.
    pub(super) fn tell(&self, written: Written) {
        if let Some(hints) = &self.hints {
            hints.tell(written);
        }
    }

    /// Fills in the parts of a statement that belong to this schema. `{again}` is true if an
    /// earlier attempt may have had its effect.
    fn sql_of_try(&self, template: &str, again: bool) -> String {
        let mut sql = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            sql += before;
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            match name {
                // Within a string.
                "schema" if before.ends_with('\'') => sql += &self.schema.replace('\'', "''"),
                "schema" => sql += &self.schema,
                "body" => sql += &self.body,
                "class" => sql += &self.class.to_string(),
                "again" => sql += if again { "true" } else { "false" },
                other => unreachable!("no statement has a part {other}"),
            }
            rest = after;
        }
        sql + rest
    }

    /// Returns the time by which claims are judged, for a caller with this time. `None` for the
    /// database's time.
    pub(super) fn claims_at(&self, now_ms: u64) -> Option<i64> {
        self.callers_clocks.then(|| given::integer(now_ms))
    }

    /// Fills in the parts of a statement that belong to this schema.
    pub(super) fn sql(&self, template: &str) -> String {
        self.sql_of_try(template, false)
    }

    /// Runs a statement. If the connection breaks, it runs again on another one.
    pub(super) async fn call(&self, template: &str, values: &[Value<'_>]) -> Answer {
        let mut tries = self.tries();
        let mut again = false;
        loop {
            let sql = self.sql_of_try(template, again);
            match self.try_once(&sql, values).await {
                Err(error) if tries.go_on_after(&error).await => {
                    again |= error.effect() == Effect::Unknown;
                }
                result => return Answer { result, again },
            }
        }
    }

    async fn try_once(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Found>, CallError> {
        let client = self.pool.get().await.map_err(CallError::NoConnection)?;
        let result = self.answered(self.query(&client, sql, values)).await;
        if let Err(CallError::NoAnswer(_)) = result {
            self.cancel(&client);
            // The next call on it would wait too.
            drop(Object::take(client));
        }
        result
    }

    /// Cancels a statement whose answer is no longer awaited, so that it does not hold its locks.
    /// Without a connection, the server finds out by itself.
    fn cancel(&self, client: &Client) {
        let (cancel, tls) = (client.cancel_token(), Tls::clone(&self.tls));
        let at_most = self.answer_timeout;
        tokio::spawn(async move {
            let _ = tokio::time::timeout(at_most, cancel.cancel_query(tls)).await;
        });
    }

    /// Waits for an answer of the database, for a limited time.
    pub(super) async fn answered<T, E: Into<CallError>>(
        &self,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CallError> {
        match tokio::time::timeout(self.answer_timeout, answer).await {
            Ok(result) => result.map_err(E::into),
            Err(_) => Err(CallError::NoAnswer(self.answer_timeout)),
        }
    }

    /// Runs a statement on this connection.
    pub(super) async fn call_on(
        &self,
        client: &Client,
        template: &str,
        values: &[Value<'_>],
    ) -> Answer {
        let sql = self.sql(template);
        Answer {
            result: self.answered(client.query_typed(&sql, values)).await,
            again: false,
        }
    }

    /// Returns a connection of the store itself.
    pub(super) async fn connection(&self) -> Result<Held, CallError> {
        let client = self.pool.get().await.map_err(CallError::NoConnection)?;
        Ok(Held(Some(client)))
    }

    /// Returns a connection on which these statements have begun a transaction.
    pub(super) async fn connection_for_step(&self, begin: &str) -> Result<Held, StoreError> {
        let mut tries = self.tries();
        loop {
            match self.begin(begin).await {
                Err(error) if tries.go_on_after(&error).await => {}
                result => return result.map_err(errors::store_error),
            }
        }
    }

    async fn begin(&self, begin: &str) -> Result<Held, CallError> {
        let client = self.steps.get().await.map_err(CallError::NoConnection)?;
        // Before the statements are sent.
        let held = Held(Some(client));
        self.answered(held.batch_execute(begin)).await?;
        Ok(held)
    }

    pub(super) fn tries(&self) -> Tries {
        Tries {
            until: Instant::now().checked_add(self.patience),
            is_last: self.patience.is_zero(),
            pause: Duration::from_millis(10),
        }
    }

    async fn query(
        &self,
        client: &Client,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Found>, CallError> {
        if !self.prepared_statements {
            return Ok(client.query_typed(sql, values).await?);
        }
        let types: Vec<Type> = values.iter().map(|(_, of)| of.clone()).collect();
        let values: Vec<_> = values.iter().map(|(value, _)| *value).collect();
        let statement = client.prepare_typed_cached(sql, &types).await?;
        Ok(client.query(&statement, &values).await?)
    }

    /// Runs a statement that is not expected to be refused.
    pub(super) async fn rows(
        &self,
        template: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<Found>, StoreError> {
        let answer = self.call(template, values).await;
        answer.result.map_err(errors::store_error)
    }
}

/// Parses an address.
fn address(url: &str) -> Result<(Config, Tls), Failure> {
    let (mut config, tls) = tls::read(url)?;
    if config.get_application_name().is_none() {
        config.application_name("flow");
    }
    notice_dead_connections(&mut config);
    Ok((config, tls))
}

/// Sets defaults that detect a dead connection in seconds. TCP itself would wait for hours.
fn notice_dead_connections(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(Duration::from_secs(5));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(Duration::from_secs(5));
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(Duration::from_secs(5));
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
}

/// Returns a quote for the bodies of functions.
fn body(schema: &str) -> String {
    let mut quotes = (0_u32..).map(|number| format!("$body{number}$"));
    let quote = quotes.find(|quote| !schema.contains(quote));
    quote.unwrap_or_else(|| unreachable!("a name is shorter than all of them"))
}

/// Returns a number for the advisory locks of a schema (FNV-1a). A collision with another program
/// only costs time.
fn class(schema: &str) -> i32 {
    let bytes = b"typed flows ".iter().chain(schema.as_bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    (hash >> 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_connection_is_noticed_in_seconds_unless_the_address_says_otherwise() {
        let with = |address: &str| {
            let mut config: Config = address.parse().unwrap();
            notice_dead_connections(&mut config);
            let idle = config.get_keepalives_idle();
            (idle, config.get_tcp_user_timeout().copied())
        };
        let seconds = Duration::from_secs;
        let (idle, unanswered) = with("postgres://localhost/flows");
        assert_eq!((idle, unanswered), (seconds(5), Some(seconds(30))));
        let (idle, unanswered) =
            with("postgres://localhost/flows?keepalives_idle=60&tcp_user_timeout=7");
        assert_eq!((idle, unanswered), (seconds(60), Some(seconds(7))));
    }
}
