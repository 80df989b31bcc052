//! What edges mean: nodes alone, many runs at once, long loops.

use std::collections::BTreeSet;
use std::ptr;
use std::sync::{Arc, Mutex};

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::support::{Calls, Recorder};

#[derive(Debug, PartialEq, Action, Serialize, Deserialize)]
enum Size {
    Big { size: usize },
    Small,
}

/// Not only a node of a flow: an ordinary function.
#[node(actions = Size)]
fn measure(text: &str) -> Size {
    match text.len() {
        size @ 5.. => Size::Big { size },
        _ => Size::Small,
    }
}

#[node(writes = shortened)]
fn shorten(text: &str, size: &usize, calls: &Calls) -> String {
    calls.note("shorten");
    text[..size / 2].to_owned()
}

flow! {
    Shortens(text: String, calls: Calls) -> (shortened: Option<String>) {
        start >> measure;
        measure - "big" >> shorten >> end;
        measure - "small" >> end;
    }
}

flow! {
    MeasuresOnly(text: String) -> (size: Option<usize>) {
        start >> measure;
        measure - "big" >> end("big");
        measure - "small" >> end;
    }
}

/// PF-44
#[tokio::test]
async fn a_node_runs_alone() {
    let calls = Calls::default();
    let input = ShortensInput::builder()
        .text("carrot".into())
        .calls(calls.clone())
        .build();
    let out = Shortens::new().run(input).await.unwrap();
    assert_eq!(out.shortened.as_deref(), Some("car"));
    assert_eq!(calls.count(), 1);

    assert_eq!(measure("carrot"), Size::Big { size: 6 });
    assert_eq!(measure("pea"), Size::Small);
    let input = MeasuresOnlyInput::builder().text("carrot".into()).build();
    let out = MeasuresOnly::new().run(input).await.unwrap();
    assert_eq!((out.size, out.end), (Some(6), MeasuresOnlyEnd::Big));
    assert_eq!(calls.count(), 1);
}

#[derive(Action, Serialize, Deserialize)]
enum Countdown {
    Again,
    Done,
}

#[node(writes(left, seen), actions = Countdown)]
async fn count_down(left: u32, mut seen: Vec<u32>) -> (u32, Vec<u32>, Countdown) {
    tokio::task::yield_now().await;
    seen.push(left);
    match left {
        0 => (left, seen, Countdown::Done),
        _ => (left - 1, seen, Countdown::Again),
    }
}

#[node]
fn finish(seen: &[u32]) -> u32 {
    seen.iter().sum()
}

flow! {
    CountsDown(left: u32, seen: Vec<u32>) -> (seen: Vec<u32>, finish: u32) {
        start >> count_down;
        count_down - "again" >> count_down;
        count_down - "done" >> finish >> end;
    }
}

/// PF-48
#[tokio::test]
async fn one_flow_value_runs_many_times_at_once() {
    let flow = CountsDown::new();
    let recorder = Recorder::shared();
    let run = |left: u32| {
        let input = CountsDownInput::builder()
            .left(left)
            .seen(Vec::new())
            .build();
        flow.run_with(input, RunOptions::new().observer(recorder.clone()))
    };
    let (three, two) = tokio::join!(biased; run(3), run(2));
    let (three, two) = (three.unwrap(), two.unwrap());
    assert_eq!((three.seen, three.finish), (vec![3, 2, 1, 0], 6));
    assert_eq!((two.seen, two.finish), (vec![2, 1, 0], 3));

    let [first, second] = recorder.runs()[..] else {
        panic!("two runs")
    };
    let of_three = format!("{}finish", "count_down ".repeat(4));
    let of_two = format!("{}finish", "count_down ".repeat(3));
    assert_eq!(recorder.trace_of(first), of_three);
    assert_eq!(recorder.trace_of(second), of_two);
    let in_turns = format!("{}finish count_down finish", "count_down ".repeat(6));
    assert_eq!(recorder.trace(), in_turns);
}

/// PF-48, on several threads
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_flow_value_runs_on_many_threads() {
    let flow = Arc::new(CountsDown::new());
    let runs: Vec<_> = (0..50)
        .map(|left| {
            let flow = Arc::clone(&flow);
            let input = CountsDownInput::builder()
                .left(left)
                .seen(Vec::new())
                .build();
            tokio::spawn(async move { flow.run(input).await })
        })
        .collect();
    for (left, run) in (0..50).zip(runs) {
        assert_eq!(run.await.unwrap().unwrap().finish, (0..=left).sum::<u32>());
    }
}

/// Where on the stack a node has run.
#[derive(Clone, Default)]
struct StackDepths(Arc<Mutex<BTreeSet<usize>>>);

#[node(writes = left, actions = Countdown)]
fn spin(left: &u32, depths: &StackDepths) -> (u32, Countdown) {
    let local = 0_u8;
    depths
        .0
        .lock()
        .unwrap()
        .insert(ptr::from_ref(&local).addr());
    match left {
        0 => (0, Countdown::Done),
        left => (left - 1, Countdown::Again),
    }
}

flow! {
    Spins(left: u32, depths: StackDepths) -> (left: u32) {
        start >> spin;
        spin - "again" >> spin;
        spin - "done" >> end;
    }
}

/// PF-49
#[tokio::test]
async fn a_long_loop_does_not_grow_the_stack() {
    let depths = StackDepths::default();
    let input = SpinsInput::builder()
        .left(100_000)
        .depths(depths.clone())
        .build();
    let out = Spins::new().run(input).await.unwrap();
    assert_eq!(out.left, 0);
    assert_eq!(depths.0.lock().unwrap().len(), 1);
}

#[derive(Action, Serialize, Deserialize)]
enum Crossing {
    Left,
    #[action("straight_on")]
    Ahead,
    Right,
}

#[node(actions = Crossing)]
fn cross(turn: &i8) -> Crossing {
    match turn.signum() {
        -1 => Crossing::Left,
        0 => Crossing::Ahead,
        _ => Crossing::Right,
    }
}

#[node]
fn village() {}

flow! {
    Crosses(turn: i8) {
        start >> cross;
        cross - "left" >> end("sea");
        cross - "straight_on" >> village >> end;
        cross - "right" >> village;
    }
}

#[tokio::test]
async fn edges_meet_and_ends_are_labelled() {
    for (turn, end) in [
        (-1, CrossesEnd::Sea),
        (0, CrossesEnd::Default),
        (1, CrossesEnd::Default),
    ] {
        let input = CrossesInput::builder().turn(turn).build();
        assert_eq!(Crosses::new().run(input).await.unwrap().end, end);
    }
}

flow_law::law! {
    nodes: [measure, shorten, count_down, finish, spin, cross, village],
    flows: [
        Shortens,
        MeasuresOnly,
        CountsDown,
        Crosses,
    ],
    not_json: [Spins],
}
