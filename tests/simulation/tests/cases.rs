//! Some random cases; the program of this package checks any number.

use std::sync::atomic::{AtomicUsize, Ordering};

use flow_simulation::{Backend, Case, Compared, check};

const CASES: u64 = 2_000;

/// How many of them there are on a server, each of whose answers takes a while.
const FEW: u64 = 20;

/// How many of them have a saga.
const SAGAS: u64 = 500;

/// Those that have found something before any was removed, had another version, or was busy.
const FOUND_BEFORE: [u64; 4] = [10_669, 11_520, 34_716, 71_982];

/// Those that have found something before nodes could add.
const FOUND: [u64; 5] = [1_021_129, 2_027_792, 2_031_186, 4_001_353, 5_045_296];

/// Those of sagas that have found something.
const FOUND_OF_SAGAS: [u64; 4] = [2_351, 3_533, 3_781, 3_995];

#[test]
fn flows_that_are_stopped_at_random_end_as_if_they_had_not_been() {
    let found_before = FOUND_BEFORE.map(|seed| {
        let case = Case::without_additions(seed);
        Case {
            deleted: None,
            changed: None,
            busy: false,
            ..case
        }
    });
    let random = (0..CASES).map(Case::of_seed).chain(found_before);
    let found = FOUND.map(Case::without_additions);
    check_cases(Backend::Memory, random.chain(found).collect());
}

#[test]
fn flows_that_are_stopped_at_random_on_postgres_end_as_if_they_had_not_been() {
    if Backend::Postgres.starts() {
        check_cases(Backend::Postgres, (0..FEW).map(Case::of_seed).collect());
    }
}

#[test]
fn flows_that_are_stopped_at_random_on_redis_end_as_if_they_had_not_been() {
    if Backend::Redis.starts() {
        check_cases(Backend::Redis, (0..FEW).map(Case::of_seed).collect());
    }
}

#[test]
fn sagas_are_undone_or_done() {
    let seeds = (0..SAGAS).chain(FOUND_OF_SAGAS);
    check_cases(Backend::Memory, seeds.map(Case::of_saga).collect());
}

#[test]
fn sagas_in_sqlite_are_undone_or_done() {
    check_cases(Backend::Sqlite, (0..FEW).map(Case::of_saga).collect());
}

#[test]
fn sagas_on_postgres_are_undone_or_done() {
    if Backend::Postgres.starts() {
        check_cases(Backend::Postgres, (0..FEW).map(Case::of_saga).collect());
    }
}

#[test]
fn sagas_on_redis_are_undone_or_done() {
    if Backend::Redis.starts() {
        check_cases(Backend::Redis, (0..FEW).map(Case::of_saga).collect());
    }
}

fn check_cases(backend: Backend, cases: Vec<Case>) {
    let (next, other_timeouts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| {
                scope.spawn(|| {
                    while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let case = Case {
                            backend,
                            ..case.clone()
                        };
                        match check(&case) {
                            Ok(Compared::Same) => {}
                            Ok(Compared::OtherTimeouts) if !case.times_out_as_undisturbed() => {}
                            Ok(Compared::OtherTimeouts) => {
                                other_timeouts.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(failure) => panic!("{failure}"),
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
        other_timeouts < (cases.len() / 250).max(1),
        "in {other_timeouts} cases other steps timed out than undisturbed: then the ends cannot be compared"
    );
}
