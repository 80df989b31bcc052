//! Hints about writes of other processes.

use async_trait::async_trait;

/// Possible changes in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// The [log](crate::Store::log) may have more records.
    pub records: bool,
    /// An execution may be able to begin or resume: it was queued, answered or released, or one
    /// with the same concurrency key is over.
    pub work: bool,
    /// `true` if hints arrive from now on, until a change says otherwise. Without hints, callers
    /// have to look more often.
    pub is_live: bool,
}

/// Hints about writes to a store, from [`Store::changes`](crate::Store::changes).
///
/// A hint can be late, unfounded, or lost with a connection or a process. It only shortens the wait
/// of a caller that looks from time to time anyway.
#[async_trait]
pub trait Changes: Send {
    /// Waits until something may have changed in any process since the last return, or until
    /// [`is_live`](Change::is_live) has changed. Combines several changes into one.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the next call returns the same change.
    async fn next(&mut self) -> Change;
}
