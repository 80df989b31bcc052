//! What is started when.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use flow_durable::{Execution, Runtime, RuntimeError, StartOptions};
use flow_runtime::engine::{Json, Saved, StoredFlow, Unstorable};
use flow_runtime::{BoxFuture, Flow};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use crate::error::ScheduleError;
use crate::tick::Tick;

/// How late a tick may be started, unless [`Schedule::catch_up`] says so.
const CATCH_UP: Duration = Duration::from_secs(60);

type Starting = BoxFuture<'static, Result<Execution, RuntimeError>>;
type Start = dyn Fn(&Runtime, &Tick, StartOptions) -> Starting + Send + Sync;

/// A flow that is started at the times of a cron expression.
///
/// The expression has the five fields of crontab: minute, hour, day of the month, month, day of the
/// week (0 and 7 are Sunday). A sixth before them is the second. As in crontab, a day has to match
/// one of the two fields of days if neither of them is `*`; with `+` before the day of the week, both.
/// `L` is the last day of a month, `15W` the working day nearest to the 15th, `FRI#2` the second
/// Friday, `FRI#L` the last one. `@hourly`, `@daily`, `@weekly`, `@monthly` and `@yearly` are known.
/// The crate [croner](https://docs.rs/croner) reads it.
///
/// In the night in which clocks are set forward, a time that does not exist comes due when they have
/// been, and two such times together; where they are set back, one that exists twice comes due the
/// first time only. But if the field of the hour has a `*`, as in `*/2`, the expression is about the
/// hours that there are: those that are left out are left out, and those that exist twice count twice.
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
    /// Starts this flow, with an input that depends on nothing but the tick: each process makes it,
    /// and whichever is first starts the execution.
    ///
    /// The name distinguishes the schedule from others on the same store. Under another name, or with
    /// another flow, ticks that have been started are started again.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Expression`] and [`ScheduleError::Never`].
    ///
    /// # Examples
    ///
    /// ```
    /// use flow_runtime::prelude::*;
    /// use flow_schedule::Schedule;
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
    /// # fn main() -> Result<(), flow_schedule::ScheduleError> {
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
            // As JSON, since the flow may be registered as one of any type.
            Box::pin(async move {
                let Saved(input) = input.map_err(unstorable::<F>)?;
                runtime.start_any(F::NAME, input.into(), options).await
            })
        };
        Schedule::with(name.into(), expression.into(), F::NAME, Arc::new(start))
    }

    /// Starts the flow of this name, for flows that are known by name only, such as loaded ones.
    /// Otherwise as [`new`](Schedule::new).
    ///
    /// # Errors
    ///
    /// As [`new`](Schedule::new).
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
            Box::pin(async move { runtime.start_any(&flow, input, options).await })
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

    /// The time zone of the expression, by its name in the IANA database. UTC, if nothing is said.
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

    /// How late a tick may be started: a minute, if nothing is said.
    ///
    /// When [`Schedules`](crate::Schedules) begins to run, it starts the ticks of this time before
    /// now that nobody has started: what came due while all processes were down. A schedule that no
    /// process has run before begins with its next tick. So does one with another expression, time zone
    /// or flow than before. What comes due while it runs may always be a minute late, or this much
    /// if it is more: after the machine slept, or while the store cannot be reached. What is older
    /// is missed.
    pub fn catch_up(mut self, time: Duration) -> Self {
        self.catch_up = time;
        self
    }

    /// The options of the executions. Their idempotency key is that of the tick.
    ///
    /// A [concurrency key](StartOptions::concurrency_key) with one execution at most lets a tick
    /// wait until the execution of the tick before is over.
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

    /// The first tick after a time. `None` if there is none that can be expressed.
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
            // Where clocks are set back, it was that time before.
            if next.timestamp() > time {
                return Some(Tick::new(next));
            }
        }
    }

    /// When a local time comes due: the first time that it is so late, or when clocks have been set
    /// beyond it.
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

    /// The name under which the store remembers since when the schedule is known, as it is now.
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
