#![doc = include_str!("../README.md")]

mod follow;
mod ids;
pub mod names;
mod observer;
mod telemetry;
mod trace;

pub use follow::{FollowError, Follower};
pub use ids::SpanIds;
pub use observer::RunObserver;
pub use telemetry::Telemetry;
