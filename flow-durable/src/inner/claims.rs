//! Makes, renews and gives up the claims of this process, and watches claims of others.

use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use flow_store::{Append, Claim, ExecutionId, Row, Status, Store, StoreError};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Inner, lock, millis};
use crate::error::RuntimeError;
use crate::lease::Term;

/// The fence of the claim with which an execution is created.
pub(crate) const FIRST_FENCE: u64 = 1;

/// A claim to an execution that may have been stored. Dropping this gives the claim up, because
/// nothing runs the execution.
pub(crate) struct UnusedClaim<'a>(pub(crate) &'a Inner, pub(crate) ExecutionId);

impl UnusedClaim<'_> {
    pub(crate) fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for UnusedClaim<'_> {
    fn drop(&mut self) {
        self.0.to_release(self.1, FIRST_FENCE);
    }
}

/// The calls that are making claims. Until they are done, the store may have a claim of this
/// process to an execution that does not run yet.
#[derive(Default)]
pub(crate) struct Claiming {
    calls: Mutex<Calls>,
    /// Notified when the last call is done.
    done: Notify,
}

#[derive(Default)]
struct Calls {
    next: u64,
    under_way: BTreeSet<u64>,
}

/// A call that makes claims, until the claimed executions run or have been given up.
pub(crate) struct Call<'a>(&'a Claiming, u64);

impl Claiming {
    pub(crate) fn begin(&self) -> Call<'_> {
        let mut calls = lock(&self.calls);
        let number = calls.next;
        calls.next += 1;
        calls.under_way.insert(number);
        Call(self, number)
    }

    /// The number of the next call.
    fn next(&self) -> u64 {
        lock(&self.calls).next
    }

    /// Returns true if no call before this number is under way.
    fn are_done_before(&self, number: u64) -> bool {
        let calls = lock(&self.calls);
        calls.under_way.first().is_none_or(|first| *first >= number)
    }

    /// Returns when no call is under way.
    pub(crate) async fn all_done(&self) {
        loop {
            let mut done = pin!(self.done.notified());
            done.as_mut().enable();
            if lock(&self.calls).under_way.is_empty() {
                return;
            }
            done.await;
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut calls = lock(&self.0.calls);
        calls.under_way.remove(&self.1);
        if calls.under_way.is_empty() {
            self.0.done.notify_waiters();
        }
    }
}

/// A claim of this process to an execution that it does not run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unknown {
    fence: u64,
    /// The number of the next call that makes claims, at the time this was seen.
    next_call: u64,
}

/// A claim whose holder may be gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    pub(crate) claim: Claim,
    /// The time since which the claim has been unchanged.
    pub(crate) since: Instant,
}

impl Inner {
    pub(crate) async fn claim(
        &self,
        id: ExecutionId,
        term: Term,
    ) -> Result<Option<Row>, RuntimeError> {
        let Term {
            from_ms, until_ms, ..
        } = term;
        let claimed = self.store.claim(id, self.holder, from_ms, until_ms).await;
        claimed.map_err(RuntimeError::of(id))
    }

    pub(crate) fn new_claim(&self, term: Term) -> Claim {
        Claim {
            holder: self.holder,
            until_ms: term.until_ms,
            lease_ms: millis(self.options.lease),
        }
    }

    /// The term of claims that are made or renewed now.
    pub(crate) fn term(&self) -> Term {
        Term::begin(&self.options.clock, self.options.lease)
    }

    /// Notes that a claim is to be given up. A newer claim to the same execution stays noted.
    pub(crate) fn to_release(&self, id: ExecutionId, fence: u64) {
        let mut unreleased = lock(&self.unreleased);
        let newest = unreleased.entry(id).or_insert(fence);
        *newest = (*newest).max(fence);
    }

    /// Gives up the executions that this process cannot continue, so that it or another process can
    /// retry at once.
    pub(crate) async fn release(&self) {
        let unreleased: Vec<_> = lock(&self.unreleased)
            .iter()
            .map(|(id, fence)| (*id, *fence))
            .collect();
        for (id, fence) in unreleased {
            self.release_one(id, fence).await;
        }
    }

    /// Gives up one execution. If the store fails, this is retried before claims are renewed.
    pub(crate) async fn release_one(&self, id: ExecutionId, fence: u64) {
        let Ok(row) = self.store.without_result(id).await else {
            return;
        };
        let paused = row.filter(|row| row.status == Status::Paused);
        let append = Append {
            release: true,
            // The timer stays: this write would remove it.
            timer_ms: paused.and_then(|row| row.wake_ms),
            now_ms: self.now_ms(),
            ..Append::default()
        };
        let released = self.store.append(id, fence, append).await;
        if let Ok(()) | Err(StoreError::LeaseLost(_) | StoreError::NotFound(_)) = released {
            let mut unreleased = lock(&self.unreleased);
            if unreleased.get(&id) == Some(&fence) {
                unreleased.remove(&id);
            }
        }
    }

    /// Renews the claims of this process for as long as it lives: in time, or when an expired claim
    /// is needed.
    pub(crate) fn keep_renewing(self: &Arc<Self>) {
        let (inner, every) = (Arc::downgrade(self), self.options.lease / 3);
        let needed = self.renew.clone();
        self.renewing.spawn(async move {
            loop {
                // Both are reasons to renew.
                let _ = tokio::time::timeout(every, needed.notified()).await;
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                inner.renew().await;
            }
        });
    }

    pub(crate) async fn renew(&self) {
        let before: Vec<_> = lock(&self.active)
            .iter()
            .map(|(id, run)| (*id, run.clone()))
            .collect();
        self.release().await;
        if before.is_empty() {
            return;
        }
        let _ = self.set_clock().await;
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
    async fn give_up_unknown(&self, mut held: HashMap<ExecutionId, u64>) {
        {
            let active = lock(&self.active);
            held.retain(|id, _| !active.contains_key(id));
        }
        lock(&self.unknown).retain(|id, _| held.contains_key(id));
        for (id, fence) in held {
            let before = lock(&self.unknown).get(&id).copied();
            let Some(Unknown { fence, next_call }) = before else {
                let next_call = self.claiming.next();
                lock(&self.unknown).insert(id, Unknown { fence, next_call });
                continue;
            };
            let is_being_made = !self.claiming.are_done_before(next_call);
            if !is_being_made && !lock(&self.active).contains_key(&id) {
                self.release_one(id, fence).await;
            }
        }
    }

    /// Resumes an execution if it can be claimed. If not, it is due because its claim is ahead of
    /// this clock. This then watches the claim, and breaks it if nobody has renewed it for its
    /// whole length, measured by a clock that cannot be set.
    pub(crate) async fn launch_or_watch(
        self: &Arc<Self>,
        id: ExecutionId,
        watched: &mut HashMap<ExecutionId, Watched>,
    ) -> Result<bool, RuntimeError> {
        let refused = match self.launch(id).await {
            Ok(true) => return Ok(true),
            Ok(false) => None,
            Err(error @ RuntimeError::NotRegistered { .. }) => Some(error),
            Err(error) => return Err(error),
        };
        let claim = self
            .store
            .claim_of(id)
            .await
            .map_err(RuntimeError::of(id))?;
        let now_ms = self.now_ms();
        let claim = match (claim, refused) {
            // Another process that has its flow may be running it.
            (Some(claim), Some(_)) if claim.is_valid(now_ms) => return Ok(false),
            (_, Some(error)) => return Err(error),
            (Some(claim), None) if claim.is_ahead(now_ms) => claim,
            _ => return Ok(false),
        };
        let before = lock(&self.watched).get(&id).copied();
        let seen = before.filter(|before| before.claim == claim);
        let seen = seen.unwrap_or(Watched {
            claim,
            since: Instant::now(),
        });
        if seen.since.elapsed() < Duration::from_millis(claim.lease_ms) {
            watched.insert(id, seen);
            return Ok(false);
        }
        let broken = self.store.break_claim(id, claim).await;
        Ok(broken.map_err(RuntimeError::of(id))? && self.launch(id).await?)
    }
}
