//! Waits for ticks and starts their executions.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use jiff::Timestamp;

use crate::clock::of_tokio;
use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::runtime::Runtime;

use super::cron::Schedule;
use super::error::ScheduleError;
use super::tick::Tick;

/// The longest sleep before the clock is read again: the clock may be set, and the machine may
/// sleep.
const LONGEST_SLEEP: Duration = Duration::from_secs(20);

/// A tick for which this process waited is not missed if the process wakes at most this late.
const SLOW: Duration = Duration::from_secs(60);

/// A clock that is behind by this much was set back, not merely adjusted.
const SET_BACK: Duration = SLOW;

/// The initial and the maximum delay between attempts to start.
const RETRY_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// The schedules of a process.
///
/// Any number of processes can run the same schedules on one store. Each tick is started once: its
/// name and time are the idempotency key of the execution. The store thus remembers ticks as long
/// as it has their executions. Do not delete these within the time that a schedule [catches
/// up](Schedule::catch_up).
#[derive(Clone)]
#[must_use = "nothing is started unless it runs"]
pub struct Schedules {
    schedules: Vec<Schedule>,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
    observers: Vec<Observer>,
}

type Observer = Arc<dyn Fn(&ScheduleEvent<'_>) + Send + Sync>;

/// An event of [`Schedules`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ScheduleEvent<'a> {
    /// The execution of a tick exists: this process started it, or another did before.
    Started {
        /// The schedule.
        schedule: &'a Schedule,
        /// The tick.
        tick: &'a Tick,
        /// The execution.
        execution: &'a Execution,
    },
    /// The execution of a tick could not be started. If the store failed, the start is retried. If
    /// another process has started it with another input, the tick is done. That process runs
    /// another version of the program, or the input depends on more than the tick.
    Failed {
        /// The schedule.
        schedule: &'a Schedule,
        /// The tick.
        tick: &'a Tick,
        /// The reason.
        error: &'a RuntimeError,
        /// True if the start is retried.
        is_tried_again: bool,
    },
    /// The store could not be read to find out since when the schedule is known. Until then no tick
    /// is started. The read is retried.
    Waits {
        /// The schedule.
        schedule: &'a Schedule,
        /// The reason.
        error: &'a RuntimeError,
    },
    /// The tick is too late, and perhaps more after it. The machine slept, the clock was set, or
    /// the store was not reachable.
    Missed {
        /// The schedule.
        schedule: &'a Schedule,
        /// The first tick that is too late.
        tick: &'a Tick,
    },
    /// The schedule has no further tick that can be represented.
    Over {
        /// The schedule.
        schedule: &'a Schedule,
    },
}

impl fmt::Display for ScheduleEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScheduleEvent::Started {
                schedule,
                tick,
                execution,
            } => {
                let (name, id) = (schedule.name(), execution.id());
                write!(f, "the tick {tick} of `{name}` is the execution {id}")
            }
            ScheduleEvent::Failed {
                schedule,
                tick,
                error,
                is_tried_again,
            } => {
                let name = schedule.name();
                let then = if *is_tried_again {
                    ", and is tried again"
                } else {
                    ""
                };
                write!(
                    f,
                    "the tick {tick} of `{name}` could not be started{then}: {error}"
                )
            }
            ScheduleEvent::Waits { schedule, error } => {
                let name = schedule.name();
                write!(f, "`{name}` waits for the store, and tries again: {error}")
            }
            ScheduleEvent::Missed { schedule, tick } => {
                let (name, late) = (schedule.name(), schedule.lateness().max(SLOW));
                write!(
                    f,
                    "`{name}` missed {tick}, and what else came due until {late:?} ago"
                )
            }
            ScheduleEvent::Over { schedule } => {
                write!(f, "`{}` never comes due again", schedule.name())
            }
        }
    }
}

impl Default for Schedules {
    fn default() -> Self {
        Schedules::new()
    }
}

impl Schedules {
    /// Creates an empty set of schedules.
    pub fn new() -> Self {
        Schedules {
            schedules: Vec::new(),
            clock: Arc::new(SystemTime::now),
            observers: Vec::new(),
        }
    }

    /// Adds a schedule.
    pub fn with(mut self, schedule: Schedule) -> Self {
        self.schedules.push(schedule);
        self
    }

    /// Adds a function to call for each event, for example to log it.
    pub fn observer(
        mut self,
        observer: impl Fn(&ScheduleEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Sets the clock that tells the current time, for tests. Sleeping uses tokio's clock: see also
    /// [`tokio_clock`](Schedules::tokio_clock).
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Lets the current time follow tokio's, which a test can pause: see
    /// [`RuntimeOptions::tokio_clock`](crate::RuntimeOptions::tokio_clock).
    pub fn tokio_clock(self) -> Self {
        self.clock(of_tokio)
    }

    /// The schedules, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Schedule> {
        self.schedules.iter()
    }

    /// Checks that the names are unique and that the flows are registered.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Twice`] and [`ScheduleError::NotRegistered`].
    pub fn check(&self, runtime: &Runtime) -> Result<(), ScheduleError> {
        let flows = runtime.flows();
        let mut names = BTreeSet::new();
        for schedule in &self.schedules {
            let name = || schedule.name().to_owned();
            if !names.insert(schedule.name()) {
                return Err(ScheduleError::Twice { schedule: name() });
            }
            if !flows.iter().any(|flow| flow.name() == schedule.flow()) {
                return Err(ScheduleError::NotRegistered {
                    schedule: name(),
                    flow: schedule.flow().to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Starts the execution of each tick, until the future is dropped.
    ///
    /// # Errors
    ///
    /// Errors of [`check`](Schedules::check), immediately. Later errors do not end it: errors of
    /// the store go to the [observer](Schedules::observer).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the execution of a tick may or may not have been started. If not,
    /// another process starts it, or this one when it runs the schedules again.
    pub async fn run(&self, runtime: &Runtime) -> Result<Infallible, ScheduleError> {
        self.check(runtime)?;
        join_all(self.schedules.iter().map(|one| self.run_one(one, runtime))).await;
        std::future::pending().await
    }

    /// Returns when there are no further ticks.
    async fn run_one(&self, schedule: &Schedule, runtime: &Runtime) {
        let now = (self.clock)();
        let known = self.known_since(schedule, now, runtime).await;
        // Everything before this time is done. A tick at exactly this time is not.
        let mut done = just_before(known.max(before(now, schedule.lateness())));
        while let Some(tick) = schedule.next_after(done) {
            if let Some(now) = self.sleep_until(tick.at(), done).await {
                // Ticks that have been started are not started again.
                done = just_before(now);
                continue;
            }
            if tick.at() < self.oldest(schedule) {
                self.tell(&ScheduleEvent::Missed {
                    schedule,
                    tick: &tick,
                });
                done = just_before(self.oldest(schedule));
                continue;
            }
            self.start(schedule, &tick, runtime).await;
            done = tick.at();
        }
        self.tell(&ScheduleEvent::Over { schedule });
    }

    /// The time since which the schedule is known, up to `now`. Waits until the store is readable.
    async fn known_since(
        &self,
        schedule: &Schedule,
        now: SystemTime,
        runtime: &Runtime,
    ) -> SystemTime {
        let text = Timestamp::try_from(now).map_or_else(|_| String::new(), |now| now.to_string());
        let [mut pause, longest] = RETRY_AFTER;
        loop {
            match runtime.write_once(&schedule.known_as(), &text).await {
                Ok(stored) => {
                    let known = stored.parse::<Timestamp>().map(SystemTime::from);
                    // It is later if the clock was set back since.
                    return known.map_or(now, |known| known.min(now));
                }
                Err(error) => self.tell(&ScheduleEvent::Waits {
                    schedule,
                    error: &error,
                }),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    fn tell(&self, event: &ScheduleEvent<'_>) {
        for observer in &self.observers {
            observer(event);
        }
    }

    /// The oldest time that is not too late.
    fn oldest(&self, schedule: &Schedule) -> SystemTime {
        before((self.clock)(), schedule.lateness().max(SLOW))
    }

    /// Sleeps until a time and returns `None`. If the clock is set back behind `done`, for example
    /// after it was far ahead, returns the new time.
    async fn sleep_until(&self, time: SystemTime, done: SystemTime) -> Option<SystemTime> {
        loop {
            let now = (self.clock)();
            let left = time.duration_since(now).ok()?;
            if left.is_zero() {
                return None;
            }
            if now < before(done, SET_BACK) {
                return Some(now);
            }
            tokio::time::sleep(left.min(LONGEST_SLEEP)).await;
        }
    }

    /// Starts the execution of a tick, and retries until it is too late.
    async fn start(&self, schedule: &Schedule, tick: &Tick, runtime: &Runtime) {
        let [mut pause, longest] = RETRY_AFTER;
        loop {
            let started = schedule.start(runtime, tick).await;
            let error = match &started {
                Ok(execution) => {
                    return self.tell(&ScheduleEvent::Started {
                        schedule,
                        tick,
                        execution,
                    });
                }
                Err(error) => error,
            };
            let is_tried_again =
                matches!(error, RuntimeError::Store(_)) && tick.at() >= self.oldest(schedule);
            self.tell(&ScheduleEvent::Failed {
                schedule,
                tick,
                error,
                is_tried_again,
            });
            if !is_tried_again {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }
}

fn before(time: SystemTime, by: Duration) -> SystemTime {
    let before = time.checked_sub(by).unwrap_or(SystemTime::UNIX_EPOCH);
    before.max(SystemTime::UNIX_EPOCH)
}

fn just_before(time: SystemTime) -> SystemTime {
    time - Duration::from_nanos(1)
}

impl fmt::Debug for Schedules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schedules").field(&self.schedules).finish()
    }
}
