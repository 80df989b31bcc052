//! What a question does to its run, and who may answer it with what.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flow_durable::{
    EventFilter, Execution, ListOptions, RecordKind, Runtime, RuntimeError, RuntimeOptions,
    StartOptions, Status,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{assert_no_token, minutes, outcomes, pass, runtime, settled, store};

/// Whether to go on.
#[node(human = "Go on with {number}?")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum GoOn {
    Yes,
    No,
}

/// Has variants of the same names.
#[node(human = "Stop {number}?")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Stop {
    Yes,
    No,
}

flow! {
    Decide(number: u64) -> (number: u64) {
        start >> GoOn;
        GoOn - "yes" >> end;
        GoOn - "no" >> Stop;
        Stop - "yes" >> end("stopped");
        Stop - "no" >> end("kept");
    }
}

flow! {
    /// A question in a flow that has a timeout.
    Hurried(number: u64) -> (number: u64) {
        node decide: Decide = Decide::new() with timeout = "1h";

        start >> decide - "default" >> end;
        decide - "stopped" >> end("stopped");
        decide - "kept" >> end("kept");
        decide - "error" >> end("late");
    }
}

#[node(writes = waited)]
fn after_wait(number: &u64) -> u64 {
    number + 1
}

#[node(human = "Which number beside {number}?", writes = choice)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Beside {
    value: u64,
}

flow! {
    /// A wait beside a question.
    Waits(number: u64) -> (waited: u64, choice: Beside) {
        start >> [wait(2h) >> after_wait, Beside] >> end;
    }
}

async fn paused(runtime: &Runtime) -> Vec<flow_durable::ExecutionId> {
    let paused = ListOptions::new().status(Status::Paused);
    let executions = runtime.executions().list(paused).await.unwrap();
    executions.iter().map(Execution::id).collect()
}

#[tokio::test(start_paused = true)]
async fn a_question_in_a_flow_with_a_timeout_pauses_the_execution_until_then() {
    let store = store();
    let first = runtime(store.clone(), Hurried::new());
    let execution = settled::<Hurried>(&first, HurriedInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Paused);
    assert_eq!(paused(&first).await, [execution.id()]);

    // This process goes on with it when the time is over, and nobody has called `recover`.
    pass(minutes(59)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Paused
    );
    pass(minutes(2)).await;
    let execution = execution.refreshed().await.unwrap();
    let output = execution.output::<Hurried>().unwrap().unwrap();
    assert_eq!(output.end, HurriedEnd::Late);
    let journal = execution.journal().await.unwrap();
    let timed_out = journal
        .iter()
        .find(|record| record.kind == RecordKind::TimedOut);
    assert_eq!(timed_out.unwrap().step, "hurried.decide");

    // Another one does so as well.
    let execution = settled::<Hurried>(&first, HurriedInput { number: 2 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    first.shut_down().await;
    pass(minutes(61)).await;
    let second = runtime(store, Hurried::new());
    assert_eq!(second.recover().await.unwrap().resumed, [execution.id()]);
    let execution = second.executions().get(execution.id()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(
        execution.output::<Hurried>().unwrap().unwrap().end,
        HurriedEnd::Late
    );
    let error = second
        .executions()
        .resume(token, GoOn::Yes)
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::Over { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_within_the_timeout_of_a_flow_is_used() {
    let store = store();
    let first = runtime(store.clone(), Hurried::new());
    let execution = settled::<Hurried>(&first, HurriedInput { number: 1 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    first.shut_down().await;
    pass(minutes(30)).await;
    let second = runtime(store, Hurried::new());
    let execution = second.executions().resume(token, GoOn::No).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    let token = execution.questions().await.unwrap()[0].token();
    let execution = second.executions().resume(token, Stop::No).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(
        execution.output::<Hurried>().unwrap().unwrap().end,
        HurriedEnd::Kept
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_beside_a_question_goes_on_by_itself() {
    let runtime = runtime(store(), Waits::new());
    let execution = settled::<Waits>(&runtime, WaitsInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Paused);
    let token = execution.questions().await.unwrap()[0].token();
    pass(minutes(119)).await;
    assert!(outcomes(&execution.journal().await.unwrap()).is_empty());
    pass(minutes(2)).await;
    let done = outcomes(&execution.journal().await.unwrap());
    assert_eq!(done.len(), 1, "{done:?}");
    assert_eq!(paused(&runtime).await, [execution.id()]);
    let execution = runtime
        .executions()
        .resume(token, Beside { value: 9 })
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Waits>().unwrap().unwrap();
    assert_eq!((output.waited, output.choice.value), (2, 9));
}

#[tokio::test(start_paused = true)]
async fn a_value_of_another_type_is_no_answer_though_it_looks_the_same() {
    let runtime = runtime(store(), Decide::new());
    let execution = settled::<Decide>(&runtime, DecideInput { number: 1 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    let error = runtime
        .executions()
        .resume(token, Stop::Yes)
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, RuntimeError::WrongType { .. }) && text.ends_with("it is a `Stop`"),
        "{text}"
    );
    let execution = runtime
        .executions()
        .resume(token, json!("Yes"))
        .await
        .unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);

    // Nor is it one in a run without a store.
    let options = RunOptions::answer(|_: &flow_runtime::Question| Stop::Yes);
    let ended = Decide::new()
        .run_with(DecideInput { number: 1 }, options)
        .await;
    assert!(matches!(ended, Err(FlowError::Unanswered { .. })));
}

#[tokio::test(start_paused = true)]
async fn whoever_watches_an_execution_cannot_answer_its_questions() {
    let runtime = runtime(store(), Decide::new());
    let execution = settled::<Decide>(&runtime, DecideInput { number: 1 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    let asked = runtime.executions().resume(token, GoOn::No).await.unwrap();
    let asked = asked.settled().await.unwrap();
    let second = asked.questions().await.unwrap()[0].token();
    let late = runtime
        .executions()
        .resume(token, GoOn::No)
        .await
        .unwrap_err();
    assert_no_token(&late, token);

    let filter = EventFilter::new().from_offset(0).until_now();
    let mut events = runtime.executions().events(filter).await.unwrap();
    let mut shown = format!("{asked:?} {:?}", asked.journal().await.unwrap());
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        shown += &format!("{event:?} {}", event.to_json());
    }
    shown += &format!(
        "{:?}",
        runtime.executions().state(execution.id(), 5).await.unwrap()
    );
    assert!(shown.contains("Stop 1?"), "the prompts are there");
    for token in [token, second] {
        assert!(!shown.contains(&token.to_string()));
    }
    let question = &asked.questions().await.unwrap()[0];
    assert!(!format!("{question:?}").contains(&second.to_string()));
}

#[node]
fn deep(levels: &u64) -> Value {
    (0..*levels).fold(Value::Null, |inner, _| json!([inner]))
}

#[node(human = "What?", writes = told)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Told {
    value: Value,
}

#[node]
fn large(levels: &u64) -> u128 {
    match levels {
        0 => u128::from(u64::MAX),
        _ => u128::from(u64::MAX) + 1,
    }
}

flow! {
    Values(levels: u64) -> (deep: Value, large: u128, told: Told) {
        start >> deep >> large >> Told >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn values_that_could_not_be_read_back_are_refused_where_they_are_taken() {
    let runtime = runtime(store(), Values::new());
    let nested = |levels: u64| (0..levels).fold(Value::Null, |inner, _| json!([inner]));
    let error = async |levels| {
        let started = runtime
            .executions()
            .start::<Values>(ValuesInput { levels }, StartOptions::new());
        let execution = started.await.unwrap();
        execution.settled().await.unwrap_err()
    };
    for levels in [101, 124, 126, 127, 128, 200] {
        let error = error(levels).await;
        assert!(
            matches!(&error, RuntimeError::Unstorable { path, reason, .. }
                if path == "values.deep" && reason.contains("levels deep")),
            "{error}"
        );
    }
    let error = error(100).await;
    assert!(
        matches!(&error, RuntimeError::Unstorable { path, reason, .. }
            if path == "values.large" && reason.contains("64 bits")),
        "{error}"
    );

    let execution = settled::<Values>(&runtime, ValuesInput { levels: 0 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    for levels in [100, 124, 126, 200] {
        let answer = json!({ "value": nested(levels) });
        let error = runtime
            .executions()
            .resume(token, answer)
            .await
            .unwrap_err();
        assert!(
            matches!(error, RuntimeError::WrongType { .. }),
            "{levels}: {error}"
        );
    }
    let answer = json!({ "value": nested(99) });
    let execution = runtime.executions().resume(token, answer).await.unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Values>().unwrap().unwrap();
    assert_eq!(output.told.value, nested(99));
}

flow! {
    Taken(value: Value) -> (value: Value) {
        start >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_that_could_not_be_read_back_starts_nothing() {
    let runtime = runtime(store(), Taken::new());
    for (levels, fits) in [(100, true), (101, false), (126, false), (500, false)] {
        let value = (0..levels).fold(Value::Null, |inner, _| json!([inner]));
        let started = runtime
            .executions()
            .start::<Taken>(TakenInput { value }, StartOptions::new());
        assert_eq!(started.await.is_ok(), fits, "{levels}");
    }
    assert_eq!(
        runtime
            .executions()
            .list(ListOptions::new())
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn waits_and_questions_follow_the_same_clock() {
    let now = Arc::new(AtomicU64::new(1_800_000_000));
    let clock = {
        let now = now.clone();
        move || -> SystemTime { UNIX_EPOCH + Duration::from_secs(now.load(Ordering::Relaxed)) }
    };
    let runtime = Runtime::with_options(store(), RuntimeOptions::new().clock(clock));
    runtime.register(Later::new()).unwrap();
    let started = runtime
        .executions()
        .start::<Later>(LaterInput { number: 1 }, StartOptions::new());
    let execution = started.await.unwrap();
    // However long tokio's own clock runs: this one stands still.
    pass(minutes(300)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Paused
    );
    now.fetch_add(2 * 3600, Ordering::Relaxed);
    pass(Duration::from_secs(2)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Completed
    );
}

#[tokio::test(start_paused = true)]
async fn waits_and_questions_follow_tokios_clock_if_they_are_told_to() {
    let store = store();
    let process = || {
        let options = RuntimeOptions::new().tokio_clock();
        let runtime = Runtime::with_options(store.clone(), options);
        runtime.register(Later::new()).unwrap();
        runtime.register(Hurried::new()).unwrap();
        runtime
    };
    let first = process();
    let executions = first.executions();
    let waits = executions.start::<Later>(LaterInput { number: 1 }, StartOptions::new());
    let waits = waits.await.unwrap().id();
    pass(minutes(119)).await;
    let waits_still = executions.get(waits).await.unwrap();
    assert_eq!(waits_still.status(), Status::Paused);
    first.shut_down().await;

    // For another process as well.
    let second = process();
    second.recover().await.unwrap();
    pass(minutes(2)).await;
    let waited = second.executions().get(waits).await.unwrap();
    assert_eq!(waited.status(), Status::Completed);

    let asks = settled::<Hurried>(&second, HurriedInput { number: 1 }).await;
    assert_eq!(asks.status(), Status::Paused);
    pass(minutes(59)).await;
    let asked_still = asks.refreshed().await.unwrap();
    assert_eq!(asked_still.status(), Status::Paused);
    pass(minutes(2)).await;
    let late = asks.refreshed().await.unwrap();
    let output = late.output::<Hurried>().unwrap().unwrap();
    assert_eq!(output.end, HurriedEnd::Late);
}

flow! {
    Later(number: u64) -> (waited: u64) {
        start >> wait(2h) >> after_wait >> end;
    }
}

flow_law::law! {
    nodes: [GoOn, Stop, after_wait, Beside, deep, Told, large],
    flows: [
        Decide,
        Hurried,
        Waits,
        Taken,
        Later,
        Values { inputs: [json!({ "levels": 100 }), json!({ "levels": 101 })] },
    ],
}
