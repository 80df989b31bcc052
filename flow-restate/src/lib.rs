#![doc = include_str!("../README.md")]

mod answer;
mod connection;
mod continued;
mod endpoint;
mod engine;
mod history;
#[cfg(feature = "identity")]
mod identity;
mod invocation;
mod manifest;
mod operations;
mod options;
mod question;
mod refusal;
mod run;
mod size;
mod stopped;
mod unacknowledged;

pub use endpoint::Endpoint;
pub use engine::OnRestate;
pub use refusal::EndpointError;
