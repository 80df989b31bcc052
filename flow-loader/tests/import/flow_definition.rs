//! The `FlowDefinition` of the AI Agent Flow Framework: AF-01, AF-02, AF-04, AF-07, AF-11, AF-13 and
//! AF-14 of the conformance cases, as far as they concern definitions.

use std::sync::Arc;
use std::time::Duration;

use flow_durable::{MemoryStore, Runtime, StartOptions};
use flow_loader::{Registry, registry};
use flow_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::loaded;
use super::{finished, problems, run};

pub(crate) const RESEARCH: &str = include_str!("research.json");

/// Finds something at its third call.
#[node(writes = sources)]
async fn find_sources(cx: &Context, topic: &str) -> Result<String, String> {
    match (topic, cx.attempt()) {
        ("nothing", _) => Err("there are no sources".into()),
        ("time", _) => std::future::pending().await,
        (_, 0 | 1) => Err("the line is busy".into()),
        (topic, _) => Ok(format!("sources on {topic}")),
    }
}

#[node(writes = text)]
async fn explore_topic(topic: &str) -> String {
    tokio::time::sleep(Duration::from_millis(100)).await;
    format!("what is known of {topic}")
}

#[node]
fn shorten(text: &str) -> String {
    text.chars().take(13).collect()
}

/// Is there at the first call.
#[node(poll(every = "1s"))]
fn is_printed(_topic: &str) -> Option<()> {
    Some(())
}

#[node]
fn improve(count: u32) -> u32 {
    count + 1
}

#[node(writes = summary)]
fn summarize(history: &str, short_biology: &str, expert: &Value, count: &u32) -> String {
    format!("{history}; {short_biology}; {expert}; {count}")
}

#[node]
fn apologize(error: Option<&NodeError>) -> String {
    error.map_or_else(|| "sorry".to_owned(), |error| format!("sorry: {error:#}"))
}

pub(crate) fn researchers() -> Registry {
    registry![
        find_sources,
        explore_topic,
        shorten,
        is_printed,
        improve,
        summarize,
        apologize
    ]
}

#[tokio::test(start_paused = true)]
async fn the_sample_runs() {
    let flow = loaded(RESEARCH, &researchers());
    let answers = || json!({ "research.expert": { "legs": 10 } });
    let began = Instant::now();
    let (output, happened) = run(&flow, json!({}), answers()).await;
    assert_eq!(
        output.unwrap(),
        json!({
            "topic": "crabs",
            "count": 3,
            "ask": "sources on crabs",
            "history": "what is known of crabs",
            "biology": "what is known of sources on crabs",
            "short_biology": "what is known",
            "expert": { "legs": 10 },
            "finalSummary": "what is known of crabs; what is known; {\"legs\":10}; 3",
            "end": "default",
        })
    );
    let visited = finished(&happened);
    assert_eq!(visited[0], "ask");
    assert_eq!(
        visited[visited.len() - 12..],
        [
            "explore",
            "pause",
            "pause_poll",
            "polish again",
            "improve",
            "polish again",
            "improve",
            "polish again",
            "improve",
            "polish done",
            "judge finalSummary",
            "finalSummary",
        ]
    );
    // Three engines explore for 100 ms. The plain one has nobody to ask; the others pause for 50 ms.
    assert_eq!(began.elapsed().as_millis(), 3 * 100 + 2 * 50);

    // A timeout is three calls of 5 s. `initialState` gives way to what the caller passes.
    for (topic, apology) in [
        (
            "nothing",
            "sorry: node `research.ask` failed after 3 attempts: there are no sources",
        ),
        (
            "time",
            "sorry: node `research.ask` failed after 3 attempts: timed out after 5s",
        ),
    ] {
        let (output, _) = run(&flow, json!({ "topic": topic }), json!({})).await;
        let expected =
            json!({ "topic": topic, "count": 0, "apologize": apology, "end": "default" });
        assert_eq!(output.unwrap(), expected);
    }
    assert_eq!(
        flow.document().nodes[0].title.as_deref(),
        Some("Asks for sources")
    );
}

#[node]
fn one() -> u32 {
    1
}

#[node]
fn plus_one(number: &u32) -> u32 {
    number + 1
}

/// AF-01.
#[tokio::test(start_paused = true)]
async fn a_node_reads_what_an_earlier_one_returned() {
    let text = r#"{ "id": "sum", "startNode": "a", "nodes": [
        { "id": "a", "type": "agent", "executeLLM": "one", "onSuccess": "b" },
        { "id": "b", "type": "agent", "executeLLM": "plus_one", "inputAdapter": { "number": "a" } }
    ] }"#;
    let (output, happened) = run(
        &loaded(text, &registry![one, plus_one]),
        json!({}),
        json!({}),
    )
    .await;
    assert_eq!(output.unwrap(), json!({ "a": 1, "b": 2, "end": "default" }));
    assert_eq!(finished(&happened), ["a", "b"]);
}

/// AF-02: the first condition that is true decides; nothing is true only if that is said.
#[tokio::test(start_paused = true)]
async fn the_first_case_that_is_true_decides() {
    let text = |default: &str| {
        format!(
            r#"{{ "id": "pick", "startNode": "decide", "initialState": {{ "score": 5 }}, "nodes": [
                {{ "id": "decide", "type": "branch", "cases": [
                    {{ "condition": "score > 3", "targetNode": "high" }},
                    {{ "condition": "score > 1", "targetNode": "low" }}
                ]{default} }},
                {{ "id": "high", "type": "agent", "executeLLM": "one" }},
                {{ "id": "low", "type": "agent", "executeLLM": "one" }}
            ] }}"#
        )
    };
    let flow = loaded(&text(r#", "default": null"#), &registry![one]);
    for (score, visited) in [
        (5, vec!["decide high", "high"]),
        (2, vec!["decide low", "low"]),
        (0, vec!["decide end"]),
    ] {
        let (_, happened) = run(&flow, json!({ "score": score }), json!({})).await;
        assert_eq!(finished(&happened), visited);
    }
    assert_eq!(
        problems(&text(""), &registry![one]),
        ["2:17: `default` is missing [F023]"]
    );
    // It does not lead to both a case and to what follows.
    let both = text(r#", "default": null, "onSuccess": "low""#);
    assert_eq!(
        problems(&both, &registry![one]),
        ["5:37: there is no field `onSuccess` here [F023]"]
    );
}

#[node]
async fn slow() -> u32 {
    tokio::time::sleep(Duration::from_millis(100)).await;
    1
}

const THREE: &str = r#"{ "id": "three", "startNode": "all", "nodes": [
    { "id": "all", "type": "parallel", "children": ["a", "b", "c"], "maxConcurrency": 1 },
    { "id": "a", "type": "agent", "executeLLM": "slow" },
    { "id": "b", "type": "agent", "executeLLM": "slow" },
    { "id": "c", "type": "agent", "executeLLM": "slow" }
] }"#;

/// AF-04.
#[tokio::test(start_paused = true)]
async fn children_wait_for_their_turn() {
    for (limit, milliseconds) in [("1", 300), ("2", 200), ("3", 100)] {
        let text = THREE.replace("Concurrency\": 1", &format!("Concurrency\": {limit}"));
        let flow = loaded(&text, &registry![slow]);
        let began = Instant::now();
        flow.run(json!({})).await.unwrap();
        assert_eq!(began.elapsed().as_millis(), milliseconds);
    }
}

/// How often `call` was called, and whether its errors are worth another call.
#[node(retry(attempts = 9, if = is_busy))]
fn call(cx: &Context, reason: &str) -> Result<u32, String> {
    Err(format!("{reason} {}", cx.attempt() + 1))
}

fn is_busy(error: &str) -> bool {
    error.starts_with("busy")
}

/// AF-07: two retries are three calls, whose last error is kept; and none after an error that is
/// final.
#[tokio::test(start_paused = true)]
async fn retries_are_calls_after_the_first() {
    let text = |retries: &str| {
        format!(
            r#"{{ "id": "calls", "startNode": "call", "initialState": {{ "reason": "busy" }}, "nodes": [
                {{ "id": "call", "type": "agent"{retries} }}, {{ "id": "apologize", "type": "agent" }}
            ] }}"#
        )
    };
    let registry = registry![call, apologize];
    for (reason, retries, attempts, last) in [
        ("busy", r#", "maxRetries": 2"#, "3 attempts", "busy 3"),
        (
            "busy",
            r#", "maxRetries": 2, "retryIf": "is_busy""#,
            "3 attempts",
            "busy 3",
        ),
        (
            "gone",
            r#", "maxRetries": 2, "retryIf": "is_busy""#,
            "1 attempt",
            "gone 1",
        ),
    ] {
        let expected = format!("node `calls.call` failed after {attempts}: {last}");
        // Without `onError`, `apologize` would not be reached.
        let alone = text(retries).replace(", { \"id\": \"apologize\", \"type\": \"agent\" }", "");
        let ran =
            super::support::plain(&loaded(&alone, &registry), &json!({ "reason": reason })).await;
        assert_eq!(ran.ended, Err(expected.clone()));

        let routed = text(&format!(r#"{retries}, "onError": "apologize""#));
        let (output, _) = run(
            &loaded(&routed, &registry),
            json!({ "reason": reason }),
            json!({}),
        )
        .await;
        assert_eq!(output.unwrap()["apologize"], format!("sorry: {expected}"));
    }
}

/// Fails at its first call of each round.
#[node(writes = count)]
fn raise(cx: &Context, count: &u32) -> Result<u32, String> {
    match cx.attempt() {
        0 => Err("not yet".into()),
        _ => Ok(*count + 1),
    }
}

/// AF-11: the condition reads what the last round wrote, and each round has its retries.
#[tokio::test(start_paused = true)]
async fn a_loop_runs_while_its_condition_is_true() {
    let text = r#"{ "id": "rounds", "startNode": "repeat", "initialState": { "count": 0 }, "nodes": [
        { "id": "repeat", "type": "loop", "loopNodeId": "raise", "continueCondition": "count < 3" },
        { "id": "raise", "type": "agent", "maxRetries": 1, "outputAdapter": "count" }
    ] }"#;
    let flow = loaded(text, &registry![raise]);
    let (output, happened) = run(&flow, json!({}), json!({})).await;
    assert_eq!(output.unwrap(), json!({ "count": 3, "end": "default" }));
    let again = ["repeat again", "raise"];
    assert_eq!(
        finished(&happened),
        [&again[..], &again, &again, &["repeat done"]].concat()
    );
    let failed = happened
        .iter()
        .filter(|line| line.contains("AttemptFailed"));
    assert_eq!(failed.count(), 3);

    // The condition is asked before the first round.
    let (_, happened) = run(&flow, json!({ "count": 3 }), json!({})).await;
    assert_eq!(finished(&happened), ["repeat done"]);
}

#[node]
fn join(h: &Value, b: &u32, c: &u32) -> String {
    format!("{h} {b} {c}")
}

/// AF-13: the other branch goes on to its end while a person is asked.
#[tokio::test(start_paused = true)]
async fn a_person_in_one_branch_does_not_stop_the_other() {
    let text = r#"{ "id": "asking", "startNode": "p", "nodes": [
        { "id": "p", "type": "parallel", "children": ["h", "b"], "onSuccess": "join" },
        { "id": "h", "type": "human", "message": "Well?" },
        { "id": "b", "type": "agent", "executeLLM": "one", "onSuccess": "c" },
        { "id": "c", "type": "agent", "executeLLM": "plus_one", "inputAdapter": { "number": "b" } },
        { "id": "join", "type": "agent" }
    ] }"#;
    let flow = loaded(text, &registry![one, plus_one, join]);
    let runtime = Runtime::new(MemoryStore::new());
    runtime.register(Arc::new(flow)).unwrap();
    let started = runtime
        .executions()
        .start_json("asking", json!({}), StartOptions::new())
        .await
        .unwrap();
    let waiting = started.settled().await.unwrap();
    let journal = waiting.journal().await.unwrap();
    let wrote = |path: &str| {
        journal
            .iter()
            .any(|record| record.path == path && record.payload != Value::Null)
    };
    assert!(wrote("asking.b") && wrote("asking.c"), "{journal:#?}");
    let questions = waiting.questions().await.unwrap();
    let paths: Vec<&str> = questions.iter().map(|question| question.path()).collect();
    assert_eq!(paths, ["asking.h"]);
    runtime
        .executions()
        .resume(questions[0].token(), json!("yes"))
        .await
        .unwrap();
    let ended = waiting.settled().await.unwrap();
    assert_eq!(ended.output_json().unwrap().unwrap()["join"], "\"yes\" 1 2");
}

/// AF-14.
#[test]
fn what_does_not_exist_is_an_error_when_it_is_loaded() {
    let text = r#"{ "id": "x", "startNode": "zz", "nodes": [
        { "id": "ask", "type": "agent", "executeLLM": "one", "onSuccess": "aks" },
        { "id": "other", "type": "agnet" }
    ] }"#;
    assert_eq!(
        problems(text, &registry![one]),
        [
            "3:34: there is no type of node `agnet` [F004]",
            "1:27: there is no node `zz` [F004]",
            "2:75: there is no node `aks` [F004]",
        ]
    );
}

/// What a parallel node and a loop cannot run is said at the node that was written.
#[test]
fn what_cannot_run_inside_another_node_is_an_error() {
    let children = |of_a: &str| {
        let a = r#"{ "id": "a", "type": "agent", "executeLLM": "slow" }"#;
        problems(&THREE.replace(a, of_a), &registry![slow])
    };
    assert_eq!(
        children(r#"{ "id": "a", "type": "branch", "cases": [], "default": "b" }"#),
        ["2:53: `a` is a branch, which cannot run in a branch of `all` [F020]"]
    );
    assert_eq!(
        children(r#"{ "id": "a", "type": "agent", "executeLLM": "slow", "onError": "b" }"#),
        ["3:68: `a` runs in a branch of `all`, which fails as a whole [F020]"]
    );
    assert_eq!(
        children(r#"{ "id": "a", "type": "agent", "executeLLM": "slow", "onSuccess": "b" }"#),
        ["2:58: `b` runs in a branch of `all`, and elsewhere too [F020]"]
    );
    // A branch that leads back to itself.
    assert_eq!(
        children(r#"{ "id": "a", "type": "agent", "executeLLM": "slow", "onSuccess": "a" }"#),
        ["3:70: `a` runs in a branch of `all`, and elsewhere too [F020]"]
    );
    // Two parallel nodes, each of which leads into the other.
    let text = r#"{ "id": "x", "startNode": "p", "nodes": [
        { "id": "p", "type": "parallel", "children": ["a"], "onSuccess": "b" },
        { "id": "q", "type": "parallel", "children": ["b"], "onSuccess": "a" },
        { "id": "a", "type": "agent", "executeLLM": "slow", "onSuccess": "b" },
        { "id": "b", "type": "agent", "executeLLM": "slow", "onSuccess": "a" }
    ] }"#;
    let codes: Vec<String> = problems(text, &registry![slow]);
    assert!(
        codes.iter().all(|line| line.contains("[F020]")),
        "{codes:#?}"
    );
    let text = r#"{ "id": "x", "startNode": "l", "initialState": { "n": 1 }, "nodes": [
        { "id": "l", "type": "loop", "loopNodeId": "a", "continueCondition": "n > 1" },
        { "id": "a", "type": "agent", "executeLLM": "slow", "onSuccess": "b" },
        { "id": "b", "type": "agent", "executeLLM": "slow" }
    ] }"#;
    assert_eq!(
        problems(text, &registry![slow]),
        ["3:74: the loop `l` runs `a`, which leads to `b` [F023]"]
    );
}
