//! Runs random flows that are stopped at random, and checks that they end as if they had not been.
//!
//! Everything follows from one seed: the flow, what its steps do, when the process dies or the
//! store fails. Time is tokio's paused clock, a process is a tokio runtime that is dropped with all
//! its tasks, and the store survives in memory. A case that violates a law prints the one command
//! that repeats it, with as few stops as do.

mod case;
mod laws;
pub mod nodes;
mod process;
mod store;
mod world;

pub use case::{Case, Compared, Failure, Stop, StopKind, check};

use std::pin::Pin;

use flow_durable::{Execution, Runtime, RuntimeError, StartOptions};

/// A flow of a number that gives a number, whatever its type.
#[derive(Clone, Copy)]
pub struct Simulated {
    /// Its name.
    pub name: &'static str,
    register: fn(&Runtime) -> Result<(), RuntimeError>,
    start: for<'r> fn(&'r Runtime, u64, StartOptions) -> Starting<'r>,
}

type Starting<'r> = Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send + 'r>>;

macro_rules! simulated {
    ($flow:ident, $input:ident) => {
        Simulated {
            name: stringify!($flow),
            register: |runtime| runtime.register($flow::new()),
            start: |runtime, a, options| Box::pin(runtime.start::<$flow>($input { a }, options)),
        }
    };
}

/// The generated flows.
pub mod flows {
    use super::Simulated;
    use super::nodes::*;
    use flow_runtime::prelude::*;

    include!(concat!(env!("OUT_DIR"), "/flows.rs"));
}
