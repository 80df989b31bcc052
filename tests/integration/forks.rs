//! Forks: branches at the same time, each on the state as it stood at the fork, written back when
//! all are done.

use std::error::Error;
use std::future::pending;
use std::time::Duration;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::support::{Broken, Calls, DropGuard, Gauge, Recorder, pause};

#[node]
async fn left(x: &u64, gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(100).await;
    x + 1
}

#[node]
async fn middle(x: &u64, gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(100).await;
    x + 2
}

#[node]
async fn right(x: &u64, gauge: &Gauge) -> u64 {
    let _entered = gauge.enter();
    pause(100).await;
    x + 3
}

#[node]
fn total(left: &u64, middle: &u64, right: &u64) -> String {
    format!("{left} {middle} {right}")
}

flow! {
    Three(x: u64, gauge: Gauge) -> (total: String) {
        start >> [left, middle, right] >> total >> end;
    }
}

flow! {
    TwoAtOnce(x: u64, gauge: Gauge) -> (total: String) {
        node all: [left, middle, right] with concurrency(2);
        start >> all >> total >> end;
    }
}

flow! {
    OneAtOnce(x: u64, gauge: Gauge) -> (total: String) {
        node all: [left, middle, right] with concurrency(1);
        start >> all >> total >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_branches_run_at_the_same_time() {
    let (began, gauge) = (Instant::now(), Gauge::default());
    let input = ThreeInput::builder().x(10).gauge(gauge.clone()).build();
    let out = Three::new().run(input).await.unwrap();
    assert_eq!(out.total, "11 12 13");
    assert_eq!(began.elapsed(), Duration::from_millis(100));
    assert_eq!((gauge.most(), gauge.now()), (3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_limit_holds_some_branches_back() {
    let (began, gauge) = (Instant::now(), Gauge::default());
    let input = TwoAtOnceInput::builder().x(10).gauge(gauge.clone()).build();
    let out = TwoAtOnce::new().run(input).await.unwrap();
    assert_eq!(out.total, "11 12 13");
    assert_eq!(began.elapsed(), Duration::from_millis(200));
    assert_eq!(gauge.most(), 2);
}

/// AF-04: the fork's own limit holds, whatever that of the run is.
#[tokio::test(start_paused = true)]
async fn a_limit_of_one_is_strict() {
    let (began, gauge, recorder) = (Instant::now(), Gauge::default(), Recorder::shared());
    let input = OneAtOnceInput::builder().x(10).gauge(gauge.clone()).build();
    let options = RunOptions::new()
        .concurrency(3.try_into().unwrap())
        .observer(recorder.clone());
    OneAtOnce::new().run_with(input, options).await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_millis(300));
    assert_eq!(gauge.most(), 1);
    assert_eq!(recorder.trace(), "left middle right all total");
}

#[node]
async fn slow(calls: &Calls) -> u64 {
    pause(30).await;
    calls.note("slow");
    1
}

#[node]
async fn quick(calls: &Calls) -> u64 {
    pause(10).await;
    calls.note("quick");
    2
}

#[node]
async fn after_quick(calls: &Calls, quick: u64) -> u64 {
    pause(10).await;
    calls.note("after_quick");
    quick * 10
}

#[node]
fn join(calls: &Calls, slow: u64, after_quick: u64) -> u64 {
    calls.note("join");
    slow + after_quick
}

flow! {
    Chains(calls: Calls) -> (join: u64) {
        start >> [slow, quick >> after_quick] >> join >> end;
    }
}

/// D-30
#[tokio::test(start_paused = true)]
async fn the_join_comes_after_all_branches() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = ChainsInput::builder().calls(calls.clone()).build();
    let out = Chains::new().run(input).await.unwrap();
    assert_eq!(out.join, 21);
    assert_eq!(calls.all(), ["quick", "after_quick", "slow", "join"]);
    assert_eq!(began.elapsed(), Duration::from_millis(30));
}

#[tokio::test(start_paused = true)]
async fn the_events_of_branches_are_interleaved_as_they_happen() {
    let recorder = Recorder::shared();
    let input = ChainsInput::builder().calls(Calls::default()).build();
    let options = RunOptions::new().observer(recorder.clone());
    Chains::new().run_with(input, options).await.unwrap();
    assert_eq!(
        recorder.events(),
        [
            "chains.fork started",
            "chains.slow started",
            "chains.quick started",
            "chains.quick finished: default",
            "chains.after_quick started",
            "chains.after_quick finished: default",
            "chains.slow finished: default",
            "chains.fork finished: default",
            "chains.join started",
            "chains.join finished: default",
            "chains ended: default",
        ]
    );
}

#[node(writes = x)]
async fn raise(x: &u64) -> u64 {
    pause(10).await;
    x + 100
}

#[node(writes = raised)]
fn see_raised(x: &u64) -> u64 {
    *x
}

#[node(writes = y)]
async fn raise_later(y: u64) -> u64 {
    pause(20).await;
    y + 1
}

flow! {
    OwnWrites(x: u64, y: u64) -> (x: u64, y: u64, raised: u64) {
        start >> [raise >> see_raised, raise_later] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_sees_its_own_writes() {
    let input = OwnWritesInput::builder().x(1).y(5).build();
    let out = OwnWrites::new().run(input).await.unwrap();
    assert_eq!((out.x, out.y, out.raised), (101, 6, 101));
}

#[derive(Action, Serialize, Deserialize)]
enum Again {
    Again,
    Enough,
}

#[node(actions = Again)]
fn below_fifty(x: &u64, y: &u64) -> Again {
    if x + y < 50 {
        Again::Again
    } else {
        Again::Enough
    }
}

#[node(writes = x)]
async fn double_x(x: u64) -> u64 {
    pause(10).await;
    x * 2
}

#[node(writes = y)]
async fn add_to_y(y: &u64) -> u64 {
    pause(5).await;
    y + 1
}

flow! {
    Rounds(x: u64, y: u64) -> (x: u64, y: u64) {
        start >> [double_x, add_to_y] >> below_fifty;
        below_fifty - "again" >> [double_x, add_to_y];
        below_fifty - "enough" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn each_round_starts_from_the_store_as_it_is_then() {
    let began = Instant::now();
    let input = RoundsInput::builder().x(1).y(0).build();
    let out = Rounds::new().run(input).await.unwrap();
    assert_eq!((out.x, out.y), (64, 6));
    assert_eq!(began.elapsed(), Duration::from_millis(60));
}

#[node]
async fn fails_late(x: &u64) -> Result<u64, Broken> {
    pause(20).await;
    if *x > 5 {
        Ok(*x)
    } else {
        Err(Broken("too small"))
    }
}

#[node(writes = x)]
fn writes_at_once(x: &u64) -> u64 {
    x + 1
}

/// Never done.
#[node(writes = held)]
async fn holds(calls: &Calls) -> u64 {
    let _guard = DropGuard(calls.clone());
    pending().await
}

#[node(writes = seen)]
fn recover(calls: &Calls, error: &NodeError, x: &u64, held: Option<&u64>) -> String {
    calls.note("recover");
    format!("{error:#}, {x}, {held:?}")
}

flow! {
    Fails(x: u64, calls: Calls) -> (seen: Option<String>, x: u64) {
        node check: fails_late { x <- limit };
        node limit: writes_at_once { x -> limit };
        start >> limit >> [holds, check, writes_at_once] >> end;
        [holds, check, writes_at_once] - "error" >> recover >> end("recovered");
    }
}

/// D-31
#[tokio::test(start_paused = true)]
async fn a_failure_drops_the_siblings_and_nothing_of_them_is_written() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = FailsInput::builder().x(1).calls(calls.clone()).build();
    let out = Fails::new().run(input).await.unwrap();
    assert_eq!(
        out.seen.unwrap(),
        "node `fails.check` failed after 1 attempt: too small, 1, None"
    );
    assert_eq!((out.x, out.end), (1, FailsEnd::Recovered));
    assert_eq!(calls.all(), ["dropped", "recover"]);
    assert_eq!(began.elapsed(), Duration::from_millis(20));
}

flow! {
    FailsUnrouted(x: u64, calls: Calls) {
        start >> [holds, fails_late] >> end;
    }
}

/// D-31, PF-35
#[tokio::test(start_paused = true)]
async fn an_unrouted_failure_ends_the_run_after_the_siblings() {
    let calls = Calls::default();
    let input = FailsUnroutedInput::builder()
        .x(1)
        .calls(calls.clone())
        .build();
    let error = FailsUnrouted::new().run(input).await.unwrap_err();
    assert_eq!(calls.all(), ["dropped"]);
    assert_eq!(error.path(), "fails_unrouted.fails_late");
    assert_eq!(
        error.node_error().unwrap().downcast_ref(),
        Some(&Broken("too small"))
    );
    assert_eq!(error.source().unwrap().to_string(), "too small");
}

#[node]
async fn fails_first() -> Result<(), Broken> {
    pause(10).await;
    Err(Broken("first"))
}

#[node]
async fn fails_second() -> Result<(), Broken> {
    pause(20).await;
    Err(Broken("second"))
}

flow! {
    BothFail() {
        start >> [fails_second, fails_first] >> end;
    }
}

/// D-31: the first failure in time is reported.
#[tokio::test(start_paused = true)]
async fn the_first_failure_counts() {
    let error = BothFail::new()
        .run(BothFailInput::builder().build())
        .await
        .unwrap_err();
    assert_eq!(error.path(), "both_fail.fails_first");
}

flow! {
    WaitsForRoom(calls: Calls) {
        node all: [fails_first, notes_its_run, fails_second] with concurrency(1);
        start >> all >> end;
    }
}

#[node]
fn notes_its_run(calls: &Calls) {
    calls.note("ran");
}

#[tokio::test(start_paused = true)]
async fn a_branch_held_back_never_starts_after_a_failure() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = WaitsForRoomInput::builder().calls(calls.clone()).build();
    let error = WaitsForRoom::new().run(input).await.unwrap_err();
    assert_eq!(error.path(), "waits_for_room.fails_first");
    assert_eq!(calls.count(), 0);
    assert_eq!(began.elapsed(), Duration::from_millis(10));
}

/// Neither `Clone` nor anything else.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unique(String);

#[node]
async fn consume(unique: Unique) -> usize {
    pause(10).await;
    unique.0.len()
}

#[node]
async fn count_vowels(text: &str) -> usize {
    pause(10).await;
    text.chars()
        .filter(|letter| "aeiou".contains(*letter))
        .count()
}

flow! {
    TakesUnique(unique: Unique, text: String) -> (consume: usize, count_vowels: usize) {
        start >> [consume, count_vowels] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_else_reads_is_moved_into_its_branch() {
    let input = TakesUniqueInput::builder()
        .unique(Unique("abc".into()))
        .text("aeb".into())
        .build();
    let out = TakesUnique::new().run(input).await.unwrap();
    assert_eq!((out.consume, out.count_vowels), (3, 2));
}

/// Counts its clones.
#[derive(Debug, Serialize, Deserialize)]
struct Cloned(Calls);

impl Clone for Cloned {
    fn clone(&self) -> Self {
        self.0.note("cloned");
        Cloned(self.0.clone())
    }
}

#[node(writes = a)]
async fn take_a(value: Cloned) -> u64 {
    pause(10).await;
    drop(value);
    1
}

#[node(writes = b)]
async fn take_b(value: Cloned) -> u64 {
    pause(10).await;
    drop(value);
    2
}

#[node(writes = c)]
async fn borrow_c(value: &Cloned) -> u64 {
    pause(10).await;
    let _ = value;
    3
}

flow! {
    TakesAll(value: Cloned) -> (a: u64, b: u64, c: u64) {
        start >> [take_a, take_b, borrow_c] >> end;
    }
}

flow! {
    TakesOnce(value: Cloned, calls: Calls) -> (a: u64, slow: u64) {
        start >> [take_a, slow] >> end;
    }
}

flow! {
    TakesInChain(value: Cloned, calls: Calls) -> (b: u64, slow: u64) {
        start >> [take_a >> take_b, slow] >> end;
    }
}

flow! {
    TakesAndReturns(value: Cloned, calls: Calls) -> (a: u64, slow: u64, value: Cloned) {
        start >> [take_a, slow] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_several_branches_take_is_cloned() {
    let calls = Calls::default();
    let input = TakesAllInput::builder()
        .value(Cloned(calls.clone()))
        .build();
    let out = TakesAll::new().run(input).await.unwrap();
    assert_eq!((out.a, out.b, out.c), (1, 2, 3));
    assert_eq!(calls.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_one_branch_takes_is_cloned_only_if_it_is_read_later() {
    let moved = Calls::default();
    let input = TakesOnceInput::builder()
        .value(Cloned(moved.clone()))
        .calls(Calls::default())
        .build();
    TakesOnce::new().run(input).await.unwrap();
    assert_eq!(moved.count(), 0);

    let in_chain = Calls::default();
    let input = TakesInChainInput::builder()
        .value(Cloned(in_chain.clone()))
        .calls(Calls::default())
        .build();
    TakesInChain::new().run(input).await.unwrap();
    assert_eq!(in_chain.count(), 1);

    let returned = Calls::default();
    let input = TakesAndReturnsInput::builder()
        .value(Cloned(returned.clone()))
        .calls(Calls::default())
        .build();
    TakesAndReturns::new().run(input).await.unwrap();
    assert_eq!(returned.count(), 1);
}

#[node(writes = text)]
async fn take_and_fail(text: String) -> Result<String, Broken> {
    pause(10).await;
    drop(text);
    Err(Broken("after taking"))
}

#[node]
fn report(text: &str, error: &NodeError) -> String {
    format!("{text}: {error:#}")
}

flow! {
    TakesAndFails(text: String, calls: Calls) -> (report: Option<String>) {
        start >> [take_and_fail, slow] >> end;
        [take_and_fail, slow] - "error" >> report >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_taken_by_a_branch_that_fails_is_still_there() {
    let input = TakesAndFailsInput::builder()
        .text("draft".into())
        .calls(Calls::default())
        .build();
    let out = TakesAndFails::new().run(input).await.unwrap();
    assert_eq!(
        out.report.unwrap(),
        "draft: node `takes_and_fails.take_and_fail` failed after 1 attempt: after taking"
    );
}

#[derive(Action, Serialize, Deserialize)]
enum Found {
    Found { note: String },
    Nothing,
}

#[node(actions = Found)]
fn search(word: &str) -> Found {
    match word {
        "known" => Found::Found {
            note: "from inside".into(),
        },
        _ => Found::Nothing,
    }
}

flow! {
    Searches(word: String) -> (note: Option<String>) {
        start >> search;
        search - "found" >> end;
        search - "nothing" >> end;
    }
}

#[node(writes = shown)]
fn show_note(note: Option<&str>) -> String {
    note.unwrap_or("none").to_owned()
}

#[node(writes = taken)]
fn take_note(note: Option<String>) -> String {
    note.unwrap_or("none".into())
}

flow! {
    OptionalOutput(word: String, note: Option<String>, x: u64, gauge: Gauge) -> (shown: String, taken: String, left: u64, note: Option<String>) {
        start >> [Searches >> show_note >> take_note, left] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn an_optional_output_left_unwritten_leaves_the_key_as_it_was() {
    let cases = [
        ("known", None, "from inside"),
        ("known", Some("from outside"), "from inside"),
        ("other", None, "none"),
        ("other", Some("from outside"), "from outside"),
    ];
    for (word, note, expected) in cases {
        let input = OptionalOutputInput {
            word: word.into(),
            note: note.map(str::to_owned),
            x: 1,
            gauge: Gauge::default(),
        };
        let out = OptionalOutput::new().run(input).await.unwrap();
        assert_eq!(
            (out.shown.as_str(), out.taken.as_str(), out.left),
            (expected, expected, 2)
        );
        assert_eq!(out.note.as_deref().unwrap_or("none"), expected);
    }
}

#[node]
async fn panics(word: &str) -> u64 {
    pause(10).await;
    panic!("cannot read {word}")
}

flow! {
    PanicsInside(word: String) -> (panics: u64) {
        start >> panics >> end;
    }
}

flow! {
    PanicsInFork(word: String, calls: Calls) {
        start >> [holds, PanicsInside, slow] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_branch_names_its_path_and_drops_the_siblings() {
    let calls = Calls::default();
    let input = PanicsInForkInput::builder()
        .word("runes".into())
        .calls(calls.clone())
        .build();
    let error = PanicsInFork::new().run(input).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `panics_in_fork.panics_inside.panics` panicked: cannot read runes"
    );
    assert_eq!(calls.all(), ["dropped"]);
}

flow! {
    OneBranch(x: u64, gauge: Gauge, calls: Calls) -> (left: u64) {
        start >> [left >> wait(50ms)] >> [wait(1s), notes_its_run] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_may_be_alone_or_only_wait() {
    let (began, recorder) = (Instant::now(), Recorder::shared());
    let input = OneBranchInput::builder()
        .x(1)
        .gauge(Gauge::default())
        .calls(Calls::default())
        .build();
    let options = RunOptions::new().observer(recorder.clone());
    let out = OneBranch::new().run_with(input, options).await.unwrap();
    assert_eq!(out.left, 2);
    assert_eq!(began.elapsed(), Duration::from_millis(1150));
    assert_eq!(
        recorder.trace(),
        "left wait fork notes_its_run wait_2 fork_2"
    );
}

#[node(writes = n1)]
async fn n1() -> u64 {
    pause(7).await;
    1
}

#[node(writes = n2)]
async fn n2() -> u64 {
    pause(5).await;
    2
}

#[node(writes = n3)]
async fn n3() -> Result<u64, Broken> {
    pause(3).await;
    Ok(3)
}

#[node]
#[expect(clippy::too_many_arguments, reason = "one for each branch")]
fn sum_of_nine(
    n: [u64; 0],
    n1: u64,
    n2: u64,
    n3: u64,
    n4: u64,
    n5: u64,
    n6: u64,
    n7: u64,
    n8: u64,
) -> u64 {
    n.iter().sum::<u64>() + n1 + n2 + n3 + n4 + n5 + n6 + n7 + n8
}

flow! {
    Wide(n: [u64; 0]) -> (sum_of_nine: u64) {
        node n4: n1 { n1 -> n4 };
        node n5: n2 { n2 -> n5 };
        node n6: n3 { n3 -> n6 };
        node n7: n1 { n1 -> n7 };
        node n8: n2 { n2 -> n8 };
        start >> [n1, n2, n3, n4, n5, n6, n7, n8] >> sum_of_nine >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn eight_branches_join_when_the_slowest_is_done() {
    let (began, recorder) = (Instant::now(), Recorder::shared());
    let options = RunOptions::new().observer(recorder.clone());
    let out = Wide::new()
        .run_with(WideInput::builder().n([]).build(), options)
        .await
        .unwrap();
    assert_eq!(out.sum_of_nine, 1 + 2 + 3 + 1 + 2 + 3 + 1 + 2);
    assert_eq!(began.elapsed(), Duration::from_millis(7));
    assert_eq!(recorder.trace(), "n3 n6 n2 n5 n8 n1 n4 n7 fork sum_of_nine");
}

/// Fails twice on each visit.
#[node(retry(attempts = 3, wait = "10ms"))]
async fn flaky(cx: &Context, calls: &Calls) -> Result<u32, Broken> {
    calls.note(format!("{} {}", cx.namespace(), cx.attempt()));
    match cx.attempt() {
        2 => Ok(2),
        _ => Err(Broken("once more")),
    }
}

flow! {
    TwoFlaky(calls: Calls) -> (flaky: u32, other: u32) {
        node other: flaky { flaky -> other } with retry(attempts = 3, wait = "1ms");
        start >> [flaky, other] >> end;
    }
}

/// D-20
#[tokio::test(start_paused = true)]
async fn each_branch_counts_its_own_attempts() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = TwoFlakyInput::builder().calls(calls.clone()).build();
    let out = TwoFlaky::new().run(input).await.unwrap();
    assert_eq!((out.flaky, out.other), (2, 2));
    assert_eq!(
        calls.all(),
        [
            "two_flaky.flaky 0",
            "two_flaky.other 0",
            "two_flaky.other 1",
            "two_flaky.other 2",
            "two_flaky.flaky 1",
            "two_flaky.flaky 2",
        ]
    );
    assert_eq!(began.elapsed(), Duration::from_millis(20));
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Votes(usize);

#[node(writes = first)]
async fn first_voter(question: &str) -> bool {
    pause(100).await;
    question.len() > 3
}

#[node(writes = second)]
async fn second_voter(question: &str) -> bool {
    pause(50).await;
    question.len() > 5
}

#[node(writes = votes)]
fn count_votes(first: bool, second: bool) -> Votes {
    Votes(usize::from(first) + usize::from(second))
}

flow! {
    Vote(question: String) -> (votes: Votes) {
        start >> [first_voter, second_voter] >> count_votes >> end;
    }
}

flow! {
    TwoVotes(question: String, other: String) -> (votes: Votes, others: Votes) {
        node second_vote: Vote { question <- other, votes -> others } = Vote::new();
        start >> [Vote, second_vote] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_may_be_a_flow_with_forks_of_its_own() {
    let began = Instant::now();
    let input = TwoVotesInput::builder()
        .question("What?".into())
        .other("Why not?".into())
        .build();
    let out = TwoVotes::new().run(input).await.unwrap();
    assert_eq!((out.votes, out.others), (Votes(1), Votes(2)));
    assert_eq!(began.elapsed(), Duration::from_millis(100));
}

#[node]
async fn takes_and_fails_once(text: String, calls: &Calls) -> Result<String, Broken> {
    calls.note(&text);
    pause(10).await;
    if calls.count() < 2 {
        Err(Broken("once"))
    } else {
        Ok(text + "!")
    }
}

flow! {
    FailsOnce(text: String, calls: Calls) -> (takes_and_fails_once: String) {
        start >> takes_and_fails_once >> end;
    }
}

flow! {
    RetriedInFork(text: String, calls: Calls, x: u64, gauge: Gauge) -> (takes_and_fails_once: String, left: u64) {
        node whole: FailsOnce = FailsOnce::new() with retry(attempts = 2);
        start >> [whole, left] >> end;
    }
}

/// D-28, in a branch
#[tokio::test(start_paused = true)]
async fn a_flow_in_a_branch_is_retried_with_its_inputs() {
    let calls = Calls::default();
    let input = RetriedInForkInput {
        text: "word".into(),
        calls: calls.clone(),
        x: 1,
        gauge: Gauge::default(),
    };
    let out = RetriedInFork::new().run(input).await.unwrap();
    assert_eq!((out.takes_and_fails_once.as_str(), out.left), ("word!", 2));
    assert_eq!(calls.all(), ["word", "word"]);
}

#[node]
async fn measure(unique: &Unique) -> usize {
    pause(10).await;
    unique.0.len()
}

flow! {
    ReadsThenTakes(unique: Unique, x: u64, gauge: Gauge) -> (measure: usize, consume: usize, left: u64) {
        start >> [measure >> consume, left] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_may_read_what_it_takes_later() {
    let input = ReadsThenTakesInput {
        unique: Unique("abc".into()),
        x: 1,
        gauge: Gauge::default(),
    };
    let out = ReadsThenTakes::new().run(input).await.unwrap();
    assert_eq!((out.measure, out.consume, out.left), (3, 3, 2));
}

sources! {
    "forks.rs":
    TwoAtOnce => TwoAtOnceAgain,
    OneAtOnce => OneAtOnceAgain,
    Chains => ChainsAgain,
    OwnWrites => OwnWritesAgain,
    Rounds => RoundsAgain,
    Fails => FailsAgain,
    FailsUnrouted => FailsUnroutedAgain,
    BothFail => BothFailAgain,
    WaitsForRoom => WaitsForRoomAgain,
    TakesUnique => TakesUniqueAgain,
    TakesAll => TakesAllAgain,
    TakesOnce => TakesOnceAgain,
    TakesInChain => TakesInChainAgain,
    TakesAndReturns => TakesAndReturnsAgain,
    TakesAndFails => TakesAndFailsAgain,
    Searches => SearchesAgain,
    PanicsInside => PanicsInsideAgain,
    OneBranch => OneBranchAgain,
    Wide => WideAgain,
    TwoFlaky => TwoFlakyAgain,
    Vote => VoteAgain,
    FailsOnce => FailsOnceAgain,
    ReadsThenTakes => ReadsThenTakesAgain,
}

flow_law::law! {
    nodes: [left, middle, right, total, slow, quick, after_quick, join, raise, see_raised, raise_later, below_fifty, double_x, add_to_y, fails_late, writes_at_once, holds, recover, fails_first, fails_second, notes_its_run, consume, count_vowels, take_a, take_b, borrow_c, take_and_fail, report, search, show_note, take_note, panics, n1, n2, n3, sum_of_nine, flaky, first_voter, second_voter, count_votes, takes_and_fails_once, measure],
    flows: [
        Three,
        TwoAtOnce,
        OneAtOnce,
        Chains,
        OwnWrites,
        Rounds,
        Fails,
        FailsUnrouted,
        BothFail,
        WaitsForRoom,
        TakesUnique,
        TakesAll,
        TakesOnce,
        TakesInChain,
        TakesAndReturns,
        TakesAndFails,
        Searches,
        OptionalOutput,
        PanicsInside,
        PanicsInFork,
        OneBranch,
        Wide,
        TwoFlaky,
        Vote,
        TwoVotes,
        FailsOnce,
        RetriedInFork,
        ReadsThenTakes,
    ],
    types: [Unique, Cloned, [u64; 0]],
}
