//! The renewal of the claims of this process.

use std::collections::HashSet;
use std::sync::Arc;

use flow_store::ExecutionId;
use tokio::sync::Notify;

use super::Claims;
use super::local::UnknownClaim;
use crate::shared::lock;

impl Claims {
    /// Notified when a claim has run out and a step is to begin.
    pub(crate) fn renewal_needed(&self) -> Arc<Notify> {
        self.renewal_needed.clone()
    }

    /// Renews the claims of this process. Executions whose claims it has lost stop here.
    pub(crate) async fn renew(&self) {
        let before = self.all_running();
        self.release().await;
        if before.is_empty() {
            return;
        }
        let _ = self.clock_source.set_by(&*self.store).await;
        let term = self.term();
        // If the store fails, the next attempt may still be in time; if it is not, the store
        // refuses the writes.
        let Ok(held) = self.store.renew(self.holder, term.until_ms).await else {
            return;
        };
        let held: HashSet<ExecutionId> = held.into_iter().collect();
        for (id, run) in before {
            if held.contains(&id) {
                run.lease.prolong(term)
            } else {
                run.signals.lost.cancel()
            }
        }
        self.give_up_unknown(held).await;
    }

    /// Gives up the claims of this process to executions that it does not run. The store made them,
    /// but its answer was lost, and would prolong them for as long as the process lives. A claim
    /// that is being made is not given up.
    async fn give_up_unknown(&self, held: HashSet<ExecutionId>) {
        let unknown = self.retain_unknown(held);
        for id in unknown {
            let before = lock(&self.locals).get(id).and_then(|local| local.unknown);
            let Some(UnknownClaim { fence, next_call }) = before else {
                if let Some(fence) = self.own_fence(id).await {
                    let next_call = self.calls.next();
                    let seen = UnknownClaim { fence, next_call };
                    lock(&self.locals).change(id, |local| local.unknown = Some(seen));
                }
                continue;
            };
            let is_being_made = !self.calls.are_done_before(next_call);
            if !is_being_made && !self.is_running(id) {
                self.release_one(id, fence).await;
            }
        }
    }

    /// The claimed executions that do not run here. Those that were found before and are not among
    /// them are forgotten.
    fn retain_unknown(&self, held: HashSet<ExecutionId>) -> HashSet<ExecutionId> {
        let mut locals = lock(&self.locals);
        let unknown = held.into_iter().filter(|id| locals.running(*id).is_none());
        let unknown: HashSet<ExecutionId> = unknown.collect();
        locals.change_all(|id, local| {
            local.unknown = local.unknown.filter(|_| unknown.contains(&id));
        });
        unknown
    }

    /// The fence of the claim of this process to an execution, if it has one.
    async fn own_fence(&self, id: ExecutionId) -> Option<u64> {
        let row = self.store.execution(id).await.ok()??;
        // Read after the fence: if the claim has changed meanwhile, that fence is no longer valid.
        let claim = self.store.claim_of(id).await.ok()??;
        (claim.holder == self.holder).then_some(row.fence)
    }
}
