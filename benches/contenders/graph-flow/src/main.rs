//! graph-flow 0.8.1: tasks over a shared context of JSON values.
//!
//! A graph is built once and run with `execute_session`, each time in a new session, which is not
//! stored. Every task but the last asks for the next one with `ContinueAndExecute`. A choice of
//! three ways is two conditional edges. The branches of a fork are the children of a `FanOutTask`,
//! which spawns them.

use std::process::ExitCode;
use std::sync::Arc;

use bench_harness::{
    CHAINS, Contender, ROUNDS, Task as Runs, Workload, main as contend, task as runs,
    task_on_two_workers, work,
};
use graph_flow::fanout::FanOutTask;
use graph_flow::{Context, Graph, GraphBuilder, NextAction, Result, Session, Task};
use serde::Serialize;
use serde::de::DeserializeOwned;

mod tasks;

use tasks::*;

const NAMES: [&str; 10] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// The action after the task at this place of ten.
fn next(place: usize) -> NextAction {
    match place {
        9 => NextAction::End,
        _ => NextAction::ContinueAndExecute,
    }
}

fn chain<T: Task + 'static>(task: impl Fn(&'static str, NextAction) -> T) -> Result<Graph> {
    let mut graph = GraphBuilder::new("chain");
    for (place, id) in NAMES.into_iter().enumerate() {
        graph = graph.add_task(Arc::new(task(id, next(place))));
    }
    for names in NAMES.windows(2) {
        graph = graph.add_edge(names[0], names[1]);
    }
    graph.build()
}

fn single() -> Result<Graph> {
    let (id, next) = ("one", NextAction::End);
    GraphBuilder::new("single")
        .add_task(Arc::new(Add { id, next }))
        .build()
}

fn rounds() -> Result<Graph> {
    let on = NextAction::ContinueAndExecute;
    GraphBuilder::new("loop")
        .add_task(Arc::new(Add {
            id: "add",
            next: on.clone(),
        }))
        .add_task(Arc::new(Check {
            id: "check",
            next: on,
        }))
        .add_task(Arc::new(Done {
            id: "done",
            next: NextAction::End,
        }))
        .add_edge("add", "check")
        .add_conditional_edge(
            "check",
            |context| context.get("enough").unwrap_or(true),
            "done",
            "add",
        )
        .build()
}

fn plus(id: &'static str, more: u64, writes: &'static str) -> Arc<Plus> {
    let next = NextAction::ContinueAndExecute;
    Arc::new(Plus {
        id,
        next,
        more,
        writes,
    })
}

fn branch() -> Result<Graph> {
    let goes = |way| move |context: &Context| context.get("way") == Some(way);
    GraphBuilder::new("branch")
        .add_task(Arc::new(Choose {
            id: "choose",
            next: NextAction::ContinueAndExecute,
        }))
        .add_task(plus("left", 1, "value"))
        .add_task(plus("middle", 2, "value"))
        .add_task(plus("right", 3, "value"))
        .add_task(Arc::new(Meet {
            id: "meet",
            next: NextAction::End,
        }))
        .add_conditional_edge("choose", goes(0), "left", "right")
        .add_conditional_edge("choose", goes(1), "middle", "right")
        .add_edge("left", "meet")
        .add_edge("middle", "meet")
        .add_edge("right", "meet")
        .build()
}

fn fork() -> Result<Graph> {
    let children = BRANCHES.into_iter().zip(1..);
    let children = children.map(|(id, more)| plus(id, more, id) as Arc<dyn Task>);
    let fork = FanOutTask::new("fork", children.collect());
    GraphBuilder::new("fork")
        .add_task(fork.with_next_action(NextAction::ContinueAndExecute))
        .add_task(Arc::new(Sum {
            id: "sum",
            next: NextAction::End,
        }))
        .add_edge("fork", "sum")
        .build()
}

/// Runs a graph with the given values, and returns the value of `output`.
async fn run<V: Serialize, T: DeserializeOwned>(
    graph: &Graph,
    values: &[(&str, V)],
    output: &str,
) -> Result<T> {
    let start = graph.start_task_id().unwrap_or_default();
    let mut session = Session::new_from_task("run".into(), start);
    for (key, value) in values {
        session.context.set(*key, value)?;
    }
    graph.execute_session(&mut session).await?;
    read(&session.context, output)
}

/// Returns a graph with fixed wiring. It is valid unless the program is wrong.
fn built(graph: Result<Graph>) -> std::result::Result<Graph, &'static str> {
    graph.map_err(|_| "its graph does not build")
}

struct GraphFlow;

impl Contender for GraphFlow {
    fn workload(workload: Workload) -> std::result::Result<Runs, &'static str> {
        Ok(match workload {
            Workload::Single | Workload::Chain | Workload::FallibleChain => {
                let graph = built(match workload {
                    Workload::Single => single(),
                    Workload::Chain => chain(|id, next| Add { id, next }),
                    _ => chain(|id, next| TryAdd { id, next }),
                })?;
                runs(async move |total| {
                    run(&graph, &[("total", total)], "total")
                        .await
                        .unwrap_or_default()
                })
            }
            Workload::Loop => {
                let graph = built(rounds())?;
                runs(async move |total| {
                    let values = [("total", total), ("limit", total + ROUNDS)];
                    run(&graph, &values, "total").await.unwrap_or_default()
                })
            }
            Workload::Branch => {
                let graph = built(branch())?;
                runs(async move |value| {
                    run(&graph, &[("value", value)], "value")
                        .await
                        .unwrap_or_default()
                })
            }
            Workload::Fork => {
                let graph = built(fork())?;
                runs(async move |value| {
                    run(&graph, &[("value", value)], "sum")
                        .await
                        .unwrap_or_default()
                })
            }
            Workload::Payload => {
                let graph = built(chain(|id, next| Touch { id, next }))?;
                let mut payload = work::payload_text();
                runs(async move |_| {
                    let before = work::first_of(payload.as_bytes());
                    let run = run(&graph, &[("payload", &payload)], "payload").await;
                    payload = run.unwrap_or_default();
                    work::changes(before, payload.as_bytes())
                })
            }
            Workload::Concurrent => {
                let graph = Arc::new(built(chain(|id, next| WaitingAdd { id, next }))?);
                task_on_two_workers(async move |total| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let graph = Arc::clone(&graph);
                        chains.spawn(async move {
                            run(&graph, &[("total", total)], "total")
                                .await
                                .unwrap_or_default()
                        });
                    }
                    chains.join_all().await.iter().sum::<u64>()
                })
            }
            Workload::Nested => return Err("a graph is not a task"),
            Workload::Batch | Workload::WaitingBatch => return Err("no task for each item"),
            Workload::Observed | Workload::ObservedChain => {
                return Err("no observers, only tracing");
            }
            Workload::Load => return Err("a graph is built in Rust"),
        })
    }
}

fn main() -> ExitCode {
    contend::<GraphFlow>()
}
