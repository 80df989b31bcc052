//! Lets other tasks run.
//!
//! In a loop of branches and functions, a flow can run for long without waiting. Its caller could
//! not stop it then, and nothing else would run on its thread.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The number of nodes after which other tasks run. Flows that wait for anything have fewer, so
/// they run as they do in Rust.
const MOST_NODES: u32 = 1024;

thread_local! {
    /// The nodes run since a flow on this thread was last polled by something other than a flow.
    /// They are not counted for each flow, since a flow can contain flows, with loops in each.
    static NODES: Cell<u32> = const { Cell::new(0) };
    /// The number of flows that are being polled, each by the previous one.
    static FLOWS: Cell<u32> = const { Cell::new(0) };
    /// True if the run that was polled last on this thread has given way.
    static GAVE_WAY: Cell<bool> = const { Cell::new(false) };
}

/// Polls a part of a run. Returns true besides its result if it has only given way: it would have
/// gone on.
pub(crate) fn polled<T>(poll: impl FnOnce() -> Poll<T>) -> (Poll<T>, bool) {
    // Another race around it may still have to see that a part beside it has given way.
    let before = GAVE_WAY.replace(false);
    let result = poll();
    let gave_way = result.is_pending() && GAVE_WAY.get();
    GAVE_WAY.set(before || gave_way);
    (result, gave_way)
}

/// Marks a flow as being polled, until this is dropped.
struct Polled;

impl Polled {
    fn new() -> Self {
        let flows = FLOWS.get();
        if flows == 0 {
            NODES.set(0);
        }
        FLOWS.set(flows + 1);
        Polled
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        FLOWS.set(FLOWS.get() - 1);
    }
}

/// Runs a flow. Its nodes are counted from each poll.
pub(crate) async fn counted<F: Future>(flow: F) -> F::Output {
    let mut flow = pin!(flow);
    poll_fn(|context| {
        let _polled = Polled::new();
        flow.as_mut().poll(context)
    })
    .await
}

/// Counts a node. Returns `true` when the run has to [give way](give_way).
#[inline]
pub(crate) fn has_run_for_long() -> bool {
    let nodes = NODES.get() + 1;
    NODES.set(nodes % MOST_NODES);
    nodes == MOST_NODES
}

/// Lets other tasks run: the future that contains this one returns once.
pub(crate) async fn give_way() {
    let mut has_waited = false;
    poll_fn(|context| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        GAVE_WAY.set(true);
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
