//! Renamed nodes that are undone, that wait for a signal, and whose items run in parts.

use std::time::Duration;

use flow_durable::{DurableFlow, Execution, ExecutionId, Runtime, SignalOptions, Status};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::renamed::{act, done, each_once, only, process};
use crate::stores::{CrashAfter, Faulty};
use crate::support::{Shared, options, outcomes, store};

#[node(writes = reserved)]
async fn reserve(cx: &Context, number: &u64) -> u64 {
    act(cx, "reserve", *number).await;
    *number
}

#[node]
async fn release(cx: &Context, reserved: &u64) {
    act(cx, "release", *reserved).await;
}

#[node(writes = packed)]
async fn pack(cx: &Context, item: &u64) -> u64 {
    act(cx, "pack", *item).await;
    item * 2
}

/// The customer comes for it.
#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
struct Fetch {
    at: u64,
}

#[node]
async fn hand_over(cx: &Context, at: &u64) {
    act(cx, "hand over", *at).await;
}

mod old {
    use super::*;

    flow! {
        pub(crate) Pickup(number: u64, items: Vec<u64>) -> (all: Option<Vec<u64>>, at: u64) {
            node reserve: reserve with undo = release;
            node lines: for item in items { pack { packed -> +all } } with spread(2);
            node fetch: signal Fetch;
            node hand_over: hand_over with undo = release;
            start >> reserve >> lines >> fetch >> hand_over >> end;
        }
    }
}

mod new {
    use super::*;

    flow! {
        pub(crate) Pickup(number: u64, items: Vec<u64>) -> (all: Option<Vec<u64>>, at: u64) {
            node hold: reserve with undo = release, was = "reserve";
            node parcels: for item in items { pack { packed -> +all } } with spread(2), was = "lines";
            node pickup: signal Fetch with was = "fetch";
            node handed_over: hand_over with undo = release, was = "hand_over";
            start >> hold >> parcels >> pickup >> handed_over >> end;
        }
    }
}

/// A process that ends after so many appends. One that waits for its parts, which cannot be stored
/// any more, ends as well.
async fn crashing<F: DurableFlow>(
    store: &Shared,
    appends: usize,
    flow: F,
    every: usize,
    id: Option<ExecutionId>,
) {
    let failing = Faulty::new(store, CrashAfter::appends(appends));
    let process = process(failing, flow, every, id);
    let _ = tokio::time::timeout(Duration::from_secs(2), process).await;
}

/// Three processes: the first and the last one have the new names, and two end after some appends.
async fn by_turns(store: &Shared, every: usize, id: ExecutionId) -> Execution {
    crashing(store, 2, new::Pickup::new(), every, Some(id)).await;
    crashing(store, 2, old::Pickup::new(), every, Some(id)).await;
    let last = process(store.clone(), new::Pickup::new(), every, Some(id));
    tokio::time::timeout(Duration::from_secs(20), last)
        .await
        .expect("it goes on")
        .unwrap()
}

/// How many appends it takes until the customer is waited for.
async fn appends_to_wait(every: usize) -> usize {
    let counted = Faulty::new(&store(), CrashAfter::appends(usize::MAX));
    let waiting = process(counted.clone(), old::Pickup::new(), every, None);
    let waiting = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    assert_eq!(waiting.unwrap().unwrap().status(), Status::Paused);
    each_once();
    counted.fault.made()
}

/// An execution whose process ends after so many appends, or waits for the customer.
async fn begun(store: &Shared, every: usize, appends: usize) -> ExecutionId {
    crashing(store, appends, old::Pickup::new(), every, None).await;
    only(store).await
}

#[tokio::test(start_paused = true)]
async fn what_was_done_under_another_name_is_undone_once() {
    for every in [256, 1] {
        for appends in 0..=appends_to_wait(every).await {
            let store = store();
            let id = begun(&store, every, appends).await;
            let elsewhere = Runtime::with_options(store.clone(), options());
            let cancelled = elsewhere.executions().cancel(id, "late").await.unwrap();
            assert_eq!(cancelled.status(), Status::Cancelling, "{appends}");
            let ended = by_turns(&store, every, id).await;
            assert_eq!(ended.status(), Status::Cancelled, "{appends}");
            let undone = done();
            let is_done = |what: &str| undone.iter().any(|done| done == what);
            assert_eq!(is_done("reserve 1"), is_done("release 1"), "{appends}");
            let journal = ended.journal().await.unwrap();
            let steps: Vec<&str> = journal.iter().map(|record| record.step.as_str()).collect();
            let has_new_name = |step: &&&str| step.contains("hold") || step.contains("parcels");
            assert_eq!(steps.iter().find(has_new_name), None, "{appends}");
            each_once();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_is_taken_under_another_name() {
    for every in [256, 1] {
        for appends in 0..=appends_to_wait(every).await {
            let store = store();
            let id = begun(&store, every, appends).await;
            let runtime = Runtime::with_options(
                Faulty::new(&store, CrashAfter::appends(3)),
                options().lease(Duration::from_millis(60)),
            );
            runtime.register(new::Pickup::new()).unwrap();
            let executions = runtime.executions();
            let fetch = Fetch { at: 7 };
            executions
                .signal(id, fetch, SignalOptions::new())
                .await
                .unwrap();
            runtime.shut_down().await;
            let ended = by_turns(&store, every, id).await;
            let expected = json!({ "all": [8, 10, 12], "at": 7, "end": "default" });
            assert_eq!(ended.output_json().unwrap(), Some(expected), "{appends}");
            let steps = outcomes(&ended.journal().await.unwrap());
            assert_eq!(steps["pickup.hand_over"], 1, "{steps:?}");
            // Each step, each item, and nothing undone.
            assert_eq!(each_once(), 5, "{appends}");
        }
    }
}

flow_law::law! {
    nodes: [reserve, release, pack, hand_over, Fetch],
    flows: [],
    left_out: [old::Pickup, new::Pickup],
}
