//! A process that ends at any time: its executions go on in the next one, wherever they are.

use std::time::Duration;

use flow_durable::{DurableFlow, ExecutionId, StartOptions, Status, Store};
use serde_json::{Value, json};

use crate::flows::{
    Forks, ForksInput, Items, ItemsInput, Nested, NestedInput, Rounds, RoundsInput, Waits,
    WaitsInput, take_effects,
};
use crate::gates::{Gate, Stops, StopsInput, stops};
use crate::stores::{CrashAfter, Faulty};
use crate::support::{Shared, minutes, outcomes, pass, runtime, settled, store};

/// Runs a flow in one process after the other, each of which is shut down after this time, until it is over.
async fn by_and_by<F: DurableFlow>(
    flow: fn() -> F,
    input: F::Input,
    each: Duration,
) -> (Value, usize) {
    let store = store();
    let first = runtime(store.clone(), flow());
    let id = first
        .executions()
        .start::<F>(input, StartOptions::new())
        .await
        .unwrap()
        .id();
    pass(each).await;
    first.shut_down().await;
    let mut processes = 1;
    loop {
        let next = runtime(store.clone(), flow());
        next.recover().await.unwrap();
        processes += 1;
        pass(each).await;
        next.shut_down().await;
        let execution = next.executions().get(id).await.unwrap();
        if execution.status().is_over() {
            let journal = execution.journal().await.unwrap();
            assert!(outcomes(&journal).values().all(|count| *count == 1));
            return (execution.output_json().unwrap().unwrap(), processes);
        }
    }
}

/// Asserts that a flow that is stopped again and again ends as one that is not.
async fn ends_as_undisturbed<F: DurableFlow>(
    flow: fn() -> F,
    input: fn() -> F::Input,
    each: Duration,
) {
    let undisturbed = settled::<F>(&runtime(store(), flow()), input()).await;
    assert_eq!(undisturbed.status(), Status::Completed);
    let expected = undisturbed.output_json().unwrap().unwrap();
    let (output, processes) = by_and_by(flow, input(), each).await;
    assert_eq!(output, expected, "{}", F::NAME);
    assert!(processes > 2, "{}: {processes} processes", F::NAME);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_is_shut_down_again_and_again_gets_there() {
    let millis = Duration::from_millis;
    ends_as_undisturbed(Rounds::new, || RoundsInput { number: 2 }, millis(15)).await;
    ends_as_undisturbed(Forks::new, || ForksInput { number: 1 }, millis(105)).await;
    let items = || ItemsInput {
        items: vec![0, 1, 3, 4, 5, 6],
    };
    ends_as_undisturbed(Items::new, items, millis(25)).await;
    ends_as_undisturbed(Nested::new, || NestedInput { number: 1 }, millis(70)).await;
    ends_as_undisturbed(Waits::new, || WaitsInput { number: 1 }, millis(150)).await;
}

/// A process of its own: a tokio runtime that is dropped with all that runs in it.
fn process<T: Send>(work: impl Future<Output = T> + Send) -> T {
    std::thread::scope(|threads| {
        let process = threads.spawn(|| {
            let process = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build();
            process.unwrap().block_on(work)
        });
        process.join().unwrap()
    })
}

#[test]
fn a_process_that_is_gone_leaves_its_executions_to_the_next_one() {
    let (store, gate): (Shared, Gate) = (store(), Gate::closed());
    let id: ExecutionId = process(async {
        let first = runtime(store.clone(), stops(&gate, 1));
        let started = first
            .executions()
            .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
            .await
            .unwrap();
        pass(Duration::from_secs(1)).await;
        started.id()
    });
    assert_eq!((gate.runs(), gate.dropped()), (1, 1));
    gate.open();
    process(async {
        let second = runtime(store.clone(), stops(&gate, 1));
        second.recover().await.unwrap();
        pass(minutes(1)).await;
        let execution = second.executions().get(id).await.unwrap();
        assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 3);
        assert!(
            outcomes(&execution.journal().await.unwrap())
                .values()
                .all(|count| *count == 1)
        );
    });
    assert_eq!(gate.runs(), 2);
}

/// A crash while a recovery is under way, and again.
#[tokio::test(start_paused = true)]
async fn a_process_that_crashes_at_its_first_write_again_and_again_loses_nothing() {
    let store = store();
    take_effects();
    let first = runtime(Faulty::new(&store, CrashAfter::appends(2)), Rounds::new());
    let started = first
        .executions()
        .start::<Rounds>(RoundsInput { number: 2 }, StartOptions::new())
        .await
        .unwrap();
    started.settled().await.unwrap_err();
    let stored = store.records(started.id(), 0, usize::MAX).await.unwrap();
    for _ in 0..4 {
        drop(take_effects());
        pass(minutes(1)).await;
        let next = runtime(Faulty::new(&store, CrashAfter::appends(0)), Rounds::new());
        next.recover().await.unwrap();
        pass(Duration::from_secs(1)).await;
        assert_eq!(
            store.records(started.id(), 0, usize::MAX).await.unwrap(),
            stored
        );
        assert_eq!(take_effects().len(), 1, "one step was under way");
        next.shut_down().await;
    }
    pass(minutes(1)).await;
    let last = runtime(store, Rounds::new());
    last.recover().await.unwrap();
    let execution = last
        .executions()
        .get(started.id())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(
        execution.output_json().unwrap(),
        Some(json!({ "doubled": 108, "end": "default" }))
    );
}
