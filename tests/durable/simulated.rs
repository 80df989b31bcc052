//! What the simulation has found, each in the smallest flow that shows it.

use std::num::NonZeroUsize;
use std::time::Duration;

use flow_durable::{Record, RecordKind, Runtime, StartOptions, Status, Store};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::flows::work;
use crate::gates::{Gate, Gated, increase};
use crate::stores::{Faulty, NoRenewal};
use crate::support::{lines, minutes, options, pass, runtime, settled, store};

fn every_record(store: impl Store) -> Runtime {
    Runtime::with_options(store, options().snapshot_every(NonZeroUsize::MIN))
}

fn count(journal: &[Record], kind: RecordKind) -> usize {
    journal.iter().filter(|record| record.kind == kind).count()
}

/// Somebody who may not answer.
#[node(human = "{number}?", writes = name, timeout = "1m")]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Perhaps {
    name: String,
}

/// Somebody who will.
#[node(human = "And now?", writes = name)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Surely {
    name: String,
}

flow! {
    /// Two people are asked at the same time, and the time of both is over at the same time.
    Silence(number: u64) -> (last: Surely) {
        node one: human Perhaps { name -> first };
        node other: human Perhaps { name -> second };
        node fork: [one, other];
        node after: human Surely { name -> last };

        start >> fork >> after >> end;
        fork - "error" >> after;
    }
}

flow! {
    /// The same, and the run fails of it.
    Failure(number: u64) -> (first: Perhaps) {
        node one: human Perhaps { name -> first };
        node other: human Perhaps { name -> second };

        start >> [one, other] >> end;
    }
}

/// Of two branches that fail at once, one is the first. Of the other one nothing is recorded: the fork has failed by then.
#[tokio::test(start_paused = true)]
async fn of_two_branches_that_fail_at_once_the_first_one_is_recorded() {
    let store = store();
    let first = runtime(store.clone(), Silence::new());
    first.recover().await.unwrap();
    let execution = settled::<Silence>(&first, SilenceInput { number: 1 }).await;
    pass(minutes(2)).await;
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let journal = execution.journal().await.unwrap();
    assert_eq!(
        count(&journal, RecordKind::Resumed),
        1,
        "{}",
        lines(&journal)
    );
    let questions = execution.questions().await.unwrap();
    assert_eq!(questions.len(), 1);
    first.shut_down().await;

    let second = runtime(store, Silence::new());
    let answer = json!({ "name": "Ann" });
    let execution = second
        .executions()
        .resume(questions[0].token(), answer)
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    for record in &journal {
        second
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_two_branches_make_fail_at_once_is_looked_back_at() {
    let runtime = runtime(store(), Failure::new());
    runtime.recover().await.unwrap();
    let execution = settled::<Failure>(&runtime, FailureInput { number: 1 }).await;
    pass(minutes(2)).await;
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Failed);
    let journal = execution.journal().await.unwrap();
    for record in &journal {
        runtime
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
    }
    let last = journal.len() as u64 - 1;
    let again = runtime
        .executions()
        .copy(execution.id(), last)
        .await
        .unwrap();
    let again = again.settled().await.unwrap();
    assert_eq!(again.status(), Status::Failed);
    assert_eq!(again.reason(), execution.reason());
}

flow! {
    /// The same, and an attempt at a flow fails of it.
    Patience(number: u64) -> (last: Surely) {
        node failure: Failure = Failure::new() with retry(attempts = 2, wait = "1m");
        node after: human Surely { name -> last };

        start >> failure >> after >> end;
        failure - "error" >> after;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_whose_branches_fail_at_once_is_attempted_again() {
    let store = store();
    let first = runtime(store.clone(), Patience::new());
    first.recover().await.unwrap();
    let started = first
        .executions()
        .start::<Patience>(PatienceInput { number: 1 }, StartOptions::new());
    let id = started.await.unwrap().id();
    pass(Duration::from_secs(150)).await;
    let execution = first
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let questions = execution.questions().await.unwrap();
    assert_eq!(questions.len(), 2, "it asks them again");
    first.shut_down().await;

    let second = runtime(store, Patience::new());
    second.recover().await.unwrap();
    pass(minutes(2)).await;
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let questions = execution.questions().await.unwrap();
    let paths: Vec<_> = questions.iter().map(|question| question.path()).collect();
    assert_eq!(paths, ["patience.after"]);
}

#[node(writes = twice)]
async fn twice(cx: &Context, number: &u64) -> u64 {
    work(cx, 10).await;
    number * 2
}

#[node(writes = thrice)]
async fn thrice(cx: &Context, number: &u64) -> u64 {
    work(cx, 20).await;
    number * 3
}

#[node(writes = more)]
async fn more(cx: &Context, thrice: &u64) -> u64 {
    work(cx, 20).await;
    thrice + 1
}

flow! {
    Fork(number: u64) -> (twice: u64, more: u64) {
        start >> increase >> [twice, thrice >> more] >> end;
    }
}

/// A look that begins at a snapshot right before a fork.
#[tokio::test(start_paused = true)]
async fn the_past_of_a_fork_after_a_snapshot_can_be_looked_at() {
    let runtime = every_record(store());
    runtime.register(Fork::new()).unwrap();
    let execution = settled::<Fork>(&runtime, ForkInput { number: 1 }).await;
    for record in execution.journal().await.unwrap() {
        let state = runtime.executions().state(execution.id(), record.seq).await;
        state.unwrap_or_else(|error| panic!("{record:?}: {error}"));
    }
}

#[node]
async fn refuses(cx: &Context) -> Result<(), String> {
    work(cx, 10).await;
    Err("no".to_owned())
}

flow! {
    Refusal() {
        start >> refuses >> end;
    }
}

flow! {
    Refused() -> (name: Surely) {
        node refusal: Refusal = Refusal::new() with retry(attempts = 2);

        start >> refusal >> Surely >> end;
        refusal - "error" >> Surely;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_does_not_record_again_that_a_flow_failed() {
    let store = store();
    let first = runtime(store.clone(), Refused::new());
    let execution = settled::<Refused>(&first, RefusedInput {}).await;
    let before = count(
        &execution.journal().await.unwrap(),
        RecordKind::AttemptFailed,
    );
    let questions = execution.questions().await.unwrap();
    first.shut_down().await;

    let second = runtime(store, Refused::new());
    let answer = json!({ "name": "Ann" });
    let execution = second
        .executions()
        .resume(questions[0].token(), answer)
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    let journal = execution.journal().await.unwrap();
    assert_eq!(
        count(&journal, RecordKind::AttemptFailed),
        before,
        "{}",
        lines(&journal)
    );
}

flow! {
    Beside(number: u64) -> (passed: u64, name: Perhaps) {
        node gated: Gated;

        start >> [gated, Perhaps] >> end;
    }
}

/// The process that was taken for dead waits for an answer until its time is over. It has to find out that the question is
/// somebody else's, and not to ask the store for ever, which no other task would survive.
#[tokio::test(start_paused = true)]
async fn a_question_that_was_answered_in_another_process_is_not_looked_at_for_ever() {
    let (store, slow, quick) = (store(), Gate::closed(), Gate::closed());
    let beside = |gate: &Gate| Beside::builder().gated(gate.node(1)).build();
    let first = runtime(Faulty::new(&store, NoRenewal), beside(&slow));
    let started = first
        .executions()
        .start::<Beside>(BesideInput { number: 1 }, StartOptions::new())
        .await;
    let id = started.unwrap().id();
    pass(Duration::from_millis(31_200)).await; // between two looks for answers

    let second = runtime(store, beside(&quick));
    quick.open();
    assert_eq!(second.recover().await.unwrap().resumed, [id]);
    let questions = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .questions()
        .await
        .unwrap();
    let answer = json!({ "name": "Ann" });
    let execution = second
        .executions()
        .resume(questions[0].token(), answer)
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(slow.dropped(), 0);
    pass(minutes(2)).await;
    assert_eq!(slow.dropped(), 1, "it has found out");
}

flow_law::law! {
    nodes: [Perhaps, Surely, twice, thrice, more, refuses, increase],
    flows: [
        Silence,
        Failure,
        Patience,
        Fork,
        Refusal,
        Refused,
    ],
    left_out: [Beside],
}
