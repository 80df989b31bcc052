//! What a process does when the store has done something, and nobody hears of it.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Waker};
use std::time::Duration;

use flow_durable::{Execution, ListOptions, Runtime, StartOptions, Status, StoreError};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};

use crate::gates::{Gate, Stops, StopsInput, stops};
use crate::stores::{Fault, Faulty};
use crate::support::{Shared, minutes, options, pass, runtime, settled, store};

/// Whether to go on.
#[node(human = "Go on?")]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Consent {
    Yes,
    No,
}

flow! {
    Consents() -> () {
        start >> Consent;
        Consent - "yes" >> end;
        Consent - "no" >> end("no");
    }
}

fn cut() -> StoreError {
    StoreError::Other("the connection was cut".into())
}

/// Loses the replies to the first claims.
#[derive(Debug)]
struct SilentClaims(AtomicUsize);

impl Fault for SilentClaims {
    fn after(&self, method: &'static str) -> Result<(), StoreError> {
        let loses = |left: usize| left.checked_sub(1);
        if method == "claim"
            && self
                .0
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, loses)
                .is_ok()
        {
            return Err(cut());
        }
        Ok(())
    }
}

/// Each claim whose reply was lost is given up, however many there were: otherwise a process that
/// runs something else would prolong it for as long as it lives.
#[tokio::test(start_paused = true)]
async fn claims_of_which_nobody_heard_are_given_up_each_time() {
    for lost in 1..4 {
        let (shared, gate) = (store(), Gate::closed());
        let id = answered(&shared).await;

        let silent = Faulty::new(&shared, SilentClaims(AtomicUsize::new(lost)));
        let process = runtime(silent.clone(), Consents::new());
        process.register(stops(&gate, 1)).unwrap();
        let input = StopsInput { number: 1 };
        let busy = process
            .executions()
            .start::<Stops>(input, StartOptions::new());
        let busy = busy.await.unwrap();
        process.recover().await.unwrap();
        pass(minutes(10)).await;

        assert_eq!(silent.fault.0.load(Ordering::SeqCst), 0);
        let execution = process.executions().get(id).await.unwrap();
        assert_eq!(execution.status(), Status::Completed, "{lost} were lost");
        gate.open();
        assert_eq!(busy.settled().await.unwrap().status(), Status::Completed);
    }
}

/// An execution that is answered, and that nobody has claimed.
async fn answered(shared: &Shared) -> flow_durable::ExecutionId {
    let asks = runtime(shared.clone(), Consents::new());
    let execution = settled::<Consents>(&asks, ConsentsInput {}).await;
    let token = execution.questions().await.unwrap()[0].token();
    asks.shut_down().await;
    let knows_no_flow = Runtime::with_options(shared.clone(), options());
    let executions = knows_no_flow.executions();
    executions.resume(token, Consent::Yes).await.unwrap();
    execution.id()
}

/// Cancels what is started, before it loses the reply.
#[derive(Debug)]
struct CancelsAtOnce(Runtime);

impl Fault for CancelsAtOnce {
    fn after(&self, method: &'static str) -> Result<(), StoreError> {
        if method != "create" {
            return Ok(());
        }
        let cancelled = async {
            let executions = self.0.executions();
            for execution in executions.list(ListOptions::new()).await.unwrap() {
                executions.cancel(execution.id(), "too late").await.unwrap();
            }
        };
        let mut cx = TaskContext::from_waker(Waker::noop());
        assert!(
            pin!(cancelled).poll(&mut cx).is_ready(),
            "a store in memory does not wait"
        );
        Err(cut())
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_of_which_nobody_heard_does_not_run_if_it_was_cancelled_meanwhile() {
    let (shared, gate) = (store(), Gate::closed());
    let other = Runtime::with_options(shared.clone(), options());
    let process = runtime(Faulty::new(&shared, CancelsAtOnce(other)), stops(&gate, 1));
    let input = StopsInput { number: 1 };
    let started = process
        .executions()
        .start::<Stops>(input, StartOptions::new());
    let execution: Execution = started.await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(gate.runs(), 0);
    let execution = execution.settled().await.unwrap();
    assert_eq!(execution.status(), Status::Cancelled);
    assert_eq!(execution.reason(), Some("too late"));
}

flow_law::law! {
    nodes: [Consent],
    flows: [
        Consents,
    ],
}
