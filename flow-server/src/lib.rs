#![doc = include_str!("../README.md")]

mod access;
mod agent_framework;
mod app;
#[cfg(any(feature = "mcp", feature = "program"))]
mod awaited;
mod body;
#[cfg(feature = "definitions")]
mod definition_problem;
mod json;
mod limits;
mod listen;
mod live;
#[cfg(feature = "mcp")]
mod mcp;
mod metrics;
mod problem;
#[cfg(feature = "program")]
mod program;
mod routes;
mod server;
mod streams;
mod studio;
mod views;
mod written;

pub use access::{Authenticate, BearerTokens, Links, Principal, TokenFileError};
#[cfg(feature = "jwt")]
pub use access::{InvalidKey, JsonWebTokens};
pub use limits::Limits;
pub use problem::Problem;
#[cfg(feature = "program")]
pub use program::Program;
pub use server::{ServeError, Server, router, serve};

/// Returns the OpenAPI 3.1 description of all routes, with the default [`Limits`]. A server serves
/// it with its own limits at `/openapi.json`.
///
/// # Examples
///
/// ```
/// let api = flow_server::open_api();
/// assert_eq!(api["openapi"], "3.1.0");
/// ```
pub fn open_api() -> serde_json::Value {
    routes::open_api(&Limits::default())
}
