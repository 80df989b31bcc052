//! Several processes with one store: an execution belongs to one of them.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flow_durable::{
    Append, ExecutionId, Runtime, RuntimeError, StartOptions, Status, Store, StoreError,
};
use flow_runtime::prelude::*;

use crate::flows::Name;
use crate::gates::{Gate, Later, LaterInput, Stops, StopsInput, later, stops};
use crate::stores::{CrashAfter, Fault, Faulty, NoRenewal, SilentCreation};
use crate::support::{
    clock, lines, minutes, options, outcomes, pass, runtime, seen, settled, store,
};

async fn start(runtime: &Runtime) -> ExecutionId {
    let started = runtime
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap();
    pass(Duration::from_secs(1)).await;
    started.id()
}

#[tokio::test(start_paused = true)]
async fn a_start_that_is_given_up_leaves_no_claim() {
    let (store, gate) = (store(), Gate::closed());
    let first = runtime(Faulty::new(&store, SilentCreation), stops(&gate, 10));
    let start = first
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new());
    let given_up = tokio::time::timeout(Duration::from_millis(1), start).await;
    assert!(given_up.is_err());
    assert_eq!(first.recover().await.unwrap().resumed.len(), 1, "at once");
    pass(Duration::from_secs(1)).await;
    assert_eq!(gate.runs(), 1);
}

#[tokio::test(start_paused = true)]
async fn each_step_is_written_once_and_the_last_with_the_end() {
    let gate = Gate::closed();
    gate.open();
    let store = Faulty::new(&store(), CrashAfter::appends(usize::MAX));
    let execution = settled::<Stops>(
        &runtime(store.clone(), stops(&gate, 1)),
        StopsInput { number: 1 },
    )
    .await;
    assert_eq!(execution.status(), Status::Completed);
    assert_eq!(store.fault.made(), 2);
}

///
#[tokio::test(start_paused = true)]
async fn what_another_process_runs_is_not_to_be_had() {
    let (store, gate) = (store(), Gate::closed());
    let first = runtime(store.clone(), stops(&gate, 10));
    let id = start(&first).await;
    let second = runtime(store, stops(&gate, 20));
    for _ in 0..10 {
        assert!(second.recover().await.unwrap().resumed.is_empty());
        pass(minutes(1)).await;
    }
    assert_eq!(gate.runs(), 1);
    let waiting = tokio::spawn({
        let second = second.clone();
        async move {
            second
                .executions()
                .get(id)
                .await
                .unwrap()
                .settled()
                .await
                .unwrap()
        }
    });
    pass(Duration::from_secs(1)).await;
    gate.open();
    let execution = waiting.await.unwrap();
    assert_eq!(
        execution.output::<Stops>().unwrap().unwrap().passed,
        12,
        "it waits for the other process"
    );
    assert_eq!(gate.runs(), 1);
}

///
#[tokio::test(start_paused = true)]
async fn what_a_process_no_longer_renews_is_taken_over() {
    let (store, slow, quick) = (store(), Gate::closed(), Gate::closed());
    let first = runtime(Faulty::new(&store, NoRenewal), stops(&slow, 10));
    let id = start(&first).await;
    let second = runtime(store, stops(&quick, 20));
    assert!(second.recover().await.unwrap().resumed.is_empty());
    pass(minutes(1)).await;
    assert_eq!(
        (slow.runs(), quick.runs()),
        (1, 1),
        "the repeated recovery has it"
    );

    slow.open();
    pass(minutes(1)).await;
    let between = seen(&second, id).await;
    assert_eq!(between.0, Status::Running);
    assert!(
        !outcomes(&between.1).contains_key("stops.gated"),
        "{}",
        lines(&between.1)
    );

    quick.open();
    for runtime in [&second, &first] {
        let execution = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 22);
        assert!(
            outcomes(&execution.journal().await.unwrap())
                .values()
                .all(|count| *count == 1)
        );
    }
    assert_eq!((slow.runs(), quick.runs()), (1, 1));
}

/// Renews no claim from a time on.
#[derive(Debug, Default)]
struct Renewing(AtomicBool);

impl Fault for Renewing {
    fn renew(&self) -> Result<(), StoreError> {
        if self.0.load(Ordering::SeqCst) {
            Err(StoreError::Other("no connection".into()))
        } else {
            Ok(())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_has_lost_a_claim_drops_the_run_when_it_can_renew_again() {
    let (store, slow, quick) = (store(), Gate::closed(), Gate::closed());
    let failing = Faulty::new(&store, Renewing::default());
    let first = runtime(failing.clone(), stops(&slow, 10));
    let id = start(&first).await;
    failing.fault.0.store(true, Ordering::SeqCst);
    let second = runtime(store, stops(&quick, 20));
    second.recover().await.unwrap();
    pass(minutes(1)).await;
    assert_eq!((quick.runs(), slow.dropped()), (1, 0));
    failing.fault.0.store(false, Ordering::SeqCst);
    pass(Duration::from_secs(11)).await;
    assert_eq!(slow.dropped(), 1, "its step is dropped");
    quick.open();
    let execution = first
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 22);
}

/// Answers later than its claims last, and renews none from a time on.
#[derive(Debug)]
struct Stopped {
    late: Duration,
    renews: AtomicBool,
}

impl Fault for Stopped {
    fn answers_late(&self) -> Duration {
        self.late
    }

    fn renew(&self) -> Result<(), StoreError> {
        if self.renews.load(Ordering::SeqCst) {
            Ok(())
        } else {
            Err(StoreError::Other("no connection".into()))
        }
    }
}

fn stopped(late: Duration) -> Stopped {
    Stopped {
        late,
        renews: AtomicBool::new(false),
    }
}

/// What was stored before the lease ran out is no leave to begin the next step after it.
#[tokio::test(start_paused = true)]
async fn no_step_begins_when_the_lease_is_over() {
    let (store, slow, quick) = (store(), Gate::closed(), Gate::closed());
    let failing = Faulty::new(&store, stopped(minutes(1)));
    let first = runtime(failing.clone(), stops(&slow, 10));
    let id = start(&first).await;
    let second = runtime(store, stops(&quick, 20));
    second.recover().await.unwrap();
    pass(minutes(2)).await;
    assert_eq!((slow.runs(), quick.runs()), (0, 1));
    quick.open();
    pass(minutes(1)).await;
    failing.fault.renews.store(true, Ordering::SeqCst);
    for runtime in [&second, &first] {
        let execution = runtime
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 22);
    }
    assert_eq!((slow.runs(), quick.runs()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_over_is_renewed_before_a_step_begins() {
    let (store, gate) = (store(), Gate::closed());
    let failing = Faulty::new(&store, stopped(minutes(1)));
    let runtime = runtime(failing.clone(), stops(&gate, 10));
    let id = start(&runtime).await;
    pass(minutes(2)).await;
    assert_eq!(gate.runs(), 0, "there is nobody else, but nobody knows");
    failing.fault.renews.store(true, Ordering::SeqCst);
    pass(Duration::from_secs(11)).await;
    assert_eq!(gate.runs(), 1);
    gate.open();
    let execution = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 12);
}

#[node(retry(attempts = 1000, wait = "4s"), writes = passed)]
fn tries(number: &u64) -> Result<u64, String> {
    ATTEMPTS.with(|attempts| attempts.set(attempts.get() + 1));
    Err(format!("{number} is no good"))
}

#[node(poll(every = "4s"), writes = passed)]
fn asks(number: &u64) -> Option<u64> {
    ATTEMPTS.with(|attempts| attempts.set(attempts.get() + 1));
    number.checked_sub(100)
}

thread_local! {
    static ATTEMPTS: Cell<u32> = const { Cell::new(0) };
}

flow! {
    Tries(number: u64) -> (passed: u64) {
        start >> tries >> end;
    }
}

flow! {
    Asks(number: u64) -> (passed: u64) {
        start >> asks >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_tried_or_asked_again_when_the_lease_is_over() {
    let store = store();
    let failing = Faulty::new(&store, stopped(Duration::ZERO));
    let first = runtime(failing.clone(), Tries::new());
    first.register(Asks::new()).unwrap();
    let tries = first
        .executions()
        .start::<Tries>(TriesInput { number: 1 }, StartOptions::new());
    tries.await.unwrap();
    let asks = first
        .executions()
        .start::<Asks>(AsksInput { number: 1 }, StartOptions::new());
    asks.await.unwrap();
    pass(minutes(10)).await;
    assert_eq!(ATTEMPTS.get(), 16, "at once, and after 4, 8, … 28 s");
    failing.fault.renews.store(true, Ordering::SeqCst);
    pass(minutes(1)).await;
    assert!(ATTEMPTS.get() > 30);
}

/// Fails after a minute, and has done with it at once.
struct FallsBack;

#[node(writes = passed)]
impl FallsBack {
    async fn exec(&self, number: &u64) -> Result<u64, String> {
        tokio::time::sleep(minutes(1)).await;
        Err(format!("{number} is no good"))
    }

    fn exec_fallback(&self, error: &NodeError, number: &u64) -> u64 {
        ATTEMPTS.with(|attempts| attempts.set(attempts.get() + 1));
        number + u64::from(error.attempts())
    }
}

flow! {
    Falls(number: u64) -> (passed: u64) {
        node falls: FallsBack = FallsBack;
        start >> falls >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_falls_back_when_the_lease_is_over() {
    let failing = Faulty::new(&store(), stopped(Duration::ZERO));
    let runtime = runtime(failing.clone(), Falls::new());
    let falls = runtime
        .executions()
        .start::<Falls>(FallsInput { number: 1 }, StartOptions::new());
    falls.await.unwrap();
    pass(minutes(10)).await;
    assert_eq!(ATTEMPTS.get(), 0);
    failing.fault.renews.store(true, Ordering::SeqCst);
    pass(minutes(1)).await;
    assert_eq!(ATTEMPTS.get(), 1);
}

flow! {
    Named(number: u64) -> (name: Name) {
        start >> Name >> end;
    }
}

/// Lets another process take an execution over just after this one has claimed it, if it is told to.
#[derive(Debug, Default)]
struct Overtaken(Mutex<Option<ExecutionId>>);

impl Fault for Overtaken {
    fn append(&self, _: &Append) -> Result<(), StoreError> {
        match *self.0.lock().unwrap() {
            Some(id) => Err(StoreError::LeaseLost(id)),
            None => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_accepted_though_another_process_is_quicker_to_go_on() {
    let store = store();
    let slow = Faulty::new(&store, Overtaken::default());
    let first = runtime(slow.clone(), Named::new());
    let paused = settled::<Named>(&first, NamedInput { number: 1 }).await;
    let token = paused.questions().await.unwrap()[0].token();
    *slow.fault.0.lock().unwrap() = Some(paused.id());
    let name = Name { name: "Ann".into() };
    let answered = first
        .executions()
        .resume(token, name.clone())
        .await
        .unwrap();

    pass(minutes(1)).await;
    let second = runtime(store, Named::new());
    assert_eq!(second.recover().await.unwrap().resumed, [answered.id()]);
    let execution = answered.settled().await.unwrap();
    assert_eq!(execution.output::<Named>().unwrap().unwrap().name, name);
}

/// A runtime whose clock is an hour ahead of that of the others.
fn ahead(store: impl Store, flow: Stops) -> Runtime {
    let now = clock();
    let hour = Duration::from_secs(3600);
    let runtime = Runtime::with_options(store, options().clock(move || now() + hour));
    runtime.register(flow).unwrap();
    runtime
}

#[tokio::test(start_paused = true)]
async fn what_a_process_had_whose_clock_is_ahead_is_taken_over_after_two_leases() {
    let (store, gone, quick) = (store(), Gate::closed(), Gate::closed());
    let first = ahead(Faulty::new(&store, NoRenewal), stops(&gone, 10));
    let id = start(&first).await;
    let second = runtime(store, stops(&quick, 20));
    assert!(second.recover().await.unwrap().resumed.is_empty());
    pass(Duration::from_secs(29)).await;
    assert_eq!(quick.runs(), 0, "it has its lease, by any clock");
    pass(Duration::from_secs(31)).await;
    assert_eq!(quick.runs(), 1);
    quick.open();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 22);
}

#[tokio::test(start_paused = true)]
async fn what_a_process_runs_whose_clock_is_ahead_stays_its_own() {
    let (store, gate, other) = (store(), Gate::closed(), Gate::closed());
    let first = ahead(store.clone(), stops(&gate, 10));
    let id = start(&first).await;
    let second = runtime(store, stops(&other, 20));
    for _ in 0..100 {
        assert!(second.recover().await.unwrap().resumed.is_empty());
        pass(Duration::from_secs(7)).await;
    }
    assert_eq!((gate.runs(), other.runs(), gate.dropped()), (1, 0, 0));
    gate.open();
    let execution = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, 12);
}

/// By its clock all claims are ahead. It takes none of them over, since their holders renew them, and what one has that is
/// gone when it would.
#[tokio::test(start_paused = true)]
async fn a_process_whose_clock_is_behind_takes_over_only_what_nobody_renews() {
    let (store, gate, gone, late) = (store(), Gate::closed(), Gate::closed(), Gate::closed());
    let first = ahead(store.clone(), stops(&gate, 10));
    let id = start(&first).await;
    let dead = ahead(Faulty::new(&store, NoRenewal), stops(&gone, 20));
    let other = start(&dead).await;
    let second = runtime(store, stops(&late, 30));
    second.recover().await.unwrap();
    pass(Duration::from_secs(29)).await;
    assert_eq!(late.runs(), 0, "it may be renewed");
    pass(Duration::from_secs(200)).await;
    assert_eq!(late.runs(), 1);
    assert_eq!((gate.runs(), gate.dropped()), (1, 0));
    for (gate, id, passed) in [(&gate, id, 12), (&late, other, 32)] {
        gate.open();
        let execution = second
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap();
        assert_eq!(execution.output::<Stops>().unwrap().unwrap().passed, passed);
    }
}

#[tokio::test(start_paused = true)]
async fn what_another_process_runs_can_be_cancelled() {
    let (store, gate) = (store(), Gate::closed());
    let first = runtime(store.clone(), stops(&gate, 10));
    let id = start(&first).await;
    let second = runtime(store, stops(&gate, 20));
    second.executions().cancel(id, "cancelled").await.unwrap();
    let before = seen(&second, id).await;
    pass(Duration::from_secs(11)).await;
    assert_eq!(gate.dropped(), 1, "at the latest when it renews its claim");
    gate.open();
    pass(minutes(1)).await;
    assert_eq!(seen(&first, id).await, before);
    assert_eq!(
        first
            .executions()
            .get(id)
            .await
            .unwrap()
            .settled()
            .await
            .unwrap()
            .status(),
        Status::Cancelled
    );
}

#[tokio::test(start_paused = true)]
async fn a_runtime_that_is_shut_down_starts_nothing() {
    let (store, gate) = (store(), Gate::closed());
    let first = runtime(store.clone(), stops(&gate, 10));
    let id = start(&first).await;
    first.shut_down().await;
    assert_eq!(gate.dropped(), 1);
    let error = first
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    assert!(
        matches!(error, RuntimeError::ShutDown(of) if of == id),
        "{error}"
    );
    let error = first
        .executions()
        .start::<Stops>(StopsInput { number: 1 }, StartOptions::new())
        .await
        .unwrap_err();
    assert!(matches!(error, RuntimeError::ShutDown(_)), "{error}");
    let second = runtime(store, stops(&gate, 20));
    assert!(
        second.recover().await.unwrap().resumed.contains(&id),
        "at once"
    );
}

/// It need not be renewed.
#[tokio::test(start_paused = true)]
async fn a_lease_without_an_end_lasts_for_years() {
    let gate = Gate::closed();
    let store = Faulty::new(&store(), NoRenewal);
    let runtime = Runtime::with_options(store, options().lease(Duration::MAX));
    runtime.register(later(&gate, 1)).unwrap();
    let started = runtime
        .executions()
        .start::<Later>(LaterInput { number: 1 }, StartOptions::new());
    let started = started.await.unwrap();
    pass(2 * 365 * 24 * minutes(60)).await;
    gate.open();
    let settled = tokio::time::timeout(minutes(1), started.settled()).await;
    let execution = settled.expect("the next step begins at once").unwrap();
    assert_eq!(execution.output::<Later>().unwrap().unwrap().number, 2);
}

#[tokio::test(start_paused = true)]
async fn what_a_process_gives_up_was_written_to_then() {
    let gate = Gate::closed();
    let runtime = runtime(store(), stops(&gate, 1));
    let id = start(&runtime).await;
    let before = runtime.executions().get(id).await.unwrap().updated_at();
    pass(minutes(1)).await;
    runtime.shut_down().await;
    let after = runtime.executions().get(id).await.unwrap().updated_at();
    assert!(after.duration_since(before).unwrap() >= minutes(1));
}

flow_law::law! {
    nodes: [tries, asks, Name],
    flows: [
        Falls with [FallsBack = FallsBack],
        Named,
    ],
    left_out: [Tries, Asks],
}

/// Hears of its first claim only when that has run out, as a process that is stopped meanwhile.
#[derive(Debug)]
struct FirstClaimLate(AtomicBool);

impl Fault for FirstClaimLate {
    fn claims_late(&self) -> Duration {
        if self.0.swap(false, Ordering::SeqCst) {
            Duration::from_secs(40)
        } else {
            Duration::ZERO
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_claims_of_one_process_the_newer_one_counts() {
    let (store, gate) = (store(), Gate::closed());
    let gone = runtime(store.clone(), later(&gate, 10));
    let input = LaterInput { number: 1 };
    let started = gone
        .executions()
        .start::<Later>(input, StartOptions::new())
        .await;
    let id = started.unwrap().id();
    gone.shut_down().await;

    let late = Faulty::new(&store, FirstClaimLate(AtomicBool::new(true)));
    let runtime = runtime(late, later(&gate, 10));
    let first = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.recover().await }
    });
    pass(Duration::from_secs(35)).await;
    assert_eq!(runtime.recover().await.unwrap().resumed, [id], "again");
    let waiting = tokio::spawn({
        let runtime = runtime.clone();
        async move { runtime.executions().get(id).await.unwrap().settled().await }
    });
    pass(Duration::from_secs(10)).await;
    first.await.unwrap().unwrap();
    pass(minutes(2)).await;
    gate.open();
    let settled = tokio::time::timeout(minutes(2), waiting).await;
    let execution = settled.expect("it ends").unwrap().unwrap();
    assert_eq!(execution.output::<Later>().unwrap().unwrap().number, 2);
    assert_eq!(gate.runs(), 1, "the older claim begins nothing");
}
