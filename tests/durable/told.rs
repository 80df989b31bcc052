//! What is told of failures and of what nodes emit: where a node failed, the flows around it, texts,
//! JSON and progress.

use flow_durable::{
    DeltaContent, EventFilter, EventStatistics, Execution, ExecutionEvent, RecordKind,
};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::support::{runtime, settled, store};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Careful;

#[node(writes = careful)]
impl Careful {
    fn prep(&self, number: &u64) -> Result<u64, String> {
        match number {
            1 => Err("prep says no".into()),
            number => Ok(*number),
        }
    }

    fn exec(&self, prep_res: &u64) -> Result<u64, String> {
        match prep_res {
            2 => Err("exec says no".into()),
            number => Ok(*number),
        }
    }

    fn post(&self, exec_res: u64) -> Result<u64, String> {
        match exec_res {
            3 => Err("post says no".into()),
            number => Ok(number * 2),
        }
    }
}

flow! {
    Inner(number: u64) -> (careful: u64) {
        node careful: Careful;
        start >> careful >> end;
    }
}

flow! {
    Outer(number: u64) -> (careful: u64) {
        node inner: Inner = Inner::builder().careful(Careful).build();
        start >> inner >> end;
    }
}

/// All events of an execution.
async fn events(execution: &Execution, filter: EventFilter) -> Vec<ExecutionEvent> {
    let mut stream = execution.events(filter).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    events
}

/// B-076, B-077, D-21: the phase is where it failed, and each flow around has an error of its own.
#[tokio::test(start_paused = true)]
async fn a_failure_is_told_with_its_phase_and_of_each_flow_around() {
    for (number, phase) in [(1, "prep"), (2, "exec"), (3, "post")] {
        let runtime = runtime(store(), Outer::new());
        let execution = settled::<Outer>(&runtime, OuterInput { number }).await;
        let events = events(&execution, EventFilter::new()).await;
        let errors: Vec<String> = events
            .iter()
            .filter(|event| event.event_type() == "error")
            .map(|event| {
                let json = event.to_json();
                let payload = &json["payload"];
                let word = |value: &Value| value.as_str().unwrap().to_owned();
                format!(
                    "{} {} {}",
                    word(&json["namespace"]),
                    word(&payload["record"]),
                    word(&payload["phase"])
                )
            })
            .collect();
        let attempt = "outer.inner.careful attempt_failed exec".to_owned();
        let attempt = (phase == "exec").then_some(attempt);
        let expected = attempt.into_iter().chain([
            format!("outer.inner.careful node_failed {phase}"),
            "outer.inner flow_failed exec".to_owned(),
            "outer run_failed run".to_owned(),
        ]);
        assert_eq!(errors, expected.collect::<Vec<_>>());
    }
}

#[node]
fn emits(cx: &Context, number: &u64) -> u64 {
    cx.emit("a word");
    cx.emit_json(&json!({ "tool": "search" })).unwrap();
    cx.progress(1, Some(*number));
    cx.progress(2, None);
    *number
}

flow! {
    Emits(number: u64) -> (emits: u64) {
        start >> emits >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn deltas_are_texts_json_and_progress() {
    let runtime = runtime(store(), Emits::new());
    let filter = EventFilter::new()
        .kinds([RecordKind::RunCompleted])
        .deltas();
    let mut stream = runtime.executions().events(filter).await.unwrap();
    settled::<Emits>(&runtime, EmitsInput { number: 5 }).await;
    let (mut contents, mut payloads) = (Vec::new(), Vec::new());
    while let Some(ExecutionEvent::Delta(delta)) = stream.next().await.transpose().unwrap() {
        contents.push(delta.content.clone());
        let json = ExecutionEvent::Delta(delta).to_json();
        payloads.push((json["type"].clone(), json["payload"].clone()));
    }
    assert_eq!(
        contents,
        [
            DeltaContent::Text("a word".into()),
            DeltaContent::Value(json!({ "tool": "search" })),
            DeltaContent::Progress {
                done: 1,
                of: Some(5)
            },
            DeltaContent::Progress { done: 2, of: None },
        ]
    );
    let progress = |data: Value| (json!("custom"), json!({ "type": "progress", "data": data }));
    assert_eq!(
        payloads,
        [
            (
                json!("stream_chunk"),
                json!({ "chunk": "a word", "index": 0 })
            ),
            (
                json!("stream_chunk"),
                json!({ "chunk": { "tool": "search" }, "index": 1 })
            ),
            progress(json!({ "done": 1, "of": 5, "index": 2 })),
            progress(json!({ "done": 2, "of": null, "index": 3 })),
        ]
    );
}

/// TE-04, B-080
#[tokio::test(start_paused = true)]
async fn statistics_count_by_type_and_tell_nodes_apart() {
    let runtime = runtime(store(), Outer::new());
    let mut statistics = EventStatistics::new();
    for number in [3, 4] {
        let execution = settled::<Outer>(&runtime, OuterInput { number }).await;
        for event in events(&execution, EventFilter::new()).await {
            statistics.add(&event);
        }
    }
    assert_eq!(statistics.executions(), 2);
    let nodes: Vec<_> = statistics.nodes().collect();
    assert_eq!(nodes, ["outer.inner", "outer.inner.careful"]);
    let expected = [
        ("custom", 5),
        ("error", 3),
        ("exec_complete", 1),
        ("node_end", 2),
        ("node_start", 4),
    ];
    assert_eq!(statistics.by_type(), &expected.into());
    assert_eq!(statistics.total(), 15);
}

flow_law::law! {
    nodes: [emits, Careful],
    flows: [
        Inner(Inner::builder().careful(Careful).build()) with [Careful = Careful],
        Emits,
    ],
    left_out: [Outer],
}
