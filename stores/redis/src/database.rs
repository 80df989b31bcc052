//! The connection, and calls that are repeated if it breaks.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flow_store::StoreError;
use flow_store::hints::{Hints, Written};
use redis::aio::{AsyncPushSender, MultiplexedConnection};
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ProtocolVersion,
    RedisError, Value,
};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::call::Call;
use super::claims::Claims;
use super::errors::{CallError, Effect, store_error};
use super::hints::Messages;
use super::options::{Durability, RedisOptions};
use super::script::{Arguments, Script};
use super::tls::Tls;
use super::{address, settings};

/// The time limit for a new connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of redirects within a cluster that count as one attempt: its servers may disagree.
const REDIRECTS: usize = 5;

pub(super) struct Database {
    info: ConnectionInfo,
    tls: Option<Tls>,
    /// The prefix of all keys: the name of the store in braces, which keep them together in a
    /// cluster.
    prefix: String,
    durability: Durability,
    patience: Duration,
    answer_timeout: Duration,
    /// `true` if claims are judged by the times that callers give.
    pub(super) callers_clocks: bool,
    line: Mutex<Line>,
    /// The number of failed attempts to connect.
    failures: AtomicU64,
    pub(super) claims: Claims,
    /// The hints, if they are on.
    pub(super) hints: Option<Arc<Hints<Messages>>>,
}

/// The connection that all calls share, since the server runs one after the other anyway.
#[derive(Default)]
struct Line {
    connection: Option<MultiplexedConnection>,
    /// The number of connections so far.
    number: u64,
    /// The server of the cluster that has the keys, if not the one of the address.
    moved_to: Option<(String, u16)>,
    /// The error of the last attempt to connect.
    failure: String,
}

/// The attempts of a call, with growing pauses.
struct Tries {
    /// The deadline. `None` if it is too far away for a clock.
    until: Option<Instant>,
    is_last: bool,
    pause: Duration,
    /// The number of consecutive redirects.
    redirects: usize,
}

impl Tries {
    /// Returns `true`, after a pause, if the call is to be retried after this error.
    async fn go_on_after(&mut self, error: &CallError) -> bool {
        if error.moved_to().is_some() && self.redirects < REDIRECTS {
            // The wrong server did not run the call.
            self.redirects += 1;
            return true;
        }
        self.redirects = 0;
        if self.is_last || error.effect() == Effect::Refused {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_millis(500));
        self.is_last = self.until.is_some_and(|until| Instant::now() >= until);
        true
    }
}

impl Database {
    pub(super) fn new(url: &str, options: RedisOptions) -> Result<Arc<Database>, StoreError> {
        let (info, tls, options) = address::read(url, options)?;
        let channel = format!("{{{}}}:hints", options.name);
        Ok(Arc::new_cyclic(|this| Database {
            info: info.set_tcp_settings(TcpSettings::default().set_nodelay(true)),
            tls,
            prefix: format!("{{{}}}:", options.name),
            durability: options.durability,
            patience: options.patience,
            answer_timeout: options.answer_timeout,
            callers_clocks: options.callers_clocks,
            line: Mutex::default(),
            failures: AtomicU64::new(0),
            claims: Claims::default(),
            hints: options
                .hints
                .then(|| Hints::new(Messages::new(channel, this.clone()))),
        }))
    }

    /// Tells other processes what was written, if there are hints.
    pub(super) fn tell(&self, written: Written) {
        if let Some(hints) = &self.hints {
            hints.tell(written);
        }
    }

    pub(super) fn key(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Runs a script that writes. If its answer is lost, runs it again with a note of that.
    pub(super) async fn write(
        &self,
        script: &Script,
        call: Uuid,
        arguments: Arguments<'_>,
    ) -> Result<Value, StoreError> {
        let call = call.to_string();
        let command = |again: bool| {
            let flag: &[u8] = if again { b"1" } else { b"0" };
            let first = [call.as_bytes(), flag];
            self.script(script, first.into_iter().chain(arguments.iter()))
        };
        self.call(command).await
    }

    /// Runs a script that only reads.
    pub(super) async fn read(
        &self,
        script: &Script,
        arguments: Arguments<'_>,
    ) -> Result<Value, StoreError> {
        self.call(|_| self.script(script, arguments.iter())).await
    }

    /// Runs a command that can be repeated.
    pub(super) async fn command(&self, command: Cmd) -> Result<Value, StoreError> {
        self.call(|_| Call::Command(command.clone())).await
    }

    fn script<'a>(
        &self,
        script: &'a Script,
        arguments: impl Iterator<Item = &'a [u8]>,
    ) -> Call<'a> {
        Call::Script {
            script,
            key: self.key("version"),
            arguments: arguments.collect(),
        }
    }

    async fn call<'a>(&'a self, call: impl Fn(bool) -> Call<'a>) -> Result<Value, StoreError> {
        let mut tries = Tries {
            until: Instant::now().checked_add(self.patience),
            is_last: self.patience.is_zero(),
            pause: Duration::from_millis(10),
            redirects: 0,
        };
        let mut again = false;
        loop {
            match self.try_once(call(again)).await {
                Err(error) if tries.go_on_after(&error).await => {
                    again |= error.effect() == Effect::Unknown;
                }
                result => return result.map_err(store_error),
            }
        }
    }

    pub(super) async fn try_once(&self, call: Call<'_>) -> Result<Value, CallError> {
        let (number, connection) = self.connection().await?;
        let result = self.answered(call.send(connection)).await;
        if let Err(error) = &result
            && !error.leaves_the_connection()
        {
            self.give_up(number, error).await;
        }
        result
    }

    /// Waits for an answer of the server, for a limited time.
    pub(super) async fn answered<T>(
        &self,
        answer: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, CallError> {
        match tokio::time::timeout(self.answer_timeout, answer).await {
            Ok(result) => Ok(result?),
            Err(_) => Err(CallError::NoAnswer(self.answer_timeout)),
        }
    }

    /// Makes the next call open a new connection: another call on this one would fail too.
    async fn give_up(&self, number: u64, error: &CallError) {
        let mut line = self.line.lock().await;
        if line.number != number {
            return;
        }
        line.connection = None;
        line.moved_to = error.moved_to().map(|(host, port)| (host.to_owned(), port));
    }

    /// Returns the connection and its number.
    async fn connection(&self) -> Result<(u64, MultiplexedConnection), CallError> {
        let failures = self.failures.load(Ordering::SeqCst);
        let mut line = self.line.lock().await;
        if let Some(connection) = &line.connection {
            return Ok((line.number, connection.clone()));
        }
        if self.failures.load(Ordering::SeqCst) != failures {
            // Another call has just failed to connect: waiting calls would need longer and longer.
            return Err(CallError::NoConnection(
                io::Error::other(line.failure.clone()).into(),
            ));
        }
        let connected = self.connect(line.moved_to.as_ref()).await;
        if let Err(error) = &connected {
            let moved_to = error.moved_to();
            line.moved_to = moved_to.map(|(host, port)| (host.to_owned(), port));
            if error.effect() != Effect::Refused && moved_to.is_none() {
                line.failure = error.text();
                self.failures.fetch_add(1, Ordering::SeqCst);
            }
        }
        let connection = connected?;
        line.number += 1;
        line.connection = Some(connection.clone());
        Ok((line.number, connection))
    }

    /// Opens a connection to a server that can keep the store's guarantees.
    async fn connect(
        &self,
        moved_to: Option<&(String, u16)>,
    ) -> Result<MultiplexedConnection, CallError> {
        let mut info = self.info.clone();
        if let Some((host, port)) = moved_to {
            info = info.set_addr(address_of(&self.info, host, *port));
        }
        let mut connection = self.connect_to(info, self.config()).await?;
        let checked = settings::check(self.durability, self.key("version"), &mut connection);
        match tokio::time::timeout(self.answer_timeout, checked).await {
            Ok(checked) => checked?,
            Err(_) => return Err(no_connection()),
        }
        Ok(connection)
    }

    /// Opens a connection for subscriptions, whose messages go to `to`.
    pub(super) async fn connect_to_listen(
        &self,
        to: impl AsyncPushSender,
    ) -> Result<MultiplexedConnection, CallError> {
        let settings = self.info.redis_settings().clone();
        let settings = settings.set_protocol(ProtocolVersion::RESP3);
        let info = self.info.clone().set_redis_settings(settings);
        let config = self.config().set_push_sender(to);
        self.connect_to(info, config).await
    }

    fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT.min(self.answer_timeout)))
            .set_response_timeout(None)
    }

    async fn connect_to(
        &self,
        info: ConnectionInfo,
        config: AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection, CallError> {
        let connection = async {
            match (&self.tls, info.addr()) {
                (Some(tls), ConnectionAddr::Tcp(host, port)) => {
                    tls.connect(host, *port, info.redis_settings(), config)
                        .await
                }
                _ => {
                    let client = Client::open(info).map_err(CallError::NoConnection)?;
                    let connection = client.get_multiplexed_async_connection_with_config(&config);
                    connection.await.map_err(CallError::NoConnection)
                }
            }
        };
        let connected = tokio::time::timeout(self.answer_timeout, connection).await;
        connected.unwrap_or_else(|_| Err(no_connection()))
    }
}

fn no_connection() -> CallError {
    CallError::NoConnection(io::Error::from(io::ErrorKind::TimedOut).into())
}

/// Returns the address of another server of a cluster. A server that does not know its own name
/// reports no host.
fn address_of(info: &ConnectionInfo, host: &str, port: u16) -> ConnectionAddr {
    let host = match info.addr() {
        ConnectionAddr::Tcp(known, _) if host.is_empty() => known.clone(),
        _ => host.trim_matches(['[', ']']).to_owned(),
    };
    ConnectionAddr::Tcp(host, port)
}
