//! Steps that make one attempt, in the form that engines expect. An `async` block around the node's
//! future would do, but its own state costs as much as the loop around it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::error::Failed;
use crate::node_error::Failure;
use crate::policy::Policy;
use crate::scope::Scope;
use crate::visit::{Attempts, Visit};

pin_project! {
    /// The future of a node that cannot fail.
    #[derive(Debug)]
    pub struct NodeFuture<F> {
        #[pin]
        work: F,
    }
}

/// Turns the outcome of `work` into the outcome of a step.
#[inline]
pub fn infallible<T, F: Future<Output = T>>(work: F) -> NodeFuture<F> {
    NodeFuture { work }
}

impl<F: Future> Future for NodeFuture<F> {
    type Output = Result<F::Output, Failed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(ready!(self.project().work.poll(cx))))
    }
}

pin_project! {
    /// One attempt, with an error of any type.
    pub struct Failing<F, I> {
        #[pin]
        work: F,
        into_failure: I,
    }
}

impl Attempts<'_> {
    /// The result of `work`, the only attempt of a visit, with its error in the form that attempts
    /// have.
    ///
    /// `into_failure` is that of [`IntoFailure`](super::IntoFailure). It is named where the error is,
    /// because rustc shows the bounds of functions. It has a type of its own, because a pointer would
    /// be stored.
    #[inline]
    pub fn only<T, E, F, I>(work: F, into_failure: I) -> Failing<F, I>
    where
        F: Future<Output = Result<T, E>>,
        I: Fn(E) -> Failure,
    {
        Failing { work, into_failure }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>, I: Fn(E) -> Failure> Future for Failing<F, I> {
    type Output = Result<T, Failure>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.work.poll(cx));
        Poll::Ready(result.map_err(&*this.into_failure))
    }
}

pin_project! {
    /// A visit that makes a single attempt.
    #[derive(Debug)]
    pub struct Once<'a, F> {
        #[pin]
        work: F,
        scope: &'a Scope<'a>,
    }
}

/// The result of `work`, which is the only attempt of a visit to the scope's current node.
#[inline]
pub fn once<'a, T, F: Future<Output = Result<T, Failure>>>(
    scope: &'a Scope<'a>,
    work: F,
) -> Once<'a, F> {
    Once { work, scope }
}

impl<T, F: Future<Output = Result<T, Failure>>> Future for Once<'_, F> {
    type Output = Result<T, Failed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        Poll::Ready(match ready!(this.work.poll(cx)) {
            Ok(outcome) => Ok(outcome),
            Err(failure) => Err(failed(this.scope, failure)),
        })
    }
}

#[cold]
fn failed(scope: &Scope<'_>, failure: Failure) -> Failed {
    Visit::new(scope, &Policy::DEFAULT)
        .attempts()
        .exhausted(failure)
        .into()
}
