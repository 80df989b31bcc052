//! Sees a run to its end, whatever its nodes do: panic, take too long, or be told to stop.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::__private::{Described, Drive};
use crate::engine::{Direct, Failed, Hooks as _, Observed};
use crate::error::FlowError;
use crate::observer::EventKind;
use crate::options::RunSettings;
use crate::run::Run;
use crate::scope::Scope;

/// Runs a flow to its end, and catches its panics.
#[expect(
    clippy::manual_async_fn,
    reason = "that the future is `Send` is shown once, here, and not for each flow"
)]
#[inline]
pub fn run<F>(
    flow: &F,
    input: F::Input,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: Drive<Direct> + Described,
{
    async move {
        let ended = {
            let engine = Direct::new();
            let scope = Scope::root(engine.run(), F::INFO);
            let mut work = pin!(Some(flow.drive(&engine, &scope, input)));
            poll_fn(|cx| poll_work(work.as_mut(), &scope, cx)).await
        };
        match ended {
            Ok(output) => Ok(output),
            Err(failed) => Err(*failed),
        }
    }
}

/// As [`run`], and stops when the run is cancelled or has taken too long.
#[expect(
    clippy::manual_async_fn,
    reason = "that the future is `Send` is shown once, here, and not for each flow"
)]
#[inline]
pub fn run_with<F>(
    flow: &F,
    input: F::Input,
    settings: RunSettings,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: Drive<Observed> + Described,
{
    async move {
        let engine = Observed::new(settings);
        let scope = Scope::root(engine.run(), F::INFO);
        let mut work = pin!(Some(flow.drive(&engine, &scope, input)));
        let mut stop = pin!(stop(engine.run()));
        let ended = poll_fn(
            |cx| match stop.as_mut().as_pin_mut().map(|stop| stop.poll(cx)) {
                Some(Poll::Ready(stop)) => {
                    Poll::Ready(Err(stopped(work.as_mut(), &scope, stop)))
                }
                None | Some(Poll::Pending) => poll_work(work.as_mut(), &scope, cx),
            },
        );
        ended.await.map_err(|failed| {
            scope.run.emit(scope.flow_path(), EventKind::RunFailed { error: &failed });
            *failed
        })
    }
}

/// Goes on with the work of a run, and catches its panics.
#[inline]
fn poll_work<T, W>(
    mut work: Pin<&mut Option<W>>,
    scope: &Scope<'_>,
    cx: &mut Context<'_>,
) -> Poll<Result<T, Failed>>
where
    W: Future<Output = Result<T, Failed>>,
{
    let poll = catch_unwind(AssertUnwindSafe(|| match work.as_mut().as_pin_mut() {
        Some(work) => work.poll(cx),
        None => Poll::Pending,
    }));
    poll.unwrap_or_else(|payload| {
        let stop = Stop::Panicked(panic_message(&*payload));
        Poll::Ready(Err(stopped(work, scope, stop)))
    })
}

/// The error of a run that does not go on: its work is dropped, and says where it was.
#[cold]
fn stopped<W>(mut work: Pin<&mut Option<W>>, scope: &Scope<'_>, stop: Stop) -> Failed {
    work.set(None);
    Box::new(stop.into_error(scope.run.interruption(scope)))
}

/// Why a run does not go on.
#[derive(Debug)]
enum Stop {
    /// A node panicked.
    Panicked(String),
    /// Its token was cancelled.
    Cancelled,
    /// Its deadline has passed.
    TimedOut(Duration),
}

impl Stop {
    fn into_error(self, path: String) -> FlowError {
        match self {
            Stop::Panicked(message) => FlowError::Panicked { path, message },
            Stop::Cancelled => FlowError::Cancelled { path },
            Stop::TimedOut(after) => FlowError::TimedOut { path, after },
        }
    }
}

/// Waits until the run has to stop, if it may have to. The run is told first, so that its scopes report where they were
/// dropped.
fn stop(run: &Run) -> Option<impl Future<Output = Stop> + Send> {
    let options = run.options()?;
    let (token, deadline) = (options.cancellation.as_ref(), options.deadline);
    if token.is_none() && deadline.is_none() {
        return None;
    }
    Some(async move {
        let cancelled = async {
            match token {
                Some(token) => token.cancelled().await,
                None => pending().await,
            }
            Stop::Cancelled
        };
        let stop = match deadline {
            None => cancelled.await,
            Some(after) => match tokio::time::timeout(after, cancelled).await {
                Ok(stop) => stop,
                Err(_) => Stop::TimedOut(after),
            },
        };
        run.stopping.store(true, Ordering::Relaxed);
        stop
    })
}

pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
        _ => "the panic has no message".to_owned(),
    }
}
