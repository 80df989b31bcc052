//! The flows of the tests.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use flow_durable::{Runtime, RuntimeOptions, Store};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

static GATES: LazyLock<Mutex<HashMap<String, Arc<Semaphore>>>> = LazyLock::new(Mutex::default);

/// Lets `write` go on with a topic, a word for each permit.
pub(crate) fn gate(topic: &str) -> Arc<Semaphore> {
    let mut gates = GATES.lock().unwrap();
    let gate = gates.entry(topic.to_owned());
    gate.or_insert_with(|| Arc::new(Semaphore::new(0))).clone()
}

#[derive(Action, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[node(actions = Size)]
fn measure(amount: &u64) -> Size {
    if *amount > 100 {
        Size::Large
    } else {
        Size::Small
    }
}

/// What somebody decides on a claim.
#[node(human = "Approve {amount} EUR for {employee}?", timeout = "14d")]
#[derive(Serialize, Deserialize)]
enum Decision {
    Approve {
        comment: String,
        part: Option<u64>,
        paid_at: Vec<String>,
    },
    Reject {
        reason: String,
    },
    Postpone,
}

#[node(writes = receipt)]
fn pay(amount: &u64, employee: &str) -> String {
    format!("{amount} EUR to {employee}")
}

flow! {
    /// Pays expenses: small ones at once, larger ones when somebody has approved them.
    Claim(employee: String, amount: u64) -> (receipt: Option<String>) {
        start >> measure;
        measure  - "small"    >> pay;
        measure  - "large"    >> Decision;
        Decision - "approve"  >> pay >> end;
        Decision - "reject"   >> end("rejected");
        Decision - "postpone" >> end("postponed");
        Decision - "timeout"  >> end("late");
    }
}

/// Writes word by word, one for each permit of the gate.
#[node(writes = draft)]
async fn write(cx: &Context, topic: &str) -> String {
    let mut draft = String::new();
    for (done, word) in topic.split_inclusive(' ').enumerate() {
        gate(topic).acquire().await.unwrap().forget();
        cx.emit(word);
        cx.progress(
            done as u64 + 1,
            Some(topic.split_inclusive(' ').count() as u64),
        );
        draft += word;
    }
    draft
}

#[derive(Debug, thiserror::Error)]
#[error("no words in {0:?}")]
struct NoWords(String);

#[node(retry(attempts = 2))]
fn count(line: &str) -> Result<usize, NoWords> {
    match line.split_whitespace().count() {
        0 => Err(NoWords(line.to_owned())),
        words => Ok(words),
    }
}

#[node(writes = lines)]
fn split(draft: &str) -> Vec<String> {
    draft.split(' ').map(str::to_owned).collect()
}

flow! {
    /// Writes about a topic and counts words.
    Report(topic: String) -> (draft: String, counts: Vec<usize>) {
        node counts: for line in lines { count };

        start >> write >> split >> counts >> end;
    }
}

/// Waits until the gate of the line is open.
#[node(writes = length)]
async fn hold(line: &str) -> usize {
    gate(line).acquire().await.unwrap().forget();
    line.len()
}

flow! {
    /// Waits at each line.
    Held(lines: Vec<String>) -> (held: Vec<usize>) {
        node held: for line in lines { hold };

        start >> held >> end;
    }
}

/// Waits until the gate of the line is open, and fails if there are no words in it.
#[node(writes = words)]
async fn hold_words(line: &str) -> Result<usize, NoWords> {
    gate(line).acquire().await.unwrap().forget();
    count(line)
}

flow! {
    /// Goes on when a line fails.
    Tolerant(lines: Vec<String>) {
        node tolerant: for line in lines { hold_words } with collect_errors;

        start >> tolerant >> end;
    }
}

/// A reason to stop.
#[node(human = "Stop waiting for {line}?")]
#[derive(Serialize, Deserialize)]
struct Stop(String);

flow! {
    /// Waits until the gate of the line is open or somebody stops it, and then once more.
    Raced(line: String) -> (length: Option<usize>, stop: Option<Stop>) {
        node outcome: first { hold => "held", Stop => "stopped" };
        node again: hold;

        start >> outcome;
        outcome - "held"    >> again >> end;
        outcome - "stopped" >> end("stopped");
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Round {
    Again { round: u64 },
    Done,
}

/// One round of a loop.
#[node(actions = Round)]
async fn turn(round: u64, rounds: &u64, pause_ms: &u64) -> Round {
    if *pause_ms > 0 {
        tokio::time::sleep(Duration::from_millis(*pause_ms)).await;
    }
    if round + 1 < *rounds {
        Round::Again { round: round + 1 }
    } else {
        Round::Done
    }
}

flow! {
    /// Goes round and round.
    Rounds(round: u64, rounds: u64, pause_ms: u64) {
        start >> turn;
        turn - "again" >> turn;
        turn - "done"  >> end;
    }
}

#[node(writes = title)]
fn head(line: &str) -> String {
    line.to_uppercase()
}

#[node(writes = length)]
fn weigh(title: &str) -> usize {
    title.len()
}

flow! {
    /// What is done for each line.
    #[derive(Serialize, Deserialize)]
    Line(line: String) -> (title: String, length: usize) {
        start >> head >> weigh >> end;
    }
}

#[node(writes = left)]
fn look_left(lines: &[String]) -> usize {
    lines.len()
}

#[node(writes = right)]
fn look_right(lines: &[String]) -> usize {
    lines.len()
}

flow! {
    /// A flow with everything that contains nodes: a flow, a fork, loops.
    Nested(line: String, lines: Vec<String>) -> (title: String, counts: Vec<usize>, found: Vec<LineOutput>) {
        node both: [look_left, look_right];
        node counts: for line in lines { count };
        node found: for line in lines { Line };

        start >> Line >> both >> counts >> found >> end;
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot do anything with {0}")]
struct Useless(String);

#[node(retry(attempts = 2))]
fn attempt(text: &str) -> Result<(), Useless> {
    Err(Useless(text.to_owned()))
}

flow! {
    /// Fails always, whatever <img src=x onerror=alert(1)> may say.
    Fails(text: String) {
        start >> attempt >> end;
    }
}

/// Shows any value, and writes it.
#[node(writes = shown)]
fn show(cx: &Context, value: &Value) -> Result<Value, serde_json::Error> {
    cx.emit_json(value)?;
    Ok(value.clone())
}

/// What somebody says.
#[node(human = "What of {shown}?")]
#[derive(Serialize, Deserialize)]
struct Opinion(String);

flow! {
    /// Takes any value.
    Anything(value: Value) -> (shown: Value, opinion: Opinion) {
        start >> show >> Opinion >> end;
    }
}

pub(crate) fn runtime(store: impl Store, options: RuntimeOptions) -> Runtime {
    let runtime = Runtime::with_options(store, options);
    runtime.register(Claim::new()).unwrap();
    runtime.register(Report::new()).unwrap();
    runtime.register(Rounds::new()).unwrap();
    runtime.register(Fails::new()).unwrap();
    runtime.register(Nested::new()).unwrap();
    runtime.register(Held::new()).unwrap();
    runtime.register(Raced::new()).unwrap();
    runtime.register(Tolerant::new()).unwrap();
    runtime.register(Anything::new()).unwrap();
    runtime
}
