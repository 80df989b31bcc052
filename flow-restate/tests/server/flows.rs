//! The flows that the tests run.

use std::sync::Mutex;
use std::time::Duration;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

/// The ids of the steps that began, in order.
pub(crate) static BEGAN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The events of all runs.
pub(crate) static EVENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Notes that a step begins. A plain run has no ids.
pub(crate) fn begin(cx: &Context) {
    BEGAN.lock().unwrap().push(cx.step_id());
}

#[node]
pub(crate) async fn square(cx: &Context, number: u64) -> u64 {
    begin(cx);
    tokio::task::yield_now().await;
    number * number
}

#[node(writes = number)]
async fn add(cx: &Context, number: u64) -> u64 {
    begin(cx);
    number + 1
}

flow! {
    /// A chain.
    pub(crate) Chain(number: u64) -> (square: u64) {
        start >> add >> square >> end;
    }
}

flow! {
    /// One step.
    pub(crate) Told(number: u64) -> (number: u64) {
        start >> add >> end;
    }
}

flow! {
    /// A loop.
    pub(crate) Count(number: u64, limit: u64) -> (number: u64) {
        branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
        start >> add >> is_enough;
        is_enough - "no" >> add;
        is_enough - "yes" >> end;
    }
}

#[node(writes = number)]
fn add_to(number: u64, text: &str) -> u64 {
    number + u64::from(!text.is_empty())
}

flow! {
    /// A loop that carries a text.
    pub(crate) Laden(number: u64, limit: u64, text: String) -> (number: u64) {
        branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
        start >> add_to >> is_enough;
        is_enough - "no" >> add_to;
        is_enough - "yes" >> end;
    }
}

/// Ends after a moment, so that something can happen in the middle.
#[node(writes = number)]
async fn add_slowly(cx: &Context, number: u64) -> u64 {
    begin(cx);
    tokio::time::sleep(Duration::from_millis(10)).await;
    number + 1
}

flow! {
    /// A loop of steps that take a moment.
    pub(crate) SlowCount(number: u64, limit: u64) -> (number: u64) {
        branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
        start >> add_slowly >> is_enough;
        is_enough - "no" >> add_slowly;
        is_enough - "yes" >> end;
    }
}

#[node]
fn numbers(count: u64) -> Vec<u64> {
    (0..count).collect()
}

/// The later items end first.
#[node]
async fn cube(cx: &Context, number: u64) -> u64 {
    begin(cx);
    tokio::time::sleep(Duration::from_millis((200 - number.min(200)) / 4)).await;
    number * number * number
}

#[node]
fn sum(cubes: &[u64]) -> u64 {
    cubes.iter().sum()
}

flow! {
    /// A batch.
    pub(crate) Batch(count: u64) -> (cubes: Vec<u64>, sum: u64) {
        node cubes: for number in numbers { cube } with concurrency(16);
        start >> numbers >> cubes >> sum >> end;
    }
}

/// Succeeds at the third attempt.
#[node(retry(attempts = 5, wait = "10ms"), writes = tried)]
async fn fragile(cx: &Context, number: u64) -> Result<u32, String> {
    begin(cx);
    match cx.attempt() {
        1 | 2 => Err(format!("{number} is refused")),
        attempt => Ok(attempt),
    }
}

flow! {
    /// A step that is retried.
    pub(crate) Retried(number: u64) -> (tried: u32) {
        start >> fragile >> end;
    }
}

#[node]
fn fail(number: u64) -> Result<(), String> {
    Err(format!("{number} is too much"))
}

#[node]
fn excuse(error: &NodeError) -> String {
    error.to_string()
}

flow! {
    /// A step with an error edge.
    pub(crate) Excused(number: u64) -> (excuse: Option<String>) {
        start >> fail >> end;
        fail - "error" >> excuse >> end;
    }
}

flow! {
    /// A step that fails.
    pub(crate) Failing(number: u64) -> () {
        start >> add >> fail >> end;
    }
}

flow! {
    /// Two timers, at the same time.
    pub(crate) Waiting(number: u64) -> (square: u64, cubed: u64) {
        node cubed: cube { cube -> cubed };
        start >> [wait(200ms) >> square, wait(100ms) >> cubed] >> end;
    }
}

flow! {
    /// A flow in a flow, twice.
    pub(crate) Outer(number: u64, limit: u64) -> (number: u64) {
        node again: Count with timeout = "1m";
        start >> Chain >> Count >> add >> again >> end;
    }
}

flow! {
    /// A flow that takes too long, within another one.
    pub(crate) Impatient(number: u64) -> (excuse: Option<String>) {
        node late: Late with timeout = "100ms", retry(attempts = 2, wait = "50ms");
        start >> late >> end;
        late - "error" >> excuse >> end;
    }
}

flow! {
    /// Takes too long.
    pub(crate) Late(number: u64) -> () {
        start >> wait(10m) >> square >> end;
    }
}

/// A yes or no.
#[node(human = "Is {number} all right?")]
#[derive(Serialize, Deserialize)]
enum Verdict {
    Fine { by: String },
    Wrong,
}

flow! {
    /// A question without a timeout, and one with it.
    pub(crate) Asking(number: u64) -> (by: Option<String>) {
        node hurried: human Verdict with timeout = "100ms";
        start >> Verdict;
        Verdict - "fine" >> hurried;
        Verdict - "wrong" >> end("wrong");
        hurried - "fine" >> end;
        hurried - "wrong" >> end("wrong");
        hurried - "timeout" >> end("late");
    }
}

flow! {
    /// A question within a nested flow that takes too long, and then another question.
    pub(crate) Hasty(number: u64) -> (by: Option<String>) {
        node asking: Opinion with timeout = "200ms", retry(attempts = 2, wait = "10ms");
        start >> asking >> end;
        asking - "error" >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

flow! {
    /// A question.
    pub(crate) Opinion(number: u64) -> (by: Option<String>) {
        start >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end;
    }
}

flow! {
    /// A question beside a step that fails.
    pub(crate) Torn(number: u64) -> (by: Option<String>) {
        start >> [Opinion, wait(200ms) >> fail] >> end;
    }
}

/// Never ends by itself.
#[node(writes = stuck)]
async fn stick(cx: &Context, number: u64) -> u64 {
    begin(cx);
    std::future::pending::<()>().await;
    number
}

flow! {
    /// A race that its second branch wins, in two steps.
    pub(crate) Racing(number: u64) -> (square: Option<u64>) {
        node outcome: first { wait(1h) => "late", add >> square => "squared" };
        start >> outcome;
        outcome - "squared" >> end;
        outcome - "late" >> end("late");
    }
}

flow! {
    /// A race between a question, a step that never ends, and a step after a moment. Then a
    /// question.
    pub(crate) Raced(number: u64) -> (square: Option<u64>, by: Option<String>) {
        node outcome: first { Opinion => "answered", stick => "stuck", wait(200ms) >> square => "squared" };
        start >> outcome;
        outcome - "squared" >> Verdict;
        outcome - "stuck" >> end("stuck");
        outcome - "answered" >> end("answered");
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

flow! {
    /// A question that is answered before a step and a timer are done.
    pub(crate) Answered(number: u64) -> (by: Option<String>) {
        node outcome: first { stick => "stuck", Verdict, wait(1h) => "late" };
        start >> outcome;
        outcome - "fine" >> end;
        outcome - "wrong" >> end("wrong");
        outcome - "stuck" >> end("stuck");
        outcome - "late" >> end("late");
    }
}

flow! {
    /// A nested flow that fails and is retried, followed by a question.
    pub(crate) Stubborn(number: u64) -> (by: Option<String>) {
        node failing: Failing with retry(attempts = 2, wait = "10ms");
        start >> failing >> end;
        failing - "error" >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

#[node(writes = text)]
fn repeat(number: u64) -> String {
    "9".repeat(usize::try_from(number).unwrap_or_default())
}

/// A question that may be too long.
#[node(human = "{text}{text}")]
#[derive(Serialize, Deserialize)]
enum Reading {
    Read,
}

flow! {
    /// A question of this many characters, twice.
    pub(crate) Talking(number: u64) -> () {
        start >> repeat >> Reading - "read" >> end;
    }
}

flow! {
    /// A text of this many characters, which may be too long for an outcome.
    pub(crate) Doomed(number: u64) -> (text: String) {
        start >> add >> repeat >> end;
    }
}

flow! {
    /// A step and a question, to be cancelled.
    pub(crate) Halted(number: u64) -> (by: Option<String>) {
        start >> add >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

#[node]
fn scream(text: String) -> Result<(), String> {
    Err(text)
}

flow! {
    /// A failure of this many characters.
    pub(crate) Loud(number: u64) -> () {
        start >> repeat >> scream >> end;
    }
}

flow! {
    /// A loop, and then a question.
    pub(crate) Long(number: u64, limit: u64) -> (by: Option<String>) {
        start >> Count >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

flow! {
    /// A loop, and then a question, in one flow.
    pub(crate) Climb(number: u64, limit: u64) -> (by: Option<String>) {
        branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
        start >> add >> is_enough;
        is_enough - "no" >> add;
        is_enough - "yes" >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

flow! {
    /// Three texts of this many characters, and then a step that gets all of them.
    pub(crate) Heavy(number: u64) -> (length: usize) {
        node more: repeat { text -> more };
        node most: repeat { text -> most };
        start >> repeat >> more >> most >> length >> end;
    }
}

#[node]
fn length(text: &str, more: &str, most: &str) -> usize {
    text.len() + more.len() + most.len()
}

flow! {
    /// A text of this many characters, three times, and then a question.
    pub(crate) Bulky(number: u64) -> (by: Option<String>) {
        node more: repeat;
        node most: repeat;
        start >> repeat >> more >> most >> Verdict;
        Verdict - "fine" >> end;
        Verdict - "wrong" >> end("wrong");
    }
}

#[node]
fn grow(number: u64) -> u128 {
    u128::from(number) << 64
}

#[node(writes = number)]
fn shrink(grow: u128) -> u64 {
    u64::try_from(grow >> 64).unwrap_or_default()
}

flow! {
    /// A number of more than 64 bits, for a while.
    pub(crate) Wild(number: u64) -> (number: u64) {
        start >> grow >> square >> shrink >> add >> end;
    }
}

flow! {
    /// A loop, whose events one test checks.
    pub(crate) Watched(number: u64, limit: u64) -> (number: u64) {
        branch is_enough(number, limit) { number >= limit => "yes", else => "no" }
        start >> add >> is_enough;
        is_enough - "no" >> add;
        is_enough - "yes" >> end;
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tally {
    count: u64,
}

impl Tally {
    fn has(&self, limit: u64) -> bool {
        self.count >= limit
    }
}

#[node(writes = tally)]
async fn tally_slowly(cx: &Context, tally: Tally) -> Tally {
    begin(cx);
    tokio::time::sleep(Duration::from_millis(10)).await;
    Tally {
        count: tally.count + 1,
    }
}

flow! {
    /// A loop with a value of a type that may change.
    pub(crate) SlowTally(tally: Tally, limit: u64) -> (tally: Tally) {
        branch is_enough(tally, limit) { tally.has(*limit) => "yes", else => "no" }
        start >> tally_slowly >> is_enough;
        is_enough - "no" >> tally_slowly;
        is_enough - "yes" >> end;
    }
}
