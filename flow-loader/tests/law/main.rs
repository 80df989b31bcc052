//! The law of the loader: a flow that is exported and loaded again does what the compiled one does,
//! on every engine. It returns the same, tells an observer the same, and keeps the same journal.

mod damage;
mod named;
mod random;
mod support;

use std::time::Duration;

use flow_loader::registry;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Compares both for each input. The answers to questions are by path.
macro_rules! law {
    ($name:ident: $flow:expr, $type:ident, $registry:expr, [$($input:expr),* $(,)?]) => {
        law!($name: $flow, $type, $registry, [$($input),*], json!({}));
    };
    ($name:ident: $flow:expr, $type:ident, $registry:expr, [$($input:expr),* $(,)?], $answers:expr) => {
        #[tokio::test(start_paused = true)]
        async fn $name() {
            let answers: Value = $answers;
            for input in [$($input),*] {
                let loaded = support::loaded($type::SPEC, &$registry);
                let compiled = support::all($flow, &input, &answers).await;
                let loaded = support::all(loaded, &input, &answers).await;
                for (compiled, loaded) in compiled.iter().zip(&loaded) {
                    assert_eq!(loaded.ended, compiled.ended);
                    assert_eq!(loaded.done, compiled.done);
                    let happened = |ran: &support::Ran| ran.happened.join("\n");
                    assert_eq!(happened(loaded), happened(compiled));
                }
                for ran in &compiled[1..] {
                    assert!(ran.happened.len() > 1 || ran.ended.is_err(), "{compiled:?}");
                }
            }
        }
    };
}

mod collections;
mod results;
mod signals;
mod undo;

#[node(writes = draft)]
async fn write(topic: &str) -> String {
    format!("About {topic}")
}

#[derive(Debug, Action, Serialize, Deserialize)]
enum Verdict {
    Approved,
    Rejected { reason: String },
}

#[derive(Serialize, Deserialize, Clone)]
struct Wanted(usize);

#[node(actions = Verdict)]
fn review(draft: &str, wanted: &Wanted) -> Verdict {
    if draft.len() > wanted.0 {
        Verdict::Approved
    } else {
        let reason = format!("{} letters", draft.len());
        Verdict::Rejected { reason }
    }
}

#[node(writes = draft)]
async fn revise(draft: String, reason: &str) -> String {
    tokio::task::yield_now().await;
    format!("{draft} ({reason})")
}

flow! {
    Article(topic: String, wanted: Wanted) -> (draft: String) {
        start >> write >> review;
        review - "approved" >> end;
        review - "rejected" >> revise >> review;
    }
}
law!(a_loop: Article::new(), Article, registry![write, review, revise], [
    json!({ "topic": "crabs", "wanted": 80 }),
    json!({ "topic": "crabs", "wanted": 1 }),
    json!({ "topic": "crabs" }),
    json!({ "topic": 7, "wanted": 1 }),
]);

#[node]
fn count(topic: &str) -> usize {
    topic.len()
}

#[node(writes(first, rest))]
async fn split(topic: String) -> (char, Option<String>) {
    tokio::time::sleep(Duration::from_millis(3)).await;
    let mut letters = topic.chars();
    let first = letters.next().unwrap_or('?');
    (
        first,
        Some(letters.collect()).filter(|rest: &String| !rest.is_empty()),
    )
}

#[node(writes = label)]
fn join(first: &char, rest: Option<&String>, count: &usize) -> String {
    format!("{first}-{rest:?}-{count}")
}

flow! {
    Labelled(topic: String) -> (label: String, rest: Option<String>) {
        start >> [count, split] >> join >> end;
    }
}
law!(a_fork: Labelled::new(), Labelled, registry![count, split, join], [
    json!({ "topic": "crabs" }),
    json!({ "topic": "c" }),
]);

#[node]
fn halve(number: &u32) -> Result<u32, String> {
    if number.is_multiple_of(2) {
        Ok(number / 2)
    } else {
        Err(format!("{number} is odd"))
    }
}

#[node]
fn sum(halves: &[u32]) -> u32 {
    halves.iter().sum()
}

#[node(writes = failure)]
fn say(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    Halves(numbers: Vec<u32>) -> (sum: Option<u32>, failure: Option<String>) {
        node halves: for number in numbers { halve } with concurrency(2);
        start >> halves >> sum >> end;
        halves - "error" >> say >> end("failed");
    }
}
law!(a_loop_over_items: Halves::new(), Halves, registry![halve, sum, say], [
    json!({ "numbers": [2, 4, 6] }),
    json!({ "numbers": [] }),
    json!({ "numbers": [2, 3, 4] }),
]);

#[node(writes = odd)]
fn failures(halves: &[Result<u32, NodeError>]) -> usize {
    halves.iter().filter(|half| half.is_err()).count()
}

flow! {
    Odd(numbers: Vec<u32>) -> (odd: usize) {
        node halves: for number in numbers { halve } with collect_errors;
        start >> halves >> failures >> end;
    }
}
law!(errors_of_items_as_values: Odd::new(), Odd, registry![halve, failures], [
    json!({ "numbers": [1, 2, 3] }),
]);

#[node(retry(attempts = 3, wait = "2s"), writes = number)]
async fn shaky(number: &u32, cx: &Context) -> Result<u32, String> {
    if cx.attempt() < *number {
        Err(format!("attempt {} of {number}", cx.attempt()))
    } else {
        Ok(number + 1)
    }
}

#[node(timeout = "1s", writes = number)]
async fn slow(number: u32) -> Result<u32, String> {
    tokio::time::sleep(Duration::from_millis(300 * u64::from(number))).await;
    Ok(number)
}

flow! {
    Shaky(number: u32) -> (number: Option<u32>) {
        start >> shaky >> wait(5s) >> slow >> end;
        slow - "error" >> end("slow");
    }
}
law!(attempts_and_time: Shaky::new(), Shaky, registry![shaky, slow], [
    json!({ "number": 1 }),
    json!({ "number": 2 }),
    json!({ "number": 3 }),
    json!({ "number": 4 }),
]);

flow! {
    Power(number: u32) -> (number: u32) {
        branch is_enough(number) { *number >= 100 => "yes", *number == 7 => "seven", else => "no" }
        start >> double >> is_enough;
        is_enough - "no" >> double;
        is_enough - "yes" >> end;
        is_enough - "seven" >> end("seven");
    }
}

#[node(writes = number)]
fn double(number: u32) -> u32 {
    number * 2 + 1
}
law!(a_branch: Power::new(), Power, registry![double], [
    json!({ "number": 1 }),
    json!({ "number": 30 }),
]);

flow! {
    Outer(amount: u32, topic: String) -> (draft: Option<String>, result: u32) {
        node power: Power { number <- amount, number -> result } with retry(attempts = 2);
        start >> write >> power;
        power - "default" >> end;
        power - "seven" >> shaky_twice >> end("odd");
    }
}

#[node(retry(attempts = 2))]
fn shaky_twice(draft: String) -> Result<(), String> {
    Err(draft)
}
law!(a_flow_in_a_flow: Outer::new(), Outer, registry![double, write, shaky_twice], [
    json!({ "amount": 1, "topic": "a" }),
    json!({ "amount": 30, "topic": "b" }),
]);

#[derive(Debug, Serialize, Deserialize)]
#[node(human = "Release {draft}?", timeout = "1h")]
enum Approval {
    Approved { by: String },
    Rejected,
}

#[derive(Debug, Serialize, Deserialize)]
#[node(human = "How many of {topic}?", writes = order)]
struct Order {
    count: u32,
}

#[node]
fn price(order: &Order, by: &str) -> String {
    format!("{} for {by}", order.count * 3)
}

flow! {
    Release(topic: String) -> (price: Option<String>) {
        node approval: human Approval;
        node order: human Order;
        start >> write >> approval;
        approval - "approved" >> order >> price >> end;
        approval - "rejected" >> end("rejected");
        approval - "timeout" >> end("late");
    }
}
law!(people_are_asked: Release::new(), Release, registry![write, Approval, Order, price], [
    json!({ "topic": "crabs" }),
], json!({
    "release.approval": { "Approved": { "by": "Ann" } },
    "release.order": { "count": 4 },
}));
law!(people_say_no: Release::new(), Release, registry![write, Approval, Order, price], [
    json!({ "topic": "crabs" }),
], json!({ "release.approval": "Rejected" }));

struct Prefix {
    text: String,
}

#[node(writes = draft)]
impl Prefix {
    fn exec(&self, draft: String) -> String {
        format!("{} {draft}", self.text)
    }
}

#[derive(Default, Clone)]
struct Shout;

#[node(writes = draft)]
impl Shout {
    async fn exec(&self, draft: &str) -> Result<String, String> {
        match draft.len() {
            0..30 => Ok(draft.to_uppercase()),
            length => Err(format!("{length} letters")),
        }
    }
}

flow! {
    Loud(topic: String) -> (draft: String) {
        node prefix: Prefix = Prefix { text: "Re:".into() };
        start >> write >> prefix >> Shout >> end;
    }
}
law!(types_with_settings: Loud::new(), Loud, registry![write, Prefix = Prefix { text: "Re:".into() }, Shout], [
    json!({ "topic": "crabs" }),
    json!({ "topic": "crabs that have a long, long name" }),
]);

#[node(writes = part)]
async fn pick(names: &[String], count: usize) -> Option<String> {
    names.get(count).cloned()
}

#[node(writes = said)]
fn tell(part: Option<&String>, topic: &str) -> String {
    format!("{part:?} of {topic}")
}

flow! {
    Picked(names: Vec<String>, topic: String) -> (said: String, part: Option<String>, count: usize) {
        start >> count >> [pick, write >> shorten] >> tell >> end;
    }
}

#[node(writes = short)]
fn shorten(draft: String, count: &usize) -> String {
    draft.chars().take(*count).collect()
}
law!(values_that_may_be_missing: Picked::new(), Picked, registry![count, pick, write, shorten, tell], [
    json!({ "names": ["a", "b", "c"], "topic": "xy" }),
    json!({ "names": ["a"], "topic": "xyz" }),
]);

fn is_transient(error: &str) -> bool {
    error.contains("busy")
}

#[node(retry(attempts = 3, wait = "1s", if = is_transient), writes = draft)]
fn fetch(topic: &str, cx: &Context) -> Result<String, String> {
    match topic {
        "busy" if cx.attempt() < 2 => Err("busy".to_owned()),
        "gone" => Err("gone".to_owned()),
        _ => Ok(format!("{topic}!")),
    }
}

#[node(writes = draft)]
fn stamp(draft: String, topic: &str) -> String {
    format!("{draft} [{topic}]")
}

flow! {
    Fetched(topic: String, other: String) -> (draft: String) {
        start >> fetch >> stamp { topic <- other } >> end;
        fetch - "error" >> write { topic <- other } >> end;
    }
}
law!(mappings_of_edges_and_choice_of_attempts: Fetched::new(), Fetched, registry![fetch, stamp, write], [
    json!({ "topic": "busy", "other": "o" }),
    json!({ "topic": "gone", "other": "o" }),
    json!({ "topic": "fine", "other": "o" }),
]);

#[node]
async fn measure(number: &u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(u64::from(*number))).await;
    number + 1
}

flow! {
    Measured(numbers: Vec<u32>, number: u32) -> (measured: Vec<u32>, once: u32) {
        node measured: for number in numbers { measure } with timeout = "50ms", retry(attempts = 2, wait = "1s");
        node single: measure { measure -> once } with timeout = "20ms", retry(attempts = 3);
        start >> measured >> single >> end;
    }
}
law!(limits_that_the_flow_sets: Measured::new(), Measured, registry![measure], [
    json!({ "numbers": [1, 2], "number": 3 }),
    json!({ "numbers": [1, 200], "number": 3 }),
    json!({ "numbers": [1], "number": 30 }),
]);

flow! {
    Item(number: u32) -> (number: u32) {
        start >> shaky >> end;
    }
}

flow! {
    Items(numbers: Vec<u32>) -> (items: Vec<Result<u32, NodeError>>) {
        node items: for number in numbers { Item } with retry(attempts = 2), collect_errors, concurrency(3);
        start >> items >> end;
    }
}
law!(flows_for_items: Items::new(), Items, registry![shaky], [
    json!({ "numbers": [0, 1, 2, 3, 4] }),
]);

#[node(writes = +notes)]
fn note(topic: &str) -> String {
    topic.to_uppercase()
}

#[node]
fn letters(topic: &str) -> Vec<String> {
    topic.chars().map(String::from).collect()
}

#[node(writes = length)]
fn noted(notes: &[String]) -> usize {
    notes.len()
}

flow! {
    Noted(topic: String, names: Vec<String>, numbers: Vec<u32>) -> (notes: Vec<String>, total: u32, length: usize) {
        node spelled: letters { letters -> +notes };
        node named: for topic in names { note } with spread(2), concurrency(2);
        node halves: for number in numbers { halve { halve -> +total } };
        node items: for number in numbers { Item { number -> +total } } with retry(attempts = 2), spread(1);
        node again: note;
        start >> note >> [spelled >> noted, halves, again] >> named >> items >> end;
    }
}
law!(nodes_that_add: Noted::new(), Noted, registry![note, letters, noted, halve, shaky], [
    json!({ "topic": "crab", "names": ["a", "b", "c"], "numbers": [2, 0] }),
    json!({ "topic": "crab", "names": [], "numbers": [] }),
    json!({ "topic": "crab", "names": ["a"], "numbers": [2, 3] }),
]);

flow! {
    Asked(names: Vec<String>) -> (asked: Vec<Choice>) {
        node asked: for name in names { Choice };
        start >> asked >> end;
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Take {name}?")]
enum Choice {
    Yes,
    No,
}
law!(people_are_asked_about_items: Asked::new(), Asked, registry![Choice], [
    json!({ "names": ["a", "b"] }),
], json!({ "asked.asked[0]": "Yes", "asked.asked[1]": "No" }));

#[node(writes = total)]
fn add(total: &u64, number: &u64) -> u64 {
    total + number
}

flow! {
    Sum(total: u64, count: u64, step: u64) -> (total: u64) {
        branch more(count) { *count < 4 && *count != 9 => "more", else => "done" }
        start >> more;
        node more_of_it: add { number <- step };
        more - "more" >> [increase, more_of_it] >> more;
        more - "done" >> end;
    }
}

#[node(writes = count)]
fn increase(count: u64) -> u64 {
    count + 1
}
law!(branches_of_a_fork_see_the_state_before_it: Sum::new(), Sum, registry![add, increase], [
    json!({ "total": 1, "count": 0, "step": 3 }),
]);
