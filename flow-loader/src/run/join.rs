//! Runs futures at the same time.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use flow_runtime::engine::Failed;
use futures_util::future::BoxFuture;

/// Polls all of them, in order, until all are done or the first has failed.
pub(crate) async fn all(mut runs: Vec<BoxFuture<'_, Result<(), Failed>>>) -> Result<(), Failed> {
    let mut done = vec![false; runs.len()];
    poll_fn(move |cx| {
        let mut all_done = true;
        for (run, done) in runs.iter_mut().zip(&mut done) {
            if *done {
                continue;
            }
            match Pin::new(run).poll(cx) {
                Poll::Ready(Ok(())) => *done = true,
                Poll::Ready(failed) => return Poll::Ready(failed),
                Poll::Pending => all_done = false,
            }
        }
        if all_done {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await
}
