//! The server as its clients see it.

mod access;
mod agent_framework;
#[cfg(feature = "definitions")]
mod definitions;
#[cfg(feature = "definitions")]
mod definitions_changed;
#[cfg(feature = "definitions")]
mod definitions_refused;
mod events;
mod halted;
mod hostile;
#[cfg(feature = "jwt")]
mod jwt;
mod limits;
mod links;
#[cfg(feature = "mcp")]
mod mcp;
mod once;
#[cfg(feature = "mcp")]
mod parts;
mod questions;
mod routes;
mod shutdown;
mod signals;
mod support;
mod undoing;
