//! Hints of what other processes write.

use async_trait::async_trait;

/// What may have changed in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// The [log](crate::Store::log) may have more records.
    pub records: bool,
    /// An execution may be able to begin or to go on: it was queued, answered or given up, or one
    /// with the same concurrency key is over.
    pub work: bool,
    /// True if hints arrive from now on, until a change says otherwise. While they do not, whoever
    /// needs to know has to look more often.
    pub is_live: bool,
}

/// Hints of what is written to a store, from [`Store::changes`](crate::Store::changes).
///
/// A hint can be late, come for nothing, or be lost with a connection or a process. It only makes
/// somebody look sooner who looks from time to time anyway.
#[async_trait]
pub trait Changes: Send {
    /// Returns when something may have changed since this last returned, in this process or another
    /// one, or when [`is_live`](Change::is_live) has. Several changes may be returned as one.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the next one returns what this one would have.
    async fn next(&mut self) -> Change;
}
