//! The time, from a clock that a test can set.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use flow_runtime::prelude::*;
use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::TimeZoneDatabase;

use super::text::shortened;

/// A tool that tells the current date and time.
///
/// The rules of the time zones are compiled in.
///
/// # Examples
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use flow_agents::kit::CurrentTime;
///
/// let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
/// let clock = CurrentTime::at(move || second);
/// assert_eq!(clock.exec(None)?, "Current UTC time: 1970-01-01T00:00:01.000Z");
/// assert_eq!(
///     clock.exec(Some("Asia/Tokyo".into()))?,
///     "Current time in Asia/Tokyo: 1970-01-01T09:00:01.000+09:00"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CurrentTime {
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl CurrentTime {
    /// Uses the system clock.
    pub fn new() -> CurrentTime {
        CurrentTime::at(SystemTime::now)
    }

    /// Uses another clock.
    pub fn at(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> CurrentTime {
        let clock = Arc::new(clock);
        CurrentTime { clock }
    }
}

impl Default for CurrentTime {
    fn default() -> CurrentTime {
        CurrentTime::new()
    }
}

impl fmt::Debug for CurrentTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurrentTime").finish_non_exhaustive()
    }
}

/// Tells the current date and time, in ISO 8601 with milliseconds.
///
/// # Errors
/// See [`TimeError`].
#[node]
impl CurrentTime {
    /// Tells the current date and time; see [`CurrentTime`].
    ///
    /// # Errors
    /// See [`TimeError`].
    pub fn exec(
        &self,
        /// The IANA name of a time zone, such as `Europe/Berlin`. The default is UTC.
        timezone: Option<String>,
    ) -> Result<String, TimeError> {
        let now = Timestamp::try_from((self.clock)()).map_err(|_| TimeError::OutOfRange)?;
        let printer = DateTimePrinter::new().precision(Some(3));
        let name = timezone.as_deref().unwrap_or("UTC");
        if name.eq_ignore_ascii_case("UTC") {
            return Ok(format!(
                "Current UTC time: {}",
                printer.timestamp_to_string(&now)
            ));
        }
        let zone = TimeZoneDatabase::bundled().get(name).map_err(|_| {
            let name = shortened(name, 100);
            TimeError::UnknownZone { name }
        })?;
        let offset = zone.to_offset(now);
        let time = printer.timestamp_with_offset_to_string(&now, offset);
        let name = zone.iana_name().unwrap_or(name);
        Ok(format!("Current time in {name}: {time}"))
    }
}

/// The reason why the time is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    /// A time zone that the IANA does not list.
    #[error(
        "no time zone is called {name:?}; give an IANA name such as `Europe/Berlin`, or none for UTC"
    )]
    UnknownZone {
        /// The beginning of the name that was given.
        name: String,
    },
    /// A time before the year -9999 or after the year 9999.
    #[error("the clock is set to a year that has no date")]
    OutOfRange,
}
