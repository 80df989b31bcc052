//! A workload that can be run many times in a row.
//!
//! Starting and polling must not add to the cost of the runs: the runs of one call are one future,
//! whose loop is compiled together with the run.

use std::hint::black_box;
use std::ops::Range;

use tokio::runtime::{Builder, Runtime};

/// Runs a workload once for each seed, and returns the sum of the results.
pub type Task = Box<dyn FnMut(Range<u64>) -> u64>;

/// A task that does its runs one after the other on this thread.
pub fn task(run: impl AsyncFnMut(u64) -> u64 + 'static) -> Task {
    on(built(Builder::new_current_thread().enable_all()), run)
}

/// A task whose runs can spawn on two threads.
pub fn task_on_two_workers(run: impl AsyncFnMut(u64) -> u64 + 'static) -> Task {
    on(
        built(Builder::new_multi_thread().worker_threads(2).enable_all()),
        run,
    )
}

fn built(builder: &mut Builder) -> Runtime {
    match builder.build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("tokio's runtime cannot start: {error}");
            std::process::exit(1)
        }
    }
}

fn on(runtime: Runtime, mut run: impl AsyncFnMut(u64) -> u64 + 'static) -> Task {
    Box::new(move |seeds| {
        runtime.block_on(async {
            let mut sum = 0_u64;
            for seed in seeds {
                sum = sum.wrapping_add(black_box(run(black_box(seed)).await));
            }
            sum
        })
    })
}
