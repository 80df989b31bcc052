//! Listens to the hints of the store, to notice the writes of other processes at once.

use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use flow_store::Store as _;
use futures_util::future::{Either, select};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Inner, Look, Once};

/// The interval at which waiters look for records if there are no hints.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The interval if there are hints. A crash can lose a hint.
const LOOK_AGAIN_WITH_HINTS: Duration = Duration::from_secs(2);

/// The pause after a look before the next hint is followed: one look serves many hints.
const AFTER_LOOK: Duration = Duration::from_millis(50);

/// The hints of the store.
#[derive(Default)]
pub(crate) struct Hints {
    are_live: Arc<AtomicBool>,
    listening: Once,
    /// Notified when there may be work that another process has left.
    pub(crate) work: Arc<Notify>,
}

/// Marks the hints as no longer live when it is dropped.
struct Listening(Arc<AtomicBool>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Hints {
    /// The time to wait before looking for records that another process has written without a
    /// notification.
    pub(crate) fn look_again(&self) -> Duration {
        if self.are_live.load(Ordering::Acquire) {
            LOOK_AGAIN_WITH_HINTS
        } else {
            LOOK_AGAIN
        }
    }
}

/// Returns when it is time to look for work: after the interval or, with `on_hints`, at a hint that
/// does not come at once after the last look.
pub(super) async fn time_to_look(
    every: Duration,
    work: &Notify,
    on_hints: bool,
    last: Instant,
) -> Look {
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

impl Inner {
    /// Listens for as long as the runtime lives, if the store has hints.
    pub(crate) fn keep_listening(self: &Arc<Self>) {
        let (inner, gone) = (Arc::downgrade(self), self.gone.0.clone());
        let are_live = self.hints.are_live.clone();
        self.hints.listening.spawn(async move {
            let changes = inner.upgrade().and_then(|inner| inner.store.changes());
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
                let Some(inner) = Weak::upgrade(&inner) else {
                    return;
                };
                let was_live = listening.0.swap(change.is_live, Ordering::AcqRel);
                // Waiters that rely on hints have to know when there are no longer any.
                if change.records || was_live != change.is_live {
                    inner.committed.notify_waiters();
                }
                if change.work {
                    inner.hints.work.notify_one();
                }
            }
        });
    }
}
