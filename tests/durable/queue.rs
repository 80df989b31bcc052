//! Executions that wait for their time or for a place, and processes that have a limit.

use std::num::NonZeroU32;
use std::time::Duration;

use flow_durable::{
    Execution, ListOptions, Runtime, RuntimeOptions, StartOptions, Status, Store as _,
};
use flow_runtime::prelude::*;
use serde_json::json;

use crate::flows::Name;
use crate::stores::{Broken, Faulty, SlowClaims};
use crate::support::{Shared, clock, minutes, options, pass, store};

/// Runs for an hour.
#[node]
async fn hour(number: &u64) -> u64 {
    pass(minutes(60)).await;
    *number
}

#[node]
fn done(number: &u64) -> u64 {
    number + 1
}

flow! {
    /// Takes an hour.
    Long(number: u64) -> (done: u64) {
        start >> hour >> done >> end;
    }
}

flow! {
    /// Takes an hour as well.
    Other(number: u64) -> (done: u64) {
        start >> hour >> done >> end;
    }
}

#[node(writes = done)]
fn greet(name: &Name) -> u64 {
    name.name.len() as u64
}

flow! {
    Asks(number: u64) -> (done: u64) {
        start >> Name >> hour >> greet >> end;
    }
}

fn runtime(store: &Shared, options: RuntimeOptions) -> Runtime {
    let runtime = Runtime::with_options(store.clone(), options);
    runtime.register(Long::new()).unwrap();
    runtime.register(Other::new()).unwrap();
    runtime.register(Asks::new()).unwrap();
    runtime
}

async fn start(runtime: &Runtime, options: StartOptions) -> Execution {
    let input = LongInput { number: 1 };
    runtime
        .executions()
        .start::<Long>(input, options)
        .await
        .unwrap()
}

async fn start_other(runtime: &Runtime) -> Execution {
    let input = OtherInput { number: 1 };
    let started = runtime
        .executions()
        .start::<Other>(input, StartOptions::new());
    started.await.unwrap()
}

async fn statuses(executions: &[Execution]) -> Vec<Status> {
    let mut statuses = Vec::new();
    for execution in executions {
        statuses.push(execution.refreshed().await.unwrap().status());
    }
    statuses
}

const QUEUED: Status = Status::Queued;
const RUNNING: Status = Status::Running;
const COMPLETED: Status = Status::Completed;

#[tokio::test(start_paused = true)]
async fn a_process_runs_as_many_as_it_may_and_fills_a_place_at_once() {
    let store = store();
    let runtime = runtime(&store, options().concurrent_executions(2));
    let mut started = Vec::new();
    for _ in 0..5 {
        started.push(start(&runtime, StartOptions::new()).await);
    }
    let now: Vec<Status> = started.iter().map(Execution::status).collect();
    assert_eq!(now, [RUNNING, RUNNING, QUEUED, QUEUED, QUEUED]);
    pass(minutes(59)).await;
    assert_eq!(statuses(&started).await, now);
    pass(minutes(2)).await;
    let then = [COMPLETED, COMPLETED, RUNNING, RUNNING, QUEUED];
    assert_eq!(statuses(&started).await, then);
    for execution in &started {
        let settled = execution.settled().await.unwrap();
        assert_eq!(settled.output::<Long>().unwrap().unwrap().done, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_has_a_limit_of_its_own() {
    let store = store();
    let options = options().concurrent_executions_of("Long", 1);
    let runtime = runtime(&store, options);
    let started = [
        start(&runtime, StartOptions::new()).await,
        start(&runtime, StartOptions::new()).await,
        start_other(&runtime).await,
        start_other(&runtime).await,
    ];
    pass(minutes(1)).await;
    let now = statuses(&started).await;
    assert_eq!(now, [RUNNING, QUEUED, RUNNING, RUNNING]);
    pass(minutes(60)).await;
    let then = statuses(&started).await;
    assert_eq!(then, [COMPLETED, RUNNING, COMPLETED, COMPLETED]);
}

#[tokio::test(start_paused = true)]
async fn a_higher_priority_begins_first() {
    let store = store();
    let runtime = runtime(&store, options().concurrent_executions(1));
    let started = [
        start(&runtime, StartOptions::new()).await,
        start(&runtime, StartOptions::new().priority(-1)).await,
        start(&runtime, StartOptions::new()).await,
        start(&runtime, StartOptions::new().priority(1)).await,
    ];
    pass(minutes(61)).await;
    let then = statuses(&started).await;
    assert_eq!(then, [COMPLETED, QUEUED, QUEUED, RUNNING]);
    pass(minutes(60)).await;
    let then = statuses(&started).await;
    assert_eq!(then, [COMPLETED, QUEUED, RUNNING, COMPLETED]);
}

#[tokio::test(start_paused = true)]
async fn an_execution_begins_at_its_time_and_not_before() {
    let store = store();
    let runtime = runtime(&store, options());
    let later = StartOptions::new().not_before(clock()() + minutes(30));
    let later = start(&runtime, later).await;
    let past = StartOptions::new().not_before(clock()() - minutes(30));
    let started = [later, start(&runtime, past).await];
    pass(minutes(30) - Duration::from_secs(1)).await;
    assert_eq!(statuses(&started).await, [QUEUED, RUNNING]);
    pass(Duration::from_secs(2)).await;
    assert_eq!(statuses(&started).await, [RUNNING, RUNNING]);
    let settled = started[0].settled().await.unwrap();
    assert_eq!(settled.status(), COMPLETED);
}

#[tokio::test(start_paused = true)]
async fn a_key_has_a_limit_over_all_processes() {
    let store = store();
    let two = NonZeroU32::new(2).unwrap();
    let keyed = || StartOptions::new().concurrency_key("ann", two);
    let processes = [runtime(&store, options()), runtime(&store, options())];
    for process in &processes {
        process.recover().await.unwrap();
    }
    let mut started = Vec::new();
    for number in 0..6 {
        started.push(start(&processes[number % 2], keyed()).await);
    }
    started.push(start(&processes[0], StartOptions::new()).await);
    for hour in 0..3 {
        pass(minutes(1)).await;
        let now = statuses(&started[..6]).await;
        let count = |status| now.iter().filter(|now| **now == status).count();
        assert_eq!((count(RUNNING), count(COMPLETED)), (2, 2 * hour), "{now:?}");
        pass(minutes(60)).await;
    }
    let over = [COMPLETED; 7];
    assert_eq!(statuses(&started).await, over);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_only_starts_leaves_the_work_to_others() {
    let store = store();
    let front = runtime(&store, options().concurrent_executions(0));
    let started = [start(&front, StartOptions::new()).await];
    front.recover().await.unwrap();
    pass(minutes(90)).await;
    assert_eq!(statuses(&started).await, [QUEUED]);
    let often = options().look_for_work(Duration::from_secs(1));
    let worker = runtime(&store, often);
    worker.recover().await.unwrap();
    assert_eq!(statuses(&started).await, [RUNNING]);
    let next = [start(&front, StartOptions::new()).await];
    pass(Duration::from_millis(1100)).await;
    assert_eq!(statuses(&next).await, [RUNNING]);
    let settled = started[0].settled().await.unwrap();
    assert_eq!(settled.status(), COMPLETED);
}

#[tokio::test(start_paused = true)]
async fn an_answered_execution_waits_for_a_place() {
    let store = store();
    let runtime = runtime(&store, options().concurrent_executions(1));
    let asks = runtime
        .executions()
        .start::<Asks>(AsksInput { number: 1 }, StartOptions::new());
    let asks = asks.await.unwrap().settled().await.unwrap();
    assert_eq!(asks.status(), Status::Paused);
    let long = start(&runtime, StartOptions::new()).await;
    assert_eq!(long.status(), RUNNING, "what is paused has no place");
    let queued = start(&runtime, StartOptions::new()).await;
    let question = &asks.questions().await.unwrap()[0];
    let answer = json!({ "name": "Ann" });
    let answered = runtime.executions().resume(question.token(), answer).await;
    answered.unwrap();
    pass(minutes(30)).await;
    let all = [asks, long, queued];
    let now = statuses(&all).await;
    assert_eq!(now, [Status::Paused, RUNNING, QUEUED]);
    pass(minutes(31)).await;
    let then = statuses(&all).await;
    assert_eq!(then, [RUNNING, COMPLETED, QUEUED], "it has begun before");
    let settled = all[0].settled().await.unwrap();
    assert_eq!(settled.output::<Asks>().unwrap().unwrap().done, 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_queued_is_listed_cancelled_and_deleted() {
    let store = store();
    let front = runtime(&store, options().concurrent_executions(0));
    let key = || StartOptions::new().idempotency_key("once");
    let kept = start(&front, key()).await;
    assert_eq!(start(&front, key()).await.id(), kept.id());
    let cancelled = start(&front, StartOptions::new()).await;
    let deleted = start(&front, StartOptions::new()).await;
    let ended = front
        .executions()
        .cancel(cancelled.id(), "not needed")
        .await
        .unwrap();
    assert_eq!(ended.status(), Status::Cancelled);
    front.executions().delete(deleted.id()).await.unwrap();
    let listed = front
        .executions()
        .list(ListOptions::new().status(QUEUED))
        .await
        .unwrap();
    let ids: Vec<_> = listed.into_iter().map(|it| it.id()).collect();
    assert_eq!(ids, [kept.id()]);

    let worker = runtime(&store, options());
    worker.recover().await.unwrap();
    assert_eq!(kept.settled().await.unwrap().status(), COMPLETED);
    let reason = cancelled.refreshed().await.unwrap();
    assert_eq!(reason.reason(), Some("not needed"));
}

#[tokio::test(start_paused = true)]
async fn what_a_worker_has_taken_goes_on_elsewhere_when_it_is_gone() {
    let store = store();
    let front = runtime(&store, options().concurrent_executions(0));
    let started = [start(&front, StartOptions::new()).await];
    let worker = runtime(&store, options().concurrent_executions(1));
    worker.recover().await.unwrap();
    assert_eq!(statuses(&started).await, [RUNNING]);
    worker.shut_down().await;
    assert_eq!(store.claim_of(started[0].id()).await.unwrap(), None);
    let other = runtime(&store, options().concurrent_executions(1));
    let recovered = other.recover().await.unwrap();
    assert_eq!(recovered.resumed, [started[0].id()]);
    assert_eq!(started[0].settled().await.unwrap().status(), COMPLETED);
}

flow_law::law! {
    nodes: [Name, done, greet, hour],
    flows: [
        Long,
        Other,
        Asks,
    ],
}

/// What was taken, but not told, belongs to a process that does not know of it, and that prolongs
/// all its claims.
#[tokio::test(start_paused = true)]
async fn what_was_taken_without_an_answer_is_given_up_and_begins() {
    let store = store();
    let cut = Faulty::new(&store, Broken::default());
    let worker = Runtime::with_options(cut.clone(), options());
    worker.register(Long::new()).unwrap();
    worker.recover().await.unwrap();
    // The worker has something to do, so it renews its claims.
    let own = start(&worker, StartOptions::new()).await;
    let front = runtime(&store, options().concurrent_executions(0));
    let queued = start(&front, StartOptions::new()).await;

    cut.fault.lose_reply("take_queued");
    pass(Duration::from_secs(15)).await;
    cut.fault.mend();
    assert_eq!(statuses(std::slice::from_ref(&queued)).await, [RUNNING]);
    assert_eq!(queued.journal().await.unwrap().len(), 1, "nobody runs it");
    pass(minutes(2)).await;
    assert!(queued.journal().await.unwrap().len() > 1, "it has begun");
    pass(minutes(61)).await;
    let then = statuses(&[own, queued]).await;
    assert_eq!(then, [COMPLETED, COMPLETED]);
}

/// A store that answers slowly has made a claim of which the process does not know yet, although it
/// renews its claims meanwhile.
#[tokio::test(start_paused = true)]
async fn what_is_being_taken_is_not_given_up() {
    let store = store();
    let slow = Faulty::new(&store, SlowClaims);
    let worker = Runtime::with_options(slow, options().lease(Duration::from_millis(1200)));
    worker.register(Long::new()).unwrap();
    // The worker has something to do, so it renews its claims.
    start(&worker, StartOptions::new()).await;
    worker.recover().await.unwrap();
    let front = runtime(&store, options().concurrent_executions(0));
    let queued = start(&front, StartOptions::new()).await;
    let is_claimed = async || store.claim_of(queued.id()).await.unwrap().is_some();
    while !is_claimed().await {
        pass(Duration::from_millis(10)).await;
    }
    for _ in 0..200 {
        pass(Duration::from_millis(10)).await;
        assert!(is_claimed().await);
    }
    let fence = store.execution(queued.id()).await.unwrap().unwrap().fence;
    assert_eq!(fence, 1, "it was claimed once");
    assert!(queued.journal().await.unwrap().len() > 1, "it has begun");
}

/// A claim is as long as the lease, however long its process waited for its turn: others take one
/// that lasts for longer than it was made for to be that of a process that is gone.
#[tokio::test(start_paused = true)]
async fn a_claim_is_not_shorter_as_its_process_had_to_wait() {
    let store = store();
    let front = runtime(&store, options().concurrent_executions(0));
    start(&front, StartOptions::new()).await;
    let lease = Duration::from_millis(1200);
    let worker = Runtime::with_options(Faulty::new(&store, SlowClaims), options().lease(lease));
    worker.register(Long::new()).unwrap();
    let later = async {
        pass(Duration::from_millis(500)).await;
        start(&front, StartOptions::new()).await
    };
    // The second one waits for its turn while the store is slow to answer the first one.
    let (first, second, later) = tokio::join!(worker.recover(), worker.recover(), later);
    first.and(second).unwrap();
    let claim = store.claim_of(later.id()).await.unwrap();
    assert_eq!(claim.map(|claim| claim.lease_ms), Some(1200));
}
