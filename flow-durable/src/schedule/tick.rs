//! A time at which a schedule comes due.

use std::fmt;
use std::time::SystemTime;

use jiff::Zoned;

/// A time at which a schedule comes due. Displayed as RFC 9557 writes it:
/// `2026-11-25T03:00:00+01:00[Europe/Vienna]`.
///
/// It is the scheduled time, not the time at which the execution is started or begins. All
/// processes see the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    time: Zoned,
}

impl Tick {
    pub(crate) fn new(time: Zoned) -> Self {
        Tick { time }
    }

    /// The time in the time zone of the schedule.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    ///
    /// use flow_durable::schedule::Schedule;
    /// use serde_json::json;
    ///
    /// # fn main() -> Result<(), flow_durable::schedule::ScheduleError> {
    /// let schedule = Schedule::by_name("nightly", "30 3 * * *", "Report", |tick| {
    ///     json!({ "day": tick.time().date().to_string() })
    /// })?;
    /// let schedule = schedule.time_zone("Europe/Vienna")?;
    /// let tick = schedule.next_after(UNIX_EPOCH + Duration::from_secs(1_800_000_000)).unwrap();
    /// assert_eq!(tick.to_string(), "2027-01-16T03:30:00+01:00[Europe/Vienna]");
    /// assert_eq!(tick.time().date().to_string(), "2027-01-16");
    /// # Ok(()) }
    /// ```
    pub fn time(&self) -> &Zoned {
        &self.time
    }

    /// The time, independent of the time zone.
    pub fn at(&self) -> SystemTime {
        self.time.timestamp().into()
    }

    /// The id of the tick, unique within its schedule and independent of the time zone.
    pub(crate) fn id(&self) -> String {
        self.time.timestamp().to_string()
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.time.fmt(f)
    }
}
