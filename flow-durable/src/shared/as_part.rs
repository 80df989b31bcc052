//! The run of an execution that is a part of a loop.

use std::convert::Infallible;
use std::future::{Future as _, pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use flow_store::Store as _;
use futures_util::future::select;

use super::Shared;
use super::parts::UNWANTED;
use crate::clock::millis;
use crate::driver::{Ended, Work};
use crate::engine::{Durable, with_steps};
use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::parts::Part;

/// The interval at which a part checks that its results are still wanted.
const LOOK_WHETHER_WANTED: Duration = Duration::from_secs(5);

/// The interval for a part that only waits for people.
const LOOK_WHILE_PAUSED: Duration = Duration::from_secs(600);

impl Shared {
    /// Returns true if an execution waits for the results of a part.
    pub(super) async fn is_wanted(&self, part: &Part) -> Result<bool, RuntimeError> {
        let row = self.store.without_result(part.of).await;
        let row = row.map_err(RuntimeError::of(part.of))?;
        Ok(row.is_some_and(|row| !row.status.is_over()))
    }

    /// Returns if the results of a part are wanted. Otherwise ends the part and never returns.
    async fn wanted(&self, part: &Part) {
        // If the store cannot be read, they may be wanted.
        while !self.is_wanted(part).await.unwrap_or(true) {
            if self.end_part(part.id(), UNWANTED).await.is_ok() {
                pending::<()>().await;
            }
            tokio::time::sleep(LOOK_WHETHER_WANTED).await;
        }
    }

    /// Checks from time to time that the results of a part are still wanted. Never returns.
    async fn watch_over(&self, part: &Part, journal: &Journal) -> Infallible {
        loop {
            // A part that only waits is paused meanwhile, and checks when it resumes.
            let paused_until = journal.now_ms().saturating_add(millis(LOOK_WHILE_PAUSED));
            let seldom = pin!(journal.sleep_until(paused_until));
            select(seldom, pin!(tokio::time::sleep(LOOK_WHETHER_WANTED))).await;
            self.wanted(part).await;
        }
    }
}

/// The run of a part, which ends with its loop. It begins and continues only while its results are
/// wanted. Those of a copy, which is not a part of anything, always are. With `counts_steps`, the
/// output has the number of steps.
pub(crate) fn as_part(
    mut work: Work,
    engine: Arc<Durable>,
    part: Option<Part>,
    shared: Weak<Shared>,
    counts_steps: bool,
) -> Work {
    Box::pin(async move {
        let shared = shared.upgrade();
        let watched = part.as_ref().zip(shared.as_ref());
        let journal = engine.journal();
        if let Some((part, shared)) = watched {
            // The replay is not idle meanwhile.
            let _active = journal.active();
            shared.wanted(part).await;
        }
        let mut watch = pin!(async {
            match watched {
                Some((part, shared)) => shared.watch_over(part, journal).await,
                None => pending().await,
            }
        });
        poll_fn(|cx| {
            let ended = work.as_mut().poll(cx);
            match (engine.ran(), ended) {
                (Some(Ok(results)), _) => {
                    let counts = counts_steps && part.is_some();
                    let steps = counts.then(|| engine.steps_of_part());
                    Poll::Ready(Ok(with_steps(results, steps)))
                }
                (Some(Err(failed)), _) => Poll::Ready(Err(Ended::Failed(*failed))),
                (None, Poll::Ready(ended)) => Poll::Ready(ended),
                (None, Poll::Pending) => match watch.as_mut().poll(cx) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(never) => match never {},
                },
            }
        })
        .await
    })
}
