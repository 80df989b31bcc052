//! Signals in durable runs: stored, in order, each taken once.

use std::time::Duration;

use flow_durable::{
    EventFilter, Execution, ExecutionId, RecordKind, Runtime, RuntimeError, SignalOptions,
    StartOptions, Status,
};
use flow_runtime::SignalError;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::flows::work;
use crate::prefixes::the_same_with_signals;
use crate::support::{lines, options, pass, runtime, store};

/// A line of a chat.
#[node(signal, writes = +lines)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    text: String,
}

/// The customer leaves.
#[node(signal)]
#[derive(Debug, Serialize, Deserialize)]
struct Leave {
    reason: String,
    stars: u8,
}

/// What the shop decides.
#[node(signal, timeout = "1h")]
#[derive(Debug, Serialize, Deserialize)]
enum Decision {
    Refund { amount: u32 },
    Keep,
}

#[node(writes = +replies)]
async fn reply(cx: &Context, lines: &[Line]) -> String {
    work(cx, 10).await;
    format!("{}!", lines.last().map_or("", |line| &line.text))
}

flow! {
    /// Answers each line, until the customer leaves or says nothing for twenty seconds.
    Chat(lines: Vec<Line> = Vec::new(), replies: Vec<String> = Vec::new()) -> (lines: Vec<Line>, replies: Vec<String>, reason: Option<String>, stars: Option<u8>) {
        node next: first { Line => "line", Leave => "left", wait(20s) => "silent" };
        start >> next;
        next - "line" >> reply >> next;
        next - "left" >> end("left");
        next - "silent" >> end("silent");
    }
}

fn chat() -> ChatInput {
    ChatInput::builder().build()
}

flow! {
    /// Waits for a decision, and then for a line.
    Decided() -> (amount: Option<u32>, lines: Option<Vec<Line>>) {
        start >> Decision;
        Decision - "refund" >> end("refund");
        Decision - "keep" >> Line >> end("keep");
        Decision - "timeout" >> end("late");
    }
}

async fn say(runtime: &Runtime, id: ExecutionId, text: &str) {
    let line = Line { text: text.into() };
    let sent = runtime
        .executions()
        .signal(id, line, SignalOptions::new())
        .await;
    sent.unwrap();
}

async fn leave(runtime: &Runtime, id: ExecutionId) {
    let leave = Leave {
        reason: "done".into(),
        stars: 5,
    };
    let sent = runtime
        .executions()
        .signal(id, leave, SignalOptions::new())
        .await;
    sent.unwrap();
}

async fn started(runtime: &Runtime) -> Execution {
    let started = runtime
        .executions()
        .start::<Chat>(chat(), StartOptions::new())
        .await;
    started.unwrap()
}

/// An execution that waits for a decision.
async fn decided(runtime: &Runtime) -> Execution {
    let executions = runtime.executions();
    let options = StartOptions::new();
    let started = executions.start::<Decided>(DecidedInput {}, options);
    let id = started.await.unwrap().id();
    pass(Duration::from_secs(1)).await;
    let execution = executions.get(id).await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    execution
}

fn output(execution: &Execution) -> Value {
    execution.output_json().unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_visit_takes_one_in_the_order_sent() {
    let runtime = runtime(store(), Chat::new());
    let id = started(&runtime).await.id();
    for text in ["a", "b", "c"] {
        say(&runtime, id, text).await;
    }
    pass(Duration::from_secs(10)).await;
    let execution = runtime.executions().get(id).await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    assert!(
        runtime
            .executions()
            .untaken_signals(id)
            .await
            .unwrap()
            .is_empty()
    );
    say(&runtime, id, "d").await;
    leave(&runtime, id).await;
    let execution = execution.settled().await.unwrap();
    assert_eq!(
        output(&execution),
        json!({
            "lines": [{ "text": "a" }, { "text": "b" }, { "text": "c" }, { "text": "d" }],
            "replies": ["a!", "b!", "c!", "d!"], "reason": "done", "stars": 5, "end": "left",
        })
    );
    let journal = execution.journal().await.unwrap();
    let taken = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Received);
    let numbers: Vec<Value> = taken
        .map(|record| serde_json::from_str::<Value>(&record.payload).unwrap()["number"].clone())
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5].map(Value::from));
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_at_once_and_not_when_it_next_looks() {
    let runtime = runtime(store(), Chat::new());
    let id = started(&runtime).await.id();
    pass(Duration::from_secs(10)).await;
    let began = tokio::time::Instant::now();
    leave(&runtime, id).await;
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(output(&execution)["end"], "left");
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_chat_ends_the_same_wherever_a_process_crashes() {
    let said: fn(&str, usize) -> Option<Value> = |name, taken| match (name, taken) {
        ("Line", 0 | 1) => Some(json!({ "text": format!("line {taken}") })),
        ("Line", _) => None,
        // The customer leaves after two lines: the third wait for one is there already.
        _ => None,
    };
    let ended = the_same_with_signals(Chat::new, chat, said).await;
    assert_eq!(
        ended,
        json!({
            "lines": [{ "text": "line 0" }, { "text": "line 1" }], "replies": ["line 0!", "line 1!"],
            "end": "silent",
        })
    );
}

#[tokio::test(start_paused = true)]
async fn one_that_comes_before_its_step_is_kept() {
    let runtime = runtime(store(), Decided::new());
    let execution = decided(&runtime).await;
    say(&runtime, execution.id(), "early").await;
    pass(Duration::from_secs(10)).await;
    let untaken = runtime
        .executions()
        .untaken_signals(execution.id())
        .await
        .unwrap();
    assert_eq!(untaken.len(), 1);
    assert_eq!(
        (untaken[0].name(), untaken[0].body()),
        ("Line", "{\"text\":\"early\"}")
    );
    let sent = runtime
        .executions()
        .signal(execution.id(), Decision::Keep, SignalOptions::new());
    let execution = sent.await.unwrap().settled().await.unwrap();
    assert_eq!(
        output(&execution),
        json!({ "lines": [{ "text": "early" }], "end": "keep" })
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_on_time_and_a_crash_does_not_prolong_it() {
    let shared = store();
    let first = runtime(shared.clone(), Decided::new());
    let id = decided(&first).await.id();
    first.shut_down().await;
    pass(Duration::from_secs(50 * 60)).await;
    let second = runtime(shared, Decided::new());
    second.recover().await.unwrap();
    let began = tokio::time::Instant::now();
    let execution = second.executions().get(id).await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let execution = execution.settled().await.unwrap();
    assert_eq!(output(&execution), json!({ "end": "late" }));
    assert!(
        began.elapsed() < Duration::from_secs(12 * 60),
        "{:?}",
        began.elapsed()
    );
    let error = second
        .executions()
        .signal(id, Decision::Keep, SignalOptions::new())
        .await;
    let error = error.unwrap_err();
    assert!(
        matches!(
            error,
            RuntimeError::Over {
                status: Status::Completed,
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_no_step_takes_is_refused_in_words() {
    let shared = store();
    let runtime = runtime(shared.clone(), Chat::new());
    let executions = runtime.executions();
    let id = started(&runtime).await.id();
    let refused = async |name: &str, body: Value| {
        let sent = executions
            .signal_json(id, name, body, SignalOptions::new())
            .await;
        sent.unwrap_err().to_string()
    };
    let prefix = format!("execution {id} does not take the signal: ");
    assert_eq!(
        refused("Lines", json!({})).await,
        format!("{prefix}no step waits for the signal `Lines`; the flow waits for `Leave`, `Line`")
    );
    assert_eq!(
        refused("Leave", json!({ "reason": "x", "stars": 300 })).await,
        format!("{prefix}expected a `Leave`: invalid value: integer `300`, expected u8")
    );
    let error = executions
        .signal(id, Decision::Keep, SignalOptions::new())
        .await
        .unwrap_err();
    let RuntimeError::Signal {
        error: SignalError::Unknown { name, known },
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(
        (name.as_str(), known),
        ("Decision", vec!["Leave".to_owned(), "Line".to_owned()])
    );
    assert!(executions.untaken_signals(id).await.unwrap().is_empty());

    let without = Runtime::with_options(shared, options());
    let sent = without
        .executions()
        .signal(id, Line { text: "x".into() }, SignalOptions::new());
    let error = sent.await.unwrap_err();
    assert!(
        matches!(error, RuntimeError::NotRegistered { .. }),
        "{error}"
    );
    let nobody = "0199a000-1234-7abc-8def-0123456789ab".parse().unwrap();
    let sent = executions.signal(nobody, Line { text: "x".into() }, SignalOptions::new());
    assert!(matches!(sent.await.unwrap_err(), RuntimeError::NotFound(_)));
    leave(&runtime, id).await;
    let over = executions.get(id).await.unwrap().settled().await.unwrap();
    assert_eq!(over.status(), Status::Completed);
    let sent = executions.signal(id, Line { text: "x".into() }, SignalOptions::new());
    assert!(matches!(sent.await.unwrap_err(), RuntimeError::Over { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_repeated_key_sends_nothing_and_another_signal_with_it_is_refused() {
    let runtime = runtime(store(), Chat::new());
    let executions = runtime.executions();
    let id = started(&runtime).await.id();
    let send = async |text: &str, key: &str| {
        let options = SignalOptions::new().idempotency_key(key);
        executions
            .signal(id, Line { text: text.into() }, options)
            .await
            .map(drop)
    };
    send("a", "1").await.unwrap();
    pass(Duration::from_secs(10)).await;
    send("a", "1").await.unwrap();
    send("b", "2").await.unwrap();
    let error = send("b", "1").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("execution {id} has had another signal with the idempotency key `1`")
    );
    leave(&runtime, id).await;
    let execution = executions.get(id).await.unwrap().settled().await.unwrap();
    assert_eq!(
        output(&execution)["lines"],
        json!([{ "text": "a" }, { "text": "b" }])
    );
    // Also when it is over: whoever repeats it has succeeded.
    send("a", "1").await.unwrap();
    assert!(matches!(
        send("c", "3").await.unwrap_err(),
        RuntimeError::Over { .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn another_process_sends_to_a_run_in_memory_and_to_one_that_waits() {
    let shared = store();
    let holder = runtime(shared.clone(), Chat::new());
    let sender = runtime(shared, Chat::new());
    let id = started(&holder).await.id();
    say(&sender, id, "a").await;
    pass(Duration::from_secs(5)).await;
    say(&sender, id, "b").await;
    pass(Duration::from_secs(5)).await;
    leave(&sender, id).await;
    let execution = holder
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(output(&execution)["replies"], json!(["a!", "b!"]));
}

flow! {
    /// A long step beside a signal, which comes too late or in time.
    Beside(seconds: u64) -> (slept: Option<u64>, reason: Option<String>, stars: Option<u8>) {
        node outcome: first { slept => "slept", Leave => "left" };
        start >> outcome;
        outcome - "slept" >> end("slept");
        outcome - "left" >> end("left");
    }
}

#[node]
async fn slept(seconds: &u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(*seconds)).await;
    *seconds
}

#[tokio::test(start_paused = true)]
async fn a_signal_interrupts_a_running_step_and_one_that_is_too_late_stays() {
    let shared = store();
    let sender = runtime(shared.clone(), Beside::new());
    let holder = runtime(shared, Beside::new());
    let start = async |seconds| {
        let started = holder
            .executions()
            .start::<Beside>(BesideInput { seconds }, StartOptions::new());
        started.await.unwrap()
    };
    let execution = start(1000).await;
    pass(Duration::from_secs(10)).await;
    leave(&sender, execution.id()).await;
    let ended = execution.settled().await.unwrap();
    assert_eq!(
        output(&ended),
        json!({ "reason": "done", "stars": 5, "end": "left" })
    );

    let execution = start(10).await;
    let ended = execution.settled().await.unwrap();
    assert_eq!(output(&ended)["end"], "slept");
    let late = Leave {
        reason: "late".into(),
        stars: 1,
    };
    let sent = sender
        .executions()
        .signal(ended.id(), late, SignalOptions::new())
        .await;
    assert!(matches!(sent.unwrap_err(), RuntimeError::Over { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_copy_has_what_was_taken_and_not_what_was_sent_later() {
    let runtime = runtime(store(), Chat::new());
    let executions = runtime.executions();
    let id = started(&runtime).await.id();
    say(&runtime, id, "a").await;
    pass(Duration::from_secs(10)).await;
    let seq = executions
        .get(id)
        .await
        .unwrap()
        .journal()
        .await
        .unwrap()
        .len() as u64
        - 1;
    let copy = executions.copy(id, seq).await.unwrap().id();
    leave(&runtime, id).await;
    pass(Duration::from_secs(10)).await;
    let copied = executions.get(copy).await.unwrap();
    assert_eq!(copied.status(), Status::Paused);
    say(&runtime, copy, "b").await;
    leave(&runtime, copy).await;
    let copied = copied.settled().await.unwrap();
    assert_eq!(
        output(&copied)["lines"],
        json!([{ "text": "a" }, { "text": "b" }])
    );
    let original = executions.get(id).await.unwrap().settled().await.unwrap();
    assert_eq!(output(&original)["lines"], json!([{ "text": "a" }]));
}

#[tokio::test(start_paused = true)]
async fn the_views_show_what_came() {
    let runtime = runtime(store(), Chat::new());
    let executions = runtime.executions();
    let id = started(&runtime).await.id();
    say(&runtime, id, "a").await;
    leave(&runtime, id).await;
    let execution = executions.get(id).await.unwrap().settled().await.unwrap();
    let journal = execution.journal().await.unwrap();
    let last = journal.len() as u64 - 1;
    let state = executions.state(id, last - 1).await.unwrap();
    let values = json!(state.flows["chat"]);
    assert_eq!(values["reason"], json!("done"), "{}", lines(&journal));
    assert_eq!(values["stars"], json!(5));
    assert_eq!(values["lines"], json!([{ "text": "a" }]));
    let writes = executions.writes(id, last).await.unwrap();
    let stars = writes.iter().find(|write| write.key == "stars").unwrap();
    assert_eq!(stars.value, Some(json!(5)));
    let line = writes
        .iter()
        .find(|write| write.key == "lines" && write.added)
        .unwrap();
    assert_eq!(line.value, Some(json!({ "text": "a" })));
    let mut events = execution
        .events(EventFilter::new().kinds([RecordKind::Awaiting]))
        .await
        .unwrap();
    let mut awaited = Vec::new();
    while let Some(event) = events.next().await {
        if let Some(record) = event.unwrap().record() {
            awaited.push((record.path.clone(), record.payload.clone()));
        }
    }
    assert_eq!(
        awaited[0],
        ("chat.line".to_owned(), "{\"signal\":\"Line\"}".to_owned())
    );
}

#[node(writes = text)]
fn text(lines: &[Line], item: &u64) -> String {
    format!("{item}: {}", lines[0].text)
}

flow! {
    /// One item waits for a line.
    Waiter(item: u64) -> (text: String) {
        start >> Line >> text >> end;
    }
}

flow! {
    /// A loop over flows that wait, two at a time.
    Waiters(items: Vec<u64>) -> (texts: Vec<String>) {
        node texts: for item in items { Waiter } with concurrency(2);
        start >> texts >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn an_execution_that_only_a_signal_continues_has_settled() {
    let runtime = runtime(store(), Waiters::new());
    let input = WaitersInput { items: vec![1] };
    let execution = crate::support::settled::<Waiters>(&runtime, input).await;
    assert_eq!(execution.status(), Status::Paused);
    say(&runtime, execution.id(), "now").await;
    let execution = execution.settled().await.unwrap();
    assert_eq!(
        output(&execution),
        json!({ "texts": ["1: now"], "end": "default" })
    );
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_first_are_served_first() {
    let said: fn(&str, usize) -> Option<Value> =
        |_, taken| Some(json!({ "text": format!("line {taken}") }));
    let input = || WaitersInput {
        items: vec![1, 2, 3],
    };
    let ended = the_same_with_signals(Waiters::new, input, said).await;
    let texts = ["1: line 0", "2: line 1", "3: line 2"];
    assert_eq!(ended, json!({ "texts": texts, "end": "default" }));
}

#[node(retry(attempts = 1))]
async fn checked(cx: &Context, stars: &u8) -> Result<(), String> {
    work(cx, 10).await;
    if *stars < 3 {
        return Err(format!("{stars} stars are too few"));
    }
    Ok(())
}

flow! {
    /// Takes a rating, and fails if it is too low.
    Rating() -> (reason: String, stars: u8) {
        start >> Leave >> checked >> end;
    }
}

flow! {
    /// Waits until somebody is content.
    Content(guests: u64) -> (guests: u64, reason: String, stars: u8) {
        node rating: Rating = Rating::new() with retry(attempts = 5);
        start >> rating >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_at_a_flow_takes_its_own() {
    let said: fn(&str, usize) -> Option<Value> =
        |_, taken| Some(json!({ "reason": format!("guest {taken}"), "stars": 1 + taken }));
    let ended = the_same_with_signals(Content::new, || ContentInput { guests: 7 }, said).await;
    assert_eq!(
        ended,
        json!({ "guests": 7, "reason": "guest 2", "stars": 3, "end": "default" })
    );
}

flow_law::law! {
    nodes: [reply, slept, text, checked, Line, Leave, Decision],
    flows: [
        Beside,
        Waiters,
        Waiter,
        Content,
        Rating,
    ],
    left_out: [Chat, Decided],
}
