//! The events of one execution, which end with it.

use std::time::Duration;

use flow_durable::{
    EventFilter, Events, ExecutionEvent, RecordKind, Runtime, StartOptions, Status,
};
use flow_runtime::prelude::*;
use serde_json::json;

use crate::support::{options, settled, store};

#[node]
async fn say(cx: &Context, word: &str) -> String {
    tokio::time::sleep(Duration::from_secs(1)).await;
    cx.emit(word);
    word.to_uppercase()
}

#[node]
fn count(say: &str) -> usize {
    say.len()
}

flow! {
    Say(word: String) -> (count: usize) {
        start >> say >> count >> end;
    }
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[node(human = "May we say {word}?", writes = permit)]
struct Permit(bool);

flow! {
    Asked(word: String) -> (permit: Permit) {
        start >> Permit >> end;
    }
}

fn word() -> SayInput {
    SayInput { word: "tea".into() }
}

fn runtime() -> Runtime {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Say::new()).unwrap();
    runtime.register(Asked::new()).unwrap();
    runtime
}

async fn rest(mut events: Events) -> Vec<ExecutionEvent> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event.unwrap());
    }
    assert!(events.next().await.is_none());
    all
}

fn types(events: &[ExecutionEvent]) -> Vec<String> {
    let kind = |event: &ExecutionEvent| match event.record() {
        Some(record) => record.kind.to_string(),
        None => format!("delta {}", event.delta().unwrap_or("?")),
    };
    events.iter().map(kind).collect()
}

const ALL: [&str; 10] = [
    "run_started",
    "node_started",
    "delta tea",
    "outcome",
    "node_finished",
    "node_started",
    "outcome",
    "node_finished",
    "flow_ended",
    "run_completed",
];

/// Whoever follows an execution from its start, and waits for it too, sees all of it.
#[tokio::test(start_paused = true)]
async fn they_are_all_there_and_end_with_the_last_record() {
    let runtime = runtime();
    settled::<Say>(&runtime, word()).await;
    let execution = runtime
        .executions()
        .start::<Say>(word(), StartOptions::new())
        .await
        .unwrap();
    let other = runtime
        .executions()
        .start::<Say>(word(), StartOptions::new());
    let events = execution.events(EventFilter::new().deltas()).await.unwrap();
    let (all, settled, _) = tokio::join!(rest(events), execution.settled(), other);
    assert_eq!(settled.unwrap().status(), Status::Completed);
    assert_eq!(types(&all), ALL);
    assert!(all.iter().all(|it| it.execution() == Some(execution.id())));

    // Later, what is stored.
    let stored = rest(execution.events(EventFilter::new()).await.unwrap()).await;
    let expected: Vec<_> = all.iter().filter(|it| it.record().is_some()).collect();
    assert_eq!(stored.iter().collect::<Vec<_>>(), expected);
    let ExecutionEvent::Recorded(third) = &stored[2] else {
        panic!("{stored:?}")
    };
    let filter = EventFilter::new().from_offset(third.offset);
    let later = rest(execution.events(filter).await.unwrap()).await;
    assert_eq!(later, stored[3..]);
    let last = stored.last().unwrap();
    let ExecutionEvent::Recorded(last) = last else {
        panic!("{last:?}")
    };
    let filter = EventFilter::new().from_offset(last.offset);
    assert_eq!(rest(execution.events(filter).await.unwrap()).await, []);
}

/// The end is noticed even if the filter leaves it out.
#[tokio::test(start_paused = true)]
async fn they_end_whatever_the_filter_allows() {
    let runtime = runtime();
    let execution = runtime
        .executions()
        .start::<Say>(word(), StartOptions::new())
        .await
        .unwrap();
    let filter = EventFilter::new().kinds([RecordKind::Outcome]);
    let events = execution.events(filter).await.unwrap();
    assert_eq!(types(&rest(events).await), ["outcome", "outcome"]);
}

/// A question is not an end.
#[tokio::test(start_paused = true)]
async fn they_wait_with_it_for_people() {
    let runtime = runtime();
    let input = AskedInput { word: "tea".into() };
    let execution = settled::<Asked>(&runtime, input).await;
    assert_eq!(execution.status(), Status::Paused);
    let events = execution.events(EventFilter::new()).await.unwrap();
    let answered = async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let token = execution.questions().await.unwrap()[0].token();
        runtime
            .executions()
            .resume(token, json!(true))
            .await
            .unwrap();
    };
    let (all, ()) = tokio::join!(rest(events), answered);
    let types = types(&all);
    assert!(types.contains(&"resumed".to_owned()), "{types:?}");
    assert_eq!(types.last().unwrap(), "run_completed");
}

/// There is nothing left to wait for when somebody else has removed it.
#[tokio::test(start_paused = true)]
async fn they_end_when_it_is_removed() {
    let store = store();
    let first = Runtime::with_options(store.clone(), options());
    first.register(Asked::new()).unwrap();
    let second = Runtime::with_options(store, options());
    let input = AskedInput { word: "tea".into() };
    let execution = settled::<Asked>(&first, input).await;
    let events = execution.events(EventFilter::new()).await.unwrap();
    let removed = async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        second.executions().delete(execution.id()).await.unwrap();
    };
    let (all, ()) = tokio::join!(rest(events), removed);
    assert_eq!(types(&all).last().unwrap(), "paused");
}

/// D-23: a process goes on for a while with an execution that another one has cancelled.
#[tokio::test(start_paused = true)]
async fn nothing_comes_after_the_end() {
    let store = store();
    let first = Runtime::with_options(store.clone(), options());
    first.register(Say::new()).unwrap();
    let second = Runtime::with_options(store, options());
    let execution = first
        .executions()
        .start::<Say>(word(), StartOptions::new())
        .await
        .unwrap();
    let mut events = first
        .executions()
        .events(EventFilter::new().from_start().deltas())
        .await
        .unwrap();
    let own = execution.events(EventFilter::new().deltas()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    second
        .executions()
        .cancel(execution.id(), "cancelled")
        .await
        .unwrap();
    let expected = ["run_started", "node_started", "run_cancelled"];
    assert_eq!(types(&rest(own).await), expected);
    let mut all = Vec::new();
    let minute = tokio::time::sleep(Duration::from_secs(60));
    tokio::pin!(minute);
    loop {
        tokio::select! {
            event = events.next() => all.push(event.unwrap().unwrap()),
            () = &mut minute => break,
        }
    }
    assert_eq!(types(&all), expected);
}

flow_law::law! {
    nodes: [say, count, Permit],
    flows: [Say, Asked],
}
