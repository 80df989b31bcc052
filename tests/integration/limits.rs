//! What holds for a run as a whole: its steps, its deadline, its cancellation, and how many nodes
//! at once.

use std::future::pending;
use std::num::NonZeroUsize;
use std::time::Duration;

use flow_runtime::prelude::*;
use tokio::time::Instant;

use crate::support::{Calls, DropGuard, Gauge, Recorder, pause};

#[node]
async fn work(item: u64, gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(100).await;
    item + 1
}

#[node]
async fn side(gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(100).await;
    1
}

flow! {
    Inner(items: Vec<u64>, gauge: Gauge) -> (results: Vec<u64>) {
        node results: for item in items { work } with concurrency(10);
        start >> results >> end;
    }
}

flow! {
    Everywhere(groups: Vec<Vec<u64>>, items: Vec<u64>, gauge: Gauge) -> (batch: Vec<u64>, nested: Vec<Vec<u64>>, side: u64) {
        node batch: for item in items { work } with concurrency(10);
        node nested: for items in groups { Inner } with concurrency(10);
        start >> [batch, nested, side] >> end;
    }
}

fn everywhere(gauge: &Gauge) -> EverywhereInput {
    EverywhereInput {
        groups: vec![vec![1, 2, 3], vec![4, 5]],
        items: vec![6, 7],
        gauge: gauge.clone(),
    }
}

fn at_once(nodes: usize) -> RunOptions {
    RunOptions::new().concurrency(NonZeroUsize::new(nodes).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_run_has_a_limit_of_nodes_at_once() {
    for (limit, most, millis) in [
        (1, 1, 800),
        (2, 2, 400),
        (3, 3, 300),
        (8, 8, 100),
        (100, 8, 100),
    ] {
        let (gauge, began) = (Gauge::default(), Instant::now());
        let out = Everywhere::new()
            .run_with(everywhere(&gauge), at_once(limit))
            .await
            .unwrap();
        assert_eq!(out.batch, [7, 8]);
        assert_eq!(out.nested, [vec![2, 3, 4], vec![5, 6]]);
        assert_eq!((gauge.most(), gauge.now()), (most, 0), "{limit}");
        assert_eq!(began.elapsed(), Duration::from_millis(millis), "{limit}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_largest_limit_is_none() {
    let gauge = Gauge::default();
    Everywhere::new()
        .run_with(everywhere(&gauge), at_once(usize::MAX))
        .await
        .unwrap();
    assert_eq!(gauge.most(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_that_of_one_run() {
    let (gauge, began, flow) = (Gauge::default(), Instant::now(), Everywhere::new());
    let (first, second) = tokio::join!(
        flow.run_with(everywhere(&gauge), at_once(2)),
        flow.run_with(everywhere(&gauge), at_once(2)),
    );
    assert_eq!(first.unwrap().batch, second.unwrap().batch);
    assert_eq!(gauge.most(), 4);
    assert_eq!(began.elapsed(), Duration::from_millis(400));
}

#[node(writes = held)]
async fn holds_item(item: &u64, calls: &Calls) -> u64 {
    let _guard = DropGuard(calls.clone());
    if *item == 0 {
        return 0;
    }
    pending().await
}

flow! {
    HoldsItems(items: Vec<u64>, calls: Calls) -> (held: Vec<u64>) {
        node held: for item in items { holds_item } with concurrency(3);
        start >> held >> end;
    }
}

flow! {
    HeldBatch(items: Vec<u64>, calls: Calls) -> (held: Vec<Result<u64, NodeError>>) {
        node one: holds_item with timeout = "1h";
        node held: for item in items { one } with concurrency(2), collect_errors;
        start >> held >> end;
    }
}

fn held(calls: &Calls) -> HeldBatchInput {
    HeldBatchInput {
        items: vec![0, 1, 2],
        calls: calls.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_reaches_every_branch_and_item() {
    let (calls, began) = (Calls::default(), Instant::now());
    let options = RunOptions::new().deadline(Duration::from_secs(10));
    let error = HeldBatch::new()
        .run_with(held(&calls), options)
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    let after = Duration::from_secs(10);
    assert!(
        matches!(&error, FlowError::TimedOut { after: this, .. } if *this == after),
        "{error:?}"
    );
    assert!(
        ["held_batch.held[1]", "held_batch.held[2]"].contains(&error.path()),
        "{error}"
    );
    assert_eq!(calls.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_kept_changes_nothing() {
    let gauge = Gauge::default();
    let options = RunOptions::new().deadline(Duration::from_millis(101));
    Everywhere::new()
        .run_with(everywhere(&gauge), options)
        .await
        .unwrap();
    let options = RunOptions::new().deadline(Duration::from_millis(99));
    let error = Everywhere::new()
        .run_with(everywhere(&gauge), options)
        .await
        .unwrap_err();
    assert!(matches!(error, FlowError::TimedOut { .. }));
    assert_eq!(gauge.now(), 0);
}

mod in_forks {
    use super::*;

    #[node]
    async fn first_held(calls: &Calls) -> Result<(), String> {
        let _guard = DropGuard(calls.clone());
        pending().await
    }

    flow! {
        Forked(calls: Calls, items: Vec<u64>) -> (held: Option<Vec<u64>>) {
            start >> [first_held, HoldsItems] >> end;
            [first_held, HoldsItems] - "error" >> end("routed");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_is_no_error_that_is_routed() {
        let calls = Calls::default();
        let options = RunOptions::new().deadline(Duration::from_secs(1));
        let input = ForkedInput {
            calls: calls.clone(),
            items: vec![1, 2],
        };
        let error = Forked::new().run_with(input, options).await.unwrap_err();
        assert!(matches!(error, FlowError::TimedOut { .. }));
        let paths = [
            "forked.first_held",
            "forked.holds_items.held[0]",
            "forked.holds_items.held[1]",
        ];
        assert!(paths.contains(&error.path()), "{error}");
        assert_eq!(calls.count(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancellation_reaches_every_branch_and_item() {
        let (calls, token, began) = (Calls::default(), CancellationToken::new(), Instant::now());
        let options = RunOptions::new().cancellation(token.clone());
        let input = ForkedInput {
            calls: calls.clone(),
            items: vec![0, 1, 2, 3, 4],
        };
        let flow = Forked::new();
        let (ended, ()) = tokio::join!(flow.run_with(input, options), async {
            pause(50).await;
            token.cancel();
        });
        let error = ended.unwrap_err();
        assert!(matches!(error, FlowError::Cancelled { .. }), "{error}");
        assert!(error.path().starts_with("forked."), "{error}");
        assert_eq!(began.elapsed(), Duration::from_millis(50));
        assert_eq!(calls.count(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn the_budget_counts_the_nodes_in_forks_but_no_items() {
        let steps = |items: Vec<u64>, budget: u64| async move {
            let input = CountedInput {
                items,
                gauge: Gauge::default(),
            };
            Counted::new()
                .run_with(input, RunOptions::new().step_budget(budget))
                .await
        };
        steps(vec![1; 100], u64::MAX).await.unwrap();
        steps(vec![1; 100], 3).await.unwrap();
        let error = steps(Vec::new(), 0).await.unwrap_err();
        assert!(matches!(error, FlowError::StepLimit { limit: 0, .. }));
        let error = steps(vec![1; 100], 2).await.unwrap_err();
        assert_eq!(error.path(), "counted.side");
        assert!(matches!(error, FlowError::StepLimit { limit: 2, .. }));
        assert_eq!(
            steps(Vec::new(), 1).await.unwrap_err().path(),
            "counted.results"
        );
    }

    flow! {
        Counted(items: Vec<u64>, gauge: Gauge) -> (results: Vec<u64>, side: u64) {
            node results: for item in items { work } with concurrency(100);
            start >> [results, side] >> end;
        }
    }

    flow! {
        CountedFlows(groups: Vec<Vec<u64>>, gauge: Gauge) -> (nested: Vec<Result<Vec<u64>, NodeError>>) {
            node nested: for items in groups { Inner } with collect_errors;
            start >> nested >> end;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_budget_counts_the_nodes_of_flows_in_items_and_is_not_collected() {
        let run = |budget: u64| {
            let input = CountedFlowsInput {
                groups: vec![vec![1], vec![2, 3]],
                gauge: Gauge::default(),
            };
            let options = RunOptions::new().step_budget(budget);
            async move { CountedFlows::new().run_with(input, options).await }
        };
        let out = run(3).await.unwrap();
        assert_eq!(out.nested.len(), 2);
        let error = run(2).await.unwrap_err();
        assert_eq!(error.path(), "counted_flows.nested[1].results");
    }
}

/// With everything there is.
mod everything {
    use super::*;

    #[node(blocking)]
    fn hash(text: &str) -> u64 {
        text.len() as u64
    }

    #[node(poll(every = "10ms", timeout = "1s"))]
    fn ready(began: &Instant) -> Option<u64> {
        (began.elapsed() >= Duration::from_millis(25)).then_some(1)
    }

    #[node(retry(attempts = 2, wait = "5ms"))]
    async fn flaky(cx: &Context, number: u64) -> Result<u64, String> {
        pause(number).await;
        if cx.attempt() == 0 {
            Err("once".into())
        } else {
            Ok(number)
        }
    }

    flow! {
        Part(number: u64) -> (flaky: u64) {
            start >> wait(1ms) >> flaky >> end;
        }
    }

    #[node(writes = rounds)]
    fn count_round(rounds: u64) -> u64 {
        rounds + 1
    }

    #[node(writes = summary)]
    fn summarize(
        parts: &[Result<u64, NodeError>],
        hash: u64,
        ready: Option<&u64>,
        rounds: u64,
    ) -> String {
        let parts: Vec<_> = parts.iter().map(|part| part.as_ref().ok()).collect();
        format!("{parts:?} {hash} {ready:?} {rounds}")
    }

    flow! {
        Polling(began: Instant) -> (ready: Option<u64>) {
            start >> ready >> end;
            ready - "timeout" >> end;
        }
    }

    flow! {
        Everything(numbers: Vec<u64>, text: String, began: Instant, rounds: u64) -> (summary: String) {
            node parts: for number in numbers { Part } with concurrency(2), collect_errors;
            node all: [parts, hash, Polling, count_round >> wait(3ms)] with concurrency(3);
            branch enough(rounds) { *rounds < 2 => "again", else => "done" }
            start >> all >> enough;
            enough - "again" >> all;
            enough - "done" >> summarize >> end;
        }
    }

    fn input(numbers: &[u64]) -> EverythingInput {
        EverythingInput {
            numbers: numbers.to_vec(),
            text: "text".into(),
            began: Instant::now(),
            rounds: 0,
        }
    }

    fn is_send<T: Send>(value: T) -> T {
        value
    }

    fn is_sync<T: Send + Sync>(_: &T) {}

    #[tokio::test]
    async fn its_run_can_be_sent() {
        let flow = Everything::new();
        is_sync(&flow);
        drop(is_send(flow.run(input(&[]))));
        drop(is_send(flow.run_with(input(&[]), RunOptions::new())));
        let run = tokio::spawn(async { Everything::new().run(input(&[1])).await });
        assert_eq!(run.await.unwrap().unwrap().summary, "[Some(1)] 4 Some(1) 2");
    }

    #[tokio::test]
    async fn two_runs_do_not_mix() {
        let (flow, recorder) = (Everything::new(), Recorder::shared());
        let options = || {
            RunOptions::new()
                .observer(recorder.clone())
                .deadline(Duration::from_secs(60))
        };
        let (first, second) = tokio::join!(
            flow.run_with(input(&[1, 2, 3]), options()),
            flow.run_with(input(&[4]), options())
        );
        assert_eq!(
            first.unwrap().summary,
            "[Some(1), Some(2), Some(3)] 4 Some(1) 2"
        );
        assert_eq!(second.unwrap().summary, "[Some(4)] 4 Some(1) 2");
        let runs = recorder.runs();
        assert_eq!(runs.len(), 2);
        let items = |run| recorder.trace_of(run).matches("flaky").count();
        let [first, second] = [items(runs[0]), items(runs[1])];
        assert_eq!([first.max(second), first.min(second)], [6, 2]);
    }

    #[node]
    async fn heavy(item: u64) -> u64 {
        let weight = [item; 512];
        tokio::task::yield_now().await;
        weight.iter().sum()
    }

    #[node(writes = sum)]
    #[expect(clippy::too_many_arguments, reason = "one for each branch")]
    fn sum_up(heavy: u64, h2: u64, h3: u64, h4: u64, h5: u64, h6: u64, h7: u64, h8: u64) -> u64 {
        heavy + h2 + h3 + h4 + h5 + h6 + h7 + h8
    }

    flow! {
        Heavy(item: u64) -> (sum: u64) {
            node h2: heavy { heavy -> h2 };
            node h3: heavy { heavy -> h3 };
            node h4: heavy { heavy -> h4 };
            node h5: heavy { heavy -> h5 };
            node h6: heavy { heavy -> h6 };
            node h7: heavy { heavy -> h7 };
            node h8: heavy { heavy -> h8 };
            start >> [heavy, h2, h3, h4, h5, h6, h7, h8] >> sum_up >> end;
        }
    }

    #[tokio::test]
    async fn a_fork_is_hardly_larger_than_its_branches() {
        let flow = Heavy::new();
        let branches = 8 * size_of_val(&heavy(1));
        let run = flow.run(HeavyInput { item: 1 });
        let size = size_of_val(&run);
        assert!(size < 3 * branches, "{size} for branches of {branches}");
        assert_eq!(run.await.unwrap().sum, 8 * 512);
    }
}

mod pauses {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[node(poll(every = "10ms", timeout = "1s"))]
    fn answer(flag: &Arc<AtomicBool>) -> Option<u64> {
        flag.load(Ordering::SeqCst).then_some(42)
    }

    #[node]
    async fn set(flag: &Arc<AtomicBool>) {
        pause(25).await;
        flag.store(true, Ordering::SeqCst);
    }

    flow! {
        Polls(flag: Arc<AtomicBool>) -> (answer: u64) {
            start >> [answer, set] >> end;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_poll_that_pauses_lends_its_place_to_what_it_waits_for() {
        let input = PollsInput::builder().flag(Arc::default()).build();
        let options = RunOptions::new().concurrency(NonZeroUsize::MIN);
        let out = Polls::new().run_with(input, options).await.unwrap();
        assert_eq!(out.answer, 42);
    }
}

flow_law::law! {
    nodes: [work, side, holds_item],
    flows: [
        Inner,
        HoldsItems,
        HeldBatch,
        Everywhere,
    ],
}
