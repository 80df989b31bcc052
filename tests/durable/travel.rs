//! Looks into the past of an execution.

use flow_durable::{Execution, RecordKind, Runtime, RuntimeError};
use flow_runtime::prelude::*;
use serde_json::json;

use crate::flows::{Forks, ForksInput, Rounds, RoundsInput};
use crate::gates::{Gate, Stops, StopsInput, increase, stops};
use crate::support::{minutes, pass, runtime, seen, settled, store};

#[node(writes = twice)]
fn twice(number: &u64) -> u64 {
    number * 2
}

#[node(writes = thrice)]
fn thrice(number: &u64) -> u64 {
    number * 3
}

#[node(writes = sum)]
fn add(twice: u64, thrice: u64) -> u64 {
    twice + thrice
}

flow! {
    Inner(number: u64) -> (number: u64) {
        start >> increase >> end;
    }
}

flow! {
    Small(number: u64) -> (sum: u64) {
        start >> Inner >> [twice, thrice] >> add >> end;
    }
}

/// The state of the flow itself after each outcome and at the ends, and what was under way, a line each.
async fn states(runtime: &Runtime, execution: &Execution) -> String {
    let mut text = String::new();
    for record in execution.journal().await.unwrap() {
        let state = runtime
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
        assert_eq!((state.execution, state.seq), (execution.id(), record.seq));
        let values = serde_json::to_string(&state.flows["small"]).unwrap();
        text += format!(
            "{} {}: {values} {}",
            record.kind,
            record.path,
            state.under_way.join(" ")
        )
        .trim_end();
        text += "\n";
    }
    text
}

/// Branches that wake each other are polled again though nothing was taken meanwhile.
#[tokio::test(start_paused = true)]
async fn a_fork_of_long_branches_can_be_looked_into() {
    let runtime = runtime(store(), Forks::new());
    let execution = settled::<Forks>(&runtime, ForksInput { number: 1 }).await;
    for record in execution.journal().await.unwrap() {
        let state = runtime
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
        let is_joined = state.flows["forks"].contains_key("left_again");
        let joined = execution.journal().await.unwrap().iter().any(|other| {
            other.seq <= record.seq
                && other.kind == RecordKind::NodeFinished
                && other.path == "forks.fork"
        });
        assert!(is_joined || !joined, "{record:?}");
    }
}

/// B-101, B-103
#[tokio::test(start_paused = true)]
async fn the_state_at_each_record() {
    let runtime = runtime(store(), Small::new());
    let execution = settled::<Small>(&runtime, SmallInput { number: 1 }).await;
    let before = seen(&runtime, execution.id()).await;
    assert_eq!(
        states(&runtime, &execution).await,
        r#"run_started small: {"number":1}
node_started small.inner: {"number":1} small.inner
node_started small.inner.increase: {"number":1} small.inner small.inner.increase
outcome small.inner.increase: {"number":2} small.inner small.inner.increase
node_finished small.inner.increase: {"number":2} small.inner
flow_ended small.inner: {"number":2} small.inner
node_finished small.inner: {"number":2}
node_started small.fork: {"number":2} small.fork
node_started small.twice: {"number":2} small.fork small.twice
node_started small.thrice: {"number":2} small.fork small.twice small.thrice
outcome small.twice: {"number":2} small.fork small.twice small.thrice
node_finished small.twice: {"number":2} small.fork small.thrice
outcome small.thrice: {"number":2,"twice":4,"thrice":6} small.fork small.thrice
node_finished small.thrice: {"number":2,"twice":4,"thrice":6} small.fork
node_finished small.fork: {"number":2,"twice":4,"thrice":6}
node_started small.add: {"number":2,"twice":4,"thrice":6} small.add
outcome small.add: {"number":2,"sum":10} small.add
node_finished small.add: {"number":2,"sum":10}
flow_ended small: {"number":2,"sum":10}
run_completed small: {"number":2,"sum":10}
"#
    );
    assert_eq!(
        seen(&runtime, execution.id()).await,
        before,
        "a look changes nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn a_look_runs_no_step() {
    let gate = Gate::closed();
    gate.open();
    let runtime = runtime(store(), stops(&gate, 1));
    let execution = settled::<Stops>(&runtime, StopsInput { number: 1 }).await;
    assert_eq!(gate.runs(), 1);
    for record in execution.journal().await.unwrap() {
        runtime
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
    }
    assert_eq!(gate.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn only_flows_under_way_have_a_state() {
    let runtime = runtime(store(), Small::new());
    let execution = settled::<Small>(&runtime, SmallInput { number: 1 }).await;
    for record in execution.journal().await.unwrap() {
        let state = runtime
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
        for flow in state.flows.keys().filter(|flow| *flow != "small") {
            assert!(state.under_way.contains(flow), "at {record:?}: `{flow}`");
        }
    }
}

/// B-103
#[tokio::test(start_paused = true)]
async fn what_changed_between_two_records() {
    let runtime = runtime(store(), Rounds::new());
    let execution = settled::<Rounds>(&runtime, RoundsInput { number: 10 }).await;
    let last = execution.journal().await.unwrap().len() as u64 - 1;
    let (first, last) = (
        runtime.executions().state(execution.id(), 0).await.unwrap(),
        runtime
            .executions()
            .state(execution.id(), last)
            .await
            .unwrap(),
    );
    assert_eq!(
        serde_json::to_value(first.diff(&last)).unwrap(),
        json!({
            "added": [{ "flow": "rounds", "key": "doubled", "new": 180 }],
            "removed": [],
            "modified": [{ "flow": "rounds", "key": "number", "old": 10, "new": 90 }],
        })
    );
    assert_eq!(
        serde_json::to_value(last.diff(&first)).unwrap(),
        json!({
            "added": [],
            "removed": [{ "flow": "rounds", "key": "doubled", "old": 180 }],
            "modified": [{ "flow": "rounds", "key": "number", "old": 90, "new": 10 }],
        })
    );
    assert_eq!(first.diff(&first), Default::default());
}

/// B-103
#[tokio::test(start_paused = true)]
async fn a_record_that_does_not_exist() {
    let runtime = runtime(store(), Rounds::new());
    let execution = settled::<Rounds>(&runtime, RoundsInput { number: 10 }).await;
    let (id, next) = (
        execution.id(),
        execution.journal().await.unwrap().len() as u64,
    );
    for error in [
        runtime
            .executions()
            .state(id, next)
            .await
            .map(drop)
            .unwrap_err(),
        runtime
            .executions()
            .copy(id, next)
            .await
            .map(drop)
            .unwrap_err(),
    ] {
        assert!(
            matches!(error, RuntimeError::NoRecord { execution, seq } if (execution, seq) == (id, next)),
            "{error}"
        );
    }
}

#[node]
fn fails(number: &u64) -> Result<u64, String> {
    Err(format!("{number} is no good"))
}

#[node]
async fn takes_long(number: &u64) -> u64 {
    pass(minutes(60)).await;
    *number
}

flow! {
    Race(number: u64) -> () {
        start >> [takes_long, fails] >> end;
    }
}

flow! {
    Races(number: u64) -> () {
        node race: Race = Race::new() with retry(attempts = 2);
        start >> race >> end;
        race - "error" >> end("lost");
    }
}

/// What was dropped when something beside it failed is no longer under way.
#[tokio::test(start_paused = true)]
async fn nothing_in_a_flow_that_has_failed_is_under_way() {
    let runtime = runtime(store(), Races::new());
    let execution = settled::<Races>(&runtime, RacesInput { number: 1 }).await;
    let mut under_way = Vec::new();
    for record in execution.journal().await.unwrap() {
        if let RecordKind::NodeFailed | RecordKind::FlowFailed = record.kind {
            let state = runtime
                .executions()
                .state(execution.id(), record.seq)
                .await
                .unwrap();
            under_way.push(state.under_way.join(" "));
        }
    }
    let attempt = [
        "races.race races.race.fork races.race.takes_long",
        "races.race races.race.fork",
        "races.race",
    ];
    assert_eq!(under_way, [attempt, attempt].concat());
}

flow! {
    Slow(number: u64) -> (number: u64) {
        start >> increase >> wait(1h) >> end;
    }
}

flow! {
    Waits(number: u64) -> (number: u64) {
        start >> Slow >> end;
    }
}

/// What the clock shows now makes no difference to what was.
#[tokio::test(start_paused = true)]
async fn a_wait_that_was_under_way_is_under_way_for_ever() {
    let runtime = runtime(store(), Waits::new());
    let execution = settled::<Waits>(&runtime, WaitsInput { number: 1 }).await;
    let journal = execution.journal().await.unwrap();
    let waiting = journal
        .iter()
        .find(|record| record.kind == RecordKind::Waiting);
    let state = runtime
        .executions()
        .state(execution.id(), waiting.unwrap().seq)
        .await;
    let state = state.unwrap();
    assert_eq!(state.under_way, ["waits.slow", "waits.slow.wait"]);
    assert_eq!(
        json!(state.flows),
        json!({ "waits": { "number": 1 }, "waits.slow": { "number": 2 } })
    );
}

flow_law::law! {
    nodes: [twice, thrice, add, fails, takes_long, increase],
    flows: [
        Inner,
        Small,
        Race,
        Races,
        Slow,
        Waits,
    ],
}
