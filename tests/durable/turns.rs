//! Runs with more to do than tokio lets a task do in one turn. Then what could go on reports that it
//! cannot, as if it waited for something, and is woken at once.

use std::num::NonZeroUsize;

use flow_durable::{DurableFlow, Runtime, StartOptions, Status};
use flow_runtime::prelude::*;
use serde_json::json;

use crate::support::{Shared, options, outcomes, store};

/// Each takes room in a fork twice, and tokio lets a task take 128 things in one turn.
const LAPS: u64 = 300;

#[node(writes = left)]
fn left(lap: &u64) -> u64 {
    lap + 1
}

#[node(writes = right)]
fn right(lap: &u64) -> u64 {
    lap + 1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, Action)]
enum Lap {
    Next,
    Last,
}

#[node(writes = lap, actions = Lap)]
fn count(left: &u64, right: &u64) -> (u64, Lap) {
    let lap = left.midpoint(*right);
    let action = if lap < LAPS { Lap::Next } else { Lap::Last };
    (lap, action)
}

/// What everything waits for.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[node(human = "Go on?", writes = word)]
struct Word {
    word: String,
}

flow! {
    Laps(lap: u64) -> (lap: u64) {
        node both: [left, right] with concurrency(1);
        start >> both >> count;
        count - "next" >> both;
        count - "last" >> end;
    }
}

flow! {
    AskedAfter(lap: u64) -> (lap: u64) {
        start >> Laps >> Word >> end;
    }
}

flow! {
    AskedBeside(lap: u64) -> (lap: u64) {
        start >> [Laps, Word] >> end;
    }
}

/// A runtime that replays everything: it makes no snapshots.
fn runtime_of(store: Shared, flow: impl DurableFlow) -> Runtime {
    let runtime = Runtime::with_options(store, options().snapshot_every(NonZeroUsize::MAX));
    runtime.register(flow).unwrap();
    runtime
}

/// Runs until it waits for nothing but the answer, and continues with another runtime. Returns the
/// last lap.
async fn run_and_continue<F: DurableFlow>(
    flow: impl Fn() -> F,
    input: F::Input,
    options: StartOptions,
) -> u64 {
    let store = store();
    let first = runtime_of(store.clone(), flow());
    let started = first.executions().start::<F>(input, options).await.unwrap();
    let asking = started.settled().await.unwrap();
    assert_eq!(asking.status(), Status::Paused);
    let journal = asking.journal().await.unwrap();
    let count = |node: &str| {
        let steps = outcomes(&journal).into_keys();
        steps.filter(|step| step.contains(node)).count() as u64
    };
    assert_eq!([count("left"), count("right"), count("count")], [LAPS; 3]);
    let last = journal.last().unwrap().seq;
    first.executions().state(asking.id(), last).await.unwrap();
    let token = asking.questions().await.unwrap()[0].token();
    first.shut_down().await;

    let second = runtime_of(store, flow());
    let answered = second
        .executions()
        .resume(token, json!({ "word": "on" }))
        .await
        .unwrap();
    let execution = answered.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    execution.output_json().unwrap().unwrap()["lap"]
        .as_u64()
        .unwrap()
}

#[tokio::test]
async fn a_long_replay_comes_to_its_end() {
    let input = AskedAfterInput { lap: 0 };
    let options = StartOptions::new();
    assert_eq!(
        run_and_continue(AskedAfter::new, input, options).await,
        LAPS
    );
}

#[tokio::test]
async fn what_is_beside_a_question_is_done_before_the_run_pauses() {
    let input = AskedBesideInput { lap: 0 };
    let options = StartOptions::new();
    assert_eq!(
        run_and_continue(AskedBeside::new, input, options).await,
        LAPS
    );
}

/// Each step takes one of the places of the run.
#[tokio::test]
async fn so_it_is_with_places_for_steps() {
    let input = AskedBesideInput { lap: 0 };
    let options = StartOptions::new().concurrency(NonZeroUsize::MIN);
    assert_eq!(
        run_and_continue(AskedBeside::new, input, options).await,
        LAPS
    );
}

flow_law::law! {
    nodes: [left, right, count, Word],
    flows: [Laps, AskedAfter, AskedBeside],
}
