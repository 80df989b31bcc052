//! The law of changes: what a diff calls compatible continues from wherever an execution stands, and
//! for what it calls breaking there is an execution that does not.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{
    Durable, ExecutionId, Record, Row, Runtime, RuntimeError, StartOptions, Status, Store as _,
};
use flow_runtime::engine::AnyFlow;
use flow_runtime::prelude::*;
use flow_spec::FlowDocument;
use serde_json::{Value, json};

use crate::changed::{Go, Rows as _};
use crate::support::{Shared, options, store};

#[node]
pub(crate) fn one(number: &u64) -> u64 {
    number + 1
}

#[node]
pub(crate) fn two(number: &u64) -> u64 {
    number + 2
}

#[node]
pub(crate) fn three(number: &u64) -> u64 {
    number + 3
}

#[node]
fn last(number: &u64, go: &Go) -> u64 {
    number * 10 + u64::from(go.yes)
}

macro_rules! chains {
    ($($module:ident: $($path:ident)>>+;)*) => {
        $(
            mod $module {
                use super::*;

                flow! {
                    pub(crate) Chain(number: u64) -> (last: u64) {
                        start $(>> $path)+ >> end;
                    }
                }
            }
        )*

        fn chains() -> Vec<Arc<dyn AnyFlow<Durable>>> {
            vec![$(Arc::new($module::Chain::new())),*]
        }

        flow_law::law! {
            nodes: [one, two, three, last],
            flows: [],
            left_out: [$($module::Chain,)* at_once_1::Loop, at_once_2::Loop, at_once_3::Loop],
        }
    };
}

chains! {
    original: one >> two >> Go >> last;
    before: three >> one >> two >> Go >> last;
    between: one >> three >> two >> Go >> last;
    before_the_question: one >> two >> three >> Go >> last;
    after_the_question: one >> two >> Go >> three >> last;
    at_the_end: one >> two >> Go >> last >> three;
    swapped: two >> one >> Go >> last;
    without: one >> Go >> last;
}

/// Takes as many seconds as its item.
#[node]
pub(crate) async fn done(item: &u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(*item)).await;
    item * 10
}

macro_rules! loops {
    ($($module:ident: $at_once:literal;)*) => {
        $(
            mod $module {
                use super::*;

                flow! {
                    pub(crate) Loop(items: Vec<u64>) -> (all: Vec<u64>) {
                        node all: for item in items { done } with concurrency($at_once);
                        start >> all >> end;
                    }
                }
            }
        )*

        fn loops() -> Vec<Arc<dyn AnyFlow<Durable>>> {
            vec![$(Arc::new($module::Loop::new())),*]
        }
    };
}

loops! {
    at_once_1: 1;
    at_once_2: 2;
    at_once_3: 3;
}

fn runtime(store: Shared, flow: &Arc<dyn AnyFlow<Durable>>) -> Runtime {
    let runtime = Runtime::with_options(store, options());
    runtime.register(flow.clone()).unwrap();
    runtime
}

/// Answers what is asked, until the execution is over.
async fn finished(runtime: &Runtime, id: ExecutionId) -> Result<Status, RuntimeError> {
    loop {
        let execution = runtime.executions().get(id).await?.settled().await?;
        if execution.status().is_over() {
            return Ok(execution.status());
        }
        for question in execution.questions().await? {
            runtime
                .executions()
                .resume(question.token(), json!({ "yes": true }))
                .await?;
        }
    }
}

/// The journal of an execution that is over.
pub(crate) async fn whole(
    flow: &Arc<dyn AnyFlow<Durable>>,
    input: &Value,
) -> (Shared, Row, Vec<Record>) {
    let store = store();
    let runtime = runtime(store.clone(), flow);
    let start = runtime
        .executions()
        .start_json(flow.name(), input.clone(), StartOptions::new());
    let id = start.await.unwrap().id();
    assert_eq!(finished(&runtime, id).await.unwrap(), Status::Completed);
    let journal = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .journal()
        .await
        .unwrap();
    runtime.shut_down().await;
    let row = store.execution_row(id).await;
    (store, row, journal)
}

/// Whether a version refuses an execution with the first records of a journal. What it does not
/// refuse, it ends.
pub(crate) async fn is_refused(
    (store, row, journal): &(Shared, Row, Vec<Record>),
    length: usize,
    new: &Arc<dyn AnyFlow<Durable>>,
) -> bool {
    let runtime = runtime(store.clone(), new);
    let id = ExecutionId::from(uuid::Uuid::now_v7());
    let half = Row {
        id,
        status: Status::Running,
        result: None,
        fence: 0,
        ..row.clone()
    };
    let records = journal[..length].to_vec();
    store.create(half, records, Vec::new(), None).await.unwrap();
    let stranded = runtime.check_executions().await.unwrap();
    let recovered = runtime.recover().await.unwrap();
    let is_refused = !stranded.is_empty();
    assert_eq!(
        is_refused,
        !recovered.refused.is_empty(),
        "{stranded:?} {recovered:?}"
    );
    if !is_refused {
        assert_eq!(finished(&runtime, id).await.unwrap(), Status::Completed);
    }
    runtime.shut_down().await;
    assert!(store.delete(id).await.unwrap());
    is_refused
}

async fn hold(versions: Vec<Arc<dyn AnyFlow<Durable>>>, inputs: &[Value]) {
    for old in &versions {
        let mut journals = Vec::new();
        for input in inputs {
            journals.push(whole(old, input).await);
        }
        for new in &versions {
            let parse = |flow: &dyn AnyFlow<Durable>| FlowDocument::parse_spec(flow.structure());
            let diff = flow_spec::diff(&parse(&**old).unwrap(), &parse(&**new).unwrap());
            let mut refused = 0;
            for journal in &journals {
                // The last record says that it is over.
                for length in 1..journal.2.len() {
                    refused += u32::from(is_refused(journal, length, new).await);
                }
            }
            let breaks = diff
                .changes
                .iter()
                .any(|change| change.executions == flow_spec::diff::Effect::Breaking);
            assert_eq!(breaks, refused > 0, "{refused} refused:\n{diff}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_diff_says_which_chains_break_executions() {
    hold(chains(), &[json!({ "number": 4 })]).await;
}

#[tokio::test(start_paused = true)]
async fn a_diff_says_which_loops_break_executions() {
    let orders = [[3, 1, 2], [3, 3, 1], [1, 2, 3]];
    let inputs = orders.map(|items| json!({ "items": items }));
    hold(loops(), &inputs).await;
}
