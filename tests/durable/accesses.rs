//! What nodes read and write, for those who ask for it.

use flow_durable::{EventFilter, ExecutionEvent, NodeValues, RecordKind, Runtime, RuntimeError};
use flow_runtime::prelude::*;
use serde_json::{Value, json};

use crate::flows::{Rounds, RoundsInput};
use crate::stores::{Damage, Damaged, Faulty};
use crate::support::{options, runtime, settled, store};

#[node]
fn pick(limit: Option<&u64>, numbers: &[u64]) -> Vec<u64> {
    let limit = *limit.unwrap_or(&2);
    numbers
        .iter()
        .copied()
        .filter(|number| *number < limit)
        .collect()
}

#[node]
fn square(number: u64) -> u64 {
    number * number
}

#[node(writes(low, high))]
fn ends(squares: &[u64]) -> (u64, u64) {
    (squares[0], squares[squares.len() - 1])
}

/// Writes a text that begins with this.
struct Report(&'static str);

#[node(writes = text)]
impl Report {
    fn exec(&self, low: u64, high: u64) -> String {
        format!("{}: {low} to {high} {}", self.0, "…".repeat(300))
    }
}

flow! {
    Squared(numbers: Vec<u64>) -> (squares: Vec<u64>) {
        node squares: for number in numbers { square };
        start >> squares >> end;
    }
}

flow! {
    Reported(numbers: Vec<u64>, limit: Option<u64>) -> (text: String) {
        node squared: Squared { numbers <- pick };
        node report: Report = Report("squares");
        start >> pick >> squared >> ends >> report >> end;
    }
}

pub(crate) async fn told(runtime: &Runtime, filter: EventFilter) -> Vec<ExecutionEvent> {
    let mut events = runtime
        .executions()
        .events(filter.until_now())
        .await
        .unwrap();
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        told.push(event.unwrap());
    }
    told
}

/// `path params reads` or `path = writes`, for the events with any of them.
pub(crate) fn lines(told: &[ExecutionEvent]) -> Vec<String> {
    let values = |event: &ExecutionEvent| -> Option<NodeValues> {
        let ExecutionEvent::Recorded(event) = event else {
            return None;
        };
        event
            .values
            .as_deref()
            .cloned()
            .filter(|values| *values != NodeValues::default())
    };
    let line = |event: &ExecutionEvent| {
        let values = values(event)?;
        let accesses = |accesses: &[flow_durable::KeyAccess]| -> Vec<String> {
            let access = |access: &flow_durable::KeyAccess| {
                let plus = if access.added { "+" } else { "" };
                format!("{plus}{}: {}", access.key, json!(access.value))
            };
            accesses.iter().map(access).collect()
        };
        let params = if values.params.is_empty() {
            String::new()
        } else {
            json!(values.params).to_string()
        };
        Some(format!(
            "{} {params} < {} > {}",
            event.path().unwrap(),
            accesses(&values.reads).join(", "),
            accesses(&values.writes).join(", ")
        ))
    };
    told.iter().filter_map(line).collect()
}

/// B-109, TE-05, B-073, D-21: by a process that does not have the flow.
#[tokio::test(start_paused = true)]
async fn reads_writes_and_settings_are_told_to_who_asks() {
    let store = store();
    let knows = runtime(store.clone(), Reported::new());
    let input = ReportedInput {
        numbers: vec![1, 5, 0],
        limit: None,
    };
    let execution = settled::<Reported>(&knows, input).await;
    let viewer = Runtime::with_options(store, options());
    let filter = || EventFilter::new().from_start().values();
    let all = told(&viewer, filter()).await;
    let cut = format!("\"squares: 1 to 0 {}", "…".repeat(200 - 17));
    let text = json!({ "summary": format!("{cut}... (truncated)") });
    assert_eq!(
        lines(&all),
        [
            r#"reported.pick  < limit: "missing", numbers: {"summary":"[1,5,0]"} > "#.to_owned(),
            r#"reported.pick  <  > pick: {"summary":"[1,0]"}"#.to_owned(),
            r#"reported.squared  < pick: {"summary":"[1,0]"} > "#.to_owned(),
            r#"reported.squared.squares  < numbers: {"summary":"[1,0]"} > "#.to_owned(),
            r#"reported.squared.squares[0]  < number: {"summary":"1"} > "#.to_owned(),
            r#"reported.squared.squares[1]  < number: {"summary":"0"} > "#.to_owned(),
            r#"reported.squared.squares  <  > squares: {"summary":"[1,0]"}"#.to_owned(),
            r#"reported.squared  <  > squares: {"summary":"[1,0]"}"#.to_owned(),
            r#"reported.ends  < squares: {"summary":"[1,0]"} > "#.to_owned(),
            r#"reported.ends  <  > low: {"summary":"1"}, high: {"summary":"0"}"#.to_owned(),
            r#"reported.report  < low: {"summary":"1"}, high: {"summary":"0"} > "#.to_owned(),
            format!("reported.report  <  > text: {text}"),
        ]
    );
    let payload = |kind: &str| -> Value {
        let event = all
            .iter()
            .map(ExecutionEvent::to_json)
            .find(|event| event["type"] == kind && event["namespace"] == "reported.pick");
        event.unwrap()["payload"].clone()
    };
    assert_eq!(
        payload("node_start")["reads"],
        json!([
            { "key": "limit", "value": "missing" },
            { "key": "numbers", "value": { "summary": "[1,5,0]" } },
        ])
    );
    let items = |event: &ExecutionEvent| -> Option<usize> {
        match event {
            ExecutionEvent::Recorded(event) => event.values.as_deref()?.items,
            _ => None,
        }
    };
    let loops = all
        .iter()
        .filter_map(|event| Some((event.path()?, items(event)?)));
    let expected = [("reported.squared.squares", 2)];
    assert_eq!(loops.collect::<Vec<_>>(), expected);
    assert_eq!(
        payload("node_end")["writes"],
        json!([{ "key": "pick", "value": { "summary": "[1,0]" } }])
    );

    // Whoever begins in the middle, or hears of some nodes only, is told the same.
    let ExecutionEvent::Recorded(middle) = &all[all.len() / 2] else {
        panic!("{:?}", all[all.len() / 2])
    };
    let later = told(&viewer, filter().from_offset(middle.offset)).await;
    assert!(!lines(&later).is_empty() && lines(&all).ends_with(&lines(&later)));
    let some = told(&viewer, filter().path("reported.ends").unwrap()).await;
    assert_eq!(lines(&some), lines(&all)[8..10]);

    // Nobody else is told anything.
    let others = told(&knows, EventFilter::new().from_start()).await;
    assert!(lines(&others).is_empty());
    assert_eq!(others.len(), all.len());
    assert_eq!(execution.journal().await.unwrap().len(), all.len());
}

/// Events come all the same, without what would be wrong.
#[tokio::test(start_paused = true)]
async fn a_damaged_record_is_not_followed_further() {
    let store = store();
    let knows = runtime(store.clone(), Rounds::new());
    settled::<Rounds>(&knows, RoundsInput { number: 10 }).await;
    let filter = || EventFilter::new().from_start().values();
    let whole = told(&knows, filter()).await;
    assert_eq!(
        lines(&whole)[..2],
        [
            r#"rounds.triple  < number: {"summary":"10"} > "#,
            r#"rounds.triple  <  > number: {"summary":"30"}"#,
        ]
    );
    let ExecutionEvent::Recorded(third) = &whole[3] else {
        panic!("{:?}", whole[3])
    };
    let later = || filter().from_offset(third.offset);
    assert!(!lines(&told(&knows, later()).await).is_empty());
    let damaged = Faulty::new(&store, Damaged::at(2, Damage::Payload("{")));
    let viewer = Runtime::with_options(damaged, options());
    let mut events = viewer
        .executions()
        .events(later().until_now())
        .await
        .unwrap();
    let (mut later, mut errors) = (Vec::new(), Vec::new());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => later.push(event),
            Err(error) => errors.push((later.len(), error)),
        }
    }
    assert!(lines(&later).is_empty(), "{:?}", lines(&later));
    assert_eq!(later.len(), whole.len() - 4);
    // Once, and behind the first event whose values it concerns.
    let [(1, RuntimeError::DamagedRecord { seq: 2, .. })] = errors[..] else {
        panic!("{errors:?}")
    };
    // Also for whoever wants other records: behind an event, from which a reader can continue.
    let finished = filter().kinds([RecordKind::NodeFinished]);
    let finished = finished.from_offset(third.offset).until_now();
    let mut events = viewer.executions().events(finished).await.unwrap();
    let (first, second) = (events.next().await, events.next().await);
    assert!(matches!(first, Some(Ok(_))), "{first:?}");
    assert!(
        matches!(
            second,
            Some(Err(RuntimeError::DamagedRecord { seq: 2, .. }))
        ),
        "{second:?}"
    );
}

flow_law::law! {
    nodes: [pick, square, ends],
    flows: [
        Squared,
    ],
    left_out: [
        Reported,
    ],
}
