//! Takes executions out of the store's queue, as many as there are slots here.

use std::pin::pin;
use std::sync::{Arc, Weak};

use flow_store::{Row, Store as _, Take};
use futures_util::future::{Either, select};
use tokio::time::Instant;

use super::listen::time_to_look;
use super::slots::Slot;
use super::{Inner, Look, lock};
use crate::driver::Suspicion;
use crate::error::RuntimeError;
use crate::lease::Term;
use crate::parts::flow_of_parts;
use crate::versions::Versions;

/// The number of executions that are taken at once if there is no limit.
const BATCH: usize = 100;

impl Inner {
    /// Begins queued executions, until none of them may begin or no slot is free. An execution that
    /// cannot begin here is given up, and [`Execution::settled`](crate::Execution::settled) says
    /// why.
    pub(crate) async fn take_queued(self: &Arc<Self>) -> Result<(), RuntimeError> {
        self.set_clock().await?;
        loop {
            let _call = self.claiming.begin();
            let (taken, term, are_more) = self.take_some().await?;
            for (row, slot) in taken {
                if row.concurrency.is_some() {
                    self.keep_taking();
                }
                self.begin(row, term, slot).await;
            }
            if !are_more {
                return Ok(());
            }
        }
    }

    /// Claims executions for free slots. Also returns the term of the claims, and true if there may
    /// be more.
    async fn take_some(&self) -> Result<(Vec<(Row, Slot)>, Term, bool), RuntimeError> {
        let _turn = self.slots.turn.lock().await;
        let term = self.term();
        let limit = self.slots.free().min(BATCH);
        let names = self.names_to_take();
        let free = |name: String| {
            let free = self.slots.free_of(&name);
            (name, free)
        };
        let take = Take {
            flows: names.into_iter().map(free).collect(),
            limit,
            holder: self.holder,
            now_ms: term.from_ms,
            until_ms: term.until_ms,
        };
        if limit == 0 || take.flows.is_empty() || self.draining.is_cancelled() {
            return Ok((Vec::new(), term, false));
        }
        let mut taken = Vec::new();
        // A damaged execution stays in the queue. Whoever lists executions sees it.
        for row in self.store.take_queued(&take).await?.into_iter().flatten() {
            let has_key = row.concurrency.is_some();
            let slot = self.slots.take_in_turn(&row.flow, has_key);
            taken.push((row, slot));
        }
        let are_more = taken.len() == limit;
        Ok((taken, term, are_more))
    }

    /// The names of the flows that this process has, and those of the parts of their loops.
    pub(crate) fn names_to_take(&self) -> Vec<String> {
        let flows = lock(&self.flows);
        let all = flows
            .iter()
            .flat_map(|(name, versions)| with_parts(name, versions));
        all.collect()
    }

    /// The name of a flow, and those of the parts of its loops.
    pub(crate) fn names_with_parts(&self, name: &str) -> Vec<String> {
        let flows = lock(&self.flows);
        let versions = flows.get(name);
        versions.map_or_else(Vec::new, |versions| with_parts(name, versions).collect())
    }

    async fn begin(self: &Arc<Self>, row: Row, term: Term, slot: Slot) {
        let (id, fence) = (row.id, row.fence);
        self.committed.notify_waiters();
        let begun = match self.version(&row).await {
            Ok(flow) => {
                self.prepare(row, term, flow, slot, Suspicion::default())
                    .await
            }
            Err(error) => Err(error),
        };
        let Err(error) = begun else {
            return;
        };
        self.to_release(id, fence);
        self.release_one(id, fence).await;
        self.cannot_continue(id, error);
    }

    /// Looks for work for as long as the runtime lives: when a slot becomes free, when an execution
    /// that was queued here is due, and from time to time.
    pub(crate) fn keep_taking(self: &Arc<Self>) {
        if self.slots.are_none() {
            return;
        }
        let (inner, every) = (Arc::downgrade(self), self.options.look_for_work_every());
        let (slots, queued) = (self.slots.clone(), self.queued.clone());
        let (clock, gone) = (self.options.clock.clone(), self.gone.0.clone());
        let (work, takes_often) = (self.hints.work.clone(), self.options.takes_often());
        self.taking.spawn(async move {
            loop {
                let last = Instant::now();
                let freed = pin!(slots.freed.notified());
                let its_time = pin!(queued.next(&clock));
                let again = pin!(time_to_look(every, &work, takes_often, last));
                let ended = pin!(gone.cancelled());
                let (sooner, later) = (select(freed, its_time), select(again, ended));
                let look = match select(sooner, later).await {
                    Either::Right((Either::Right(_), _)) => return,
                    Either::Right((Either::Left((look, _)), _)) => look,
                    Either::Left(_) => Look::Hinted,
                };
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                if inner.draining.is_cancelled() {
                    return;
                }
                // A failure is retried the next time.
                if inner.options.takes_often() {
                    // Some executions may have found no slot to resume, or another process may have
                    // given them up.
                    let _ = inner.recover(look).await;
                } else {
                    let _ = inner.take_queued().await;
                }
            }
        });
    }
}

fn with_parts<'a>(name: &'a str, versions: &'a Versions) -> impl Iterator<Item = String> + 'a {
    let parts = versions.all().flat_map(|version| version.spread_loops());
    let parts = parts.map(|each| flow_of_parts(name, each));
    std::iter::once(name.to_owned()).chain(parts)
}
