//! dagx 0.3.1: a graph without cycles, whose tasks lend each other their results.
//!
//! Each task is a struct with a `#[task]` method, wired with `depends_on`. A run consumes its
//! tasks, so building the graph is part of the measured time. The first task contains the input.

use std::mem;
use std::process::ExitCode;

use bench_harness::work::Overflow;
use bench_harness::{
    CHAINS, Contender, Task as Runs, Workload, main as contend, task as runs, task_on_two_workers,
    work,
};
use dagx::{DagResult, DagRunner, Task, TaskHandle, task};

struct First(u64);

#[task]
impl First {
    async fn run(&self) -> u64 {
        work::add(self.0)
    }
}

struct Add;

#[task]
impl Add {
    async fn run(total: &u64) -> u64 {
        work::add(*total)
    }
}

struct TryFirst(u64);

#[task]
impl TryFirst {
    async fn run(&self) -> Result<u64, Overflow> {
        work::checked_add(self.0)
    }
}

struct TryAdd;

#[task]
impl TryAdd {
    async fn run(total: &Result<u64, Overflow>) -> Result<u64, Overflow> {
        work::checked_add((*total)?)
    }
}

struct WaitingFirst(u64);

#[task]
impl WaitingFirst {
    async fn run(&self) -> u64 {
        work::give_way().await;
        work::add(self.0)
    }
}

struct WaitingAdd;

#[task]
impl WaitingAdd {
    async fn run(total: &u64) -> u64 {
        work::give_way().await;
        work::add(*total)
    }
}

struct TouchFirst(Vec<u8>);

#[task]
impl TouchFirst {
    async fn run(&mut self) -> Vec<u8> {
        work::touch(mem::take(&mut self.0))
    }
}

struct Touch;

#[task]
impl Touch {
    #[expect(
        clippy::ptr_arg,
        reason = "a task is lent what the one before it returned"
    )]
    async fn run(payload: &Vec<u8>) -> Vec<u8> {
        work::touch(payload.clone())
    }
}

struct Plus {
    value: u64,
    more: u64,
}

#[task]
impl Plus {
    async fn run(&self) -> u64 {
        work::plus(self.value, self.more)
    }
}

struct Sum;

#[task]
impl Sum {
    #[expect(
        clippy::too_many_arguments,
        reason = "it reads what eight branches found"
    )]
    async fn run(a: &u64, b: &u64, c: &u64, d: &u64, e: &u64, f: &u64, g: &u64, h: &u64) -> u64 {
        a + b + c + d + e + f + g + h
    }
}

/// Ten tasks of one graph, and the result of the last one.
macro_rules! chain {
    ($first:expr, $next:expr) => {{
        let graph = DagRunner::new();
        let mut last: TaskHandle<_> = graph.add_task($first).into();
        for _ in 1..10 {
            last = graph.add_task($next).depends_on(&last);
        }
        output(&graph, last).await
    }};
}

async fn output<T>(graph: &DagRunner, last: TaskHandle<T>) -> DagResult<T>
where
    T: Clone + Send + Sync + 'static,
{
    let spawn = |future| {
        tokio::spawn(future);
    };
    graph.run(spawn).await?;
    graph.get(last)
}

struct Dagx;

impl Contender for Dagx {
    fn workload(workload: Workload) -> Result<Runs, &'static str> {
        Ok(match workload {
            Workload::Single => runs(async |total| {
                let graph = DagRunner::new();
                let only = graph.add_task(First(total)).into();
                output(&graph, only).await.unwrap_or_default()
            }),
            Workload::Chain => runs(async |total| chain!(First(total), Add).unwrap_or_default()),
            Workload::FallibleChain => runs(async |total| match chain!(TryFirst(total), TryAdd) {
                Ok(Ok(total)) => total,
                Ok(Err(_)) | Err(_) => 0,
            }),
            Workload::Fork => runs(async |value| {
                let graph = DagRunner::new();
                let branch = |more| graph.add_task(Plus { value, more });
                let sum = graph.add_task(Sum).depends_on((
                    &branch(1),
                    &branch(2),
                    &branch(3),
                    &branch(4),
                    &branch(5),
                    &branch(6),
                    &branch(7),
                    &branch(8),
                ));
                output(&graph, sum).await.unwrap_or_default()
            }),
            Workload::Payload => {
                let mut payload = work::payload();
                runs(async move |_| {
                    let before = work::first_of(&payload);
                    payload =
                        chain!(TouchFirst(mem::take(&mut payload)), Touch).unwrap_or_default();
                    work::changes(before, &payload)
                })
            }
            Workload::Concurrent => task_on_two_workers(async |total| {
                let mut chains = tokio::task::JoinSet::new();
                for _ in 0..CHAINS {
                    chains.spawn(async move {
                        chain!(WaitingFirst(total), WaitingAdd).unwrap_or_default()
                    });
                }
                chains.join_all().await.iter().sum()
            }),
            Workload::Loop | Workload::Observed => return Err("no loops"),
            Workload::Branch => return Err("no branches: every task runs"),
            Workload::Nested => return Err("a graph is not a task"),
            Workload::Batch | Workload::WaitingBatch => {
                return Err("no limit on how many tasks run at once");
            }
            Workload::ObservedChain => return Err("no observers, only tracing"),
            Workload::Load => return Err("a graph is built in Rust"),
        })
    }
}

fn main() -> ExitCode {
    contend::<Dagx>()
}
