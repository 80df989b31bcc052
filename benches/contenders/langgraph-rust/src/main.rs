//! `langgraph` 0.2.5, a port of LangGraph: supersteps over channels of JSON values.
//!
//! A node is an async function from the state to its changes. A graph is built and compiled once,
//! with the step limit that the loop needs. A compiled graph can be a node of another one. An
//! observer reads the stream of `astream`: the state after each superstep, and last the result.

use std::process::ExitCode;
use std::sync::Arc;

use bench_harness::{
    CHAINS, Contender, ROUNDS, Task as Runs, Workload, main as contend, task as runs,
    task_on_two_workers, work,
};
use futures::StreamExt as _;
use langgraph::langgraph_state;
use langgraph::prelude::*;
use serde::Deserialize as _;
use serde_json::json;

type Update = Result<JsonValue, RunnableError>;

const NAMES: [&str; 10] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

#[langgraph_state]
struct Totals {
    total: u64,
    limit: u64,
    next: String,
}

#[langgraph_state]
struct Large {
    payload: String,
}

fn read(state: &JsonValue, key: &str) -> Result<u64, RunnableError> {
    let value = state[key].as_u64();
    value.ok_or_else(|| RunnableError::Node(format!("no {key}")))
}

async fn add(state: JsonValue, _config: RunnableConfig) -> Update {
    Ok(json!({ "total": work::add(read(&state, "total")?) }))
}

async fn try_add(state: JsonValue, _config: RunnableConfig) -> Update {
    let total = work::checked_add(read(&state, "total")?);
    Ok(json!({ "total": total.map_err(|error| RunnableError::Other(error.into()))? }))
}

async fn waiting_add(state: JsonValue, _config: RunnableConfig) -> Update {
    work::give_way().await;
    Ok(json!({ "total": work::add(read(&state, "total")?) }))
}

async fn touch(state: JsonValue, _config: RunnableConfig) -> Update {
    let payload = String::deserialize(&state["payload"]);
    let payload = payload.map_err(|error| RunnableError::Other(error.into()))?;
    Ok(json!({ "payload": work::touch_text(payload) }))
}

async fn check(state: JsonValue, _config: RunnableConfig) -> Update {
    let next = match work::is_enough(read(&state, "total")?, read(&state, "limit")?) {
        true => END,
        false => "add",
    };
    Ok(json!({ "next": next }))
}

async fn choose(state: JsonValue, _config: RunnableConfig) -> Update {
    let next = match work::way(read(&state, "total")?) {
        0 => "left",
        1 => "middle",
        _ => "right",
    };
    Ok(json!({ "next": next }))
}

/// Conditional edges see the update that the node returned.
fn chosen(update: &JsonValue) -> String {
    update["next"].as_str().unwrap_or(END).to_string()
}

async fn left(state: JsonValue, _config: RunnableConfig) -> Update {
    Ok(json!({ "total": work::plus(read(&state, "total")?, 1) }))
}

async fn middle(state: JsonValue, _config: RunnableConfig) -> Update {
    Ok(json!({ "total": work::plus(read(&state, "total")?, 2) }))
}

async fn right(state: JsonValue, _config: RunnableConfig) -> Update {
    Ok(json!({ "total": work::plus(read(&state, "total")?, 3) }))
}

async fn meet(state: JsonValue, _config: RunnableConfig) -> Update {
    Ok(json!({ "total": work::double(read(&state, "total")?) }))
}

type Built = Result<CompiledStateGraph, GraphError>;

/// Nodes one after the other.
fn line(mut graph: StateGraph, names: &[&str]) -> Built {
    let mut last = START;
    for &name in names {
        graph.add_edge(last, name)?;
        last = name;
    }
    graph.add_edge(last, END)?;
    graph.compile()
}

/// Ten nodes of one kind.
macro_rules! chain {
    ($state:ident, $node:ident) => {{
        let mut graph = StateGraph::new($state::create_channels());
        NAMES
            .iter()
            .try_for_each(|&name| graph.add_node(name, $node).map(drop))
            .and_then(|()| line(graph, &NAMES))
    }};
}

fn single() -> Built {
    let mut graph = StateGraph::new(Totals::create_channels());
    graph.add_node("one", add)?;
    line(graph, &["one"])
}

fn rounds() -> Built {
    let mut graph = StateGraph::new(Totals::create_channels());
    graph.add_node("add", add)?;
    graph.add_node("check", check)?;
    graph.add_edge(START, "add")?;
    graph.add_edge("add", "check")?;
    graph.add_conditional_edges("check", RoutingFn(chosen), None)?;
    let limit = 2 * ROUNDS + 1;
    graph.compile_builder().recursion_limit(limit).build()
}

fn branch() -> Built {
    let mut graph = StateGraph::new(Totals::create_channels());
    graph.add_node("choose", choose)?;
    graph.add_node("left", left)?;
    graph.add_node("middle", middle)?;
    graph.add_node("right", right)?;
    graph.add_node("meet", meet)?;
    graph.add_edge(START, "choose")?;
    graph.add_conditional_edges("choose", RoutingFn(chosen), None)?;
    graph.add_edge("left", "meet")?;
    graph.add_edge("middle", "meet")?;
    graph.add_edge("right", "meet")?;
    graph.add_edge("meet", END)?;
    graph.compile()
}

/// A line of nodes with these names. `inner` can be a graph.
fn with_inner(names: &[&str], inner: Option<CompiledStateGraph>) -> Built {
    let mut graph = StateGraph::new(Totals::create_channels());
    for &name in names {
        if name != "inner" {
            graph.add_node(name, add)?;
        }
    }
    if let Some(inner) = inner {
        graph.add_node("inner", Arc::new(inner) as Arc<dyn Runnable>)?;
    }
    line(graph, names)
}

fn nested() -> Built {
    let innermost = with_inner(&["four", "five", "six", "seven"], None)?;
    let inner = with_inner(&["two", "three", "inner", "eight", "nine"], Some(innermost))?;
    with_inner(&["one", "inner", "ten"], Some(inner))
}

/// Runs a graph. Returns a default for a failed run, which the check notices.
async fn run(graph: &CompiledStateGraph, input: JsonValue) -> u64 {
    let output = graph.ainvoke(&input, &RunnableConfig::new()).await;
    output.map_or(0, |state| read(&state, "total").unwrap_or_default())
}

async fn observed_run(graph: &CompiledStateGraph, input: JsonValue) -> u64 {
    let config = RunnableConfig::new();
    let stream = graph.astream(&input, &config, vec![StreamMode::Values]);
    let last = stream.fold(None, async |_, part| Some(part.data)).await;
    last.map_or(0, |state| read(&state, "total").unwrap_or_default())
}

fn bytes(payload: &JsonValue) -> &[u8] {
    payload.as_str().unwrap_or_default().as_bytes()
}

struct LangGraph;

impl Contender for LangGraph {
    fn workload(workload: Workload) -> Result<Runs, &'static str> {
        let built = |graph: Built| graph.map_err(|_| "its graph does not build");
        Ok(match workload {
            Workload::Single
            | Workload::Chain
            | Workload::FallibleChain
            | Workload::Nested
            | Workload::Branch => {
                let graph = built(match workload {
                    Workload::Single => single(),
                    Workload::Chain => chain!(Totals, add),
                    Workload::FallibleChain => chain!(Totals, try_add),
                    Workload::Nested => nested(),
                    _ => branch(),
                })?;
                runs(async move |total| run(&graph, json!({ "total": total })).await)
            }
            Workload::Loop => {
                let graph = built(rounds())?;
                runs(async move |total| {
                    run(&graph, json!({ "total": total, "limit": total + ROUNDS })).await
                })
            }
            Workload::Payload => {
                let graph = built(chain!(Large, touch))?;
                let mut payload = json!(work::payload_text());
                runs(async move |_| {
                    let before = work::first_of(bytes(&payload));
                    let input = json!({ "payload": payload });
                    let output = graph.ainvoke(&input, &RunnableConfig::new()).await;
                    payload = output.map_or(JsonValue::Null, |mut state| state["payload"].take());
                    work::changes(before, bytes(&payload))
                })
            }
            Workload::Concurrent => {
                let graph = Arc::new(built(chain!(Totals, waiting_add))?);
                task_on_two_workers(async move |total| {
                    let mut chains = tokio::task::JoinSet::new();
                    for _ in 0..CHAINS {
                        let graph = Arc::clone(&graph);
                        chains.spawn(async move { run(&graph, json!({ "total": total })).await });
                    }
                    chains.join_all().await.iter().sum()
                })
            }
            Workload::Observed => {
                let graph = built(rounds())?;
                runs(async move |total| {
                    let input = json!({ "total": total, "limit": total + ROUNDS });
                    observed_run(&graph, input).await
                })
            }
            Workload::ObservedChain => {
                let graph = built(chain!(Totals, add))?;
                runs(async move |total| observed_run(&graph, json!({ "total": total })).await)
            }
            Workload::Fork => return Err("the nodes of a superstep run one after the other"),
            Workload::Batch | Workload::WaitingBatch => return Err("no node for each item"),
            Workload::Load => return Err("a graph is built in Rust"),
        })
    }
}

fn main() -> ExitCode {
    contend::<LangGraph>()
}
