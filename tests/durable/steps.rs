//! What a step is told of itself, and what it may return.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::time::Duration;

use flow_durable::{Runtime, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::flows::{Items, ItemsInput, Nested, NestedInput, Rounds, RoundsInput, take_effects};
use crate::gates::{Gate, Stops, StopsInput, stops};
use crate::support::{Calls, minutes, options, outcomes, pass, runtime, seen, settled, store};

#[tokio::test(start_paused = true)]
async fn a_step_that_runs_again_has_the_id_that_it_had() {
    let (store, gate) = (store(), Gate::closed());
    let mut id = None;
    for _ in 0..3 {
        let runtime = runtime(store.clone(), stops(&gate, 1));
        match id {
            None => {
                let started = runtime
                    .executions()
                    .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
                    .await
                    .unwrap();
                id = Some(started.id());
            }
            Some(_) => drop(runtime.recover().await.unwrap()),
        }
        pass(Duration::from_secs(1)).await;
        runtime.shut_down().await;
    }
    let step = format!("{}/stops.gated", id.unwrap());
    assert_eq!((gate.runs(), gate.calls.of(&step)), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn each_visit_and_each_item_has_an_id_of_its_own() {
    take_effects();
    let runtime = runtime(store(), Rounds::new());
    runtime.register(Items::new()).unwrap();
    runtime.register(Nested::new()).unwrap();
    let ids = |id| {
        let ids: Vec<String> = take_effects();
        let prefix = format!("{id}/");
        ids.iter()
            .map(|step| step.strip_prefix(&prefix).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let execution = settled::<Rounds>(&runtime, RoundsInput { number: 10 }).await;
    assert_eq!(
        ids(execution.id()),
        ["rounds.triple", "rounds.triple#2", "rounds.double"]
    );
    let execution = settled::<Items>(&runtime, ItemsInput { items: vec![0, 1] }).await;
    assert_eq!(
        ids(execution.id()),
        [
            "items.one_by_one[0]",
            "items.one_by_one[1]",
            "items.several[0]",
            "items.several[1]",
            "items.total",
            "items.strict[0]",
            "items.strict[1]",
        ]
    );
    let execution = settled::<Nested>(&runtime, NestedInput { number: 1 }).await;
    let inner: Vec<String> = ids(execution.id())
        .into_iter()
        .filter(|id| id.contains(".inner") && id.ends_with(".triple"))
        .collect();
    assert_eq!(
        inner,
        [
            "nested.inner.triple",
            "nested.inner~1.triple",
            "nested.inner~2.triple"
        ]
    );
}

#[node]
fn ratio(number: &f64) -> f64 {
    0.0 / number
}

#[node]
fn after(ratio: &f64) -> f64 {
    ratio + 1.0
}

flow! {
    Ratio(number: f64) -> (after: f64) {
        start >> ratio >> after >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_survive_as_json_is_found_out_at_once() {
    let runtime = runtime(store(), Ratio::new());
    let started = runtime
        .executions()
        .start::<Ratio>(RatioInput { number: 0.0 }, StartOptions::new())
        .await
        .unwrap();
    let error = started.settled().await.unwrap_err();
    let text = error.to_string();
    let RuntimeError::Unstorable {
        execution,
        path,
        reason,
    } = error
    else {
        panic!("{text}")
    };
    assert_eq!((execution, &*path), (Some(started.id()), "ratio.ratio"));
    assert_eq!(
        reason,
        "`f64` does not survive as JSON: JSON has no number NaN"
    );
    let (status, journal, _) = seen(&runtime, started.id()).await;
    assert_eq!(status, Status::Running);
    assert!(outcomes(&journal).is_empty());

    let started = runtime
        .executions()
        .start::<Ratio>(RatioInput { number: f64::NAN }, StartOptions::new())
        .await;
    let error = started.unwrap_err();
    let text = error.to_string();
    let RuntimeError::Unstorable {
        execution: None,
        path,
        ..
    } = error
    else {
        panic!("{text}")
    };
    assert_eq!(path, "ratio");
    assert!(
        text.starts_with("`ratio`: the value cannot be stored: input `number`: "),
        "{text}"
    );
    assert_eq!(
        runtime
            .executions()
            .list(Default::default())
            .await
            .unwrap()
            .len(),
        1
    );
}

#[node]
fn table(number: &f64) -> Vec<Vec<f64>> {
    vec![vec![0.0 / number]]
}

flow! {
    Table(number: f64) -> (table: Vec<Vec<f64>>) {
        start >> table >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_type_is_named_without_the_modules_that_its_parts_are_in() {
    let runtime = runtime(store(), Table::new());
    let started = runtime
        .executions()
        .start::<Table>(TableInput { number: 0.0 }, StartOptions::new());
    let error = started.await.unwrap().settled().await.unwrap_err();
    let RuntimeError::Unstorable { reason, .. } = &error else {
        panic!("{error}")
    };
    assert!(
        reason.starts_with("`Vec<Vec<f64>>` does not survive as JSON: "),
        "{reason}"
    );
}

#[node(writes = one)]
async fn one(number: &u64) -> u64 {
    pass(minutes(1)).await;
    *number
}

#[node(writes = two)]
async fn two(number: &u64) -> u64 {
    pass(minutes(1)).await;
    *number
}

flow! {
    Pair(number: u64) -> (one: u64, two: u64) {
        start >> [one, two] >> end;
    }
}

/// Also in the process that goes on with it.
#[tokio::test(start_paused = true)]
async fn no_more_steps_are_under_way_at_once_than_the_start_allows() {
    for (options, at_half_time) in [
        (StartOptions::new(), 2),
        (StartOptions::new().concurrency(NonZeroUsize::MIN), 1),
    ] {
        let store = store();
        let first = runtime(store.clone(), Pair::new());
        let started = first
            .executions()
            .start::<Pair>(PairInput { number: 1 }, options);
        let id = started.await.unwrap().id();
        first.shut_down().await;
        let second = runtime(store, Pair::new());
        assert_eq!(second.recover().await.unwrap().resumed, [id]);
        pass(Duration::from_secs(90)).await;
        let (_, journal, _) = seen(&second, id).await;
        assert_eq!(outcomes(&journal).len(), at_half_time);
    }
}

struct Watches {
    calls: Calls,
}

/// Notes whether the run was cancelled when its step was dropped.
struct OnDrop<'a>(&'a Context, &'a Calls);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.1.call(if self.0.is_cancelled() {
            "cancelled"
        } else {
            "stopped"
        });
    }
}

#[node(writes = seen)]
impl Watches {
    async fn exec(&self, cx: &Context, number: &u64) -> u64 {
        let _on_drop = OnDrop(cx, &self.calls);
        tokio::time::sleep(minutes(60)).await;
        *number
    }
}

flow! {
    Watched(number: u64) -> (seen: u64) {
        node watches: Watches;
        start >> watches >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_can_tell_that_its_run_was_cancelled() {
    let (store, calls) = (store(), Calls::default());
    let flow = || {
        Watched::builder()
            .watches(Watches {
                calls: calls.clone(),
            })
            .build()
    };
    let first = runtime(store.clone(), flow());
    let id = first
        .executions()
        .start::<Watched>(WatchedInput { number: 1 }, StartOptions::new())
        .await
        .unwrap()
        .id();
    pass(Duration::from_secs(1)).await;
    first.shut_down().await;
    assert_eq!((calls.of("stopped"), calls.of("cancelled")), (1, 0));
    let second = runtime(store, flow());
    second.recover().await.unwrap();
    pass(Duration::from_secs(1)).await;
    second.executions().cancel(id, "cancelled").await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!((calls.of("stopped"), calls.of("cancelled")), (1, 1));
}

thread_local! {
    static WRITTEN: Cell<u32> = const { Cell::new(0) };
}

/// Can be recorded, which writes it and what is read back of it, and not written once more.
#[derive(Clone, Deserialize)]
struct Fickle {
    number: u64,
}

impl Serialize for Fickle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match WRITTEN.replace(WRITTEN.get() + 1) {
            0 | 1 => json!({ "number": self.number }).serialize(serializer),
            _ => Err(serde::ser::Error::custom("once is enough")),
        }
    }
}

#[node]
fn fickle(number: &u64) -> Fickle {
    Fickle { number: *number }
}

flow! {
    Once(number: u64) -> () {
        branch small(fickle) {
            fickle.number < 10 => "yes",
            else => "no",
        }
        start >> fickle >> small;
        small - "yes" >> end;
        small - "no" >> end("large");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_done_is_written_though_the_state_after_it_cannot_be() {
    let options = options().snapshot_every(NonZeroUsize::MIN);
    let runtime = Runtime::with_options(store(), options);
    runtime.register(Once::new()).unwrap();
    let started = runtime
        .executions()
        .start::<Once>(OnceInput { number: 1 }, StartOptions::new());
    let started = started.await.unwrap();
    let error = started.settled().await.unwrap_err();
    let RuntimeError::Unstorable { path, reason, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((&**path, &**reason), ("once", "`fickle`: once is enough"));
    let (status, journal, _) = seen(&runtime, started.id()).await;
    assert_eq!(status, Status::Running);
    assert_eq!(outcomes(&journal).get("once.fickle"), Some(&1));
}

flow_law::law! {
    nodes: [ratio, after, table, one, two, fickle],
    flows: [
        Pair,
        Ratio,
        Table,
    ],
    left_out: [Watched, Once],
}
