//! Snapshots: a long run is recovered from its end.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flow_durable::{Execution, Runtime, RuntimeError, RuntimeOptions, StartOptions, Status, Store};
use flow_runtime::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use crate::gates::{Gate, Gated, increase};
use crate::stores::{Counting, Fault, Faulty};
use crate::support::{minutes, options, pass, store};

flow! {
    /// Goes round, then stops, then goes round again.
    Rounds(number: u64, limit: u64) -> (passed: Option<u64>, number: u64) {
        node gated: Gated;
        branch where_to(number, limit) {
            *number == *limit => "gate",
            *number == *limit + 3 => "done",
            else => "on",
        }
        start >> increase >> where_to;
        where_to - "on" >> increase;
        where_to - "gate" >> gated >> increase;
        where_to - "done" >> end;
    }
}

fn rounds(gate: &Gate) -> Rounds {
    Rounds::builder().gated(gate.node(0)).build()
}

fn every(records: usize) -> RuntimeOptions {
    options().snapshot_every(NonZeroUsize::new(records).unwrap())
}

fn known(store: impl Store, options: RuntimeOptions, gate: &Gate) -> Runtime {
    let runtime = Runtime::with_options(store, options);
    runtime.register(rounds(gate)).unwrap();
    runtime
}

#[node(poll(every = "1m", timeout = "1h"), writes = found)]
fn never(number: &u64) -> Option<u64> {
    number.checked_sub(100)
}

flow! {
    Waits(number: u64) -> (number: u64, found: Option<u64>) {
        start >> increase >> wait(1h) >> never >> end;
        never - "timeout" >> end("late");
    }
}

/// A snapshot before a node that had been reached already would leave behind when it was.
#[tokio::test(start_paused = true)]
async fn what_takes_time_takes_no_longer_over_several_restarts() {
    let (store, began) = (store(), Instant::now());
    let process = || {
        let runtime = Runtime::with_options(store.clone(), every(1));
        runtime.register(Waits::new()).unwrap();
        runtime
    };
    let first = process();
    let input = WaitsInput { number: 1 };
    let id = first
        .executions()
        .start::<Waits>(input, StartOptions::new())
        .await
        .unwrap()
        .id();
    let mut runtime = first;
    for _ in 0..10 {
        pass(minutes(11)).await;
        runtime.shut_down().await;
        runtime = process();
        assert!(runtime.recover().await.unwrap().refused.is_empty());
    }
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output::<Waits>().unwrap().unwrap();
    assert_eq!(output.end, WaitsEnd::Late);
    assert_eq!(began.elapsed(), minutes(120));
}

flow! {
    /// Goes round, and waits in each round.
    Hourly(number: u64, limit: u64) -> (number: u64) {
        branch done(number, limit) {
            *number == *limit => "yes",
            else => "no",
        }
        start >> increase >> wait(1h) >> done;
        done - "no" >> increase;
        done - "yes" >> end;
    }
}

/// Neither does one before a node that had been reached again already, whatever is recorded of its visits before.
#[tokio::test(start_paused = true)]
async fn each_wait_of_a_loop_takes_no_longer_over_several_restarts() {
    for records in [1, 3, 8] {
        let (store, began) = (store(), Instant::now());
        let process = || {
            let runtime = Runtime::with_options(store.clone(), every(records));
            runtime.register(Hourly::new()).unwrap();
            runtime
        };
        let mut runtime = process();
        let input = HourlyInput {
            number: 0,
            limit: 4,
        };
        let started = runtime
            .executions()
            .start::<Hourly>(input, StartOptions::new());
        let id = started.await.unwrap().id();
        for _ in 0..20 {
            pass(minutes(11)).await;
            runtime.shut_down().await;
            runtime = process();
            assert!(runtime.recover().await.unwrap().refused.is_empty());
        }
        runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(began.elapsed(), minutes(240), "{records}");
    }
}

/// Runs to the gate after a thousand rounds, and stops there.
async fn until_the_gate(runtime: &Runtime, gate: &Gate, budget: u64) -> Execution {
    let input = RoundsInput {
        number: 0,
        limit: 1000,
    };
    let started = runtime
        .executions()
        .start::<Rounds>(input, StartOptions::new().step_budget(budget))
        .await
        .unwrap();
    while gate.runs() == 0 {
        pass(Duration::from_secs(1)).await;
    }
    runtime.shut_down().await;
    gate.open();
    started
}

#[tokio::test(start_paused = true)]
async fn a_recovery_reads_the_records_since_the_last_snapshot() {
    let (store, gate) = (store(), Gate::closed());
    let first = known(store.clone(), every(8), &gate);
    let id = until_the_gate(&first, &gate, 10_000).await.id();
    assert!(store.records(id, 0, usize::MAX).await.unwrap().len() > 5000);

    let counting = Faulty::new(&store, Counting::default());
    let second = known(counting.clone(), every(8), &gate);
    assert_eq!(second.recover().await.unwrap().resumed, [id]);
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let read = counting.fault.records_read();
    assert!(read <= 20, "{read} records were read");
    let output = execution.output::<Rounds>().unwrap().unwrap();
    assert_eq!((output.passed, output.number), (Some(1000), 1003));
    let journal = execution.journal().await.unwrap();
    assert!(
        journal
            .iter()
            .map(|record| record.seq)
            .eq(0..journal.len() as u64)
    );
    let visits = journal
        .iter()
        .filter(|record| record.path == "rounds.increase")
        .map(|record| record.visit);
    assert_eq!(visits.max(), Some(1003), "visits are counted on");
    let step = format!("{id}/rounds.gated");
    assert_eq!(
        gate.calls.of(&step),
        2,
        "it is the same step that runs again"
    );
}

/// `u64::MAX` says that there is no limit.
#[tokio::test(start_paused = true)]
async fn the_largest_budget_is_not_used_up_by_a_recovery() {
    let (store, gate) = (store(), Gate::closed());
    let first = known(store.clone(), every(8), &gate);
    let id = until_the_gate(&first, &gate, u64::MAX).await.id();
    let second = known(store, every(8), &gate);
    second.recover().await.unwrap();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output::<Rounds>().unwrap().unwrap();
    assert_eq!(output.number, 1003);
}

#[tokio::test(start_paused = true)]
async fn without_its_history_an_execution_goes_on_all_the_same() {
    let (store, gate) = (store(), Gate::closed());
    let first = known(store.clone(), every(8).prune_history(), &gate);
    let id = until_the_gate(&first, &gate, 10_000).await.id();
    let kept = store.records(id, 0, usize::MAX).await.unwrap();
    assert!(kept.len() <= 20, "{} records are kept", kept.len());
    let second = known(store.clone(), every(8).prune_history(), &gate);
    second.recover().await.unwrap();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output::<Rounds>().unwrap().unwrap();
    assert_eq!((output.passed, output.number), (Some(1000), 1003));

    // BK-04, D-27: what is kept is enough for the newest state, and older ones are not to be had.
    let journal = execution.journal().await.unwrap();
    let (first, last) = (journal[0].seq, journal.last().unwrap().seq);
    assert!(first > 5000, "{first}");
    let state = second.executions().state(id, last).await.unwrap();
    assert_eq!(state.flows["rounds"]["number"], 1003);
    assert_eq!(state.flows["rounds"]["limit"], 1000);
    for seq in [0, first - 1, last + 1] {
        let error = second.executions().state(id, seq).await.unwrap_err();
        assert!(
            matches!(error, RuntimeError::NoRecord { seq: of, .. } if of == seq),
            "{error}"
        );
        let error = second.executions().copy(id, seq).await.unwrap_err();
        assert!(
            matches!(error, RuntimeError::NoRecord { seq: of, .. } if of == seq),
            "{error}"
        );
    }
    let copy = second
        .executions()
        .copy(id, first)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(
        copy.output_json().unwrap(),
        execution.output_json().unwrap()
    );
}

/// Reads records two hours late, but for so many times.
#[derive(Debug)]
struct Late(AtomicUsize);

impl Fault for Late {
    fn reads_late(&self) -> Duration {
        let in_time = |left: usize| left.checked_sub(1);
        match self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, in_time)
        {
            Ok(_) => Duration::ZERO,
            Err(_) => minutes(120),
        }
    }
}

/// It is neither taken for what came after it, nor for damaged.
#[tokio::test(start_paused = true)]
async fn what_is_pruned_while_it_is_read_is_no_longer_there() {
    let store = store();
    let runtime = Runtime::with_options(store.clone(), every(1).prune_history());
    runtime.register(Hourly::new()).unwrap();
    // An execution after its second round, and its last record.
    let execution = async || {
        let input = HourlyInput {
            number: 0,
            limit: 9,
        };
        let started = runtime
            .executions()
            .start::<Hourly>(input, StartOptions::new());
        let id = started.await.unwrap().id();
        pass(minutes(90)).await;
        let journal = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .journal()
            .await
            .unwrap();
        (id, journal.last().unwrap().seq)
    };
    let reader = |reads_in_time| {
        let late = Faulty::new(&store, Late(AtomicUsize::new(reads_in_time)));
        let reader = Runtime::with_options(late, options());
        reader.register(Hourly::new()).unwrap();
        reader
    };
    for (reads_in_time, in_time) in [(0, false), (1, false), (2, true)] {
        let (id, last) = execution().await;
        match reader(reads_in_time).executions().state(id, last).await {
            Ok(state) => assert_eq!(
                (in_time, &state.flows["hourly"]["number"]),
                (true, &json!(2))
            ),
            Err(RuntimeError::NoRecord { seq, .. }) => assert_eq!((in_time, seq), (false, last)),
            Err(error) => panic!("{error}"),
        }
    }
    for (reads_in_time, in_time) in [(0, false), (1, false), (2, false), (3, true)] {
        let (id, last) = execution().await;
        match reader(reads_in_time).executions().copy(id, last).await {
            Ok(copy) => {
                let state = runtime.executions().state(copy.id(), 0).await.unwrap();
                assert_eq!(
                    (in_time, &state.flows["hourly"]["number"]),
                    (true, &json!(2))
                );
            }
            Err(RuntimeError::NoRecord { seq, .. }) => assert_eq!((in_time, seq), (false, last)),
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn steps_are_counted_on_after_a_snapshot() {
    // A thousand rounds of two steps, the gate, and three rounds more.
    for (budget, is_enough) in [(2007, true), (2006, false)] {
        for records in [8, usize::MAX] {
            let (store, gate) = (store(), Gate::closed());
            let first = known(store.clone(), every(records), &gate);
            let id = until_the_gate(&first, &gate, budget).await.id();
            let second = known(store, every(records), &gate);
            second.recover().await.unwrap();
            let settled = second.executions().get(id).await.unwrap().settled().await;
            assert_eq!(
                settled.is_ok(),
                is_enough,
                "{budget} steps, {records} records"
            );
            match settled {
                Ok(execution) => assert_eq!(execution.status(), Status::Completed),
                Err(error) => assert!(matches!(error, RuntimeError::Halted { .. }), "{error}"),
            }
        }
    }
}

#[node]
fn found(number: &u64) -> Option<u64> {
    number.checked_sub(100)
}

#[node(writes = shown)]
fn show_both(given: Option<&Option<u8>>, found: Option<Option<u64>>) -> String {
    format!("{given:?} {found:?}")
}

flow! {
    Both(number: u64, given: Option<Option<u8>>) -> (found: Option<Option<u64>>, shown: String) {
        start >> found >> wait(1h) >> show_both >> end;
    }
}

/// In JSON, a value that is `None` is `null`, and a key without a value is not there.
#[tokio::test(start_paused = true)]
async fn an_option_in_an_option_survives_a_restart() {
    let whole = [(None, 7), (Some(None), 7), (Some(Some(3)), 105)];
    for (given, number) in whole {
        let store = store();
        let process = || {
            let runtime = Runtime::with_options(store.clone(), every(1));
            runtime.register(Both::new()).unwrap();
            runtime
        };
        let first = process();
        let started = first
            .executions()
            .start::<Both>(BothInput { number, given }, StartOptions::new());
        let id = started.await.unwrap().id();
        pass(minutes(11)).await;
        first.shut_down().await;
        let second = process();
        assert!(second.recover().await.unwrap().refused.is_empty());
        let execution = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        let output = execution.output::<Both>().unwrap().unwrap();
        let found = Some(number.checked_sub(100));
        assert_eq!(output.found, found);
        assert_eq!(output.shown, format!("{given:?} {found:?}"));
    }
}

flow_law::law! {
    nodes: [never, found, show_both, increase],
    flows: [
        Waits,
        Hourly,
        Both,
    ],
    left_out: [Rounds],
}
