//! The server as its clients see it.

mod access;
mod events;
mod hostile;
mod limits;
mod links;
mod routes;
mod shutdown;
mod support;
