//! Typed flows.
extern crate self as flow_runtime;

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
mod action;
mod concurrent;
mod context;
mod engine;
mod error;
mod flow;
mod observer;
mod options;
mod policy;
mod scope;
mod visit;

pub mod prelude;

pub use flow_macros::{Action, flow, node};
pub use tokio_util::sync::CancellationToken;

pub use action::{Action, FlowAction};
pub use context::Context;
pub use error::{BoxError, FlowError, NodeError, TimedOut};
pub use flow::{Flow, Route, Target};
pub use observer::{Event, EventKind, Observer, RunId};
pub use options::{DEFAULT_STEP_BUDGET, RunOptions};
pub use policy::{Policy, Retry};
pub use scope::Path;
