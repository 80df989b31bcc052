//! Eleven flows that have everything together. Their steps note what they saw, and what comes of them
//! depends on nothing but their inputs and the answers: not on how often a process died, nor on how
//! long nobody was there.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::note_line;

/// What a step does outside of its flow: it notes what it saw, takes a moment, and notes that it is done.
///
/// # Panics
///
/// If it cannot be noted: then nothing can be said of this run.
async fn saw(cx: &Context, inputs: Value) {
    saw_for(cx, inputs, Duration::from_millis(1)).await;
}

async fn saw_for(cx: &Context, inputs: Value, time: Duration) {
    let step = cx.step_id();
    let noted = note_line(&json!({ "began": step, "inputs": inputs }));
    assert!(noted.is_ok(), "{noted:?}");
    tokio::time::sleep(time).await;
    let noted = note_line(&json!({ "done": step }));
    assert!(noted.is_ok(), "{noted:?}");
}

/// For much longer than anybody waits.
const FOR_EVER: Duration = Duration::from_secs(600);

/// Which attempt at the flow around the step it is, from 0.
fn attempt_of_flow(cx: &Context) -> u32 {
    let step = cx.step_id();
    let attempt = step.rsplit_once('~').map(|(_, rest)| rest);
    let attempt = attempt.and_then(|rest| rest.split(['.', '[']).next());
    attempt.and_then(|text| text.parse().ok()).unwrap_or(0)
}

// 1. A loop with two exits.

/// Where a round leads.
#[derive(Debug, Clone, Serialize, Deserialize, Action)]
pub enum Way {
    /// To another round.
    Again,
    /// To the end.
    Enough {
        /// What it came to.
        reached: u64,
    },
    /// Out.
    TooMuch,
}

#[node(writes = number)]
async fn triple(cx: &Context, number: &u64) -> u64 {
    saw(cx, json!({ "number": number })).await;
    number * 3
}

#[node(writes = number)]
async fn increase(cx: &Context, number: &u64) -> u64 {
    saw(cx, json!({ "number": number })).await;
    number + 1
}

#[node(writes = rounds, actions = Way)]
async fn decide(cx: &Context, number: &u64, rounds: &u64) -> (u64, Way) {
    saw(cx, json!({ "number": number, "rounds": rounds })).await;
    let way = match *number {
        0..100 => Way::Again,
        100..1000 => Way::Enough { reached: *number },
        _ => Way::TooMuch,
    };
    (rounds + 1, way)
}

#[node(writes = doubled)]
async fn double(cx: &Context, reached: &u64) -> u64 {
    saw(cx, json!({ "reached": reached })).await;
    reached * 2
}

flow! {
    /// A loop with two exits.
    pub Rounds(number: u64, rounds: u64) -> (doubled: Option<u64>, rounds: u64) {
        start >> triple >> decide;
        decide - "again" >> triple;
        decide - "enough" >> double >> end;
        decide - "too_much" >> end("too_much");
    }
}

// 2. Forks that fail, in a loop.

#[node(writes = left)]
async fn left(cx: &Context, number: &u64) -> u64 {
    saw(cx, json!({ "number": number })).await;
    number + 1
}

#[node(writes = left_again)]
async fn left_again(cx: &Context, left: &u64) -> u64 {
    saw(cx, json!({ "left": left })).await;
    left + 1
}

#[node(writes = right)]
async fn right(cx: &Context, number: &u64) -> u64 {
    saw_for(cx, json!({ "number": number }), Duration::from_millis(3)).await;
    number + 10
}

#[node(writes = sum)]
async fn sum(cx: &Context, left_again: &u64, right: &u64) -> u64 {
    saw(cx, json!({ "left_again": left_again, "right": right })).await;
    left_again + right
}

#[node]
async fn fails_early(cx: &Context, sum: &u64) -> Result<(), String> {
    saw_for(cx, json!({ "sum": sum }), Duration::from_millis(6)).await;
    Err(format!("early, at {sum}"))
}

#[node]
async fn never_fails(cx: &Context) {
    saw_for(cx, json!({}), FOR_EVER).await;
}

#[node(writes = unseen)]
async fn quick(cx: &Context, sum: &u64) -> u64 {
    saw_for(cx, json!({ "sum": sum }), Duration::from_millis(6)).await;
    sum + 100
}

#[node(writes = report)]
async fn reported(cx: &Context, error: &NodeError, report: &str) -> String {
    let error = format!("{error:#}");
    saw(cx, json!({ "error": error, "report": report })).await;
    format!("{report}{error}; ")
}

#[node(writes = number)]
async fn taken_over(cx: &Context, sum: &u64) -> u64 {
    saw(cx, json!({ "sum": sum })).await;
    *sum
}

/// Whether there is anybody. Nobody answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Is there anybody?", writes = anybody)]
pub struct Anybody {
    /// Which answer it was.
    pub by: String,
}

flow! {
    /// A fork that ends well, and one whose branches fail at different times, one of them as another one is done, and in
    /// which somebody is asked meanwhile; three times.
    pub Forks(number: u64, report: String) -> (report: String, number: u64, unseen: Option<u64>) {
        node first: [left >> left_again, right];
        node second: [never_fails, fails_early, quick, Anybody];
        branch more(number) {
            *number < 60 => "yes",
            else => "no",
        }
        start >> first >> sum >> second >> end("well");
        second - "error" >> reported >> taken_over >> more;
        more - "yes" >> first;
        more - "no" >> end;
    }
}

// 3. A fork that nobody routes, in a flow that is tried again.

flow! {
    /// Fails.
    pub Broken(number: u64) -> (unseen: u64) {
        start >> [left >> left_again, right] >> sum >> [fails_early, quick] >> end;
    }
}

flow! {
    /// A run that fails, since a flow in it fails each time.
    pub Fails(number: u64) -> (unseen: u64) {
        node broken: Broken = Broken::new() with retry(attempts = 2, wait = "5ms");
        start >> triple >> broken >> end;
    }
}

// 4. Loops over items.

#[node]
async fn checked(cx: &Context, item: &u64) -> Result<u64, String> {
    saw_for(cx, json!({ "item": item }), Duration::from_millis(1 + item)).await;
    match item % 3 {
        2 => Err(format!("{item} is refused")),
        _ => Ok(item * item),
    }
}

#[node(retry(attempts = 2))]
async fn second_time(cx: &Context, item: &u64) -> Result<u64, String> {
    saw(cx, json!({ "item": item })).await;
    match cx.attempt() {
        0 => Err("not yet".to_owned()),
        _ => Ok(item + 1),
    }
}

#[node(writes = of_item)]
async fn of_item(cx: &Context, item: &u64, second_time: &u64) -> u64 {
    saw(cx, json!({ "item": item, "second_time": second_time })).await;
    item + second_time
}

flow! {
    /// For each item.
    pub Item(item: u64) -> (of_item: u64) {
        start >> second_time >> of_item >> end;
    }
}

#[node(writes = total)]
async fn total(
    cx: &Context,
    one_by_one: &[Result<u64, NodeError>],
    several: &[Result<u64, NodeError>],
    flows: &[u64],
) -> u64 {
    saw(
        cx,
        json!({ "one": one_by_one.len(), "several": several.len(), "flows": flows }),
    )
    .await;
    one_by_one
        .iter()
        .chain(several)
        .flatten()
        .chain(flows)
        .sum()
}

#[node(writes = failed_at)]
async fn failed_at(cx: &Context, error: &NodeError) -> String {
    let error = format!("{}: {}", error.path(), error.error());
    saw(cx, json!({ "error": error })).await;
    error
}

flow! {
    /// Loops over items, one by one and several at once, with errors among the results and without, over steps and a flow.
    pub Items(items: Vec<u64>) -> (total: u64, failed_at: Option<String>, strict: Option<Vec<u64>>) {
        node one_by_one: for item in items { checked } with collect_errors;
        node several: for item in items { checked } with concurrency(3), collect_errors;
        node flows: for item in items { Item } with concurrency(2);
        node strict: for item in items { checked } with concurrency(2);
        start >> one_by_one >> several >> flows >> total >> strict >> end;
        strict - "error" >> failed_at >> end("failed");
    }
}

// 5. Steps that are tried again.

#[node(retry(attempts = 3, wait = "4ms"), writes = number)]
async fn third_time(cx: &Context, number: &u64) -> Result<u64, String> {
    saw(cx, json!({ "number": number })).await;
    match cx.attempt() {
        2 => Ok(number + 7),
        attempt => Err(format!("attempt {attempt}")),
    }
}

/// Falls back.
#[derive(Debug, Default)]
pub struct Fallback;

#[node(writes = number, retry(attempts = 2))]
impl Fallback {
    async fn exec(&self, cx: &Context, number: &u64) -> Result<u64, String> {
        saw(cx, json!({ "number": number })).await;
        Err(format!("{number} is no good"))
    }

    async fn exec_fallback(&self, cx: &Context, error: &NodeError, number: &u64) -> u64 {
        saw(cx, json!({ "number": number })).await;
        number + 1000 + u64::from(error.attempts())
    }
}

#[node(writes = number, timeout = "12ms", retry(attempts = 2, wait = "2ms"))]
async fn stuck(cx: &Context, number: &u64) -> u64 {
    saw_for(cx, json!({ "number": number }), FOR_EVER).await;
    *number
}

#[node(writes = report)]
async fn stuck_at(cx: &Context, error: &NodeError, number: &u64) -> String {
    let report = format!("{number}, {error:#}");
    saw(cx, json!({ "report": report })).await;
    report
}

flow! {
    /// Steps that are tried again, that fall back, and that take too long.
    pub Tries(number: u64) -> (report: Option<String>, number: u64) {
        node fallback: Fallback = Fallback;
        start >> third_time >> fallback >> triple >> stuck >> end("moved");
        stuck - "error" >> stuck_at >> end;
    }
}

// 6. Flows that time out at first, and questions.

/// Whether to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Go on with {number}?")]
pub enum GoOn {
    /// With this much more.
    Yes {
        /// How much.
        bonus: u64,
        /// Which answer it was.
        by: String,
    },
    /// No.
    No {
        /// Which answer it was.
        by: String,
    },
}

#[node(writes = number)]
async fn moody(cx: &Context, number: &u64) -> u64 {
    let time = match attempt_of_flow(cx) {
        0 => FOR_EVER,
        _ => Duration::from_millis(1),
    };
    saw_for(cx, json!({ "number": number }), time).await;
    number + 2
}

#[node(writes = number)]
async fn rewarded(cx: &Context, number: &u64, bonus: &u64, by: &str) -> u64 {
    saw(cx, json!({ "number": number, "bonus": bonus, "by": by })).await;
    number + bonus
}

#[node(writes = number)]
async fn declined(cx: &Context, number: &u64, by: &str) -> u64 {
    saw(cx, json!({ "number": number, "by": by })).await;
    *number
}

flow! {
    /// Takes too long the first time.
    pub Moody(number: u64) -> (number: u64) {
        start >> triple >> moody >> increase >> end;
    }
}

flow! {
    /// Takes too long the first time, and asks the second time.
    pub Asking(number: u64) -> (number: u64) {
        start >> moody >> GoOn;
        GoOn - "yes" >> rewarded >> end;
        GoOn - "no" >> declined >> end("no");
    }
}

flow! {
    /// Flows with a timeout and a retry, whose first attempts take too long, and questions after them and in them.
    /// On a busy machine other attempts take too long as well: there are as many as it needs.
    pub Impatient(number: u64) -> (number: u64) {
        node at_once: Moody = Moody::new() with timeout = "60ms", retry(attempts = 1000);
        node later: Moody = Moody::new() with timeout = "80ms", retry(attempts = 1000, wait = "3ms");
        node asking: Asking = Asking::new() with timeout = "600ms", retry(attempts = 1000);
        start >> at_once >> GoOn;
        GoOn - "yes" >> rewarded >> later >> asking;
        GoOn - "no" >> declined >> end("no");
        asking - "default" >> triple >> end;
        asking - "no" >> end("no");
    }
}

// 7. Flows in flows.

#[node(writes = number)]
async fn unreliable(cx: &Context, number: &u64) -> Result<u64, String> {
    saw(cx, json!({ "number": number })).await;
    match attempt_of_flow(cx) {
        0 | 1 => Err("not yet".to_owned()),
        _ => Ok(number + 5),
    }
}

#[node(writes = number)]
async fn forgetful(cx: &Context, number: &u64) -> Result<u64, String> {
    saw(cx, json!({ "number": number })).await;
    match attempt_of_flow(cx) {
        0 => Err("forgot".to_owned()),
        _ => Ok(number + 9),
    }
}

flow! {
    /// Succeeds the third time.
    pub Innermost(number: u64) -> (number: u64) {
        start >> triple >> unreliable >> increase >> end;
    }
}

flow! {
    /// Asks, and forgets the answer the first time.
    pub Inner(number: u64) -> (number: u64) {
        node innermost: Innermost = Innermost::new() with retry(attempts = 3, wait = "3ms");
        start >> innermost >> GoOn;
        GoOn - "yes" >> rewarded >> forgetful >> end;
        GoOn - "no" >> declined >> end("no");
    }
}

flow! {
    /// Flows in flows that are tried again, after one of them has asked.
    pub Nested(number: u64) -> (number: u64) {
        node inner: Inner = Inner::new() with retry(attempts = 2);
        start >> triple >> inner;
        inner - "default" >> increase >> end;
        inner - "no" >> end("no");
    }
}

// 8. What takes time on purpose.

/// How often a step has been asked in this process.
fn asked(cx: &Context) -> u64 {
    static ASKED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());
    let mut all = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    let asked = all.entry(cx.step_id()).or_default();
    *asked += 1;
    *asked
}

#[node(poll(every = "4ms", timeout = "10m"), writes = number)]
async fn third_look(cx: &Context, number: &u64) -> Option<u64> {
    saw(cx, json!({ "number": number })).await;
    (asked(cx) >= 3).then_some(number + 3)
}

#[node(poll(every = "6ms", timeout = "20ms"), writes = found)]
async fn never(cx: &Context, number: &u64) -> Option<u64> {
    saw(cx, json!({ "number": number })).await;
    number.checked_sub(1_000_000)
}

flow! {
    /// Takes too long.
    pub Slow(number: u64) -> (number: u64) {
        start >> triple >> wait(10m) >> increase >> end;
    }
}

flow! {
    /// Waits and polls, in a fork too, and a flow that takes too long.
    pub Waits(number: u64) -> (report: Option<String>, number: u64) {
        node slow: Slow = Slow::new() with timeout = "30ms";
        start >> triple >> wait(5ms) >> [third_look, wait(12ms)] >> never >> end("found");
        never - "timeout" >> slow >> end("quick");
        slow - "error" >> stuck_at >> end;
    }
}

// 9. Questions in forks and in loops.

/// Somebody's name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Who is number {number}?", writes = name)]
pub struct Name {
    /// The name.
    pub name: String,
    /// Which answer it was.
    pub by: String,
}

/// Whether somebody comes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Does {guest} come?")]
pub enum Comes {
    /// With so many others.
    Yes {
        /// How many.
        with: u32,
        /// Which answer it was.
        by: String,
    },
    /// No.
    No {
        /// Which answer it was.
        by: String,
    },
}

#[node(writes = count)]
async fn count(cx: &Context, name: &Name, coming: &[Comes], left_again: &u64) -> u64 {
    saw(
        cx,
        json!({ "name": name, "coming": coming, "left_again": left_again }),
    )
    .await;
    let guests = coming.iter().map(|comes| match comes {
        Comes::Yes { with, .. } => 1 + u64::from(*with),
        Comes::No { .. } => 0,
    });
    guests.sum::<u64>() + name.name.len() as u64 + left_again
}

#[node(writes = seats)]
async fn seats(cx: &Context, count: &u64) -> u64 {
    saw(cx, json!({ "count": count })).await;
    *count
}

flow! {
    /// Asks somebody who never answers.
    pub Late(guest: String, count: u64) -> (seats: Option<u64>) {
        node late: human Comes with timeout = "30ms";
        start >> late;
        late - "yes" >> end("came");
        late - "no" >> end("came");
        late - "timeout" >> seats >> end;
    }
}

flow! {
    /// Questions beside other work, several at once, in a flow in the flow, and one that nobody answers.
    pub Party(number: u64, guests: Vec<String>, guest: String) -> (count: u64, seats: Option<u64>) {
        node coming: for guest in guests { Comes } with concurrency(2);
        start >> [Name, left >> left_again] >> coming >> count >> Late;
        Late - "default" >> end;
        Late - "came" >> end("late");
    }
}

// 10. What is looked back at.

#[node(writes = greeted)]
async fn greeted(cx: &Context, name: &Name, number: &u64) -> u64 {
    saw(cx, json!({ "name": name, "number": number })).await;
    name.name.len() as u64 + number
}

flow! {
    /// Rounds with a question each, beside other work, and two exits.
    pub Interview(number: u64) -> (number: u64, greeted: u64) {
        branch more(number) {
            *number < 50 => "yes",
            else => "no",
        }
        start >> [Name, left >> left_again, right] >> greeted >> sum >> GoOn;
        GoOn - "yes" >> rewarded >> more;
        GoOn - "no" >> declined >> end("declined");
        more - "yes" >> [Name, left >> left_again, right];
        more - "no" >> end;
    }
}

// 11. Loops whose items run in parts.

#[node]
async fn tenfold(cx: &Context, item: &u64, number: &u64) -> Result<u64, String> {
    // What would run for ever is ended when another part fails.
    let time = if *item == 99 {
        FOR_EVER
    } else {
        Duration::from_millis(1)
    };
    saw_for(cx, json!({ "item": item, "number": number }), time).await;
    match item {
        13 => Err(format!("no {item}")),
        _ => Ok(item * 10 + number),
    }
}

#[node(writes = number)]
async fn added_up(cx: &Context, results: &[u64]) -> u64 {
    saw(cx, json!({ "results": results })).await;
    results.iter().sum()
}

#[node(writes = said)]
async fn said(cx: &Context, error: &NodeError) -> String {
    saw(cx, json!({ "error": error.path() })).await;
    error.path().to_owned()
}

flow! {
    /// A loop of which each part is an execution of its own, and one of which a part fails.
    pub Parts(number: u64, items: Vec<u64>, bad: Vec<u64>) -> (number: u64, said: Option<String>) {
        node results: for item in items { tenfold } with concurrency(2), spread(2);
        node failing: for item in bad { tenfold } with spread(1);
        start >> triple >> results >> added_up >> failing;
        failing - "default" >> end("unexpected");
        failing - "error" >> said >> end;
    }
}

/// What somebody says: always the same, but for which answer it is. Nothing to what is never answered.
pub fn answer(prompt: &str, by: &str) -> Option<Value> {
    let number = |text: &str| {
        let digits = text.chars().filter(char::is_ascii_digit);
        digits.collect::<String>().parse::<u64>().unwrap_or(0)
    };
    match prompt {
        "Does Ben come?" => Some(json!({ "Yes": { "with": 2, "by": by } })),
        "Does Cid come?" => Some(json!({ "No": { "by": by } })),
        "Does Dan come?" => Some(json!({ "Yes": { "with": 0, "by": by } })),
        text if text.starts_with("Go on with") => {
            let answer = json!({ "Yes": { "bonus": 10 + number(text) % 10, "by": by } });
            Some(answer)
        }
        text if text.starts_with("Who is number") => {
            Some(json!({ "name": "x".repeat(1 + number(text) as usize % 7), "by": by }))
        }
        _ => None,
    }
}
