//! What takes time on purpose takes as long when the process is away for a part of it.

use std::time::Duration;

use flow_durable::{DurableFlow, Execution, Runtime, StartOptions, Status};
use flow_runtime::prelude::*;
use tokio::time::Instant;

use crate::support::{Calls, minutes, pass, runtime, store};

#[node]
fn done(number: &u64) -> u64 {
    number + 1
}

flow! {
    Wait(number: u64) -> (done: u64) {
        start >> wait(1h) >> done >> end;
    }
}

/// Stops after half an hour, goes on after three quarters of one, and returns after how long it has ended.
async fn with_a_break<F: DurableFlow>(
    flow: impl Fn() -> F,
    input: F::Input,
) -> (Execution, Duration, Runtime) {
    let (store, began) = (store(), Instant::now());
    let first = runtime(store.clone(), flow());
    let id = first
        .executions()
        .start::<F>(input, StartOptions::new())
        .await
        .unwrap()
        .id();
    pass(minutes(30)).await;
    assert_eq!(
        first.executions().get(id).await.unwrap().status(),
        Status::Paused
    );
    first.shut_down().await;
    drop(first);
    pass(minutes(15)).await;
    let second = runtime(store, flow());
    assert!(second.recover().await.unwrap().refused.is_empty());
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    (execution, began.elapsed(), second)
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_when_it_would_have_ended() {
    let (execution, took, _) = with_a_break(Wait::new, WaitInput { number: 1 }).await;
    assert_eq!(execution.output::<Wait>().unwrap().unwrap().done, 2);
    assert_eq!(took, minutes(60));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_over_at_the_restart_does_not_wait() {
    let (store, began) = (store(), Instant::now());
    let first = runtime(store.clone(), Wait::new());
    let id = first
        .executions()
        .start::<Wait>(WaitInput { number: 1 }, StartOptions::new())
        .await
        .unwrap()
        .id();
    pass(minutes(30)).await;
    first.shut_down().await;
    pass(minutes(45)).await;
    let second = runtime(store, Wait::new());
    second.recover().await.unwrap();
    second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(began.elapsed(), minutes(75));
}

#[node(poll(every = "7m", timeout = "1h"))]
fn never(number: &u64) -> Option<u64> {
    number.checked_sub(100)
}

flow! {
    Polled(number: u64) -> (never: Option<u64>) {
        start >> never >> end;
        never - "timeout" >> end("late");
    }
}

/// AF-12, D-33
#[tokio::test(start_paused = true)]
async fn a_poll_gives_up_when_it_would_have_given_up() {
    let (execution, took, _) = with_a_break(Polled::new, PolledInput { number: 1 }).await;
    assert_eq!(
        execution.output::<Polled>().unwrap().unwrap().end,
        PolledEnd::Late
    );
    assert_eq!(took, minutes(60));
}

flow! {
    Long(number: u64) -> (done: u64) {
        start >> wait(20m) >> done >> wait(2h) >> end;
    }
}

flow! {
    Limited(number: u64) -> (done: Option<u64>) {
        node long: Long = Long::new() with timeout = "1h";
        start >> long >> end;
        long - "error" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_may_take_as_long_as_it_might_have_taken() {
    let (execution, took, second) = with_a_break(Limited::new, LimitedInput { number: 1 }).await;
    assert_eq!(
        execution.output::<Limited>().unwrap().unwrap().end,
        LimitedEnd::Late
    );
    assert_eq!(took, minutes(60));
    let copy = second
        .executions()
        .copy(
            execution.id(),
            execution.journal().await.unwrap().len() as u64 - 1,
        )
        .await
        .unwrap();
    let copy = copy.settled().await.unwrap();
    assert_eq!(
        copy.output::<Limited>().unwrap().unwrap().end,
        LimitedEnd::Late
    );
    assert_eq!(
        second
            .executions()
            .get(execution.id())
            .await
            .unwrap()
            .status(),
        Status::Completed
    );
}

struct Unreliable {
    calls: Calls,
}

#[node(writes = number)]
impl Unreliable {
    fn exec(&self, number: &u64) -> Result<u64, String> {
        self.calls.call("unreliable");
        match self.calls.of("unreliable") {
            1 => Err("not yet".into()),
            _ => Ok(number + 1),
        }
    }
}

flow! {
    Inner(number: u64) -> (number: u64) {
        node unreliable: Unreliable;
        start >> done >> unreliable >> end;
    }
}

flow! {
    Retried(number: u64) -> (number: u64) {
        node inner: Inner with retry(attempts = 2, wait = "1h");
        start >> inner >> end;
    }
}

/// D-28
#[tokio::test(start_paused = true)]
async fn the_pause_before_a_flow_is_tried_again_ends_when_it_would_have_ended() {
    let calls = Calls::default();
    let flow = || {
        let unreliable = Unreliable {
            calls: calls.clone(),
        };
        Retried::builder()
            .inner(Inner::builder().unreliable(unreliable).build())
            .build()
    };
    let (execution, took, _) = with_a_break(flow, RetriedInput { number: 1 }).await;
    assert_eq!(execution.output::<Retried>().unwrap().unwrap().number, 2);
    assert_eq!((took, calls.of("unreliable")), (minutes(60), 2));
}

flow_law::law! {
    nodes: [done, never],
    flows: [
        Wait,
        Polled,
        Long,
        Limited,
    ],
    left_out: [Inner, Retried],
}
