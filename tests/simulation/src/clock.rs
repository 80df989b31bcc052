//! The clock on the wall, which outlives processes, and which somebody may set forward between two
//! readings.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// The clock on the wall.
#[derive(Debug)]
pub(crate) struct Wall(Mutex<State>);

#[derive(Debug)]
struct State {
    /// What it showed at the time from which on it goes.
    shows: SystemTime,
    /// `None` between two processes.
    since: Option<Instant>,
    jump: Option<Jump>,
}

/// The clock is set forward to a time.
#[derive(Debug)]
struct Jump {
    /// How many readings come before.
    readings: u64,
    to: SystemTime,
}

impl Wall {
    /// A clock that shows this time, in milliseconds since 1970 (UTC).
    pub(crate) fn at(ms: u64) -> Self {
        Wall::showing(UNIX_EPOCH + Duration::from_millis(ms))
    }

    /// A clock that shows this time.
    pub(crate) fn showing(shows: SystemTime) -> Self {
        Wall(Mutex::new(State {
            shows,
            since: None,
            jump: None,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process begins, whose time begins now.
    pub(crate) fn goes_from(&self, now: Instant) {
        self.state().since = Some(now);
    }

    /// The process has ended.
    pub(crate) fn stays(&self) {
        let mut state = self.state();
        state.shows = state.now() + Duration::from_millis(1);
        (state.since, state.jump) = (None, None);
    }

    /// After so many readings, the clock is set forward to a moment after this time.
    pub(crate) fn jump(&self, readings: u64, to: SystemTime) {
        let to = to + Duration::from_millis(1);
        self.state().jump = Some(Jump { readings, to });
    }

    /// What it shows now.
    pub(crate) fn read(&self) -> SystemTime {
        let mut state = self.state();
        let now = state.now();
        match &mut state.jump {
            None => return now,
            Some(jump) if jump.readings > 0 => {
                jump.readings -= 1;
                return now;
            }
            Some(_) => {}
        }
        if let Some(jump) = state.jump.take()
            && let Ok(ahead) = jump.to.duration_since(now)
        {
            state.shows += ahead;
        }
        state.now()
    }
}

impl State {
    fn now(&self) -> SystemTime {
        let elapsed = self.since.map(|since| since.elapsed());
        self.shows + elapsed.unwrap_or_default()
    }
}
