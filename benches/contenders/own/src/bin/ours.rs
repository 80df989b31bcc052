//! The workloads as flows of this library.

use std::mem;
use std::process::ExitCode;
use std::sync::Arc;

use bench_harness::{
    BATCH_ITEMS, CHAINS, Contender, ROUNDS, Task, Workload, main as contend, task,
    task_on_two_workers, work,
};
use flow_runtime::prelude::*;

#[path = "../flows.rs"]
mod flows;
#[path = "../nodes.rs"]
mod nodes;

use flows::*;

struct Ours;

impl Contender for Ours {
    fn workload(workload: Workload) -> Result<Task, &'static str> {
        Ok(match workload {
            Workload::Single => {
                let flow = Single::new();
                task(async move |total| {
                    total_of(flow.run(SingleInput { total }).await, |out| out.total)
                })
            }
            Workload::Chain => {
                let flow = Chain::new();
                task(async move |total| {
                    total_of(flow.run(ChainInput { total }).await, |out| out.total)
                })
            }
            Workload::FallibleChain => {
                let flow = FallibleChain::new();
                task(async move |total| {
                    total_of(flow.run(FallibleChainInput { total }).await, |out| {
                        out.total
                    })
                })
            }
            Workload::Loop => {
                let flow = Loop::new();
                task(async move |total| {
                    let input = LoopInput {
                        total,
                        limit: total + ROUNDS,
                    };
                    total_of(flow.run(input).await, |out| out.total)
                })
            }
            Workload::Branch => {
                let flow = Branch::new();
                task(async move |value| {
                    total_of(flow.run(BranchInput { value }).await, |out| out.value)
                })
            }
            Workload::Fork => {
                let flow = Fork::new();
                task(async move |value| {
                    total_of(flow.run(ForkInput { value }).await, |out| out.sum)
                })
            }
            Workload::Nested => {
                let flow = Nested::new();
                task(async move |total| {
                    total_of(flow.run(NestedInput { total }).await, |out| out.total)
                })
            }
            Workload::Payload => {
                let flow = Payload::new();
                let mut value = work::payload();
                task(async move |_| {
                    let before = work::first_of(&value);
                    let payload = mem::take(&mut value);
                    value = total_of(flow.run(PayloadInput { payload }).await, |out| out.payload);
                    work::changes(before, &value)
                })
            }
            Workload::Batch => {
                let flow = Batch::new();
                let mut all: Vec<u64> = (0..BATCH_ITEMS).collect();
                task(async move |_| {
                    let items = mem::take(&mut all);
                    let out = flow.run(BatchInput { items }).await;
                    let (items, results) = total_of(out, |out| (out.items, out.results));
                    all = items;
                    results.iter().sum()
                })
            }
            Workload::WaitingBatch => {
                let flow = WaitingBatch::new();
                let mut all: Vec<u64> = (0..BATCH_ITEMS).collect();
                task(async move |_| {
                    let items = mem::take(&mut all);
                    let out = flow.run(WaitingBatchInput { items }).await;
                    let (items, results) = total_of(out, |out| (out.items, out.results));
                    all = items;
                    results.iter().sum()
                })
            }
            Workload::Concurrent => {
                let flow = Arc::new(WaitingChain::new());
                task_on_two_workers(async move |total| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let flow = Arc::clone(&flow);
                        chains.spawn(async move {
                            total_of(flow.run(WaitingChainInput { total }).await, |out| out.total)
                        });
                    }
                    chains.join_all().await.iter().sum()
                })
            }
            Workload::Observed => {
                let flow = Loop::new();
                let observer: Arc<dyn Observer> = Arc::new(|_: &Event<'_>| {});
                task(async move |total| {
                    let input = LoopInput {
                        total,
                        limit: total + ROUNDS,
                    };
                    let options = RunOptions::new().observer(Arc::clone(&observer));
                    total_of(flow.run_with(input, options).await, |out| out.total)
                })
            }
            Workload::ObservedChain => {
                let flow = Chain::new();
                let observer: Arc<dyn Observer> = Arc::new(|_: &Event<'_>| {});
                task(async move |total| {
                    let options = RunOptions::new().observer(Arc::clone(&observer));
                    total_of(flow.run_with(ChainInput { total }, options).await, |out| {
                        out.total
                    })
                })
            }
            Workload::Load => return Err("its flows are in the program"),
        })
    }
}

/// Returns a default for a failed run, which the check notices.
fn total_of<O, T: Default>(result: Result<O, FlowError>, take: impl FnOnce(O) -> T) -> T {
    result.map(take).unwrap_or_default()
}

fn main() -> ExitCode {
    contend::<Ours>()
}
