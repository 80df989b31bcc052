//! The flows, and how to start each.

use std::future::Future;
use std::pin::Pin;

use flow_runtime::durable::{Execution, Runtime, RuntimeError, StartOptions};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::nodes::*;

type Starting = Pin<Box<dyn Future<Output = Result<Execution, RuntimeError>> + Send>>;

/// One of the flows.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// How long it takes at most, in milliseconds, if no process stops.
    pub(crate) bound_ms: u64,
    /// How many nodes it has.
    pub(crate) size: usize,
    /// Whether a timeout in it may pass at any time.
    pub(crate) tight: bool,
    pub(crate) register: fn(&Runtime) -> Result<(), RuntimeError>,
    pub(crate) start: fn(Runtime, u64, u64, StartOptions) -> Starting,
}

macro_rules! entry {
    ($flow:ident, $input:ident, $bound_ms:literal, $size:literal, $tight:literal) => {
        Entry {
            name: $flow::NAME,
            bound_ms: $bound_ms,
            size: $size,
            tight: $tight,
            register: |runtime| runtime.register($flow::new()),
            start: |runtime, x, y, options| {
                Box::pin(async move { runtime.start::<$flow>($input { x, y }, options).await })
            },
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/flows.rs"));
