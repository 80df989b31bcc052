//! Attempts, waits, timeouts and fallbacks, under paused time: the cases of PocketFlow's
//! `test_fall_back.py`.

use std::error::Error;
use std::future::pending;
use std::time::Duration;

use flow_runtime::TimedOut;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::support::{Broken, Calls, Recorder};

/// Fails a number of times on each visit, as the attempt index counts them.
struct Unreliable {
    failures: u32,
    calls: Calls,
}

impl Unreliable {
    fn failing(failures: u32) -> (Self, Calls) {
        let calls = Calls::default();
        let node = Unreliable {
            failures,
            calls: calls.clone(),
        };
        (node, calls)
    }

    fn attempt(&self, attempt: u32) -> Result<String, Broken> {
        self.calls.note(format!("exec {attempt}"));
        if attempt < self.failures {
            Err(Broken("out of order"))
        } else {
            Ok("success".into())
        }
    }
}

#[node(writes = result)]
impl Unreliable {
    fn exec(&self, cx: &Context) -> Result<String, Broken> {
        self.attempt(cx.attempt())
    }

    fn exec_fallback(&self, cx: &Context, error: &NodeError) -> String {
        self.calls.note(format!("fallback {}", cx.attempt()));
        format!("fallback after {}", error.attempts())
    }

    fn post(&self, exec_res: String) -> String {
        self.calls.note("post");
        exec_res
    }
}

/// The same, asynchronous throughout.
struct AsyncUnreliable(Unreliable);

#[node(writes = result)]
impl AsyncUnreliable {
    async fn prep(&self) -> &'static str {
        tokio::task::yield_now().await;
        "prepared"
    }

    async fn exec(&self, cx: &Context, prep_res: &str) -> Result<String, Broken> {
        tokio::task::yield_now().await;
        assert_eq!(prep_res, "prepared");
        self.0.attempt(cx.attempt())
    }

    async fn exec_fallback(&self, cx: &Context, error: &NodeError, prep_res: &str) -> String {
        tokio::task::yield_now().await;
        assert_eq!(prep_res, "prepared");
        self.0.exec_fallback(cx, error)
    }

    async fn post(&self, exec_res: String) -> String {
        tokio::task::yield_now().await;
        self.0.post(exec_res)
    }
}

flow! {
    Once() -> (result: String) {
        node unreliable: Unreliable;
        start >> unreliable >> end;
    }
}

flow! {
    AsyncOnce() -> (result: String) {
        node unreliable: AsyncUnreliable;
        start >> unreliable >> end;
    }
}

/// PF-10
#[tokio::test]
async fn success_needs_no_fallback() {
    let (node, calls) = Unreliable::failing(0);
    let flow = Once::builder().unreliable(node).build();
    let out = flow.run(OnceInput::builder().build()).await.unwrap();
    assert_eq!(out.result, "success");
    assert_eq!(calls.all(), ["exec 0", "post"]);

    let (node, calls) = Unreliable::failing(0);
    let flow = AsyncOnce::builder()
        .unreliable(AsyncUnreliable(node))
        .build();
    let out = flow.run(AsyncOnceInput::builder().build()).await.unwrap();
    assert_eq!(out.result, "success");
    assert_eq!(calls.all(), ["exec 0", "post"]);
}

/// Flows around both kinds of the node, with this many attempts.
macro_rules! with_attempts {
    ($sync:ident, $sync_input:ident, $async:ident, $async_input:ident, $attempts:literal) => {
        flow! {
            $sync() -> (result: String) {
                node unreliable: Unreliable with retry(attempts = $attempts);
                start >> unreliable >> end;
            }
        }

        flow! {
            $async() -> (result: String) {
                node unreliable: AsyncUnreliable with retry(attempts = $attempts);
                start >> unreliable >> end;
            }
        }

        impl $sync {
            async fn results() -> [(String, Vec<String>); 2] {
                let (node, sync_calls) = Unreliable::failing(u32::MAX);
                let flow = $sync::builder().unreliable(node).build();
                let sync_out = flow.run($sync_input::builder().build()).await.unwrap();

                let (node, async_calls) = Unreliable::failing(u32::MAX);
                let flow = $async::builder().unreliable(AsyncUnreliable(node)).build();
                let async_out = flow.run($async_input::builder().build()).await.unwrap();
                [
                    (sync_out.result, sync_calls.all()),
                    (async_out.result, async_calls.all()),
                ]
            }
        }
    };
}

with_attempts!(One, OneInput, AsyncOne, AsyncOneInput, 1);
with_attempts!(Two, TwoInput, AsyncTwo, AsyncTwoInput, 2);
with_attempts!(Three, ThreeInput, AsyncThree, AsyncThreeInput, 3);

/// PF-11
#[tokio::test]
async fn the_fallback_follows_the_last_attempt() {
    for (result, calls) in One::results().await {
        assert_eq!(result, "fallback after 1");
        assert_eq!(calls, ["exec 0", "fallback 0", "post"]);
    }
    for (result, calls) in Two::results().await {
        assert_eq!(result, "fallback after 2");
        assert_eq!(calls, ["exec 0", "exec 1", "fallback 1", "post"]);
    }
    for (result, calls) in Three::results().await {
        assert_eq!(result, "fallback after 3");
        assert_eq!(calls, ["exec 0", "exec 1", "exec 2", "fallback 2", "post"]);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    attempts: u32,
    result: String,
}

struct Failing;

#[node(writes = records, retry(attempts = 1))]
impl Failing {
    fn exec(&self) -> Result<Record, Broken> {
        Err(Broken("always"))
    }

    fn exec_fallback(&self, error: &NodeError) -> Record {
        Record {
            attempts: error.attempts(),
            result: "fallback".into(),
        }
    }

    fn post(&self, exec_res: Record) -> Vec<Record> {
        vec![exec_res]
    }
}

#[node]
fn collect(records: &[Record]) -> usize {
    records.len()
}

flow! {
    FailingThenCollect() -> (records: Vec<Record>, collect: usize) {
        node failing: Failing = Failing;
        start >> failing >> collect >> end;
    }
}

/// PF-12
#[tokio::test]
async fn a_flow_goes_on_after_a_fallback() {
    let input = FailingThenCollectInput::builder().build();
    let out = FailingThenCollect::new().run(input).await.unwrap();
    let record = Record {
        attempts: 1,
        result: "fallback".into(),
    };
    assert_eq!(out.records, [record]);
    assert_eq!(out.collect, 1);
}

struct WithoutFallback(Calls);

#[node(writes = result)]
impl WithoutFallback {
    fn exec(&self) -> Result<u32, Broken> {
        Err(Broken("for good"))
    }

    fn post(&self, exec_res: u32) -> u32 {
        self.0.note("post");
        exec_res
    }
}

struct AsyncWithoutFallback(Calls);

#[node(writes = result)]
impl AsyncWithoutFallback {
    async fn exec(&self) -> Result<u32, Broken> {
        tokio::task::yield_now().await;
        Err(Broken("for good"))
    }

    async fn post(&self, exec_res: u32) -> u32 {
        self.0.note("post");
        exec_res
    }
}

flow! {
    Surfaces() -> (result: u32) {
        node failing: WithoutFallback;
        start >> failing >> end;
    }
}

flow! {
    AsyncSurfaces() -> (result: u32) {
        node failing: AsyncWithoutFallback;
        start >> failing >> end;
    }
}

/// PF-13
#[tokio::test]
async fn without_a_fallback_the_error_surfaces() {
    let calls = Calls::default();
    let flow = Surfaces::builder()
        .failing(WithoutFallback(calls.clone()))
        .build();
    let sync_error = flow
        .run(SurfacesInput::builder().build())
        .await
        .unwrap_err();
    let node = AsyncWithoutFallback(calls.clone());
    let flow = AsyncSurfaces::builder().failing(node).build();
    let async_error = flow
        .run(AsyncSurfacesInput::builder().build())
        .await
        .unwrap_err();

    for (error, path) in [
        (&sync_error, "surfaces.failing"),
        (&async_error, "async_surfaces.failing"),
    ] {
        let node_error = error.node_error().unwrap();
        assert_eq!(node_error.downcast_ref(), Some(&Broken("for good")));
        assert_eq!((node_error.path(), node_error.attempts()), (path, 1));
        assert_eq!(
            format!("{error:#}"),
            format!("node `{path}` failed after 1 attempt: for good")
        );
    }
    assert_eq!(calls.count(), 0);
}

flow! {
    Waits() -> (result: String) {
        node unreliable: Unreliable with retry(attempts = 3, wait = "100ms");
        start >> unreliable >> end;
    }
}

/// PF-14
#[tokio::test(start_paused = true)]
async fn the_wait_lies_between_attempts_only() {
    let (node, calls) = Unreliable::failing(u32::MAX);
    let began = Instant::now();
    let flow = Waits::builder().unreliable(node).build();
    flow.run(WaitsInput::builder().build()).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(200));
    assert_eq!(
        calls.all(),
        ["exec 0", "exec 1", "exec 2", "fallback 2", "post"]
    );
}

/// PF-14: an attempt that succeeds is followed by no wait.
#[tokio::test(start_paused = true)]
async fn success_ends_the_attempts() {
    let (node, calls) = Unreliable::failing(1);
    let began = Instant::now();
    let flow = Waits::builder().unreliable(node).build();
    let out = flow.run(WaitsInput::builder().build()).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(100));
    assert_eq!(out.result, "success");
    assert_eq!(calls.all(), ["exec 0", "exec 1", "post"]);
}

struct PrepFails(Calls);

#[node(writes = result, retry(attempts = 3))]
impl PrepFails {
    fn prep(&self) -> Result<(), Broken> {
        self.0.note("prep");
        Err(Broken("unprepared"))
    }

    fn exec(&self, _prep_res: &()) -> Result<u32, Broken> {
        self.0.note("exec");
        Ok(1)
    }

    fn exec_fallback(&self) -> u32 {
        self.0.note("fallback");
        2
    }
}

flow! {
    FailsInPrep() -> (result: u32) {
        node failing: PrepFails;
        start >> failing >> end;
    }
}

/// PF-16 (a)
#[tokio::test]
async fn prep_is_not_retried() {
    let calls = Calls::default();
    let flow = FailsInPrep::builder()
        .failing(PrepFails(calls.clone()))
        .build();
    let error = flow
        .run(FailsInPrepInput::builder().build())
        .await
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `fails_in_prep.failing` failed after 1 attempt: unprepared"
    );
    assert_eq!(calls.all(), ["prep"]);
}

struct PostFails(Calls);

#[node(writes = result, retry(attempts = 3))]
impl PostFails {
    fn exec(&self) -> Result<u32, Broken> {
        self.0.note("exec");
        Ok(1)
    }

    fn exec_fallback(&self) -> u32 {
        self.0.note("fallback");
        2
    }

    fn post(&self, exec_res: u32) -> Result<u32, Broken> {
        self.0.note(format!("post {exec_res}"));
        Err(Broken("too late"))
    }
}

flow! {
    FailsInPost() -> (result: u32) {
        node failing: PostFails;
        start >> failing >> end;
    }
}

/// PF-16 (b)
#[tokio::test]
async fn post_is_not_retried() {
    let calls = Calls::default();
    let flow = FailsInPost::builder()
        .failing(PostFails(calls.clone()))
        .build();
    let error = flow
        .run(FailsInPostInput::builder().build())
        .await
        .unwrap_err();
    let error = error.node_error().unwrap();
    assert_eq!(error.downcast_ref(), Some(&Broken("too late")));
    assert_eq!(calls.all(), ["exec", "post 1"]);
}

#[derive(Debug, thiserror::Error)]
#[error("no fallback either")]
struct FallbackBroken;

struct AllFails;

#[node(writes = result, retry(attempts = 3))]
impl AllFails {
    fn exec(&self, cx: &Context) -> Result<u32, Broken> {
        Err(Broken(["first", "second", "third"][cx.attempt() as usize]))
    }

    fn exec_fallback(&self) -> Result<u32, FallbackBroken> {
        Err(FallbackBroken)
    }
}

flow! {
    FailsThroughout() -> (result: u32) {
        node failing: AllFails = AllFails;
        start >> failing >> end;
    }
}

/// PF-16 (c)
#[tokio::test]
async fn a_failing_fallback_keeps_its_cause() {
    let input = FailsThroughoutInput::builder().build();
    let error = FailsThroughout::new().run(input).await.unwrap_err();
    let node_error = error.node_error().unwrap();
    assert!(node_error.downcast_ref::<FallbackBroken>().is_some());
    assert_eq!(node_error.attempts(), 3);

    let of_fallback = error.source().unwrap();
    assert_eq!(of_fallback.to_string(), "no fallback either");
    let cause = of_fallback.source().unwrap();
    assert_eq!(cause.downcast_ref(), Some(&Broken("third")));
    assert_eq!(
        format!("{error:#}"),
        "node `fails_throughout.failing` failed after 3 attempts: no fallback either: third"
    );
}

#[derive(Action, Serialize, Deserialize)]
enum Again {
    Again,
    Enough,
}

#[node(writes = visits, actions = Again)]
fn visit_twice(visits: Option<u32>) -> (u32, Again) {
    let visits = visits.unwrap_or_default() + 1;
    (
        visits,
        if visits < 2 {
            Again::Again
        } else {
            Again::Enough
        },
    )
}

flow! {
    VisitedTwice() -> (result: String, visits: u32) {
        node unreliable: Unreliable with retry(attempts = 3);
        start >> unreliable >> visit_twice;
        visit_twice - "again" >> unreliable;
        visit_twice - "enough" >> end;
    }
}

/// D-36
#[tokio::test]
async fn each_visit_counts_its_attempts_anew() {
    let (node, calls) = Unreliable::failing(2);
    let flow = VisitedTwice::builder().unreliable(node).build();
    let out = flow
        .run(VisitedTwiceInput::builder().build())
        .await
        .unwrap();
    assert_eq!((out.result.as_str(), out.visits), ("success", 2));
    let visit = ["exec 0", "exec 1", "exec 2", "post"];
    assert_eq!(calls.all(), [visit, visit].concat());
}

#[node(retry(attempts = 4, wait = "100ms", backoff = 2.0))]
fn backs_off() -> Result<u32, Broken> {
    Err(Broken("busy"))
}

flow! {
    BacksOff() -> (backs_off: u32) {
        start >> backs_off >> end;
    }
}

flow! {
    BacksOffLess() -> (backs_off: u32) {
        node backs_off: backs_off with retry(attempts = 4, wait = "100ms", backoff = 2.0, max_wait = "250ms");
        start >> backs_off >> end;
    }
}

flow! {
    GivesUpAtOnce() -> (backs_off: u32) {
        node backs_off: backs_off with retry(attempts = 1, wait = "1h");
        start >> backs_off >> end;
    }
}

/// OA-04
#[tokio::test(start_paused = true)]
async fn the_wait_grows_by_its_backoff() {
    let began = Instant::now();
    let error = BacksOff::new()
        .run(BacksOffInput::builder().build())
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_millis(100 + 200 + 400));
    let error = error.node_error().unwrap();
    assert_eq!(
        (error.attempts(), error.downcast_ref()),
        (4, Some(&Broken("busy")))
    );

    let began = Instant::now();
    let input = GivesUpAtOnceInput::builder().build();
    GivesUpAtOnce::new().run(input).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn the_wait_never_exceeds_its_maximum() {
    let began = Instant::now();
    let input = BacksOffLessInput::builder().build();
    BacksOffLess::new().run(input).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_millis(100 + 200 + 250));
}

#[node(retry(attempts = 2, wait = "10s", jitter = 0.5))]
fn shaken() -> Result<u32, Broken> {
    Err(Broken("unsteady"))
}

flow! {
    Shaken() -> (shaken: u32) {
        start >> shaken >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn jitter_shortens_the_wait_by_its_share_at_most() {
    let mut waits = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        let input = ShakenInput::builder().build();
        Shaken::new().run(input).await.unwrap_err();
        waits.push(began.elapsed());
    }
    let (shortest, longest) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
    assert!(*shortest >= Duration::from_secs(5), "{shortest:?}");
    assert!(*longest <= Duration::from_secs(10), "{longest:?}");
    assert!(shortest < longest, "all waits are {longest:?}");
}

/// Never ready until the given attempt.
struct Hanging {
    ready_at: u32,
}

#[node(writes = result, timeout = "1s", retry(attempts = 3, wait = "100ms"))]
impl Hanging {
    async fn exec(&self, cx: &Context) -> Result<u32, Broken> {
        if cx.attempt() < self.ready_at {
            pending::<()>().await;
        }
        Ok(cx.attempt())
    }
}

flow! {
    Hangs() -> (result: u32) {
        node hanging: Hanging;
        start >> hanging >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_timeout_is_that_of_one_attempt_and_retried() {
    let began = Instant::now();
    let flow = Hangs::builder().hanging(Hanging { ready_at: 2 }).build();
    let out = flow.run(HangsInput::builder().build()).await.unwrap();
    assert_eq!(out.result, 2);
    assert_eq!(began.elapsed(), Duration::from_millis(2 * 1000 + 2 * 100));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_the_source_of_the_error() {
    let began = Instant::now();
    let flow = Hangs::builder().hanging(Hanging { ready_at: 9 }).build();
    let error = flow.run(HangsInput::builder().build()).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_millis(3 * 1000 + 2 * 100));
    let node_error = error.node_error().unwrap();
    assert!(node_error.is_timeout());
    let after = Duration::from_secs(1);
    assert_eq!(node_error.downcast_ref(), Some(&TimedOut { after }));
    assert_eq!(
        format!("{error:#}"),
        "node `hangs.hanging` failed after 3 attempts: timed out after 1s"
    );
}

/// Cannot fail by itself.
#[node(timeout = "2s", retry(attempts = 2))]
async fn endless(calls: &Calls) -> u32 {
    calls.note("called");
    pending().await
}

#[node]
fn apology(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    Endless(calls: Calls) -> (endless: Option<u32>, apology: Option<String>) {
        start >> endless >> end;
        endless - "error" >> apology >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_makes_an_infallible_node_fail() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = EndlessInput::builder().calls(calls.clone()).build();
    let out = Endless::new().run(input).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(4));
    assert_eq!((out.endless, out.end), (None, EndlessEnd::Late));
    assert_eq!(
        out.apology.unwrap(),
        "node `endless.endless` failed after 2 attempts: timed out after 2s"
    );
    assert_eq!(calls.count(), 2);
}

#[node]
async fn slow() -> u32 {
    tokio::time::sleep(Duration::from_secs(60)).await;
    60
}

flow! {
    Impatient() -> (slow: u32) {
        node slow: slow with timeout = "30s";
        start >> slow >> end;
    }
}

flow! {
    Patient() -> (slow: u32) {
        node slow: slow with timeout = "90s";
        start >> slow >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_gives_a_node_its_timeout() {
    let began = Instant::now();
    let error = Impatient::new()
        .run(ImpatientInput::builder().build())
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(30));
    assert_eq!(
        format!("{error:#}"),
        "node `impatient.slow` failed after 1 attempt: timed out after 30s"
    );

    let out = Patient::new()
        .run(PatientInput::builder().build())
        .await
        .unwrap();
    assert_eq!(out.slow, 60);
    assert_eq!(began.elapsed(), Duration::from_secs(30 + 60));
}

/// Takes its value, so that each attempt gets a clone.
#[node(retry(attempts = 3))]
fn uses_up(cx: &Context, words: Vec<String>) -> Result<String, Broken> {
    match cx.attempt() {
        2 => Ok(words.join(" ")),
        _ => Err(Broken("not yet")),
    }
}

flow! {
    UsesUp(words: Vec<String>) -> (uses_up: String) {
        start >> uses_up >> end;
    }
}

#[tokio::test]
async fn each_attempt_takes_a_clone() {
    let input = UsesUpInput::builder()
        .words(vec!["a".into(), "b".into()])
        .build();
    let out = UsesUp::new().run(input).await.unwrap();
    assert_eq!(out.uses_up, "a b");
}

#[node(retry(attempts = 2))]
fn flaky(cx: &Context, calls: &Calls) -> Result<u32, Broken> {
    calls.note(format!("flaky {}", cx.attempt()));
    match calls.count() {
        5 => Ok(5),
        _ => Err(Broken("once more")),
    }
}

flow! {
    Flaky(calls: Calls) -> (flaky: u32) {
        start >> flaky >> end;
    }
}

flow! {
    RetriedAsAWhole(calls: Calls) -> (flaky: u32) {
        node inner: Flaky = Flaky::new() with retry(attempts = 3, wait = "1s");
        start >> inner >> end;
    }
}

/// D-28: a flow used as a node is retried as a whole, each time with its inputs.
#[tokio::test(start_paused = true)]
async fn a_nested_flow_is_retried_as_a_whole() {
    let (calls, began, recorder) = (Calls::default(), Instant::now(), Recorder::shared());
    let input = RetriedAsAWholeInput::builder().calls(calls.clone()).build();
    let options = RunOptions::new().observer(recorder.clone());
    let out = RetriedAsAWhole::new()
        .run_with(input, options)
        .await
        .unwrap();
    assert_eq!(out.flaky, 5);
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert_eq!(
        calls.all(),
        ["flaky 0", "flaky 1", "flaky 0", "flaky 1", "flaky 0"]
    );
    let failed: Vec<_> = recorder
        .events()
        .into_iter()
        .filter(|event| event.contains("failed"))
        .collect();
    assert_eq!(
        failed,
        [
            "retried_as_a_whole.inner.flaky attempt 0 failed: once more",
            "retried_as_a_whole.inner.flaky attempt 1 failed: once more",
            "retried_as_a_whole.inner.flaky failed after 2 attempts: once more",
            "retried_as_a_whole.inner failed: node `retried_as_a_whole.inner.flaky` failed after 2 attempts: once more",
            "retried_as_a_whole.inner attempt 0 failed: node `retried_as_a_whole.inner.flaky` failed after 2 attempts",
            "retried_as_a_whole.inner.flaky attempt 0 failed: once more",
            "retried_as_a_whole.inner.flaky attempt 1 failed: once more",
            "retried_as_a_whole.inner.flaky failed after 2 attempts: once more",
            "retried_as_a_whole.inner failed: node `retried_as_a_whole.inner.flaky` failed after 2 attempts: once more",
            "retried_as_a_whole.inner attempt 1 failed: node `retried_as_a_whole.inner.flaky` failed after 2 attempts",
        ]
    );
}

flow! {
    NestedTimeout() -> (slow: u32) {
        node inner: Patient = Patient::new() with timeout = "5s";
        start >> inner >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_nested_flow_may_have_a_timeout() {
    let began = Instant::now();
    let input = NestedTimeoutInput::builder().build();
    let error = NestedTimeout::new().run(input).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(
        format!("{error:#}"),
        "node `nested_timeout.inner` failed after 1 attempt: timed out after 5s"
    );
}

/// Cannot fail, and takes less time on each attempt.
#[node]
async fn warming_up(cx: &Context, calls: &Calls) -> u32 {
    calls.note(cx.attempt());
    tokio::time::sleep(Duration::from_secs(30 - 10 * u64::from(cx.attempt()))).await;
    cx.attempt()
}

#[node(writes = warming_up)]
async fn cold(calls: &Calls) -> u32 {
    calls.note("cold");
    pending().await
}

/// Its own failure is final, whatever the flow says about timeouts.
#[derive(Default)]
struct Checked;

#[node(writes = warming_up)]
impl Checked {
    async fn exec(&self, cx: &Context, calls: &Calls) -> u32 {
        calls.note(cx.attempt());
        match cx.attempt() {
            0 => pending().await,
            attempt => attempt,
        }
    }

    fn post(&self, exec_res: u32) -> Result<u32, Broken> {
        Err(Broken(if exec_res == 1 { "cracked" } else { "other" }))
    }
}

flow! {
    WarmUp(calls: Calls) -> (warming_up: u32) {
        node warm: warming_up with retry(attempts = 3, wait = "1s"), timeout = "15s";
        start >> warm >> end;
    }
}

flow! {
    Cold(calls: Calls) -> (warming_up: u32) {
        node cold: cold with retry(attempts = 2), timeout = "15s";
        start >> cold >> end;
    }
}

flow! {
    CheckUp(calls: Calls) -> (warming_up: u32) {
        node checked: Checked = Checked with retry(attempts = 3), timeout = "15s";
        start >> checked >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_retries_after_its_own_timeout_what_cannot_fail_otherwise() {
    let (calls, began) = (Calls::default(), Instant::now());
    let input = WarmUpInput {
        calls: calls.clone(),
    };
    assert_eq!(WarmUp::new().run(input).await.unwrap().warming_up, 2);
    assert_eq!(began.elapsed(), Duration::from_secs(15 + 1 + 15 + 1 + 10));
    assert_eq!(calls.all(), ["0", "1", "2"]);

    let calls = Calls::default();
    let input = ColdInput {
        calls: calls.clone(),
    };
    let error = Cold::new().run(input).await.unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `cold.cold` failed after 2 attempts: timed out after 15s"
    );
    assert_eq!(calls.count(), 2);

    let calls = Calls::default();
    let input = CheckUpInput {
        calls: calls.clone(),
    };
    let error = CheckUp::new().run(input).await.unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "node `check_up.checked` failed after 2 attempts: cracked"
    );
    assert_eq!(calls.all(), ["0", "1"]);
}

flow_law::law! {
    nodes: [collect, visit_twice, backs_off, shaken, endless, apology, slow, uses_up, flaky, warming_up, cold],
    flows: [
        Once(Once::builder().unreliable(Unreliable::failing(1).0).build())
            with [Unreliable = Unreliable::failing(1).0],
        AsyncOnce(AsyncOnce::builder().unreliable(AsyncUnreliable(Unreliable::failing(9).0)).build())
            with [AsyncUnreliable = AsyncUnreliable(Unreliable::failing(9).0)],
        FailingThenCollect with [Failing = Failing],
        Surfaces(Surfaces::builder().failing(WithoutFallback(Calls::default())).build())
            with [WithoutFallback = WithoutFallback(Calls::default())],
        AsyncSurfaces(AsyncSurfaces::builder().failing(AsyncWithoutFallback(Calls::default())).build())
            with [AsyncWithoutFallback = AsyncWithoutFallback(Calls::default())],
        Waits(Waits::builder().unreliable(Unreliable::failing(2).0).build())
            with [Unreliable = Unreliable::failing(2).0],
        FailsInPrep(FailsInPrep::builder().failing(PrepFails(Calls::default())).build())
            with [PrepFails = PrepFails(Calls::default())],
        FailsInPost(FailsInPost::builder().failing(PostFails(Calls::default())).build())
            with [PostFails = PostFails(Calls::default())],
        FailsThroughout with [AllFails = AllFails],
        VisitedTwice(VisitedTwice::builder().unreliable(Unreliable::failing(3).0).build())
            with [Unreliable = Unreliable::failing(3).0],
        BacksOff,
        BacksOffLess,
        GivesUpAtOnce,
        Hangs(Hangs::builder().hanging(Hanging { ready_at: 2 }).build()) with [Hanging = Hanging { ready_at: 2 }],
        Endless,
        Impatient,
        Patient,
        UsesUp,
        Flaky,
        RetriedAsAWhole,
        NestedTimeout,
        WarmUp,
        Cold,
        CheckUp with [Checked = Checked],
    ],
    left_out: [Shaken],
}
