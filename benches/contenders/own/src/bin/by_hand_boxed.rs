//! The floor for a graph that is built at run time: nodes are boxed functions that return boxed
//! futures, and edges are found by index. The state is a typed struct.

use std::error::Error;
use std::mem;
use std::process::ExitCode;

use bench_harness::{
    BATCH_CONCURRENCY, BATCH_ITEMS, CHAINS, Contender, ROUNDS, Task, Workload, main as contend,
    task, task_on_two_workers, work,
};
use futures::StreamExt as _;
use futures::future::{BoxFuture, FutureExt as _, try_join_all};
use std::sync::Arc;

#[path = "../nodes.rs"]
mod nodes;

use nodes::*;

type Failed = Box<dyn Error + Send + Sync>;

/// A node: it changes the state and returns the number of the edge to follow.
type Node<S> = Box<dyn for<'a> Fn(&'a mut S) -> BoxFuture<'a, Result<usize, Failed>> + Send + Sync>;

/// Nodes, and the next node by node and action, or `END`.
struct Graph<S> {
    nodes: Vec<Node<S>>,
    edges: Vec<Vec<usize>>,
}

const END: usize = usize::MAX;

impl<S> Graph<S> {
    fn new() -> Self {
        Graph {
            nodes: Vec::new(),
            edges: Vec::new(),
        }
    }

    fn add(
        &mut self,
        edges: &[usize],
        node: impl for<'a> Fn(&'a mut S) -> BoxFuture<'a, Result<usize, Failed>> + Send + Sync + 'static,
    ) {
        self.nodes.push(Box::new(node));
        self.edges.push(edges.to_vec());
    }

    async fn run(&self, state: &mut S) -> Result<(), Failed> {
        let mut at = 0;
        for _ in 0..1_000_000 {
            let (Some(node), Some(edges)) = (self.nodes.get(at), self.edges.get(at)) else {
                return Ok(());
            };
            let action = node(state).await?;
            at = *edges.get(action).ok_or("no edge for this action")?;
        }
        Err("too many steps".into())
    }
}

#[derive(Default)]
struct Totals {
    total: u64,
    limit: u64,
}

macro_rules! chain {
    ($graph:ident, $state:ident.$field:ident, $($function:ident)*) => {{
        $($graph.add(&[$graph.nodes.len() + 1], |$state| async move {
            $state.$field = $function(mem::take(&mut $state.$field)).await;
            Ok(0)
        }.boxed());)*
        if let Some(last) = $graph.edges.last_mut() {
            last[0] = END;
        }
    }};
}

fn plain() -> Graph<Totals> {
    let mut graph = Graph::<Totals>::new();
    chain!(graph, state.total, one two three four five six seven eight nine ten);
    graph
}

fn single() -> Graph<Totals> {
    let mut graph = Graph::<Totals>::new();
    chain!(graph, state.total, one);
    graph
}

fn can_fail() -> Graph<Totals> {
    let mut graph = Graph::new();
    macro_rules! add {
        ($($function:ident)*) => {
            $(graph.add(&[graph.nodes.len() + 1], |state: &mut Totals| async move {
                state.total = $function(state.total).await?;
                Ok(0)
            }.boxed());)*
        };
    }
    add!(try_one try_two try_three try_four try_five try_six try_seven try_eight try_nine try_ten);
    graph
}

struct Large {
    payload: Vec<u8>,
}

fn large() -> Graph<Large> {
    let mut graph = Graph::<Large>::new();
    chain!(
        graph,
        state.payload,
        large_one large_two large_three large_four large_five large_six large_seven large_eight large_nine large_ten
    );
    graph
}

fn waiting() -> Graph<Totals> {
    let mut graph = Graph::<Totals>::new();
    chain!(
        graph,
        state.total,
        waiting_one waiting_two waiting_three waiting_four waiting_five waiting_six waiting_seven waiting_eight
        waiting_nine waiting_ten
    );
    graph
}

fn rounds() -> Graph<Totals> {
    let mut graph = Graph::<Totals>::new();
    chain!(graph, state.total, one);
    graph.edges[0][0] = 1;
    graph.add(&[0, END], |state| {
        async move { Ok(check(state.total, state.limit).await as usize) }.boxed()
    });
    graph
}

fn ways() -> Graph<Totals> {
    let mut graph = Graph::new();
    graph.add(&[1, 2, 3], |state: &mut Totals| {
        async move { Ok(choose(state.total).await as usize) }.boxed()
    });
    chain!(graph, state.total, left middle right meet);
    for way in 1..=3 {
        graph.edges[way][0] = 4;
    }
    graph
}

#[derive(Default)]
struct Branches {
    value: u64,
    found: [u64; 8],
    sum: u64,
}

fn fork() -> Graph<Branches> {
    type Branch = for<'a> fn(&'a u64) -> BoxFuture<'a, Result<u64, Failed>>;
    macro_rules! branch {
        ($function:ident) => {
            |value| async move { Ok($function(value).await) }.boxed()
        };
    }
    let branches: [Branch; 8] = [
        branch!(a),
        branch!(b),
        branch!(c),
        branch!(d),
        branch!(e),
        branch!(f),
        branch!(g),
        branch!(h),
    ];
    let mut graph = Graph::new();
    graph.add(&[1], move |state: &mut Branches| {
        async move {
            let value = &state.value;
            let found = try_join_all(branches.iter().map(|branch| branch(value))).await?;
            state.found.copy_from_slice(&found);
            Ok(0)
        }
        .boxed()
    });
    graph.add(&[END], |state| {
        async move {
            let [a, b, c, d, e, f, g, h] = state.found;
            state.sum = sum(a, b, c, d, e, f, g, h).await;
            Ok(0)
        }
        .boxed()
    });
    graph
}

fn nested() -> Graph<Totals> {
    let within = |graph: &mut Graph<Totals>, inner: Graph<Totals>| {
        let inner = Arc::new(inner);
        graph.add(&[graph.nodes.len() + 1], move |state: &mut Totals| {
            let inner = Arc::clone(&inner);
            async move {
                inner.run(state).await?;
                Ok(0)
            }
            .boxed()
        });
    };
    let mut innermost = Graph::<Totals>::new();
    chain!(innermost, state.total, four five six seven);
    let mut inner = Graph::<Totals>::new();
    chain!(inner, state.total, two three);
    inner.edges[1][0] = 2;
    within(&mut inner, innermost);
    chain!(inner, state.total, eight nine);
    let mut outer = Graph::<Totals>::new();
    chain!(outer, state.total, one);
    outer.edges[0][0] = 1;
    within(&mut outer, inner);
    chain!(outer, state.total, ten);
    outer
}

fn totals_task(graph: Graph<Totals>, limit: u64) -> Task {
    task(async move |total| {
        let mut state = Totals {
            total,
            limit: total + limit,
        };
        match graph.run(&mut state).await {
            Ok(()) => state.total,
            Err(_) => 0,
        }
    })
}

fn batch(item: impl for<'a> Fn(&'a u64) -> BoxFuture<'a, u64> + 'static) -> Task {
    let items: Vec<u64> = (0..BATCH_ITEMS).collect();
    task(async move |_| {
        let work = futures::stream::iter(&items).map(&item);
        let results: Vec<u64> = work.buffered(BATCH_CONCURRENCY).collect().await;
        results.iter().sum()
    })
}

struct Boxed;

impl Contender for Boxed {
    fn workload(workload: Workload) -> Result<Task, &'static str> {
        Ok(match workload {
            Workload::Single => totals_task(single(), 0),
            Workload::Chain => totals_task(plain(), 0),
            Workload::FallibleChain => totals_task(can_fail(), 0),
            Workload::Loop => totals_task(rounds(), ROUNDS),
            Workload::Branch => totals_task(ways(), 0),
            Workload::Nested => totals_task(nested(), 0),
            Workload::Fork => {
                let graph = fork();
                task(async move |value| {
                    let mut state = Branches {
                        value,
                        ..Branches::default()
                    };
                    match graph.run(&mut state).await {
                        Ok(()) => state.sum,
                        Err(_) => 0,
                    }
                })
            }
            Workload::Payload => {
                let graph = large();
                let mut state = Large {
                    payload: work::payload(),
                };
                task(async move |_| {
                    let before = work::first_of(&state.payload);
                    match graph.run(&mut state).await {
                        Ok(()) => work::changes(before, &state.payload),
                        Err(_) => 0,
                    }
                })
            }
            Workload::Batch => batch(|item| doubled(item).boxed()),
            Workload::WaitingBatch => batch(|item| slowly_doubled(item).boxed()),
            Workload::Concurrent => {
                let graph = Arc::new(waiting());
                task_on_two_workers(async move |total| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let graph = Arc::clone(&graph);
                        chains.spawn(async move {
                            let mut state = Totals { total, limit: 0 };
                            match graph.run(&mut state).await {
                                Ok(()) => state.total,
                                Err(_) => 0,
                            }
                        });
                    }
                    chains.join_all().await.iter().sum()
                })
            }
            Workload::Observed | Workload::ObservedChain => return Err("nobody to tell"),
            Workload::Load => return Err("its graphs are in the program"),
        })
    }
}

fn main() -> ExitCode {
    contend::<Boxed>()
}
