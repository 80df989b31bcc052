//! Who wrote which value.

use flow_durable::{Execution, KeyWrite, RecordKind, Runtime, RuntimeError, Writer};
use flow_runtime::prelude::*;
use serde_json::{Map, json};

use crate::flows::{Doubled, DoubledInput, Rounds, RoundsInput};
use crate::support::{options, runtime, settled, store};

#[node(writes(low, high))]
fn split(number: &u64) -> (u64, u64) {
    (number / 2, number - number / 2)
}

#[node]
fn square(number: u64) -> u64 {
    number * number
}

#[node]
fn sum(squares: &[u64]) -> u64 {
    squares.iter().sum()
}

#[node(writes = numbers)]
fn gather(low: &u64, high: &u64) -> Vec<u64> {
    vec![*low, *high]
}

flow! {
    Squared(numbers: Vec<u64>) -> (sum: u64) {
        node squares: for number in numbers { square };
        start >> squares >> sum >> end;
    }
}

#[node]
fn left(low: &u64) -> u64 {
    low + 1
}

#[node]
fn right(high: &u64) -> u64 {
    high + 1
}

flow! {
    Everything(number: u64) -> (total: u64, left: u64, right: u64) {
        node squared: Squared { sum -> total } = Squared::new();
        start >> split >> [left, right] >> gather >> squared >> end;
    }
}

async fn writes(runtime: &Runtime, execution: &Execution) -> Vec<KeyWrite> {
    let last = execution.journal().await.unwrap().len() as u64 - 1;
    runtime
        .executions()
        .writes(execution.id(), last)
        .await
        .unwrap()
}

/// `flow.key #version: writer = value`
fn line(write: &KeyWrite) -> String {
    let writer = match &write.writer {
        Writer::Node { step, .. } => step.clone(),
        Writer::Edge { path, from } => format!("{path}: {from}"),
        other => format!("{other:?}"),
    };
    let value = write.value.as_ref();
    let value = value.map_or_else(String::new, |value| format!(" = {value}"));
    format!(
        "{}.{} #{}: {writer}{value}",
        write.flow, write.key, write.version
    )
}

fn lines(writes: &[KeyWrite]) -> Vec<String> {
    writes.iter().map(line).collect()
}

/// B-097, B-101: in nodes with one value and with several, forks, loops and flows in flows; and by a
/// process that does not have the flow.
#[tokio::test(start_paused = true)]
async fn each_value_is_told_with_the_node_the_visit_and_the_version() {
    let store = store();
    let knows = runtime(store.clone(), Everything::new());
    let execution = settled::<Everything>(&knows, EverythingInput { number: 7 }).await;
    let other = Runtime::with_options(store, options());
    let writes = writes(&other, &execution).await;
    assert_eq!(
        lines(&writes),
        [
            "everything.number #1: Input = 7",
            "everything.low #1: everything.split = 3",
            "everything.high #1: everything.split = 4",
            "everything.left #1: everything.fork.left = 4",
            "everything.right #1: everything.fork.right = 5",
            "everything.numbers #1: everything.gather = [3,4]",
            "everything.squared.numbers #1: Input",
            "everything.squared.squares #1: everything.squared.squares",
            "everything.squared.sum #1: everything.squared.sum = 25",
            "everything.total #1: everything.squared",
        ]
    );
    let journal = execution.journal().await.unwrap();
    for write in &writes {
        let record = &journal[usize::try_from(write.seq).unwrap()];
        assert_eq!((record.seq, record.at_ms), (write.seq, write.at_ms));
        if let Writer::Node { path, visit, .. } = &write.writer {
            assert_eq!(record.kind, RecordKind::NodeFinished);
            assert_eq!((&record.path, record.visit), (path, *visit));
        }
    }
    let gathered = writes.iter().find(|write| write.key == "numbers").unwrap();
    let until = other
        .executions()
        .writes(execution.id(), gathered.seq)
        .await
        .unwrap();
    assert_eq!(lines(&until), lines(&writes)[..6]);
    let none = other
        .executions()
        .writes(execution.id(), journal.len() as u64)
        .await;
    assert!(
        matches!(none, Err(RuntimeError::NoRecord { .. })),
        "{none:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn versions_count_the_writes_of_a_key_in_a_loop() {
    let runtime = runtime(store(), Rounds::new());
    let execution = settled::<Rounds>(&runtime, RoundsInput { number: 10 }).await;
    let expected = [
        "rounds.number #1: Input = 10",
        "rounds.number #2: rounds.triple = 30",
        "rounds.number #3: rounds.triple#2 = 90",
        "rounds.doubled #1: rounds.double = 180",
    ];
    assert_eq!(lines(&writes(&runtime, &execution).await), expected);

    let tripled = execution.journal().await.unwrap();
    let tripled = tripled
        .iter()
        .find(|record| record.kind == RecordKind::NodeFinished);
    let seq = tripled.unwrap().seq;
    let other = Map::from_iter([("number".to_owned(), json!(40))]);
    let copy = runtime
        .executions()
        .copy_with(execution.id(), seq, other)
        .await
        .unwrap();
    let copy = copy.settled().await.unwrap();
    let expected = [
        "rounds.number #1: Input = 10",
        "rounds.number #2: rounds.triple = 30",
        "rounds.number #3: Copy = 40",
        "rounds.number #4: rounds.triple#2 = 120",
        "rounds.doubled #1: rounds.double = 240",
    ];
    assert_eq!(lines(&writes(&runtime, &copy).await), expected);
}

/// An edge that gives a key another value writes it.
#[tokio::test(start_paused = true)]
async fn edges_write_as_well() {
    let runtime = runtime(store(), Doubled::new());
    let input = DoubledInput {
        first: 2,
        limit: 50,
    };
    let execution = settled::<Doubled>(&runtime, input).await;
    let lines = lines(&writes(&runtime, &execution).await);
    assert_eq!(
        lines[..4],
        [
            "doubled.first #1: Input = 2",
            "doubled.limit #1: Input = 50",
            "doubled.number #1: doubled: first",
            "doubled.doubled #1: doubled.double = 4",
        ],
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"doubled.number #2: doubled.large: doubled".to_owned()),
        "{lines:#?}"
    );
}

flow_law::law! {
    nodes: [split, square, sum, gather, left, right],
    flows: [
        Squared,
    ],
    left_out: [Everything],
}
