//! The requests and tokens of the last minute.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};

const MINUTE: Duration = Duration::from_secs(60);

/// The requests and tokens of the last minute, and the queue of waiting requests.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    queue: tokio::sync::Mutex<()>,
    recent: Mutex<Recent>,
    /// Signals that a request has ended. Only the first of the queue waits for it.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Recent {
    /// The times at which requests began.
    begun: VecDeque<Instant>,
    /// The times at which requests ended, and their tokens.
    used: VecDeque<(Instant, u64)>,
    /// The tokens for which the requests under way count.
    reserved: u64,
    /// The time until which the provider wants no requests.
    closed_until: Option<Instant>,
}

/// The reason why a request has to wait.
enum Wait {
    Until(Instant),
    UntilOneEnds,
}

impl Rate {
    /// Waits to be the first of the queue.
    pub(crate) async fn queue(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.queue.lock().await // in the order in which it is called
    }

    /// Waits until a request fits, and counts it. Only the first of the queue may call it.
    pub(crate) async fn begin(
        rate: &Arc<Rate>,
        requests: Option<u32>,
        tokens: Option<u64>,
        expected: u64,
    ) -> Reserved {
        loop {
            let now = Instant::now();
            let wait = {
                let mut recent = rate.lock();
                recent.forget(now);
                let wait = recent.wait(requests, tokens, expected);
                if wait.is_none() {
                    recent.begun.push_back(now);
                    recent.reserved = recent.reserved.saturating_add(expected);
                }
                wait
            };
            let ended = rate.ended.notified();
            match wait {
                None => {
                    return Reserved {
                        rate: Arc::clone(rate),
                        expected,
                        used: expected,
                    };
                }
                Some(Wait::UntilOneEnds) => ended.await,
                Some(Wait::Until(time)) if tokens.is_none() => sleep_until(time).await,
                Some(Wait::Until(time)) => {
                    // An answer may have used less than expected.
                    let _ = timeout_at(time, ended).await;
                }
            }
        }
    }

    /// Ignores poisoning: a test that panicked reports it itself.
    fn lock(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    /// Removes everything that began or ended more than a minute ago.
    fn forget(&mut self, now: Instant) {
        let is_old = |time: Instant| now.duration_since(time) >= MINUTE;
        while self.begun.front().is_some_and(|time| is_old(*time)) {
            self.begun.pop_front();
        }
        while self.used.front().is_some_and(|(time, _)| is_old(*time)) {
            self.used.pop_front();
        }
        self.closed_until = self.closed_until.filter(|time| *time > now);
    }

    fn wait(&self, requests: Option<u32>, tokens: Option<u64>, expected: u64) -> Option<Wait> {
        if let Some(time) = self.closed_until {
            return Some(Wait::Until(time));
        }
        let is_full = requests.is_some_and(|limit| self.begun.len() >= limit as usize);
        if let Some(first) = self.begun.front().filter(|_| is_full) {
            return Some(Wait::Until(*first + MINUTE));
        }
        let used = self.used.iter().map(|(_, tokens)| *tokens);
        let counted = used.fold(self.reserved, u64::saturating_add);
        let fits = |limit: u64| counted == 0 || counted.saturating_add(expected) <= limit;
        if tokens.is_none_or(fits) {
            return None;
        }
        Some(match self.used.front() {
            Some((time, _)) => Wait::Until(*time + MINUTE),
            None => Wait::UntilOneEnds,
        })
    }
}

/// A request that is under way. Dropping it ends it.
pub(crate) struct Reserved {
    rate: Arc<Rate>,
    expected: u64,
    used: u64,
}

impl Reserved {
    /// Sets the number of tokens that it used. 0 means unknown.
    pub(crate) fn used(&mut self, tokens: u64) {
        if tokens > 0 {
            self.used = tokens;
        }
    }

    /// Closes the queue for the time in which the provider wants no requests.
    pub(crate) fn close_for(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut recent = self.rate.lock();
        recent.closed_until = recent.closed_until.max(until);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut recent = self.rate.lock();
        recent.reserved = recent.reserved.saturating_sub(self.expected);
        recent.used.push_back((Instant::now(), self.used));
        drop(recent);
        self.rate.ended.notify_one();
    }
}
