//! Loops over items: one after the other or several at a time, the results in the order of the
//! items.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_runtime::RunId;
use flow_runtime::engine::Path;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::support::{Broken, Calls, DropGuard, Gauge, Recorder, pause};

#[node(writes = sum)]
fn add_up(chunk: &[u64]) -> u64 {
    chunk.iter().sum()
}

#[node(writes = chunks)]
fn split(numbers: Vec<u64>, size: usize) -> Vec<Vec<u64>> {
    numbers.chunks(size).map(<[u64]>::to_vec).collect()
}

#[node]
fn reduce(sums: Vec<u64>) -> u64 {
    sums.iter().sum()
}

flow! {
    ChunkSums(numbers: Vec<u64>, size: usize) -> (sums: Vec<u64>) {
        node sums: for chunk in chunks { add_up };
        start >> split >> sums >> end;
    }
}

flow! {
    MapReduce(numbers: Vec<u64>, size: usize) -> (reduce: u64) {
        node sums: for chunk in chunks { add_up } with concurrency(3);
        start >> split >> sums >> reduce >> end;
    }
}

/// PF-18
#[tokio::test]
async fn chunks_are_summed_in_order() {
    let input = ChunkSumsInput {
        numbers: (0..25).collect(),
        size: 10,
    };
    assert_eq!(
        ChunkSums::new().run(input).await.unwrap().sums,
        [45, 145, 110]
    );
}

/// How many items loops have.
#[derive(Default)]
struct Lengths(Mutex<Vec<String>>);

impl Observer for Lengths {
    fn on_event(&self, _: &Event<'_>) {}

    fn on_loop(&self, _: RunId, path: Path<'_>, items: usize) {
        self.0.lock().unwrap().push(format!("{path} {items}"));
    }
}

#[tokio::test]
async fn an_observer_is_told_how_many_items_there_are() {
    let input = || (0..25).collect::<Vec<u64>>();
    let lengths = [Arc::new(Lengths::default()), Arc::new(Lengths::default())];
    let panics = Arc::new(PanicsAtLoops);
    let options = || {
        let options = RunOptions::new().observer(lengths[0].clone());
        options
            .observer(panics.clone())
            .observer(lengths[1].clone())
    };
    let one_by_one = ChunkSumsInput {
        numbers: input(),
        size: 10,
    };
    ChunkSums::new()
        .run_with(one_by_one, options())
        .await
        .unwrap();
    let at_once = MapReduceInput {
        numbers: input(),
        size: 30,
    };
    MapReduce::new().run_with(at_once, options()).await.unwrap();
    for lengths in &lengths {
        let lengths = lengths.0.lock().unwrap();
        assert_eq!(*lengths, ["chunk_sums.sums 3", "map_reduce.sums 1"]);
    }
}

/// A panic of one observer is nothing to the run and to the others.
struct PanicsAtLoops;

impl Observer for PanicsAtLoops {
    fn on_event(&self, _: &Event<'_>) {}

    fn on_loop(&self, _: RunId, _: Path<'_>, _: usize) {
        panic!("at a loop");
    }
}

/// PF-19
#[tokio::test]
async fn map_and_reduce() {
    for (count, size, total) in [
        (100, 10, 4950),
        (25, 10, 300),
        (100, 15, 4950),
        (5, 1, 10),
        (0, 10, 0),
    ] {
        let input = MapReduceInput {
            numbers: (0..count).collect(),
            size,
        };
        assert_eq!(MapReduce::new().run(input).await.unwrap().reduce, total);
    }
}

#[node]
async fn double(number: u64, millis: u64, gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(millis).await;
    number * 2
}

flow! {
    Sequential(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double };
        start >> doubles >> end;
    }
}

flow! {
    FourAtOnce(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(4);
        start >> doubles >> end;
    }
}

flow! {
    ThreeAtOnce(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(3);
        start >> doubles >> end;
    }
}

flow! {
    AllAtOnce(numbers: Vec<u64>, millis: u64, gauge: Gauge) -> (doubles: Vec<u64>) {
        node doubles: for number in numbers { double } with concurrency(1_000_000);
        start >> doubles >> end;
    }
}

macro_rules! run_doubled {
    ($flow:ident, $input:ident, $count:expr, $millis:expr) => {{
        let (began, gauge) = (Instant::now(), Gauge::default());
        let numbers: Vec<u64> = (0..$count).collect();
        let doubles: Vec<u64> = numbers.iter().map(|number| number * 2).collect();
        let input = $input {
            numbers,
            millis: $millis,
            gauge: gauge.clone(),
        };
        assert_eq!($flow::new().run(input).await.unwrap().doubles, doubles);
        assert_eq!(gauge.now(), 0);
        (began.elapsed().as_millis(), gauge.most())
    }};
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_items_come_one_after_the_other() {
    assert_eq!(
        run_doubled!(Sequential, SequentialInput, 10, 100),
        (1000, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn ten_items_four_at_once() {
    assert_eq!(run_doubled!(FourAtOnce, FourAtOnceInput, 10, 100), (300, 4));
    assert_eq!(run_doubled!(FourAtOnce, FourAtOnceInput, 3, 100), (100, 3));
    assert_eq!(run_doubled!(FourAtOnce, FourAtOnceInput, 1, 100), (100, 1));
}

/// PF-32
#[tokio::test(start_paused = true)]
async fn items_run_in_parallel() {
    assert_eq!(run_doubled!(AllAtOnce, AllAtOnceInput, 5, 100), (100, 5));
    assert_eq!(run_doubled!(AllAtOnce, AllAtOnceInput, 100, 10), (10, 100));
    let input = AllAtOnceInput {
        numbers: vec![42],
        millis: 100,
        gauge: Gauge::default(),
    };
    assert_eq!(AllAtOnce::new().run(input).await.unwrap().doubles, [84]);
}

/// PF-40
#[tokio::test(start_paused = true)]
async fn ten_items_three_at_once() {
    assert_eq!(run_doubled!(ThreeAtOnce, ThreeAtOnceInput, 10, 10), (40, 3));
}

/// PF-20, D-11
#[tokio::test(start_paused = true)]
async fn nothing_gives_nothing() {
    assert_eq!(run_doubled!(Sequential, SequentialInput, 0, 100), (0, 0));
    assert_eq!(run_doubled!(FourAtOnce, FourAtOnceInput, 0, 100), (0, 0));
    assert_eq!(run_doubled!(AllAtOnce, AllAtOnceInput, 0, 100), (0, 0));
}

#[node]
async fn take_as_long(millis: &u64, gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(*millis).await;
    *millis
}

flow! {
    Uneven(times: Vec<u64>, gauge: Gauge) -> (taken: Vec<u64>) {
        node taken: for millis in times { take_as_long } with concurrency(2);
        start >> taken >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_item_holds_up_no_others() {
    let (began, gauge) = (Instant::now(), Gauge::default());
    let times = vec![100, 10, 20, 30, 40, 5];
    let input = UnevenInput {
        times: times.clone(),
        gauge: gauge.clone(),
    };
    assert_eq!(Uneven::new().run(input).await.unwrap().taken, times);
    assert_eq!(began.elapsed(), Duration::from_millis(105));
    assert_eq!(gauge.most(), 2);
}

/// PF-22
mod per_key {
    use super::*;

    #[derive(Debug, Clone)]
    struct Params {
        key: &'static str,
        multiplier: u64,
    }

    #[node(writes = result)]
    fn multiply(params: &Params, numbers: &BTreeMap<&'static str, u64>) -> (&'static str, u64) {
        (params.key, numbers[params.key] * params.multiplier)
    }

    flow! {
        PerKey(params: Params, numbers: BTreeMap<&'static str, u64>) -> (result: (&'static str, u64)) {
            start >> multiply >> end;
        }
    }

    flow! {
        ForEachKey(runs: Vec<Params>, numbers: BTreeMap<&'static str, u64>) -> (results: Vec<(&'static str, u64)>) {
            node results: for params in runs { PerKey };
            start >> results >> end;
        }
    }

    async fn run(
        params: &[(&'static str, u64)],
        numbers: &[(&'static str, u64)],
    ) -> Vec<(&'static str, u64)> {
        let input = ForEachKeyInput {
            runs: params
                .iter()
                .map(|&(key, multiplier)| Params { key, multiplier })
                .collect(),
            numbers: numbers.iter().copied().collect(),
        };
        ForEachKey::new().run(input).await.unwrap().results
    }

    /// PF-22
    #[tokio::test]
    async fn each_item_is_a_run_of_the_flow() {
        let numbers = [("a", 1), ("b", 2), ("c", 3)];
        let doubled = run(&[("a", 2), ("b", 2), ("c", 2)], &numbers).await;
        assert_eq!(doubled, [("a", 2), ("b", 4), ("c", 6)]);
        let scaled = run(&[("a", 1), ("b", 2), ("c", 3)], &numbers).await;
        assert_eq!(scaled, [("a", 1), ("b", 4), ("c", 9)]);
        assert_eq!(
            run(&[("single", 2)], &[("single", 5)]).await,
            [("single", 10)]
        );
        assert!(run(&[], &numbers).await.is_empty());
    }
}

#[node(writes = value)]
async fn increment(value: u64, calls: &Calls) -> u64 {
    calls.note(format!("increment {value}"));
    pause(10).await;
    value + 1
}

#[node(writes = value)]
async fn then_double(value: u64, calls: &Calls) -> u64 {
    calls.note(format!("double {value}"));
    pause(10).await;
    value * 2
}

flow! {
    TwoSteps(value: u64, calls: Calls) -> (value: u64) {
        start >> increment >> then_double >> end;
    }
}

flow! {
    TwoStepsEach(values: Vec<u64>, calls: Calls) -> (results: Vec<u64>) {
        node results: for value in values { TwoSteps };
        start >> results >> end;
    }
}

/// PF-23
#[tokio::test(start_paused = true)]
async fn a_run_of_the_flow_ends_before_the_next_begins() {
    let (calls, recorder) = (Calls::default(), Recorder::shared());
    let input = TwoStepsEachInput {
        values: vec![1, 2],
        calls: calls.clone(),
    };
    let options = RunOptions::new().observer(recorder.clone());
    let out = TwoStepsEach::new().run_with(input, options).await.unwrap();
    assert_eq!(out.results, [4, 6]);
    assert_eq!(
        calls.all(),
        ["increment 1", "double 2", "increment 2", "double 3"]
    );
    assert_eq!(
        recorder.events(),
        [
            "two_steps_each.results started",
            "two_steps_each.results[0] started",
            "two_steps_each.results[0].increment started",
            "two_steps_each.results[0].increment finished: default",
            "two_steps_each.results[0].then_double started",
            "two_steps_each.results[0].then_double finished: default",
            "two_steps_each.results[0] ended: default",
            "two_steps_each.results[0] finished: default",
            "two_steps_each.results[1] started",
            "two_steps_each.results[1].increment started",
            "two_steps_each.results[1].increment finished: default",
            "two_steps_each.results[1].then_double started",
            "two_steps_each.results[1].then_double finished: default",
            "two_steps_each.results[1] ended: default",
            "two_steps_each.results[1] finished: default",
            "two_steps_each.results finished: default",
            "two_steps_each ended: default",
        ]
    );
}

#[node(writes = seen)]
async fn see(cx: &Context, group: &str, item: &u64, calls: &Calls) -> u64 {
    calls.note(format!("{} {group} {item}", cx.namespace()));
    pause(100).await;
    item * 2
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Group {
    name: String,
    items: Vec<u64>,
}

#[node(writes(group, items))]
fn open_group(group: Group) -> (String, Vec<u64>) {
    (group.name, group.items)
}

flow! {
    GroupItems(opened: Group, calls: Calls) -> (doubles: Vec<u64>) {
        node open: open_group { group <- opened };
        node doubles: for item in items { see } with concurrency(8);
        start >> open >> doubles >> end;
    }
}

flow! {
    Groups(groups: Vec<Group>, calls: Calls, group: String) -> (results: Vec<Vec<u64>>, group: String) {
        node results: for group in groups { GroupItems { opened <- group } } with concurrency(8);
        start >> results >> end;
    }
}

flow! {
    GroupsInOrder(groups: Vec<Group>, calls: Calls) -> (results: Vec<Vec<u64>>) {
        node results: for opened in groups { GroupItems };
        start >> results >> end;
    }
}

fn groups() -> Vec<Group> {
    vec![
        Group {
            name: "A".into(),
            items: vec![1, 2],
        },
        Group {
            name: "B".into(),
            items: vec![3, 4],
        },
    ]
}

/// PF-25
#[tokio::test(start_paused = true)]
async fn batches_may_be_nested() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = GroupsInOrderInput {
        groups: groups(),
        calls: calls.clone(),
    };
    let out = GroupsInOrder::new().run(input).await.unwrap();
    assert_eq!(out.results, [[2, 4], [6, 8]]);
    assert_eq!(began.elapsed(), Duration::from_millis(200));
    assert_eq!(
        calls.all(),
        [
            "groups_in_order.results[0].doubles[0] A 1",
            "groups_in_order.results[0].doubles[1] A 2",
            "groups_in_order.results[1].doubles[0] B 3",
            "groups_in_order.results[1].doubles[1] B 4",
        ]
    );
}

/// PF-37, and PF-25: the item's value wins over the one in the state, which stays as it was.
#[tokio::test(start_paused = true)]
async fn nested_batches_may_be_parallel() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = GroupsInput {
        groups: groups(),
        calls: calls.clone(),
        group: "outside".into(),
    };
    let out = Groups::new().run(input).await.unwrap();
    assert_eq!(out.results, [[2, 4], [6, 8]]);
    assert_eq!(out.group, "outside");
    assert_eq!(began.elapsed(), Duration::from_millis(100));
    assert_eq!(calls.count(), 4);
}

#[node]
async fn triple(leaf: u64) -> u64 {
    pause(10).await;
    leaf * 3
}

flow! {
    Leaves(twig: Vec<u64>) -> (tripled: Vec<u64>) {
        node tripled: for leaf in twig { triple } with concurrency(2);
        start >> tripled >> end;
    }
}

flow! {
    Twigs(branch: Vec<Vec<u64>>) -> (twigs: Vec<Vec<u64>>) {
        node twigs: for twig in branch { Leaves } with concurrency(2);
        start >> twigs >> end;
    }
}

flow! {
    Tree(tree: Vec<Vec<Vec<u64>>>) -> (branches: Vec<Vec<Vec<u64>>>) {
        node branches: for branch in tree { Twigs } with concurrency(2);
        start >> branches >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn batches_nested_three_deep() {
    let began = Instant::now();
    let tree = vec![
        vec![vec![1, 2], vec![]],
        vec![vec![3]],
        vec![],
        vec![vec![4, 5, 6]],
    ];
    let out = Tree::new().run(TreeInput { tree }).await.unwrap();
    let expected = vec![
        vec![vec![3, 6], vec![]],
        vec![vec![9]],
        vec![],
        vec![vec![12, 15, 18]],
    ];
    assert_eq!(out.branches, expected);
    assert_eq!(began.elapsed(), Duration::from_millis(30));
}

/// PF-34
mod aggregation {
    use super::*;

    #[node]
    async fn doubled(number: u64) -> u64 {
        pause(100).await;
        number * 2
    }

    #[node]
    fn subtotal(doubles: &[u64]) -> u64 {
        doubles.iter().sum()
    }

    flow! {
        OneBatch(batch: Vec<u64>) -> (doubles: Vec<u64>, subtotal: u64) {
            node doubles: for number in batch { doubled } with concurrency(10);
            start >> doubles >> subtotal >> end;
        }
    }

    #[node]
    fn total(runs: &[OneBatchOutput]) -> u64 {
        runs.iter().map(|run| run.subtotal).sum()
    }

    flow! {
        AllBatches(batches: Vec<Vec<u64>>) -> (runs: Vec<OneBatchOutput>, total: u64) {
            node runs: for batch in batches { OneBatch } with concurrency(10);
            start >> runs >> total >> end;
        }
    }

    /// PF-34
    #[tokio::test(start_paused = true)]
    async fn the_join_adds_up_what_the_runs_give() {
        let began = Instant::now();
        let batches = vec![vec![1, 2, 3], vec![4, 5, 6], vec![7, 8, 9]];
        let out = AllBatches::new()
            .run(AllBatchesInput { batches })
            .await
            .unwrap();
        assert_eq!(out.total, 90);
        let doubles: Vec<_> = out.runs.into_iter().map(|run| run.doubles).collect();
        assert_eq!(doubles, [[2, 4, 6], [8, 10, 12], [14, 16, 18]]);
        assert_eq!(began.elapsed(), Duration::from_millis(100));

        let batches = vec![vec![1], vec![2, 3, 4], vec![5, 6], vec![7, 8, 9, 10]];
        let out = AllBatches::new()
            .run(AllBatchesInput { batches })
            .await
            .unwrap();
        assert_eq!(out.total, 110);
    }
}

#[derive(Debug, PartialEq, Action, Serialize, Deserialize)]
enum Verdict {
    Good,
    Bad { reason: String },
}

#[node(actions = Verdict)]
fn judge(draft: &str) -> Verdict {
    match draft.len() {
        0..3 => Verdict::Bad {
            reason: format!("`{draft}` is short"),
        },
        _ => Verdict::Good,
    }
}

flow! {
    #[derive(Serialize, Deserialize)]
    Judged(draft: String) -> (reason: Option<String>) {
        start >> judge;
        judge - "good" >> end("last");
        judge - "bad" >> end("first");
    }
}

flow! {
    JudgeFlows(drafts: Vec<String>) -> (judged: Vec<JudgedOutput>) {
        node judged: for draft in drafts { Judged };
        start >> judged >> end;
    }
}

flow! {
    JudgeSteps(drafts: Vec<String>) -> (verdicts: Vec<Verdict>) {
        node verdicts: for draft in drafts { judge } with concurrency(2);
        start >> verdicts >> end;
    }
}

fn drafts() -> Vec<String> {
    vec!["long".into(), "no".into()]
}

/// PF-26, D-07: the children's ends are results, and lead nowhere.
#[tokio::test]
async fn the_ends_of_the_runs_are_among_the_results() {
    let out = JudgeFlows::new()
        .run(JudgeFlowsInput { drafts: drafts() })
        .await
        .unwrap();
    assert_eq!(out.end, JudgeFlowsEnd::Default);
    let ends: Vec<_> = out
        .judged
        .iter()
        .map(|run| (run.end, run.reason.as_deref()))
        .collect();
    assert_eq!(
        ends,
        [
            (JudgedEnd::Last, None),
            (JudgedEnd::First, Some("`no` is short"))
        ]
    );
}

#[tokio::test]
async fn the_actions_of_a_step_are_the_results() {
    let out = JudgeSteps::new()
        .run(JudgeStepsInput { drafts: drafts() })
        .await
        .unwrap();
    assert_eq!(
        out.verdicts,
        [
            Verdict::Good,
            Verdict::Bad {
                reason: "`no` is short".into()
            }
        ]
    );
}

#[node]
async fn note_item(item: &u64, calls: &Calls) {
    pause(10).await;
    calls.note(item);
}

flow! {
    NotesOne(item: u64, calls: Calls) {
        start >> note_item >> end;
    }
}

flow! {
    NothingReturned(items: Vec<u64>, calls: Calls) {
        node steps: for item in items { note_item } with concurrency(2);
        node flows: for item in items { NotesOne };
        start >> steps >> flows >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_returns_nothing_leaves_nothing() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = NothingReturnedInput {
        items: vec![1, 2, 3],
        calls: calls.clone(),
    };
    NothingReturned::new().run(input).await.unwrap();
    assert_eq!(calls.all(), ["1", "2", "3", "1", "2", "3"]);
    assert_eq!(began.elapsed(), Duration::from_millis(20 + 30));
}

#[node]
fn pair(entry: (&String, &u64), offset: &u64) -> String {
    format!("{}{}", entry.0, entry.1 + offset)
}

#[node]
fn shout(word: &str) -> String {
    word.to_uppercase()
}

#[node]
fn shout_taken(word: String) -> String {
    word + "!"
}

#[node]
fn maybe_shout(word: Option<&str>) -> usize {
    word.map_or(0, str::len)
}

flow! {
    Collections(
        map: BTreeMap<String, u64>, offset: u64, set: BTreeSet<String>, queue: VecDeque<String>, boxed: Box<[String]>,
        array: [String; 2],
    ) -> (pairs: Vec<String>, shouts: Vec<String>, of_queue: Vec<String>, of_box: Vec<usize>, of_array: Vec<String>) {
        node pairs: for entry in map { pair };
        node shouts: for word in set { shout };
        node of_queue: for word in queue { shout_taken };
        node of_box: for word in boxed { maybe_shout };
        node of_array: for text in array { shout { word <- text } };
        start >> pairs >> shouts >> of_queue >> of_box >> of_array >> end;
    }
}

#[tokio::test]
async fn whatever_iterates_by_reference_is_a_collection() {
    let words = || ["a".to_owned(), "bc".to_owned()];
    let input = CollectionsInput {
        map: words().into_iter().zip(1..).collect(),
        offset: 10,
        set: words().into(),
        queue: words().into(),
        boxed: words().into(),
        array: words(),
    };
    let out = Collections::new().run(input).await.unwrap();
    assert_eq!(out.pairs, ["a11", "bc12"]);
    assert_eq!(out.shouts, ["A", "BC"]);
    assert_eq!(out.of_queue, ["a!", "bc!"]);
    assert_eq!(out.of_box, [1, 2]);
    assert_eq!(out.of_array, ["A", "BC"]);
}

#[node(retry(attempts = 2, wait = "10ms"))]
async fn parse(cx: &Context, text: &str, calls: &Calls) -> Result<u64, Broken> {
    let _guard = DropGuard(calls.clone());
    calls.note(format!("{} {}", cx.namespace(), cx.attempt()));
    match text {
        "forever" => pending().await,
        "later" => pause(50).await,
        _ => pause(10).await,
    }
    match (text, cx.attempt()) {
        ("flaky", 0) => Err(Broken("flaky")),
        ("bad", _) => Err(Broken("no number")),
        _ => Ok(text.len() as u64),
    }
}

flow! {
    Parse(texts: Vec<String>, calls: Calls) -> (numbers: Option<Vec<u64>>, failed: Option<String>) {
        node numbers: for text in texts { parse } with concurrency(3);
        start >> numbers >> end;
        numbers - "error" >> explain >> end("failed");
    }
}

#[node(writes = failed)]
fn explain(error: &NodeError, numbers: Option<&[u64]>) -> String {
    format!("{error:#} {numbers:?}")
}

flow! {
    ParseUnrouted(texts: Vec<String>, calls: Calls) -> (numbers: Vec<u64>) {
        node numbers: for text in texts { parse } with retry(attempts = 1);
        start >> numbers >> end;
    }
}

flow! {
    ParseAll(texts: Vec<String>, calls: Calls) -> (numbers: Vec<Result<u64, NodeError>>) {
        node numbers: for text in texts { parse } with collect_errors, concurrency(2);
        start >> numbers >> end;
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// D-20
#[tokio::test(start_paused = true)]
async fn each_item_has_its_own_attempts() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = ParseInput {
        texts: texts(&["flaky", "fine", "flaky"]),
        calls: calls.clone(),
    };
    let out = Parse::new().run(input).await.unwrap();
    assert_eq!(out.numbers.unwrap(), [5, 4, 5]);
    assert_eq!(began.elapsed(), Duration::from_millis(30));
    let attempts: Vec<_> = calls
        .all()
        .into_iter()
        .filter(|call| call != "dropped")
        .collect();
    assert_eq!(
        attempts,
        [
            "parse.numbers[0] 0",
            "parse.numbers[1] 0",
            "parse.numbers[2] 0",
            "parse.numbers[0] 1",
            "parse.numbers[2] 1",
        ]
    );
}

/// D-31, PF-35
#[tokio::test(start_paused = true)]
async fn a_failing_item_drops_the_others_and_is_named() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = ParseInput {
        texts: texts(&["forever", "bad", "forever", "never"]),
        calls: calls.clone(),
    };
    let out = Parse::new().run(input).await.unwrap();
    assert_eq!(
        out.failed.unwrap(),
        "node `parse.numbers[1]` failed after 2 attempts: no number None"
    );
    assert_eq!((out.numbers, out.end), (None, ParseEnd::Failed));
    assert_eq!(began.elapsed(), Duration::from_millis(30));
    let calls = calls.all();
    assert_eq!(calls.iter().filter(|call| *call == "dropped").count(), 4);
    assert!(!calls.iter().any(|call| call.contains("[3]")), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_sequence_stops_at_the_first_failure() {
    let calls = Calls::default();
    let input = ParseUnroutedInput {
        texts: texts(&["fine", "bad", "never"]),
        calls: calls.clone(),
    };
    let error = ParseUnrouted::new().run(input).await.unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `parse_unrouted.numbers[1]` failed after 1 attempt: no number"
    );
    assert_eq!(
        calls.all(),
        [
            "parse_unrouted.numbers[0] 0",
            "dropped",
            "parse_unrouted.numbers[1] 0",
            "dropped"
        ]
    );
}

/// CB-11
#[tokio::test(start_paused = true)]
async fn failures_may_be_collected() {
    let input = ParseAllInput {
        texts: texts(&["bad", "later", "flaky", "bad"]),
        calls: Calls::default(),
    };
    let out = ParseAll::new().run(input).await.unwrap();
    let numbers: Vec<_> = out
        .numbers
        .iter()
        .map(|number| {
            number
                .as_ref()
                .map_err(|error| (error.path(), error.attempts(), error.to_string()))
        })
        .collect();
    let failed = |path: &'static str| {
        let text = format!("node `{path}` failed after 2 attempts");
        Err((path, 2, text))
    };
    let expected = [
        failed("parse_all.numbers[0]"),
        Ok(&5),
        Ok(&5),
        failed("parse_all.numbers[3]"),
    ];
    assert_eq!(numbers, expected);
}

struct Guess;

#[node(writes = guess, retry(attempts = 2))]
impl Guess {
    fn prep(&self, question: &str) -> String {
        question.to_owned()
    }

    async fn exec(&self, question: &str) -> Result<usize, Broken> {
        pause(10).await;
        if question.len() > 4 {
            Err(Broken("too hard"))
        } else {
            Ok(question.len())
        }
    }

    fn exec_fallback(&self, cx: &Context) -> usize {
        100 + cx.attempt() as usize
    }
}

flow! {
    Guesses(questions: Vec<String>) -> (guesses: Vec<usize>) {
        node guess: Guess = Guess;
        node guesses: for question in questions { guess } with concurrency(2);
        start >> guesses >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn each_item_has_its_own_fallback() {
    let input = GuessesInput {
        questions: texts(&["easy", "difficult", "so"]),
    };
    assert_eq!(
        Guesses::new().run(input).await.unwrap().guesses,
        [4, 101, 2]
    );
}

#[node]
fn checked(word: &str) -> usize {
    assert!(word != "bad", "cannot check {word}");
    word.len()
}

flow! {
    Checked(word: String) -> (checked: usize) {
        start >> checked >> end;
    }
}

flow! {
    PanicsInItem(words: Vec<String>) -> (lengths: Vec<usize>) {
        node lengths: for word in words { checked } with concurrency(2);
        start >> lengths >> end;
    }
}

flow! {
    PanicsInFlowOfItem(words: Vec<String>) -> (lengths: Vec<Result<usize, NodeError>>) {
        node lengths: for word in words { Checked } with collect_errors;
        start >> lengths >> end;
    }
}

#[tokio::test]
async fn a_panic_in_an_item_names_its_index() {
    let words = || texts(&["good", "bad", "fine"]);
    let error = PanicsInItem::new()
        .run(PanicsInItemInput { words: words() })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `panics_in_item.lengths[1]` panicked: cannot check bad"
    );
    let input = PanicsInFlowOfItemInput { words: words() };
    let error = PanicsInFlowOfItem::new().run(input).await.unwrap_err();
    assert_eq!(error.path(), "panics_in_flow_of_item.lengths[1].checked");
}

#[node(writes = factor)]
fn raise_factor(factor: u64) -> u64 {
    factor + 1
}

#[node]
fn multiplied(number: u64, factor: &u64) -> u64 {
    number * factor
}

#[node]
async fn elsewhere() -> u64 {
    pause(10).await;
    7
}

#[node]
fn largest(products: &[u64], factor: &u64) -> u64 {
    products.iter().max().copied().unwrap_or_default() + factor
}

flow! {
    BatchInChain(numbers: Vec<u64>, factor: u64) -> (products: Vec<u64>, largest: u64, elsewhere: u64, factor: u64) {
        node products: for number in numbers { multiplied } with concurrency(2);
        start >> [raise_factor >> products >> largest, elsewhere] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_in_a_branch_reads_what_the_branch_wrote() {
    let out = BatchInChain::new()
        .run(BatchInChainInput {
            numbers: vec![1, 2],
            factor: 9,
        })
        .await
        .unwrap();
    assert_eq!(
        (out.products, out.largest, out.elsewhere, out.factor),
        (vec![10, 20], 30, 7, 10)
    );
}

flow! {
    BatchFirstInChain(numbers: Vec<u64>, factor: u64) -> (products: Vec<u64>, largest: u64, elsewhere: u64) {
        node products: for number in numbers { multiplied };
        start >> [products >> raise_factor >> largest, elsewhere] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_in_a_branch_reads_nothing_that_is_written_after_it() {
    let input = BatchFirstInChainInput {
        numbers: vec![1, 2],
        factor: 9,
    };
    let out = BatchFirstInChain::new().run(input).await.unwrap();
    assert_eq!((out.products, out.largest), (vec![9, 18], 28));
}

#[derive(Action, Serialize, Deserialize)]
enum Loop {
    Again,
    Done,
}

#[node(writes = numbers)]
fn feed_back(products: Vec<u64>) -> Vec<u64> {
    products
}

#[node(actions = Loop)]
fn below_hundred(numbers: &[u64]) -> Loop {
    if numbers.iter().all(|&number| number < 100) {
        Loop::Again
    } else {
        Loop::Done
    }
}

flow! {
    BatchInLoop(numbers: Vec<u64>, factor: u64) -> (numbers: Vec<u64>) {
        node products: for number in numbers { multiplied };
        start >> products >> feed_back >> below_hundred;
        below_hundred - "again" >> products;
        below_hundred - "done" >> end;
    }
}

#[tokio::test]
async fn a_batch_runs_anew_in_each_round() {
    let out = BatchInLoop::new()
        .run(BatchInLoopInput {
            numbers: vec![1, 5],
            factor: 3,
        })
        .await
        .unwrap();
    assert_eq!(out.numbers, [27, 135]);
}

#[node]
async fn draft(topic: &str) -> String {
    pause(20).await;
    format!("draft of {topic}")
}

#[node]
async fn picture(topic: &str) -> String {
    pause(30).await;
    format!("picture of {topic}")
}

#[node]
fn page(draft: &str, picture: &str) -> String {
    format!("{draft}, {picture}")
}

flow! {
    Page(topic: String) -> (page: String) {
        start >> [draft, picture] >> page >> end;
    }
}

flow! {
    Book(topics: Vec<String>) -> (pages: Vec<String>) {
        node pages: for topic in topics { Page } with concurrency(2);
        start >> pages >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_fork_in_a_flow_in_a_batch() {
    let (began, recorder) = (Instant::now(), Recorder::shared());
    let options = RunOptions::new().observer(recorder.clone());
    let input = BookInput {
        topics: texts(&["a", "b", "c"]),
    };
    let out = Book::new().run_with(input, options).await.unwrap();
    assert_eq!(out.pages[2], "draft of c, picture of c");
    assert_eq!(out.pages.len(), 3);
    assert_eq!(began.elapsed(), Duration::from_millis(60));
    let pages: Vec<_> = recorder
        .events()
        .into_iter()
        .filter(|event| event.contains("page started"))
        .collect();
    assert_eq!(
        pages,
        [
            "book.pages[0].page started",
            "book.pages[1].page started",
            "book.pages[2].page started"
        ]
    );
}

/// CB-04
mod images {
    use super::*;

    #[node]
    fn load(image: &str, calls: &Calls) -> String {
        calls.note(format!("load {image}"));
        image.to_owned()
    }

    #[node]
    fn filter(load: String, kind: &str, calls: &Calls) -> String {
        calls.note(format!("filter {kind}"));
        format!("{load}-{kind}")
    }

    #[node]
    fn save(filter: &str, calls: &Calls) {
        calls.note(format!("save {filter}"));
    }

    flow! {
        Process(image: String, kind: String, calls: Calls) {
            start >> load >> filter >> save >> end;
        }
    }

    flow! {
        AllKinds(image: String, kinds: Vec<String>, calls: Calls) {
            node each_kind: for kind in kinds { Process };
            start >> each_kind >> end;
        }
    }

    flow! {
        AllImages(images: Vec<String>, kinds: Vec<String>, calls: Calls) {
            node each_image: for image in images { AllKinds };
            start >> each_image >> end;
        }
    }

    /// CB-04
    #[tokio::test]
    async fn three_images_by_three_filters() {
        let calls = Calls::default();
        let (images, kinds) = (["cat", "dog", "owl"], ["gray", "blur", "sepia"]);
        let input = AllImagesInput {
            images: texts(&images),
            kinds: texts(&kinds),
            calls: calls.clone(),
        };
        AllImages::new().run(input).await.unwrap();
        let mut expected = Vec::new();
        for image in images {
            for kind in kinds {
                expected.extend([
                    format!("load {image}"),
                    format!("filter {kind}"),
                    format!("save {image}-{kind}"),
                ]);
            }
        }
        assert_eq!(calls.all(), expected);
    }
}

/// CB-14: the index tells sections of one title apart.
mod progress {
    use super::*;

    #[node]
    async fn write_section(cx: &Context, title: &str) -> String {
        pause(10).await;
        cx.emit(title);
        title.len().to_string()
    }

    flow! {
        Article(titles: Vec<String>) -> (sections: Vec<String>) {
            node sections: for title in titles { write_section } with concurrency(2);
            start >> sections >> end;
        }
    }

    /// CB-14
    #[tokio::test(start_paused = true)]
    async fn events_say_which_item_they_are_about() {
        let recorder = Recorder::shared();
        let options = RunOptions::new().observer(recorder.clone());
        let input = ArticleInput {
            titles: texts(&["same", "same", "other"]),
        };
        Article::new().run_with(input, options).await.unwrap();
        assert_eq!(
            recorder.events(),
            [
                "article.sections started",
                "article.sections[0] started",
                "article.sections[1] started",
                "article.sections[0] delta: same",
                "article.sections[0] finished: default",
                "article.sections[1] delta: same",
                "article.sections[1] finished: default",
                "article.sections[2] started",
                "article.sections[2] delta: other",
                "article.sections[2] finished: default",
                "article.sections finished: default",
                "article ended: default",
            ]
        );
    }
}

mod outcomes {
    use super::*;

    #[derive(Action, Debug, PartialEq, Serialize, Deserialize)]
    enum Grading {
        Good,
        Bad,
    }

    #[node(actions = Grading)]
    fn assess(grade: &u64) -> Grading {
        if *grade < 5 {
            Grading::Good
        } else {
            Grading::Bad
        }
    }

    flow! {
        Judges(grades: Vec<u64>) -> (gradings: Vec<Grading>) {
            node gradings: for grade in grades { assess };
            start >> gradings >> end;
        }
    }

    #[tokio::test]
    async fn an_item_is_finished_by_the_action_it_took() {
        let recorder = Recorder::shared();
        let input = JudgesInput::builder().grades(vec![1, 6]).build();
        let options = RunOptions::new().observer(recorder.clone());
        let out = Judges::new().run_with(input, options).await.unwrap();
        assert_eq!(out.gradings, [Grading::Good, Grading::Bad]);
        let events = recorder.events();
        assert!(
            events.contains(&"judges.gradings[0] finished: good".to_owned()),
            "{events:?}"
        );
        assert!(
            events.contains(&"judges.gradings[1] finished: bad".to_owned()),
            "{events:?}"
        );
    }

    #[node]
    fn send(letter: &u64) -> Result<(), String> {
        if *letter > 1 {
            Err("too heavy".into())
        } else {
            Ok(())
        }
    }

    flow! {
        Sends(letters: Vec<u64>) -> (sent: Vec<Result<(), NodeError>>) {
            node sent: for letter in letters { send } with collect_errors;
            start >> sent >> end;
        }
    }

    #[tokio::test]
    async fn errors_are_collected_of_what_returns_nothing_too() {
        let input = SendsInput::builder().letters(vec![1, 2]).build();
        let sent = Sends::new().run(input).await.unwrap().sent;
        assert!(sent[0].is_ok());
        assert_eq!(
            sent[1].as_ref().unwrap_err().error().to_string(),
            "too heavy"
        );
    }

    #[node]
    fn line(entry: (String, u64)) -> String {
        format!("{}={}", entry.0, entry.1)
    }

    flow! {
        Lines(map: BTreeMap<String, u64>) -> (line: Vec<String>) {
            node line: for entry in map { line };
            start >> line >> end;
        }
    }

    /// The loop has the name of the function that it runs.
    #[tokio::test]
    async fn entries_of_a_map_are_taken_as_clones() {
        let map = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
        let out = Lines::new()
            .run(LinesInput::builder().map(map).build())
            .await
            .unwrap();
        assert_eq!(out.line, ["a=1", "b=2"]);
    }
}

/// A step with a value, so that a loop over it names a declared node.
struct Courier {
    speed: u64,
    calls: Calls,
}

#[node(retry(attempts = 9), timeout = "1h")]
impl Courier {
    async fn exec(&self, cx: &Context, parcel: &u64) -> Result<u64, Broken> {
        self.calls.note(format!("{parcel}.{}", cx.attempt()));
        match *parcel {
            0 => return Err(Broken("no parcel")),
            late if u64::from(cx.attempt()) < late => pending::<()>().await,
            _ => {}
        }
        Ok(parcel * self.speed)
    }
}

flow! {
    One(parcel: u64, base: u64) -> (carried: u64) {
        node carry: carry;
        start >> carry >> end;
    }
}

#[node(writes = carried)]
async fn carry(parcel: &u64, base: u64) -> u64 {
    match *parcel {
        parcel @ 0..9 => parcel + base,
        _ => pending().await,
    }
}

flow! {
    Deliver(parcels: Vec<u64>) -> (delivered: Vec<u64>) {
        node courier: Courier with timeout = "2h";
        node delivered: for parcel in parcels { courier } with retry(attempts = 3), timeout = "5s";
        start >> delivered >> end;
    }
}

flow! {
    DeliverFlows(parcels: Vec<u64>, base: u64) -> (delivered: Vec<Result<u64, NodeError>>, base: u64) {
        node one: One = One::new();
        node delivered: for parcel in parcels { one }
            with retry(attempts = 2), timeout = "5s", collect_errors, concurrency(2);
        start >> delivered >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_gives_its_settings_to_a_declared_body() {
    let calls = Calls::default();
    let courier = Courier {
        speed: 2,
        calls: calls.clone(),
    };
    let flow = Deliver::builder().courier(courier).build();
    let began = Instant::now();
    let output = flow
        .run(DeliverInput {
            parcels: vec![1, 2],
        })
        .await;
    assert_eq!(output.unwrap().delivered, [2, 4]);
    assert_eq!(began.elapsed(), Duration::from_secs(5 + 10));
    assert_eq!(calls.all(), ["1.0", "1.1", "2.0", "2.1", "2.2"]);

    let error = flow
        .run(DeliverInput {
            parcels: vec![1, 0],
        })
        .await;
    assert_eq!(
        format!("{:#}", error.unwrap_err()),
        "node `deliver.delivered[1]` failed after 3 attempts: no parcel"
    );

    let began = Instant::now();
    let flow = DeliverFlows::new();
    let input = DeliverFlowsInput {
        parcels: vec![1, 9, 2],
        base: 10,
    };
    let output = flow.run(input).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(5 + 5));
    let delivered: Vec<String> = output
        .delivered
        .iter()
        .map(|one| match one {
            Ok(carried) => carried.to_string(),
            Err(error) => format!("{error:#}"),
        })
        .collect();
    assert_eq!(
        delivered,
        [
            "11",
            "node `deliver_flows.delivered[1]` failed after 2 attempts: timed out after 5s",
            "12",
        ]
    );
}

sources! {
    "batches.rs":
    ChunkSums => ChunkSumsAgain,
    MapReduce => MapReduceAgain,
    Sequential => SequentialAgain,
    FourAtOnce => FourAtOnceAgain,
    ThreeAtOnce => ThreeAtOnceAgain,
    AllAtOnce => AllAtOnceAgain,
    Uneven => UnevenAgain,
    GroupItems => GroupItemsAgain,
    Leaves => LeavesAgain,
    JudgeSteps => JudgeStepsAgain,
    NotesOne => NotesOneAgain,
    Collections => CollectionsAgain,
    Parse => ParseAgain,
    ParseUnrouted => ParseUnroutedAgain,
    ParseAll => ParseAllAgain,
    Guesses => GuessesAgain,
    Checked => CheckedAgain,
    PanicsInItem => PanicsInItemAgain,
    BatchInChain => BatchInChainAgain,
    BatchFirstInChain => BatchFirstInChainAgain,
    BatchInLoop => BatchInLoopAgain,
    Page => PageAgain,
    Deliver => DeliverAgain,
}

flow_law::law! {
    nodes: [add_up, split, reduce, double, take_as_long, increment, then_double, see, open_group, triple, judge, note_item, pair, shout, shout_taken, maybe_shout, parse, explain, checked, raise_factor, multiplied, elsewhere, largest, feed_back, below_hundred, draft, picture, page, carry],
    flows: [
        ChunkSums,
        MapReduce,
        Sequential,
        FourAtOnce,
        ThreeAtOnce,
        AllAtOnce,
        Uneven,
        TwoSteps,
        TwoStepsEach,
        GroupItems,
        Groups,
        GroupsInOrder,
        Leaves,
        Twigs,
        Judged,
        JudgeFlows,
        JudgeSteps,
        NotesOne,
        NothingReturned,
        Parse,
        ParseUnrouted,
        ParseAll,
        Guesses with [Guess = Guess],
        Checked,
        PanicsInItem,
        PanicsInFlowOfItem,
        BatchInChain,
        BatchFirstInChain,
        BatchInLoop,
        Page,
        Book,
        One,
        Deliver(Deliver::builder().courier(Courier { speed: 2, calls: Calls::default() }).build())
            with [Courier = Courier { speed: 2, calls: Calls::default() }],
        DeliverFlows,
        Tree,
    ],
    types: [Group, BTreeMap<String, u64>, BTreeSet<String>, Box<[String]>, [String; 2]],
    left_out: [Collections],
}
