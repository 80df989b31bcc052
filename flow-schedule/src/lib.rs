#![doc = include_str!("../README.md")]

mod error;
mod run;
mod schedule;
mod tick;

pub use error::ScheduleError;
pub use jiff;
pub use run::{ScheduleEvent, Schedules};
pub use schedule::Schedule;
pub use tick::Tick;
