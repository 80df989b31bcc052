//! Steps are named by where they stand: what happens beside a step, or is dropped before it,
//! changes no name.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flow_durable::{Execution, RecordKind, Runtime, RuntimeError, StartOptions, Status, Token};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::flows::{take_effects, work};
use crate::support::{outcomes, pass, runtime, store};

/// Approves an order.
#[node(human = "Pay {charged}?", writes = name)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Sign {
    name: String,
}

/// Takes too long at the first attempt at the flow around it.
#[node(writes = reserved)]
async fn reserve(cx: &Context, order: &u64) -> u64 {
    let first = !cx.step_id().contains('~');
    work(cx, if first { 100 } else { 1 }).await;
    *order
}

#[node(writes = charged)]
async fn charge(cx: &Context, reserved: &u64) -> u64 {
    work(cx, 1).await;
    *reserved
}

flow! {
    Payment(order: u64) -> (charged: u64) {
        start >> reserve >> charge >> end;
    }
}

flow! {
    /// An order is charged in a flow whose first attempt takes too long, and a person approves it then.
    Order(order: u64) -> (name: Sign) {
        node payment: Payment = Payment::new() with timeout = "60ms", retry(attempts = 3);

        start >> payment >> Sign >> end;
    }
}

async fn answered(runtime: &Runtime, token: Token) -> Execution {
    let answer = json!({ "name": "Ann" });
    let execution = runtime.executions().resume(token, answer).await.unwrap();
    execution.settled().await.unwrap()
}

async fn token_of(execution: &Execution) -> Token {
    let questions = execution.questions().await.unwrap();
    assert_eq!(questions.len(), 1);
    questions[0].token()
}

#[tokio::test(start_paused = true)]
async fn an_order_is_charged_once_though_an_attempt_before_it_took_too_long() {
    let store = store();
    let first = runtime(store.clone(), Order::new());
    let input = OrderInput { order: 30 };
    let execution = first
        .executions()
        .start::<Order>(input, StartOptions::new())
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let token = token_of(&execution).await;
    let charged = format!("{}/order.payment~1.charge", execution.id());
    assert_eq!(
        take_effects()
            .iter()
            .filter(|step| **step == charged)
            .count(),
        1
    );
    first.shut_down().await;

    let second = runtime(store, Order::new());
    let execution = answered(&second, token).await;
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(take_effects(), Vec::<String>::new(), "it is charged once");
}

#[derive(Debug, Serialize, Deserialize, Action)]
enum Again {
    Again,
    Done,
}

/// Fails in the first round, so that the question beside it is dropped.
#[node(writes = check)]
async fn check(cx: &Context, round: &u64) -> Result<u64, String> {
    work(cx, 5).await;
    match round {
        0 => Err("not yet".to_owned()),
        _ => Ok(*round),
    }
}

#[node(writes = round)]
fn next_round(round: &u64) -> u64 {
    round + 1
}

#[node(actions = Again)]
fn enough(round: &u64) -> Again {
    match round {
        0..=2 => Again::Again,
        _ => Again::Done,
    }
}

#[node(human = "Round {round}?", writes = name)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Ask {
    name: String,
}

flow! {
    /// A fork with a question in a loop: the first round's fork fails before anybody can answer.
    Rounds(round: u64) -> (round: u64) {
        node fork: [check, Ask];

        start >> fork >> next_round >> enough;
        fork - "error" >> next_round;
        enough - "again" >> fork;
        enough - "done" >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_used_though_an_earlier_round_dropped_its_question() {
    let store = store();
    let mut runtimes = vec![runtime(store.clone(), Rounds::new())];
    let execution = runtimes[0]
        .executions()
        .start::<Rounds>(RoundsInput { round: 0 }, StartOptions::new())
        .await
        .unwrap();
    let mut execution = execution.settled().await.unwrap();
    for round in 1..=2 {
        assert_eq!(execution.status(), Status::Paused);
        let token = token_of(&execution).await;
        runtimes.last().unwrap().shut_down().await;
        runtimes.push(runtime(store.clone(), Rounds::new()));
        execution = answered(runtimes.last().unwrap(), token).await;
        let journal = execution.journal().await.unwrap();
        let answers = journal
            .iter()
            .filter(|record| record.kind == RecordKind::Resumed);
        assert_eq!(
            answers.count(),
            round,
            "the answer of round {round} is used"
        );
    }
    assert_eq!(execution.status(), Status::Completed);
    let journal = execution.journal().await.unwrap();
    let asked: Vec<&str> = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Paused)
        .map(|record| record.step.as_str())
        .collect();
    assert_eq!(
        asked,
        ["rounds.fork.ask", "rounds.fork#2.ask", "rounds.fork#3.ask"]
    );
    assert!(outcomes(&journal).values().all(|count| *count == 1));
}

#[node(writes = paid)]
async fn pay(cx: &Context, order: &u64) -> u64 {
    work(cx, 5).await;
    *order
}

#[node(writes = paid)]
async fn refund(cx: &Context, order: &u64) -> u64 {
    work(cx, 5).await;
    *order
}

/// What a condition should not depend on.
static SIDE: AtomicUsize = AtomicUsize::new(0);

flow! {
    /// Goes another way in a replay than it went before.
    Fickle(order: u64) -> (paid: u64, name: Ask) {
        branch side(order) {
            *order + SIDE.load(Ordering::Relaxed) as u64 == 30 => "pay",
            else => "refund",
        }
        node ask: human Ask { round <- order };

        start >> side;
        side - "pay" >> pay >> ask >> end;
        side - "refund" >> refund >> ask;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_goes_another_way_is_an_error_that_names_the_record() {
    let store = store();
    let first = runtime(store.clone(), Fickle::new());
    let execution = first
        .executions()
        .start::<Fickle>(FickleInput { order: 30 }, StartOptions::new())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let (id, token) = (execution.id(), token_of(&execution).await);
    first.shut_down().await;
    take_effects();
    let before = execution.journal().await.unwrap();

    SIDE.store(1, Ordering::Relaxed);
    let second = runtime(store.clone(), Fickle::new());
    let answer = json!({ "name": "Ann" });
    let error = second
        .executions()
        .resume(token, answer.clone())
        .await
        .unwrap_err();
    assert!(
        matches!(
            &error,
            RuntimeError::ReplayDiverged { execution, kind: RecordKind::Outcome, step, .. }
            if *execution == id && step == "fickle.pay"
        ),
        "{error}"
    );
    let text = error.to_string();
    assert!(text.contains("`outcome` of `fickle.pay`"), "{text}");
    pass(Duration::from_secs(1)).await;
    assert_eq!(take_effects(), Vec::<String>::new(), "no step has run");
    let error = second
        .executions()
        .state(id, before.len() as u64 - 1)
        .await
        .unwrap_err();
    assert!(
        matches!(error, RuntimeError::ReplayDiverged { .. }),
        "{error}"
    );
    let journal = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .journal()
        .await
        .unwrap();
    assert_eq!(journal, before, "the journal is as it was");
    second.shut_down().await;

    SIDE.store(0, Ordering::Relaxed);
    let third = runtime(store, Fickle::new());
    let answered = third.executions().resume(token, answer).await.unwrap();
    let execution = answered.settled().await.unwrap();
    assert_eq!(
        execution.status(),
        Status::Completed,
        "the question is there when the flow goes the same way again"
    );
}

flow! {
    Sided(order: u64) -> (paid: u64) {
        branch other_side(order) {
            *order + OTHER_SIDE.load(Ordering::Relaxed) as u64 == 30 => "pay",
            else => "refund",
        }

        start >> other_side;
        other_side - "pay" >> pay >> end;
        other_side - "refund" >> refund >> end;
    }
}

/// What a condition should not depend on.
static OTHER_SIDE: AtomicUsize = AtomicUsize::new(0);

flow! {
    /// Goes another way beside a question.
    Beside(order: u64) -> (paid: u64, name: Ask) {
        node ask: human Ask { round <- order };

        start >> [Sided, ask] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_goes_another_way_is_an_error_also_beside_an_answer() {
    let store = store();
    let first = runtime(store.clone(), Beside::new());
    let execution = first
        .executions()
        .start::<Beside>(BesideInput { order: 30 }, StartOptions::new())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let token = token_of(&execution).await;
    first.shut_down().await;
    take_effects();

    OTHER_SIDE.store(1, Ordering::Relaxed);
    let second = runtime(store, Beside::new());
    let answered = second.executions().resume(token, json!({ "name": "Ann" }));
    let answered = tokio::time::timeout(Duration::from_secs(60), answered);
    let error = answered.await.expect("it does not hang").unwrap_err();
    assert!(
        matches!(&error, RuntimeError::ReplayDiverged { step, .. } if step == "beside.fork.sided.pay"),
        "{error}"
    );
    assert_eq!(take_effects(), Vec::<String>::new(), "no step has run");
}

flow_law::law! {
    nodes: [Sign, reserve, charge, check, next_round, enough, Ask, pay, refund],
    flows: [
        Payment,
        Order,
        Rounds,
    ],
    left_out: [Fickle, Sided, Beside],
}
