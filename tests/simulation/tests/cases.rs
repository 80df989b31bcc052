//! Some random cases; the program of this package checks any number.

use std::sync::atomic::{AtomicUsize, Ordering};

use flow_simulation::{Backend, Case, Compared, check};

const CASES: u64 = 2_000;

/// How many of them there are on a server, each of whose answers takes a while.
const FEW: u64 = 20;

/// Those that have found something before any was removed, had another version, or was busy.
const FOUND_BEFORE: [u64; 4] = [10_669, 11_520, 34_716, 71_982];

/// Those that have found something before nodes could add.
const FOUND: [u64; 5] = [1_021_129, 2_027_792, 2_031_186, 4_001_353, 5_045_296];

#[test]
fn flows_that_are_stopped_at_random_end_as_if_they_had_not_been() {
    check_cases(
        Backend::Memory,
        (0..CASES).chain(FOUND_BEFORE).chain(FOUND).collect(),
    );
}

#[test]
fn flows_that_are_stopped_at_random_on_postgres_end_as_if_they_had_not_been() {
    if Backend::Postgres.starts() {
        check_cases(Backend::Postgres, (0..FEW).collect());
    }
}

#[test]
fn flows_that_are_stopped_at_random_on_redis_end_as_if_they_had_not_been() {
    if Backend::Redis.starts() {
        check_cases(Backend::Redis, (0..FEW).collect());
    }
}

fn check_cases(backend: Backend, seeds: Vec<u64>) {
    let (next, other_timeouts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| {
                scope.spawn(|| {
                    while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let is_found = FOUND.contains(&seed) || FOUND_BEFORE.contains(&seed);
                        let case = if is_found {
                            Case::without_additions(seed)
                        } else {
                            Case::of_seed(seed)
                        };
                        let mut case = Case { backend, ..case };
                        if FOUND_BEFORE.contains(&seed) {
                            (case.deleted, case.changed, case.busy) = (None, None, false);
                        }
                        match check(&case) {
                            Ok(Compared::Same) => {}
                            Ok(Compared::OtherTimeouts) if !case.times_out_as_undisturbed() => {}
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
        other_timeouts < (seeds.len() / 250).max(1),
        "in {other_timeouts} cases other steps timed out than undisturbed: then the ends cannot be compared"
    );
}
