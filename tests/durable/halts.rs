//! Executions that are halted: everybody sees it, and somebody continues them. Those that lose their
//! process again and again are halted too.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flow_durable::{
    ExecutionId, ListOptions, Runtime, RuntimeError, RuntimeOptions, StartOptions, Status, Store,
};
use flow_runtime::prelude::*;
use flow_store::to_ms;
use tokio::sync::Semaphore;

use crate::panics::Bug;
use crate::support::{Shared, clock, minutes, options, pass, runtime, store};

#[derive(Clone)]
struct Bake {
    bug: Bug,
}

#[node(writes = bread)]
impl Bake {
    fn exec(&self, number: &u32) -> Result<u32, String> {
        self.bug.bite();
        Ok(number + 1)
    }
}

flow! {
    Baked(number: u32) -> (bread: u32) {
        node bake: Bake;
        start >> bake >> end;
    }
}

fn baked(store: &Shared, bug: &Bug) -> Runtime {
    let bug = bug.clone();
    runtime(store.clone(), Baked::builder().bake(Bake { bug }).build())
}

async fn halted(runtime: &Runtime) -> Vec<ExecutionId> {
    let listed = runtime
        .executions()
        .list(ListOptions::new().halted(true))
        .await
        .unwrap();
    listed.iter().map(|execution| execution.id()).collect()
}

async fn start(runtime: &Runtime) -> ExecutionId {
    let input = BakedInput { number: 1 };
    let started = runtime
        .executions()
        .start::<Baked>(input, StartOptions::new())
        .await;
    started.unwrap().id()
}

/// The error of whoever waits for an execution that is halted, and what the execution says.
async fn reasons(runtime: &Runtime, id: ExecutionId) -> (String, String) {
    let execution = runtime.executions().get(id).await.unwrap();
    let error = execution.settled().await.unwrap_err();
    let RuntimeError::Halted {
        execution: of,
        reason,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*of, id);
    let execution = execution.refreshed().await.unwrap();
    assert_eq!(execution.status(), Status::Running);
    (reason.clone(), execution.halted().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_halt_is_seen_by_everyone_and_tried_again_by_nobody() {
    let (store, bug) = (store(), Bug::times(2));
    let (first, second) = (baked(&store, &bug), baked(&store, &bug));
    for runtime in [&first, &second] {
        runtime.recover().await.unwrap();
    }
    let id = start(&first).await;
    let reason = "node `baked.bake` panicked: no bread".to_owned();
    for runtime in [&first, &second] {
        let expected = (reason.clone(), reason.clone());
        assert_eq!(reasons(runtime, id).await, expected);
        assert_eq!(halted(runtime).await, [id]);
        let others = runtime
            .executions()
            .list(ListOptions::new().halted(false))
            .await;
        assert!(others.unwrap().is_empty());
    }
    pass(minutes(10)).await;
    assert_eq!(bug.left(), 1, "nobody has tried it again");
    assert_eq!(reasons(&second, id).await.0, reason);

    // By hand, in the other process: once more in vain, and then to its end.
    second.executions().retry(id).await.unwrap();
    assert_eq!(reasons(&first, id).await.0, reason);
    assert_eq!(bug.left(), 0);
    let continued = second.executions().retry(id).await.unwrap();
    assert_eq!(continued.halted(), None);
    for runtime in [&first, &second] {
        let done = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(done.output::<Baked>().unwrap().unwrap().bread, 2);
        assert!(halted(runtime).await.is_empty());
    }
    let refused = first.executions().retry(id).await.unwrap_err();
    assert!(matches!(refused, RuntimeError::Over { .. }), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn what_is_halted_can_be_cancelled() {
    let (store, bug) = (store(), Bug::times(1));
    let runtime = baked(&store, &bug);
    let id = start(&runtime).await;
    reasons(&runtime, id).await;
    let cancelled = runtime
        .executions()
        .cancel(id, "no bread today")
        .await
        .unwrap();
    assert_eq!(
        (cancelled.status(), cancelled.halted()),
        (Status::Cancelled, None)
    );
    assert!(halted(&runtime).await.is_empty());
    let settled = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(settled.status(), Status::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn only_a_process_that_has_the_flow_continues_a_halt() {
    let (store, bug) = (store(), Bug::times(1));
    let first = baked(&store, &bug);
    let id = start(&first).await;
    reasons(&first, id).await;
    let other = Runtime::with_options(store, options());
    let refused = other.recover().await.unwrap().refused;
    assert!(
        matches!(&refused[..], [(of, RuntimeError::NotRegistered { .. })] if *of == id),
        "{refused:?}"
    );
    let refused = other.executions().retry(id).await.unwrap_err();
    assert!(
        matches!(refused, RuntimeError::NotRegistered { .. }),
        "{refused}"
    );
    assert_eq!(halted(&first).await, [id]);
    let nobody = first.owned_by("ann").retry(id).await;
    assert!(matches!(nobody, Err(RuntimeError::NotFound(_))));
}

#[derive(Clone)]
struct Waits {
    may: Arc<Semaphore>,
    runs: Arc<AtomicUsize>,
}

#[node]
impl Waits {
    async fn exec(&self, number: &u32) -> Result<u32, String> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let permit = self.may.acquire().await;
        permit.map_err(|error| error.to_string())?.forget();
        Ok(*number)
    }
}

flow! {
    Slow(number: u32) -> (waits: u32) {
        node first: Waits;
        node second: Waits;
        start >> first >> second >> end;
    }
}

/// A store, and the flow in it.
struct Plant {
    store: Shared,
    waits: Waits,
    options: RuntimeOptions,
}

impl Plant {
    fn new(options: RuntimeOptions) -> Self {
        Plant {
            store: store(),
            waits: Waits {
                may: Arc::new(Semaphore::new(0)),
                runs: Arc::default(),
            },
            options,
        }
    }

    fn process(&self) -> Runtime {
        let runtime = Runtime::with_options(self.store.clone(), self.options.clone());
        let (first, second) = (self.waits.clone(), self.waits.clone());
        let flow = Slow::builder().first(first).second(second).build();
        runtime.register(flow).unwrap();
        runtime
    }

    /// Executions that have begun, and that nobody has claimed.
    async fn started(&self, count: usize) -> Vec<ExecutionId> {
        let process = self.process();
        let mut started = Vec::new();
        for _ in 0..count {
            let input = SlowInput { number: 1 };
            let execution = process
                .executions()
                .start::<Slow>(input, StartOptions::new())
                .await;
            started.push(execution.unwrap().id());
        }
        pass(Duration::from_secs(1)).await;
        process.shut_down().await;
        started
    }

    /// A process that claims them and is lost at once.
    async fn lose(&self, ids: &[ExecutionId]) {
        let now = to_ms(clock()());
        for id in ids {
            let holder = uuid::Uuid::new_v4();
            let claimed = self.store.claim(*id, holder, now, now + 1).await;
            assert!(claimed.unwrap().is_some());
        }
        pass(Duration::from_secs(1)).await;
    }

    /// How often a process takes them over that is lost each time, until one is halted.
    async fn lose_again_and_again(&self, ids: &[ExecutionId]) -> usize {
        for times in 0..20 {
            self.lose(ids).await;
            let process = self.process();
            let recovered = process.recover().await.unwrap();
            pass(Duration::from_secs(1)).await;
            process.shut_down().await;
            if !recovered.refused.is_empty() {
                return times;
            }
        }
        panic!("none is halted")
    }

    fn runs(&self) -> usize {
        self.waits.runs.load(Ordering::SeqCst)
    }
}

#[tokio::test(start_paused = true)]
async fn what_loses_its_process_again_and_again_is_halted() {
    let plant = Plant::new(options());
    let ids = plant.started(1).await;
    let id = ids[0];
    assert_eq!(plant.lose_again_and_again(&ids).await, 5);
    assert_eq!(plant.runs(), 6);
    let process = plant.process();
    let refused = process.recover().await.unwrap().refused;
    assert!(
        matches!(&refused[..], [(of, RuntimeError::Halted { .. })] if *of == id),
        "{refused:?}"
    );
    let reason = "its process was lost 6 times in a row at this place".to_owned();
    assert_eq!(reasons(&process, id).await, (reason.clone(), reason));
    pass(minutes(5)).await;
    assert_eq!(plant.runs(), 6, "only by hand");

    process.executions().retry(id).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(plant.runs(), 7);
    process.shut_down().await;
    // It has all take-overs again.
    assert_eq!(plant.lose_again_and_again(&ids).await, 5);
    let process = plant.process();
    process.executions().retry(id).await.unwrap();
    plant.waits.may.add_permits(2);
    let done = process
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(done.status(), Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_new_record_begins_the_count_again_and_a_process_that_ends_well_is_not_lost() {
    let plant = Plant::new(options());
    let ids = plant.started(1).await;
    for _ in 0..4 {
        plant.lose(&ids).await;
        let process = plant.process();
        assert_eq!(process.recover().await.unwrap().resumed, ids);
        process.shut_down().await;
    }
    for _ in 0..9 {
        let process = plant.process();
        assert_eq!(process.recover().await.unwrap().resumed, ids);
        process.shut_down().await;
    }
    let process = plant.process();
    plant.waits.may.add_permits(1);
    assert_eq!(process.recover().await.unwrap().resumed, ids);
    pass(Duration::from_secs(1)).await;
    process.shut_down().await;
    assert_eq!(plant.lose_again_and_again(&ids).await, 5);
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_with_others_is_told_from_them() {
    let plant = Plant::new(options());
    let ids = plant.started(2).await;
    for times in 0..5 {
        plant.lose(&ids).await;
        let process = plant.process();
        let resumed = process.recover().await.unwrap().resumed;
        let expected = if times < 2 { &ids[..] } else { &ids[..1] };
        assert_eq!(resumed, expected, "{times}");
        process.shut_down().await;
        pass(Duration::from_secs(1)).await;
    }
    // The first one is halted, and the second one goes on.
    plant.lose(&ids).await;
    let process = plant.process();
    let recovered = process.recover().await.unwrap();
    assert_eq!(recovered.resumed, ids[1..]);
    assert_eq!(recovered.refused.len(), 1);
    plant.waits.may.add_permits(2);
    let done = process
        .executions()
        .get(ids[1])
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(done.status(), Status::Completed);
    assert_eq!(halted(&process).await, ids[..1]);
}

#[tokio::test(start_paused = true)]
async fn what_runs_long_enough_keeps_no_other_back() {
    let plant = Plant::new(options().take_overs(2));
    let ids = plant.started(2).await;
    plant.lose(&ids).await;
    let process = plant.process();
    assert_eq!(process.recover().await.unwrap().resumed, ids[..1]);
    pass(minutes(1)).await;
    assert_eq!(plant.runs(), 4, "both, in the end");
    process.shut_down().await;

    let plant = Plant::new(options().take_overs(0));
    let ids = plant.started(1).await;
    assert_eq!(plant.lose_again_and_again(&ids).await, 0);
}

flow_law::law! {
    nodes: [],
    flows: [
    ],
    left_out: [Baked, Slow],
}
