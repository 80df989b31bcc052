//! The schedules of a program. Without the feature `schedule`, it has none.

use std::convert::Infallible;

use flow_durable::Runtime;
#[cfg(feature = "schedule")]
use flow_durable::schedule::ScheduleEvent;

#[cfg(feature = "schedule")]
#[derive(Debug, Default)]
pub(super) struct Scheduled(flow_durable::schedule::Schedules);

#[cfg(not(feature = "schedule"))]
#[derive(Debug, Default)]
pub(super) struct Scheduled {}

#[cfg(not(feature = "schedule"))]
impl Scheduled {
    pub(super) fn check(&self, _: &Runtime) -> Result<(), String> {
        Ok(())
    }

    pub(super) async fn run(&self, _: &Runtime) -> Result<Infallible, String> {
        std::future::pending().await
    }
}

#[cfg(feature = "schedule")]
impl Scheduled {
    pub(super) fn new(schedules: flow_durable::schedule::Schedules) -> Self {
        Scheduled(schedules.observer(|event| {
            if !matches!(event, ScheduleEvent::Started { .. }) {
                eprintln!("{}", flow_spec::visible(&event.to_string()));
            }
        }))
    }

    /// Checks that the schedules can run.
    pub(super) fn check(&self, runtime: &Runtime) -> Result<(), String> {
        self.0.check(runtime).map_err(|error| error.to_string())
    }

    /// Starts executions when they are due, as long as it is polled.
    pub(super) async fn run(&self, runtime: &Runtime) -> Result<Infallible, String> {
        self.0.run(runtime).await.map_err(|error| error.to_string())
    }
}

#[cfg(feature = "schedule")]
mod list {
    use std::time::SystemTime;

    use flow_durable::schedule::Schedule;
    use flow_spec::{visible, visible_json};
    use flow_terminal::Outcome;
    use serde_json::{Value, json};

    use super::super::arguments;
    use super::Scheduled;

    impl Scheduled {
        /// Prints each schedule and its next time.
        pub(in super::super) fn list(
            &self,
            arguments: &arguments::Schedules,
        ) -> Result<Outcome, String> {
            let now = SystemTime::now();
            if arguments.json {
                let schedules: Value = self.0.iter().map(|one| to_json(one, now)).collect();
                println!("{}", visible_json(format!("{schedules:#}")));
            } else {
                for schedule in self.0.iter() {
                    println!("{}", visible(&line(schedule, now)));
                }
            }
            Ok(Outcome::Fine)
        }
    }

    fn line(schedule: &Schedule, now: SystemTime) -> String {
        let next = schedule.next_after(now);
        let next = next.map_or_else(|| "never".to_owned(), |tick| tick.to_string());
        let (name, flow) = (schedule.name(), schedule.flow());
        format!("{name}: {flow} at `{}`, next {next}", schedule.expression())
    }

    fn to_json(schedule: &Schedule, now: SystemTime) -> Value {
        json!({
            "name": schedule.name(),
            "flow": schedule.flow(),
            "expression": schedule.expression(),
            "next": schedule.next_after(now).map(|tick| tick.to_string()),
        })
    }
}
