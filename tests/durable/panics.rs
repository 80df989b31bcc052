//! Panics of nodes, which are failed attempts, and what halts an execution.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flow_durable::{Runtime, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;

use crate::support::{Shared, lines, runtime, seen, settled, store};

/// Panics this many times.
#[derive(Clone, Default)]
pub(crate) struct Bug(Arc<AtomicUsize>);

impl Bug {
    pub(crate) fn times(times: usize) -> Self {
        Bug(Arc::new(AtomicUsize::new(times)))
    }

    /// How often it panics still.
    pub(crate) fn left(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn bite(&self) {
        let left = |left: usize| left.checked_sub(1);
        let bitten = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, left);
        assert!(bitten.is_err(), "no bread");
    }
}

#[derive(Clone)]
struct Bake {
    bug: Bug,
}

#[node(writes = bread, retry(attempts = 3))]
impl Bake {
    fn exec(&self, number: &u32) -> Result<u32, String> {
        self.bug.bite();
        Ok(number + 1)
    }
}

#[derive(Clone)]
struct BakeOnce {
    bug: Bug,
}

#[node(writes = bread)]
impl BakeOnce {
    fn exec(&self, number: &u32) -> Result<u32, String> {
        self.bug.bite();
        Ok(number + 1)
    }
}

#[derive(Clone)]
struct Prepare {
    bug: Bug,
}

#[node(writes = bread)]
impl Prepare {
    fn prep(&self, number: &u32) -> Result<u32, String> {
        self.bug.bite();
        Ok(*number)
    }

    fn exec(&self, number: &u32) -> u32 {
        number + 1
    }
}

#[derive(Clone)]
struct FallsBack {
    bug: Bug,
}

#[node(writes = bread, retry(attempts = 2))]
impl FallsBack {
    fn exec(&self, number: &u32) -> Result<u32, String> {
        self.bug.bite();
        Ok(number + 1)
    }

    fn exec_fallback(&self, error: &NodeError) -> u32 {
        assert_eq!(error.panicked().unwrap().message, "no bread");
        0
    }
}

#[derive(Clone)]
struct Sure {
    bug: Bug,
}

#[node(writes = bread)]
impl Sure {
    fn exec(&self, number: &u32) -> u32 {
        self.bug.bite();
        number + 1
    }
}

#[node(writes = said)]
fn said(error: &NodeError) -> String {
    assert!(error.panicked().is_some(), "{error}");
    format!("{error:#}")
}

macro_rules! routed {
    ($flow:ident, $node:ident) => {
        flow! {
            $flow(number: u32) -> (bread: Option<u32>, said: Option<String>) {
                node bake: $node;
                start >> bake >> end;
                bake - "error" >> said >> end("undone");
            }
        }
    };
}

routed!(Retried, Bake);
routed!(Once, BakeOnce);
routed!(Prepared, Prepare);

flow! {
    Saved(number: u32) -> (bread: u32) {
        node bake: FallsBack;
        start >> bake >> end;
    }
}

flow! {
    Unrouted(number: u32) -> (bread: u32) {
        node bake: Bake;
        start >> bake >> end;
    }
}

flow! {
    Inner(number: u32) -> (bread: u32) {
        node bake: Bake;
        node sure: Sure;
        start >> sure >> bake >> end;
    }
}

flow! {
    Around(number: u32) -> (bread: Option<u32>, said: Option<String>) {
        node inner: Inner with retry(attempts = 2);
        start >> inner >> end;
        inner - "error" >> said >> end("undone");
    }
}

flow! {
    Loaves(numbers: Vec<u32>) -> (loaves: Vec<u32>) {
        node bake: Bake;
        node loaves: for number in numbers { bake } with spread(1);
        start >> loaves >> end;
    }
}

flow! {
    RoutedLoaves(numbers: Vec<u32>) -> (loaves: Option<Vec<u32>>, said: Option<String>) {
        node bake: Bake;
        node loaves: for number in numbers { bake } with spread(1);
        start >> loaves >> end;
        loaves - "error" >> said >> end("undone");
    }
}

flow! {
    KeptLoaves(numbers: Vec<u32>) -> (loaves: Vec<Result<u32, NodeError>>) {
        node bake: Bake;
        node loaves: for number in numbers { bake } with spread(1), collect_errors;
        start >> loaves >> end;
    }
}

macro_rules! with_bug {
    ($flow:ident, $node:ident, $times:expr) => {{
        let bug = Bug::times($times);
        $flow::builder().bake($node { bug }).build()
    }};
}

async fn said_by<F: flow_durable::DurableFlow>(flow: F, input: F::Input) -> (F::Output, String) {
    let runtime = runtime(store(), flow);
    let execution = settled::<F>(&runtime, input).await;
    assert_eq!(execution.status(), Status::Completed);
    let output = execution.output::<F>().unwrap().unwrap();
    (output, lines(&execution.journal().await.unwrap()))
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failed_attempt() {
    let flow = with_bug!(Retried, Bake, 2);
    let (output, journal) = said_by(flow, RetriedInput { number: 1 }).await;
    assert_eq!((output.bread, output.said), (Some(2), None));
    assert_eq!(
        journal,
        r#"run_started retried {"number":1}
node_started retried.bake 
attempt_failed retried.bake panicked: no bread
attempt_failed retried.bake panicked: no bread
outcome retried.bake 2
node_finished retried.bake default
flow_ended retried default
run_completed retried {"bread":2,"end":"default"}
"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_panic_after_the_last_attempt_goes_where_an_error_goes() {
    let flow = with_bug!(Retried, Bake, 3);
    let (output, journal) = said_by(flow, RetriedInput { number: 1 }).await;
    let said = "node `retried.bake` failed after 3 attempts: panicked: no bread";
    assert_eq!((output.bread, output.said.as_deref()), (None, Some(said)));
    let failed =
        r#"node_failed retried.bake {"path":"retried.bake","attempts":3,"panicked":"no bread"}"#;
    assert!(journal.contains(failed), "{journal}");

    let flow = with_bug!(Once, BakeOnce, 1);
    let (output, journal) = said_by(flow, OnceInput { number: 1 }).await;
    let said = "node `once.bake` failed after 1 attempt: panicked: no bread";
    assert_eq!((output.bread, output.said.as_deref()), (None, Some(said)));
    let attempt = "attempt_failed once.bake panicked: no bread\n";
    assert_eq!(journal.matches(attempt).count(), 1, "{journal}");

    let flow = with_bug!(Prepared, Prepare, 1);
    let (output, _) = said_by(flow, PreparedInput { number: 1 }).await;
    let said = "node `prepared.bake` failed after 1 attempt: panicked: no bread";
    assert_eq!((output.bread, output.said.as_deref()), (None, Some(said)));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_takes_a_panic() {
    let flow = with_bug!(Saved, FallsBack, 2);
    let (output, _) = said_by(flow, SavedInput { number: 1 }).await;
    assert_eq!(output.bread, 0);
}

fn around(sure: usize, bake: usize) -> Around {
    let (sure, bake) = (Bug::times(sure), Bug::times(bake));
    let inner = Inner::builder().sure(Sure { bug: sure });
    let inner = inner.bake(Bake { bug: bake }).build();
    Around::builder().inner(inner).build()
}

#[tokio::test(start_paused = true)]
async fn a_flow_is_tried_again_after_a_panic_inside() {
    for (sure, bake, bread) in [(1, 0, Some(2)), (0, 3, Some(2)), (1, 3, None), (0, 6, None)] {
        let (output, _) = said_by(around(sure, bake), AroundInput { number: 1 }).await;
        assert_eq!(output.bread, bread, "{sure} {bake}");
        assert_eq!(output.said.is_some(), bread.is_none(), "{sure} {bake}");
    }
}

fn unrouted(store: &Shared, times: usize) -> Runtime {
    runtime(store.clone(), with_bug!(Unrouted, Bake, times))
}

#[tokio::test(start_paused = true)]
async fn a_panic_that_nothing_routes_halts_and_the_last_attempt_is_made_again() {
    let store = store();
    let first = unrouted(&store, 4);
    let input = UnroutedInput { number: 1 };
    let started = first
        .executions()
        .start::<Unrouted>(input, StartOptions::new())
        .await;
    let started = started.unwrap();
    let id = started.id();
    let halted = started.settled().await.unwrap_err();
    assert!(matches!(halted, RuntimeError::Halted { .. }), "{halted}");
    let reason = "node `unrouted.bake` panicked: no bread";
    assert!(halted.to_string().ends_with(reason), "{halted}");
    let (status, journal, _) = seen(&first, id).await;
    assert_eq!(status, Status::Running);
    let before = r#"run_started unrouted {"number":1}
node_started unrouted.bake 
attempt_failed unrouted.bake panicked: no bread
attempt_failed unrouted.bake panicked: no bread
"#;
    assert_eq!(lines(&journal), before);
    // It has one attempt each time.
    assert_eq!(first.recover().await.unwrap().resumed, [id]);
    started.settled().await.unwrap_err();
    assert_eq!(lines(&seen(&first, id).await.1), before);
    first.shut_down().await;

    let second = unrouted(&store, 0);
    assert_eq!(second.recover().await.unwrap().resumed, [id]);
    let done = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(done.output::<Unrouted>().unwrap().unwrap().bread, 2);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_part_goes_where_the_loop_says() {
    let numbers = vec![1, 2];
    let flow = with_bug!(RoutedLoaves, Bake, 6);
    let input = RoutedLoavesInput {
        numbers: numbers.clone(),
    };
    let (output, _) = said_by(flow, input).await;
    assert_eq!(output.loaves, None);
    assert!(
        output
            .said
            .unwrap()
            .ends_with("after 3 attempts: panicked: no bread")
    );

    let flow = with_bug!(KeptLoaves, Bake, 3);
    let input = KeptLoavesInput {
        numbers: numbers.clone(),
    };
    let runtime = runtime(store(), flow);
    let execution = settled::<KeptLoaves>(&runtime, input).await;
    let output = execution.output::<KeptLoaves>().unwrap().unwrap();
    let panicked = |loaf: &Result<u32, NodeError>| {
        let error = loaf.as_ref().err()?;
        error.panicked().map(|panicked| panicked.message.clone())
    };
    let panicked: Vec<_> = output.loaves.iter().filter_map(panicked).collect();
    assert_eq!(panicked, ["no bread"]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_part_that_nothing_routes_halts_the_part() {
    let store = store();
    let first = runtime(store.clone(), with_bug!(Loaves, Bake, 3));
    let input = LoavesInput {
        numbers: vec![1, 2],
    };
    let started = first
        .executions()
        .start::<Loaves>(input, StartOptions::new())
        .await;
    let started = started.unwrap();
    let halted = started.settled().await.unwrap_err();
    let RuntimeError::Halted { execution, .. } = &halted else {
        panic!("{halted}");
    };
    assert_ne!(*execution, started.id(), "a part");
    first.shut_down().await;
    let second = runtime(store, with_bug!(Loaves, Bake, 0));
    assert!(second.recover().await.unwrap().refused.is_empty());
    let done = second.executions().get(started.id()).await.unwrap();
    let done = done.settled().await.unwrap();
    assert_eq!(done.output::<Loaves>().unwrap().unwrap().loaves, [2, 3]);
}

flow_law::law! {
    nodes: [said],
    flows: [
    ],
    left_out: [
        Retried, Once, Prepared, Saved, Unrouted, Inner, Around, Loaves, RoutedLoaves, KeptLoaves,
    ],
}
