//! Loops whose items run in parts, on one or more workers.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_durable::{
    Execution, ExecutionId, ListOptions, OpenQuestion, RecordKind, Runtime, RuntimeOptions,
    StartOptions, Status,
};
use flow_loader::{Format, load, registry};
use flow_runtime::prelude::*;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::states::compared;
use crate::support::{Shared, options, store};

/// Says what it did, where, and only as often as it may.
#[derive(Clone)]
pub(crate) struct Work {
    worker: &'static str,
    takes: Duration,
    pub(crate) may: Arc<Semaphore>,
    done: Arc<Mutex<Vec<(&'static str, u32)>>>,
}

impl Work {
    pub(crate) fn new() -> Self {
        Work {
            worker: "one",
            takes: Duration::from_millis(100),
            may: Arc::new(Semaphore::new(1000)),
            done: Arc::default(),
        }
    }

    fn at(&self, worker: &'static str) -> Self {
        Work {
            worker,
            ..self.clone()
        }
    }

    /// How often each number was done.
    pub(crate) fn counts(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for (_, number) in &*self.done.lock().unwrap() {
            *counts.entry(*number).or_default() += 1;
        }
        counts
    }
}

#[node]
impl Work {
    async fn exec(&self, number: &u32, factor: &u32) -> Result<u32, String> {
        self.may.acquire().await.unwrap().forget();
        self.done.lock().unwrap().push((self.worker, *number));
        tokio::time::sleep(self.takes).await;
        if *number == 666 {
            return Err("not this one".to_owned());
        }
        Ok(number * factor)
    }
}

#[node(writes = factor)]
pub(crate) fn factor(numbers: &[u32]) -> u32 {
    u32::try_from(numbers.len()).unwrap()
}

#[node(writes = sum)]
pub(crate) fn sum(products: &[u32]) -> u32 {
    products.iter().sum()
}

#[node(writes = sum)]
fn no_sum(error: &NodeError) -> u32 {
    assert_eq!(error.attempts(), 1);
    0
}

flow! {
    pub(crate) Products(numbers: Vec<u32>) -> (products: Vec<u32>, sum: u32) {
        node work: Work;
        node products: for number in numbers { work } with concurrency(2), spread(4);
        start >> factor >> products >> sum >> end;
    }
}

flow! {
    pub(crate) Forgiving(numbers: Vec<u32>) -> (sum: u32) {
        node work: Work;
        node products: for number in numbers { work } with spread(2);
        start >> factor >> products >> sum >> end;
        products - "error" >> no_sum >> end;
    }
}

flow! {
    Collecting(numbers: Vec<u32>) -> (products: Vec<Result<u32, NodeError>>) {
        node work: Work;
        node products: for number in numbers { work } with spread(3), collect_errors;
        start >> factor >> products >> end;
    }
}

fn products(work: &Work) -> Products {
    Products::builder().work(work.clone()).build()
}

/// At most this many executions at once.
fn slots(at_once: usize) -> RuntimeOptions {
    let at_once = NonZeroUsize::new(at_once).unwrap();
    options().concurrent_executions(at_once.get())
}

pub(crate) fn worker(store: &Shared, work: &Work, at_once: usize) -> Runtime {
    let options = slots(at_once).look_for_work(Duration::from_millis(50));
    let runtime = Runtime::with_options(store.clone(), options);
    runtime.register(products(work)).unwrap();
    runtime
}

pub(crate) async fn start(runtime: &Runtime, numbers: impl IntoIterator<Item = u32>) -> Execution {
    let numbers = numbers.into_iter().collect();
    let start = runtime
        .executions()
        .start::<Products>(ProductsInput { numbers }, StartOptions::new());
    start.await.unwrap()
}

pub(crate) async fn parts(runtime: &Runtime, of: ExecutionId) -> Vec<Execution> {
    let listed = runtime.executions().list(ListOptions::new()).await.unwrap();
    let parts = listed.iter().filter(|other| other.part_of() == Some(of));
    parts.cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn the_results_are_those_of_a_plain_run() {
    let work = Work::new();
    let input = || ProductsInput {
        numbers: (0..19).collect(),
    };
    let plain = products(&work).run(input()).await.unwrap();
    let runtime = worker(&store(), &work, 8);
    let execution = start(&runtime, 0..19).await.settled().await.unwrap();
    let output = execution.output::<Products>().unwrap().unwrap();
    assert_eq!(output.products, plain.products);
    assert_eq!(output.sum, plain.sum);
    assert!(work.counts().values().all(|count| *count == 2), "once each");

    let parts = parts(&runtime, execution.id()).await;
    assert_eq!(parts.len(), 5);
    for part in &parts {
        assert_eq!(part.status(), Status::Completed);
        assert_eq!(part.flow(), "Products.products");
        assert_eq!(part.copied_from(), None);
        let error = part.output::<Products>().unwrap_err();
        assert!(
            error
                .to_string()
                .contains("an execution of `Products.products`"),
            "{error}"
        );
    }
    // The steps of the items are counted through, whatever the part.
    let mut items = BTreeSet::new();
    for part in &parts {
        let journal = part.journal().await.unwrap();
        let outcomes = journal.iter().filter(|it| it.kind == RecordKind::Outcome);
        items.extend(outcomes.map(|outcome| outcome.path.clone()));
    }
    let expected = (0..19).map(|item| format!("products.products[{item}]"));
    assert_eq!(items, expected.collect());
}

#[tokio::test(start_paused = true)]
async fn workers_share_the_parts_of_a_loop() {
    let (store, work) = (store(), Work::new());
    let workers: Vec<Runtime> = ["one", "two", "three"]
        .into_iter()
        .map(|name| worker(&store, &work.at(name), 1))
        .collect();
    for worker in &workers {
        worker.recover().await.unwrap();
    }
    let execution = start(&workers[0], 0..48).await.settled().await.unwrap();
    assert_eq!(
        execution.status(),
        Status::Completed,
        "{:?}",
        execution.reason()
    );
    assert_eq!(work.counts().len(), 48);
    assert!(work.counts().values().all(|count| *count == 1));
    let done = work.done.lock().unwrap();
    for name in ["one", "two", "three"] {
        let items = done.iter().filter(|(worker, _)| *worker == name).count();
        assert!(items >= 8, "`{name}` did {items} of 48");
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_one_place_runs_the_parts_one_after_the_other() {
    let (store, work) = (store(), Work::new());
    let runtime = worker(&store, &work, 1);
    let execution = start(&runtime, 0..12).await;
    let began = tokio::time::Instant::now();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    // Three parts of two rounds each; nobody waits for a look that comes later.
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn few_items_run_where_the_flow_does() {
    let (store, work) = (store(), Work::new());
    let runtime = worker(&store, &work, 8);
    let execution = start(&runtime, 0..4).await.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert!(parts(&runtime, execution.id()).await.is_empty());
    let journal = execution.journal().await.unwrap();
    assert!(
        journal
            .iter()
            .all(|record| record.kind != RecordKind::Spread)
    );
}

#[tokio::test(start_paused = true)]
async fn errors_are_collected_from_all_parts() {
    let work = Work::new();
    let runtime = Runtime::with_options(store(), options());
    runtime
        .register(Collecting::builder().work(work.clone()).build())
        .unwrap();
    let input = CollectingInput {
        numbers: vec![1, 666, 3, 4, 666, 6, 7],
    };
    let start = runtime
        .executions()
        .start::<Collecting>(input, StartOptions::new());
    let execution = start.await.unwrap().settled().await.unwrap();
    let output = execution.output::<Collecting>().unwrap().unwrap();
    let shown: Vec<String> = output
        .products
        .iter()
        .map(|result| match result {
            Ok(product) => product.to_string(),
            Err(error) => error.path().to_owned(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "7",
            "collecting.products[1]",
            "21",
            "28",
            "collecting.products[4]",
            "42",
            "49"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_loaded_loop_is_spread_as_a_compiled_one() {
    let work = Work::new();
    let known = registry![Work = work.clone(), factor, sum];
    let flow = load(Products::SPEC, Format::Json, &known).unwrap();
    let runtime = Runtime::with_options(store(), slots(3));
    runtime.register(Arc::new(flow)).unwrap();
    let input = json!({ "numbers": (0..19).collect::<Vec<u32>>() });
    let started = runtime
        .executions()
        .start_json("Products", input, StartOptions::new());
    let execution = started.await.unwrap().settled().await.unwrap();
    assert_eq!(
        execution.status(),
        Status::Completed,
        "{:?}",
        execution.reason()
    );
    let products: Vec<u32> = (0..19).map(|number| number * 19).collect();
    let output = execution.output_json().unwrap().unwrap();
    assert_eq!(output["products"], json!(products));
    assert_eq!(output["sum"], json!(products.iter().sum::<u32>()));
    assert!(work.counts().values().all(|count| *count == 1));
    let parts = parts(&runtime, execution.id()).await;
    assert_eq!(parts.len(), 5);
    let journal = parts[0].journal().await.unwrap();
    let outcomes = journal.iter().filter(|it| it.kind == RecordKind::Outcome);
    let items: BTreeSet<&str> = outcomes.map(|outcome| outcome.path.as_str()).collect();
    let expected = [16, 17, 18].map(|item| format!("products.products[{item}]"));
    assert_eq!(items, expected.iter().map(String::as_str).collect());
}

/// What a loaded flow cannot spread is found when it is loaded.
#[test]
fn a_loaded_loop_over_an_array_is_not_spread() {
    #[node(writes = numbers)]
    fn few() -> [u32; 3] {
        [1, 2, 3]
    }

    #[node]
    fn twice(number: &u32) -> u32 {
        number * 2
    }

    let document = json!({
        "version": "2.0.0", "name": "Twice", "namespace": "twice",
        "inputs": { "type": "object", "properties": {} },
        "outputs": { "type": "object", "properties": { "all": {} }, "required": ["all"] },
        "nodes": [
            { "id": "few", "type": "few" },
            {
                "id": "all", "type": "flow.each", "settings": { "spread": 2 },
                "params": { "item": "number", "over": "numbers", "body": "twice" },
            },
            { "id": "twice", "type": "twice" },
        ],
        "entryNodeId": "few",
        "edges": [{ "from": "few", "to": "all", "condition": "default" }],
        "ends": [{ "from": "all", "condition": "default", "label": "default" }],
    });
    let loaded = load(document.to_string(), Format::Json, &registry![few, twice]);
    let error = loaded.err().unwrap().to_string();
    assert!(
        error.contains("the items of `[u32; 3]` cannot be spread over workers"),
        "{error}"
    );
}

/// Whoever looks into an execution, or into a part, sees the values that it has, with its flow and
/// without.
#[tokio::test(start_paused = true)]
async fn the_values_of_parts_are_known() {
    let (store, work) = (store(), Work::new());
    let runtime = worker(&store, &work, 3);
    let execution = start(&runtime, 0..10).await.settled().await.unwrap();
    let viewer = Runtime::with_options(store.clone(), options());
    let parts = parts(&runtime, execution.id()).await;
    for execution in parts.iter().chain([&execution]) {
        let unknown = compared(&runtime, &viewer, execution).await;
        assert!(unknown.is_empty(), "{unknown:?} of {}", execution.flow());
    }
    let newest = execution.record_count() - 1;
    let last = viewer
        .executions()
        .state(execution.id(), newest)
        .await
        .unwrap();
    let products: Vec<u32> = (0..10).map(|number| number * 10).collect();
    assert_eq!(last.flows["products"]["products"], json!(products));
}

#[node(human = "Is {number} all right?")]
#[derive(serde::Serialize, serde::Deserialize, Debug, PartialEq)]
pub(crate) enum Verdict {
    Yes,
    No,
}

flow! {
    pub(crate) Judged(numbers: Vec<u32>) -> (verdicts: Vec<Verdict>) {
        node verdicts: for number in numbers { Verdict } with concurrency(8), spread(2);
        start >> verdicts >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn parts_ask_people() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Judged::new()).unwrap();
    let input = JudgedInput {
        numbers: vec![1, 2, 3],
    };
    let start = runtime
        .executions()
        .start::<Judged>(input, StartOptions::new());
    let id = start.await.unwrap().id();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut asked = Vec::new();
    for part in parts(&runtime, id).await {
        assert_eq!(part.status(), Status::Paused);
        asked.extend(part.questions().await.unwrap());
    }
    asked.sort_by(|one, other| one.prompt().cmp(other.prompt()));
    // They are inside the execution, for whoever waits for it.
    let waits = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!((waits.id(), waits.status()), (id, Status::Paused));
    let inside = waits.questions().await.unwrap();
    let tokens = |all: &[OpenQuestion]| all.iter().map(OpenQuestion::token).collect::<Vec<_>>();
    assert_eq!(tokens(&inside), tokens(&asked));
    assert!(inside.iter().all(|question| question.part_of() == Some(id)));
    let prompts: Vec<&str> = asked.iter().map(|question| question.prompt()).collect();
    assert_eq!(
        prompts,
        ["Is 1 all right?", "Is 2 all right?", "Is 3 all right?"]
    );
    // Nobody is late: what waits for parts is not what nobody answers.
    tokio::time::sleep(Duration::from_secs(3600)).await;
    for (question, verdict) in asked.iter().zip([Verdict::Yes, Verdict::No, Verdict::Yes]) {
        runtime
            .executions()
            .resume(question.token(), verdict)
            .await
            .unwrap();
    }
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let verdicts = execution.output::<Judged>().unwrap().unwrap().verdicts;
    assert_eq!(verdicts, [Verdict::Yes, Verdict::No, Verdict::Yes]);
}

#[node(writes = numbers)]
fn more(sums: &[u32], numbers: Vec<u32>) -> Vec<u32> {
    numbers
        .into_iter()
        .map(|number| number + sums.len() as u32)
        .collect()
}

#[node]
fn next(number: &u32) -> u32 {
    number + 1
}

flow! {
    Repeated(numbers: Vec<u32>) -> (sums: Vec<u32>) {
        node sums: for number in numbers { next } with spread(2);
        branch are_enough(sums) { sums[0] > 10 => "yes", else => "no" }
        start >> sums >> are_enough;
        are_enough - "no" >> more >> sums;
        are_enough - "yes" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_spread_each_time_that_it_runs() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Repeated::new()).unwrap();
    let input = || RepeatedInput {
        numbers: vec![1, 2, 3],
    };
    let start = runtime
        .executions()
        .start::<Repeated>(input(), StartOptions::new());
    let execution = start.await.unwrap().settled().await.unwrap();
    let plain = Repeated::new().run(input()).await.unwrap();
    assert_eq!(
        execution.output::<Repeated>().unwrap().unwrap().sums,
        plain.sums
    );
    assert_eq!(parts(&runtime, execution.id()).await.len(), 2 * 4);
}

/// What a part stores does not grow with the input of the whole.
#[tokio::test(start_paused = true)]
async fn a_part_keeps_its_own_items_only() {
    let work = Work::new();
    let runtime = worker(&store(), &work, 8);
    let execution = start(&runtime, 0..200).await.settled().await.unwrap();
    let mut all = 0;
    for part in parts(&runtime, execution.id()).await {
        let journal = part.journal().await.unwrap();
        all += journal[0].payload.len();
    }
    let whole = execution.journal().await.unwrap()[0].payload.len();
    assert!(all < whole + 50 * 300, "{all} bytes for {whole}");
}

/// Work that takes no time, however often it is done.
fn at_once() -> Work {
    Work {
        takes: Duration::ZERO,
        may: Arc::new(Semaphore::new(1_000_000)),
        ..Work::new()
    }
}

flow_law::law! {
    nodes: [Work = at_once(), factor, sum, no_sum, Verdict, more, next],
    flows: [
        Products(products(&at_once())) { inputs: [json!({ "numbers": [1, 2, 3, 4, 5, 6, 7, 8, 9] })] },
        Forgiving(Forgiving::builder().work(at_once()).build()) {
            inputs: [json!({ "numbers": [1, 2, 3] }), json!({ "numbers": [1, 2, 3, 666, 5] })],
        },
        Collecting(Collecting::builder().work(at_once()).build()) {
            inputs: [json!({ "numbers": [1, 666, 3, 4, 666] })],
        },
        Judged { inputs: [json!({ "numbers": [1, 2, 3] })] },
        Repeated { inputs: [json!({ "numbers": [1, 2, 3] })] },
    ],
}
