//! Stack for what calls itself, on whatever thread it runs.

use std::future::{Future, poll_fn};
use std::pin::pin;

/// The stack in bytes that is there for a flow in a flow: it has to suffice until the next one.
const FOR_FLOW: usize = 256 << 10;

/// How much more stack in bytes there is than was asked for.
const MORE: usize = 1 << 20;

/// Runs it with at least this much stack, in bytes.
pub(crate) fn with_stack<T>(needed: usize, run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(needed, needed + MORE, run)
}

/// Runs a flow in a flow, with enough stack each time that it is polled.
pub(crate) async fn flow_with_stack<F: Future>(flow: F) -> F::Output {
    let mut flow = pin!(flow);
    poll_fn(|context| with_stack(FOR_FLOW, || flow.as_mut().poll(context))).await
}
