#![doc = include_str!("../README.md")]

mod answer;
mod connection;
mod endpoint;
mod engine;
mod history;
mod invocation;
mod manifest;
mod operations;
mod question;
mod refusal;
mod size;
mod unacknowledged;

pub use endpoint::Endpoint;
pub use engine::OnRestate;
pub use refusal::EndpointError;
