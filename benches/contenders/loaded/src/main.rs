//! The workloads as loaded flows: the documents of the flows of `ours`, with the same nodes.
//!
//! A flow is loaded once. The measured time of a run includes converting its input from JSON and
//! its output to JSON.

use std::mem;
use std::process::ExitCode;
use std::sync::Arc;

use bench_harness::{
    BATCH_ITEMS, CHAINS, Contender, LOADED_NODES, ROUNDS, Task, Workload, main as contend, task,
    task_on_two_workers,
};
use flow_loader::{Format, LoadedFlow, Registry, load, registry};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

#[path = "../../own/src/flows.rs"]
mod flows;
#[path = "../../own/src/nodes.rs"]
mod nodes;

use flows::*;
use nodes::*;

fn all_nodes() -> Registry {
    registry![
        one,
        two,
        three,
        four,
        five,
        six,
        seven,
        eight,
        nine,
        ten,
        check,
        choose,
        left,
        middle,
        right,
        meet,
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
        sum,
        doubled,
        slowly_doubled
    ]
    .with(registry![
        try_one, try_two, try_three, try_four, try_five, try_six, try_seven, try_eight, try_nine,
        try_ten
    ])
    .with(registry![
        large_one,
        large_two,
        large_three,
        large_four,
        large_five,
        large_six,
        large_seven,
        large_eight,
        large_nine,
        large_ten
    ])
    .with(registry![
        waiting_one,
        waiting_two,
        waiting_three,
        waiting_four,
        waiting_five,
        waiting_six,
        waiting_seven,
        waiting_eight,
        waiting_nine,
        waiting_ten
    ])
}

fn loaded(document: &str) -> Result<LoadedFlow, &'static str> {
    load(document, Format::Json, &all_nodes()).map_err(|error| {
        eprintln!("{error}");
        "its document is not accepted"
    })
}

/// Returns a default for a failed run, which the check notices.
fn number(output: &Value) -> u64 {
    output.as_u64().unwrap_or_default()
}

/// The runs of a flow from a number to a number, with a key for each.
fn numbers(document: &str, from: &'static str, to: &'static str) -> Result<Task, &'static str> {
    let flow = loaded(document)?;
    Ok(task(async move |seed| {
        let output = flow.run(json!({ from: seed })).await;
        number(&output.unwrap_or_default()[to])
    }))
}

fn rounds(seed: u64) -> Value {
    json!({ "total": seed, "limit": seed + ROUNDS })
}

fn nobody() -> Arc<dyn Observer> {
    Arc::new(|_: &Event<'_>| {})
}

fn batch(document: &str) -> Result<Task, &'static str> {
    let flow = loaded(document)?;
    let mut items: Value = (0..BATCH_ITEMS).collect();
    Ok(task(async move |_| {
        let input = json!({ "items": mem::take(&mut items) });
        let mut output = flow.run(input).await.unwrap_or_default();
        items = output["items"].take();
        let results = output["results"].as_array().into_iter().flatten();
        results.map(number).sum()
    }))
}

/// A chain of many nodes, written by hand, without their inputs, outputs and decisions.
fn long_chain() -> String {
    let node = |number: u64| json!({ "type": "one", "id": format!("one_{number}") });
    let edge = |number: u64| {
        json!({
            "from": format!("one_{number}"),
            "to": format!("one_{}", number + 1),
            "condition": "default",
        })
    };
    let total = json!({ "type": "object", "properties": { "total": {} }, "required": ["total"] });
    let last = format!("one_{}", LOADED_NODES - 1);
    json!({
        "version": "2.0.0",
        "name": "Long",
        "namespace": "long",
        "inputs": total,
        "outputs": total,
        "nodes": (0..LOADED_NODES).map(node).collect::<Vec<_>>(),
        "entryNodeId": "one_0",
        "edges": (0..LOADED_NODES - 1).map(edge).collect::<Vec<_>>(),
        "ends": [{ "from": last, "condition": "default", "label": "default" }],
    })
    .to_string()
}

struct Loaded;

impl Contender for Loaded {
    fn workload(workload: Workload) -> Result<Task, &'static str> {
        match workload {
            Workload::Single => numbers(Single::SPEC, "total", "total"),
            Workload::Chain => numbers(Chain::SPEC, "total", "total"),
            Workload::FallibleChain => numbers(FallibleChain::SPEC, "total", "total"),
            Workload::Branch => numbers(Branch::SPEC, "value", "value"),
            Workload::Fork => numbers(Fork::SPEC, "value", "sum"),
            Workload::Nested => numbers(Nested::SPEC, "total", "total"),
            Workload::Loop => {
                let flow = loaded(Loop::SPEC)?;
                Ok(task(async move |seed| {
                    let output = flow.run(rounds(seed)).await;
                    number(&output.unwrap_or_default()["total"])
                }))
            }
            Workload::Observed => {
                let (flow, observer) = (loaded(Loop::SPEC)?, nobody());
                Ok(task(async move |seed| {
                    let options = RunOptions::new().observer(Arc::clone(&observer));
                    let output = flow.run_with(rounds(seed), options).await;
                    number(&output.unwrap_or_default()["total"])
                }))
            }
            Workload::ObservedChain => {
                let (flow, observer) = (loaded(Chain::SPEC)?, nobody());
                Ok(task(async move |seed| {
                    let options = RunOptions::new().observer(Arc::clone(&observer));
                    let output = flow.run_with(json!({ "total": seed }), options).await;
                    number(&output.unwrap_or_default()["total"])
                }))
            }
            Workload::Batch => batch(Batch::SPEC),
            Workload::WaitingBatch => batch(WaitingBatch::SPEC),
            Workload::Concurrent => {
                let flow = Arc::new(loaded(WaitingChain::SPEC)?);
                Ok(task_on_two_workers(async move |seed| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let flow = Arc::clone(&flow);
                        chains.spawn(async move {
                            let output = flow.run(json!({ "total": seed })).await;
                            number(&output.unwrap_or_default()["total"])
                        });
                    }
                    chains.join_all().await.iter().sum()
                }))
            }
            Workload::Load => {
                let (document, nodes) = (long_chain(), all_nodes());
                Ok(task(async move |_| {
                    let flow = load(&document, Format::Json, &nodes);
                    flow.map_or(0, |flow| flow.document().nodes.len() as u64)
                }))
            }
            Workload::Payload => {
                Err("its input and its output are JSON, where bytes are an array of numbers")
            }
        }
    }
}

fn main() -> ExitCode {
    contend::<Loaded>()
}
