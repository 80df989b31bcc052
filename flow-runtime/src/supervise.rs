//! Takes a run to its end, even if its nodes panic, take too long, or have to stop. The proof that
//! its future is `Send` is here, once, and not in each flow.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pin_project_lite::pin_project;

use crate::engine::undo::{finish_run, undo_failed};
#[cfg(feature = "stored")]
use crate::engine::{AnyFlow, FlowInfo, InputError, RefusedInput, RunError, Saved};
use crate::engine::{Direct, Drive, Hooks, Observed};
use crate::error::{Failed, FlowError};
#[cfg(feature = "stored")]
use crate::input::unexpected;
use crate::observer::EventKind;
use crate::options::RunSettings;
use crate::panics::panic_message;
use crate::run::Run;
use crate::scope::Scope;

/// See [`run_direct`](crate::engine::Runner::run_direct), for a flow that cannot be undone.
#[inline]
pub(crate) fn run_direct_not_undone<F>(
    flow: &F,
    input: F::Input,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: Drive<Direct>,
{
    Unboxed {
        run: async move {
            let engine = Direct::new();
            let scope = Scope::root(engine.run(), F::INFO);
            let caught = Caught {
                work: flow.drive(&engine, &scope, input),
                scope: &scope,
            };
            // If the output is returned from here, its path carries no error.
            let failed = match caught.await {
                Ok(output) => return Ok(output),
                Err(failed) => failed,
            };
            Err(failed)
        },
    }
}

/// Drives a flow until it reaches an end, or until its run has to stop. `scope` is that of the run,
/// `work` drives the flow. This is a macro because the future of a function would be one more to
/// poll, and would move the input once more.
macro_rules! to_its_end {
    ($scope:ident, $work:expr) => {{
        let run = $scope.run();
        let mut work = pin!(Some(Caught {
            work: $work,
            scope: &$scope,
        }));
        let mut stop = stop(run);
        let ended = poll_fn(|cx| {
            if let Some(stop) = &mut stop
                && let Poll::Ready(stop) = stop.poll_unpin(cx)
            {
                // Dropping the work reports where it was.
                work.set(None);
                return Poll::Ready(Err(stopped(&$scope, stop)));
            }
            match work.as_mut().as_pin_mut() {
                Some(work) => work.poll(cx),
                None => Poll::Pending,
            }
        })
        .await;
        if let Err(error) = &ended {
            run.emit($scope.frame().flow_path(), EventKind::RunFailed { error });
        }
        ended
    }};
}

/// Like `to_its_end`, for a flow that can be undone. `undo` undoes what it has done, given its
/// failure.
macro_rules! to_its_end_or_undone {
    ($scope:ident, $work:expr, |$failed:ident| $undo:expr) => {{
        let run = $scope.run();
        let mut work = pin!(Some(Caught {
            work: $work,
            scope: &$scope,
        }));
        let mut stop = stop(run);
        let ended = poll_fn(|cx| {
            if let Some(stop) = &mut stop
                && let Poll::Ready(stop) = stop.poll_unpin(cx)
            {
                return Poll::Ready(Err(stop));
            }
            match work.as_mut().as_pin_mut() {
                Some(work) => work.poll(cx).map(Ok),
                None => Poll::Pending,
            }
        })
        .await;
        let ended = match ended {
            Ok(ended) => ended,
            Err(stop) => {
                if let Some(work) = work.as_mut().as_pin_mut() {
                    finish_run(run, work).await;
                }
                // Dropping the work reports where it was.
                work.set(None);
                Err(stopped(&$scope, stop))
            }
        };
        let ended = match ended {
            Ok(output) => Ok(output),
            Err(mut $failed) => {
                $undo;
                Err($failed)
            }
        };
        if let Err(error) = &ended {
            run.emit($scope.frame().flow_path(), EventKind::RunFailed { error });
        }
        ended
    }};
}

/// See [`run_with`](crate::engine::Runner::run_with), for a flow that cannot be undone.
#[inline]
pub(crate) fn run_with_not_undone<F>(
    flow: &F,
    input: F::Input,
    settings: RunSettings,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: for<'r> Drive<Observed<'r>>,
{
    Unboxed {
        run: async move {
            let run = &Run::numbered_with(settings);
            let engine = &Observed::new(run);
            let scope = Scope::root(run, F::INFO);
            to_its_end!(scope, flow.drive(engine, &scope, input))
        },
    }
}

/// See [`run`](crate::engine::Runner::run), for a flow that cannot be undone.
#[inline]
pub(crate) fn run_not_undone<F, E>(
    flow: &F,
    engine: &E,
    input: F::Input,
) -> impl Future<Output = Result<F::Output, FlowError>> + Send
where
    F: Drive<E>,
    E: Hooks,
{
    Unboxed {
        run: async move {
            let scope = Scope::root(engine.run(), F::INFO);
            to_its_end!(scope, flow.drive(engine, &scope, input))
        },
    }
}

/// See [`run_direct`](crate::engine::Runner::run_direct), for a flow that can be undone.
pub(crate) async fn run_direct_or_undo<F>(flow: &F, input: F::Input) -> Result<F::Output, FlowError>
where
    F: Drive<Direct>,
{
    let engine = Direct::new();
    let scope = Scope::root(engine.run(), F::INFO);
    let caught = Caught {
        work: flow.drive(&engine, &scope, input),
        scope: &scope,
    };
    let mut ended = caught.await;
    if let Err(failed) = &mut ended {
        undo_failed(flow, &engine, &scope, false, failed).await;
    }
    ended.map_err(|failed| *failed)
}

/// See [`run_with`](crate::engine::Runner::run_with), for a flow that can be undone.
pub(crate) async fn run_with_or_undo<F>(
    flow: &F,
    input: F::Input,
    settings: RunSettings,
) -> Result<F::Output, FlowError>
where
    F: for<'r> Drive<Observed<'r>>,
{
    let run = &Run::numbered_with(settings);
    run_or_undo(flow, &Observed::new(run), input).await
}

/// See [`run`](crate::engine::Runner::run), for a flow that can be undone.
pub(crate) async fn run_or_undo<F, E>(
    flow: &F,
    engine: &E,
    input: F::Input,
) -> Result<F::Output, FlowError>
where
    F: Drive<E>,
    E: Hooks,
{
    let scope = Scope::root(engine.run(), F::INFO);
    let ended = to_its_end_or_undone!(scope, flow.drive(engine, &scope, input), |failed| {
        undo_failed(flow, engine, &scope, false, &mut failed).await;
    });
    ended.map_err(|failed| *failed)
}

/// Runs a flow of any type to an end on an engine. The run stops if it is cancelled or takes too
/// long.
///
/// # Errors
///
/// Errors as for [`AnyFlow::run`]. A panic of a node is an error of the run. [`RunError::Input`]
/// lists every mistake in the input, including values that are not among the inputs of the flow.
///
/// # Cancel safety
///
/// See [`Flow::run`](crate::Flow::run).
#[cfg(feature = "stored")]
pub async fn run_any<E: Hooks>(
    flow: &dyn AnyFlow<E>,
    engine: &E,
    input: Saved,
) -> Result<Saved, RunError> {
    if let Some(unexpected) = InputError::new(unexpected(&input, &flow.inputs())) {
        let all = match flow.stored_input(input) {
            Err(RefusedInput::Input(error)) => error.and(unexpected),
            _ => unexpected,
        };
        return Err(RunError::Input(all));
    }
    // The flow has its own scope inside. This one is at no node, and names the flow as a whole.
    let info = FlowInfo::new(flow.namespace().to_owned(), Vec::new());
    supervised(flow, engine, &info, || flow.run(engine, input)).await
}

/// Runs a flow with the work that `begin` returns to its end, until the deadline or the cancellation
/// of the engine's run, and catches its panics. `info` has the namespace of the run.
#[cfg(feature = "stored")]
#[inline]
pub async fn supervised<E, F, T, W>(
    flow: &F,
    engine: &E,
    info: &FlowInfo,
    begin: impl FnOnce() -> W + Send,
) -> Result<T, RunError>
where
    E: Hooks,
    F: AnyFlow<E> + ?Sized,
    T: Send,
    W: Future<Output = Result<T, RunError>> + Send,
{
    if flow.undoes() {
        return supervised_or_undone(flow, engine, info, begin).await;
    }
    let scope = Scope::root(engine.run(), info);
    let ended = to_its_end!(scope, async {
        match begin().await {
            Err(RunError::Failed(failed)) => Err(failed),
            ended => Ok(ended),
        }
    });
    ended.unwrap_or_else(|failed| Err(RunError::Failed(failed)))
}

/// Like [`supervised`], for a flow that can be undone.
#[cfg(feature = "stored")]
fn supervised_or_undone<'a, E, F, T, W>(
    flow: &'a F,
    engine: &'a E,
    info: &'a FlowInfo,
    begin: impl FnOnce() -> W + Send + 'a,
) -> BoxFuture<'a, Result<T, RunError>>
where
    E: Hooks,
    F: AnyFlow<E> + ?Sized,
    T: Send + 'a,
    W: Future<Output = Result<T, RunError>> + Send + 'a,
{
    async move {
        let scope = Scope::root(engine.run(), info);
        let work = async {
            match begin().await {
                Err(RunError::Failed(failed)) => Err(failed),
                ended => Ok(ended),
            }
        };
        let ended = to_its_end_or_undone!(scope, work, |failed| {
            flow.undo_failed(engine, &mut failed).await;
        });
        ended.unwrap_or_else(|failed| Err(RunError::Failed(failed)))
    }
    .boxed()
}

pin_project! {
    /// A run whose error is returned unboxed to its caller.
    struct Unboxed<R> {
        #[pin]
        run: R,
    }
}

impl<T, R: Future<Output = Result<T, Failed>>> Future for Unboxed<R> {
    type Output = Result<T, FlowError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ready!(self.project().run.poll(cx)) {
            Ok(output) => Ok(output),
            Err(failed) => Err(*failed),
        })
    }
}

pin_project! {
    /// The work of a run, whose panic becomes an error of the run. Unwinding drops the running
    /// scopes, which report where they were.
    struct Caught<'a, W> {
        #[pin]
        work: W,
        scope: &'a Scope<'a>,
    }
}

impl<T, W: Future<Output = Result<T, Failed>>> Future for Caught<'_, W> {
    type Output = Result<T, Failed>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match catch_unwind(AssertUnwindSafe(|| this.work.poll(cx))) {
            Ok(poll) => poll,
            Err(payload) => {
                let stop = Stop::Panicked(panic_message(&*payload));
                Poll::Ready(Err(stopped(this.scope, stop)))
            }
        }
    }
}

/// The error of a run that stops, after everything in it was dropped.
#[cold]
fn stopped(scope: &Scope<'_>, stop: Stop) -> Failed {
    let path = match scope.run().interrupted() {
        Some(path) => path.to_owned(),
        None => scope.frame().path().to_string(),
    };
    Box::new(stop.into_error(path))
}

/// The reason why a run stops.
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

/// Waits until the run has to stop. `None` if it never has to. The run is informed first, so that
/// its scopes report where they were dropped.
fn stop(run: &Run) -> Option<BoxFuture<'_, Stop>> {
    let options = run.options()?;
    let (token, deadline) = (options.cancellation.as_ref(), options.deadline);
    if token.is_none() && deadline.is_none() {
        return None;
    }
    let stop = async move {
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
        run.stop();
        stop
    };
    Some(stop.boxed())
}
