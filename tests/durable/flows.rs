//! Flows of every kind, whose steps leave behind that they ran.

use std::cell::RefCell;
use std::time::Duration;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

thread_local! {
    static EFFECTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The ids of the steps that have run since they were last asked for.
pub(crate) fn take_effects() -> Vec<String> {
    EFFECTS.take()
}

/// Notes that a step has run.
pub(crate) fn note(step_id: String) {
    EFFECTS.with_borrow_mut(|effects| effects.push(step_id));
}

/// What a step does outside of its flow: it is noted, and takes a while.
pub(crate) async fn work(cx: &Context, millis: u64) {
    note(cx.step_id());
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

/// Which attempt at the flow around the step it is, from 0.
fn attempt_of_flow(cx: &Context) -> u32 {
    let id = cx.step_id();
    let Some((_, rest)) = id.split_once('~') else {
        return 0;
    };
    rest.split('.').next().unwrap().parse().unwrap()
}

#[node(writes = number)]
async fn triple(cx: &Context, number: &u64) -> u64 {
    work(cx, 10).await;
    number * 3
}

#[node(writes = doubled)]
async fn double(cx: &Context, number: &u64) -> u64 {
    work(cx, 10).await;
    number * 2
}

flow! {
    /// A chain, and a loop in it.
    pub(crate) Rounds(number: u64) -> (doubled: u64) {
        branch large(number) {
            *number > 50 => "yes",
            else => "no",
        }
        start >> triple >> large;
        large - "no" >> triple;
        large - "yes" >> double >> end;
    }
}

flow! {
    /// Edges that give keys other values: at the start, in a loop, and at the end.
    pub(crate) Doubled(first: u64, limit: u64) -> (result: u64, limit: u64) {
        branch large(doubled, limit) {
            doubled > limit => "yes",
            else => "no",
        }
        start >> double { number <- first } >> large;
        large - "no" >> triple { number <- doubled } >> double;
        large - "yes" >> end { result <- doubled };
    }
}

#[node(writes = left)]
async fn left(cx: &Context, number: &u64) -> u64 {
    work(cx, 10).await;
    number + 1
}

#[node(writes = left_again)]
async fn left_again(cx: &Context, left: &u64) -> u64 {
    work(cx, 90).await;
    left + 1
}

#[node(writes = right)]
async fn right(cx: &Context, number: &u64) -> u64 {
    work(cx, 35).await;
    number + 10
}

#[node(writes = sum)]
async fn sum(cx: &Context, left_again: &u64, right: &u64) -> u64 {
    work(cx, 10).await;
    left_again + right
}

#[node]
async fn fails_early(cx: &Context, sum: &u64) -> Result<(), String> {
    work(cx, 100).await;
    Err(format!("early, at {sum}"))
}

#[node]
async fn fails_late(cx: &Context) -> Result<(), String> {
    work(cx, 1000).await;
    Err("late".to_owned())
}

#[node(writes = unseen)]
async fn quick(cx: &Context, number: &u64) -> u64 {
    work(cx, 100).await;
    number + 100
}

#[node(writes = report)]
async fn reported(cx: &Context, error: &NodeError, sum: &u64) -> String {
    work(cx, 10).await;
    format!("{error:#}; {sum}")
}

flow! {
    /// A fork that ends well, and one whose branches fail at different times, one of them as another one is done.
    pub(crate) Forks(number: u64) -> (report: Option<String>, unseen: Option<u64>) {
        node second: [fails_late, fails_early, quick];
        start >> [left >> left_again, right] >> sum >> second >> end;
        second - "error" >> reported >> end("reported");
    }
}

#[node]
async fn checked(cx: &Context, item: &u64) -> Result<u64, String> {
    work(cx, 10 + item).await;
    match item % 3 {
        2 => Err(format!("{item} is refused")),
        _ => Ok(item * item),
    }
}

#[node(writes = total)]
async fn total(
    cx: &Context,
    one_by_one: &[Result<u64, NodeError>],
    several: &[Result<u64, NodeError>],
) -> u64 {
    work(cx, 10).await;
    one_by_one.iter().chain(several).flatten().sum()
}

#[node(writes = failed_at)]
async fn failed_at(cx: &Context, error: &NodeError) -> String {
    work(cx, 10).await;
    format!("{}: {}", error.path(), error.error())
}

flow! {
    /// Loops over items, one by one and several at once, with errors among the results and without.
    pub(crate) Items(items: Vec<u64>) -> (total: u64, failed_at: Option<String>, strict: Option<Vec<u64>>) {
        node one_by_one: for item in items { checked } with collect_errors;
        node several: for item in items { checked } with concurrency(3), collect_errors;
        node strict: for item in items { checked } with concurrency(2);
        start >> one_by_one >> several >> total >> strict >> end;
        strict - "error" >> failed_at >> end("failed");
    }
}

#[node(writes = number)]
async fn unreliable(cx: &Context, number: &u64) -> Result<u64, String> {
    work(cx, 10).await;
    match attempt_of_flow(cx) {
        0 | 1 => Err("not yet".to_owned()),
        _ => Ok(number + 5),
    }
}

#[node(retry(attempts = 3, wait = "15ms"), writes = number)]
async fn third_time(cx: &Context, number: &u64) -> Result<u64, String> {
    work(cx, 10).await;
    match cx.attempt() {
        2 => Ok(number + 7),
        attempt => Err(format!("attempt {attempt}")),
    }
}

/// Falls back.
#[derive(Default)]
pub(crate) struct Fallback;

#[node(writes = number, retry(attempts = 2))]
impl Fallback {
    async fn exec(&self, cx: &Context, number: &u64) -> Result<u64, String> {
        work(cx, 10).await;
        Err(format!("cannot take {number}"))
    }

    async fn exec_fallback(&self, cx: &Context, error: &NodeError) -> u64 {
        work(cx, 10).await;
        1000 + u64::from(error.attempts())
    }
}

#[node(writes = number, timeout = "50ms")]
async fn stuck(cx: &Context, number: &u64) -> u64 {
    work(cx, 1000).await;
    *number
}

flow! {
    pub(crate) Inner(number: u64) -> (number: u64) {
        start >> triple >> unreliable >> end;
    }
}

flow! {
    pub(crate) Stuck(number: u64) -> (number: u64) {
        start >> double >> stuck >> end;
    }
}

#[node(writes = report)]
async fn stuck_at(cx: &Context, error: &NodeError, number: &u64) -> String {
    work(cx, 10).await;
    format!("{number}, {error:#}")
}

flow! {
    /// Flows in flows that are tried again, and steps that are, that fall back, or take too long.
    pub(crate) Nested(number: u64) -> (report: Option<String>) {
        node inner: Inner = Inner::new() with retry(attempts = 3, wait = "20ms");
        node fallback: Fallback = Fallback;
        node stuck: Stuck = Stuck::new() with retry(attempts = 2);
        start >> third_time >> inner >> fallback >> triple >> stuck >> end;
        stuck - "error" >> stuck_at >> end("stuck");
    }
}

#[node(poll(every = "30ms", timeout = "100ms"), writes = found)]
async fn never(number: &u64) -> Option<u64> {
    number.checked_sub(1_000_000)
}

flow! {
    pub(crate) Slow(number: u64) -> (number: u64) {
        start >> triple >> wait(10s) >> double >> end;
    }
}

flow! {
    /// What takes time on purpose, and a flow that takes too long.
    pub(crate) Waits(number: u64) -> (report: Option<String>, number: u64) {
        node slow: Slow = Slow::new() with timeout = "500ms";
        start >> triple >> wait(1s) >> [double, wait(300ms)] >> never >> end("found");
        never - "timeout" >> slow >> end;
        slow - "error" >> stuck_at >> end("slow");
    }
}

/// Somebody's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[node(human = "Who is number {number}?", writes = name)]
pub(crate) struct Name {
    pub(crate) name: String,
}

/// Whether somebody comes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[node(human = "Does {guest} come?")]
pub(crate) enum Comes {
    Yes { with: u32 },
    No,
}

#[node(writes = count)]
async fn count(cx: &Context, name: &Name, coming: &[Comes], left_again: &u64) -> u64 {
    work(cx, 10).await;
    let guests = coming.iter().map(|comes| match comes {
        Comes::Yes { with } => 1 + u64::from(*with),
        Comes::No => 0,
    });
    guests.sum::<u64>() + name.name.len() as u64 + left_again
}

#[node(writes = seats)]
async fn seats(cx: &Context, count: &u64) -> u64 {
    work(cx, 10).await;
    *count
}

flow! {
    pub(crate) Late(guest: String, count: u64) -> (seats: Option<u64>, with: Option<u32>) {
        node late: human Comes with timeout = "5s";
        start >> late;
        late - "yes" >> end;
        late - "no" >> end;
        late - "timeout" >> seats >> end("nobody");
    }
}

flow! {
    /// Questions beside other work, several at once, in a flow in the flow, and one that nobody answers.
    pub(crate) Party(number: u64, guests: Vec<String>, guest: String) -> (count: u64, seats: Option<u64>) {
        node coming: for guest in guests { Comes } with concurrency(2);
        start >> [Name, left >> left_again] >> coming >> count >> Late;
        Late - "default" >> end;
        Late - "nobody" >> end("late");
    }
}

flow_law::law! {
    nodes: [triple, double, left, left_again, right, sum, fails_early, fails_late, quick, reported, checked, total, failed_at, unreliable, third_time, stuck, stuck_at, never, Name, Comes, count, seats],
    flows: [
        Rounds,
        Doubled,
        Forks,
        Items,
        Inner,
        Stuck,
        Nested with [Fallback = Fallback],
        Slow,
        Waits,
        Late,
        Party,
    ],
}
