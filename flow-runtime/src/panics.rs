//! Messages of panics, and work whose panic is a failure.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

/// The message of a panic, as `catch_unwind` returns it.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
        _ => "the panic has no message".to_owned(),
    }
}

/// The source of a [`NodeError`](crate::NodeError) if the node panicked in a durable run, which
/// counts this as a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panicked {
    /// The message of the panic.
    pub message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panicked: {}", self.message)
    }
}

impl Error for Panicked {}

pin_project! {
    /// Work whose panic is an error, if it is to be caught. Any other panic continues.
    #[derive(Debug)]
    pub struct Guarded<W> {
        #[pin]
        work: W,
        catches: bool,
    }
}

impl<W> Guarded<W> {
    /// Catches the panics of `work`, if `catches` is true.
    #[inline]
    pub fn new(work: W, catches: bool) -> Self {
        Guarded { work, catches }
    }
}

impl<W: Future> Future for Guarded<W> {
    type Output = Result<W::Output, Panicked>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if *this.catches {
            poll_caught(this.work, cx)
        } else {
            this.work.poll(cx).map(Ok)
        }
    }
}

/// Polls work, and catches its panic. The work must not be polled again after one.
#[cold]
fn poll_caught<W: Future>(
    work: Pin<&mut W>,
    cx: &mut Context<'_>,
) -> Poll<Result<W::Output, Panicked>> {
    match catch_unwind(AssertUnwindSafe(|| work.poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => {
            let message = panic_message(&*payload);
            Poll::Ready(Err(Panicked { message }))
        }
    }
}
