//! Executions that were cancelled and are undone before they end.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::time::Duration;

use flow_durable::{
    Execution, ExecutionId, ListOptions, RecordKind, Runtime, RuntimeError, RuntimeOptions,
    StartOptions, Status,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::stores::{Faulty, SlowEnds};
use crate::support::{clock, pass, runtime, store};

thread_local! {
    /// What was done and not taken back.
    static DONE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// The undo node fails while this is true.
    static CLOSED: Cell<bool> = const { Cell::new(false) };
}

fn done() -> Vec<String> {
    DONE.with_borrow(Clone::clone)
}

async fn work(millis: u64) {
    pass(Duration::from_millis(millis)).await;
}

async fn act(name: &str) -> String {
    DONE.with_borrow_mut(|done| done.push(name.to_owned()));
    work(10).await;
    name.to_owned()
}

#[node(writes = reserved)]
async fn reserve() -> String {
    act("reserve").await
}

#[node(writes = charged)]
async fn charge() -> String {
    act("charge").await
}

async fn take_back(name: &str) {
    work(200).await;
    DONE.with_borrow_mut(|done| done.retain(|it| it != name));
}

#[node]
async fn release(reserved: &str) -> Result<(), String> {
    if CLOSED.get() {
        return Err("the shop is closed".to_owned());
    }
    take_back(reserved).await;
    Ok(())
}

#[node]
async fn refund(charged: &str) {
    take_back(charged).await;
}

#[node]
async fn pack() {
    work(10_000).await;
}

#[node(human = "Send it?")]
#[derive(Serialize, Deserialize)]
enum Approval {
    Yes,
}

flow! {
    /// Reserves, charges and packs.
    Order() -> () {
        node reserve: reserve with undo = release;
        node charge: charge with undo = refund;
        start >> reserve >> charge >> pack >> end;
    }
}

flow! {
    /// Asks before it packs.
    Asked() -> () {
        node reserve: reserve with undo = release;
        node charge: charge with undo = refund;
        start >> reserve >> charge >> Approval;
        Approval - "yes" >> pack >> end;
    }
}

flow! {
    /// The first step is forgotten.
    Kept() -> () {
        node reserve: reserve with undo = release;
        node pay: Pay;
        start >> reserve >> commit >> pay >> pack >> end;
    }
}

flow! {
    Pay() -> () {
        node charge: charge with undo = refund;
        start >> charge >> end;
    }
}

async fn start<F: flow_durable::DurableFlow>(runtime: &Runtime, input: F::Input) -> ExecutionId {
    let started = runtime.executions().start::<F>(input, StartOptions::new());
    started.await.unwrap().id()
}

async fn ids(runtime: &Runtime, status: Status) -> Vec<ExecutionId> {
    let listed = runtime.executions().list(ListOptions::new().status(status));
    listed.await.unwrap().iter().map(Execution::id).collect()
}

async fn paths(execution: &Execution) -> Vec<String> {
    let steps = execution.undoable().await.unwrap();
    steps.iter().map(|step| step.path().to_owned()).collect()
}

fn order() -> OrderInput {
    OrderInput::builder().build()
}

fn asked() -> AskedInput {
    AskedInput::builder().build()
}

#[tokio::test(start_paused = true)]
async fn an_execution_is_cancelling_until_it_is_undone() {
    let runtime = runtime(store(), Order::new());
    let (id, other) = (
        start::<Order>(&runtime, order()).await,
        start::<Order>(&runtime, order()).await,
    );
    work(100).await;
    let executions = runtime.executions();
    let running = executions.get(id).await.unwrap();
    assert_eq!(running.status(), Status::Running);
    assert_eq!(paths(&running).await, ["order.charge", "order.reserve"]);

    let cancelled = executions.cancel(id, "too late").await.unwrap();
    assert_eq!(cancelled.status(), Status::Cancelling);
    assert_eq!(cancelled.reason(), None);
    work(250).await;
    let half = cancelled.refreshed().await.unwrap();
    assert_eq!(half.status(), Status::Cancelling);
    assert_eq!(paths(&half).await, ["order.reserve"]);
    assert_eq!(ids(&runtime, Status::Cancelling).await, [id]);
    assert_eq!(ids(&runtime, Status::Running).await, [other]);
    assert!(ids(&runtime, Status::Cancelled).await.is_empty());
    // The first reason holds.
    let again = executions.cancel(id, "again").await.unwrap();
    assert_eq!(again.status(), Status::Cancelling);

    let ended = cancelled.settled().await.unwrap();
    assert_eq!(
        (ended.status(), ended.reason()),
        (Status::Cancelled, Some("too late"))
    );
    assert_eq!(paths(&ended).await, [""; 0]);
    assert!(ids(&runtime, Status::Cancelling).await.is_empty());
    assert_eq!(ids(&runtime, Status::Cancelled).await, [id]);
    executions
        .cancel(other, "")
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_that_counts_towards_a_limit_counts_until_it_is_undone() {
    let runtime = runtime(store(), Order::new());
    let options = || StartOptions::new().concurrency_key("ann", std::num::NonZeroU32::MIN);
    let executions = runtime.executions();
    let first = executions.start::<Order>(order(), options()).await.unwrap();
    let second = executions.start::<Order>(order(), options()).await.unwrap();
    work(100).await;
    let cancelled = executions.cancel(first.id(), "").await.unwrap();
    work(100).await;
    let waiting = second.refreshed().await.unwrap();
    assert_eq!(waiting.status(), Status::Queued);
    assert_eq!(
        cancelled.refreshed().await.unwrap().status(),
        Status::Cancelling
    );
    cancelled.settled().await.unwrap();
    work(10).await;
    let begun = second.refreshed().await.unwrap();
    assert_eq!(begun.status(), Status::Running);
    executions
        .cancel(begun.id(), "")
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_that_crashes_meanwhile_is_cancelling_and_is_undone_by_the_next_process() {
    let shared = store();
    let lease = Duration::from_millis(60);
    let options = || RuntimeOptions::new().clock(clock()).lease(lease);
    let first = Runtime::with_options(shared.clone(), options());
    first.register(Order::new()).unwrap();
    let id = start::<Order>(&first, order()).await;
    work(100).await;
    first.executions().cancel(id, "late").await.unwrap();
    work(50).await;
    first.shut_down().await;
    let second = Runtime::with_options(shared, options());
    assert_eq!(ids(&second, Status::Cancelling).await, [id]);
    second.register(Order::new()).unwrap();
    second.recover().await.unwrap();
    let execution = second.executions().get(id).await.unwrap();
    assert_eq!(execution.status(), Status::Cancelling);
    assert_eq!(
        execution.settled().await.unwrap().status(),
        Status::Cancelled
    );
    assert_eq!(done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_whose_undo_node_fails_is_cancelling_and_halted() {
    let runtime = runtime(store(), Order::new());
    CLOSED.set(true);
    let id = start::<Order>(&runtime, order()).await;
    work(100).await;
    let executions = runtime.executions();
    let cancelled = executions.cancel(id, "late").await.unwrap();
    let error = cancelled.settled().await.unwrap_err();
    assert!(matches!(error, RuntimeError::Halted { .. }), "{error}");
    let halted = cancelled.refreshed().await.unwrap();
    assert_eq!(halted.status(), Status::Cancelling);
    let reason = halted.halted().unwrap();
    assert!(
        reason.contains("order.reserve") && reason.contains("the shop is closed"),
        "{reason}"
    );
    assert_eq!(paths(&halted).await, ["order.reserve"]);
    let listed = ListOptions::new().status(Status::Cancelling).halted(true);
    assert_eq!(executions.list(listed).await.unwrap().len(), 1);
    // It is tried again if it continues.
    CLOSED.set(false);
    let continued = executions.retry(id).await.unwrap();
    assert_eq!(
        (continued.status(), continued.halted()),
        (Status::Cancelling, None)
    );
    let ended = continued.settled().await.unwrap();
    assert_eq!(
        (ended.status(), ended.reason()),
        (Status::Cancelled, Some("late"))
    );
    assert_eq!(done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_ended_without_undoing_says_what_stays() {
    let runtime = runtime(store(), Order::new());
    CLOSED.set(true);
    let id = start::<Order>(&runtime, order()).await;
    work(100).await;
    let executions = runtime.executions();
    let cancelled = executions.cancel(id, "late").await.unwrap();
    cancelled.settled().await.unwrap_err();
    let ended = executions.end_without_undoing(id, "enough").await.unwrap();
    assert_eq!(
        (ended.status(), ended.reason()),
        (Status::Cancelled, Some("enough"))
    );
    assert_eq!(paths(&ended).await, ["order.reserve"]);
    assert_eq!(done(), ["reserve"]);
    CLOSED.set(false);
    DONE.take();
}

#[tokio::test(start_paused = true)]
async fn what_is_committed_or_of_the_original_is_not_undone() {
    for every in [1, 256] {
        let every = std::num::NonZeroUsize::new(every).unwrap();
        let options = RuntimeOptions::new().clock(clock()).snapshot_every(every);
        let runtime = Runtime::with_options(store(), options);
        runtime.register(Kept::new()).unwrap();
        let id = start::<Kept>(&runtime, KeptInput::builder().build()).await;
        work(5).await;
        let executions = runtime.executions();
        let execution = executions.get(id).await.unwrap();
        assert_eq!(paths(&execution).await, [""; 0], "it is under way");
        work(100).await;
        let execution = execution.refreshed().await.unwrap();
        assert_eq!(paths(&execution).await, ["kept.pay.charge"]);
        let step = &execution.undoable().await.unwrap()[0];
        assert_eq!(
            (step.step(), step.visit(), step.item()),
            ("kept.pay.charge", 1, None)
        );
        let copy = executions
            .copy(id, execution.record_count() - 1)
            .await
            .unwrap();
        assert_eq!(paths(&copy).await, [""; 0]);
        for id in [copy.id(), id] {
            let cancelled = executions.cancel(id, "").await.unwrap();
            cancelled.settled().await.unwrap();
        }
        assert_eq!(done(), ["reserve"]);
        DONE.take();
    }
}

/// Starts an execution that asks, and ends its process.
async fn asks(shared: &crate::support::Shared) -> ExecutionId {
    let first = runtime(shared.clone(), Asked::new());
    let id = start::<Asked>(&first, asked()).await;
    let asking = first.executions().get(id).await.unwrap();
    let asking = asking.settled().await.unwrap();
    assert_eq!(asking.status(), Status::Paused);
    first.shut_down().await;
    id
}

#[tokio::test(start_paused = true)]
async fn one_that_asks_is_waited_for_until_it_is_undone_elsewhere() {
    let shared = store();
    let id = asks(&shared).await;
    let without = Runtime::with_options(shared.clone(), crate::support::options());
    let cancelled = without.executions().cancel(id, "late").await.unwrap();
    assert_eq!(cancelled.status(), Status::Cancelling);
    let (settled, ()) = tokio::join!(cancelled.settled(), async {
        work(500).await;
        let second = runtime(shared, Asked::new());
        second.recover().await.unwrap();
        second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
    });
    assert_eq!(settled.unwrap().status(), Status::Cancelled);
    assert_eq!(done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_that_no_process_can_undo_is_not_waited_for_in_vain() {
    let shared = store();
    let id = asks(&shared).await;
    let without = Runtime::with_options(shared.clone(), crate::support::options());
    let cancelled = without.executions().cancel(id, "late").await.unwrap();
    let error = tokio::time::timeout(Duration::from_secs(3600), cancelled.settled());
    let error = error.await.unwrap().unwrap_err();
    assert!(
        matches!(&error, RuntimeError::NotRegistered { flow } if flow == "Asked"),
        "{error}"
    );
    // It stays cancelled, and is undone later.
    let second = runtime(shared, Asked::new());
    second.recover().await.unwrap();
    let execution = second.executions().get(id).await.unwrap();
    assert_eq!(
        execution.settled().await.unwrap().status(),
        Status::Cancelled
    );
    assert_eq!(done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_that_begins_while_it_is_cancelled_is_undone() {
    let shared = store();
    let slow = Faulty::new(&shared, SlowEnds);
    let options = || RuntimeOptions::new().clock(clock());
    let first = Runtime::with_options(slow, options().concurrent_executions(0));
    first.register(Order::new()).unwrap();
    let id = start::<Order>(&first, order()).await;
    let executions = first.executions();
    assert_eq!(executions.get(id).await.unwrap().status(), Status::Queued);
    let second = Runtime::with_options(shared.clone(), options());
    second.register(Order::new()).unwrap();
    // The store ends it after 50 ms. By then, the other process has begun it.
    let (cancelled, _) = tokio::join!(executions.cancel(id, "late"), second.recover());
    assert_eq!(done(), ["reserve", "charge"]);
    let cancelled = cancelled.unwrap();
    assert_eq!(cancelled.status(), Status::Cancelling);
    let ended = cancelled.settled().await.unwrap();
    assert_eq!(
        (ended.status(), ended.reason()),
        (Status::Cancelled, Some("late"))
    );
    assert_eq!(done(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_that_has_not_begun_ends_at_once() {
    let options = RuntimeOptions::new()
        .clock(clock())
        .concurrent_executions(0);
    let runtime = Runtime::with_options(store(), options);
    runtime.register(Order::new()).unwrap();
    let id = start::<Order>(&runtime, order()).await;
    let ended = runtime.executions().cancel(id, "late").await.unwrap();
    assert_eq!(
        (ended.status(), ended.reason()),
        (Status::Cancelled, Some("late"))
    );
}

mod with_undo {
    use super::*;

    flow! {
        /// Asks first.
        pub(crate) Later() -> () {
            node reserve: reserve with undo = release;
            start >> Approval;
            Approval - "yes" >> reserve >> end;
        }
    }
}

mod without_undo {
    use super::*;

    flow! {
        /// A later version of the one that asks first.
        pub(crate) Later() -> () {
            node reserve: reserve;
            start >> Approval;
            Approval - "yes" >> reserve >> end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_whose_new_version_undoes_nothing_ends_as_it_is() {
    let shared = store();
    let first = runtime(shared.clone(), with_undo::Later::new());
    let input = with_undo::LaterInput::builder().build();
    let id = start::<with_undo::Later>(&first, input).await;
    let asking = first.executions().get(id).await.unwrap();
    asking.settled().await.unwrap();
    first.shut_down().await;
    let without = Runtime::with_options(shared.clone(), crate::support::options());
    let cancelled = without.executions().cancel(id, "late").await.unwrap();
    assert_eq!(cancelled.status(), Status::Cancelling);
    let second = runtime(shared, without_undo::Later::new());
    second.recover().await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(3600), cancelled.settled());
    let ended = ended.await.unwrap().unwrap();
    assert_eq!(
        (ended.status(), ended.reason()),
        (Status::Cancelled, Some("late"))
    );
}

mod charged_with_undo {
    use super::*;

    flow! {
        /// Asks when something is done that can be undone.
        pub(crate) Charged() -> () {
            node reserve: reserve with undo = release;
            start >> reserve >> Approval;
            Approval - "yes" >> end;
        }
    }
}

mod charged_without_undo {
    use super::*;

    flow! {
        /// A later version, in which what was done could not be undone.
        pub(crate) Charged() -> () {
            node reserve: reserve;
            start >> reserve >> Approval;
            Approval - "yes" >> end;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_version_that_cannot_undo_what_was_done_does_not_take_it() {
    for snapshot_every in [256, 1] {
        let shared = store();
        let options = || {
            let every = NonZeroUsize::new(snapshot_every).unwrap();
            crate::support::options().snapshot_every(every)
        };
        let first = Runtime::with_options(shared.clone(), options());
        first.register(charged_with_undo::Charged::new()).unwrap();
        let input = charged_with_undo::ChargedInput::builder().build();
        let id = start::<charged_with_undo::Charged>(&first, input).await;
        let asking = first.executions().get(id).await.unwrap();
        asking.settled().await.unwrap();
        first.shut_down().await;
        assert_eq!(done(), ["reserve"]);
        let second = Runtime::with_options(shared.clone(), options());
        second
            .register(charged_without_undo::Charged::new())
            .unwrap();
        let cancelled = second.executions().cancel(id, "late").await.unwrap();
        let refused = tokio::time::timeout(Duration::from_secs(3600), cancelled.settled());
        let refused = refused.await.unwrap();
        assert!(
            matches!(refused, Err(RuntimeError::FlowChanged { .. })),
            "{refused:?}"
        );
        second.shut_down().await;
        assert_eq!(done(), ["reserve"]);
        let third = Runtime::with_options(shared, options());
        third.register(charged_with_undo::Charged::new()).unwrap();
        third.recover().await.unwrap();
        let execution = third.executions().get(id).await.unwrap();
        let ended = execution.settled().await.unwrap();
        assert_eq!(ended.status(), Status::Cancelled);
        assert_eq!(done(), [""; 0]);
    }
}

mod reserves {
    use super::*;

    flow! {
        pub(crate) Charged() -> () {
            node reserve: reserve with undo = release;
            node charge: charge with undo = refund;
            start >> reserve >> charge >> pack >> end;
        }
    }
}

mod reserves_only {
    use super::*;

    flow! {
        /// An earlier version, in which nothing can be undone.
        pub(crate) Charged() -> () {
            node reserve: reserve;
            node charge: charge;
            start >> reserve >> charge >> pack >> end;
        }
    }
}

/// The step was under way in a version that could not undo it, and nothing was recorded since another
/// version has it. The process that cancels knows neither.
#[tokio::test(start_paused = true)]
async fn a_step_under_way_is_undone_if_its_new_version_can() {
    let shared = store();
    let first = runtime(shared.clone(), reserves_only::Charged::new());
    let input = reserves_only::ChargedInput::builder().build();
    let id = start::<reserves_only::Charged>(&first, input).await;
    work(5).await;
    first.shut_down().await;
    assert_eq!(DONE.take(), ["reserve"]);
    let second = runtime(shared.clone(), reserves::Charged::new());
    second.recover().await.unwrap();
    work(5).await;
    assert_eq!(done(), ["reserve"]);
    let neither = Runtime::with_options(shared, crate::support::options());
    let cancelled = neither.executions().cancel(id, "late").await.unwrap();
    assert_eq!(cancelled.status(), Status::Cancelling);
    let ended = cancelled.settled().await.unwrap();
    assert_eq!(ended.status(), Status::Cancelled);
    assert_eq!(done(), [""; 0]);
}

flow! {
    /// Takes back what it has done, goes on, and asks.
    Again() -> () {
        node reserve: reserve with undo = release;
        start >> reserve >> undo >> charge >> Approval;
        Approval - "yes" >> end;
    }
}

/// The copy has recorded more behind the step that undoes nothing of the original.
#[tokio::test(start_paused = true)]
async fn a_copy_that_undoes_nothing_of_its_original_continues() {
    let shared = store();
    let first = runtime(shared.clone(), Again::new());
    let id = start::<Again>(&first, AgainInput::builder().build()).await;
    let executions = first.executions();
    let original = executions.get(id).await.unwrap().settled().await.unwrap();
    let journal = original.journal().await.unwrap();
    let done = journal
        .iter()
        .find(|record| record.kind == RecordKind::Undoable);
    let copy = executions.copy(id, done.unwrap().seq + 1).await.unwrap();
    let copy = copy.settled().await.unwrap();
    assert_eq!(copy.status(), Status::Paused);
    first.shut_down().await;
    let second = runtime(shared, Again::new());
    let copy = second.executions().get(copy.id()).await.unwrap();
    let question = copy.questions().await.unwrap().remove(0);
    let token = question.token();
    let answered = second.executions().resume(token, Approval::Yes);
    let ended = answered.await.unwrap().settled().await.unwrap();
    assert_eq!(ended.status(), Status::Completed);
    let journal = ended.journal().await.unwrap();
    assert!(!journal.iter().any(|record| record.step.ends_with("!undo")));
}

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [
        Order, Asked, Kept, Pay, with_undo::Later, without_undo::Later, charged_with_undo::Charged,
        charged_without_undo::Charged, reserves::Charged, reserves_only::Charged, Again,
    ],
}
