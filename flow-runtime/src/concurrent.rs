//! Several things at once, in the run's own task: nothing is spawned but what blocks.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;
use std::task::Poll;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use tokio::sync::Semaphore;

use crate::engine::Failed;

/// Both at once. The first failure ends it: the other one is dropped before this returns.
pub async fn join(
    first: impl Future<Output = Result<(), Failed>> + Send,
    second: impl Future<Output = Result<(), Failed>> + Send,
) -> Result<(), Failed> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut first_done, mut second_done) = (false, false);
    poll_fn(|cx| {
        if !first_done {
            first_done = first.as_mut().poll(cx)?.is_ready();
        }
        if !second_done {
            second_done = second.as_mut().poll(cx)?.is_ready();
        }
        if first_done && second_done {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await
}

/// How many branches of a fork may be under way at once.
#[derive(Debug)]
pub struct Limit(Semaphore);

impl Limit {
    /// This many.
    pub fn new(branches: usize) -> Self {
        Limit(Semaphore::new(branches.min(Semaphore::MAX_PERMITS)))
    }

    /// Starts the work when there is room for it, in the order asked.
    pub async fn within<T>(&self, work: impl Future<Output = T> + Send) -> T {
        // The semaphore is never closed.
        let _permit = self.0.acquire().await.ok();
        work.await
    }
}

/// Futures under way at once, whose results come in the order of the futures. Holds no more than its limit.
#[derive(Debug)]
pub struct InOrder<F: Future> {
    running: FuturesOrdered<F>,
    limit: usize,
}

impl<F: Future> InOrder<F> {
    /// None yet, and never more than this.
    pub fn new(limit: usize) -> Self {
        InOrder {
            running: FuturesOrdered::new(),
            limit,
        }
    }

    /// Whether another one may start.
    pub fn has_room(&self) -> bool {
        self.running.len() < self.limit
    }

    /// Starts one.
    pub fn push(&mut self, work: F) {
        self.running.push_back(work);
    }

    /// The next result; nothing if none is under way.
    pub async fn next(&mut self) -> Option<F::Output> {
        self.running.next().await
    }
}

/// Carries out what blocks on the pool that tokio has for it. A panic there is a panic here. Dropping the future does
/// not stop work that has begun.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The pool refuses work only while the runtime shuts down, and the run is dropped with it.
            Err(_) => std::future::pending().await,
        },
    }
}
