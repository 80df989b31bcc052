//! floxide 3.2.2: typed nodes that hand on their values.
//!
//! A workflow is a struct of its nodes, built once. `node!` makes each node, `workflow!` each
//! workflow. A workflow must have a last node, so a loop needs the additional node `done`. A batch
//! is a `BatchNode`, which gives each item to a thread for blocking work, in groups of sixteen.

use std::mem;
use std::process::ExitCode;
use std::sync::Arc;

use bench_harness::{
    BATCH_CONCURRENCY, BATCH_ITEMS, CHAINS, Contender, ROUNDS, Task as Runs, Workload,
    main as contend, task as runs, task_on_two_workers, work,
};
use floxide::{BatchNode, Workflow, WorkflowCtx};

mod nodes;
mod workflows;

use nodes::*;
use workflows::*;

/// The runs of a workflow from a number to a number.
fn numbers(workflow: impl Workflow<(), Input = u64, Output = u64> + 'static) -> Runs {
    runs(async move |input| {
        let run = workflow.run(&WorkflowCtx::new(()), input).await;
        run.unwrap_or_default()
    })
}

fn batch(workflow: impl Workflow<(), Input = Vec<u64>, Output = Vec<u64>> + 'static) -> Runs {
    let items: Vec<u64> = (0..BATCH_ITEMS).collect();
    runs(async move |_| {
        let run = workflow.run(&WorkflowCtx::new(()), items.clone()).await;
        run.unwrap_or_default().iter().sum()
    })
}

struct Floxide;

impl Contender for Floxide {
    fn workload(workload: Workload) -> Result<Runs, &'static str> {
        Ok(match workload {
            Workload::Single => numbers(Single { one: Add {} }),
            Workload::Chain => numbers(plain::chain()),
            Workload::FallibleChain => numbers(can_fail::chain()),
            Workload::Nested => numbers(nested()),
            Workload::Branch => numbers(Branch {
                choose: Choose {},
                left: Plus { more: 1 },
                middle: Plus { more: 2 },
                right: Plus { more: 3 },
                meet: Double {},
            }),
            Workload::Loop => {
                let workflow = Rounds {
                    add: LimitedAdd {},
                    check: Check {},
                    done: Done {},
                };
                runs(async move |total| {
                    let context = WorkflowCtx::new(Limit(total + ROUNDS));
                    workflow.run(&context, total).await.unwrap_or_default()
                })
            }
            Workload::Payload => {
                let workflow = large::chain();
                let mut payload = work::payload();
                runs(async move |_| {
                    let before = work::first_of(&payload);
                    let input = mem::take(&mut payload);
                    let run = workflow.run(&WorkflowCtx::new(()), input).await;
                    payload = run.unwrap_or_default();
                    work::changes(before, &payload)
                })
            }
            Workload::Batch => batch(Batch {
                results: BatchNode::new(Double {}, BATCH_CONCURRENCY),
            }),
            Workload::WaitingBatch => batch(WaitingBatch {
                results: BatchNode::new(SlowDouble {}, BATCH_CONCURRENCY),
            }),
            Workload::Concurrent => {
                let workflow = Arc::new(waiting::chain());
                task_on_two_workers(async move |total| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let workflow = Arc::clone(&workflow);
                        chains.spawn(async move {
                            let run = workflow.run(&WorkflowCtx::new(()), total).await;
                            run.unwrap_or_default()
                        });
                    }
                    chains.join_all().await.iter().sum()
                })
            }
            Workload::Fork => return Err("a local run takes one node after the other"),
            Workload::Observed | Workload::ObservedChain => {
                return Err("no observers, only tracing");
            }
            Workload::Load => return Err("a workflow is built in Rust"),
        })
    }

    fn spreads(workload: Workload) -> bool {
        use Workload::{Batch, Concurrent, WaitingBatch};
        matches!(workload, Batch | WaitingBatch | Concurrent)
    }
}

fn main() -> ExitCode {
    contend::<Floxide>()
}
