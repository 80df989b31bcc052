//! What every contender does, how it is measured, and the pieces of work that its nodes do.
//!
//! A contender is a program of its own: `fn main() { bench_harness::main::<Ours>() }`. So neither its dependencies nor
//! what the compiler inlines into it have anything to do with another one.

mod measure;
mod task;
pub mod work;
mod workload;

pub use measure::main;
pub use task::{Task, task, task_on_two_workers};
pub use workload::{
    BATCH_CONCURRENCY, BATCH_ITEMS, CHAINS, LOADED_NODES, PAYLOAD_BYTES, ROUNDS, Workload,
};

/// One way to do the workloads.
pub trait Contender {
    /// The workload, ready to be run any number of times. `Err` says in a few words why it cannot be expressed.
    ///
    /// # Errors
    ///
    /// The contender has no means for it.
    fn workload(workload: Workload) -> Result<Task, &'static str>;

    /// Whether a run of it spreads over several threads, so that what one of them allocates is not all.
    fn spreads(workload: Workload) -> bool {
        workload == Workload::Concurrent
    }
}
