//! How a store is opened.

use std::time::Duration;

/// How a [`RedisStore`](crate::RedisStore) is opened.
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

/// How much of what the store has confirmed may be lost when the server crashes. A server whose
/// settings allow more is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing: the server has `appendonly yes`, `appendfsync always` and `no-appendfsync-on-rewrite
    /// no`.
    EveryWrite,
    /// What was written in the last second or two: the server has `appendonly yes`, `appendfsync
    /// everysec` or `always`, and `no-appendfsync-on-rewrite no`. If an execution loses its last records so, the steps that they are about run again.
    EverySecond,
    /// Whatever the server loses, which may be everything. Its settings need not be visible: a server
    /// that removes keys when its memory is full is refused nevertheless, if it shows that.
    Unchecked,
}

impl RedisOptions {
    /// The name `flow`, no loss ([`Durability::EveryWrite`]), 10 seconds of patience, 30 seconds for
    /// an answer, the clock of the server, and hints.
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

    /// The name of the store: its keys begin with it, in braces. Several stores can be on one
    /// server. A cluster keeps a store on one of its servers, which follows from the name.
    pub fn name(mut self, name: impl Into<String>) -> RedisOptions {
        self.name = name.into();
        self
    }

    /// How much may be lost when the server crashes.
    pub fn durability(mut self, durability: Durability) -> RedisOptions {
        self.durability = durability;
        self
    }

    /// How long a call goes on trying while the server cannot be reached or the connection breaks,
    /// such as while the server starts again.
    pub fn patience(mut self, patience: Duration) -> RedisOptions {
        self.patience = patience;
        self
    }

    /// How long a call waits for an answer. A connection on which none came is given up as broken,
    /// and the call is repeated on another one as long as the [`patience`](RedisOptions::patience)
    /// lasts, but at least once.
    pub fn answer_timeout(mut self, timeout: Duration) -> RedisOptions {
        self.answer_timeout = timeout;
        self
    }

    /// Whether this process tells others of what it writes, and is told by them
    /// ([`Store::changes`](flow_store::Store::changes)): by PUBLISH, after the write, and by one more
    /// connection. Without this, what others write is found by looking for it.
    pub fn hints(mut self, on: bool) -> RedisOptions {
        self.hints = on;
        self
    }

    /// Judges claims by the times that processes give, instead of by the clock of the server: for
    /// tests that [set the clock](flow_store::Store#clocks). Where several machines use the store,
    /// an execution could then begin anew on another machine while it still runs.
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
