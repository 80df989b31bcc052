//! The times at which something wakes in a run.

use super::Journal;
use crate::clock::sleep_until;

impl Journal {
    /// Sleeps until a time. This does not count as running, so a run that also waits for people can
    /// be paused until then.
    pub(crate) async fn sleep_until(&self, until_ms: u64) {
        if until_ms <= self.now_ms() {
            return;
        }
        *self.state().timers.entry(until_ms).or_default() += 1;
        let _timer = Timer {
            journal: self,
            until_ms,
        };
        sleep_until(&self.clock, until_ms).await;
    }

    /// The first time at which something wakes, including questions that expire.
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        let timer = self.next_timer();
        let expiry = self.questions().next_expiry_ms;
        timer.into_iter().chain(expiry).min()
    }

    /// The first time at which something other than a question wakes.
    pub(crate) fn next_timer(&self) -> Option<u64> {
        self.state().timers.first_key_value().map(|(at, _)| *at)
    }
}

/// Something that sleeps until a time.
struct Timer<'a> {
    journal: &'a Journal,
    until_ms: u64,
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        let mut state = self.journal.state();
        if let Some(count) = state.timers.get_mut(&self.until_ms) {
            *count -= 1;
            if *count == 0 {
                state.timers.remove(&self.until_ms);
            }
        }
    }
}
