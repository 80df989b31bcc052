//! Grows the stack for recursive functions, on any thread.

use std::future::{Future, poll_fn};
use std::pin::pin;

/// The stack in bytes for a flow in a flow: it has to suffice until the next one.
const FOR_FLOW: usize = 256 << 10;

/// The stack in bytes that is added beyond what was requested.
const MORE: usize = 1 << 20;

/// Runs a function with at least this much stack, in bytes.
pub(crate) fn with_stack<T>(needed: usize, run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(needed, needed + MORE, run)
}

/// Runs a flow in a flow, with enough stack for each poll.
pub(crate) async fn flow_with_stack<F: Future>(flow: F) -> F::Output {
    let mut flow = pin!(flow);
    poll_fn(|context| with_stack(FOR_FLOW, || flow.as_mut().poll(context))).await
}
