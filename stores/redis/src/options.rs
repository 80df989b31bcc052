//! The options of a store.

use std::time::Duration;

/// The options to open a [`RedisStore`](crate::RedisStore) with.
///
/// # Examples
///
/// ```
/// use flow_redis::{Durability, RedisOptions};
///
/// let options = RedisOptions::new()
///     .name("billing")
///     .durability(Durability::EverySecond);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct RedisOptions {
    pub(crate) name: String,
    pub(crate) durability: Durability,
    pub(crate) patience: Duration,
    pub(crate) answer_timeout: Duration,
    pub(crate) callers_clocks: bool,
    pub(crate) hints: bool,
}

/// The confirmed writes that may be lost in a crash of the server. A server whose settings allow
/// more is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// No writes: the server has `appendonly yes`, `appendfsync always` and
    /// `no-appendfsync-on-rewrite no`.
    EveryWrite,
    /// The writes of the last second or two: the server has `appendonly yes`, `appendfsync
    /// everysec` or `always`, and `no-appendfsync-on-rewrite no`. Their steps run again.
    EverySecond,
    /// Any writes, possibly all. The settings of the server may be hidden. A server that shows that
    /// it evicts keys when its memory is full is refused nevertheless.
    Unchecked,
}

impl RedisOptions {
    /// Creates the defaults: the name `flow`, no loss ([`Durability::EveryWrite`]), 10 seconds of
    /// patience, 30 seconds for an answer, the clock of the server, and hints.
    pub fn new() -> RedisOptions {
        RedisOptions {
            name: "flow".to_owned(),
            durability: Durability::EveryWrite,
            patience: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(30),
            callers_clocks: false,
            hints: true,
        }
    }

    /// Sets the name of the store, with which its keys begin, in braces. Several stores can share a
    /// server. A cluster keeps a store on one of its servers, which follows from the name.
    pub fn name(mut self, name: impl Into<String>) -> RedisOptions {
        self.name = name.into();
        self
    }

    /// Sets the losses that are allowed in a crash of the server.
    pub fn durability(mut self, durability: Durability) -> RedisOptions {
        self.durability = durability;
        self
    }

    /// Sets how long a call retries while the server cannot be reached or the connection breaks,
    /// for instance during a restart of the server.
    pub fn patience(mut self, patience: Duration) -> RedisOptions {
        self.patience = patience;
        self
    }

    /// Sets how long a call waits for an answer. A connection without an answer counts as broken.
    /// The call is repeated on another one while the [`patience`](RedisOptions::patience) lasts,
    /// but at least once.
    pub fn answer_timeout(mut self, timeout: Duration) -> RedisOptions {
        self.answer_timeout = timeout;
        self
    }

    /// Turns hints between processes on or off ([`Store::changes`](flow_store::Store::changes)).
    /// They use PUBLISH after the write, and one more connection. Without them, processes look for
    /// the writes of others regularly.
    pub fn hints(mut self, on: bool) -> RedisOptions {
        self.hints = on;
        self
    }

    /// Judges claims by the times that processes give, instead of by the clock of the server: for
    /// tests that [set the clock](flow_store::Store#clocks). With several machines, an execution
    /// could then start again on another machine while it still runs.
    pub fn callers_clocks(mut self) -> RedisOptions {
        self.callers_clocks = true;
        self
    }
}

impl Default for RedisOptions {
    fn default() -> RedisOptions {
        RedisOptions::new()
    }
}
