//! An execution that only waits for a time is a row in the store: it has no place, and no process has
//! it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flow_durable::{Execution, Runtime, RuntimeError, StartOptions, Status};
use flow_runtime::prelude::*;
use tokio::time::Instant;

use crate::flows::Name;
use crate::support::{Calls, minutes, options, pass, runtime, settled, store};

const DAY: Duration = Duration::from_secs(24 * 3600);

#[node]
fn add_one(number: &u64) -> u64 {
    number + 1
}

flow! {
    Reminder(number: u64) -> (add_one: u64) {
        start >> wait(1d) >> add_one >> end;
    }
}

flow! {
    Soon(number: u64) -> (add_one: u64) {
        start >> wait(4s) >> add_one >> end;
    }
}

flow! {
    AtOnce(number: u64) -> (add_one: u64) {
        start >> add_one >> end;
    }
}

async fn started<F: flow_durable::DurableFlow>(runtime: &Runtime, input: F::Input) -> Execution {
    let started = runtime
        .executions()
        .start::<F>(input, StartOptions::new())
        .await;
    started.unwrap()
}

/// A process that runs one execution at a time.
fn with_one_place() -> Runtime {
    let runtime = Runtime::with_options(store(), options().concurrent_executions(1));
    runtime.register(Reminder::new()).unwrap();
    runtime.register(AtOnce::new()).unwrap();
    runtime
}

#[tokio::test(start_paused = true)]
async fn a_wait_has_no_place() {
    let (runtime, began) = (with_one_place(), Instant::now());
    let reminder = started::<Reminder>(&runtime, ReminderInput { number: 1 }).await;
    pass(Duration::from_secs(1)).await;
    let waiting = reminder.refreshed().await.unwrap();
    assert_eq!(waiting.status(), Status::Paused);
    let due = waiting.continues_at().unwrap();
    let after = due.duration_since(reminder.created_at()).unwrap();
    assert!(
        after >= DAY && after < DAY + Duration::from_secs(1),
        "{after:?}"
    );

    let other = settled::<AtOnce>(&runtime, AtOnceInput { number: 5 }).await;
    assert_eq!(other.output::<AtOnce>().unwrap().unwrap().add_one, 6);
    assert!(began.elapsed() < minutes(1));

    let over = reminder.settled().await.unwrap();
    assert_eq!(over.output::<Reminder>().unwrap().unwrap().add_one, 2);
    assert_eq!(over.continues_at(), None);
    assert_eq!(began.elapsed(), DAY);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_wait_where_one_may_run() {
    let runtime = with_one_place();
    let mut all = Vec::new();
    for number in 0..1000 {
        all.push(started::<Reminder>(&runtime, ReminderInput { number }).await);
    }
    pass(minutes(1)).await;
    for execution in &all {
        assert_eq!(
            execution.refreshed().await.unwrap().status(),
            Status::Paused
        );
    }
    pass(DAY).await;
    for (number, execution) in all.iter().enumerate() {
        let output = execution.refreshed().await.unwrap().output::<Reminder>();
        assert_eq!(output.unwrap().unwrap().add_one, number as u64 + 1);
    }
}

/// To read an execution again would take as long as it waits.
#[tokio::test(start_paused = true)]
async fn a_short_wait_stays_where_it_is() {
    let runtime = runtime(store(), Soon::new());
    let execution = started::<Soon>(&runtime, SoonInput { number: 1 }).await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Running
    );
    execution.settled().await.unwrap();
}

struct Unreliable {
    calls: Calls,
}

#[node(writes = number, retry(attempts = 3, wait = "1h"))]
impl Unreliable {
    fn exec(&self, number: &u64) -> Result<u64, String> {
        self.calls.call("unreliable");
        match self.calls.of("unreliable") {
            3 => Ok(number + 1),
            _ => Err("not yet".into()),
        }
    }
}

flow! {
    Retried(number: u64) -> (number: u64) {
        node unreliable: Unreliable;
        start >> unreliable >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_pause_before_another_attempt_has_no_place() {
    let (calls, began) = (Calls::default(), Instant::now());
    let unreliable = Unreliable {
        calls: calls.clone(),
    };
    let runtime = runtime(store(), Retried::builder().unreliable(unreliable).build());
    let execution = started::<Retried>(&runtime, RetriedInput { number: 1 }).await;
    for attempts in 1..3 {
        pass(minutes(30)).await;
        assert_eq!(
            execution.refreshed().await.unwrap().status(),
            Status::Paused
        );
        assert_eq!(calls.of("unreliable"), attempts);
        pass(minutes(30)).await;
    }
    let over = execution.settled().await.unwrap();
    assert_eq!(over.output::<Retried>().unwrap().unwrap().number, 2);
    assert_eq!((calls.of("unreliable"), began.elapsed()), (3, minutes(120)));
}

/// How often `ready` was asked.
static ASKED: AtomicU64 = AtomicU64::new(0);

#[node(poll(every = "10m"))]
fn ready(number: &u64) -> Option<u64> {
    let asked = ASKED.fetch_add(1, Ordering::Relaxed) + 1;
    (asked == 4).then_some(*number)
}

flow! {
    Polled(number: u64) -> (ready: u64) {
        start >> ready >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_has_no_place_until_it_asks_again() {
    let (runtime, began) = (runtime(store(), Polled::new()), Instant::now());
    let execution = started::<Polled>(&runtime, PolledInput { number: 7 }).await;
    pass(minutes(5)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Paused
    );
    let over = execution.settled().await.unwrap();
    assert_eq!(over.output::<Polled>().unwrap().unwrap().ready, 7);
    let asked = ASKED.load(Ordering::Relaxed);
    assert_eq!((asked, began.elapsed()), (4, minutes(30)));
}

#[node(writes = slow)]
async fn slow(number: &u64) -> u64 {
    pass(minutes(60)).await;
    *number
}

flow! {
    Beside(number: u64) -> (slow: u64) {
        start >> [slow, wait(2h)] >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_beside_a_step_ends_its_place_with_the_step() {
    let (runtime, began) = (runtime(store(), Beside::new()), Instant::now());
    let execution = started::<Beside>(&runtime, BesideInput { number: 7 }).await;
    pass(minutes(30)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Running
    );
    pass(minutes(60)).await;
    assert_eq!(
        execution.refreshed().await.unwrap().status(),
        Status::Paused
    );
    execution.settled().await.unwrap();
    assert_eq!(began.elapsed(), minutes(120));
}

/// The process that had it is gone.
#[tokio::test(start_paused = true)]
async fn another_process_continues_it_in_time() {
    let (store, began) = (store(), Instant::now());
    let first = runtime(store.clone(), Reminder::new());
    let id = started::<Reminder>(&first, ReminderInput { number: 1 })
        .await
        .id();
    pass(minutes(1)).await;
    first.shut_down().await;
    drop(first);
    let second = runtime(store, Reminder::new());
    let recovered = second.recover().await.unwrap();
    assert!(recovered.resumed.is_empty() && recovered.refused.is_empty());
    let over = second
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    assert_eq!(over.status(), Status::Completed);
    // The other process looks for work three times in each lease.
    assert!(began.elapsed() < DAY + minutes(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_is_not_expired_and_can_be_cancelled_and_deleted() {
    let runtime = runtime(store(), Reminder::new());
    let first = started::<Reminder>(&runtime, ReminderInput { number: 1 }).await;
    let second = started::<Reminder>(&runtime, ReminderInput { number: 2 }).await;
    pass(minutes(60)).await;
    assert!(
        runtime
            .executions()
            .expire(minutes(10))
            .await
            .unwrap()
            .is_empty()
    );

    let waits = first.settled();
    let (waited, ()) = tokio::join!(waits, async {
        pass(minutes(1)).await;
        runtime
            .executions()
            .cancel(first.id(), "no longer needed")
            .await
            .unwrap();
    });
    assert_eq!(waited.unwrap().status(), Status::Cancelled);
    runtime.executions().delete(second.id()).await.unwrap();
    pass(DAY).await;
    assert_eq!(first.refreshed().await.unwrap().status(), Status::Cancelled);
    let gone = runtime.executions().get(second.id()).await;
    assert!(matches!(gone, Err(RuntimeError::NotFound(_))));
}

flow! {
    Item(number: u64) -> (add_one: u64) {
        branch parity(number) {
            number % 2 == 0 => "even",
            else => "odd",
        }

        start >> parity;
        parity - "even" >> wait(1h) >> add_one >> end;
        parity - "odd"  >> Name >> add_one;
    }
}

flow! {
    Spread(numbers: Vec<u64>) -> (sums: Vec<u64>) {
        node sums: for number in numbers { Item } with spread(1);
        start >> sums >> end;
    }
}

/// One part asks, and the other one waits for a time: it waits for people only once nothing goes on by
/// itself.
#[tokio::test(start_paused = true)]
async fn a_loop_waits_for_people_when_none_of_its_parts_waits_for_a_time() {
    let (runtime, began) = (runtime(store(), Spread::new()), Instant::now());
    let execution = settled::<Spread>(
        &runtime,
        SpreadInput {
            numbers: vec![1, 2],
        },
    )
    .await;
    assert_eq!(execution.status(), Status::Paused);
    assert_eq!(execution.questions().await.unwrap().len(), 1);
    assert!(began.elapsed() >= minutes(60), "{:?}", began.elapsed());
}

flow_law::law! {
    nodes: [Name, add_one, slow],
    flows: [AtOnce, Beside, Item, Reminder, Soon, Spread],
    left_out: [Polled, Retried],
}
