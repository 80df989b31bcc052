//! Budgets of steps: they count the same steps wherever the items of a loop run.

use flow_durable::{RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::support::{options, store};

#[node(writes = one)]
fn one(n: &u64) -> u64 {
    *n
}

#[node(writes = sum)]
fn sum(n: &u64) -> u64 {
    n + 1
}

flow! {
    Inside(n: u64) -> (sum: u64) {
        start >> sum >> wait(1ms) >> end;
    }
}

macro_rules! loops {
    ($($flow:ident: $($body:ident)+ $(, $spread:literal)?;)+) => {
        $(flow! {
            $flow(ns: Vec<u64>) -> (all: Vec<u64>) {
                node all: for n in ns { $($body)+ } $(with spread($spread))?;
                start >> all >> wait(1ms) >> end;
            }
        })+
    };
}

loops! {
    Whole: one;
    Parts: one, 4;
    DeepWhole: Inside;
    DeepParts: Inside, 4;
}

/// The output, or the reason for which the execution, or a part of it, is halted.
async fn outcome(
    runtime: &flow_durable::Runtime,
    flow: &str,
    budget: u64,
) -> Result<Value, String> {
    let ns: Vec<u64> = (0..10).collect();
    let options = StartOptions::new().step_budget(budget);
    let started = runtime
        .executions()
        .start_json(flow, json!({ "ns": ns }), options)
        .await;
    match started.unwrap().settled().await {
        Ok(execution) => {
            assert_eq!(execution.status(), Status::Completed);
            Ok(execution.output_json().unwrap().unwrap()["all"].clone())
        }
        Err(RuntimeError::Halted { reason, .. }) => Err(reason),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_counts_the_steps_of_the_parts_too() {
    let runtime = flow_durable::Runtime::with_options(store(), options());
    runtime.register(Whole::new()).unwrap();
    runtime.register(Parts::new()).unwrap();
    runtime.register(DeepWhole::new()).unwrap();
    runtime.register(DeepParts::new()).unwrap();
    // An item of a loop over one node is no step of its own.
    for (whole, parts, least) in [("Whole", "Parts", 2), ("DeepWhole", "DeepParts", 22)] {
        let mut enough = Vec::new();
        for budget in 1..40 {
            let (whole, parts) = (
                outcome(&runtime, whole, budget).await,
                outcome(&runtime, parts, budget).await,
            );
            assert_eq!(
                whole.clone().ok(),
                parts.clone().ok(),
                "{budget}: {whole:?} {parts:?}"
            );
            for reason in [&whole, &parts]
                .into_iter()
                .filter_map(|it| it.as_ref().err())
            {
                let begins = format!("the run used up its {budget} steps before `");
                assert!(reason.starts_with(&begins), "{reason}");
            }
            enough.extend(parts.is_ok().then_some(budget));
        }
        assert_eq!(enough[0], least, "{enough:?}");
    }
}

#[tokio::test]
async fn a_plain_run_counts_the_same_steps() {
    let ns: Vec<u64> = (0..10).collect();
    let runtime = flow_durable::Runtime::with_options(store(), options());
    runtime.register(Parts::new()).unwrap();
    runtime.register(DeepParts::new()).unwrap();
    for budget in 1..40 {
        let options = || RunOptions::new().step_budget(budget);
        let (flow, input) = (Parts::new(), PartsInput { ns: ns.clone() });
        let plain = flow.run_with(input, options()).await.is_ok();
        let durable = outcome(&runtime, "Parts", budget).await;
        assert_eq!(plain, durable.is_ok(), "{budget}");
        let (flow, input) = (DeepParts::new(), DeepPartsInput { ns: ns.clone() });
        let plain = flow.run_with(input, options()).await.is_ok();
        let durable = outcome(&runtime, "DeepParts", budget).await;
        assert_eq!(plain, durable.is_ok(), "{budget}");
    }
}

flow_law::law! {
    nodes: [one, sum],
    flows: [
        Inside,
        Whole,
        Parts,
        DeepWhole,
        DeepParts,
    ],
}
