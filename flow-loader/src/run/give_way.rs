//! Lets other tasks run.
//!
//! A flow can run for long without waiting for anything: in a loop of branches and functions. Whoever
//! runs it could then not stop it, and nothing else would run on its thread.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// The number of nodes after which other tasks run: more than flows have that wait for anything, so that
/// those run as they do in Rust.
const MOST_NODES: u32 = 1024;

thread_local! {
    /// The nodes that were run since a flow on this thread was last polled by something else than a
    /// flow. They are not counted in a flow, since a flow can have flows in it, with loops in each.
    static NODES: Cell<u32> = const { Cell::new(0) };
    /// How many flows are being polled, each by the one before.
    static FLOWS: Cell<u32> = const { Cell::new(0) };
}

/// A flow that is being polled, until this is dropped.
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

/// Runs a flow, whose nodes are counted from when it is polled.
pub(crate) async fn counted<F: Future>(flow: F) -> F::Output {
    let mut flow = pin!(flow);
    poll_fn(|context| {
        let _polled = Polled::new();
        flow.as_mut().poll(context)
    })
    .await
}

/// Counts a node. Returns true if there were so many that the run has to [give way](give_way).
#[inline]
pub(crate) fn has_run_for_long() -> bool {
    let nodes = NODES.get() + 1;
    NODES.set(nodes % MOST_NODES);
    nodes == MOST_NODES
}

/// Lets other tasks run, and the future that contains this one return.
pub(crate) async fn give_way() {
    let mut has_waited = false;
    poll_fn(|context| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
