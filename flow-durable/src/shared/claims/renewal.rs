//! The renewal of the claims of this process.

use std::collections::HashMap;
use std::sync::Arc;

use flow_store::ExecutionId;
use tokio::sync::Notify;

use super::Claims;
use super::local::UnknownClaim;
use crate::lock::lock;

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
        let held: HashMap<ExecutionId, u64> = held
            .into_iter()
            .map(|renewal| (renewal.id, renewal.fence))
            .collect();
        for (id, run) in before {
            // A newer claim is that of a later run of this process, and somebody else may have had
            // the execution in between.
            if held.get(&id) == Some(&run.fence) {
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
    async fn give_up_unknown(&self, held: HashMap<ExecutionId, u64>) {
        for (id, fence) in self.retain_unknown(held) {
            let before = lock(&self.locals).get(id).and_then(|local| local.unknown);
            let before = before.filter(|before| before.fence == fence);
            let Some(UnknownClaim { next_call, .. }) = before else {
                let next_call = self.calls.next();
                let seen = UnknownClaim { fence, next_call };
                lock(&self.locals).change(id, |local| local.unknown = Some(seen));
                continue;
            };
            let is_being_made = !self.calls.are_done_before(next_call);
            if !is_being_made && !self.is_running(id) {
                self.release_one(id, fence).await;
            }
        }
    }

    /// The claimed executions that do not run here, with the fences of their claims. Those that
    /// were found before and are not among them are forgotten.
    fn retain_unknown(&self, mut held: HashMap<ExecutionId, u64>) -> HashMap<ExecutionId, u64> {
        let mut locals = lock(&self.locals);
        held.retain(|id, _| locals.running(*id).is_none());
        locals.change_all(|id, local| {
            local.unknown = local.unknown.filter(|_| held.contains_key(&id));
        });
        held
    }
}
