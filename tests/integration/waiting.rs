//! `wait` and `poll`: what takes time on purpose, under paused time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flow_runtime::TimedOut;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::support::{Broken, Calls, DropGuard, Recorder, pause};

#[node]
fn first(calls: &Calls) {
    calls.note("first");
}

#[node]
fn second(calls: &Calls) {
    calls.note("second");
}

flow! {
    Waits(calls: Calls) {
        start >> wait(50ms) >> first >> wait(2s) >> second >> wait(1m) >> wait(1h) >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_takes_exactly_as_long_as_it_says() {
    let (calls, began, recorder) = (Calls::default(), Instant::now(), Recorder::shared());
    let options = RunOptions::new().observer(recorder.clone());
    Waits::new()
        .run_with(
            WaitsInput {
                calls: calls.clone(),
            },
            options,
        )
        .await
        .unwrap();
    assert_eq!(
        began.elapsed(),
        Duration::from_millis(50 + 2_000 + 60_000 + 3_600_000)
    );
    assert_eq!(calls.all(), ["first", "second"]);
    assert_eq!(recorder.trace(), "wait first wait_2 second wait_3 wait_4");
}

/// A flag that somebody else sets.
#[derive(Debug, Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set_after(&self, millis: u64) {
        let flag = self.clone();
        tokio::spawn(async move {
            pause(millis).await;
            flag.0.store(true, Ordering::SeqCst);
        });
    }
}

#[node(poll(every = "10ms", timeout = "1s"))]
fn ready(flag: &Flag, began: &Instant, calls: &Calls) -> Option<Duration> {
    calls.note(began.elapsed().as_millis());
    flag.0.load(Ordering::SeqCst).then(|| began.elapsed())
}

#[node]
async fn set_flag(flag: &Flag) {
    pause(125).await;
    flag.0.store(true, Ordering::SeqCst);
}

flow! {
    WaitThenPoll(flag: Flag, began: Instant, calls: Calls) -> (ready: Option<Duration>) {
        node waited: WaitedPoll;
        start >> [waited, set_flag] >> end;
    }
}

flow! {
    WaitedPoll(flag: Flag, began: Instant, calls: Calls) -> (ready: Option<Duration>) {
        start >> wait(50ms) >> ready >> end;
        ready - "timeout" >> end;
    }
}

/// AF-12, D-33
#[tokio::test(start_paused = true)]
async fn a_poll_asks_until_another_branch_has_set_what_it_waits_for() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = WaitThenPollInput {
        flag: Flag::default(),
        began,
        calls: calls.clone(),
    };
    let flow = WaitThenPoll::builder().waited(WaitedPoll::new()).build();
    let out = flow.run(input).await.unwrap();
    assert_eq!(out.ready, Some(Duration::from_millis(130)));
    assert_eq!(began.elapsed(), Duration::from_millis(130));
    assert_eq!(
        calls.all(),
        ["50", "60", "70", "80", "90", "100", "110", "120", "130"]
    );
}

#[node(poll(every = "300ms", timeout = "1s"))]
fn impatient(flag: &Flag, began: &Instant, calls: &Calls) -> Option<Duration> {
    calls.note(began.elapsed().as_millis());
    flag.0.load(Ordering::SeqCst).then(|| began.elapsed())
}

flow! {
    Routed(flag: Flag, began: Instant, calls: Calls) -> (impatient: Option<Duration>) {
        start >> impatient >> end;
        impatient - "timeout" >> end("late");
    }
}

flow! {
    RoutedAsError(flag: Flag, began: Instant, calls: Calls) -> (impatient: Option<Duration>, shown: Option<String>) {
        start >> impatient >> end;
        impatient - "error" >> show >> end("failed");
    }
}

/// As `impatient`, but it can fail by itself as well.
#[node(poll(every = "300ms", timeout = "1s"), writes = impatient)]
fn irritable(flag: &Flag, began: &Instant) -> Result<Option<Duration>, Broken> {
    Ok(flag.0.load(Ordering::SeqCst).then(|| began.elapsed()))
}

flow! {
    RoutedTwice(flag: Flag, began: Instant) -> (impatient: Option<Duration>, shown: Option<String>) {
        start >> irritable >> end;
        irritable - "timeout" >> end("late");
        irritable - "error" >> show >> end("failed");
    }
}

flow! {
    Unrouted(flag: Flag, began: Instant, calls: Calls) -> (impatient: Duration) {
        start >> impatient >> end;
    }
}

#[node(writes = shown)]
fn show(error: &NodeError) -> String {
    format!("{error:#}")
}

/// D-33: the last poll is at the deadline itself.
#[tokio::test(start_paused = true)]
async fn the_last_poll_is_at_the_deadline() {
    let (began, calls, recorder) = (Instant::now(), Calls::default(), Recorder::shared());
    let input = RoutedInput {
        flag: Flag::default(),
        began,
        calls: calls.clone(),
    };
    let options = RunOptions::new().observer(recorder.clone());
    let out = Routed::new().run_with(input, options).await.unwrap();
    assert_eq!((out.impatient, out.end), (None, RoutedEnd::Late));
    assert_eq!(calls.all(), ["0", "300", "600", "900", "1000"]);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert!(
        recorder
            .events()
            .contains(&"routed.impatient finished: timeout".to_owned())
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_at_the_deadline_counts() {
    let (began, flag) = (Instant::now(), Flag::default());
    flag.set_after(950);
    let input = RoutedInput {
        flag,
        began,
        calls: Calls::default(),
    };
    let out = Routed::new().run(input).await.unwrap();
    assert_eq!(
        (out.impatient, out.end),
        (Some(Duration::from_secs(1)), RoutedEnd::Default)
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_at_once_takes_no_time() {
    let (began, flag, calls) = (Instant::now(), Flag::default(), Calls::default());
    flag.0.store(true, Ordering::SeqCst);
    let input = UnroutedInput {
        flag,
        began,
        calls: calls.clone(),
    };
    assert_eq!(
        Unrouted::new().run(input).await.unwrap().impatient,
        Duration::ZERO
    );
    assert_eq!(calls.count(), 1);
}

/// D-33
#[tokio::test(start_paused = true)]
async fn a_deadline_that_is_not_routed_is_an_error() {
    let input = UnroutedInput {
        flag: Flag::default(),
        began: Instant::now(),
        calls: Calls::default(),
    };
    let error = Unrouted::new().run(input).await.unwrap_err();
    let error = error.node_error().unwrap();
    assert!(error.is_timeout());
    let after = Duration::from_secs(1);
    assert_eq!(error.downcast_ref(), Some(&TimedOut { after }));
    assert_eq!((error.path(), error.attempts()), ("unrouted.impatient", 1));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_takes_the_timeout_edge_before_the_error_edge() {
    let input = RoutedAsErrorInput {
        flag: Flag::default(),
        began: Instant::now(),
        calls: Calls::default(),
    };
    let out = RoutedAsError::new().run(input).await.unwrap();
    assert_eq!(out.end, RoutedAsErrorEnd::Failed);
    let shown = out.shown.unwrap();
    assert!(
        shown.starts_with("node `routed_as_error.impatient` failed after 1 attempt: "),
        "{shown}"
    );

    let input = RoutedTwiceInput {
        flag: Flag::default(),
        began: Instant::now(),
    };
    let out = RoutedTwice::new().run(input).await.unwrap();
    assert_eq!((out.end, out.shown), (RoutedTwiceEnd::Late, None));
}

#[node(
    poll(every = "1s", timeout = "10s"),
    retry(attempts = 2, wait = "100ms")
)]
async fn fallible(
    cx: &Context,
    broken_at: &[usize],
    calls: &Calls,
) -> Result<Option<usize>, Broken> {
    calls.note(format!("{}", cx.attempt()));
    match calls.count() {
        count if broken_at.contains(&count) => Err(Broken("no connection")),
        count if count > 4 => Ok(Some(count)),
        _ => Ok(None),
    }
}

flow! {
    Fallible(broken_at: Vec<usize>, calls: Calls) -> (fallible: Option<usize>) {
        start >> fallible >> end;
        fallible - "timeout" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn each_poll_has_its_own_attempts() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = FallibleInput {
        broken_at: vec![1, 3],
        calls: calls.clone(),
    };
    let out = Fallible::new().run(input).await.unwrap();
    assert_eq!(out.fallible, Some(5));
    assert_eq!(calls.all(), ["0", "1", "0", "1", "0"]);
    assert_eq!(began.elapsed(), Duration::from_millis(2 * 1000 + 2 * 100));
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_fails_is_no_deadline() {
    let input = FallibleInput {
        broken_at: vec![2, 3],
        calls: Calls::default(),
    };
    let error = Fallible::new().run(input).await.unwrap_err();
    let error = error.node_error().unwrap();
    assert_eq!((error.attempts(), error.is_timeout()), (2, false));
    assert_eq!(error.downcast_ref(), Some(&Broken("no connection")));
}

#[node(poll(every = "1s", timeout = "10s"), timeout = "200ms")]
async fn hanging(calls: &Calls) -> Option<u32> {
    calls.note("asked");
    match calls.count() {
        1 => None,
        _ => std::future::pending().await,
    }
}

flow! {
    Hanging(calls: Calls) -> (hanging: Option<u32>) {
        start >> hanging >> end;
        hanging - "timeout" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_hangs_is_no_deadline_either() {
    let (began, calls) = (Instant::now(), Calls::default());
    let error = Hanging::new()
        .run(HangingInput { calls })
        .await
        .unwrap_err();
    let error = error.node_error().unwrap();
    let after = Duration::from_millis(200);
    assert_eq!(error.downcast_ref(), Some(&TimedOut { after }));
    assert_eq!(began.elapsed(), Duration::from_millis(1200));
}

#[node(poll(every = "1s"), writes(number, name))]
fn without_deadline(calls: &Calls) -> Option<(usize, String)> {
    calls.note("asked");
    (calls.count() > 5000).then(|| (calls.count(), "name".into()))
}

flow! {
    WithoutDeadline(calls: Calls) -> (number: usize, name: String) {
        start >> without_deadline >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_may_go_on_for_ever() {
    let began = Instant::now();
    let options = RunOptions::new().step_budget(1);
    let input = WithoutDeadlineInput {
        calls: Calls::default(),
    };
    let out = WithoutDeadline::new()
        .run_with(input, options)
        .await
        .unwrap();
    assert_eq!((out.number, out.name.as_str()), (5001, "name"));
    assert_eq!(began.elapsed(), Duration::from_secs(5000));
}

#[derive(Debug, Action, Serialize, Deserialize)]
enum State {
    Built { artifact: String },
    Broken,
}

#[node(actions = State, poll(every = "1s", timeout = "1m"))]
fn build_state(builds: &[String], calls: &Calls) -> Option<State> {
    calls.note("asked");
    match builds.get(calls.count() - 1)?.as_str() {
        "built" => Some(State::Built {
            artifact: "crate".into(),
        }),
        "broken" => Some(State::Broken),
        _ => None,
    }
}

flow! {
    Builds(builds: Vec<String>, calls: Calls) -> (artifact: Option<String>) {
        start >> build_state;
        build_state - "built" >> end;
        build_state - "broken" >> end("broken");
        build_state - "timeout" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_may_have_actions() {
    for (builds, end, seconds) in [
        (vec!["running", "built"], BuildsEnd::Default, 1),
        (vec!["running", "running", "broken"], BuildsEnd::Broken, 2),
        (vec![], BuildsEnd::Late, 60),
    ] {
        let began = Instant::now();
        let input = BuildsInput {
            builds: builds.into_iter().map(str::to_owned).collect(),
            calls: Calls::default(),
        };
        let out = Builds::new().run(input).await.unwrap();
        assert_eq!(
            (out.end, out.artifact.is_some()),
            (end, end == BuildsEnd::Default)
        );
        assert_eq!(began.elapsed(), Duration::from_secs(seconds));
    }
}

#[node(poll(every = "10ms", timeout = "100ms"))]
fn done_after(job: u64, began: &Instant) -> Option<u64> {
    (began.elapsed() >= Duration::from_millis(job)).then_some(job)
}

flow! {
    Jobs(jobs: Vec<u64>, began: Instant) -> (done: Vec<Result<u64, NodeError>>) {
        node done: for job in jobs { done_after } with concurrency(8), collect_errors;
        start >> done >> end;
    }
}

flow! {
    JobInFork(job: u64, began: Instant, calls: Calls) -> (done_after: Option<u64>) {
        start >> [done_after, holds] >> end;
        [done_after, holds] - "error" >> end("failed");
    }
}

#[node(writes = held)]
async fn holds(calls: &Calls) -> u32 {
    let _guard = DropGuard(calls.clone());
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn polls_in_batches_and_forks() {
    let began = Instant::now();
    let out = Jobs::new()
        .run(JobsInput {
            jobs: vec![55, 500, 0],
            began,
        })
        .await
        .unwrap();
    let done: Vec<_> = out
        .done
        .iter()
        .map(|job| {
            job.as_ref()
                .map_err(|error| (error.path(), error.is_timeout()))
        })
        .collect();
    assert_eq!(done, [Ok(&55), Err(("jobs.done[1]", true)), Ok(&0)]);
    assert_eq!(began.elapsed(), Duration::from_millis(100));

    let (began, calls) = (Instant::now(), Calls::default());
    let input = JobInForkInput {
        job: 500,
        began,
        calls: calls.clone(),
    };
    let out = JobInFork::new().run(input).await.unwrap();
    assert_eq!((out.end, out.done_after), (JobInForkEnd::Failed, None));
    assert_eq!(began.elapsed(), Duration::from_millis(100));
    assert_eq!(calls.all(), ["dropped"]);
}

sources! {
    "waiting.rs":
    WaitedPoll => WaitedPollAgain,
    Routed => RoutedAgain,
    RoutedAsError => RoutedAsErrorAgain,
    RoutedTwice => RoutedTwiceAgain,
    Unrouted => UnroutedAgain,
    Fallible => FallibleAgain,
    Hanging => HangingAgain,
    WithoutDeadline => WithoutDeadlineAgain,
    Builds => BuildsAgain,
    Jobs => JobsAgain,
    JobInFork => JobInForkAgain,
}

flow_law::law! {
    nodes: [first, second, ready, set_flag, impatient, irritable, show, fallible, hanging, without_deadline, build_state, done_after, holds],
    flows: [
        Waits,
        Fallible,
        Hanging,
        WithoutDeadline,
        Builds,
    ],
    not_json: [WaitThenPoll, WaitedPoll, Routed, RoutedAsError, RoutedTwice, Unrouted, Jobs, JobInFork],
}
