//! Some hundred random cases; the program of this package checks any number.

use std::sync::atomic::{AtomicU64, Ordering};

use flow_simulation::{Case, check};

const CASES: u64 = 300;

#[test]
fn flows_that_are_stopped_at_random_end_as_if_they_had_not_been() {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= CASES {
                            return;
                        }
                        if let Err(failure) = check(&Case::of_seed(seed)) {
                            panic!("seed {seed}: {failure}");
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
