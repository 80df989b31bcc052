//! A flow and the times at which it is started.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use flow_runtime::engine::{Json, Saved, StoredFlow, Unstorable};
use flow_runtime::{BoxFuture, Flow};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use crate::error::RuntimeError;
use crate::execution::Execution;
use crate::options::StartOptions;
use crate::runtime::Runtime;

use super::error::ScheduleError;
use super::tick::Tick;

/// The default of [`Schedule::catch_up`].
const CATCH_UP: Duration = Duration::from_secs(60);

type Starting = BoxFuture<'static, Result<Execution, RuntimeError>>;
type Start = dyn Fn(&Runtime, &Tick, StartOptions) -> Starting + Send + Sync;

/// A flow that is started at the times of a cron expression.
///
/// The expression has the five fields of crontab: minute, hour, day of the month, month, day of the
/// week (0 and 7 are Sunday). An optional field before them is the second. As in crontab, a day
/// matches if one of the two day fields does, unless one of them is `*`. With `+` before the day of
/// the week, both must match. `L` is the last day of a month, `15W` the working day nearest to the
/// 15th, `FRI#2` the second Friday, `FRI#L` the last one. `@hourly`, `@daily`, `@weekly`,
/// `@monthly` and `@yearly` are known. The crate [croner](https://docs.rs/croner) parses it.
///
/// When clocks are set forward, a time that is skipped comes due right after the change, and two
/// such times together. When they are set back, a time that occurs twice comes due only the first
/// time. But if the field of the hour has a `*`, as in `*/2`, the expression matches actual hours:
/// skipped hours do not come due, and repeated hours come due twice.
#[derive(Clone)]
#[must_use = "nothing is started unless `Schedules` runs it"]
pub struct Schedule {
    name: String,
    expression: String,
    times: Cron,
    time_zone: TimeZone,
    is_of_each_hour: bool,
    flow: String,
    start: Arc<Start>,
    options: StartOptions,
    catch_up: Duration,
}

impl Schedule {
    /// Creates a schedule that starts this flow. The input must depend only on the tick: each
    /// process computes it, and the first one starts the execution.
    ///
    /// The name distinguishes the schedule from others on the same store. Under another name, or
    /// with another flow, ticks that were already started are started again.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Expression`] and [`ScheduleError::Never`].
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use flow_durable::schedule::Schedule;
    ///
    /// #[node]
    /// fn report(day: &str) -> String {
    ///     format!("what happened on {day}")
    /// }
    ///
    /// flow! {
    ///     Report(day: String) -> (report: String) {
    ///         start >> report >> end;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), flow_durable::schedule::ScheduleError> {
    /// let nightly = Schedule::new::<Report>("nightly", "0 3 * * *", |tick| ReportInput {
    ///     day: tick.time().date().to_string(),
    /// })?;
    /// let nightly = nightly.time_zone("Europe/Vienna")?;
    /// assert_eq!(nightly.flow(), "Report");
    ///
    /// let error = Schedule::by_name("nightly", "0 25 * * *", "Report", |_| Default::default());
    /// assert!(error.unwrap_err().to_string().contains("0 25 * * *"));
    /// # Ok(()) }
    /// ```
    pub fn new<F: StoredFlow<Json> + 'static>(
        name: impl Into<String>,
        expression: impl Into<String>,
        input: impl Fn(&Tick) -> F::Input + Send + Sync + 'static,
    ) -> Result<Self, ScheduleError> {
        let start = move |runtime: &Runtime, tick: &Tick, options| -> Starting {
            let (runtime, input) = (runtime.clone(), F::save_input(&input(tick)));
            // As JSON, since the registered flow may have been loaded from a document.
            Box::pin(async move {
                let Saved(input) = input.map_err(unstorable::<F>)?;
                runtime
                    .executions()
                    .start_json(F::NAME, input.into(), options)
                    .await
            })
        };
        Schedule::with(name.into(), expression.into(), F::NAME, Arc::new(start))
    }

    /// Creates a schedule for a flow that is known only by name, such as a loaded one. Otherwise
    /// like [`new`](Schedule::new).
    ///
    /// # Errors
    ///
    /// Errors of [`new`](Schedule::new).
    pub fn by_name(
        name: impl Into<String>,
        expression: impl Into<String>,
        flow: impl Into<String>,
        input: impl Fn(&Tick) -> Value + Send + Sync + 'static,
    ) -> Result<Self, ScheduleError> {
        let flow = flow.into();
        let started = flow.clone();
        let start = move |runtime: &Runtime, tick: &Tick, options| -> Starting {
            let (runtime, flow, input) = (runtime.clone(), started.clone(), input(tick));
            Box::pin(async move { runtime.executions().start_json(&flow, input, options).await })
        };
        Schedule::with(name.into(), expression.into(), &flow, Arc::new(start))
    }

    fn with(
        name: String,
        expression: String,
        flow: &str,
        start: Arc<Start>,
    ) -> Result<Self, ScheduleError> {
        let parser = CronParser::builder();
        let parser = parser.seconds(Seconds::Optional).year(Year::Disallowed);
        let times = match parser.build().parse(&expression) {
            Ok(times) => times,
            Err(error) => {
                return Err(ScheduleError::Expression {
                    schedule: name,
                    expression,
                    reason: error.to_string(),
                });
            }
        };
        let fields: Vec<&str> = expression.split_whitespace().collect();
        let hour = fields
            .len()
            .checked_sub(4)
            .and_then(|place| fields.get(place));
        let is_of_each_hour = match hour {
            Some(hour) => hour.contains('*'),
            None => expression.trim().eq_ignore_ascii_case("@hourly"),
        };
        let schedule = Schedule {
            name,
            expression,
            times,
            time_zone: TimeZone::UTC,
            is_of_each_hour,
            flow: flow.to_owned(),
            start,
            options: StartOptions::new(),
            catch_up: CATCH_UP,
        };
        if schedule.next_after(SystemTime::UNIX_EPOCH).is_none() {
            return Err(ScheduleError::Never {
                schedule: schedule.name,
                expression: schedule.expression,
            });
        }
        Ok(schedule)
    }

    /// Sets the time zone of the expression, by its name in the IANA database. The default is UTC.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::TimeZone`].
    pub fn time_zone(mut self, name: &str) -> Result<Self, ScheduleError> {
        match TimeZone::get(name) {
            Ok(time_zone) => self.time_zone = time_zone,
            Err(_) => {
                return Err(ScheduleError::TimeZone {
                    schedule: self.name,
                    time_zone: name.to_owned(),
                });
            }
        }
        Ok(self)
    }

    /// Sets how late a tick may be started. The default is one minute.
    ///
    /// When [`Schedules`](super::Schedules) begins to run, it starts the unstarted ticks of this
    /// period before now: those that came due while all processes were down. A schedule that no
    /// process has run before begins with its next tick. So does one whose expression, time zone or
    /// flow has changed. While it runs, a tick may be late by a minute, or by this much if it is
    /// more: for example after the machine slept, or while the store was not reachable. Older ticks
    /// are missed.
    pub fn catch_up(mut self, time: Duration) -> Self {
        self.catch_up = time;
        self
    }

    /// Sets the options of the executions. The idempotency key is always that of the tick.
    ///
    /// With a [concurrency key](StartOptions::concurrency_key) that allows one execution, a tick
    /// waits until the execution of the previous tick is over.
    pub fn options(mut self, options: StartOptions) -> Self {
        self.options = options;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cron expression, as it was written.
    pub fn expression(&self) -> &str {
        &self.expression
    }

    /// The name of the flow.
    pub fn flow(&self) -> &str {
        &self.flow
    }

    /// The first tick after a time, or `None` if it cannot be represented.
    pub fn next_after(&self, time: SystemTime) -> Option<Tick> {
        let time = Timestamp::try_from(time).ok()?;
        let after = time.to_zoned(self.time_zone.clone());
        if self.is_of_each_hour {
            let next = self.times.find_next_occurrence(&after, false);
            return next.ok().map(Tick::new);
        }
        let mut local = after.datetime();
        loop {
            local = self.times.find_next_occurrence(&local, false).ok()?;
            let next = self.when_it_is(local)?;
            // When clocks are set back, this time may have occurred before.
            if next.timestamp() > time {
                return Some(Tick::new(next));
            }
        }
    }

    /// When a local time comes due: the first time that it occurs, or right after the clocks skip
    /// it.
    fn when_it_is(&self, local: DateTime) -> Option<Zoned> {
        let ambiguous = self.time_zone.to_ambiguous_zoned(local);
        let is_left_out = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let first = ambiguous.earlier().ok()?;
        if !is_left_out {
            return Some(first);
        }
        let set = self.time_zone.following(first.timestamp()).next()?;
        Some(set.timestamp().to_zoned(self.time_zone.clone()))
    }

    /// The key under which the store remembers since when this version of the schedule is known.
    pub(crate) fn known_as(&self) -> String {
        let time_zone = self.time_zone.iana_name().unwrap_or("UTC");
        let (name, flow, expression) = (&self.name, &self.flow, &self.expression);
        format!("schedule/{name}/{flow}/{time_zone}/{expression}")
    }

    pub(crate) fn lateness(&self) -> Duration {
        self.catch_up
    }

    /// Starts the execution of a tick, unless it has been started.
    pub(crate) async fn start(
        &self,
        runtime: &Runtime,
        tick: &Tick,
    ) -> Result<Execution, RuntimeError> {
        let key = format!("schedule/{}/{}", self.name, tick.id());
        let options = self.options.clone().idempotency_key(key);
        (self.start)(runtime, tick, options).await
    }
}

fn unstorable<F: Flow>(Unstorable { key, reason }: Unstorable) -> RuntimeError {
    RuntimeError::Unstorable {
        execution: None,
        path: F::NAMESPACE.to_owned(),
        reason: format!("input `{key}`: {reason}"),
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule")
            .field("name", &self.name)
            .field("expression", &self.expression)
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}
