//! Processes that let running steps end, and then give everything up.

use std::collections::BTreeMap;
use std::time::Duration;

use flow_durable::{
    DurableFlow, Execution, ListOptions, RecordKind, Runtime, RuntimeError, StartOptions, Status,
    Store,
};
use flow_runtime::prelude::*;

use crate::flows::{
    Forks, ForksInput, Items, ItemsInput, Nested, NestedInput, Rounds, RoundsInput, Waits,
    WaitsInput, take_effects, work,
};
use crate::stores::{Faulty, SlowClaims};
use crate::support::{Shared, minutes, options, outcomes, pass, runtime, settled, store};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[node(writes = number)]
async fn hour(cx: &Context, number: &u64) -> u64 {
    work(cx, 3_600_000).await;
    number + 1
}

flow! {
    /// Two steps of an hour each.
    Hours(number: u64) -> (number: u64) {
        node second: hour;
        start >> hour >> second >> end;
    }
}

#[node(writes = number, retry(attempts = 2, wait = "1h"))]
fn again(number: &u64) -> Result<u64, String> {
    Err(format!("{number} is busy"))
}

flow! {
    Tries(number: u64) -> (number: u64) {
        start >> again >> end;
    }
}

async fn start<F: DurableFlow>(runtime: &Runtime, input: F::Input) -> Execution {
    let started = runtime.executions().start::<F>(input, StartOptions::new());
    started.await.unwrap()
}

/// How long it takes to drain.
async fn drain(runtime: &Runtime, at_most: Duration) -> Duration {
    let began = tokio::time::Instant::now();
    runtime.drain(at_most).await;
    began.elapsed()
}

/// A process that looks for work every second.
fn often(store: &Shared, flow: impl DurableFlow) -> Runtime {
    let options = options().look_for_work(Duration::from_secs(1));
    let runtime = Runtime::with_options(store.clone(), options);
    runtime.register(flow).unwrap();
    runtime
}

/// How often each step has begun.
fn effects() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for id in take_effects() {
        let (_, step) = id.split_once('/').unwrap();
        *counts.entry(step.to_owned()).or_default() += 1;
    }
    counts
}

/// Runs a flow in one process after the other, each of which is drained after this time, until it is
/// over. No step runs twice.
async fn repeats_nothing<F: DurableFlow>(flow: fn() -> F, input: fn() -> F::Input, each: u64) {
    take_effects();
    let undisturbed = settled::<F>(&runtime(store(), flow()), input()).await;
    let expected = effects();

    let store = store();
    let mut process = runtime(store.clone(), flow());
    let id = start::<F>(&process, input()).await.id();
    let mut processes = 1;
    let execution = loop {
        pass(millis(each)).await;
        process.drain(minutes(1)).await;
        let execution = process.executions().get(id).await.unwrap();
        if execution.status().is_over() {
            break execution;
        }
        assert_eq!(store.claim_of(id).await.unwrap(), None, "given up at once");
        process = runtime(store.clone(), flow());
        process.recover().await.unwrap();
        processes += 1;
    };
    assert!(processes > 1, "{}: {processes} processes", F::NAME);
    let output = |execution: &Execution| execution.output_json().unwrap();
    assert_eq!(output(&execution), output(&undisturbed), "{}", F::NAME);
    let journal = execution.journal().await.unwrap();
    assert!(outcomes(&journal).values().all(|count| *count == 1));
    for (step, count) in effects() {
        // A step that a failure beside it would have stopped may not have begun at all.
        let undisturbed = expected.get(&step).copied();
        assert_eq!(Some(count), undisturbed, "{}: {step}", F::NAME);
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_drained_again_and_again_repeats_no_step() {
    for each in [1, 7, 15] {
        repeats_nothing(Rounds::new, || RoundsInput { number: 2 }, each).await;
        repeats_nothing(Forks::new, || ForksInput { number: 1 }, each).await;
        let items = || ItemsInput {
            items: vec![0, 1, 3, 4, 5, 6],
        };
        repeats_nothing(Items::new, items, each).await;
        repeats_nothing(Nested::new, || NestedInput { number: 1 }, each).await;
        repeats_nothing(Waits::new, || WaitsInput { number: 1 }, each).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_step_ends_and_the_next_one_begins_elsewhere() {
    let store = store();
    take_effects();
    let first = runtime(store.clone(), Hours::new());
    let started = start::<Hours>(&first, HoursInput { number: 1 }).await;
    pass(minutes(10) - millis(500)).await;
    let other = often(&store, Hours::new());
    other.recover().await.unwrap();
    pass(millis(500)).await;
    assert_eq!(drain(&first, minutes(100)).await, minutes(50));
    assert_eq!(take_effects().len(), 1, "the other one has to wait");
    let journal = started.journal().await.unwrap();
    assert_eq!(outcomes(&journal).len(), 1, "{journal:?}");
    let error = started.settled().await.unwrap_err();
    assert!(matches!(error, RuntimeError::ShutDown(_)), "{error}");

    pass(millis(1100)).await;
    assert_eq!(take_effects().len(), 1, "the other one has taken over");
    let settled = other
        .executions()
        .get(started.id())
        .await
        .unwrap()
        .settled()
        .await;
    let output = settled.unwrap().output::<Hours>().unwrap();
    assert_eq!(output.unwrap().number, 3);
    assert_eq!(take_effects().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_does_not_end_in_time_is_stopped_and_runs_again() {
    let store = store();
    take_effects();
    let first = runtime(store.clone(), Hours::new());
    let started = start::<Hours>(&first, HoursInput { number: 1 }).await;
    pass(minutes(10)).await;
    assert_eq!(drain(&first, minutes(5)).await, minutes(5));
    assert_eq!(store.claim_of(started.id()).await.unwrap(), None);
    let journal = started.journal().await.unwrap();
    assert_eq!(outcomes(&journal).len(), 0);
    let other = runtime(store, Hours::new());
    other.recover().await.unwrap();
    pass(minutes(1)).await;
    let effects = take_effects();
    assert_eq!(effects.len(), 2);
    assert_eq!(effects[0], effects[1]);
}

#[tokio::test(start_paused = true)]
async fn nothing_begins_while_a_process_drains() {
    let store = store();
    take_effects();
    let options = options().concurrent_executions(1);
    let first = Runtime::with_options(store.clone(), options);
    first.register(Hours::new()).unwrap();
    let running = start::<Hours>(&first, HoursInput { number: 1 }).await;
    let queued = start::<Hours>(&first, HoursInput { number: 2 }).await;
    pass(minutes(1)).await;
    let draining = first.clone();
    let draining = tokio::spawn(async move { draining.drain(minutes(100)).await });
    pass(minutes(1)).await;
    let refused = first
        .executions()
        .start::<Hours>(HoursInput { number: 3 }, StartOptions::new());
    let error = refused.await.unwrap_err();
    assert!(matches!(error, RuntimeError::ShutDown(_)), "{error}");
    draining.await.unwrap();
    pass(minutes(100)).await;
    assert_eq!(take_effects().len(), 1);
    let queued = queued.refreshed().await.unwrap();
    assert_eq!(queued.status(), Status::Queued);
    let running = running.refreshed().await.unwrap();
    assert_eq!(running.status(), Status::Running, "another one goes on");
}

/// A process ends while the store has given it an execution and not said so yet. It is given up all
/// the same: nobody has to wait for the end of a lease.
async fn gives_up_what_is_being_claimed(begin: impl AsyncFn(&Shared) -> Execution) {
    for drains in [true, false] {
        let store = store();
        let worker = Runtime::with_options(Faulty::new(&store, SlowClaims), options());
        worker.register(Hours::new()).unwrap();
        worker.recover().await.unwrap();
        let id = begin(&store).await.id();
        // It looks for work every ten seconds.
        pass(millis(10_500)).await;
        assert_ne!(store.claim_of(id).await.unwrap(), None, "it is claimed");
        if drains {
            assert!(drain(&worker, minutes(1)).await <= millis(500));
        } else {
            worker.shut_down().await;
        }
        assert_eq!(store.claim_of(id).await.unwrap(), None, "and given up");
        let other = runtime(store.clone(), Hours::new());
        assert_eq!(other.recover().await.unwrap().resumed, [id]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_being_taken_out_of_the_queue_is_given_up() {
    let queued = async |store: &Shared| {
        let options = options().concurrent_executions(0);
        let front = Runtime::with_options(store.clone(), options);
        front.register(Hours::new()).unwrap();
        start::<Hours>(&front, HoursInput { number: 1 }).await
    };
    gives_up_what_is_being_claimed(queued).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_being_taken_over_is_given_up() {
    let left = async |store: &Shared| {
        let first = runtime(store.clone(), Hours::new());
        let left = start::<Hours>(&first, HoursInput { number: 1 }).await;
        first.shut_down().await;
        left
    };
    gives_up_what_is_being_claimed(left).await;
}

/// Executions of a process that has ended.
async fn left_over(store: &Shared, count: u64) {
    let first = runtime(store.clone(), Hours::new());
    for number in 0..count {
        start::<Hours>(&first, HoursInput { number }).await;
    }
    first.shut_down().await;
}

/// The program itself asks for what others have left, or have queued.
#[tokio::test(start_paused = true)]
async fn what_a_call_of_the_program_is_claiming_is_given_up() {
    for (drains, is_queued) in [(true, true), (true, false), (false, true), (false, false)] {
        let store = store();
        if is_queued {
            let options = options().concurrent_executions(0);
            let front = Runtime::with_options(store.clone(), options);
            front.register(Hours::new()).unwrap();
            start::<Hours>(&front, HoursInput { number: 1 }).await;
        } else {
            left_over(&store, 1).await;
        }
        let worker = Runtime::with_options(Faulty::new(&store, SlowClaims), options());
        worker.register(Hours::new()).unwrap();
        let recovering = worker.clone();
        let recovering = tokio::spawn(async move { recovering.recover().await });
        pass(millis(500)).await;
        let id = worker.executions().list(ListOptions::new()).await.unwrap()[0].id();
        assert_ne!(store.claim_of(id).await.unwrap(), None, "it is claimed");
        if drains {
            assert!(drain(&worker, minutes(1)).await <= millis(500));
        } else {
            worker.shut_down().await;
        }
        assert_eq!(store.claim_of(id).await.unwrap(), None, "and given up");
        recovering.await.unwrap().unwrap();
    }
}

/// Nobody can wait for a call that does not go on.
#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_polls_does_not_keep_a_process_for_ever() {
    let store = store();
    left_over(&store, 1).await;
    let options = options().lease(minutes(1));
    let worker = Runtime::with_options(Faulty::new(&store, SlowClaims), options);
    worker.register(Hours::new()).unwrap();
    let mut recovering = std::pin::pin!(worker.recover());
    let early = tokio::time::timeout(millis(500), &mut recovering).await;
    assert!(early.is_err(), "the claim takes a second");
    let began = tokio::time::Instant::now();
    worker.shut_down().await;
    assert_eq!(began.elapsed(), minutes(1));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_drains_does_not_go_through_all_that_is_due() {
    let store = store();
    left_over(&store, 20).await;
    let worker = Runtime::with_options(Faulty::new(&store, SlowClaims), options());
    worker.register(Hours::new()).unwrap();
    let recovering = worker.clone();
    let recovering = tokio::spawn(async move { recovering.recover().await });
    pass(millis(2500)).await;
    drain(&worker, millis(1)).await;
    let recovered = recovering.await.unwrap().unwrap();
    assert_eq!(recovered.resumed.len(), 3);
    assert!(recovered.refused.is_empty(), "{recovered:?}");
}

/// Neither a wait nor the time before another attempt keeps a process.
#[tokio::test(start_paused = true)]
async fn a_wait_is_left_to_others() {
    let store = store();
    let first = runtime(store.clone(), Waits::new());
    start::<Waits>(&first, WaitsInput { number: 1 }).await;
    pass(millis(100)).await;
    assert_eq!(drain(&first, minutes(1)).await, Duration::ZERO);
    assert_eq!(drain(&first, minutes(1)).await, Duration::ZERO, "again");
    let first = runtime(store, Tries::new());
    let tries = start::<Tries>(&first, TriesInput { number: 1 }).await;
    pass(minutes(1)).await;
    assert_eq!(drain(&first, minutes(1)).await, Duration::ZERO);
    let journal = tries.journal().await.unwrap();
    let kinds: Vec<RecordKind> = journal.iter().map(|record| record.kind).collect();
    let [.., failed, waits] = kinds[..] else {
        panic!("{kinds:?}")
    };
    assert_eq!(
        (failed, waits),
        (RecordKind::AttemptFailed, RecordKind::Waiting)
    );
}

flow_law::law! {
    nodes: [hour, again],
    flows: [Hours, Tries],
}
