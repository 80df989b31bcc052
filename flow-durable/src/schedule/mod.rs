#![doc = include_str!("../../docs/schedules.md")]

mod cron;
mod error;
mod run;
mod tick;

pub use cron::Schedule;
pub use error::ScheduleError;
pub use jiff;
pub use run::{ScheduleEvent, Schedules};
pub use tick::Tick;
