//! The loops in which a runtime looks for work, for as long as it lives.

use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use flow_store::Store as _;
use futures_util::future::{Either, select};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Look, Shared};

/// The pause after a look before the next hint is followed: one look serves many hints.
const AFTER_LOOK: Duration = Duration::from_millis(50);

/// Marks the hints as no longer live when it is dropped.
struct Listening(Arc<AtomicBool>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Returns when it is time to look for work: after the interval or, with `on_hints`, at a hint that
/// does not come at once after the last look.
async fn time_to_look(every: Duration, work: &Notify, on_hints: bool, last: Instant) -> Look {
    let hinted = async {
        if !on_hints {
            pending::<()>().await;
        }
        work.notified().await;
        tokio::time::sleep_until(last + AFTER_LOOK).await;
    };
    match tokio::time::timeout(every, hinted).await {
        Ok(()) => Look::Hinted,
        Err(_) => Look::Timed,
    }
}

impl Shared {
    /// Renews the claims of this process for as long as it lives.
    pub(crate) fn keep_renewing(self: &Arc<Self>) {
        let (shared, every) = (Arc::downgrade(self), self.options.lease / 3);
        let needed = self.claims.renewal_needed();
        self.tasks.renewing.spawn(async move {
            loop {
                // In time, or when an expired claim is needed: both are reasons to renew.
                let _ = tokio::time::timeout(every, needed.notified()).await;
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                shared.claims.renew().await;
            }
        });
    }

    /// Resumes executions that other processes have left, from time to time and at hints.
    pub(crate) fn keep_recovering(self: &Arc<Self>) {
        let (shared, every) = (Arc::downgrade(self), self.options.lease / 3);
        let (gone, work) = (self.tasks.gone.0.clone(), self.hints.work.clone());
        let takes_often = self.options.takes_often();
        self.tasks.recovering.spawn(async move {
            loop {
                let last = Instant::now();
                // If it takes often, `keep_taking` follows the hints instead.
                let again = pin!(time_to_look(every, &work, !takes_often, last));
                let ended = pin!(gone.cancelled());
                let Either::Left((look, _)) = select(again, ended).await else {
                    return;
                };
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                // A failure is retried the next time.
                let _ = shared.recover(look).await;
            }
        });
    }

    /// Looks for work for as long as the runtime lives: when a slot becomes free, when an execution
    /// that was queued here is due, and from time to time.
    pub(crate) fn keep_taking(self: &Arc<Self>) {
        if self.queue.slots.are_none() {
            return;
        }
        let (shared, every) = (Arc::downgrade(self), self.options.look_for_work_every());
        let (slots, queued) = (self.queue.slots.clone(), self.queue.queued.clone());
        let (clock, gone) = (self.options.clock.clone(), self.tasks.gone.0.clone());
        let (work, takes_often) = (self.hints.work.clone(), self.options.takes_often());
        self.tasks.taking.spawn(async move {
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
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                if shared.tasks.are_draining() {
                    return;
                }
                // A failure is retried the next time.
                if shared.options.takes_often() {
                    // Some executions may have found no slot to resume, or another process may have
                    // given them up.
                    let _ = shared.recover(look).await;
                } else {
                    let _ = shared.take_queued().await;
                }
            }
        });
    }

    /// Resumes executions that this process has paused when their time has come, unless somebody
    /// else has done so.
    pub(crate) fn keep_waking(self: &Arc<Self>) {
        let (shared, alarm) = (Arc::downgrade(self), self.queue.paused.clone());
        let (clock, gone) = (self.options.clock.clone(), self.tasks.gone.0.clone());
        self.tasks.waking.spawn(async move {
            loop {
                let next = pin!(alarm.next(&clock));
                let Either::Left((id, _)) = select(next, pin!(gone.cancelled())).await else {
                    return;
                };
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                shared.try_to_launch(id).await;
            }
        });
    }

    /// Listens for as long as the runtime lives, if the store has hints.
    pub(crate) fn keep_listening(self: &Arc<Self>) {
        let (shared, gone) = (Arc::downgrade(self), self.tasks.gone.0.clone());
        let are_live = self.hints.are_live.clone();
        self.tasks.listening.spawn(async move {
            let changes = shared.upgrade().and_then(|shared| shared.store.changes());
            let Some(mut changes) = changes else {
                return;
            };
            let listening = Listening(are_live);
            loop {
                let ended = pin!(gone.cancelled());
                let next = select(changes.next(), ended).await;
                let Either::Left((change, _)) = next else {
                    return;
                };
                let Some(shared) = Weak::upgrade(&shared) else {
                    return;
                };
                let was_live = listening.0.swap(change.is_live, Ordering::AcqRel);
                // Waiters that rely on hints have to know when there are no longer any.
                if change.records || was_live != change.is_live {
                    shared.committed.notify_waiters();
                }
                if change.work {
                    shared.hints.work.notify_one();
                }
            }
        });
    }
}
