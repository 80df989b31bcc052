//! Some random cases; the program of this package checks any number.

use std::sync::atomic::{AtomicU64, Ordering};

use flow_simulation::{Case, Compared, check};

const CASES: u64 = 1_000;

/// Those of the first 100,000 that have found something.
const FOUND: [u64; 4] = [10_669, 11_520, 34_716, 71_982];

#[test]
fn flows_that_are_stopped_at_random_end_as_if_they_had_not_been() {
    let (next, other_timeouts) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        let found = usize::try_from(seed.saturating_sub(CASES)).unwrap();
                        let seed = match FOUND.get(found) {
                            _ if seed < CASES => seed,
                            Some(seed) => *seed,
                            None => return,
                        };
                        match check(&Case::of_seed(seed)) {
                            Ok(Compared::Same) => {}
                            Ok(Compared::OtherTimeouts) => {
                                other_timeouts.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(failure) => panic!("seed {seed}: {failure}"),
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
    let other_timeouts = other_timeouts.into_inner();
    assert!(
        other_timeouts < CASES / 250,
        "in {other_timeouts} cases other steps timed out than undisturbed: then the ends cannot be compared"
    );
}
