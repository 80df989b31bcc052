//! The time until which an execution belongs to this process, as far as the process itself knows.
//!
//! The store refuses writes after the lease has run out and somebody else has claimed the
//! execution. But a step that begins then does not ask the store. So before a step begins, the
//! lease is checked by two clocks. A process that was stopped sees on both that time has passed,
//! and a process whose clock was set back still has the other one.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use flow_store::to_ms;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::clock::{Clock, millis};

/// A time until which executions are claimed, determined before the store is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Term {
    /// The start of the term, in milliseconds since 1970 (UTC). A claim counts as made then, even
    /// if the store is slow, so it is as long as the lease.
    pub(crate) from_ms: u64,
    /// The end of the term, in milliseconds since 1970 (UTC).
    pub(crate) until_ms: u64,
    until: Instant,
}

impl Term {
    /// The term that begins now.
    pub(crate) fn begin(clock: &Clock, lease: Duration) -> Self {
        let now = Instant::now();
        let lease_ms = millis(lease);
        let from_ms = to_ms(clock());
        Term {
            from_ms,
            until_ms: from_ms.saturating_add(lease_ms),
            // A lease without an end ends in the far future.
            until: now.checked_add(lease).unwrap_or(now + FAR),
        }
    }
}

const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// The lease of one execution.
pub(crate) struct Lease {
    clock: Clock,
    /// Notified when the lease has run out and somebody needs it.
    needed: Arc<Notify>,
    state: Mutex<State>,
}

struct State {
    term: Term,
    waiting: Vec<Waker>,
}

impl Lease {
    pub(crate) fn new(clock: Clock, needed: Arc<Notify>, term: Term) -> Self {
        Lease {
            clock,
            needed,
            state: Mutex::new(State {
                term,
                waiting: Vec::new(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the store has prolonged it.
    pub(crate) fn prolong(&self, term: Term) {
        let mut state = self.state();
        state.term = term;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Returns true if the execution belongs to this process now.
    pub(crate) fn is_held(&self) -> bool {
        self.is_within(self.state().term)
    }

    fn is_within(
        &self,
        Term {
            until_ms, until, ..
        }: Term,
    ) -> bool {
        Instant::now() < until && to_ms((self.clock)()) < until_ms
    }

    /// The length of the lease.
    pub(crate) fn length(&self) -> Duration {
        let Term {
            from_ms, until_ms, ..
        } = self.state().term;
        Duration::from_millis(until_ms.saturating_sub(from_ms))
    }

    /// Returns true if a step waits for the lease to be renewed.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.state().waiting.is_empty()
    }

    /// Returns when the execution belongs to this process: at once, or when the lease has been
    /// renewed. If the lease is lost, this never returns. The driver, which checks the store while
    /// a step waits here, drops the run.
    pub(crate) fn held(&self) -> impl Future<Output = ()> + Send {
        poll_fn(|cx| {
            let mut state = self.state();
            if self.is_within(state.term) {
                return Poll::Ready(());
            }
            state.waiting.push(cx.waker().clone());
            self.needed.notify_one();
            Poll::Pending
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::UNIX_EPOCH;

    use super::*;

    const LEASE: Duration = Duration::from_secs(30);

    fn lease(wall: &Arc<AtomicU64>) -> (Clock, Lease) {
        let wall = wall.clone();
        let clock: Clock =
            Arc::new(move || UNIX_EPOCH + Duration::from_secs(wall.load(Ordering::Relaxed)));
        let term = Term::begin(&clock, LEASE);
        (clock.clone(), Lease::new(clock, Arc::default(), term))
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_set_back_prolongs_no_lease() {
        let wall = Arc::new(AtomicU64::new(1000));
        let (clock, lease) = lease(&wall);
        tokio::time::advance(LEASE / 2).await;
        wall.store(0, Ordering::Relaxed);
        assert!(lease.is_held());
        tokio::time::advance(LEASE / 2).await;
        assert!(!lease.is_held());
        lease.prolong(Term::begin(&clock, LEASE));
        assert!(lease.is_held());
    }

    /// The other clock may stand still while the machine sleeps.
    #[tokio::test(start_paused = true)]
    async fn a_lease_is_over_when_the_clock_on_the_wall_says_so() {
        let wall = Arc::new(AtomicU64::new(1000));
        let (clock, lease) = lease(&wall);
        wall.store(1029, Ordering::Relaxed);
        assert!(lease.is_held());
        wall.store(1030, Ordering::Relaxed);
        assert!(!lease.is_held());
        let (held, ()) = tokio::join!(
            tokio::time::timeout(Duration::from_secs(1), lease.held()),
            async { lease.prolong(Term::begin(&clock, LEASE)) }
        );
        assert!(held.is_ok(), "who waits is woken");
    }
}
