//! Runs futures at the same time.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use flow_runtime::__private::finish_branches;
use flow_runtime::engine::{Failed, Scope};
use futures_util::future::BoxFuture;

use crate::run::give_way::polled;

/// Polls all of them, in order, until all are done or the first has failed. Then steps with an undo
/// node are finished first.
pub(crate) async fn all(
    scope: &Scope<'_>,
    mut runs: Vec<BoxFuture<'_, Result<(), Failed>>>,
) -> Result<(), Failed> {
    let mut done = vec![false; runs.len()];
    let ended = poll_fn(|cx| {
        let mut all_done = true;
        for (run, done) in runs.iter_mut().zip(&mut done) {
            if *done {
                continue;
            }
            match Pin::new(run).poll(cx) {
                Poll::Ready(Ok(())) => *done = true,
                Poll::Ready(failed) => {
                    *done = true;
                    return Poll::Ready(failed);
                }
                Poll::Pending => all_done = false,
            }
        }
        if all_done {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await;
    if ended.is_err() {
        finish(scope, &mut runs, &mut done).await;
    }
    ended
}

/// Polls those that are not done until no step with an undo node is under way.
async fn finish<T>(
    scope: &Scope<'_>,
    runs: &mut [BoxFuture<'_, Result<T, Failed>>],
    done: &mut [bool],
) {
    let poll = &mut |cx: &mut Context<'_>| {
        for (run, done) in runs.iter_mut().zip(&mut *done) {
            *done = *done || Pin::new(run).poll(cx).is_ready();
        }
    };
    finish_branches(scope, &mut [poll]).await;
}

/// Polls all of them, in order, until the first is done or has failed. Then steps with an undo node
/// in the others are finished first. Returns its index as well. If an earlier run has `recorded`
/// which one was the first, only that one is polled.
///
/// One that only gives way goes on before the others do: whether it gives way depends on what ran
/// before it in this process, and must not decide which one is the first.
pub(crate) async fn first<T>(
    scope: &Scope<'_>,
    mut runs: Vec<BoxFuture<'_, Result<T, Failed>>>,
    recorded: Option<usize>,
) -> Result<(usize, T), Failed> {
    let mut goes_on: Option<usize> = None;
    let mut done = vec![false; runs.len()];
    let ended = poll_fn(|cx| {
        let interrupted = goes_on.take();
        let runs_now = |at: &usize| recorded.is_none_or(|recorded| recorded == *at);
        for at in interrupted
            .into_iter()
            .chain((0..runs.len()).filter(runs_now))
        {
            let (ended, gave_way) = polled(|| Pin::new(&mut runs[at]).poll(cx));
            if let Poll::Ready(ended) = ended {
                done[at] = true;
                return Poll::Ready(ended.map(|ended| (at, ended)));
            }
            if gave_way {
                goes_on = Some(at);
                return Poll::Pending;
            }
        }
        Poll::Pending
    })
    .await;
    finish(scope, &mut runs, &mut done).await;
    ended
}
