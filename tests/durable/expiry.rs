//! Questions that are to be answered in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use flow_durable::{
    ExecutionId, Runtime, RuntimeError, RuntimeOptions, StartOptions, Status, StoreError, Token,
};
use flow_runtime::prelude::*;

use crate::changed::Rows as _;
use crate::gates::{Gate, Stops, StopsInput, stops};
use crate::questions::{Approval, approved, deploy};
use crate::stores::{Fault, Faulty};
use crate::support::{assert_no_token, lines, minutes, pass, runtime, seen, settled, store};

const MILLISECOND: Duration = Duration::from_millis(1);

flow! {
    Hurried(version: u32) -> (report: Option<String>) {
        node approval: human Approval with timeout = "10m";
        start >> approval;
        approval - "approved" >> deploy >> end;
        approval - "refused" >> end("refused");
        approval - "timeout" >> end("late");
    }
}

async fn hurried(runtime: &Runtime) -> (ExecutionId, Token) {
    let execution = settled::<Hurried>(runtime, HurriedInput { version: 7 }).await;
    let question = execution.questions().await.unwrap().remove(0);
    let time = question
        .expires_at()
        .unwrap()
        .duration_since(question.asked_at())
        .unwrap();
    assert_eq!(time, minutes(10));
    (execution.id(), question.token())
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_in_time() {
    let runtime = runtime(store(), Hurried::new());
    runtime.recover().await.unwrap();
    let (_, token) = hurried(&runtime).await;
    pass(minutes(10) - Duration::from_millis(1)).await;
    let execution = runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(
        execution.output::<Hurried>().unwrap().unwrap().end,
        HurriedEnd::Default
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_changes_nothing() {
    let runtime = runtime(store(), Hurried::new());
    let (id, token) = hurried(&runtime).await;
    pass(minutes(10)).await;
    let before = seen(&runtime, id).await;
    assert_eq!(before.0, Status::Paused);
    let error = runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap_err();
    let RuntimeError::Expired { execution, path } = &error else {
        panic!("{error}")
    };
    assert_eq!((*execution, &**path), (id, "hurried.approval"));
    assert_no_token(&error, token);
    assert_eq!(seen(&runtime, id).await, before);
}

/// D-33
#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_in_time_goes_where_that_is_routed() {
    let runtime = runtime(store(), Hurried::new());
    runtime.recover().await.unwrap();
    let (id, token) = hurried(&runtime).await;
    pass(minutes(10) - Duration::from_secs(1)).await;
    assert_eq!(
        runtime.executions().get(id).await.unwrap().status(),
        Status::Paused
    );
    // A recovery is made every 10 s.
    pass(Duration::from_secs(12)).await;
    let execution = runtime.executions().get(id).await.unwrap();
    assert_eq!(
        execution.output::<Hurried>().unwrap().unwrap().end,
        HurriedEnd::Late
    );
    let journal = lines(&execution.journal().await.unwrap());
    let end = r#"resumed hurried.approval {"timedOut":true}
node_finished hurried.approval timeout
flow_ended hurried late
run_completed hurried {"end":"late"}
"#;
    assert!(journal.ends_with(end), "{journal}");
    let error = runtime
        .executions()
        .resume(token, approved())
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::Over { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_question_whose_time_is_over_at_a_restart_is_seen_by_the_recovery() {
    let store = store();
    let first = runtime(store.clone(), Hurried::new());
    let (id, _) = hurried(&first).await;
    first.shut_down().await;
    drop(first);
    pass(minutes(9)).await;
    let second = runtime(store.clone(), Hurried::new());
    assert!(second.recover().await.unwrap().resumed.is_empty());
    second.shut_down().await;
    pass(minutes(51)).await;
    let third = runtime(store, Hurried::new());
    assert_eq!(third.recover().await.unwrap().resumed, [id]);
    let execution = third
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(
        execution.output::<Hurried>().unwrap().unwrap().end,
        HurriedEnd::Late
    );
}

/// Somebody who has little time.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[node(human = "Quickly, {number}?", timeout = "10m")]
struct Quickly {
    yes: bool,
}

#[node]
async fn takes_long(number: &u64) -> u64 {
    tokio::time::sleep(minutes(60)).await;
    *number
}

flow! {
    Impatient(number: u64) -> (takes_long: Option<u64>) {
        node both: [Quickly, takes_long];
        start >> both >> end;
        both - "error" >> end("late");
    }
}

flow! {
    Unrouted(number: u64) -> () {
        start >> Quickly >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_to_answer_ends_while_others_work() {
    let runtime = runtime(store(), Impatient::new());
    let began = tokio::time::Instant::now();
    let execution = settled::<Impatient>(&runtime, ImpatientInput { number: 1 }).await;
    assert_eq!(
        execution.output::<Impatient>().unwrap().unwrap().end,
        ImpatientEnd::Late
    );
    assert_eq!(began.elapsed(), minutes(10));
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_in_time_fails_if_that_is_not_routed() {
    let runtime = runtime(store(), Unrouted::new());
    runtime.recover().await.unwrap();
    let execution = settled::<Unrouted>(&runtime, UnroutedInput { number: 1 }).await;
    pass(minutes(11)).await;
    let execution = execution.refreshed().await.unwrap();
    assert_eq!(execution.status(), Status::Failed);
    let reason = "node `unrouted.quickly` failed after 1 attempt: timed out after 600s";
    assert_eq!(execution.reason(), Some(reason));
}

/// Somebody who has no time at all.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[node(human = "At once, {number}?", timeout = "300ms")]
struct AtOnce {
    yes: bool,
}

/// Somebody who has as much time as it takes.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[node(human = "Whenever, {number}?")]
struct Whenever {
    yes: bool,
}

flow! {
    Several(number: u64) -> (takes_long: Option<u64>) {
        node all: [Whenever, wait(100ms) >> AtOnce, takes_long];
        start >> all >> end;
        all - "error" >> end("late");
    }
}

/// It was asked by then whether there are answers, and will be when half a second is over.
#[tokio::test(start_paused = true)]
async fn a_question_that_is_asked_later_and_expires_sooner_does_so_in_time() {
    let runtime = runtime(store(), Several::new());
    let execution = settled::<Several>(&runtime, SeveralInput { number: 1 }).await;
    let output = execution.output::<Several>().unwrap().unwrap();
    assert_eq!(output.end, SeveralEnd::Late);
    let took = execution
        .updated_at()
        .duration_since(execution.created_at())
        .unwrap();
    assert_eq!(took, Duration::from_millis(400));
}

flow! {
    Delayed(number: u64) -> () {
        start >> wait(1h) >> Whenever >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_over_wakes_nobody_who_waits_for_a_person() {
    let store = store();
    let first = runtime(store.clone(), Delayed::new());
    let execution = settled::<Delayed>(&first, DelayedInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Paused);
    let before = store.execution_row(execution.id()).await;
    pass(minutes(10)).await;
    let row = store.execution_row(execution.id()).await;
    assert_eq!(
        (row.wake_ms, row.fence),
        (None, before.fence),
        "nobody claims it again"
    );
}

/// Counts what is read.
#[derive(Debug, Default)]
struct Reads(AtomicUsize);

impl Fault for Reads {
    fn look(&self) -> Result<(), StoreError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_asks_nobody_looks_for_no_answers() {
    let gate = Gate::closed();
    let reading = Faulty::new(&store(), Reads::default());
    let runtime = runtime(reading.clone(), stops(&gate, 1));
    let started = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new());
    let started = started.await.unwrap();
    pass(minutes(10)).await;
    assert_eq!(
        (gate.runs(), reading.fault.0.load(Ordering::SeqCst)),
        (1, 0)
    );
    gate.open();
    assert_eq!(started.settled().await.unwrap().status(), Status::Completed);
}

flow_law::law! {
    nodes: [Quickly, takes_long, AtOnce, Whenever, Approval, deploy],
    flows: [
        Hurried,
        Impatient,
        Unrouted,
        Several,
        Delayed,
    ],
}

/// The clock passes the deadline between any two readings: whatever the store has taken is used, and
/// whatever is refused has no effect.
#[tokio::test(start_paused = true)]
async fn an_answer_at_the_deadline_is_taken_or_refused_and_never_both() {
    let mut taken = 0;
    for in_time in 0..12 {
        // How often the clock is read before the deadline, from when the answer is given on.
        let left = Arc::new(AtomicI64::new(i64::MAX));
        let (began, readings) = (SystemTime::now(), left.clone());
        let clock = move || match readings.load(Ordering::SeqCst) {
            i64::MAX => began,
            _ if readings.fetch_sub(1, Ordering::SeqCst) > 0 => began + minutes(10) - MILLISECOND,
            _ => began + minutes(10) + MILLISECOND,
        };
        let runtime = Runtime::with_options(store(), RuntimeOptions::new().clock(clock));
        runtime.register(Hurried::new()).unwrap();
        let (id, token) = hurried(&runtime).await;
        left.store(in_time, Ordering::SeqCst);
        let first = runtime.executions().resume(token, approved()).await;
        let second = runtime.executions().resume(token, Approval::Refused).await;
        runtime.recover().await.unwrap();
        let execution = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        let end = execution.output::<Hurried>().unwrap().unwrap().end;
        match &first {
            Ok(_) => {
                taken += 1;
                assert_eq!(end, HurriedEnd::Default, "{in_time}");
                assert!(second.is_err(), "{in_time}");
            }
            Err(RuntimeError::Expired { .. }) => assert_eq!(end, HurriedEnd::Late, "{in_time}"),
            Err(error) => panic!("{in_time}: {error}"),
        }
    }
    assert!((1..12).contains(&taken), "{taken} of 12 were in time");
}
