//! Loops `with spread` in flows that have changed since: whatever refuses an execution refuses its
//! parts, and a part runs its items and nothing else.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_durable::{ExecutionId, Runtime, RuntimeError, StartOptions, Status, Store as _};
use flow_runtime::prelude::*;

use serde_json::json;

use crate::spread::parts;
use crate::support::{Shared, minutes, pass, runtime, seen, store};

/// Whether an item is paid.
#[node(human = "Pay {item}?")]
#[derive(serde::Serialize, serde::Deserialize, Debug)]
enum Allow {
    Yes,
    No,
}

/// Counts what is paid.
#[derive(Debug, Clone, Default)]
struct Pay(Arc<Mutex<u32>>);

#[node(writes = paid)]
impl Pay {
    async fn exec(&self, sums: &[u64]) -> u64 {
        *self.0.lock().unwrap() += 1;
        sums.iter().sum()
    }
}

#[node(writes = amount)]
fn amount(item: &u64) -> u64 {
    item * 10
}

flow! {
    Single(item: u64) -> (amount: u64) {
        start >> Allow - "yes" >> amount >> end;
        Allow - "no" >> amount;
    }
}

mod spread_out {
    use super::*;

    flow! {
        pub(crate) Batch(items: Vec<u64>) -> (paid: u64) {
            node sums: for item in items { Single } with concurrency(2), spread(1);
            node pay: Pay;
            start >> sums >> pay >> end;
        }
    }
}

mod in_one_place {
    use super::*;

    flow! {
        pub(crate) Batch(items: Vec<u64>) -> (paid: u64) {
            node sums: for item in items { Single } with concurrency(2);
            node pay: Pay;
            start >> sums >> pay >> end;
        }
    }
}

fn first(store: Shared, pay: &Pay) -> Runtime {
    let flow = spread_out::Batch::builder().pay(pay.clone()).build();
    runtime(store, flow)
}

fn second(store: Shared, pay: &Pay) -> Runtime {
    let flow = in_one_place::Batch::builder().pay(pay.clone()).build();
    runtime(store, flow)
}

/// An execution whose three parts ask people, in a process that was shut down.
async fn asking(pay: &Pay) -> (Shared, ExecutionId, Vec<ExecutionId>) {
    let store = store();
    let runtime = first(store.clone(), pay);
    let input = spread_out::BatchInput {
        items: vec![1, 2, 3],
    };
    let starting = runtime
        .executions()
        .start::<spread_out::Batch>(input, StartOptions::new());
    let id = starting.await.unwrap().id();
    pass(Duration::from_secs(1)).await;
    let parts: Vec<ExecutionId> = parts(&runtime, id)
        .await
        .iter()
        .map(|part| part.id())
        .collect();
    assert_eq!(parts.len(), 3);
    runtime.shut_down().await;
    (store, id, parts)
}

#[tokio::test(start_paused = true)]
async fn a_part_does_not_go_on_where_its_execution_cannot() {
    let pay = Pay::default();
    let (store, id, parts) = asking(&pay).await;
    let changed = second(store.clone(), &pay);
    changed.recover().await.unwrap();
    for part in &parts {
        let before = seen(&changed, *part).await;
        let error = changed
            .executions()
            .resume(before.2[0], Allow::Yes)
            .await
            .unwrap_err();
        assert!(matches!(error, RuntimeError::FlowChanged { .. }), "{error}");
        assert_eq!(
            seen(&changed, *part).await,
            before,
            "the question stays open"
        );
    }
    pass(minutes(2)).await;
    assert_eq!(*pay.0.lock().unwrap(), 0);
    changed.shut_down().await;

    let same = first(store, &pay);
    same.recover().await.unwrap();
    for part in &parts {
        let (_, _, asked) = seen(&same, *part).await;
        same.executions()
            .resume(asked[0], Allow::Yes)
            .await
            .unwrap();
    }
    let execution = same
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(
        execution
            .output::<spread_out::Batch>()
            .unwrap()
            .unwrap()
            .paid,
        60
    );
    assert_eq!(*pay.0.lock().unwrap(), 1);
}

/// Answered in a process without the flow, and then taken up by one with the new version.
#[tokio::test(start_paused = true)]
async fn a_part_that_was_answered_elsewhere_waits_for_its_version() {
    let pay = Pay::default();
    let (store, id, parts) = asking(&pay).await;
    for part in &parts {
        let asked = store.pauses(*part).await.unwrap();
        let answer = flow_durable::Settlement::Answer("\"Yes\"".to_owned());
        store
            .settle(asked[0].token, answer, asked[0].created_ms + 1)
            .await
            .unwrap();
    }
    let changed = second(store.clone(), &pay);
    let recovered = changed.recover().await.unwrap();
    for part in &parts {
        let refused = recovered.refused.iter().find(|(id, _)| id == part);
        let Some((_, RuntimeError::FlowChanged { .. })) = refused else {
            panic!("{recovered:?}")
        };
    }
    pass(minutes(2)).await;
    assert_eq!(*pay.0.lock().unwrap(), 0);
    changed.shut_down().await;

    let same = first(store, &pay);
    same.recover().await.unwrap();
    let execution = same
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(*pay.0.lock().unwrap(), 1);
}

flow_law::law! {
    nodes: [Allow, amount],
    flows: [Single { inputs: [json!({ "item": 3 })] }],
    left_out: [spread_out::Batch, in_one_place::Batch],
}
