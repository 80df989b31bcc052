//! A run that is stopped anywhere ends as if it had not been.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use flow_durable::{
    DurableFlow, Execution, ExecutionId, OpenQuestion, Record, RecordKind, Runtime, RuntimeError,
    RuntimeOptions, SignalOptions, StartOptions, Status, Store,
};
use serde_json::{Value, json};

use crate::flows::{
    Doubled, DoubledInput, Forks, ForksInput, Items, ItemsInput, Nested, NestedInput, Party,
    PartyInput, Rounds, RoundsInput, Waits, WaitsInput, take_effects,
};
use crate::stores::{CrashAfter, Faulty};
use crate::support::{options, outcomes, store};
use crate::versions::Unused;

const LEASE: Duration = Duration::from_millis(60);

/// A snapshot after this many records.
fn quick_options(snapshot_every: usize) -> RuntimeOptions {
    options()
        .lease(LEASE)
        .snapshot_every(NonZeroUsize::new(snapshot_every).unwrap())
}

/// What people answer; nothing is no answer.
pub(crate) type Answers = fn(&OpenQuestion) -> Option<Value>;

/// The signal of this name that is sent after this many of them were taken; nothing is none.
pub(crate) type Signals = fn(&str, usize) -> Option<Value>;

/// What comes from outside.
#[derive(Clone, Copy)]
struct Outside {
    answers: Answers,
    signals: Signals,
}

impl From<Answers> for Outside {
    fn from(answers: Answers) -> Self {
        Outside {
            answers,
            signals: |_, _| None,
        }
    }
}

/// Sends the signals for which an execution waits. Each is sent once.
async fn send(
    execution: &Execution,
    runtime: &Runtime,
    signals: Signals,
) -> Result<(), RuntimeError> {
    let journal = execution.journal().await?;
    let of_kind = |kind| {
        journal
            .iter()
            .filter(move |record: &&Record| record.kind == kind)
    };
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for awaited in of_kind(RecordKind::Awaiting) {
        let name: Value = serde_json::from_str(&awaited.payload).unwrap();
        let name = name["signal"].as_str().unwrap().to_owned();
        let received = of_kind(RecordKind::Received).find(|record| record.step == awaited.step);
        let was_taken = received.is_some_and(|it| it.payload.contains("\"number\""));
        *taken.entry(name).or_default() += usize::from(was_taken);
    }
    for (name, count) in taken {
        if let Some(body) = signals(&name, count) {
            let key = SignalOptions::new().idempotency_key(format!("{name} {count}"));
            let executions = runtime.executions();
            executions
                .signal_json(execution.id(), &name, body, key)
                .await?;
        }
    }
    Ok(())
}

/// Answers what is asked, and sends what is awaited, until the execution is over.
async fn over(
    runtime: &Runtime,
    id: ExecutionId,
    outside: Outside,
) -> Result<Execution, RuntimeError> {
    loop {
        let execution = runtime.executions().get(id).await?;
        // A wait for a signal may end by itself.
        let settled = tokio::time::timeout(Duration::from_secs(1), execution.settled()).await;
        let execution = match settled {
            Ok(execution) => execution?,
            Err(_) => execution.refreshed().await?,
        };
        if execution.status().is_over() {
            return Ok(execution);
        }
        send(&execution, runtime, outside.signals).await?;
        for question in execution.questions().await? {
            if let Some(answer) = (outside.answers)(&question) {
                runtime
                    .executions()
                    .resume(question.token(), answer)
                    .await?;
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// What came of the steps, by path and visit.
fn values(journal: &[Record]) -> BTreeMap<String, String> {
    let is_outcome = |kind| matches!(kind, RecordKind::Outcome | RecordKind::NodeFailed);
    let outcomes = journal.iter().filter(|record| is_outcome(record.kind));
    outcomes
        .map(|record| (record.step.clone(), record.payload.clone()))
        .collect()
}

/// How an execution ended: its output or reason, and what came of its steps.
#[derive(Debug, PartialEq)]
struct Ending {
    status: Status,
    output: Option<Value>,
    reason: Option<String>,
}

async fn ending(execution: &Execution) -> Ending {
    Ending {
        status: execution.status(),
        output: execution.output_json().unwrap(),
        reason: execution.reason().map(str::to_owned),
    }
}

/// Asserts that each step has one outcome, which is that of the undisturbed run.
fn assert_same_values(undisturbed: &[Record], journal: &[Record], what: &dyn Debug) {
    assert!(
        journal
            .iter()
            .map(|record| record.seq)
            .eq(0..journal.len() as u64),
        "{what:?}"
    );
    assert!(
        outcomes(journal).values().all(|count| *count == 1),
        "{what:?}"
    );
    let expected = values(undisturbed);
    for (place, value) in values(journal) {
        if let Some(expected) = expected.get(&place) {
            assert_eq!(&value, expected, "{what:?}, {place:?}");
        }
    }
}

/// Runs a flow undisturbed; then once for each append, with a crash before it and another process that goes on; then from
/// each record of the undisturbed run. All that with snapshots seldom, often, and before every node. Returns the undisturbed
/// output.
pub(crate) async fn the_same_from_everywhere<F: DurableFlow>(
    flow: impl Fn() -> F,
    input: impl Fn() -> F::Input,
    answers: Answers,
) -> Value {
    the_same(&flow, &input, answers.into(), true).await
}

/// The same for a flow that waits for signals.
pub(crate) async fn the_same_with_signals<F: DurableFlow>(
    flow: impl Fn() -> F,
    input: impl Fn() -> F::Input,
    signals: Signals,
) -> Value {
    let outside = Outside {
        answers: |_| None,
        signals,
    };
    the_same(&flow, &input, outside, true).await
}

/// The same without what begins at each record: for flows in which that is too late for something.
pub(crate) async fn the_same_after_each_crash<F: DurableFlow>(
    flow: impl Fn() -> F,
    input: impl Fn() -> F::Input,
    answers: Answers,
) -> Value {
    the_same(&flow, &input, answers.into(), false).await
}

async fn the_same<F: DurableFlow>(
    flow: &impl Fn() -> F,
    input: &impl Fn() -> F::Input,
    outside: Outside,
    copies: bool,
) -> Value {
    let seldom = the_same_with_snapshots(flow, input, outside, copies, 256, &|_| {}).await;
    for every in [5, 1] {
        assert_eq!(
            the_same_with_snapshots(flow, input, outside, copies, every, &|_| {}).await,
            seldom
        );
    }
    seldom
}

/// The same if the flow is replaced as soon as an execution has started, and in the process that goes on.
pub(crate) async fn the_same_if_replaced<F: DurableFlow>(
    flow: impl Fn() -> F,
    input: impl Fn() -> F::Input,
    answers: Answers,
) -> Value {
    let replace = |runtime: &Runtime| runtime.add_version(Arc::new(Unused(F::NAME))).unwrap();
    the_same_with_snapshots(&flow, &input, answers.into(), true, 5, &replace).await
}

async fn the_same_with_snapshots<F: DurableFlow>(
    flow: &impl Fn() -> F,
    input: &impl Fn() -> F::Input,
    outside: Outside,
    copies: bool,
    every: usize,
    replace: &dyn Fn(&Runtime),
) -> Value {
    let counted = Faulty::new(&store(), CrashAfter::appends(usize::MAX));
    let runtime = Runtime::with_options(counted.clone(), quick_options(every));
    runtime.register(flow()).unwrap();
    runtime.recover().await.unwrap();
    let id = runtime
        .executions()
        .start::<F>(input(), StartOptions::new())
        .await
        .unwrap()
        .id();
    replace(&runtime);
    let undisturbed = over(&runtime, id, outside).await.unwrap();
    let (expected, journal) = (
        ending(&undisturbed).await,
        undisturbed.journal().await.unwrap(),
    );
    assert_eq!(expected.status, Status::Completed, "{expected:?}");
    assert_same_values(&journal, &journal, &"undisturbed");

    for appends in 0..counted.fault.made() {
        let store = store();
        let failing = Faulty::new(&store, CrashAfter::appends(appends));
        let first = Runtime::with_options(failing.clone(), quick_options(every));
        first.register(flow()).unwrap();
        let started = first
            .executions()
            .start::<F>(input(), StartOptions::new())
            .await;
        replace(&first);
        let listed = store.list(&Default::default()).await.unwrap();
        let id = listed[0].as_ref().unwrap().id;
        if started.is_ok() {
            // A paused execution does not show that it cannot go on.
            let crash = async {
                let _ = first.recover().await;
                while failing.fault.made() <= appends {
                    tokio::time::sleep(LEASE).await;
                }
            };
            tokio::select! {
                biased;
                () = crash => {}
                ended = over(&first, id, outside) => {
                    let error = ended.unwrap_err();
                    assert!(matches!(error, RuntimeError::Store { .. }), "after {appends} appends: {error}");
                }
            }
        }
        first.shut_down().await;
        drop(first);
        take_effects();
        let stored = store.records(id, 0, usize::MAX).await.unwrap();

        tokio::time::sleep(LEASE).await;
        let second = Runtime::with_options(store, quick_options(every));
        second.register(flow()).unwrap();
        replace(&second);
        second.recover().await.unwrap();
        let recovered = over(&second, id, outside).await.unwrap();
        let what = format!("after {appends} appends");
        assert_eq!(ending(&recovered).await, expected, "{what}");
        assert_same_values(&journal, &recovered.journal().await.unwrap(), &what);
        let effects = take_effects();
        for step in values(&stored).into_keys() {
            let step = format!("{id}/{step}");
            assert!(!effects.contains(&step), "{what}: `{step}` ran again");
        }
    }

    for record in journal.iter().filter(|_| copies) {
        let copy = runtime.executions().copy(id, record.seq).await.unwrap();
        let copied = over(&runtime, copy.id(), outside).await.unwrap();
        let what = format!("from {record:?}");
        assert_eq!(ending(&copied).await, expected, "{what}");
        let mut of_copy = copied.journal().await.unwrap();
        of_copy.retain(|record| record.kind != RecordKind::RunCopied);
        for (seq, record) in (0..).zip(&mut of_copy) {
            record.seq = seq;
        }
        assert_same_values(&journal, &of_copy, &what);
    }
    if copies {
        the_same_with_the_same_values(&runtime, &undisturbed, &expected, outside).await;
    }
    expected.output.unwrap()
}

/// A copy that continues with the values that there were ends as the original did.
async fn the_same_with_the_same_values(
    runtime: &Runtime,
    undisturbed: &Execution,
    expected: &Ending,
    outside: Outside,
) {
    let id = undisturbed.id();
    let journal = undisturbed.journal().await.unwrap();
    let namespace = &journal[0].path;
    let mut copied = 0;
    for record in &journal {
        let state = runtime.executions().state(id, record.seq).await.unwrap();
        let values = state.flows[namespace].clone();
        if values.is_empty() {
            continue;
        }
        let copy = match runtime.executions().copy_with(id, record.seq, values).await {
            Ok(copy) => copy,
            // At the end of the flow, and where the state is already that after a node.
            Err(RuntimeError::Unchangeable { .. }) => continue,
            Err(error) => panic!("{error}"),
        };
        let copy = over(runtime, copy.id(), outside).await.unwrap();
        let what = format!("with the values after {record:?}");
        assert_eq!(&ending(&copy).await, expected, "{what}");
        let mut of_copy = copy.journal().await.unwrap();
        assert!(
            of_copy
                .iter()
                .any(|record| record.kind == RecordKind::Snapshot)
        );
        of_copy.retain(|record| record.kind != RecordKind::RunCopied);
        for (seq, record) in (0..).zip(&mut of_copy) {
            record.seq = seq;
        }
        assert_same_values(&journal, &of_copy, &what);
        copied += 1;
    }
    assert!(copied * 2 > journal.len(), "{copied} of {}", journal.len());
}

fn nobody(_: &OpenQuestion) -> Option<Value> {
    None
}

#[tokio::test(start_paused = true)]
async fn a_chain_and_a_loop() {
    let output = the_same_from_everywhere(Rounds::new, || RoundsInput { number: 2 }, nobody).await;
    assert_eq!(output, json!({ "doubled": 108, "end": "default" }));
}

/// D-25
#[tokio::test(start_paused = true)]
async fn edges_that_give_keys_other_values() {
    let input = || DoubledInput {
        first: 2,
        limit: 50,
    };
    let output = the_same_from_everywhere(Doubled::new, input, nobody).await;
    let expected = json!({ "result": 144, "limit": 50, "end": "default" });
    assert_eq!(output, expected);
}

/// D-30, D-31
#[tokio::test(start_paused = true)]
async fn forks_whose_branches_fail_at_different_times() {
    let output = the_same_from_everywhere(Forks::new, || ForksInput { number: 1 }, nobody).await;
    let report = "node `forks.fails_early` failed after 1 attempt: early, at 14; 14";
    assert_eq!(output, json!({ "report": report, "end": "reported" }));
}

/// PF-35, D-11
#[tokio::test(start_paused = true)]
async fn loops_over_items() {
    let input = || ItemsInput {
        items: vec![0, 1, 3, 4, 5, 6],
    };
    let output = the_same_from_everywhere(Items::new, input, nobody).await;
    let failed_at = "items.strict[4]: 5 is refused";
    assert_eq!(
        output,
        json!({ "total": 124, "failed_at": failed_at, "end": "failed" })
    );
}

/// D-28, D-36
#[tokio::test(start_paused = true)]
async fn flows_in_flows_that_are_tried_again() {
    let output = the_same_from_everywhere(Nested::new, || NestedInput { number: 1 }, nobody).await;
    let report = "3006, node `nested.stuck.stuck` failed after 1 attempt: timed out after 50ms";
    assert_eq!(output, json!({ "report": report, "end": "stuck" }));
}

/// AF-12, D-33
#[tokio::test(start_paused = true)]
async fn waits_and_what_takes_too_long() {
    let output = the_same_from_everywhere(Waits::new, || WaitsInput { number: 1 }, nobody).await;
    let report = "3, node `waits.slow` failed after 1 attempt: timed out after 500ms";
    assert_eq!(
        output,
        json!({ "report": report, "number": 3, "end": "slow" })
    );
}

/// AF-13, A-030
#[tokio::test(start_paused = true)]
async fn questions() {
    fn answers(question: &OpenQuestion) -> Option<Value> {
        match question.prompt() {
            "Who is number 1?" => Some(json!({ "name": "Ann" })),
            "Does Ben come?" => Some(json!({ "Yes": { "with": 2 } })),
            "Does Cid come?" => Some(json!("No")),
            "Does Dan come?" => Some(json!({ "Yes": { "with": 0 } })),
            _ => None,
        }
    }
    let input = || PartyInput {
        number: 1,
        guests: ["Ben", "Cid", "Dan"].map(str::to_owned).into(),
        guest: "Eve".to_owned(),
    };
    let output = the_same_from_everywhere(Party::new, input, answers).await;
    assert_eq!(output, json!({ "count": 10, "seats": 10, "end": "late" }));
}
