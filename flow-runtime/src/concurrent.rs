//! Concurrency within the run's own task. Only blocking work is spawned.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::task::{self, Poll, ready};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::context::Context;
use crate::engine::undo::finish_branches;
use crate::scope::Scope;

/// Limits how many branches of a fork run at once.
#[derive(Debug)]
pub struct Limit(Semaphore);

impl Limit {
    /// Allows this many branches at once.
    pub fn new(branches: usize) -> Self {
        Limit(Semaphore::new(branches.min(Semaphore::MAX_PERMITS)))
    }

    /// Waits for room for one more branch, first come, first served. Dropping the result releases
    /// the room.
    pub async fn room(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.0.acquire().await.ok()
    }
}

/// Runs futures concurrently, up to a limit. The next one may start as soon as any of them is done.
/// Results are available as soon as they exist: a failure does not wait for the futures that
/// started before it.
#[derive(Debug)]
pub struct AtOnce<F> {
    running: FuturesUnordered<F>,
    /// The number of futures that may still start. Cheaper than asking how many are running.
    room: usize,
}

impl<F: Future> AtOnce<F> {
    /// Creates an empty set with this limit.
    #[inline]
    pub fn new(limit: usize) -> Self {
        AtOnce {
            running: FuturesUnordered::new(),
            room: limit,
        }
    }

    /// Returns true if another future may start.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.room > 0
    }

    /// Starts a future. There has to be room for it.
    #[inline]
    pub fn push(&mut self, work: F) {
        self.room -= 1;
        self.running.push(work);
    }

    /// Finishes the steps with an undo node that are under way, so that the others can be dropped.
    pub async fn finish(&mut self, scope: &Scope<'_>)
    where
        F: Send,
        F::Output: Send,
    {
        let poll = &mut |cx: &mut task::Context<'_>| {
            while let Poll::Ready(Some(_)) = self.running.poll_next_unpin(cx) {}
        };
        finish_branches(scope, &mut [poll]).await;
    }

    /// Returns the next result, or `None` if no future is running.
    #[inline]
    pub fn next_result(&mut self) -> impl Future<Output = Option<F::Output>> {
        poll_fn(|cx| {
            let next = ready!(self.running.poll_next_unpin(cx));
            self.room += usize::from(next.is_some());
            Poll::Ready(next)
        })
    }
}

/// The work of one item. Its result contains the item's index.
#[inline]
pub fn numbered<T>(
    index: u32,
    work: impl Future<Output = T> + Send,
) -> impl Future<Output = (u32, T)> + Send {
    work.map(move |result| (index, result))
}

/// Puts the results of items into the order of the items, in whatever order they arrive.
#[derive(Debug)]
pub struct InOrder<T> {
    results: Vec<T>,
    /// Results that arrived before that of an earlier item.
    early: BTreeMap<u32, T>,
}

impl<T> InOrder<T> {
    /// Creates an empty collection with room for this many results.
    pub fn with_capacity(items: usize) -> Self {
        InOrder {
            results: Vec::with_capacity(items),
            early: BTreeMap::new(),
        }
    }

    /// Adds the result of the item with this index.
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

    /// Adds the results that were waiting for the last one.
    fn put_early(&mut self) {
        while let Some(next) = self
            .early
            .first_entry()
            .filter(|next| *next.key() as usize == self.results.len())
        {
            self.results.push(next.remove());
        }
    }

    /// All results, in the order of the items.
    pub fn into_vec(self) -> Vec<T> {
        self.results
    }
}

/// Like [`blocking`], but passes the context of the attempt to the work. Once the future is
/// dropped, the work emits nothing, even if it is still running.
pub async fn blocking_with<T: Send + 'static>(
    mut context: Context,
    work: impl FnOnce(&Context) -> T + Send + 'static,
) -> T {
    let _awaited = context.awaited();
    blocking(move || work(&context)).await
}

/// Runs blocking work on tokio's pool for it, and panics if the work panics. Dropping the future
/// does not stop work that has begun.
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
