//! The workloads of every contender, their measurement, and the work of the nodes.
//!
//! A contender is a separate program: `fn main() { bench_harness::main::<Ours>() }`. So it shares
//! neither dependencies nor inlined code with another one.

mod measure;
mod task;
pub mod work;
mod workload;

pub use measure::main;
pub use task::{Task, task, task_on_two_workers};
pub use workload::{
    BATCH_CONCURRENCY, BATCH_ITEMS, CHAINS, LOADED_NODES, PAYLOAD_BYTES, ROUNDS, Workload,
};

/// An implementation of the workloads.
pub trait Contender {
    /// Returns the workload, ready to be run any number of times, or the reason why it cannot be
    /// expressed, in a few words.
    ///
    /// # Errors
    ///
    /// The contender cannot express it.
    fn workload(workload: Workload) -> Result<Task, &'static str>;

    /// Returns true if a run uses several threads, so that allocations of one thread are not all of
    /// them.
    fn spreads(workload: Workload) -> bool {
        workload == Workload::Concurrent
    }
}
