//! Races in durable runs: the first branch that is done is recorded, and wins again in a replay.

use std::time::Duration;

use flow_durable::{StartOptions, Status};
use flow_runtime::prelude::*;
use serde_json::json;

use crate::flows::{Name, work};
use crate::prefixes::the_same_from_everywhere;
use crate::support::{outcomes, pass, runtime, settled, store};

#[node(writes = read)]
async fn read(cx: &Context, number: &u64) -> u64 {
    work(cx, 10).await;
    number + 1
}

#[node(writes = answer)]
async fn quick(cx: &Context, read: &u64) -> u64 {
    work(cx, 10).await;
    read * 10
}

#[node(writes = answer)]
async fn slow(cx: &Context, number: &u64) -> u64 {
    work(cx, 5).await;
    work(cx, 10_000).await;
    number * 1000
}

#[node(writes = begun)]
async fn begins(cx: &Context, number: &u64) -> u64 {
    work(cx, 5).await;
    *number
}

#[node(writes = number)]
async fn next(cx: &Context, answer: &u64) -> u64 {
    work(cx, 10).await;
    answer + 1
}

flow! {
    /// A race in a loop, with steps before the winner and steps that lose.
    Raced(number: u64) -> (number: u64, answer: u64) {
        node outcome: first { begins >> slow => "slow", read >> quick => "quick", wait(1h) => "late" };
        branch large(number) { *number > 500 => "yes", else => "no" }

        start >> outcome;
        outcome - "quick" >> next >> large;
        outcome - "slow"  >> next;
        outcome - "late"  >> outcome;
        large - "no"  >> outcome;
        large - "yes" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_race_ends_as_it_did_wherever_a_process_crashes() {
    let output = the_same_from_everywhere(Raced::new, || RacedInput { number: 7 }, |_| None).await;
    // 7 → 81 → 821
    assert_eq!(
        output,
        json!({ "number": 821, "answer": 820, "end": "default" })
    );
}

#[tokio::test(start_paused = true)]
async fn only_what_the_first_one_wrote_is_there() {
    let runtime = runtime(store(), Raced::new());
    let execution = settled::<Raced>(&runtime, RacedInput { number: 7 }).await;
    let journal = execution.journal().await.unwrap();
    let steps: Vec<String> = outcomes(&journal).into_keys().collect();
    assert_eq!(
        steps,
        [
            "raced.next",
            "raced.next#2",
            "raced.outcome#2.begins",
            "raced.outcome#2.quick",
            "raced.outcome#2.read",
            "raced.outcome.begins",
            "raced.outcome.quick",
            "raced.outcome.read",
        ]
    );
    let last = journal.last().unwrap().seq;
    let writes = runtime.executions().writes(execution.id(), last).await;
    let writes = writes.unwrap();
    let keys: Vec<&str> = writes.iter().map(|write| write.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "number", "read", "answer", "number", "read", "answer", "number"
        ]
    );
    let versions: Vec<u32> = writes.iter().map(|write| write.version).collect();
    assert_eq!(versions, [1, 1, 1, 2, 2, 2, 3]);
    let state = runtime.executions().state(execution.id(), last - 1).await;
    let state = format!("{:?}", state.unwrap());
    assert!(
        state.contains("answer") && !state.contains("begun"),
        "{state}"
    );
}

flow! {
    /// Asks, and goes on without an answer after two days.
    Asks(number: u64) -> (name: Option<Name>, read: Option<u64>) {
        node outcome: first { Name, wait(2d) => "late" };
        start >> outcome - "default" >> end;
        outcome - "late" >> read >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_answered_in_time_decides() {
    let shared = store();
    let first = runtime(shared.clone(), Asks::new());
    let execution = settled::<Asks>(&first, AsksInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Paused);
    let token = execution.questions().await.unwrap()[0].token();
    first.shut_down().await;
    pass(Duration::from_secs(24 * 3600)).await;

    let second = runtime(shared, Asks::new());
    let answer = Name { name: "Ann".into() };
    let execution = second.executions().resume(token, answer).await.unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Asks>().unwrap().unwrap();
    assert_eq!((output.end, output.read), (AsksEnd::Default, None));
    assert_eq!(output.name.unwrap().name, "Ann");
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_branch_that_loses_is_closed() {
    let shared = store();
    let first = runtime(shared.clone(), Asks::new());
    let execution = settled::<Asks>(&first, AsksInput { number: 1 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    first.shut_down().await;

    let second = runtime(shared, Asks::new());
    pass(Duration::from_secs(3 * 24 * 3600)).await;
    second.recover().await.unwrap();
    let execution = second.executions().get(execution.id()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Asks>().unwrap().unwrap();
    assert_eq!((output.end, output.read), (AsksEnd::Late, Some(2)));
    assert!(execution.questions().await.unwrap().is_empty());
    let answer = Name { name: "Ann".into() };
    let refused = second.executions().resume(token, answer).await;
    assert!(refused.is_err(), "{refused:?}");
}

#[node(writes = halves)]
async fn halve(number: &u64) -> u64 {
    number / 2
}

#[node(writes = quick_one)]
fn at_once(number: &u64) -> u64 {
    *number
}

flow! {
    /// The loop over no items is the first one, since the other branch waits until `read` is stored.
    Unrecorded(number: u64, numbers: Vec<u64>) -> (answer: Option<u64>) {
        node halves: for number in numbers { halve };
        node outcome: first { at_once => "at_once", halves => "halves" };

        start >> read >> outcome;
        outcome - "halves" >> slow >> end;
        outcome - "at_once" >> end("at_once");
    }
}

/// What a branch without a record was the first one by, such as the time that a store takes, is
/// another in a replay.
#[tokio::test(start_paused = true)]
async fn a_branch_without_records_is_the_first_one_again() {
    let shared = store();
    let first = runtime(shared.clone(), Unrecorded::new());
    let input = UnrecordedInput {
        number: 1,
        numbers: Vec::new(),
    };
    let started = first
        .executions()
        .start::<Unrecorded>(input, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_secs(1)).await;
    first.shut_down().await;
    let journal = started.journal().await.unwrap();
    assert_eq!(journal.last().unwrap().step, "unrecorded.slow");

    let second = runtime(shared, Unrecorded::new());
    second.recover().await.unwrap();
    let execution = second.executions().get(started.id()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Unrecorded>().unwrap().unwrap();
    assert_eq!(
        (output.end, output.answer),
        (UnrecordedEnd::Default, Some(1000))
    );
    let steps = outcomes(&execution.journal().await.unwrap());
    assert!(
        !steps.contains_key("unrecorded.outcome.at_once"),
        "{steps:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_decides_wherever_a_process_crashes() {
    let answered = the_same_from_everywhere(
        Asks::new,
        || AsksInput { number: 1 },
        |_| Some(json!({ "name": "Ann" })),
    )
    .await;
    assert_eq!(
        answered,
        json!({ "name": { "name": "Ann" }, "end": "default" })
    );
}

flow_law::law! {
    nodes: [read, quick, slow, begins, next, halve, at_once, Name],
    flows: [
        Raced,
        Asks,
        Unrecorded,
    ],
}
