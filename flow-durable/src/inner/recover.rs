//! Resumes executions that other processes have left.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Weak};

use flow_store::{Damaged, ExecutionId, Store};
use futures_util::future::{Either, select};
use tokio::time::Instant;

use super::listen::time_to_look;
use super::{Inner, Look, PAGE, lock};
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

impl Inner {
    /// Resumes the executions that are due, except those that could not continue here and should
    /// not be retried yet. Ends early if the runtime drains.
    pub(crate) async fn recover(self: &Arc<Self>, why: Look) -> Result<Recovered, RuntimeError> {
        self.set_clock().await?;
        self.release().await;
        let mut recovered = Recovered::default();
        if why == Look::Asked {
            recovered.refused = self.release_halted().await?;
        }
        let mut watched = HashMap::new();
        let pause = self.options.look_for_work_every();
        let mut after = None;
        loop {
            if self.slots.free() == 0 || self.draining.is_cancelled() {
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
                if lock(&self.halted).keeps_out(&id, why, pause) {
                    continue;
                }
                if self.draining.is_cancelled() {
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
                        self.cannot_continue(id, error.clone());
                        recovered.refused.push((id, error));
                    }
                }
            }
            if last.is_none() {
                *lock(&self.watched) = watched;
                self.take_queued().await?;
                return Ok(recovered);
            }
            after = last;
        }
    }

    pub(crate) fn keep_recovering(self: &Arc<Self>) {
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        let (gone, work) = (self.gone.0.clone(), self.hints.work.clone());
        let takes_often = self.options.takes_often();
        self.recovering.spawn(async move {
            loop {
                let last = Instant::now();
                // If it takes often, `keep_taking` follows the hints instead.
                let again = pin!(time_to_look(every, &work, !takes_often, last));
                let ended = pin!(gone.cancelled());
                let Either::Left((look, _)) = select(again, ended).await else {
                    return;
                };
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                // A failure is retried the next time.
                let _ = inner.recover(look).await;
            }
        });
    }
}
