//! Nodes that add to the value of a key, in durable runs.

use std::num::NonZeroUsize;

use flow_durable::{
    DurableFlow, EventFilter, Execution, RecordKind, Runtime, StartOptions, Writer,
};
use flow_runtime::Flow as _;
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::accesses::{lines, told};
use crate::states::compared;
use crate::support::{options, runtime, settled, store};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Message {
    text: String,
}

#[node(writes = +messages)]
fn reply(messages: &[Message]) -> Message {
    Message {
        text: "x".repeat(messages.len()),
    }
}

#[derive(Debug, Action, Serialize, Deserialize)]
enum More {
    Again {
        #[action(add)]
        rounds: u64,
    },
    Enough,
}

#[node(actions = More)]
fn more(messages: &[Message], most: &u8) -> More {
    if messages.len() < usize::from(*most) {
        More::Again { rounds: 1 }
    } else {
        More::Enough
    }
}

flow! {
    Talk(messages: Vec<Message>, rounds: u64, most: u8) -> (messages: Vec<Message>, rounds: u64) {
        start >> reply >> more;
        more - "again" >> reply;
        more - "enough" >> end;
    }
}

async fn talk(runtime: &Runtime, most: u8) -> Execution {
    let input = TalkInput {
        messages: Vec::new(),
        rounds: 0,
        most,
    };
    settled::<Talk>(runtime, input).await
}

/// The length of all payloads of a conversation of so many rounds.
async fn bytes(most: u8) -> usize {
    let runtime = runtime(store(), Talk::new());
    let execution = talk(&runtime, most).await;
    let journal = execution.journal().await.unwrap();
    let outcomes = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    outcomes.map(|record| record.payload.len()).sum()
}

#[node(writes = +lines)]
fn say(lines: &[String]) -> String {
    format!("{:4000}", lines.len())
}

#[derive(Debug, Action, Serialize, Deserialize)]
enum Next {
    Line,
    End,
}

#[node(actions = Next)]
fn next(lines: &[String], most: &u16) -> Next {
    if lines.len() < usize::from(*most) {
        Next::Line
    } else {
        Next::End
    }
}

flow! {
    Monologue(lines: Vec<String>, most: u16) -> (lines: Vec<String>) {
        start >> say >> next;
        next - "line" >> say;
        next - "end" >> end;
    }
}

flow! {
    /// The same, but it leaves the memory of the process after each line.
    Daily(lines: Vec<String>, most: u16) -> (lines: Vec<String>) {
        start >> say >> wait(1d) >> next;
        next - "line" >> say;
        next - "end" >> end;
    }
}

/// The bytes of a journal with a snapshot after so many records.
async fn bytes_of<F: DurableFlow>(flow: F, input: F::Input, every: usize) -> usize {
    let options = options().snapshot_every(NonZeroUsize::new(every).unwrap());
    let runtime = Runtime::with_options(store(), options);
    runtime.register(flow).unwrap();
    let execution = settled::<F>(&runtime, input).await;
    let journal = execution.journal().await.unwrap();
    journal.iter().map(|record| record.payload.len()).sum()
}

/// Snapshots have the whole value. They become rarer as it grows, so that they take no more than
/// twice the space of everything else.
#[tokio::test(start_paused = true)]
async fn snapshots_of_a_growing_value_take_no_more_than_twice_the_space_of_what_is_added() {
    let lines = Vec::new;
    for most in [50, 100, 200, 400] {
        let input = |most| MonologueInput {
            lines: lines(),
            most,
        };
        let without = bytes_of(Monologue::new(), input(most), usize::MAX).await;
        let with = bytes_of(Monologue::new(), input(most), 10).await;
        assert!(
            without < with && with <= 3 * without,
            "{most} lines: {with} bytes with snapshots, {without} without"
        );
    }
    let input = || DailyInput {
        lines: lines(),
        most: 60,
    };
    let without = bytes_of(Daily::new(), input(), usize::MAX).await;
    let with = bytes_of(Daily::new(), input(), 10).await;
    assert!(
        without < with && with <= 3 * without,
        "by day: {with} bytes with snapshots, {without} without"
    );
}

/// Twice the rounds take twice the space: what was said before is not recorded again.
#[tokio::test(start_paused = true)]
async fn the_journal_has_what_is_added_and_nothing_more() {
    let runtime = runtime(store(), Talk::new());
    let journal = talk(&runtime, 3).await.journal().await.unwrap();
    let outcomes = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    let outcomes: Vec<&str> = outcomes.map(|record| record.payload.as_str()).collect();
    let expected = [
        r#"{"text":""}"#,
        r#"{"Again":{"rounds":1}}"#,
        r#"{"text":"x"}"#,
        r#"{"Again":{"rounds":1}}"#,
        r#"{"text":"xx"}"#,
        r#""Enough""#,
    ];
    assert_eq!(outcomes, expected);
    let (short, long) = (bytes(20).await, bytes(40).await);
    let texts = |rounds: usize| (0..rounds).sum::<usize>();
    assert_eq!(
        long - texts(40),
        2 * (short - texts(20)) + r#"{"Again":{"rounds":1}}"#.len() - r#""Enough""#.len()
    );
}

/// A `+` before the key.
#[tokio::test(start_paused = true)]
async fn an_event_says_that_its_value_was_added() {
    let runtime = runtime(store(), Talk::new());
    talk(&runtime, 1).await;
    let told = told(&runtime, EventFilter::new().from_start().values()).await;
    let lines = lines(&told);
    let written = lines.iter().filter(|line| !line.ends_with("> "));
    let written: Vec<&str> = written.map(String::as_str).collect();
    let added = r#"talk.reply  <  > +messages: {"summary":"{\"text\":\"\"}"}"#;
    assert_eq!(written, [added]);
}

#[node(writes = +log)]
async fn ship(parcel: &u64) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(100 - parcel)).await;
    format!("shipped {parcel}")
}

#[node(writes = +log)]
fn seen(log: &[String]) -> String {
    format!("saw {}", log.len())
}

#[node(writes = +log)]
fn two() -> Vec<String> {
    vec!["one".into(), "two".into()]
}

flow! {
    Seen(parcels: Vec<u64>) -> (log: Vec<String>) {
        node begin: two;
        node all: for parcel in parcels { ship } with concurrency(3);
        node once: seen;
        node twice: seen;
        start >> begin >> [once >> twice, all >> two] >> seen >> end;
    }
}

#[node]
fn doubled(parcel: &u64) -> u64 {
    parcel * 2
}

flow! {
    Double(parcel: u64) -> (doubled: u64) {
        start >> doubled >> end;
    }
}

flow! {
    InParts(parcels: Vec<u64>) -> (log: Vec<String>, total: u64) {
        node begin: two;
        node all: for parcel in parcels { ship } with spread(2), concurrency(2);
        node sums: for parcel in parcels { Double { doubled -> +total } } with spread(3);
        start >> begin >> all >> sums >> seen >> end;
    }
}

/// The results of the parts come in the order of the items, and each is added once.
#[tokio::test(start_paused = true)]
async fn the_results_of_parts_are_added_in_the_order_of_the_items() {
    let store = store();
    let knows = runtime(store.clone(), InParts::new());
    let input = InPartsInput {
        parcels: vec![10, 50, 30, 90, 20],
    };
    let execution = settled::<InParts>(&knows, input).await;
    let output = execution.output::<InParts>().unwrap().unwrap();
    let expected = [
        "one",
        "two",
        "shipped 10",
        "shipped 50",
        "shipped 30",
        "shipped 90",
        "shipped 20",
        "saw 7",
    ];
    assert_eq!(output.log, expected);
    assert_eq!(output.total, 400);
    let journal = execution.journal().await.unwrap();
    let spread = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Spread);
    assert_eq!(spread.count(), 2);
    let viewer = Runtime::with_options(store, options());
    assert_eq!(compared(&knows, &viewer, &execution).await, [""; 0]);
}

/// The same by a flow from a document.
#[tokio::test(start_paused = true)]
async fn the_results_of_parts_are_added_by_a_loaded_flow() {
    let nodes = flow_loader::registry![two, ship, seen, doubled];
    let flow = flow_loader::load(InParts::SPEC, flow_loader::Format::Json, &nodes).unwrap();
    let loaded = Runtime::with_options(store(), options());
    loaded.register(std::sync::Arc::new(flow)).unwrap();
    let input = json!({ "parcels": [10, 50, 30, 90, 20] });
    let execution = loaded
        .executions()
        .start_json("InParts", input, StartOptions::new())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output_json().unwrap().unwrap();
    assert_eq!(output["total"], 400);
    assert_eq!(output["log"][4], "shipped 30");
    assert_eq!(output["log"][7], "saw 7");
}

/// A process without the flow comes to the same values, by the types that the structure names.
#[tokio::test(start_paused = true)]
async fn the_journal_comes_to_what_was_added() {
    let store = store();
    let knows = runtime(store.clone(), Talk::new());
    let execution = talk(&knows, 4).await;
    let viewer = Runtime::with_options(store, options());
    assert_eq!(compared(&knows, &viewer, &execution).await, [""; 0]);

    let store = crate::support::store();
    let knows = runtime(store.clone(), Seen::new());
    let input = SeenInput {
        parcels: vec![7, 8],
    };
    let execution = settled::<Seen>(&knows, input).await;
    let output = execution.output::<Seen>().unwrap().unwrap();
    let expected = [
        "one",
        "two",
        "saw 2",
        "saw 3",
        "shipped 7",
        "shipped 8",
        "one",
        "two",
        "saw 8",
    ];
    assert_eq!(output.log, expected);
    let viewer = Runtime::with_options(store, options());
    assert_eq!(compared(&knows, &viewer, &execution).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_write_says_that_its_value_was_added() {
    let runtime = runtime(store(), Talk::new());
    let execution = talk(&runtime, 1).await;
    let last = execution.journal().await.unwrap().len() as u64 - 1;
    let writes = runtime.executions().writes(execution.id(), last).await;
    let writes = writes.unwrap();
    let of_messages: Vec<_> = writes
        .iter()
        .filter(|write| write.key == "messages")
        .map(|write| (write.added, write.value.clone().unwrap()))
        .collect();
    let added = json!({ "text": "" });
    assert_eq!(of_messages, [(false, json!([])), (true, added)]);
    assert!(matches!(writes.last().unwrap().writer, Writer::Node { .. }));
}

flow_law::law! {
    nodes: [reply, more, say, next, ship, seen, two, doubled],
    flows: [
        Talk,
        Monologue,
        Daily,
        Seen,
        Double,
        InParts { inputs: [json!({ "parcels": [7, 8, 9] })] },
    ],
    types: [Message],
}
