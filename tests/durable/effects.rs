//! What returns an error has not happened, and what has happened returns no error.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use flow_durable::{
    Execution, ListOptions, RecordKind, Runtime, RuntimeError, RuntimeOptions, StartOptions,
    Status, Store,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::executions::{Short, ShortInput};
use crate::flows::take_effects;
use crate::gates::{Gate, Stops, StopsInput};
use crate::stores::{Broken, Fault, Faulty, Torn};
use crate::support::{Shared, clock, lines, options, outcomes, pass, runtime, settled, store};

#[node(human = "Number {number}?", writes = answer)]
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Choice {
    value: u64,
}

#[node(writes = sum)]
fn add(number: &u64, answer: &Choice) -> u64 {
    number + answer.value
}

flow! {
    Asks(number: u64) -> (sum: u64) {
        start >> Choice >> add >> end;
    }
}

/// A paused execution in a store that can be made to fail.
async fn asked() -> (Shared, std::sync::Arc<Faulty<Broken>>, Runtime, Execution) {
    let shared = store();
    let flaky = Faulty::new(&shared, Broken::default());
    let runtime = runtime(flaky.clone(), Asks::new());
    let execution = settled::<Asks>(&runtime, AsksInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Paused);
    (shared, flaky, runtime, execution)
}

async fn sum(execution: &Execution) -> u64 {
    execution.output::<Asks>().unwrap().unwrap().sum
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_stored_is_no_error_though_the_execution_cannot_go_on_here() {
    for method in ["claim", "append"] {
        let (_, flaky, runtime, execution) = asked().await;
        let token = execution.questions().await.unwrap()[0].token();
        flaky.fault.fail(method);
        runtime
            .executions()
            .resume(token, json!({ "value": 5 }))
            .await
            .unwrap();
        let error = execution.settled().await;
        assert!(
            matches!(error, Err(RuntimeError::Store { .. })),
            "{error:?}"
        );
        flaky.fault.mend();
        runtime.recover().await.unwrap();
        let execution = runtime.executions().get(execution.id()).await.unwrap();
        assert_eq!(sum(&execution.settled().await.unwrap()).await, 6);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_accepted_though_the_reply_of_the_store_was_lost() {
    let (_, flaky, runtime, execution) = asked().await;
    let token = execution.questions().await.unwrap()[0].token();
    flaky.fault.fail("settle");
    let error = runtime
        .executions()
        .resume(token, json!({ "value": 5 }))
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::Store { .. }), "{error}");
    let execution = execution.refreshed().await.unwrap();
    assert_eq!(execution.questions().await.unwrap().len(), 1);

    flaky.fault.mend();
    flaky.fault.lose_reply("settle");
    let execution = runtime
        .executions()
        .resume(token, json!({ "value": 7 }))
        .await
        .unwrap();
    assert_eq!(sum(&execution.settled().await.unwrap()).await, 8);
}

#[tokio::test(start_paused = true)]
async fn a_start_that_fails_leaves_no_execution_and_one_that_is_stored_succeeds() {
    let shared = store();
    let flaky = Faulty::new(&shared, Broken::default());
    let runtime = runtime(flaky.clone(), Short::new());
    let start = async || {
        let input = ShortInput { number: 1 };
        runtime
            .executions()
            .start::<Short>(input, StartOptions::new())
            .await
    };
    flaky.fault.fail("create");
    assert!(start().await.is_err());
    assert!(
        runtime
            .executions()
            .list(ListOptions::new())
            .await
            .unwrap()
            .is_empty()
    );

    flaky.fault.mend();
    flaky.fault.lose_reply("create");
    let execution = start().await.unwrap().settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);

    runtime.shut_down().await;
    let error = start().await.unwrap_err();
    assert!(matches!(error, RuntimeError::ShutDown(_)), "{error}");
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
async fn a_copy_that_is_stored_is_no_error_though_it_cannot_go_on_here() {
    let (_, flaky, runtime, execution) = asked().await;
    flaky.fault.fail("create");
    assert!(runtime.executions().copy(execution.id(), 1).await.is_err());
    assert_eq!(
        runtime
            .executions()
            .list(ListOptions::new())
            .await
            .unwrap()
            .len(),
        1
    );

    flaky.fault.mend();
    flaky.fault.fail("claim");
    let copy = runtime.executions().copy(execution.id(), 1).await.unwrap();
    assert_eq!(copy.copied_from(), Some(execution.id()));
    flaky.fault.mend();
    runtime.recover().await.unwrap();
    let copy = runtime.executions().get(copy.id()).await.unwrap();
    assert_eq!(copy.settled().await.unwrap().status(), Status::Paused);

    flaky.fault.lose_reply("create");
    let copy = runtime.executions().copy(execution.id(), 1).await.unwrap();
    assert_eq!(copy.settled().await.unwrap().status(), Status::Paused);
    assert_eq!(
        runtime
            .executions()
            .list(ListOptions::new())
            .await
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test(start_paused = true)]
async fn a_copy_has_all_of_a_history_that_is_pruned_while_it_is_read() {
    let shared = store();
    let torn = Faulty::new(&shared, Torn::default());
    let runtime = runtime(torn.clone(), Short::new());
    let execution = settled::<Short>(&runtime, ShortInput { number: 1 }).await;
    let outcome = execution
        .journal()
        .await
        .unwrap()
        .into_iter()
        .find(|record| record.kind == RecordKind::Outcome)
        .unwrap();
    let last = shared.records(execution.id(), 0, 100).await.unwrap().len() as u64 - 1;
    torn.fault.tear();
    let error = runtime
        .executions()
        .state(execution.id(), last)
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::Unreadable { .. }), "{error}");
    torn.fault.tear();
    assert!(
        runtime
            .executions()
            .copy(execution.id(), last)
            .await
            .is_err()
    );
    // What is loaded first is whole, and the history that is copied is torn once.
    torn.fault.tear_second();
    let copy = runtime
        .executions()
        .copy(execution.id(), last)
        .await
        .unwrap();
    let copy = copy.settled().await.unwrap();
    let journal = copy.journal().await.unwrap();
    assert_eq!(journal[outcome.seq as usize].payload, outcome.payload);
    let copied = journal.iter().find(|it| it.kind == RecordKind::RunCopied);
    assert_eq!(copied.unwrap().seq, last, "all but its end is copied");
    assert_eq!(
        copy.output_json().unwrap(),
        execution.output_json().unwrap()
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_answered_is_not_expired() {
    let (shared, _, first, execution) = asked().await;
    let token = execution.questions().await.unwrap()[0].token();
    first.shut_down().await;
    // The answer comes to a process that cannot go on with the execution, and nobody else is there
    // for an hour.
    let flaky = Faulty::new(&shared, Broken::default());
    let second = runtime(flaky.clone(), Asks::new());
    flaky.fault.fail("claim");
    second
        .executions()
        .resume(token, json!({ "value": 5 }))
        .await
        .unwrap();
    pass(Duration::from_secs(3600)).await;
    let expired = second
        .executions()
        .expire(Duration::from_secs(60))
        .await
        .unwrap();
    assert!(expired.is_empty(), "{expired:?}");
    flaky.fault.mend();
    second.recover().await.unwrap();
    let execution = second.executions().get(execution.id()).await.unwrap();
    assert_eq!(sum(&execution.settled().await.unwrap()).await, 6);
}

#[tokio::test(start_paused = true)]
async fn a_shut_down_gives_up_each_execution_once() {
    let shared = store();
    let flaky = Faulty::new(&shared, Broken::default());
    let gate = Gate::closed();
    let runtime = runtime(flaky.clone(), Stops::builder().gated(gate.node(1)).build());
    for number in 0..200 {
        let input = StopsInput { number };
        let started = runtime
            .executions()
            .start::<Stops>(input, StartOptions::new());
        started.await.unwrap();
    }
    pass(Duration::from_secs(1)).await;
    let before = flaky.fault.calls("append");
    runtime.shut_down().await;
    assert_eq!(flaky.fault.calls("append") - before, 200);
    assert_eq!(gate.dropped(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_recovery_reads_what_is_due_page_by_page() {
    let shared = store();
    let flaky = Faulty::new(&shared, Broken::default());
    let first = Runtime::with_options(shared.clone(), options());
    let gate = Gate::closed();
    let flow = || Stops::builder().gated(gate.node(1)).build();
    first.register(flow()).unwrap();
    for number in 0..2500 {
        let input = StopsInput { number };
        let started = first
            .executions()
            .start::<Stops>(input, StartOptions::new());
        started.await.unwrap();
    }
    first.shut_down().await;
    let second = runtime(flaky.clone(), flow());
    let recovered = second.recover().await.unwrap();
    assert_eq!(
        (recovered.resumed.len(), recovered.refused.len()),
        (2500, 0)
    );
    assert_eq!(
        flaky.fault.calls("due"),
        4,
        "pages of 1000, and one that is empty"
    );
    second.shut_down().await;
}

/// Panics when it is dropped, if it is told to.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Bomb {
    armed: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.armed && !std::thread::panicking() {
            panic!("a value that does not want to be dropped");
        }
    }
}

/// Holds a value that panics when the step is dropped before it is done.
#[node(writes = held)]
async fn hold(number: &u64) -> u64 {
    let _bomb = Bomb { armed: true };
    tokio::time::sleep(Duration::from_secs(3600)).await;
    std::mem::forget(_bomb);
    *number
}

flow! {
    Holds(number: u64) -> (held: u64) {
        start >> hold >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_panics_when_it_is_dropped_keeps_nobody_waiting() {
    let store = store();
    let first = runtime(store.clone(), Holds::new());
    let execution = first
        .executions()
        .start::<Holds>(HoldsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_secs(1)).await;
    first.shut_down().await;
    let error = execution.settled().await.unwrap_err();
    assert!(matches!(error, RuntimeError::ShutDown(_)), "{error}");
    let second = runtime(store, Holds::new());
    let recovered = second.recover().await.unwrap();
    assert_eq!(recovered.resumed, [execution.id()]);
    let execution = second.executions().get(execution.id()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
}

#[test]
fn an_execution_whose_tokio_runtime_has_ended_is_taken_over() {
    let process = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let (store, gate) = (store(), Gate::closed());
    let flow = || Stops::builder().gated(gate.node(1)).build();
    let lease = Duration::from_secs(30);
    let outer = process();
    let (first, execution) = outer.block_on(async {
        let options = RuntimeOptions::new().clock(clock()).lease(lease);
        (Runtime::with_options(store.clone(), options), ())
    });
    let () = execution;
    first.register(flow()).unwrap();
    let inner = process();
    let execution = inner.block_on(async {
        let started = first
            .executions()
            .start::<Stops>(StopsInput { number: 1 }, StartOptions::new());
        let execution = started.await.unwrap();
        pass(Duration::from_secs(1)).await;
        execution
    });
    drop(inner);
    outer.block_on(async {
        let error = execution.settled().await.unwrap_err();
        assert!(matches!(error, RuntimeError::TaskEnded(_)), "{error}");
        gate.open();
        // The same process goes on with it when it is asked to.
        let recovered = first.recover().await.unwrap();
        assert_eq!(recovered.resumed, [execution.id()]);
        let execution = execution.settled().await.unwrap();
        assert_eq!(execution.status(), Status::Completed);
        first.shut_down().await;
    });
    take_effects();
}

/// What [`Store::execution`] has to say of a status.
#[tokio::test(start_paused = true)]
async fn a_cancellation_whose_reply_was_lost_has_happened_or_not() {
    let (shared, flaky, runtime, execution) = asked().await;
    flaky.fault.fail("end");
    let error = runtime
        .executions()
        .cancel(execution.id(), "cancelled")
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::Store { .. }), "{error}");
    let row = shared.execution(execution.id()).await.unwrap().unwrap();
    assert_eq!(row.status, Status::Paused);
    flaky.fault.mend();
    flaky.fault.lose_reply("end");
    let cancelled = runtime
        .executions()
        .cancel(execution.id(), "cancelled")
        .await
        .unwrap();
    assert_eq!(cancelled.status(), Status::Cancelled);
}

/// Takes a second for what others do at once.
#[derive(Debug)]
pub(crate) struct Tardy;

impl Fault for Tardy {
    fn writes_late(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn settles_late(&self) -> Duration {
        Duration::from_secs(2)
    }
}

#[node]
async fn works(number: &u64) -> u64 {
    pass(Duration::from_millis(1500)).await;
    *number
}

flow! {
    Beside(number: u64) -> (sum: u64) {
        start >> [Choice, works] >> add >> end;
    }
}

/// A run pauses when what its other branches did is written.
#[tokio::test(start_paused = true)]
async fn nothing_is_lost_that_takes_long_to_write() {
    let shared = store();
    let runtime = runtime(Faulty::new(&shared, Tardy), Beside::new());
    let execution = settled::<Beside>(&runtime, BesideInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Paused);
    let journal = execution.journal().await.unwrap();
    assert_eq!(outcomes(&journal).len(), 1, "{}", lines(&journal));
    let token = execution.questions().await.unwrap()[0].token();
    let resumed = runtime
        .executions()
        .resume(token, json!({ "value": 5 }))
        .await
        .unwrap();
    let execution = resumed.settled().await.unwrap();
    assert_eq!(execution.output::<Beside>().unwrap().unwrap().sum, 6);
}

#[node]
async fn fails_meanwhile(number: &u64) -> Result<u64, String> {
    pass(Duration::from_millis(59_500)).await;
    Err(format!("{number} is no good"))
}

flow! {
    Dropped(number: u64) -> (sum: Option<u64>) {
        node choice: human Choice with timeout = "1m";
        node fork: [choice, fails_meanwhile];
        start >> fork >> add >> end;
        fork - "error" >> works >> end("failed");
    }
}

/// It is found out that the time of a question is over while the run goes on without it.
#[tokio::test(start_paused = true)]
async fn a_question_that_is_dropped_while_its_time_ends_harms_nobody() {
    let runtime = runtime(Faulty::new(&store(), Tardy), Dropped::new());
    let run = settled::<Dropped>(&runtime, DroppedInput { number: 1 });
    let execution = tokio::time::timeout(Duration::from_secs(600), run).await;
    let execution = execution.expect("it is still run here");
    let output = execution.output::<Dropped>().unwrap().unwrap();
    assert_eq!(output.end, DroppedEnd::Failed);
}

#[node]
async fn wakes_later(number: &u64) -> u64 {
    poll_fn(|cx| {
        let waker = cx.waker().clone();
        tokio::spawn(async move {
            pass(Duration::from_millis(500)).await;
            waker.wake();
        });
        Poll::<()>::Pending
    })
    .await;
    *number
}

#[node]
async fn fails_soon(number: &u64) -> Result<u64, String> {
    pass(Duration::from_millis(100)).await;
    Err(format!("{number} is no good"))
}

flow! {
    Woken(number: u64) -> () {
        start >> [wakes_later, fails_soon] >> end;
    }
}

/// Somebody may still have a waker of a run that is over.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_woken_while_its_end_is_written_has_ended_all_the_same() {
    let runtime = runtime(Faulty::new(&store(), Tardy), Woken::new());
    let execution = settled::<Woken>(&runtime, WokenInput { number: 1 }).await;
    let reason = execution.reason().unwrap();
    assert!(reason.contains("1 is no good"), "{reason}");
}

flow! {
    Twice(number: u64) -> (sum: u64) {
        node first: human Choice;
        start >> first >> Choice >> add >> end;
    }
}

/// It could not go on here once, and did so elsewhere.
#[tokio::test(start_paused = true)]
async fn what_waits_for_people_again_is_no_error_though_it_could_not_go_on_here_before() {
    let shared = store();
    let flaky = Faulty::new(&shared, Broken::default());
    let first = runtime(flaky.clone(), Twice::new());
    let execution = settled::<Twice>(&first, TwiceInput { number: 1 }).await;
    let token = execution.questions().await.unwrap()[0].token();
    flaky.fault.fail("claim");
    first
        .executions()
        .resume(token, json!({ "value": 5 }))
        .await
        .unwrap();
    assert!(execution.settled().await.is_err());
    let second = runtime(shared, Twice::new());
    assert_eq!(second.recover().await.unwrap().resumed, [execution.id()]);
    pass(Duration::from_secs(1)).await;
    let paused = execution.settled().await.unwrap();
    let questions = paused.questions().await.unwrap();
    assert_eq!(questions[0].path(), "twice.choice");
}

/// What is given up is given up once, also if that fails at first.
#[tokio::test(start_paused = true)]
async fn what_could_not_be_given_up_at_first_is_given_up_once() {
    let (_, flaky, runtime, execution) = asked().await;
    let token = execution.questions().await.unwrap()[0].token();
    flaky.fault.fail("append");
    runtime
        .executions()
        .resume(token, json!({ "value": 5 }))
        .await
        .unwrap();
    assert!(execution.settled().await.is_err());
    flaky.fault.mend();
    let before = flaky.fault.calls("append");
    pass(Duration::from_secs(600)).await;
    assert_eq!(flaky.fault.calls("append") - before, 1);
}

#[tokio::test(start_paused = true)]
async fn a_runtime_that_is_gone_leaves_no_task_behind() {
    let runtime = runtime(store(), Patient::new());
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    let execution = settled::<Patient>(&runtime, PatientInput { number: 1 }).await;
    runtime.recover().await.unwrap();
    assert!(tasks() > before);
    drop((runtime, execution));
    // Claims are renewed every 10 s.
    pass(Duration::from_secs(11)).await;
    assert_eq!(tasks(), before);
}

flow! {
    Patient(number: u64) -> (sum: Option<u64>) {
        node choice: human Choice with timeout = "1h";
        start >> choice >> add >> end;
        choice - "timeout" >> end("late");
    }
}

/// A task of the runtime ends with the tokio runtime that it was spawned in, and there is another one then.
#[test]
fn in_another_tokio_runtime_executions_go_on_by_themselves_as_well() {
    let process = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let first = process();
    let runtime = first.block_on(async { runtime(store(), Patient::new()) });
    let ends = async || {
        let execution = settled::<Patient>(&runtime, PatientInput { number: 1 }).await;
        assert_eq!(execution.status(), Status::Paused);
        pass(Duration::from_secs(3601)).await;
        execution.refreshed().await.unwrap().status()
    };
    assert_eq!(first.block_on(ends()), Status::Completed);
    drop(first);
    assert_eq!(process().block_on(ends()), Status::Completed);
}

flow_law::law! {
    nodes: [Choice, add, hold, works, fails_meanwhile, wakes_later, fails_soon],
    flows: [
        Asks,
        Holds,
        Beside,
        Dropped,
        Woken,
        Twice,
        Patient,
    ],
}
