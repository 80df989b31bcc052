//! Errors of schedules.

/// The reason why a [`Schedule`](super::Schedule) cannot be made, or why
/// [`Schedules`](super::Schedules) cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The expression cannot be read.
    #[error(
        "the schedule `{schedule}` has the cron expression `{expression}`, which cannot be read: {reason}"
    )]
    Expression {
        /// The name of the schedule.
        schedule: String,
        /// The expression.
        expression: String,
        /// The parser's reason.
        reason: String,
    },
    /// The name of the time zone is unknown.
    #[error(
        "the schedule `{schedule}` has an unknown time zone, `{time_zone}`: write one as `Europe/Vienna` or `UTC`"
    )]
    TimeZone {
        /// The name of the schedule.
        schedule: String,
        /// The time zone.
        time_zone: String,
    },
    /// Its expression describes no time, such as the 30th of February.
    #[error("the schedule `{schedule}` never comes due: no time is `{expression}`")]
    Never {
        /// The name of the schedule.
        schedule: String,
        /// The expression.
        expression: String,
    },
    /// Two schedules have the same name.
    #[error("two schedules are named `{schedule}`")]
    Twice {
        /// The name.
        schedule: String,
    },
    /// The runtime does not know the flow.
    #[error("the schedule `{schedule}` starts the flow `{flow}`, which is not registered")]
    NotRegistered {
        /// The name of the schedule.
        schedule: String,
        /// The name of the flow.
        flow: String,
    },
}
