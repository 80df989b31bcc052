//! Steps in transactions, with a store whose database fails. What they write is a test of each
//! store.

use std::any::Any;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use flow_durable::{
    Append, ExecutionId, RuntimeError, StartOptions, Status, Store as _, StoreError,
};
use flow_runtime::prelude::*;
use flow_store::StoreTransaction;

use crate::stores::{Broken, Fault, Faulty};
use crate::support::{Shared, minutes, outcomes, pass, runtime, store};

/// What steps write with in a transaction here: nothing.
#[derive(Debug)]
pub(crate) struct Rows;

/// A transaction of a store in memory, in which nothing but the outcome is written.
pub(crate) struct OfMemory(Shared, Rows);

impl OfMemory {
    pub(crate) fn new(store: &Shared) -> Self {
        OfMemory(store.clone(), Rows)
    }
}

#[async_trait]
impl StoreTransaction for OfMemory {
    fn handle(&mut self) -> &mut (dyn Any + Send) {
        &mut self.1
    }

    async fn check(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn append(
        self: Box<Self>,
        id: ExecutionId,
        fence: u64,
        append: Append,
    ) -> Result<(), StoreError> {
        self.0.append(id, fence, append).await
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }

    async fn roll_back(self: Box<Self>) {}
}

#[node(transaction, retry(attempts = 2))]
async fn post(tx: &mut Rows, number: &u64) -> Result<u64, String> {
    let _ = tx;
    Ok(number + 1)
}

#[node(transaction)]
async fn post_aside(tx: &mut Rows, number: &u64) -> u64 {
    let _ = tx;
    tokio::time::sleep(Duration::from_secs(1)).await;
    number + 2
}

#[node]
async fn note(number: &u64) -> u64 {
    number + 3
}

flow! {
    Posts(number: u64) -> (post: u64, post_aside: u64, note: u64) {
        start >> [post, post_aside, note] >> end;
    }
}

/// As when an outcome cannot be written: the step has not failed, and goes on when the database does.
#[tokio::test(start_paused = true)]
async fn a_database_that_fails_is_no_failure_of_the_step() {
    let broken = Faulty::new(&store(), Broken::default());
    let runtime = runtime(broken.clone(), Posts::new());
    broken.fault.fail("begin");
    let input = PostsInput { number: 1 };
    let started = runtime
        .executions()
        .start::<Posts>(input, StartOptions::new());
    let execution = started.await.unwrap();
    let halted = execution.settled().await.unwrap_err();
    assert!(matches!(halted, RuntimeError::Store(_)), "{halted:?}");
    let stored = runtime.executions().get(execution.id()).await.unwrap();
    assert_eq!(stored.status(), Status::Running);

    broken.fault.mend();
    runtime.recover().await.unwrap();
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Posts>().unwrap().unwrap();
    assert_eq!((output.post, output.post_aside, output.note), (2, 3, 4));
    let journal = execution.journal().await.unwrap();
    assert!(outcomes(&journal).values().all(|count| *count == 1));
}

thread_local! {
    static BEGUN: Cell<u32> = const { Cell::new(0) };
}

#[node(transaction)]
async fn post_once(tx: &mut Rows, number: &u64) -> u64 {
    let _ = tx;
    BEGUN.set(BEGUN.get() + 1);
    number + 1
}

flow! {
    Once(number: u64) -> (post_once: u64) {
        start >> post_once >> end;
    }
}

/// Begins transactions later than claims last, and renews none, unless it is told to.
#[derive(Debug, Default)]
struct Slow {
    has_recovered: AtomicBool,
}

impl Fault for Slow {
    fn begins_late(&self) -> Duration {
        if self.has_recovered.load(Ordering::SeqCst) {
            Duration::ZERO
        } else {
            minutes(1)
        }
    }

    fn renew(&self) -> Result<(), StoreError> {
        if self.has_recovered.load(Ordering::SeqCst) {
            Ok(())
        } else {
            Err(StoreError::Other("no connection".into()))
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_step_begins_whose_transaction_began_when_the_lease_was_over() {
    let slow = Faulty::new(&store(), Slow::default());
    let runtime = runtime(slow.clone(), Once::new());
    let input = OnceInput { number: 1 };
    let started = runtime
        .executions()
        .start::<Once>(input, StartOptions::new());
    let execution = started.await.unwrap();
    pass(minutes(2)).await;
    assert_eq!(BEGUN.get(), 0, "another process may have it");

    slow.fault.has_recovered.store(true, Ordering::SeqCst);
    let execution = execution.settled().await.unwrap();
    let output = execution.output::<Once>().unwrap().unwrap();
    assert_eq!((output.post_once, BEGUN.get()), (2, 1));
}
