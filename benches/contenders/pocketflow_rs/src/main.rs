//! pocketflow_rs 0.1.0: nodes over a context of JSON values.
//!
//! A flow is built once with `build_flow!`. `execute` reads the context. The default `post_process`
//! writes its result to `result`, which a run also returns, so the total is kept there. A node that
//! decides overrides `post_process`. An error of `execute` goes to `post_process`, which by default
//! stores it and continues.

use std::process::ExitCode;
use std::sync::Arc;

use bench_harness::{
    CHAINS, Contender, ROUNDS, Task as Runs, Workload, main as contend, task as runs,
    task_on_two_workers, work,
};
use pocketflow_rs::{Context, Flow, build_flow};
use serde::Deserialize;
use serde_json::{Value, json};

mod nodes;

use nodes::*;

/// Ten nodes of one kind.
macro_rules! chain {
    ($node:ident) => {
        build_flow!(
            start: ("one", $node),
            nodes: [
                ("two", $node), ("three", $node), ("four", $node), ("five", $node), ("six", $node),
                ("seven", $node), ("eight", $node), ("nine", $node), ("ten", $node)
            ],
            edges: [
                ("one", "two", Action::Default), ("two", "three", Action::Default),
                ("three", "four", Action::Default), ("four", "five", Action::Default),
                ("five", "six", Action::Default), ("six", "seven", Action::Default),
                ("seven", "eight", Action::Default), ("eight", "nine", Action::Default),
                ("nine", "ten", Action::Default)
            ]
        )
    };
}

/// Returns a default for a failed run, which the check notices.
async fn run(flow: &Flow<Action>, value: u64, limit: Option<u64>) -> u64 {
    let mut context = Context::new();
    context.set("result", json!(value));
    if let Some(limit) = limit {
        context.set("limit", json!(limit));
    }
    let result = flow.run(context).await;
    result
        .ok()
        .as_ref()
        .and_then(Value::as_u64)
        .unwrap_or_default()
}

struct Pocketflow;

impl Contender for Pocketflow {
    fn workload(workload: Workload) -> Result<Runs, &'static str> {
        Ok(match workload {
            Workload::Single => {
                let flow = build_flow!(start: ("one", Add), nodes: [], edges: []);
                runs(async move |total| run(&flow, total, None).await)
            }
            Workload::Chain => {
                let flow = chain!(Add);
                runs(async move |total| run(&flow, total, None).await)
            }
            Workload::FallibleChain => {
                let flow = chain!(TryAdd);
                runs(async move |total| run(&flow, total, None).await)
            }
            Workload::Loop => {
                let flow = build_flow!(
                    start: ("add", Add),
                    nodes: [("check", Check)],
                    edges: [("add", "check", Action::Default), ("check", "add", Action::Again)]
                );
                runs(async move |total| run(&flow, total, Some(total + ROUNDS)).await)
            }
            Workload::Branch => {
                let flow = build_flow!(
                    start: ("choose", Choose),
                    nodes: [
                        ("left", Plus(1)),
                        ("middle", Plus(2)),
                        ("right", Plus(3)),
                        ("meet", Meet)
                    ],
                    edges: [
                        ("choose", "left", Action::Left),
                        ("choose", "middle", Action::Middle),
                        ("choose", "right", Action::Right),
                        ("left", "meet", Action::Default),
                        ("middle", "meet", Action::Default),
                        ("right", "meet", Action::Default)
                    ]
                );
                runs(async move |value| run(&flow, value, None).await)
            }
            Workload::Payload => {
                let flow = chain!(Touch);
                let mut payload = work::payload_text();
                runs(async move |_| {
                    let before = work::first_of(payload.as_bytes());
                    let mut context = Context::new();
                    context.set("result", json!(payload));
                    let result = flow.run(context).await.unwrap_or_default();
                    payload = String::deserialize(result).unwrap_or_default();
                    work::changes(before, payload.as_bytes())
                })
            }
            Workload::Concurrent => {
                let flow = Arc::new(chain!(WaitingAdd));
                task_on_two_workers(async move |total| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let flow = Arc::clone(&flow);
                        chains.spawn(async move { run(&flow, total, None).await });
                    }
                    chains.join_all().await.iter().sum()
                })
            }
            Workload::Fork => return Err("one node at a time"),
            Workload::Nested => return Err("a flow is not a node"),
            Workload::Batch | Workload::WaitingBatch => {
                return Err("a batch is one flow after the other, and gives no results");
            }
            Workload::Observed | Workload::ObservedChain => {
                return Err("no observers, only tracing");
            }
            Workload::Load => return Err("a flow is built in Rust"),
        })
    }
}

fn main() -> ExitCode {
    contend::<Pocketflow>()
}
