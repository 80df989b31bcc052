//! Lets other tasks run.
//!
//! A flow can run for long without waiting for anything: in a loop of branches and functions. Whoever
//! runs it could then not stop it, and nothing else would run on its thread.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

/// The number of nodes after which other tasks run.
const MOST_NODES: u32 = 64;

thread_local! {
    /// The nodes that this thread has run since another task could run. They are not counted in a
    /// flow, since a flow can have flows in it, with loops in each.
    static NODES: Cell<u32> = const { Cell::new(0) };
}

/// Counts a node. Lets others run if there were many.
#[inline]
pub(crate) async fn count_node() {
    let nodes = NODES.get() + 1;
    NODES.set(nodes % MOST_NODES);
    if nodes == MOST_NODES {
        give_way().await;
    }
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
