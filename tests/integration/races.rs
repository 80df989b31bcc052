//! Races: `first { … }` runs its branches at the same time, and the first one that is done decides.

use std::future::pending;
use std::time::Duration;

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::support::{Broken, Calls, DropGuard, pause};

#[node(writes = answer)]
async fn fast(question: &str) -> String {
    pause(100).await;
    format!("fast: {question}")
}

#[node(writes = answer)]
async fn slow(question: &str, calls: &Calls) -> String {
    let _guard = DropGuard(calls.clone());
    pause(1000).await;
    format!("slow: {question}")
}

flow! {
    /// The faster of two, with the same action.
    Faster(question: String, calls: Calls) -> (answer: String, calls: Calls) {
        node answer: first { slow, fast };
        start >> answer >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_one_that_is_done_decides_and_the_others_are_dropped() {
    let (began, calls) = (Instant::now(), Calls::default());
    let input = FasterInput {
        question: "why?".into(),
        calls: calls.clone(),
    };
    let output = Faster::new().run(input).await.unwrap();
    assert_eq!(output.answer, "fast: why?");
    assert_eq!(began.elapsed(), Duration::from_millis(100));
    assert_eq!(calls.all(), ["dropped"]);
}

#[node(writes = draft)]
async fn draft(question: &str) -> String {
    pause(50).await;
    format!("draft: {question}")
}

#[node(writes = answer)]
async fn polish(draft: &str, millis: &u64) -> String {
    pause(*millis).await;
    format!("polished {draft}")
}

flow! {
    /// A deadline over two steps.
    InTime(question: String, millis: u64) -> (answer: Option<String>, draft: Option<String>) {
        node outcome: first { draft >> polish => "done", wait(1s) => "late" };
        start >> outcome;
        outcome - "done" >> end;
        outcome - "late" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_a_deadline_over_several_steps() {
    let run = async |millis| {
        let input = InTimeInput {
            question: "why?".into(),
            millis,
        };
        InTime::new().run(input).await.unwrap().into_outcome()
    };
    match run(900).await {
        InTimeOutcome::Default { answer, draft } => {
            assert_eq!(answer, "polished draft: why?");
            assert_eq!(draft, "draft: why?");
        }
        other => panic!("{other:?}"),
    }
    // What the branch had written when it was dropped is not there.
    match run(2000).await {
        InTimeOutcome::Late => {}
        other => panic!("{other:?}"),
    }
}

#[derive(Debug, Action, Serialize, Deserialize)]
enum Verdict {
    Approved { amount: u64 },
    Rejected { reason: String },
}

#[node(actions = Verdict)]
async fn review(claim: &u64) -> Verdict {
    pause(10 * claim).await;
    match claim {
        0..20 => Verdict::Approved { amount: *claim },
        _ => Verdict::Rejected {
            reason: format!("{claim} is too much"),
        },
    }
}

#[node]
fn check(claim: &u64) -> Result<(), Broken> {
    if *claim == 13 {
        Err(Broken("unlucky"))
    } else {
        Ok(())
    }
}

#[node(writes = note)]
fn recover(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    /// A branch without an action has those of its last node.
    Decides(claim: u64) -> (amount: Option<u64>, reason: Option<String>, note: Option<String>) {
        node outcome: first { check >> review, wait(500ms) => "late" };
        start >> outcome;
        outcome - "approved" >> end;
        outcome - "rejected" >> end("rejected");
        outcome - "late"     >> end("late");
        outcome - "error"    >> recover >> end("failed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_branch_without_an_action_has_those_of_its_last_node() {
    let run = async |claim| {
        let output = Decides::new().run(DecidesInput { claim }).await.unwrap();
        output.into_outcome()
    };
    assert!(matches!(
        run(7).await,
        DecidesOutcome::Default { amount: 7 }
    ));
    match run(30).await {
        DecidesOutcome::Rejected { reason } => assert_eq!(reason, "30 is too much"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(run(90).await, DecidesOutcome::Late));
    match run(13).await {
        DecidesOutcome::Failed { note } => {
            assert_eq!(note, "node `decides.check` failed after 1 attempt: unlucky");
        }
        other => panic!("{other:?}"),
    }
}

#[node(writes = text)]
fn one() -> String {
    "one".into()
}

#[node(writes = text)]
fn two() -> String {
    "two".into()
}

flow! {
    AtOnce() -> (text: String) {
        node text: first { one, two };
        start >> text >> end;
    }
}

#[tokio::test]
async fn of_two_in_the_same_turn_the_one_written_first_decides() {
    assert_eq!(AtOnce::new().run(AtOnceInput {}).await.unwrap().text, "one");
}

/// Never done. It takes the value.
#[node(writes = held)]
async fn holds(text: String) -> String {
    pending::<()>().await;
    text
}

#[node(writes = length)]
fn measure(text: &str) -> usize {
    text.len()
}

#[node(writes = loud)]
fn shout(text: String) -> String {
    text.to_uppercase()
}

flow! {
    /// A branch that loses has taken what is read beside it and behind it.
    Keeps(text: String) -> (length: usize, loud: String) {
        node outcome: first { holds => "held", measure => "measured" };
        start >> outcome;
        outcome - "measured" >> shout >> end;
        outcome - "held" >> measure_again >> shout;
        node measure_again: measure;
    }
}

#[tokio::test]
async fn what_a_branch_that_loses_has_taken_is_still_there() {
    let output = Keeps::new()
        .run(KeepsInput { text: "tea".into() })
        .await
        .unwrap();
    assert_eq!((output.length, &*output.loud), (3, "TEA"));
}

#[node(writes = +log)]
async fn notes(round: &u64) -> String {
    pause(10).await;
    format!("notes {round}")
}

#[node(writes = +log)]
async fn notes_late(round: &u64) -> String {
    pause(if *round == 2 { 5 } else { 20 }).await;
    format!("late {round}")
}

#[node(writes = round)]
fn next(round: &u64) -> u64 {
    round + 1
}

flow! {
    /// Only the first one adds, in each round of a loop.
    Rounds(round: u64) -> (log: Vec<String>) {
        node raced: first { notes, notes_late };
        branch enough(round) { *round > 3 => "yes", else => "no" }
        start >> raced >> next >> enough;
        enough - "no" >> raced;
        enough - "yes" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_first_one_adds() {
    let output = Rounds::new().run(RoundsInput { round: 1 }).await.unwrap();
    assert_eq!(output.log, ["notes 1", "late 2", "notes 3"]);
}

flow! {
    /// A flow decides by the end that it reaches.
    InAFlow(claim: u64) -> (amount: Option<u64>, reason: Option<String>) {
        node outcome: first { Decides, wait(1h) => "too_late" };
        start >> outcome - "default" >> end;
        outcome - "rejected" >> end("rejected");
        outcome - "late"     >> end("late");
        outcome - "failed"   >> end("failed");
        outcome - "too_late" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_decides_by_its_ends() {
    let run = async |claim| {
        let output = InAFlow::new().run(InAFlowInput { claim }).await.unwrap();
        output.into_outcome()
    };
    assert!(matches!(
        run(7).await,
        InAFlowOutcome::Default { amount: 7 }
    ));
    assert!(matches!(run(30).await, InAFlowOutcome::Rejected { .. }));
    assert!(matches!(run(90).await, InAFlowOutcome::Late));
}

#[node(writes = squares)]
async fn square(number: &u64) -> u64 {
    pause(number * 10).await;
    number * number
}

flow! {
    /// A loop over items and conditions in branches.
    OverItems(numbers: Vec<u64>, limit: u64) -> (squares: Option<Vec<u64>>) {
        node squares: for number in numbers { square };
        node outcome: first { wait(35ms) >> few, squares => "squared" };
        branch few(limit) { *limit < 10 => "few", else => "many" }
        start >> outcome;
        outcome - "squared" >> end;
        outcome - "few" >> end("few");
        outcome - "many" >> end("many");
    }
}

#[tokio::test(start_paused = true)]
async fn loops_pauses_and_conditions_stand_in_branches() {
    let run = async |numbers: &[u64], limit| {
        let input = OverItemsInput {
            numbers: numbers.to_vec(),
            limit,
        };
        OverItems::new().run(input).await.unwrap().into_outcome()
    };
    match run(&[1, 2], 1).await {
        OverItemsOutcome::Default { squares } => assert_eq!(squares, [1, 4]),
        other => panic!("{other:?}"),
    }
    assert!(matches!(run(&[1, 2, 3], 1).await, OverItemsOutcome::Few));
    assert!(matches!(run(&[1, 2, 3], 10).await, OverItemsOutcome::Many));
}

sources! {
    "races.rs":
    Faster => FasterAgain,
    InTime => InTimeAgain,
    Decides => DecidesAgain,
    AtOnce => AtOnceAgain,
    Keeps => KeepsAgain,
    OverItems => OverItemsAgain,
}

flow_law::law! {
    nodes: [fast, slow, draft, polish, review, check, recover, one, two, holds, measure, shout, notes, notes_late, next, square],
    flows: [
        Faster,
        InTime,
        Decides,
        AtOnce,
        Keeps,
        Rounds,
        InAFlow,
        OverItems,
    ],
}
