//! Resumes executions that other processes have left.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flow_store::{Damaged, ExecutionId, Store};

use super::claims::WatchedClaim;
use super::{Look, PAGE, Shared};
use crate::error::RuntimeError;

/// The result of [`Runtime::recover`](crate::Runtime::recover).
#[derive(Debug, Default)]
pub struct Recovered {
    /// The executions that were resumed.
    pub resumed: Vec<ExecutionId>,
    /// The executions that could not be resumed, and those that wait and could not be resumed if
    /// they were answered, with the errors. They are unchanged.
    pub refused: Vec<(ExecutionId, RuntimeError)>,
    /// Damaged data of an execution that is not known.
    pub damaged: Vec<Damaged>,
}

impl Shared {
    /// Resumes the executions that are due, except those that could not continue here and should
    /// not be retried yet. Ends early if the runtime drains.
    pub(crate) async fn recover(self: &Arc<Self>, why: Look) -> Result<Recovered, RuntimeError> {
        self.set_clock().await?;
        self.claims.release().await;
        let mut recovered = Recovered::default();
        if why == Look::Asked {
            recovered.refused = self.release_halted().await?;
        }
        let mut watched = HashMap::new();
        let pause = self.options.look_for_work_every();
        let mut after = None;
        loop {
            if self.queue.slots.free() == 0 || self.tasks.are_draining() {
                return Ok(recovered);
            }
            let due = self.store.due(self.now_ms(), after, PAGE).await?;
            let mut last = None;
            for due in due {
                let (id, damaged) = match due {
                    Ok(id) => (id, None),
                    Err(damaged) => match damaged.execution {
                        Some(id) => (id, Some(damaged)),
                        None => {
                            // It is on every page, because it has no id that would put it before
                            // another page.
                            if !recovered.damaged.contains(&damaged) {
                                recovered.damaged.push(damaged);
                            }
                            continue;
                        }
                    },
                };
                last = last.max(Some(id));
                if self.claims.keeps_out(id, why, pause) {
                    continue;
                }
                if self.tasks.are_draining() {
                    return Ok(recovered);
                }
                let launched = match damaged {
                    None => self.launch_or_watch(id, &mut watched).await,
                    Some(damaged) => Err(damaged.into()),
                };
                match launched {
                    Ok(true) => recovered.resumed.push(id),
                    Ok(false) => {}
                    Err(error) => {
                        self.claims.cannot_continue(id, error.clone());
                        recovered.refused.push((id, error));
                    }
                }
            }
            if last.is_none() {
                self.claims.set_watched(watched);
                self.take_queued().await?;
                return Ok(recovered);
            }
            after = last;
        }
    }

    /// Resumes an execution if it can be claimed. If not, it is due because its claim is ahead of
    /// this clock. This then watches the claim, and breaks it if nobody has renewed it for its
    /// whole length, measured by a clock that cannot be set.
    async fn launch_or_watch(
        self: &Arc<Self>,
        id: ExecutionId,
        watched: &mut HashMap<ExecutionId, WatchedClaim>,
    ) -> Result<bool, RuntimeError> {
        let refused = match self.launch(id).await {
            Ok(true) => return Ok(true),
            Ok(false) => None,
            Err(error @ RuntimeError::NotRegistered { .. }) => Some(error),
            Err(error) => return Err(error),
        };
        let claim = self.store.claim_of(id).await;
        let claim = claim.map_err(RuntimeError::of(id))?;
        let now_ms = self.now_ms();
        let claim = match (claim, refused) {
            // Another process that has its flow may be running it.
            (Some(claim), Some(_)) if claim.is_valid(now_ms) => return Ok(false),
            (_, Some(error)) => return Err(error),
            (Some(claim), None) if claim.is_ahead(now_ms) => claim,
            _ => return Ok(false),
        };
        let seen = self.claims.watch(id, claim);
        if seen.since.elapsed() < Duration::from_millis(claim.lease_ms) {
            watched.insert(id, seen);
            return Ok(false);
        }
        let broken = self.store.break_claim(id, claim).await;
        Ok(broken.map_err(RuntimeError::of(id))? && self.launch(id).await?)
    }
}
