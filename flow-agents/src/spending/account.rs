//! Owners who spend money, by day.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const SECONDS: u64 = 24 * 60 * 60;

/// A day, as the number of days since 1970-01-01.
///
/// # Examples
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
///
/// use flow_agents::Day;
///
/// let noon = UNIX_EPOCH + Duration::from_secs(20_000 * 86_400 + 43_200);
/// assert_eq!(Day::utc(noon), Day(20_000));
/// ```
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Day(pub u32);

impl Day {
    /// The UTC day of this time. Times outside the range give the first or the last day.
    pub fn utc(time: SystemTime) -> Day {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Day(u32::try_from(since.as_secs() / SECONDS).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The spending of an owner on a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Account {
    /// The owner, such as a user or a team, by any name.
    pub owner: String,
    /// The day.
    pub day: Day,
}

impl Account {
    /// The account of an owner on a day.
    pub fn new(owner: impl Into<String>, day: Day) -> Account {
        let owner = owner.into();
        Account { owner, day }
    }
}
