//! What is recorded, and what a recovery does with it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_durable::{RecordKind, Runtime, StartOptions, Status, StoreError};
use flow_runtime::prelude::*;

use crate::stores::{Faulty, Refusing};
use crate::support::{Calls, lines, options, settled, store};

#[node]
fn double(number: &u64) -> u64 {
    number * 2
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, Action)]
enum Size {
    Small { rest: u64 },
    Large,
}

#[node(actions = Size)]
fn compare(double: &u64) -> Size {
    if *double < 100 {
        Size::Small { rest: 100 - double }
    } else {
        Size::Large
    }
}

#[node(writes = number)]
fn grow(number: &u64, rest: &u64) -> u64 {
    number + rest
}

flow! {
    Grow(number: u64) -> (double: u64) {
        start >> double >> compare;
        compare - "small" >> grow >> double;
        compare - "large" >> end("done");
    }
}

#[tokio::test(start_paused = true)]
async fn every_step_is_recorded_with_its_outcome() {
    let runtime = Runtime::with_options(store(), options());
    runtime.register(Grow::new()).unwrap();
    let execution = settled::<Grow>(&runtime, GrowInput { number: 30 }).await;
    assert_eq!(execution.status(), Status::Completed);
    let output = execution.output::<Grow>().unwrap().unwrap();
    assert_eq!((output.double, output.end), (140, GrowEnd::Done));
    let journal = execution.journal().await.unwrap();
    assert_eq!(
        lines(&journal),
        r#"run_started grow {"number":30}
node_started grow.double 
outcome grow.double 60
node_finished grow.double default
node_started grow.compare 
outcome grow.compare {"Small":{"rest":40}}
node_finished grow.compare small
node_started grow.grow 
outcome grow.grow 70
node_finished grow.grow default
node_started grow.double#2 
outcome grow.double#2 140
node_finished grow.double#2 default
node_started grow.compare#2 
outcome grow.compare#2 "Large"
node_finished grow.compare#2 large
flow_ended grow done
run_completed grow {"double":140,"end":"done"}
"#
    );
    assert!(journal.iter().map(|record| record.seq).eq(0..18));
}

/// Stops at the gate until it is told to go on.
struct Gate {
    calls: Calls,
    open: tokio::sync::watch::Receiver<bool>,
}

#[node(writes = passed)]
impl Gate {
    async fn exec(&self, double: &u64) -> u64 {
        self.calls.call("gate");
        let mut open = self.open.clone();
        open.wait_for(|open| *open).await.unwrap();
        *double
    }
}

struct Counted {
    calls: Calls,
}

#[node(writes = counted)]
impl Counted {
    fn exec(&self, number: &u64) -> u64 {
        self.calls.call("counted");
        *number
    }
}

flow! {
    Gated(number: u64) -> (passed: u64) {
        node counted: Counted;
        node gate: Gate;
        start >> counted >> double >> gate >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn another_process_goes_on_where_the_first_one_stopped() {
    let (store, calls) = (store(), Calls::default());
    let (opened, open) = tokio::sync::watch::channel(false);
    let flow = || {
        Gated::builder()
            .counted(Counted {
                calls: calls.clone(),
            })
            .gate(Gate {
                calls: calls.clone(),
                open: open.clone(),
            })
            .build()
    };

    let first = Runtime::with_options(store.clone(), options());
    first.register(flow()).unwrap();
    let id = first
        .executions()
        .start::<Gated>(GatedInput { number: 4 }, StartOptions::new())
        .await
        .unwrap()
        .id();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((calls.of("counted"), calls.of("gate")), (1, 1));
    first.shut_down().await;

    opened.send(true).unwrap();
    let second = Runtime::with_options(store, options());
    second.register(flow()).unwrap();
    let recovered = second.recover().await.unwrap();
    assert_eq!(recovered.resumed, [id]);
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Gated>().unwrap().unwrap().passed, 8);
    assert_eq!(
        (calls.of("counted"), calls.of("gate")),
        (1, 2),
        "only the step under way runs again"
    );
    let journal = lines(&execution.journal().await.unwrap());
    let once = r#"run_started gated {"number":4}
node_started gated.counted 
outcome gated.counted 4
node_finished gated.counted default
node_started gated.double 
outcome gated.double 8
node_finished gated.double default
node_started gated.gate 
outcome gated.gate 8
node_finished gated.gate default
flow_ended gated default
run_completed gated {"#;
    assert!(
        journal.starts_with(once),
        "nothing is recorded again: {journal}"
    );
}

/// Notes what it is told.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn on_event(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

/// What grows in a runtime whose store refuses what concerns this path is told this.
async fn told_with_refused(from_path: &'static str) -> Vec<String> {
    let refusing = Refusing {
        refuses: AtomicBool::new(true),
        from_path,
        reason: || StoreError::Other("the disk is away".into()),
    };
    let notes = Arc::new(Notes::default());
    let options = options().observer(notes.clone());
    let runtime = Runtime::with_options(Faulty::new(&store(), refusing), options);
    runtime.register(Grow::new()).unwrap();
    let started = runtime
        .executions()
        .start::<Grow>(GrowInput { number: 60 }, StartOptions::new());
    let settled = started.await.unwrap().settled().await;
    assert_eq!(settled.is_ok(), from_path == "nowhere");
    notes.0.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn an_observer_hears_that_a_node_is_done_once_that_is_stored() {
    let told = [
        "grow.double started",
        "grow.double finished: default",
        "grow.compare started",
        "grow.compare finished: large",
        "grow ended: done",
    ];
    assert_eq!(told_with_refused("nowhere").await, told);
    assert_eq!(told_with_refused("grow.double").await, told[..1]);
    // It is where the outcome before it is.
    assert_eq!(told_with_refused("grow.compare").await, told[..1]);
    assert_eq!(told_with_refused("grow").await, told[..3]);
}

#[node]
fn refuses(number: &u64) -> Result<u64, String> {
    Err(format!("{number} is no good"))
}

flow! {
    Refusal(number: u64) -> (refuses: u64) {
        start >> double >> refuses >> end;
    }
}

flow! {
    Insists(number: u64) -> (refuses: Option<u64>) {
        node refusal: Refusal = Refusal::new() with retry(attempts = 3, wait = "1h");
        start >> refusal >> end;
        refusal - "error" >> end("refused");
    }
}

/// A replay comes to the failures of a flow again, of which the journal and the observer know.
#[tokio::test(start_paused = true)]
async fn a_failed_attempt_at_a_flow_is_recorded_and_told_once() {
    let (store, notes) = (store(), Arc::new(Notes::default()));
    let process = || {
        let options = options().observer(notes.clone());
        let runtime = Runtime::with_options(store.clone(), options);
        runtime.register(Insists::new()).unwrap();
        runtime
    };
    let mut runtime = process();
    let started = runtime
        .executions()
        .start::<Insists>(InsistsInput { number: 1 }, StartOptions::new());
    let id = started.await.unwrap().id();
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_secs(25 * 60)).await;
        runtime.shut_down().await;
        runtime = process();
        assert!(runtime.recover().await.unwrap().refused.is_empty());
    }
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let output = execution.output::<Insists>().unwrap().unwrap();
    assert_eq!(output.end, InsistsEnd::Refused);
    let journal = execution.journal().await.unwrap();
    let failed = |path: &str| {
        let failed = journal.iter().filter(|record| record.path == path);
        let failed = failed.filter(|record| record.kind == RecordKind::AttemptFailed);
        failed.map(|record| record.attempt).collect::<Vec<_>>()
    };
    assert_eq!(failed("insists.refusal"), [0, 1, 2]);
    assert_eq!(failed("insists.refusal.refuses"), [0; 3]);
    let flow_failed = journal
        .iter()
        .filter(|record| record.kind == RecordKind::FlowFailed);
    let flow_failed: Vec<_> = flow_failed
        .map(|record| (&*record.step, record.attempt))
        .collect();
    assert_eq!(
        flow_failed,
        [
            ("insists.refusal", 0),
            ("insists.refusal~1", 1),
            ("insists.refusal~2", 2)
        ]
    );
    let told = notes.0.lock().unwrap().clone();
    let told = told
        .iter()
        .filter(|line| line.starts_with("insists.refusal attempt"));
    assert_eq!(told.count(), 3);
}

flow! {
    Doubling(number: u64) -> (double: u64) {
        start >> double >> end;
    }
}

flow! {
    Tries(number: u64) -> (double: Option<u64>) {
        node doubling: Doubling = Doubling::new() with retry(attempts = 2);
        start >> doubling >> wait(1h) >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_inside_that_has_ended_is_recorded_and_told_once() {
    let (store, notes) = (store(), Arc::new(Notes::default()));
    let process = || {
        let options = options().observer(notes.clone());
        let runtime = Runtime::with_options(store.clone(), options);
        runtime.register(Tries::new()).unwrap();
        runtime
    };
    let first = process();
    let started = first
        .executions()
        .start::<Tries>(TriesInput { number: 1 }, StartOptions::new());
    let id = started.await.unwrap().id();
    tokio::time::sleep(Duration::from_secs(60)).await;
    first.shut_down().await;
    let second = process();
    second.recover().await.unwrap();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let journal = execution.journal().await.unwrap();
    let ended = journal
        .iter()
        .filter(|record| record.kind == RecordKind::FlowEnded);
    let ended: Vec<_> = ended.map(|record| &*record.step).collect();
    assert_eq!(ended, ["tries.doubling", "tries"]);
    let told = notes.0.lock().unwrap().clone();
    let told: Vec<_> = told.iter().filter(|line| line.contains("ended")).collect();
    assert_eq!(
        told,
        ["tries.doubling ended: default", "tries ended: default"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_observer_hears_that_a_run_has_failed_once_that_is_stored() {
    let notes = Arc::new(Notes::default());
    let runtime = Runtime::with_options(store(), options().observer(notes.clone()));
    runtime.register(Refusal::new()).unwrap();
    let execution = settled::<Refusal>(&runtime, RefusalInput { number: 1 }).await;
    assert_eq!(execution.status(), Status::Failed);
    assert_eq!(
        notes.0.lock().unwrap().last().unwrap(),
        &format!("refusal failed: {}", execution.reason().unwrap())
    );
}

/// Knows of which steps it was told that they have started.
#[derive(Debug, Default)]
struct Begun(Mutex<Vec<String>>);

impl Observer for Begun {
    fn on_event(&self, event: &Event<'_>) {
        if matches!(event.kind(), EventKind::NodeStarted) {
            self.0.lock().unwrap().push(event.path().to_string());
        }
    }
}

struct Asks {
    begun: Arc<Begun>,
}

#[node(writes = known)]
impl Asks {
    fn exec(&self, number: &u64) -> bool {
        let begun = self.begun.0.lock().unwrap();
        *number > 0 && begun.last().is_some_and(|path| path == "told.asks")
    }
}

flow! {
    Told(number: u64) -> (known: bool) {
        node asks: Asks;
        start >> wait(1h) >> asks >> end;
    }
}

/// The last record before it is stored already: there is nothing to wait for.
#[tokio::test(start_paused = true)]
async fn an_observer_hears_that_a_step_has_started_before_it_does_anything() {
    let begun = Arc::new(Begun::default());
    let runtime = Runtime::with_options(store(), options().observer(begun.clone()));
    let flow = Told::builder().asks(Asks { begun }).build();
    runtime.register(flow).unwrap();
    let execution = settled::<Told>(&runtime, ToldInput { number: 1 }).await;
    assert!(execution.output::<Told>().unwrap().unwrap().known);
}

flow_law::law! {
    nodes: [double, compare, grow, refuses],
    flows: [
        Grow,
        Refusal,
        Insists,
        Doubling,
        Tries,
    ],
    left_out: [Gated, Told],
}
