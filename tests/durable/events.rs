//! The event stream: what it gives, to whom, from where on, and what it costs the runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_durable::{
    EventFilter, Events, ExecutionEvent, ExecutionId, RecordKind, Runtime, StartOptions, Status,
};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::stores::{Counting, Faulty, Flaky};
use crate::support::{options, settled, store};

#[node]
fn fetch(cx: &Context, topic: &str) -> String {
    cx.emit("He");
    cx.emit("llo");
    format!("about {topic}")
}

#[node]
fn rank(fetch: &str) -> usize {
    fetch.len()
}

flow! {
    Search(topic: String) -> (rank: usize) {
        start >> fetch >> rank >> end;
    }
}

#[node]
fn summarize(rank: &usize) -> String {
    format!("{rank} letters")
}

flow! {
    Research(topic: String) -> (summarize: String) {
        node search: Search = Search::new();
        start >> search >> summarize >> end;
    }
}

fn topic() -> ResearchInput {
    ResearchInput {
        topic: "tides".into(),
    }
}

fn research() -> Runtime {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Research::new()).unwrap();
    runtime
}

/// All that the store has of the owner's executions.
async fn history(runtime: &Runtime, filter: EventFilter) -> Vec<ExecutionEvent> {
    let mut events = runtime
        .executions()
        .events(filter.from_start().until_now())
        .await
        .unwrap();
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event.unwrap());
    }
    all
}

/// The events up to the end of an execution.
async fn until_over(events: &mut Events) -> Vec<ExecutionEvent> {
    let mut all = Vec::new();
    loop {
        let event = events.next().await.unwrap().unwrap();
        let kind = event.record().map(|record| record.kind);
        all.push(event);
        if let Some(RecordKind::RunCompleted | RecordKind::RunFailed) = kind {
            return all;
        }
    }
}

/// The type of each envelope with the path, a line each.
fn types(events: &[ExecutionEvent]) -> Vec<String> {
    let line = |event: &ExecutionEvent| {
        let envelope = event.to_json();
        let custom = envelope["payload"]["type"].as_str();
        let r#type = custom.or(envelope["type"].as_str()).unwrap_or_default();
        format!("{type} {}", event.path().unwrap_or_default())
    };
    events.iter().map(line).collect()
}

fn paths(events: &[ExecutionEvent]) -> Vec<&str> {
    events.iter().filter_map(ExecutionEvent::path).collect()
}

struct Slow;

#[node(writes = slow, retry(attempts = 3, wait = "2s"))]
impl Slow {
    async fn exec(&self, cx: &Context, topic: &str) -> Result<String, String> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        match cx.attempt() {
            0 => Err("not yet".to_owned()),
            _ => Ok(topic.to_uppercase()),
        }
    }
}

flow! {
    Once(topic: String) -> (slow: String) {
        node slow: Slow = Slow;
        start >> slow >> end("done");
    }
}

/// TE-01, B-071, B-073, B-074, D-21
#[tokio::test(start_paused = true)]
async fn the_life_of_one_node_is_told_in_order_with_exact_attempts_and_durations() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Once::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    let input = OnceInput {
        topic: "tides".into(),
    };
    let execution = runtime
        .executions()
        .start::<Once>(input, StartOptions::new())
        .await
        .unwrap();
    let events = until_over(&mut events).await;
    let expected = [
        (
            0,
            "once",
            "Once",
            "custom",
            json!({ "type": "run_started", "data": { "topic": "tides" } }),
        ),
        (
            0,
            "once.slow",
            "Slow",
            "node_start",
            json!({ "nodeName": "Slow", "nodeId": "slow", "namespace": "once.slow" }),
        ),
        (
            1000,
            "once.slow",
            "Slow",
            "error",
            json!({ "phase": "exec", "record": "attempt_failed", "error": "not yet", "attempt": 0 }),
        ),
        (
            4000,
            "once.slow",
            "Slow",
            "exec_complete",
            json!({ "execResult": "TIDES", "attempts": 2, "durationMs": 4000 }),
        ),
        (
            4000,
            "once.slow",
            "Slow",
            "node_end",
            json!({ "action": "default", "durationMs": 4000 }),
        ),
        (
            4000,
            "once",
            "Once",
            "custom",
            json!({ "type": "flow_ended", "data": "done" }),
        ),
        (
            4000,
            "once",
            "Once",
            "custom",
            json!({ "type": "run_completed", "data": { "slow": "TIDES", "end": "done" } }),
        ),
    ];
    assert_eq!(events.len(), expected.len(), "{:?}", types(&events));
    let began_ms = events[0].to_json()["timestamp"].as_u64().unwrap();
    let numbered = events.iter().zip(expected).zip(0..);
    for ((event, (after_ms, path, node, r#type, payload)), seq) in numbered {
        let mut envelope = event.to_json();
        let fields = envelope.as_object_mut().unwrap();
        assert_eq!(fields.remove("id"), Some(event.id().to_string().into()));
        assert!(
            fields
                .remove("offset")
                .is_some_and(|offset| offset.as_u64() > Some(0))
        );
        assert_eq!(fields.remove("seq"), Some(u64::into(seq)));
        assert_eq!(fields.remove("step"), Some(path.into()));
        let visit = fields.remove("visit").unwrap();
        assert_eq!(visit, u64::from(path == "once.slow"));
        let node_id = path.rsplit('.').next();
        assert_eq!(
            envelope,
            json!({
                "timestamp": began_ms + after_ms,
                "sourceNode": node,
                "nodeId": node_id,
                "namespace": path,
                "runId": execution.id().to_string(),
                "type": r#type,
                "payload": payload,
            })
        );
    }
}

/// B-074: a fallback is no attempt, and a failed node has no end.
#[tokio::test(start_paused = true)]
async fn attempts_are_counted_without_the_fallback() {
    struct Never;

    #[node(writes = made_good, retry(attempts = 3))]
    impl Never {
        fn exec(&self, topic: &str) -> Result<String, String> {
            Err(format!("no {topic}"))
        }

        fn exec_fallback(&self, error: &NodeError) -> String {
            format!("after {}", error.attempts())
        }
    }

    #[node(retry(attempts = 2))]
    fn fails(made_good: &str) -> Result<u8, std::num::ParseIntError> {
        made_good.parse()
    }

    flow! {
        Attempts(topic: String) -> (fails: u8) {
            node never: Never = Never;
            start >> never >> fails >> end;
        }
    }

    let runtime = Runtime::with_options(store(), options());
    runtime.register(Attempts::new()).unwrap();
    let execution = settled::<Attempts>(
        &runtime,
        AttemptsInput {
            topic: "tides".into(),
        },
    )
    .await;
    assert_eq!(execution.status(), Status::Failed);
    let events = history(&runtime, EventFilter::new().path("attempts.*").unwrap()).await;
    assert_eq!(
        types(&events),
        [
            "node_start attempts.never",
            "error attempts.never",
            "error attempts.never",
            "error attempts.never",
            "gave_up attempts.never",
            "exec_complete attempts.never",
            "node_end attempts.never",
            "node_start attempts.fails",
            "error attempts.fails",
            "error attempts.fails",
            "error attempts.fails",
        ]
    );
    assert_eq!(events[5].to_json()["payload"]["attempts"], 3);
    let payload = &events[10].to_json()["payload"];
    assert_eq!(
        *payload,
        json!({
            "phase": "exec",
            "record": "node_failed",
            "error": "invalid digit found in string",
            "causes": [],
            "attempts": 2,
            "durationMs": 0,
        })
    );
}

/// B-075: one flow with three nodes inside starts four nodes.
#[tokio::test(start_paused = true)]
async fn a_flow_inside_starts_before_its_nodes_and_ends_after_them() {
    flow! {
        Three(topic: String) -> (summarize: String) {
            start >> fetch >> rank >> summarize >> end;
        }
    }

    flow! {
        Parent(topic: String) -> (summarize: String) {
            node child: Three = Three::new();
            start >> child >> end;
        }
    }

    let runtime = Runtime::with_options(store(), options());
    runtime.register(Parent::new()).unwrap();
    let input = ParentInput {
        topic: "tides".into(),
    };
    settled::<Parent>(&runtime, input).await;
    let filter = EventFilter::new().kinds([RecordKind::NodeStarted, RecordKind::NodeFinished]);
    let told = history(&runtime, filter).await;
    let last = &told.last().unwrap().to_json()["payload"];
    assert_eq!(*last, json!({ "action": "default", "durationMs": 0 }));
    assert_eq!(
        types(&told),
        [
            "node_start parent.child",
            "node_start parent.child.fetch",
            "node_end parent.child.fetch",
            "node_start parent.child.rank",
            "node_end parent.child.rank",
            "node_start parent.child.summarize",
            "node_end parent.child.summarize",
            "node_end parent.child",
        ]
    );
}

#[node]
fn always_fails(topic: &str) -> Result<u8, String> {
    Err(format!("no {topic}"))
}

flow! {
    Failing(topic: String) -> (always_fails: u8) {
        start >> always_fails >> end;
    }
}

/// B-076: the node's own error, then that of the flow around it.
#[tokio::test(start_paused = true)]
async fn a_failure_inside_a_flow_is_told_of_the_node_and_of_the_flow() {
    flow! {
        Around(topic: String) -> (always_fails: u8) {
            node inner: Failing = Failing::new() with retry(attempts = 2);
            start >> inner >> end;
        }
    }

    let runtime = Runtime::with_options(store(), options());
    runtime.register(Around::new()).unwrap();
    let input = AroundInput {
        topic: "tides".into(),
    };
    settled::<Around>(&runtime, input).await;
    let events = history(&runtime, EventFilter::new()).await;
    let errors: Vec<_> = events
        .iter()
        .map(ExecutionEvent::to_json)
        .filter(|event| event["type"] == "error")
        .map(|event| {
            let payload = &event["payload"];
            format!(
                "{} {} {}",
                event["namespace"].as_str().unwrap(),
                payload["record"].as_str().unwrap(),
                payload["phase"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        errors,
        [
            "around.inner.always_fails attempt_failed exec",
            "around.inner.always_fails node_failed exec",
            "around.inner flow_failed exec",
            "around.inner attempt_failed exec",
            "around.inner.always_fails attempt_failed exec",
            "around.inner.always_fails node_failed exec",
            "around.inner flow_failed exec",
            "around.inner attempt_failed exec",
            "around run_failed run",
        ]
    );
}

#[node]
fn refuses(number: &u64) -> Result<u64, String> {
    match number {
        7 => Err("7 is refused".to_owned()),
        number => Ok(*number),
    }
}

#[node]
fn beside() -> u64 {
    1
}

flow! {
    /// A fork that fails, and a loop that ends the run.
    Composites(number: u64, numbers: Vec<u64>) -> (all: Vec<u64>) {
        node all: for number in numbers { refuses };
        start >> [beside, refuses] >> all >> end;
        [beside, refuses] - "error" >> all;
    }
}

/// B-076, D-21: the error of what failed inside, then that of the fork and of the loop; and nothing of
/// them when they succeed.
#[tokio::test(start_paused = true)]
async fn a_failure_inside_a_fork_or_a_loop_is_told_of_both() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Composites::new()).unwrap();
    for (number, numbers) in [(7, vec![1, 7]), (1, vec![1])] {
        let input = CompositesInput { number, numbers };
        settled::<Composites>(&runtime, input).await;
    }
    let filter = EventFilter::new().kinds([
        RecordKind::NodeFailed,
        RecordKind::FlowFailed,
        RecordKind::RunFailed,
    ]);
    let events = history(&runtime, filter).await;
    let errors = events.iter().map(|event| {
        let event = event.to_json();
        assert_eq!(event["type"], "error");
        let (path, payload) = (&event["namespace"], &event["payload"]);
        format!("{path} {}: {}", payload["record"], payload["error"])
    });
    let errors: Vec<_> = errors.map(|line| line.replace('"', "")).collect();
    let of = |path: &str| format!("node `composites.{path}` failed after 1 attempt: 7 is refused");
    assert_eq!(
        errors,
        [
            "composites.refuses node_failed: 7 is refused".to_owned(),
            format!("composites.fork flow_failed: {}", of("refuses")),
            "composites.all[1] node_failed: 7 is refused".to_owned(),
            format!("composites.all flow_failed: {}", of("all[1]")),
            format!("composites run_failed: {}", of("all[1]")),
        ]
    );
}

/// TE-04: by execution, by kind, by pattern, and by several at once.
#[tokio::test(start_paused = true)]
async fn filters_choose_by_execution_kind_and_path() {
    let runtime = research();
    let first = settled::<Research>(&runtime, topic()).await.id();
    let second = settled::<Research>(&runtime, topic()).await.id();

    let of_second = history(&runtime, EventFilter::new().execution(second)).await;
    assert!(!of_second.is_empty());
    assert!(
        of_second
            .iter()
            .all(|event| event.execution() == Some(second))
    );
    let all = history(&runtime, EventFilter::new()).await;
    assert_eq!(all.len(), 2 * of_second.len());

    let started = EventFilter::new()
        .execution(first)
        .kinds([RecordKind::NodeStarted]);
    let at = async |pattern: &str| {
        let events = history(&runtime, started.clone().path(pattern).unwrap()).await;
        paths(&events).join(" ")
    };
    assert_eq!(at("research.*").await, "research.search research.summarize");
    assert_eq!(
        at("research.search.*").await,
        "research.search.fetch research.search.rank"
    );
    assert_eq!(at("*.*.rank").await, "research.search.rank");
    assert_eq!(at("**.rank").await, "research.search.rank");
    assert_eq!(at("research.summarize").await, "research.summarize");
    assert_eq!(at("*").await.split(' ').count(), 4);
    assert_eq!(at("summarize").await, "");

    let either = started
        .path("research.summarize")
        .unwrap()
        .path("*.*.fetch")
        .unwrap();
    let events = history(&runtime, either).await;
    assert_eq!(
        paths(&events),
        ["research.search.fetch", "research.summarize"]
    );
    let ends = EventFilter::new()
        .kinds([RecordKind::RunStarted])
        .kinds([RecordKind::RunCompleted]);
    assert_eq!(history(&runtime, ends).await.len(), 4);
    assert!(EventFilter::new().path("research..search").is_err());
}

/// TE-04: what is read again is what was told live, attempts and durations included, wherever the reader begins.
#[tokio::test(start_paused = true)]
async fn replay_from_any_offset_equals_the_live_stream() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Once::new()).unwrap();
    let input = || OnceInput {
        topic: "tides".into(),
    };
    let mut live = runtime
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    for _ in 0..2 {
        runtime
            .executions()
            .start::<Once>(input(), StartOptions::new())
            .await
            .unwrap();
    }
    let mut told = until_over(&mut live).await;
    told.extend(until_over(&mut live).await);

    let envelopes: Vec<Value> = told.iter().map(ExecutionEvent::to_json).collect();
    for (index, envelope) in envelopes.iter().enumerate() {
        let offset = envelope["offset"].as_u64().unwrap();
        let filter = EventFilter::new().from_offset(offset).until_now();
        let mut again = runtime.executions().events(filter).await.unwrap();
        for expected in &envelopes[index + 1..] {
            let event = again.next().await.unwrap().unwrap();
            assert_eq!(event.to_json(), *expected);
        }
        assert!(again.next().await.is_none());
        assert!(again.next().await.is_none());
    }
    let ids: std::collections::BTreeSet<_> = told.iter().map(ExecutionEvent::id).collect();
    assert_eq!(ids.len(), told.len());
}

#[node(writes = parsed, retry(attempts = 2))]
fn parse(cx: &Context, text: &str) -> Result<u32, std::num::ParseIntError> {
    cx.emit(text);
    match cx.attempt() {
        0 => "".parse(),
        _ => text.parse(),
    }
}

flow! {
    Numbers(texts: Vec<String>) -> (numbers: Vec<u32>) {
        node numbers: for text in texts { parse };
        start >> numbers >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn items_have_their_index_and_their_own_attempts() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Numbers::new()).unwrap();
    let filter = EventFilter::new()
        .path("numbers.numbers[1]")
        .unwrap()
        .deltas();
    let mut events = runtime.executions().events(filter.clone()).await.unwrap();
    let input = NumbersInput {
        texts: vec!["4".into(), "2".into()],
    };
    settled::<Numbers>(&runtime, input).await;
    let mut told = Vec::new();
    while told.len() < 6 {
        told.push(events.next().await.unwrap().unwrap());
    }
    assert_eq!(
        types(&told),
        [
            "node_start numbers.numbers[1]",
            "stream_chunk numbers.numbers[1]",
            "error numbers.numbers[1]",
            "stream_chunk numbers.numbers[1]",
            "exec_complete numbers.numbers[1]",
            "node_end numbers.numbers[1]",
        ]
    );
    for event in &told {
        let envelope = event.to_json();
        assert_eq!(
            (&envelope["nodeId"], &envelope["sourceNode"]),
            (&json!("numbers"), &json!("parse"))
        );
    }
    assert_eq!(told[2].to_json()["item"], 1);
    assert_eq!(told[4].to_json()["payload"]["attempts"], 2);
    let all = history(
        &runtime,
        EventFilter::new().path("numbers.numbers").unwrap(),
    )
    .await;
    assert_eq!(
        all.iter()
            .filter(|event| event.to_json()["type"] == "exec_complete")
            .count(),
        2,
        "a segment without an index is that of all items"
    );
}

/// Deltas stand where they were emitted: after the start of their node, and before its result.
#[tokio::test(start_paused = true)]
async fn deltas_stand_between_the_records_around_them() {
    let runtime = research();
    let mut with = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let mut without = runtime
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    runtime
        .executions()
        .start::<Research>(topic(), StartOptions::new())
        .await
        .unwrap();
    let told = until_over(&mut with).await;
    assert_eq!(
        types(&told)[..6],
        [
            "run_started research",
            "node_start research.search",
            "node_start research.search.fetch",
            "stream_chunk research.search.fetch",
            "stream_chunk research.search.fetch",
            "exec_complete research.search.fetch",
        ]
    );
    assert_eq!(
        (told[3].delta(), told[4].delta()),
        (Some("He"), Some("llo"))
    );
    let chunk = told[4].to_json();
    assert_eq!(chunk["payload"], json!({ "chunk": "llo", "index": 1 }));
    assert_eq!(
        (&chunk["sourceNode"], &chunk["nodeId"]),
        (&json!("fetch"), &json!("fetch"))
    );
    let records: Vec<_> = told
        .into_iter()
        .filter(|event| event.record().is_some())
        .collect();
    assert_eq!(until_over(&mut without).await, records);
}

/// A stream that begins in the middle of a run does not know which records came before it.
#[tokio::test(start_paused = true)]
async fn deltas_are_told_to_whoever_comes_later() {
    #[node]
    async fn ticks(cx: &Context, topic: &str) -> String {
        for index in 0..5 {
            cx.emit(&format!("{topic} {index}"));
            tokio::time::sleep(Duration::from_secs(10)).await;
        }
        topic.to_owned()
    }

    flow! {
        Clock(topic: String) -> (ticks: String) {
            start >> ticks >> end;
        }
    }

    let runtime = Runtime::with_options(store(), options());
    runtime.register(Clock::new()).unwrap();
    let input = ClockInput { topic: "t".into() };
    runtime
        .executions()
        .start::<Clock>(input, StartOptions::new())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_secs(15)).await;
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let began = tokio::time::Instant::now();
    let first = events.next().await.unwrap().unwrap();
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(5),
        "a delta is told when it comes"
    );
    assert_eq!(
        first.to_json()["payload"],
        json!({ "chunk": "t 2", "index": 2 })
    );
    let rest = until_over(&mut events).await;
    assert_eq!(
        types(&rest),
        [
            "stream_chunk clock.ticks",
            "stream_chunk clock.ticks",
            "exec_complete clock.ticks",
            "node_end clock.ticks",
            "flow_ended clock",
            "run_completed clock",
        ]
    );
    assert_eq!(rest[2].to_json()["payload"]["durationMs"], 50_000);
}

/// D-23: who never reads costs nothing, and has missed nothing.
#[tokio::test(start_paused = true)]
async fn a_subscriber_that_never_reads_does_not_slow_a_run_and_later_gets_everything() {
    let runtime = research();
    let mut lazy = runtime
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    let dropped = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let mut half_read = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let before = tokio::time::Instant::now();
    let mut runs = Vec::new();
    for index in 0..200 {
        if index == 3 {
            half_read.next().await.unwrap().unwrap();
        }
        runs.push(settled::<Research>(&runtime, topic()).await.id());
    }
    drop((dropped, half_read));
    runs.push(settled::<Research>(&runtime, topic()).await.id());
    assert_eq!(
        before.elapsed(),
        Duration::ZERO,
        "no run has waited for anything"
    );
    let all = history(&runtime, EventFilter::new()).await;
    for expected in all {
        assert_eq!(lazy.next().await.unwrap().unwrap(), expected);
    }
    assert_eq!(lazy.missed(), 0);
}

#[node]
async fn chatter(cx: &Context, words: &u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(1)).await;
    (0..*words).for_each(|word| cx.emit(&word.to_string()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    *words
}

flow! {
    Chat(words: u64) -> (chatter: u64) {
        start >> chatter >> end;
    }
}

/// D-23: deltas are bounded, and what was dropped is counted.
#[tokio::test(start_paused = true)]
async fn missed_deltas_are_counted_and_told_once() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Chat::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    settled::<Chat>(&runtime, ChatInput { words: 5000 }).await;
    let told = until_over(&mut events).await;
    let missed: Vec<u64> = told
        .iter()
        .filter_map(|event| match event {
            ExecutionEvent::Missed(missed) => Some(missed.deltas),
            _ => None,
        })
        .collect();
    let words: Vec<u64> = told
        .iter()
        .filter_map(|event| event.delta()?.parse().ok())
        .collect();
    assert_eq!(missed, [5000 - 1024]);
    assert_eq!(events.missed(), 5000 - 1024);
    assert!(
        words.iter().copied().eq(5000 - 1024..5000),
        "the newest are kept"
    );
    let indices = told.iter().filter_map(|event| match event {
        ExecutionEvent::Delta(delta) => Some(delta.index),
        _ => None,
    });
    assert!(
        indices.eq(words),
        "the number of a delta does not depend on who listened"
    );
    assert_eq!(
        told[0].to_json()["payload"],
        json!({ "type": "missed", "data": { "deltas": 3976 } })
    );

    // The same if it is waiting when they come.
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let run = settled::<Chat>(&runtime, ChatInput { words: 5000 });
    let (told, _) = tokio::join!(until_over(&mut events), run);
    let words = told.iter().filter(|event| event.delta().is_some());
    assert_eq!((words.count(), events.missed()), (1024, 5000 - 1024));
}

#[tokio::test(start_paused = true)]
async fn everybody_sees_only_the_events_of_their_own_executions() {
    let runtime = research();
    let everybody = [
        runtime.executions().clone(),
        runtime.owned_by("ann"),
        runtime.owned_by("ben"),
    ];
    let mut streams = Vec::new();
    for executions in &everybody {
        let filter = EventFilter::new().deltas();
        streams.push(executions.events(filter).await.unwrap());
    }
    for (executions, stream) in everybody.iter().zip(&mut streams) {
        let started = executions.start::<Research>(topic(), StartOptions::new());
        let id = started.await.unwrap().settled().await.unwrap().id();
        let told = until_over(stream).await;
        assert!(told.iter().any(|event| event.delta().is_some()));
        assert!(told.iter().all(|event| event.execution() == Some(id)));
    }
    // What the others did since has not reached the first.
    let quiet = tokio::time::timeout(Duration::from_secs(60), streams[0].next()).await;
    assert!(quiet.is_err());
    let filter = EventFilter::new().from_start().until_now();
    let mut none = runtime.owned_by("carl").events(filter).await.unwrap();
    assert!(none.next().await.is_none());
}

/// What others emit neither counts as missed, nor takes the place of one's own.
#[tokio::test(start_paused = true)]
async fn missed_deltas_are_those_that_the_subscriber_asked_for_and_may_see() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Chat::new()).unwrap();
    let (ann, ben) = (runtime.owned_by("ann"), runtime.owned_by("ben"));
    let all = EventFilter::new().deltas();
    let mut anns = ann.events(all.clone()).await.unwrap();
    let mut bens = ben.events(all.clone()).await.unwrap();
    let elsewhere = all.path("elsewhere.*").unwrap();
    let mut anns_others = ann.events(elsewhere.clone()).await.unwrap();
    for (executions, words) in [(&ben, 3), (&ann, 5000)] {
        let started = executions.start::<Chat>(ChatInput { words }, StartOptions::new());
        started.await.unwrap().settled().await.unwrap();
    }
    until_over(&mut anns).await;
    assert_eq!(anns.missed(), 5000 - 1024);
    let told = until_over(&mut bens).await;
    let words: Vec<&str> = told.iter().filter_map(|event| event.delta()).collect();
    assert_eq!(words, ["0", "1", "2"]);
    let told_nothing = |event: &ExecutionEvent| !matches!(event, ExecutionEvent::Missed(_));
    assert!(told.iter().all(told_nothing));
    let quiet = tokio::time::timeout(Duration::from_secs(60), anns_others.next()).await;
    assert!(quiet.is_err());
    assert_eq!((bens.missed(), anns_others.missed()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn another_runtime_on_the_same_store_sees_the_same_records() {
    let store = store();
    let first = Runtime::with_options(store.clone(), options());
    first.register(Research::new()).unwrap();
    // It knows no flow: what nodes are is in the store.
    let second = Runtime::with_options(store, options());
    let told_at = async |events: &mut Events| {
        let told = until_over(events).await;
        (told, tokio::time::Instant::now())
    };
    let mut own = first.executions().events(EventFilter::new()).await.unwrap();
    let mut others = second
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let run = async {
        // Both have looked by now, and seen nothing.
        tokio::time::sleep(Duration::from_millis(10)).await;
        settled::<Research>(&first, topic()).await;
        tokio::time::Instant::now()
    };
    let ((own, own_at), (others, others_at), over_at) =
        tokio::join!(told_at(&mut own), told_at(&mut others), run);
    assert_eq!(others, own);
    assert_eq!(
        own_at, over_at,
        "a stream is woken by the writes of its own process"
    );
    assert_eq!(others_at - over_at, Duration::from_millis(240));
}

/// TE-06, D-23
#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_is_counted_and_harms_nobody() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let observer = {
        let heard = heard.clone();
        Arc::new(move |event: &Event<'_>| {
            if let EventKind::NodeStarted = event.kind() {
                panic!("the observer fails");
            }
            heard.lock().unwrap().push(event.to_string());
        })
    };
    let runtime = Runtime::with_options(store(), options().observer(observer));
    runtime.register(Research::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    assert_eq!(runtime.observer_failures(), 0);
    let execution = settled::<Research>(&runtime, topic()).await;
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(runtime.observer_failures(), 4);
    let told = until_over(&mut events).await;
    let started = types(&told)
        .iter()
        .filter(|line| line.starts_with("node_start "))
        .count();
    assert_eq!(started, 4, "the stream has what the observer failed at");
    assert_eq!(
        told.iter().filter(|event| event.delta().is_some()).count(),
        2
    );
    let heard = heard.lock().unwrap();
    assert_eq!(
        heard[..2],
        [
            "research.search.fetch delta: He",
            "research.search.fetch delta: llo"
        ]
    );
    assert_eq!(heard.len(), 2 + 4 + 2);
}

/// Each of several is told, and each failure counts.
#[tokio::test(start_paused = true)]
async fn several_observers_are_told_in_order_whether_or_not_they_panic() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let named = |name: &'static str, panics: bool| {
        let heard = heard.clone();
        Arc::new(move |event: &Event<'_>| {
            heard.lock().unwrap().push(format!("{name}: {event}"));
            assert!(!panics, "the observer fails");
        })
    };
    let options = options()
        .observer(named("a", true))
        .observer(named("b", false))
        .observer(named("c", true));
    let runtime = Runtime::with_options(store(), options);
    runtime.register(Research::new()).unwrap();
    let execution = settled::<Research>(&runtime, topic()).await;
    assert_eq!(execution.status(), Status::Completed);
    let heard = heard.lock().unwrap();
    let of = |name: &str| -> Vec<&str> {
        let of = heard.iter().filter_map(|line| line.strip_prefix(name));
        of.collect()
    };
    let (a, b, c) = (of("a: "), of("b: "), of("c: "));
    assert_eq!(a.len(), 12, "{a:?}");
    assert_eq!((&a, &a), (&b, &c));
    let names = heard.iter().map(|line| &line[..1]).collect::<String>();
    assert_eq!(names, "abc".repeat(a.len()));
    assert_eq!(runtime.observer_failures(), 2 * 12);
}

#[tokio::test(start_paused = true)]
async fn a_store_error_is_one_item_and_no_event_is_lost() {
    let store = Faulty::new(&store(), Flaky::new());
    let runtime = Runtime::with_options(store.clone(), options());
    runtime.register(Research::new()).unwrap();
    settled::<Research>(&runtime, topic()).await;
    let expected = history(&runtime, EventFilter::new()).await;

    // The log, the row, and the structure are read, one after the other; each of them fails once.
    let mut events = runtime
        .executions()
        .events(EventFilter::new().from_start())
        .await
        .unwrap();
    let (mut told, mut errors) = (Vec::new(), 0);
    for reads in [0, 1, 1] {
        store.fault.fail_after(reads);
        let before = tokio::time::Instant::now();
        let next = events.next().await.unwrap();
        assert!(next.is_err(), "{next:?}");
        assert_eq!(
            before.elapsed() > Duration::ZERO,
            errors > 0,
            "it does not insist"
        );
        errors += 1;
    }
    while told.len() < expected.len() {
        told.push(events.next().await.unwrap().unwrap());
    }
    assert_eq!(told, expected);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_next_event_can_be_dropped() {
    let runtime = research();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let mut told = Vec::new();
    let run = async { settled::<Research>(&runtime, topic()).await };
    let mut run = std::pin::pin!(run);
    let mut is_over = false;
    loop {
        tokio::select! {
            biased;
            event = events.next() => {
                let event = event.unwrap().unwrap();
                let last = event.record().is_some_and(|it| it.kind == RecordKind::RunCompleted);
                told.push(event);
                if last {
                    break;
                }
            }
            _ = &mut run, if !is_over => is_over = true,
            () = tokio::task::yield_now() => {}
        }
    }
    let records: Vec<_> = told
        .iter()
        .filter(|event| event.record().is_some())
        .cloned()
        .collect();
    assert_eq!(records, history(&runtime, EventFilter::new()).await);
    assert_eq!(told.len(), records.len() + 2);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_execution_has_no_events_any_more() {
    let runtime = research();
    let first = settled::<Research>(&runtime, topic()).await.id();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().from_start())
        .await
        .unwrap();
    events.next().await.unwrap().unwrap();
    let second: ExecutionId = settled::<Research>(&runtime, topic()).await.id();
    runtime.executions().delete(first).await.unwrap();
    let of_first = until_over(&mut events).await;
    assert!(
        of_first
            .iter()
            .all(|event| event.execution() == Some(first)),
        "it was read already"
    );
    let of_second = until_over(&mut events).await;
    assert!(
        of_second
            .iter()
            .all(|event| event.execution() == Some(second))
    );
    let left = history(&runtime, EventFilter::new()).await;
    assert_eq!(left, of_second);
}

/// D-21: also where a process has stopped in the middle of a node.
#[tokio::test(start_paused = true)]
async fn attempts_and_durations_go_on_over_a_recovery() {
    let (store, options) = (store(), options());
    let runtime = || {
        let runtime = Runtime::with_options(store.clone(), options.clone());
        runtime.register(Once::new()).unwrap();
        runtime
    };
    let (first, input) = (
        runtime(),
        OnceInput {
            topic: "tides".into(),
        },
    );
    first
        .executions()
        .start::<Once>(input, StartOptions::new())
        .await
        .unwrap();
    // The first attempt has failed, and the second one is to come.
    tokio::time::sleep(Duration::from_secs(2)).await;
    first.shut_down().await;
    tokio::time::sleep(Duration::from_secs(8)).await;

    let second = runtime();
    let mut events = second
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    second.recover().await.unwrap();
    let told = until_over(&mut events).await;
    assert_eq!(types(&told)[0], "exec_complete once.slow");
    assert_eq!(
        told[0].to_json()["payload"],
        json!({ "execResult": "TIDES", "attempts": 2, "durationMs": 11_000 })
    );
}

/// A stream remembers a bounded number of executions, and looks the others up again.
#[tokio::test(start_paused = true)]
async fn more_executions_at_once_than_are_remembered_are_told_exactly() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Once::new()).unwrap();
    let mut live = runtime
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    for _ in 0..300 {
        let input = OnceInput {
            topic: "tides".into(),
        };
        runtime
            .executions()
            .start::<Once>(input, StartOptions::new())
            .await
            .unwrap();
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let told = history(&runtime, EventFilter::new()).await;
    let results = told
        .iter()
        .map(ExecutionEvent::to_json)
        .filter(|event| event["type"] == "exec_complete")
        .map(|event| event["payload"].clone());
    let expected = json!({ "execResult": "TIDES", "attempts": 2, "durationMs": 4000 });
    assert_eq!(results.filter(|payload| *payload == expected).count(), 300);
    for event in told {
        assert_eq!(live.next().await.unwrap().unwrap(), event);
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_at_what_was_ends_with_what_was_there_when_it_began() {
    let runtime = research();
    settled::<Research>(&runtime, topic()).await;
    let filter = EventFilter::new().from_start().until_now();
    let mut events = runtime.executions().events(filter).await.unwrap();
    let before = history(&runtime, EventFilter::new()).await;
    settled::<Research>(&runtime, topic()).await;
    for expected in before {
        assert_eq!(events.next().await.unwrap().unwrap(), expected);
    }
    assert!(events.next().await.is_none());
}

struct Retells;

#[node(writes = told, retry(attempts = 2, wait = "1s"))]
impl Retells {
    async fn exec(&self, cx: &Context, topic: &str) -> Result<String, String> {
        cx.emit("once ");
        cx.emit("upon ");
        tokio::time::sleep(Duration::from_secs(1)).await;
        match cx.attempt() {
            0 => Err("interrupted".to_owned()),
            _ => Ok(topic.to_owned()),
        }
    }
}

flow! {
    Tale(topic: String) -> (told: String) {
        node retells: Retells = Retells;
        start >> retells >> end;
    }
}

/// A delta is there before the start of its node is stored, and waits for it. Its number is that within the attempt.
#[tokio::test(start_paused = true)]
async fn whoever_listens_all_the_time_hears_of_a_node_before_its_deltas() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Tale::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let input = TaleInput {
        topic: "tides".into(),
    };
    let (told, _) = tokio::join!(until_over(&mut events), settled::<Tale>(&runtime, input));
    assert_eq!(
        types(&told)[..8],
        [
            "run_started tale",
            "node_start tale.retells",
            "stream_chunk tale.retells",
            "stream_chunk tale.retells",
            "error tale.retells",
            "stream_chunk tale.retells",
            "stream_chunk tale.retells",
            "exec_complete tale.retells",
        ]
    );
    let numbers = told.iter().filter_map(|event| match event {
        ExecutionEvent::Delta(delta) => Some(delta.index),
        _ => None,
    });
    assert!(numbers.eq([0, 1, 0, 1]));
}

#[tokio::test(start_paused = true)]
async fn a_delta_waits_for_nothing_that_comes_after_it() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Tale::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let input = TaleInput {
        topic: "tides".into(),
    };
    let began = tokio::time::Instant::now();
    let first = async {
        loop {
            if events.next().await.unwrap().unwrap().delta().is_some() {
                return began.elapsed();
            }
        }
    };
    let (first, _) = tokio::join!(first, settled::<Tale>(&runtime, input));
    assert!(first < Duration::from_secs(1), "{first:?}");
}

#[node]
async fn fails_late(topic: &str) -> Result<u8, String> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    Err(format!("no {topic}"))
}

flow! {
    Late(topic: String) -> (fails_late: u8) {
        start >> wait(1s) >> fails_late >> end;
    }
}

/// The attempt at a flow has the time of the node that the flow is, and each node inside its own.
#[tokio::test(start_paused = true)]
async fn each_attempt_at_a_flow_and_the_nodes_inside_have_their_durations() {
    flow! {
        Again(topic: String) -> (fails_late: u8) {
            node late: Late = Late::new() with retry(attempts = 2);
            start >> late >> end;
        }
    }

    let runtime = Runtime::with_options(store(), options());
    runtime.register(Again::new()).unwrap();
    let input = AgainInput {
        topic: "tides".into(),
    };
    settled::<Again>(&runtime, input).await;
    let filter = EventFilter::new().kinds([RecordKind::NodeFailed, RecordKind::FlowFailed]);
    let told = history(&runtime, filter).await;
    let durations: Vec<_> = told
        .iter()
        .map(|event| {
            let envelope = event.to_json();
            let step = envelope["step"].as_str().unwrap().to_owned();
            (step, envelope["payload"]["durationMs"].as_u64())
        })
        .collect();
    let expected = [
        ("again.late.fails_late", 1000),
        ("again.late", 2000),
        ("again.late~1.fails_late", 1000),
        ("again.late~1", 4000),
    ];
    assert_eq!(
        durations,
        expected.map(|(step, took)| (step.to_owned(), Some(took)))
    );
}

#[node]
async fn bursts(cx: &Context, words: &u64) -> u64 {
    for word in 0..*words {
        cx.emit(&word.to_string());
        if word % 500 == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    *words
}

flow! {
    Bursts(words: u64) -> (bursts: u64) {
        start >> bursts >> end;
    }
}

/// The stream has taken all of them in time, and cannot tell them before the start of their node is stored.
#[tokio::test(start_paused = true)]
async fn deltas_that_cannot_be_told_yet_are_bounded_as_well() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Bursts::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new().deltas())
        .await
        .unwrap();
    let input = BurstsInput { words: 3000 };
    let (told, _) = tokio::join!(until_over(&mut events), settled::<Bursts>(&runtime, input));
    let missed = told.iter().filter_map(|event| match event {
        ExecutionEvent::Missed(missed) => Some(missed.deltas),
        _ => None,
    });
    let words: Vec<u64> = told
        .iter()
        .filter_map(|event| event.delta()?.parse().ok())
        .collect();
    assert_eq!(missed.sum::<u64>(), 3000 - 1024);
    assert_eq!(events.missed(), 3000 - 1024);
    assert!(words.into_iter().eq(3000 - 1024..3000));
}

/// What it has passed it knows.
#[tokio::test(start_paused = true)]
async fn whoever_listens_from_the_start_of_executions_reads_no_journal() {
    let store = Faulty::new(&store(), Counting::default());
    let runtime = Runtime::with_options(store.clone(), options());
    runtime.register(Once::new()).unwrap();
    runtime.register(Failing::new()).unwrap();
    let mut events = runtime
        .executions()
        .events(EventFilter::new())
        .await
        .unwrap();
    let topic = || "tides".to_owned();
    for _ in 0..2 {
        let start = runtime
            .executions()
            .start::<Once>(OnceInput { topic: topic() }, StartOptions::new());
        start.await.unwrap();
    }
    let start = runtime
        .executions()
        .start::<Failing>(FailingInput { topic: topic() }, StartOptions::new());
    start.await.unwrap();
    for _ in 0..3 {
        until_over(&mut events).await;
    }
    assert_eq!(store.fault.records_read(), 0);
}

#[node(writes = count)]
async fn counts(count: &u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(100)).await;
    count + 1
}

flow! {
    Counts(count: u64) -> (count: u64) {
        branch enough(count) {
            *count == 400 => "yes",
            else => "no",
        }
        start >> counts >> enough;
        enough - "no" >> counts;
        enough - "yes" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_late_to_a_long_execution_is_told_the_same() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Counts::new()).unwrap();
    settled::<Counts>(&runtime, CountsInput { count: 0 }).await;
    let all = history(&runtime, EventFilter::new()).await;
    let ends = EventFilter::new().kinds([RecordKind::RunCompleted]);
    let began = tokio::time::Instant::now();
    assert_eq!(history(&runtime, ends).await, all[all.len() - 1..]);
    assert_eq!(
        began.elapsed(),
        Duration::ZERO,
        "nobody waits between pages"
    );
    for begins in [all.len() - 8, all.len() - 7, all.len() - 6] {
        let offset = all[begins - 1].to_json()["offset"].as_u64().unwrap();
        let filter = EventFilter::new().from_offset(offset).until_now();
        let mut late = runtime.executions().events(filter).await.unwrap();
        for expected in &all[begins..] {
            assert_eq!(late.next().await.unwrap().unwrap(), *expected);
        }
    }
}

flow_law::law! {
    nodes: [fetch, rank, summarize, always_fails, parse, chatter, fails_late, bursts, counts, refuses, beside],
    flows: [
        Search,
        Research,
        Once with [Slow = Slow],
        Failing,
        Numbers,
        Chat,
        Tale with [Retells = Retells],
        Late,
        Bursts,
        Counts,
        Composites,
    ],
}
