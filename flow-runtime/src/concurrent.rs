//! Several things at once, in the run's own task: nothing is spawned but what blocks.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::task::{Poll, ready};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many branches of a fork may be under way at once.
#[derive(Debug)]
pub struct Limit(Semaphore);

impl Limit {
    /// This many.
    pub fn new(branches: usize) -> Self {
        Limit(Semaphore::new(branches.min(Semaphore::MAX_PERMITS)))
    }

    /// Waits until there is room for one more, in the order asked. There is again when the result
    /// is dropped.
    pub async fn room(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.acquire().await.ok()
    }
}

/// Futures under way at once, never more than the limit. Another one may start as soon as any of
/// them is done, and each result is there as soon as it can be: a failure has not to wait for what
/// came before it.
#[derive(Debug)]
pub struct AtOnce<F> {
    running: FuturesUnordered<F>,
    /// How many more may start: cheaper than to ask how many are running.
    room: usize,
}

impl<F: Future> AtOnce<F> {
    /// None yet, and never more than this.
    #[inline]
    pub fn new(limit: usize) -> Self {
        AtOnce {
            running: FuturesUnordered::new(),
            room: limit,
        }
    }

    /// Whether another one may start.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room > 0
    }

    /// Starts one, for which there has to be room.
    #[inline]
    pub fn push(&mut self, work: F) {
        self.room -= 1;
        self.running.push(work);
    }

    /// The next result; nothing if none is under way.
    #[inline]
    pub fn next_result(&mut self) -> impl Future<Output = Option<F::Output>> {
        poll_fn(|cx| {
            let next = ready!(self.running.poll_next_unpin(cx));
            self.room += usize::from(next.is_some());
            Poll::Ready(next)
        })
    }
}

/// The work of an item, whose result says which item it is of.
#[inline]
pub fn numbered<T>(
    index: u32,
    work: impl Future<Output = T> + Send,
) -> impl Future<Output = (u32, T)> + Send {
    work.map(move |result| (index, result))
}

/// The results of items in the order of the items, however they come in.
#[derive(Debug)]
pub struct InOrder<T> {
    results: Vec<T>,
    /// Those that came before one that comes before them.
    early: BTreeMap<u32, T>,
}

impl<T> InOrder<T> {
    /// None yet, with room for this many.
    pub fn with_capacity(items: usize) -> Self {
        InOrder {
            results: Vec::with_capacity(items),
            early: BTreeMap::new(),
        }
    }

    /// The result of the item of this index.
    #[inline(always)]
    pub fn put(&mut self, index: u32, result: T) {
        if index as usize != self.results.len() {
            self.early.insert(index, result);
            return;
        }
        self.results.push(result);
        if !self.early.is_empty() {
            self.put_early();
        }
    }

    /// Those that had to wait for the last one.
    fn put_early(&mut self) {
        while let Some(next) = self
            .early
            .first_entry()
            .filter(|next| *next.key() as usize == self.results.len())
        {
            self.results.push(next.remove());
        }
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<T> {
        self.results
    }
}

/// Carries out what blocks on the pool that tokio has for it. A panic there is a panic here.
/// Dropping the future does not stop work that has begun.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The pool refuses work only while the runtime shuts down, and the run is dropped with
            // it.
            Err(_) => std::future::pending().await,
        },
    }
}
