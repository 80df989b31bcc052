//! A step of a run with options.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use pin_project_lite::pin_project;
use tokio::sync::SemaphorePermit;

use crate::error::{Failed, FlowError};
use crate::observer::EventKind;
use crate::run::Run;
use crate::scope::Scope;

/// Runs a step of a run with options: in a span (feature `tracing`), when there is room for it, and
/// with its failure reported to the observer. `limited` is true if the run limits how many steps
/// run at once ([`Run::is_limited`]). An engine knows this from the beginning.
#[inline]
pub fn carry_out<'s, T, W>(
    scope: &'s Scope<'s>,
    limited: bool,
    work: W,
) -> impl Future<Output = Result<T, Failed>> + Send + use<'s, T, W>
where
    T: Send,
    W: Future<Output = Result<T, Failed>> + Send,
{
    #[cfg(feature = "tracing")]
    let work = {
        use tracing::Instrument as _;
        let run = scope.run().id();
        // The fields are evaluated only if somebody listens.
        work.instrument(tracing::info_span!(
            "node",
            path = %scope.frame().path(),
            %run,
            execution = scope.run().history().map(|history| history.execution()),
        ))
    };
    CarriedOut {
        room: if limited {
            Room::NotAsked
        } else {
            Room::Enough
        },
        work,
        scope,
    }
}

/// Room for a step, in a run that may limit how many steps run at once.
enum Room<'a> {
    /// The run has no limit.
    Enough,
    NotAsked,
    /// Waiting for a permit, first come, first served. Boxed, because most runs have no limit and a
    /// step should be small.
    Awaited(BoxFuture<'a, Option<SemaphorePermit<'a>>>),
    /// The permit, which is released when the step is dropped.
    Permitted {
        _permit: Option<SemaphorePermit<'a>>,
    },
}

impl<'a> Room<'a> {
    // The semaphore is never closed.
    #[cold]
    fn poll(&mut self, run: &'a Run, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            *self = match (&mut *self, run.nodes_at_once()) {
                (Room::NotAsked, Some(limit)) => match limit.try_acquire() {
                    Ok(permit) => Room::Permitted {
                        _permit: Some(permit),
                    },
                    Err(_) => Room::Awaited(limit.acquire().map(Result::ok).boxed()),
                },
                (Room::NotAsked, None) => Room::Enough,
                (Room::Awaited(room), _) => Room::Permitted {
                    _permit: ready!(room.poll_unpin(cx)),
                },
                (Room::Enough | Room::Permitted { .. }, _) => return Poll::Ready(()),
            };
        }
    }
}

pin_project! {
    /// A step that begins when there is room for it, and whose failure is reported to the observer.
    struct CarriedOut<'s, W> {
        room: Room<'s>,
        #[pin]
        work: W,
        scope: &'s Scope<'s>,
    }
}

impl<T, W: Future<Output = Result<T, Failed>>> Future for CarriedOut<'_, W> {
    type Output = Result<T, Failed>;

    // With plain `inline`, the largest steps of a loop are not inlined, and cost as much as two
    // events.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if !matches!(this.room, Room::Enough) {
            ready!(this.room.poll(this.scope.run(), cx));
        }
        let result = ready!(this.work.poll(cx));
        if let Err(failed) = &result {
            tell_failure(this.scope, failed);
        }
        Poll::Ready(result)
    }
}

#[cold]
fn tell_failure(scope: &Scope<'_>, failed: &Failed) {
    if let FlowError::Node(error) = &**failed {
        let path = scope.frame().path();
        scope.run().emit(path, EventKind::NodeFailed { error });
    }
}
