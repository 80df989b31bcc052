//! The times at which something wakes in a run.

use std::time::Duration;

use flow_runtime::engine::{Pause, Place};
use flow_store::RecordKind;
use tokio::time::Instant;

use super::{Journal, NewRecord};
use crate::clock::{millis, sleep_until};

/// The minimum length of a wait for which an execution leaves memory and is read again.
const LONG_WAIT: Duration = Duration::from_secs(5);

impl Journal {
    /// Sleeps until a time. This does not count as running, so a run that has nothing else to do is
    /// paused until then, if the time is [long](Journal::waits_long).
    pub(crate) async fn sleep_until(&self, until_ms: u64) {
        if until_ms <= self.now_ms() {
            return self.let_others_have_mail().await;
        }
        *self.state().timers.entry(until_ms).or_default() += 1;
        let timer = Timer {
            journal: self,
            until_ms,
        };
        sleep_until(&self.clock, until_ms).await;
        drop(timer);
        self.let_others_have_mail().await;
    }

    /// The first time at which something wakes, including the expiry of questions and of waits for
    /// signals.
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        let timer = self.next_timer();
        let expiry = self.awaited_outside().next_expiry_ms;
        timer.into_iter().chain(expiry).min()
    }

    /// Returns true if the run waits for a time, and the wait is long.
    pub(crate) fn waits_long(&self) -> bool {
        let until_ms = self.after_ms(LONG_WAIT);
        self.next_timer().is_some_and(|at| at >= until_ms)
    }

    /// Sleeps within a running step, which does not count as running meanwhile. The end of a pause
    /// between attempts is recorded, so that no attempt is made earlier; a poll may ask sooner.
    /// Returns false, without sleeping, if the step should stay: the pause is short, the step has a
    /// transaction, or its attempts would be counted anew.
    pub(crate) async fn rest(&self, place: &Place, pause: Pause, instant: Instant) -> bool {
        let length = instant.saturating_duration_since(Instant::now());
        let keeps_step = pause == Pause::AttemptToAsk || self.keeps_writes();
        if length < LONG_WAIT || keeps_step {
            return false;
        }
        let until_ms = self.after_ms(length);
        if let Pause::Attempt(attempt) = pause {
            self.add(NewRecord {
                kind: RecordKind::Waiting,
                place,
                attempt,
                payload: until_ms.to_string(),
            });
        }
        let _resting = self.resting();
        self.sleep_until(until_ms).await;
        true
    }

    /// Waits for the end of a pause between two attempts in which an earlier run left a step.
    pub(crate) async fn rested(&self, place: &Place) {
        let until_ms = self.replaying(|replay| replay.rests_until(place));
        if let Some(until_ms) = until_ms {
            self.sleep_until(until_ms).await;
        }
    }

    /// The time after this duration, in milliseconds since 1970 (UTC).
    fn after_ms(&self, duration: Duration) -> u64 {
        let duration = millis(duration);
        self.now_ms().saturating_add(duration)
    }

    /// The first time at which something wakes, apart from questions, whose expiry the store knows,
    /// when the run pauses.
    pub(crate) fn pause_timer(&self) -> Option<u64> {
        let expiry = self.state().signals.next_expiry_ms();
        self.next_timer().into_iter().chain(expiry).min()
    }

    /// The first time at which a timer ends.
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
