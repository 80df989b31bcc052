//! A step that cannot fail, as the engines expect it. An `async` block around the node's future would do, but has a state
//! of its own, which costs a fifth of a step that does nothing.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::engine::Failed;

pin_project! {
    /// The future of a node that cannot fail.
    #[derive(Debug)]
    pub struct Infallible<F> {
        #[pin]
        work: F,
    }
}

/// The outcome of `work`, as that of a step.
#[inline]
pub fn infallible<T, F: Future<Output = T>>(work: F) -> Infallible<F> {
    Infallible { work }
}

impl<F: Future> Future for Infallible<F> {
    type Output = Result<F::Output, Failed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(ready!(self.project().work.poll(cx))))
    }
}
