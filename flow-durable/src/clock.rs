//! The clock for times that are stored.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{self, Duration, SystemTime};

use flow_store::{Store, StoreError, to_ms};
use tokio::time::Instant;

/// The clock for times that are stored.
pub(crate) type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// The interval at which a sleeper checks the clock, which may have been set.
const LOOK_AT_CLOCK: Duration = Duration::from_secs(1);

/// The interval at which a store is asked for the time.
const ASK_STORE: Duration = Duration::from_secs(10);

/// The time by tokio's clock. Every tokio runtime of the process that does not pause its clock has the
/// same time, and so have all uses in one that does.
pub(crate) fn of_tokio() -> SystemTime {
    static BEGAN: LazyLock<(SystemTime, time::Instant)> =
        LazyLock::new(|| (SystemTime::now(), time::Instant::now()));
    let (began, instant) = *BEGAN;
    let now = Instant::now().into_std();
    match now.checked_duration_since(instant) {
        Some(since) => began + since,
        // A test had paused tokio's clock before.
        None => began - instant.duration_since(now),
    }
}

/// A duration in milliseconds.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Sleeps until the clock shows this time, in milliseconds since 1970 (UTC).
pub(crate) async fn sleep_until(clock: &Clock, until_ms: u64) {
    loop {
        let left = until_ms.saturating_sub(to_ms(clock()));
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(left).min(LOOK_AT_CLOCK)).await;
    }
}

/// A clock of this process that is set by the clock of the store, if the store has one. All
/// processes on the store then have the same time, except for the delay of the store's answer.
pub(crate) struct SetByStore {
    own: Clock,
    /// The number of milliseconds by which the clock of the store is ahead.
    ahead_ms: AtomicI64,
    ask: Mutex<Ask>,
}

/// The time of the next request to the store.
#[derive(Debug, Clone, Copy)]
enum Ask {
    AtOnce,
    From(Instant),
    /// The store has no clock.
    Never,
}

impl SetByStore {
    pub(crate) fn new(own: Clock) -> Arc<Self> {
        Arc::new(SetByStore {
            own,
            ahead_ms: AtomicI64::new(0),
            ask: Mutex::new(Ask::AtOnce),
        })
    }

    /// Returns a clock that shows this time.
    pub(crate) fn shown(self: &Arc<Self>) -> Clock {
        let this = self.clone();
        Arc::new(move || this.now())
    }

    fn now(&self) -> SystemTime {
        let (own, ahead_ms) = ((self.own)(), self.ahead_ms.load(Ordering::Relaxed));
        let by = Duration::from_millis(ahead_ms.unsigned_abs());
        let set = if ahead_ms < 0 {
            own.checked_sub(by)
        } else {
            own.checked_add(by)
        };
        set.unwrap_or(own)
    }

    /// Sets the clock, unless it was set recently. Fails only if it has never been set.
    pub(crate) async fn set_by(&self, store: &dyn Store) -> Result<(), StoreError> {
        let asked = Instant::now();
        let is_first = match self.next_ask(asked) {
            Ask::Never => return Ok(()),
            Ask::From(at) if asked < at => return Ok(()),
            Ask::From(_) => false,
            Ask::AtOnce => true,
        };
        let store_ms = match store.clock_ms().await {
            Ok(Some(store_ms)) => store_ms,
            Ok(None) => {
                self.ask_next(Ask::Never);
                return Ok(());
            }
            Err(error) if is_first => return Err(error),
            Err(_) => return Ok(()),
        };
        // The store read its clock at some time between the request and its answer.
        let error_ms = asked.elapsed().as_millis() as i64 / 2;
        let ahead_ms = difference(store_ms, to_ms((self.own)())).saturating_add(error_ms);
        let change = ahead_ms.saturating_sub(self.ahead_ms.load(Ordering::Relaxed));
        if is_first || change.unsigned_abs() > error_ms.unsigned_abs() + 1 {
            self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        }
        self.ask_next(Ask::From(asked + ASK_STORE));
        Ok(())
    }

    /// Returns when to ask the store. While one caller asks, the others need not.
    fn next_ask(&self, now: Instant) -> Ask {
        let mut ask = self.ask.lock().unwrap_or_else(PoisonError::into_inner);
        let next = *ask;
        if let Ask::From(at) = next
            && at <= now
        {
            *ask = Ask::From(now + ASK_STORE);
        }
        next
    }

    fn ask_next(&self, next: Ask) {
        *self.ask.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }
}

fn difference(later: u64, earlier: u64) -> i64 {
    let signed = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    signed(later) - signed(earlier)
}
