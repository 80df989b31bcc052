//! Takes executions out of the store's queue, as many as there are slots here.

use std::sync::Arc;

use flow_store::{Row, Store as _, Take};

use super::Shared;
use super::queue::Slot;
use crate::driver::Suspicion;
use crate::error::RuntimeError;
use crate::lease::Term;

/// The number of executions that are taken at once if there is no limit.
const BATCH: usize = 100;

impl Shared {
    /// Begins queued executions, until none of them may begin or no slot is free. An execution that
    /// cannot begin here is given up, and [`Execution::settled`](crate::Execution::settled) says
    /// why.
    pub(crate) async fn take_queued(self: &Arc<Self>) -> Result<(), RuntimeError> {
        self.set_clock().await?;
        loop {
            let _call = self.claims.begin();
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
        let _turn = self.queue.slots.turn.lock().await;
        let term = self.claims.term();
        let limit = self.queue.slots.free().min(BATCH);
        let names = self.registry.names_to_take();
        let free = |name: String| {
            let free = self.queue.slots.free_of(&name);
            (name, free)
        };
        let take = Take {
            flows: names.into_iter().map(free).collect(),
            limit,
            holder: self.claims.holder,
            now_ms: term.from_ms,
            until_ms: term.until_ms,
        };
        if limit == 0 || take.flows.is_empty() || self.tasks.are_draining() {
            return Ok((Vec::new(), term, false));
        }
        let mut taken = Vec::new();
        // A damaged execution stays in the queue. Whoever lists executions sees it.
        for row in self.store.take_queued(&take).await?.into_iter().flatten() {
            let has_key = row.concurrency.is_some();
            let slot = self.queue.slots.take_in_turn(&row.flow, has_key);
            taken.push((row, slot));
        }
        let are_more = taken.len() == limit;
        Ok((taken, term, are_more))
    }

    async fn begin(self: &Arc<Self>, row: Row, term: Term, slot: Slot) {
        let (id, fence) = (row.id, row.fence);
        self.committed.notify_waiters();
        let begun = match self.registry.version(&row).await {
            Ok(flow) => {
                self.prepare(row, term, flow, slot, Suspicion::default())
                    .await
            }
            Err(error) => Err(error),
        };
        let Err(error) = begun else {
            return;
        };
        self.claims.to_release(id, fence);
        self.claims.release_one(id, fence).await;
        self.claims.cannot_continue(id, error);
    }
}
