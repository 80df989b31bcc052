//! Executions that have failed, and are tried again in place.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_durable::{
    DurableFlow, Execution, ExecutionId, ListOptions, RecordKind, Runtime, RuntimeError,
    SignalOptions, StartOptions, Status, Store,
};
use flow_runtime::prelude::*;

use crate::stores::{CrashAfter, Faulty};
use crate::support::{minutes, options, outcomes, pass, runtime, store};

/// A world in which steps fail as often as is said, by the beginning of their paths, and which counts
/// what was called and what was done by the ids of steps.
#[derive(Clone, Default)]
struct World {
    fails: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    called: Arc<Mutex<BTreeMap<String, usize>>>,
    done: Arc<Mutex<BTreeMap<String, usize>>>,
    attempts: Arc<Mutex<Vec<u32>>>,
}

impl World {
    fn failing(steps: &[(&'static str, usize)]) -> Self {
        let world = World::default();
        world.fails.lock().unwrap().extend(steps.iter().copied());
        world
    }

    fn of(counts: &Mutex<BTreeMap<String, usize>>, step: &str) -> usize {
        let counts = counts.lock().unwrap();
        let found = counts.iter().filter(|(id, _)| id.ends_with(step));
        found.map(|(_, count)| count).sum()
    }

    fn called(&self, step: &str) -> usize {
        World::of(&self.called, step)
    }

    /// Asserts that so many steps were done, each once.
    #[track_caller]
    fn all_done_once(&self, steps: usize) {
        let done = self.done.lock().unwrap();
        assert!(done.values().all(|count| *count == 1), "{done:?}");
        assert_eq!(done.len(), steps, "{done:?}");
    }
}

#[derive(Clone, Default)]
struct Does {
    world: World,
}

#[node]
impl Does {
    async fn exec(&self, number: &u32, cx: &Context) -> Result<(), String> {
        let _ = number;
        let world = &self.world;
        let count = |counts: &Mutex<BTreeMap<String, usize>>| {
            *counts.lock().unwrap().entry(cx.step_id()).or_default() += 1;
        };
        count(&world.called);
        world.attempts.lock().unwrap().push(cx.attempt());
        let path = cx.namespace().to_owned();
        let takes = if path == "beside.a" { 15 } else { 10 };
        tokio::time::sleep(Duration::from_millis(takes)).await;
        let mut fails = world.fails.lock().unwrap();
        if let Some((_, left)) = fails.iter_mut().find(|(step, _)| path.starts_with(**step))
            && *left > 0
        {
            *left -= 1;
            return Err(format!("{path} is down"));
        }
        count(&world.done);
        Ok(())
    }
}

/// Starts a flow and waits until it has failed.
async fn failed<F: DurableFlow>(runtime: &Runtime, input: F::Input) -> Execution {
    let executions = runtime.executions();
    let started = executions.start::<F>(input, StartOptions::new()).await;
    let execution = started.unwrap().settled().await.unwrap();
    assert_eq!(
        execution.status(),
        Status::Failed,
        "{:?}",
        execution.reason()
    );
    execution
}

/// Tries an execution again, and waits until it is over.
async fn retried(runtime: &Runtime, id: ExecutionId) -> Execution {
    let retried = runtime.executions().retry(id).await.unwrap();
    assert_eq!(retried.id(), id);
    retried.settled().await.unwrap()
}

fn kinds(journal: &[flow_durable::Record], step: &str) -> Vec<RecordKind> {
    let of_step = journal.iter().filter(|record| record.step == step);
    of_step.map(|record| record.kind).collect()
}

flow! {
    Chain(number: u32) {
        node a: Does;
        node b: Does with retry(attempts = 2, wait = "1s");
        node c: Does;
        start >> a >> b >> c >> end;
    }
}

fn chain(world: &World) -> Chain {
    let does = || Does {
        world: world.clone(),
    };
    Chain::builder().a(does()).b(does()).c(does()).build()
}

#[tokio::test(start_paused = true)]
async fn an_execution_continues_at_the_step_that_failed_with_all_its_attempts() {
    let world = World::failing(&[("chain.b", 3)]);
    let runtime = runtime(store(), chain(&world));
    let execution = failed::<Chain>(&runtime, ChainInput { number: 1 }).await;
    assert_eq!(
        execution.reason(),
        Some("node `chain.b` failed after 2 attempts: chain.b is down")
    );
    let before = execution.journal().await.unwrap();

    let execution = retried(&runtime, execution.id()).await;
    assert_eq!(
        execution.status(),
        Status::Completed,
        "{:?}",
        execution.reason()
    );
    assert_eq!(execution.reason(), None);
    // Two attempts that failed, one more that failed, and the last one: with the same step id.
    assert_eq!((world.called("chain.a"), world.called("chain.b")), (1, 4));
    assert_eq!(*world.attempts.lock().unwrap(), [0, 0, 1, 0, 1, 0]);
    world.all_done_once(3);

    let journal = execution.journal().await.unwrap();
    assert_eq!(journal[..before.len()], before, "nothing is lost");
    assert_eq!(journal[before.len()].kind, RecordKind::RunRetried);
    assert_eq!(outcomes(&journal).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_execution_can_be_retried_again_and_again_and_copied_then() {
    let world = World::failing(&[("chain.b", 6), ("chain.c", 1)]);
    let runtime = runtime(store(), chain(&world));
    let execution = failed::<Chain>(&runtime, ChainInput { number: 1 }).await;
    for _ in 0..3 {
        let again = retried(&runtime, execution.id()).await;
        assert_eq!(again.status(), Status::Failed);
    }
    assert_eq!(world.called("chain.b"), 7);
    let execution = retried(&runtime, execution.id()).await;
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!((world.called("chain.a"), world.called("chain.c")), (1, 2));
    world.all_done_once(3);

    // A copy has only what counts.
    let last = execution.journal().await.unwrap().len() as u64 - 1;
    let executions = runtime.executions();
    let copy = executions.copy(execution.id(), last).await.unwrap();
    let copy = copy.settled().await.unwrap();
    assert_eq!(copy.status(), Status::Completed);
    assert_eq!(world.called("chain.c"), 2);
    let journal = copy.journal().await.unwrap();
    assert!(journal.iter().all(|it| it.kind != RecordKind::RunRetried));
    assert!(
        kinds(&journal, "chain.b")
            .iter()
            .all(|it| *it != RecordKind::NodeFailed)
    );
}

#[tokio::test(start_paused = true)]
async fn another_process_may_retry_and_a_process_without_the_flow_too() {
    let (store, world) = (store(), World::failing(&[("chain.b", 2)]));
    let first = runtime(store.clone(), chain(&world));
    let execution = failed::<Chain>(&first, ChainInput { number: 1 }).await;
    first.shut_down().await;
    // It knows no flow: it says what is to be done, and another one does it.
    let operator = Runtime::with_options(store.clone(), options());
    let told = operator.executions().retry(execution.id()).await.unwrap();
    assert_eq!(told.status(), Status::Running);
    let second = runtime(store, chain(&world));
    second.recover().await.unwrap();
    let execution = second.executions().get(execution.id()).await.unwrap();
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    world.all_done_once(3);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_failed_is_not_retried() {
    let world = World::default();
    let runtime = runtime(store(), chain(&world));
    let executions = runtime.executions();
    let input = || ChainInput { number: 1 };
    let started = executions
        .start::<Chain>(input(), StartOptions::new())
        .await;
    let execution = started.unwrap();
    let same = executions.retry(execution.id()).await.unwrap();
    assert_eq!(same.status(), Status::Running);
    let execution = execution.settled().await.unwrap();
    let refused = executions.retry(execution.id()).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("execution {} is completed already", execution.id())
    );
    world.all_done_once(3);

    let started = executions
        .start::<Chain>(input(), StartOptions::new())
        .await;
    let cancelled = executions
        .cancel(started.unwrap().id(), "a mistake")
        .await
        .unwrap();
    let refused = executions.retry(cancelled.id()).await.unwrap_err();
    assert!(
        matches!(
            refused,
            RuntimeError::Over {
                status: Status::Cancelled,
                ..
            }
        ),
        "{refused}"
    );
    let nobody = runtime
        .owned_by("ann")
        .retry(cancelled.id())
        .await
        .unwrap_err();
    assert!(matches!(nobody, RuntimeError::NotFound(_)), "{nobody}");
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_its_turn_if_its_key_has_a_limit() {
    let world = World::failing(&[("chain.b", 2)]);
    let runtime = runtime(store(), chain(&world));
    let executions = runtime.executions();
    let start = async || {
        let options = StartOptions::new().concurrency_key("bank", std::num::NonZeroU32::MIN);
        let input = ChainInput { number: 1 };
        let started = executions.start::<Chain>(input, options).await;
        started.unwrap()
    };
    let first = start().await.settled().await.unwrap();
    assert_eq!(first.status(), Status::Failed);
    let second = start().await;
    pass(Duration::from_millis(5)).await;
    let waiting = executions.retry(first.id()).await.unwrap();
    assert_eq!(waiting.status(), Status::Queued);
    assert_eq!(second.settled().await.unwrap().status(), Status::Completed);
    assert_eq!(waiting.settled().await.unwrap().status(), Status::Completed);
    world.all_done_once(6);
}

flow! {
    Beside(number: u32) {
        node a: Does;
        node b: Does;
        node c: Does;
        node d: Does;
        start >> [a, b >> c] >> d >> end;
    }
}

fn beside(world: &World) -> Beside {
    let does = || Does {
        world: world.clone(),
    };
    Beside::builder()
        .a(does())
        .b(does())
        .c(does())
        .d(does())
        .build()
}

#[tokio::test(start_paused = true)]
async fn all_branches_that_failed_are_tried_again_and_none_that_is_done() {
    for (steps, called) in [
        // `c` runs when `a` fails, and `a` when `b` does: they are dropped.
        (vec![("beside.a", 1)], [2, 1, 2]),
        (vec![("beside.c", 1)], [1, 1, 2]),
        (vec![("beside.b", 1)], [2, 2, 1]),
    ] {
        let world = World::failing(&steps);
        let runtime = runtime(store(), beside(&world));
        let execution = failed::<Beside>(&runtime, BesideInput { number: 1 }).await;
        let execution = retried(&runtime, execution.id()).await;
        assert_eq!(
            execution.status(),
            Status::Completed,
            "{steps:?} {:?}",
            execution.reason()
        );
        assert_eq!(
            ["a", "b", "c"].map(|step| world.called(step)),
            called,
            "{steps:?}"
        );
        world.all_done_once(4);
    }
}

flow! {
    Inside(number: u32) {
        node x: Does;
        node y: Does;
        start >> x >> y >> end;
    }
}

flow! {
    Outside(number: u32) {
        node inside: Inside with retry(attempts = 2, wait = "1m"), timeout = "1h";
        node z: Does;
        start >> inside >> z >> end;
    }
}

fn outside(world: &World) -> Outside {
    let does = || Does {
        world: world.clone(),
    };
    let inside = Inside::builder().x(does()).y(does()).build();
    Outside::builder().inside(inside).z(does()).build()
}

#[tokio::test(start_paused = true)]
async fn a_flow_in_a_flow_goes_on_with_its_last_attempt() {
    let world = World::failing(&[("outside.inside.y", 2)]);
    let runtime = runtime(store(), outside(&world));
    let execution = failed::<Outside>(&runtime, OutsideInput { number: 1 }).await;
    assert_eq!((world.called("x"), world.called("y")), (2, 2));
    pass(minutes(600)).await;
    let execution = retried(&runtime, execution.id()).await;
    assert_eq!(
        execution.status(),
        Status::Completed,
        "{:?}",
        execution.reason()
    );
    // `x` was done in each attempt, and is not done once more; its hour is not over.
    assert_eq!((world.called("x"), world.called("y")), (2, 3));
}

flow! {
    Slow() {
        start >> wait(20m) >> wait(50m) >> end;
    }
}

flow! {
    Hurried() {
        node slow: Slow with timeout = "1h";
        start >> slow >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_took_too_long_has_its_whole_time_again() {
    let runtime = runtime(store(), Hurried::new());
    let execution = failed::<Hurried>(&runtime, HurriedInput {}).await;
    pass(minutes(600)).await;
    let began = tokio::time::Instant::now();
    let execution = retried(&runtime, execution.id()).await;
    assert_eq!(
        execution.status(),
        Status::Completed,
        "{:?}",
        execution.reason()
    );
    // Of the second wait, ten minutes were left.
    assert_eq!(began.elapsed(), minutes(10));
}

/// The boss.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[node(human = "{number}?", timeout = "10m")]
struct Approve {
    yes: bool,
}

/// The customer.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
#[node(signal)]
struct Paid {
    amount: u32,
}

#[node]
fn sums(approve: &Approve, amount: &u32) -> u32 {
    amount * u32::from(approve.yes)
}

flow! {
    Asks(number: u32) -> (sums: u32) {
        node paid: signal Paid with timeout = "10m";
        start >> Approve >> paid >> sums >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn who_was_late_is_asked_again_and_awaited_again() {
    let runtime = runtime(store(), Asks::new());
    let executions = runtime.executions();
    let input = AsksInput { number: 1 };
    let started = executions.start::<Asks>(input, StartOptions::new()).await;
    let execution = started.unwrap().settled().await.unwrap();
    assert_eq!(execution.status(), Status::Paused);
    pass(minutes(11)).await;
    let execution = execution.refreshed().await.unwrap();
    assert_eq!(execution.status(), Status::Failed);

    pass(minutes(600)).await;
    let asking = retried(&runtime, execution.id()).await;
    assert_eq!(asking.status(), Status::Paused);
    let questions = asking.questions().await.unwrap();
    pass(minutes(9)).await;
    executions
        .resume(questions[0].token(), Approve { yes: true })
        .await
        .unwrap();
    pass(minutes(11)).await;
    let execution = execution.refreshed().await.unwrap();
    assert_eq!(execution.status(), Status::Failed, "nobody has paid");

    executions.retry(execution.id()).await.unwrap();
    pass(minutes(9)).await;
    executions
        .signal(execution.id(), Paid { amount: 7 }, SignalOptions::new())
        .await
        .unwrap();
    let execution = execution
        .refreshed()
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Asks>().unwrap().unwrap().sums, 7);
}

flow! {
    Saga(number: u32) {
        node charge: Does with undo = refund;
        node refund: Does;
        node ship: Does;
        start >> charge >> ship >> end;
    }
}

flow! {
    Committed(number: u32) {
        node charge: Does with undo = refund;
        node refund: Does;
        node ship: Does;
        start >> charge >> commit >> ship >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_undone_is_not_retried_and_what_was_committed_is() {
    let world = World::failing(&[("saga.ship", 1), ("committed.ship", 1)]);
    let does = || Does {
        world: world.clone(),
    };
    let saga = Saga::builder().charge(does()).refund(does()).ship(does());
    let runtime = runtime(store(), saga.build());
    let committed = Committed::builder()
        .charge(does())
        .refund(does())
        .ship(does());
    runtime.register(committed.build()).unwrap();
    let execution = failed::<Saga>(&runtime, SagaInput { number: 1 }).await;
    let before = execution.journal().await.unwrap();
    let refused = runtime
        .executions()
        .retry(execution.id())
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "execution {} is not retried: `saga.charge` was undone when it failed: copy it from a record before",
            execution.id()
        )
    );
    assert_eq!(
        execution
            .refreshed()
            .await
            .unwrap()
            .journal()
            .await
            .unwrap(),
        before
    );

    let execution = failed::<Committed>(&runtime, CommittedInput { number: 1 }).await;
    let execution = retried(&runtime, execution.id()).await;
    assert_eq!(
        execution.status(),
        Status::Completed,
        "{:?}",
        execution.reason()
    );
    assert_eq!(
        (
            world.called("committed.charge"),
            world.called("committed.ship")
        ),
        (1, 2)
    );
}

flow! {
    Parts(numbers: Vec<u32>) {
        node does: Does;
        node all: for number in numbers { does } with spread(2);
        start >> all >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_parts_of_a_loop_that_failed_or_were_ended_continue() {
    let world = World::failing(&[("parts.all[3]", 1), ("parts.all[6]", 1)]);
    let does = Does {
        world: world.clone(),
    };
    let parts = Parts::builder().does(does).build();
    let runtime = Runtime::with_options(store(), options());
    runtime.register(parts).unwrap();
    let input = PartsInput {
        numbers: (0..12).collect(),
    };
    let execution = failed::<Parts>(&runtime, input).await;
    let of = async |status: Status| {
        let all = ListOptions::new().status(status);
        let listed = runtime.executions().list(all).await.unwrap();
        let listed = listed.iter().filter(|it| it.id() != execution.id());
        listed.map(|it| it.id()).collect::<Vec<_>>()
    };
    let failed = of(Status::Failed).await;
    assert!(!failed.is_empty() && !of(Status::Cancelled).await.is_empty());
    let refused = runtime.executions().retry(failed[0]).await.unwrap_err();
    assert!(refused.to_string().contains("is a part of"), "{refused}");

    let mut again = retried(&runtime, execution.id()).await;
    if again.status() == Status::Failed {
        // The other item fails for the first time.
        again = retried(&runtime, execution.id()).await;
    }
    assert_eq!(again.status(), Status::Completed, "{:?}", again.reason());
    world.all_done_once(12);
}

flow! {
    Collects(numbers: Vec<u32>) -> (all: Vec<Result<(), NodeError>>) {
        node does: Does;
        node all: for number in numbers { does } with collect_errors;
        node other: Other;
        start >> [all, other] >> end;
    }
}

#[derive(Clone, Default)]
struct Other {
    world: World,
}

#[node]
impl Other {
    async fn exec(&self) -> Result<(), String> {
        tokio::time::sleep(Duration::from_millis(25)).await;
        let mut fails = self.world.fails.lock().unwrap();
        match fails.get_mut("other") {
            Some(left) if *left > 0 => {
                *left -= 1;
                Err("down".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_a_loop_has_collected_stays_a_result() {
    let world = World::failing(&[("collects.all[0]", 1), ("other", 1)]);
    let does = Does {
        world: world.clone(),
    };
    let other = Other {
        world: world.clone(),
    };
    let flow = Collects::builder().does(does).other(other).build();
    let runtime = runtime(store(), flow);
    let input = CollectsInput {
        numbers: (0..4).collect(),
    };
    let execution = failed::<Collects>(&runtime, input).await;
    let execution = retried(&runtime, execution.id()).await;
    let output = execution.output::<Collects>().unwrap().unwrap();
    let ok: Vec<bool> = output.all.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [false, true, true, true]);
    assert_eq!((world.called("[0]"), world.called("[1]")), (1, 1));
}

flow_law::law! {
    nodes: [],
    flows: [
        Slow,
        Hurried,
    ],
    left_out: [
        Chain, Beside, Inside, Outside, Asks, Saga, Committed, Parts, Collects,
    ],
}

/// The process ends at each write of a run that fails twice and is retried, with snapshots seldom and
/// always.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_moment_changes_nothing() {
    for every in [256, 1] {
        for crash in 0..30 {
            let world = World::failing(&[("chain.a", 1), ("chain.b", 2)]);
            let store = store();
            let options = || {
                let every = NonZeroUsize::new(every).unwrap();
                options()
                    .snapshot_every(every)
                    .lease(Duration::from_secs(5))
            };
            let faulty = Faulty::new(&store, CrashAfter::appends(crash));
            let dying = Runtime::with_options(faulty, options());
            dying.register(chain(&world)).unwrap();
            let input = ChainInput { number: 1 };
            let started = dying
                .executions()
                .start::<Chain>(input, StartOptions::new())
                .await;
            let Ok(started) = started else { continue };
            let id = started.id();
            for _ in 0..3 {
                let execution = dying.executions().get(id).await;
                let Ok(execution) = execution else { break };
                let settled = tokio::time::timeout(minutes(1), execution.settled()).await;
                let Ok(Ok(_)) = settled else { break };
                if dying.executions().retry(id).await.is_err() {
                    break;
                }
            }
            drop(dying);
            pass(minutes(1)).await;
            let next = Runtime::with_options(store.clone(), options());
            next.register(chain(&world)).unwrap();
            next.recover().await.unwrap();
            let mut execution = next.executions().get(id).await.unwrap();
            for _ in 0..3 {
                execution = execution
                    .refreshed()
                    .await
                    .unwrap()
                    .settled()
                    .await
                    .unwrap();
                if execution.status() == Status::Failed {
                    next.executions().retry(id).await.unwrap();
                }
            }
            assert_eq!(execution.status(), Status::Completed, "{every} {crash}");
            let outcomes = outcomes(&execution.journal().await.unwrap());
            assert!(outcomes.values().all(|count| *count == 1), "{outcomes:?}");
            let records = store.records(id, 0, 1000).await.unwrap();
            assert!(
                records
                    .windows(2)
                    .all(|pair| pair[0].seq + 1 == pair[1].seq)
            );
        }
    }
}
