//! Executions that begin in the past of another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flow_durable::{Execution, Record, RecordKind, Runtime, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;
use serde_json::{Map, Value, json};

use crate::changed::Rows as _;
use crate::flows::{Name, Rounds, RoundsInput, take_effects};
use crate::gates::increase;
use crate::questions::{Release, ReleaseInput};
use crate::stores::{CrashAfter, Faulty};
use crate::support::{lines, minutes, pass, runtime, seen, settled, store};

/// The number of the first record of this kind and path.
async fn seq_of(execution: &Execution, kind: RecordKind, path: &str) -> u64 {
    let journal = execution.journal().await.unwrap();
    let found = journal
        .iter()
        .find(|record| record.kind == kind && record.path == path);
    found.unwrap_or_else(|| panic!("{}", lines(&journal))).seq
}

/// What becomes of one that begins in the past of another, with this record as its last.
async fn copied(runtime: &Runtime, execution: &Execution, seq: u64) -> Execution {
    let copy = runtime
        .executions()
        .copy(execution.id(), seq)
        .await
        .unwrap();
    copy.settled().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_execution_that_begins_in_the_past_of_another_one() {
    take_effects();
    let runtime = runtime(store(), Rounds::new());
    let execution = settled::<Rounds>(&runtime, RoundsInput { number: 10 }).await;
    let before = seen(&runtime, execution.id()).await;
    take_effects();
    let seq = seq_of(&execution, RecordKind::Outcome, "rounds.triple").await;
    pass(minutes(1)).await;
    let started = runtime
        .executions()
        .copy(execution.id(), seq)
        .await
        .unwrap();
    assert_eq!(started.copied_from(), Some(execution.id()));
    assert!(started.id() > execution.id());
    assert_eq!(started.updated_at(), started.created_at());
    let copy = started.settled().await.unwrap();
    assert_eq!(
        copy.output_json().unwrap(),
        execution.output_json().unwrap()
    );
    assert_eq!(
        copy.created_at()
            .duration_since(execution.created_at())
            .unwrap()
            .as_secs(),
        60
    );
    let steps = [
        format!("{}/rounds.triple#2", copy.id()),
        format!("{}/rounds.double", copy.id()),
    ];
    assert_eq!(take_effects(), steps, "what was done is not done again");
    let journal = copy.journal().await.unwrap();
    let length = usize::try_from(seq).unwrap() + 1;
    let of_another_time = |record: &Record| Record {
        at_ms: 0,
        ..record.clone()
    };
    assert!(
        journal[..length]
            .iter()
            .map(of_another_time)
            .eq(before.1[..length].iter().map(of_another_time))
    );
    assert_eq!(journal[length].kind, RecordKind::RunCopied);
    assert_eq!(
        journal[length].payload,
        json!({ "execution": execution.id(), "seq": seq }).to_string()
    );
    assert_eq!(seen(&runtime, execution.id()).await, before);
}

struct Switched {
    works: Arc<AtomicBool>,
}

#[node(writes = number)]
impl Switched {
    async fn exec(&self, number: &u64) -> Result<u64, String> {
        if self.works.load(Ordering::SeqCst) {
            Ok(number * 100)
        } else {
            Err("switched off".into())
        }
    }
}

flow! {
    Switch(number: u64) -> (number: u64) {
        node switched: Switched;
        start >> increase >> switched >> end;
    }
}

fn switch(works: &Arc<AtomicBool>) -> Switch {
    let works = works.clone();
    Switch::builder().switched(Switched { works }).build()
}

#[tokio::test(start_paused = true)]
async fn a_failed_execution_can_be_tried_again_from_before_its_failure() {
    let works = Arc::new(AtomicBool::new(false));
    let runtime = runtime(store(), switch(&works));
    let failed = settled::<Switch>(&runtime, SwitchInput { number: 1 }).await;
    assert_eq!(failed.status(), Status::Failed);
    works.store(true, Ordering::SeqCst);
    let before = seq_of(&failed, RecordKind::NodeStarted, "switch.switched").await;
    let again = copied(&runtime, &failed, before).await;
    assert_eq!(again.output::<Switch>().unwrap().unwrap().number, 200);

    let after = seq_of(&failed, RecordKind::NodeFailed, "switch.switched").await;
    let again = copied(&runtime, &failed, after).await;
    assert_eq!(
        (again.status(), again.reason()),
        (Status::Failed, failed.reason()),
        "the failure is recorded"
    );
    assert_eq!(failed.refreshed().await.unwrap().status(), Status::Failed);
}

flow! {
    Hurried(number: u64) -> (number: u64) {
        node switch: Switch with timeout = "1h";
        start >> switch >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_tried_again_later_has_its_time_again() {
    let works = Arc::new(AtomicBool::new(false));
    let flow = Hurried::builder().switch(switch(&works)).build();
    let runtime = runtime(store(), flow);
    let failed = settled::<Hurried>(&runtime, HurriedInput { number: 1 }).await;
    assert_eq!(failed.status(), Status::Failed);
    works.store(true, Ordering::SeqCst);
    pass(minutes(120)).await;
    let before = seq_of(&failed, RecordKind::NodeStarted, "hurried.switch.switched").await;
    let again = copied(&runtime, &failed, before).await;
    assert_eq!(again.reason(), None);
    assert_eq!(again.output::<Hurried>().unwrap().unwrap().number, 200);
}

flow! {
    Polls(number: u64) -> (found: u64) {
        node switched: Switched;
        start >> found >> switched >> end;
    }
}

thread_local! {
    static FOUND: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[node(poll(every = "10m", timeout = "1h"))]
fn found(number: &u64) -> Option<u64> {
    FOUND.get().then_some(*number)
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_is_tried_again_later_has_its_time_again() {
    FOUND.set(false);
    let flow = Polls::builder()
        .switched(Switched {
            works: Arc::new(AtomicBool::new(true)),
        })
        .build();
    let runtime = runtime(store(), flow);
    let failed = settled::<Polls>(&runtime, PollsInput { number: 1 }).await;
    assert_eq!(failed.status(), Status::Failed);
    pass(minutes(120)).await;
    let before = seq_of(&failed, RecordKind::NodeStarted, "polls.found").await;
    let again = runtime
        .executions()
        .copy(failed.id(), before)
        .await
        .unwrap();
    pass(minutes(5)).await;
    FOUND.set(true);
    let again = again.settled().await.unwrap();
    assert_eq!((again.status(), again.reason()), (Status::Completed, None));
}

#[node(writes = greeting)]
fn greet(name: &Name) -> String {
    format!("Hello, {}", name.name)
}

flow! {
    Greeting(number: u64) -> (greeting: String) {
        start >> Name >> greet >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_was_open_is_asked_anew() {
    let runtime = runtime(store(), Greeting::new());
    let execution = settled::<Greeting>(&runtime, GreetingInput { number: 4 }).await;
    let old = execution.questions().await.unwrap().remove(0);
    let seq = seq_of(&execution, RecordKind::Paused, "greeting.name").await;
    pass(minutes(1)).await;
    let copy = copied(&runtime, &execution, seq).await;
    assert_eq!(copy.status(), Status::Paused);
    let new = copy.questions().await.unwrap();
    assert_eq!(new.len(), 1);
    assert_ne!(new[0].token(), old.token());
    assert_eq!(
        (new[0].execution(), new[0].path(), new[0].prompt()),
        (copy.id(), old.path(), old.prompt())
    );
    assert_eq!(new[0].expected(), old.expected());
    let journal = copy.journal().await.unwrap();
    let asked = |record: &&Record| record.kind == RecordKind::Paused;
    assert_eq!(
        journal.iter().filter(asked).count(),
        1,
        "it is recorded once"
    );

    for (token, name) in [(new[0].token(), "Ann"), (old.token(), "Bo")] {
        let name = Name { name: name.into() };
        let execution = runtime
            .executions()
            .resume(token, name.clone())
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(
            execution.output::<Greeting>().unwrap().unwrap().greeting,
            format!("Hello, {}", name.name)
        );
    }
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Completed
    );
}

flow! {
    Patient(number: u64) -> (greeting: Option<String>) {
        node name: human Name with timeout = "1h";

        start >> name >> greet >> end;
        name - "timeout" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_asked_anew_twice_has_as_much_time_each_time() {
    let runtime = runtime(store(), Patient::new());
    let mut execution = settled::<Patient>(&runtime, PatientInput { number: 4 }).await;
    for _ in 0..3 {
        let question = execution.questions().await.unwrap().remove(0);
        let time = question
            .expires_at()
            .unwrap()
            .duration_since(question.asked_at());
        assert_eq!(time.unwrap(), minutes(60));
        pass(minutes(120)).await;
        let seq = seq_of(&execution, RecordKind::Paused, "patient.name").await;
        execution = copied(&runtime, &execution, seq).await;
        assert_eq!(execution.status(), Status::Paused);
    }
}

#[node]
async fn gives_up(number: &u64) -> Result<u64, String> {
    pass(minutes(1)).await;
    Err(format!("{number} is no good"))
}

flow! {
    Either(number: u64) -> () {
        node either: [Name, gives_up];
        start >> either >> end;
    }
}

flow! {
    /// Questions beside a step that fails, in a flow that is tried again and then without one, and a last one.
    Asks(number: u64) -> (greeting: String) {
        node tried: Either = Either::new() with retry(attempts = 2, wait = "1h");
        node beside: [Name, gives_up];
        node last: human Name;
        start >> tried >> beside >> greet >> end;
        tried - "error" >> beside;
        beside - "error" >> last >> greet;
    }
}

/// Those that were dropped when something beside them failed are no longer asked.
#[tokio::test(start_paused = true)]
async fn only_questions_that_were_open_are_asked_anew() {
    let runtime = runtime(store(), Asks::new());
    let execution = settled::<Asks>(&runtime, AsksInput { number: 4 }).await;
    let mut seen = Vec::new();
    for record in execution.journal().await.unwrap() {
        if let RecordKind::Paused | RecordKind::FlowFailed | RecordKind::NodeFinished = record.kind
        {
            let copy = runtime
                .executions()
                .copy(execution.id(), record.seq)
                .await
                .unwrap();
            let open = copy.questions().await.unwrap();
            let open: Vec<_> = open.iter().map(|question| question.step()).collect();
            seen.push(format!("{} {}: {open:?}", record.kind, record.step));
            runtime
                .executions()
                .cancel(copy.id(), "cancelled")
                .await
                .unwrap();
        }
    }
    assert_eq!(
        seen,
        [
            r#"paused asks.tried.either.name: ["asks.tried.either.name"]"#,
            "flow_failed asks.tried.either: []",
            "flow_failed asks.tried: []",
            r#"paused asks.tried~1.either.name: ["asks.tried~1.either.name"]"#,
            "flow_failed asks.tried~1.either: []",
            "flow_failed asks.tried~1: []",
            "node_finished asks.tried: []",
            r#"paused asks.beside.name: ["asks.beside.name"]"#,
            "flow_failed asks.beside: []",
            "node_finished asks.beside: []",
            r#"paused asks.last: ["asks.last"]"#,
        ]
    );
}

/// The key of the one that it begins in the past of stays with that one.
#[tokio::test(start_paused = true)]
async fn a_copy_of_an_execution_with_a_key_is_another_one() {
    let store = store();
    let runtime = runtime(store.clone(), Greeting::new());
    let start = async || {
        let options = StartOptions::new().idempotency_key("once");
        let started = runtime
            .executions()
            .start::<Greeting>(GreetingInput { number: 4 }, options);
        started.await.unwrap().settled().await.unwrap()
    };
    let execution = start().await;
    let copy = copied(&runtime, &execution, 1).await;
    assert_ne!(copy.id(), execution.id());
    assert_eq!(
        (copy.idempotency_key(), copy.status()),
        (None, Status::Paused)
    );
    assert_eq!(start().await.id(), execution.id());

    let failed = runtime
        .executions()
        .cancel(execution.id(), "cancelled")
        .await
        .unwrap();
    assert!(failed.reason().is_some());
    let copy = copied(&runtime, &failed, 1).await;
    assert_eq!(store.execution_row(copy.id()).await.result, None);
}

/// The values that a copy begins with.
fn values<const N: usize>(values: [(&str, Value); N]) -> Map<String, Value> {
    values
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// `triple` twice, from 10 to 90, and `double`.
async fn rounds(runtime: &Runtime) -> Execution {
    let execution = settled::<Rounds>(runtime, RoundsInput { number: 10 }).await;
    take_effects();
    execution
}

#[tokio::test(start_paused = true)]
async fn a_copy_with_other_values_goes_on_with_them() {
    let runtime = runtime(store(), Rounds::new());
    let execution = rounds(&runtime).await;
    let before = seen(&runtime, execution.id()).await;
    let tripled = seq_of(&execution, RecordKind::Outcome, "rounds.triple").await;
    let asked = values([("number", json!(20))]);
    for (seq, expected, ran) in [
        // The input.
        (0, 120, &["rounds.triple", "rounds.double"][..]),
        // `triple` has begun, and is still to run.
        (1, 120, &["rounds.triple", "rounds.double"]),
        // It is done: `large` decides by the other value.
        (tripled, 120, &["rounds.triple#2", "rounds.double"]),
    ] {
        let copy = runtime
            .executions()
            .copy_with(execution.id(), seq, asked.clone())
            .await;
        let copy = copy.unwrap().settled().await.unwrap();
        let output = copy.output::<Rounds>().unwrap().unwrap();
        assert_eq!(output.doubled, expected, "{seq}");
        let ran: Vec<_> = ran
            .iter()
            .map(|step| format!("{}/{step}", copy.id()))
            .collect();
        assert_eq!(take_effects(), ran, "{seq}");
        let journal = copy.journal().await.unwrap();
        let copied = journal
            .iter()
            .find(|record| record.kind == RecordKind::RunCopied);
        assert_eq!(
            copied.unwrap().payload,
            json!({ "execution": execution.id(), "seq": seq, "values": asked }).to_string()
        );
        assert_eq!(copy.copied_from(), Some(execution.id()));
    }
    assert_eq!(seen(&runtime, execution.id()).await, before);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_failed_is_tried_with_another_value() {
    let works = Arc::new(AtomicBool::new(false));
    let runtime = runtime(store(), switch(&works));
    let failed = settled::<Switch>(&runtime, SwitchInput { number: 1 }).await;
    let last = failed.journal().await.unwrap().len() as u64 - 1;
    works.store(true, Ordering::SeqCst);
    let copy = runtime
        .executions()
        .copy_with(failed.id(), last, values([("number", json!(7))]));
    let copy = copy.await.unwrap().settled().await.unwrap();
    assert_eq!(copy.output::<Switch>().unwrap().unwrap().number, 700);
}

/// The question belongs to the node that begins anew, and shows the other value.
#[tokio::test(start_paused = true)]
async fn a_question_is_asked_with_another_value() {
    let runtime = runtime(store(), Release::new());
    let input = ReleaseInput { version: 7 };
    let execution = settled::<Release>(&runtime, input).await;
    let copy = runtime
        .executions()
        .copy_with(execution.id(), 2, values([("version", json!(8))]));
    let copy = copy.await.unwrap().settled().await.unwrap();
    let questions = copy.questions().await.unwrap();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].prompt(), "Deploy 8?");
}

#[tokio::test(start_paused = true)]
async fn other_values_that_cannot_be_are_all_refused() {
    let runtime = runtime(store(), Rounds::new());
    let execution = rounds(&runtime).await;
    let count = async || {
        runtime
            .executions()
            .list(flow_durable::ListOptions::new())
            .await
            .unwrap()
            .len()
    };
    let refused = async |seq, asked| {
        let copy = runtime
            .executions()
            .copy_with(execution.id(), seq, asked)
            .await;
        let Err(RuntimeError::Unchangeable {
            reasons, seq: at, ..
        }) = copy
        else {
            panic!("{copy:?}")
        };
        assert_eq!(at, seq);
        reasons
    };
    let asked = values([
        ("number", json!("ten")),
        ("numbr", json!(1)),
        ("doubled", json!(1)),
    ]);
    assert_eq!(
        refused(1, asked).await,
        [
            "`number`: invalid type: string \"ten\", expected u64",
            "the flow has no value `numbr` there: did you mean `number`?",
            "the flow has no value `doubled` there: there is `number`",
        ]
    );
    let last = execution.journal().await.unwrap().len() as u64 - 1;
    assert_eq!(
        refused(last, values([("number", json!(1))])).await,
        ["the flow is at its end there, and no node could use them"]
    );
    let nested = (0..100).fold(json!([]), |inner, _| json!([inner]));
    assert_eq!(
        refused(1, values([("number", nested)])).await,
        ["`number`: it is nested 101 levels deep, and at most 100 can be stored"]
    );
    let error = runtime
        .executions()
        .copy_with(execution.id(), last + 1, Map::new())
        .await;
    assert!(
        matches!(error, Err(RuntimeError::NoRecord { .. })),
        "{error:?}"
    );
    assert_eq!(count().await, 1);
}

/// Wherever the process of such a copy crashes, another one comes to the same.
#[tokio::test(start_paused = true)]
async fn a_copy_with_other_values_survives_every_crash() {
    for appends in 0.. {
        let store = store();
        let first = runtime(store.clone(), Rounds::new());
        let execution = rounds(&first).await;
        first.shut_down().await;
        let failing = Faulty::new(&store, CrashAfter::appends(appends));
        let second = runtime(failing.clone(), Rounds::new());
        let tripled = seq_of(&execution, RecordKind::Outcome, "rounds.triple").await;
        let asked = values([("number", json!(20))]);
        let copy = second
            .executions()
            .copy_with(execution.id(), tripled, asked)
            .await
            .unwrap();
        let settled = copy.settled().await;
        second.shut_down().await;
        pass(minutes(1)).await;
        let third = runtime(store, Rounds::new());
        third.recover().await.unwrap();
        let copy = third
            .executions()
            .get(copy.id())
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(copy.output::<Rounds>().unwrap().unwrap().doubled, 120);
        if settled.is_ok() {
            assert!(appends >= 2, "it crashed {appends} times");
            break;
        }
    }
}

flow_law::law! {
    nodes: [found, greet, gives_up, increase, Name],
    flows: [
        Greeting,
        Patient,
        Either,
        Asks,
    ],
    left_out: [Switch, Hurried, Polls],
}
