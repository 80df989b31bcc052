//! Sees a run to its end, whatever its nodes do: panic, take too long, or be told to stop.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use crate::engine::{Failed, Hooks};
use crate::error::FlowError;
use crate::observer::EventKind;
use crate::run::Run;
use crate::scope::Scope;

/// Polls a run to its end: catches a panic, and stops when the run is cancelled or has taken too long. The work is
/// dropped before this returns.
///
/// It is given in its place rather than by value: a future that an `async fn` takes is stored twice.
pub async fn supervise<E, T, W>(
    engine: &E,
    scope: &Scope<'_>,
    mut work: Pin<&mut Option<W>>,
) -> Result<T, FlowError>
where
    E: Hooks,
    W: Future<Output = Result<T, Failed>> + Send,
{
    let run = engine.run();
    let may_stop = run.options.cancellation.is_some() || run.options.deadline.is_some();
    let mut stop = pin!(stop(run));
    let ended = poll_fn(|cx| {
        if may_stop && let Poll::Ready(stop) = stop.as_mut().poll(cx) {
            return Poll::Ready(Err(stop));
        }
        let poll = catch_unwind(AssertUnwindSafe(|| match work.as_mut().as_pin_mut() {
            Some(work) => work.poll(cx),
            None => Poll::Pending,
        }));
        match poll {
            Ok(poll) => poll.map(Ok),
            Err(payload) => Poll::Ready(Err(Stop::Panicked(panic_message(&*payload)))),
        }
    })
    .await;
    work.set(None);
    let result =
        ended.unwrap_or_else(|stop| Err(Box::new(stop.into_error(run.interruption(scope)))));
    let result = result.map_err(|error| *error);
    if let Err(error) = &result {
        run.emit(scope.flow_path(), EventKind::RunFailed { error });
    }
    result
}

/// Why a run does not go on.
enum Stop {
    Panicked(String),
    Cancelled,
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

/// Waits until the run has to stop. The run is told first, so that its scopes report where they were dropped.
async fn stop(run: &Run) -> Stop {
    let cancelled = async {
        match &run.options.cancellation {
            Some(token) => token.cancelled().await,
            None => pending().await,
        }
        Stop::Cancelled
    };
    let stop = match run.options.deadline {
        None => cancelled.await,
        Some(after) => match tokio::time::timeout(after, cancelled).await {
            Ok(stop) => stop,
            Err(_) => Stop::TimedOut(after),
        },
    };
    run.stopping.store(true, Ordering::Relaxed);
    stop
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
        _ => "the panic has no message".to_owned(),
    }
}
