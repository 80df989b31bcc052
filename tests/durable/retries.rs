//! Attempts across crashes: their number, and which failures were found to be final.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use flow_durable::{Execution, ExecutionId, RecordKind, Runtime, StartOptions, Status, StoreError};
use flow_runtime::prelude::*;
use serde_json::json;
use tokio::sync::watch;

use crate::flows::work;
use crate::prefixes::{the_same_after_each_crash, the_same_from_everywhere};
use crate::stores::{Faulty, Refusing};
use crate::support::{Calls, Shared, lines, minutes, pass, runtime, store};

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
enum Refusal {
    #[error("busy")]
    Busy,
    #[error("broken")]
    Broken,
}

impl Refusal {
    fn is_transient(&self) -> bool {
        *self == Refusal::Busy
    }
}

/// By its type, which an error that is read from a journal has lost.
fn is_busy(error: &NodeError) -> bool {
    error.downcast_ref() == Some(&Refusal::Busy)
}

/// The opposite, which would accept an error that is read from a journal.
fn is_not_broken(error: &NodeError) -> bool {
    error.downcast_ref() != Some(&Refusal::Broken)
}

fn says_busy(error: &NodeError) -> bool {
    error.error().to_string() == "busy"
}

async fn started<F: flow_durable::DurableFlow>(runtime: &Runtime, input: F::Input) -> ExecutionId {
    let started = runtime.executions().start::<F>(input, StartOptions::new());
    started.await.unwrap().id()
}

/// How often the journal has such a record of a path.
async fn count(execution: &Execution, kind: RecordKind, path: &str) -> usize {
    let journal = execution.journal().await.unwrap();
    let records = journal.iter().filter(|record| record.kind == kind);
    records.filter(|record| record.path == path).count()
}

struct Unlucky {
    calls: Calls,
}

#[node(writes = lucky, retry(attempts = 3, wait = "1h"))]
impl Unlucky {
    fn exec(&self, cx: &Context) -> Result<u32, Refusal> {
        self.calls.call(format!("attempt {}", cx.attempt()));
        Err(Refusal::Busy)
    }
}

#[node(writes = told)]
fn tell(error: &NodeError) -> String {
    format!("{error:#}")
}

flow! {
    Luck() -> (lucky: Option<u32>, told: Option<String>) {
        node unlucky: Unlucky;
        start >> unlucky >> end;
        unlucky - "error" >> tell >> end("unlucky");
    }
}

fn luck(store: &Shared, calls: &Calls) -> Runtime {
    let unlucky = Unlucky {
        calls: calls.clone(),
    };
    runtime(store.clone(), Luck::builder().unlucky(unlucky).build())
}

#[tokio::test(start_paused = true)]
async fn the_number_of_attempts_survives_a_crash() {
    let (store, calls) = (store(), Calls::default());
    let mut process = luck(&store, &calls);
    let id = started::<Luck>(&process, LuckInput {}).await;
    for _ in 0..2 {
        pass(minutes(1)).await;
        process.shut_down().await;
        process = luck(&store, &calls);
        process.recover().await.unwrap();
    }
    let execution = process
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let told = "node `luck.unlucky` failed after 3 attempts: busy";
    assert_eq!(
        execution.output::<Luck>().unwrap().unwrap().told.as_deref(),
        Some(told)
    );
    assert_eq!(
        [0, 1, 2].map(|attempt| calls.of(&format!("attempt {attempt}"))),
        [1, 1, 1]
    );
    let failed = count(&execution, RecordKind::AttemptFailed, "luck.unlucky");
    assert_eq!(failed.await, 3);
}

#[tokio::test(start_paused = true)]
async fn a_copy_counts_its_attempts_anew() {
    let (store, calls) = (store(), Calls::default());
    let process = luck(&store, &calls);
    let id = started::<Luck>(&process, LuckInput {}).await;
    let original = process
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap();
    let journal = original.journal().await.unwrap();
    let mut failures = journal
        .iter()
        .filter(|record| record.kind == RecordKind::AttemptFailed);
    let second = failures.nth(1).unwrap();
    let copy = process.executions().copy(id, second.seq).await.unwrap();

    // In the copy, the first attempt has failed, and a crash does not make it another copy.
    pass(minutes(1)).await;
    process.shut_down().await;
    let process = luck(&store, &calls);
    process.recover().await.unwrap();
    let copy = process.executions().get(copy.id()).await.unwrap();
    copy.settled().await.unwrap();
    assert_eq!(
        [0, 1, 2].map(|attempt| calls.of(&format!("attempt {attempt}"))),
        [2, 2, 2]
    );
}

/// Its fallback waits until it is told to go on.
struct FallsBack {
    calls: Calls,
    open: watch::Receiver<bool>,
}

#[node(writes = text, retry(attempts = 3, if = Refusal::is_transient))]
impl FallsBack {
    fn prep(&self, number: &u64) -> Result<u64, Refusal> {
        self.calls.call("prep");
        Ok(*number)
    }

    fn exec(&self, cx: &Context, prep_res: &u64) -> Result<String, Refusal> {
        self.calls.call(format!("exec {}", cx.attempt()));
        match (*prep_res, cx.attempt()) {
            (2, 0) => Err(Refusal::Busy),
            (3, _) => Err(Refusal::Busy),
            _ => Err(Refusal::Broken),
        }
    }

    async fn exec_fallback(
        &self,
        cx: &Context,
        error: &NodeError,
        prep_res: &u64,
    ) -> Result<String, Refusal> {
        self.calls.call(format!("fallback {}", cx.attempt()));
        self.open.clone().wait_for(|open| *open).await.unwrap();
        match prep_res {
            4 => Err(Refusal::Busy),
            _ => Ok(format!("{error:#}")),
        }
    }
}

flow! {
    Falls(number: u64) -> (text: String) {
        node falls: FallsBack;
        start >> falls >> end;
    }
}

/// The calls, if the store refuses everything about the node.
async fn without_store(number: u64) -> [usize; 3] {
    let refusing = Refusing {
        refuses: AtomicBool::new(true),
        from_path: "falls.falls",
        reason: || StoreError::Other("the disk is away".into()),
    };
    let (calls, (_, open)) = (Calls::default(), watch::channel(true));
    let falls = FallsBack {
        calls: calls.clone(),
        open,
    };
    let flow = Falls::builder().falls(falls).build();
    let runtime = runtime(Faulty::new(&store(), refusing), flow);
    let started = runtime
        .executions()
        .start::<Falls>(FallsInput { number }, StartOptions::new());
    started.await.unwrap().settled().await.unwrap_err();
    ["exec 0", "exec 1", "fallback 0"].map(|call| calls.of(call))
}

#[tokio::test(start_paused = true)]
async fn an_attempt_and_a_fallback_begin_when_the_failure_before_is_stored() {
    assert_eq!(without_store(1).await, [1, 0, 0]);
    assert_eq!(without_store(3).await, [1, 0, 0]);
}

/// The crash is in the fallback. The number of attempts, and how it ends.
async fn fallen(number: u64) -> (usize, String) {
    let (store, calls) = (store(), Calls::default());
    let (opened, open) = watch::channel(false);
    let process = || {
        let falls = FallsBack {
            calls: calls.clone(),
            open: open.clone(),
        };
        runtime(store.clone(), Falls::builder().falls(falls).build())
    };
    let first = process();
    let id = started::<Falls>(&first, FallsInput { number }).await;
    pass(Duration::from_millis(1)).await;
    first.shut_down().await;
    let attempts = [0, 1, 2].map(|attempt| calls.of(&format!("exec {attempt}")));
    let fallback = format!("fallback {}", attempts.iter().sum::<usize>() - 1);
    assert_eq!(calls.of(&fallback), 1);

    opened.send(true).unwrap();
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
    assert_eq!(
        [0, 1, 2].map(|attempt| calls.of(&format!("exec {attempt}"))),
        attempts,
        "`exec` has run again"
    );
    assert_eq!((calls.of("prep"), calls.of(&fallback)), (2, 2));
    let attempts: usize = attempts.iter().sum();
    let gave_up = count(&execution, RecordKind::GaveUp, "falls.falls").await;
    let failed = count(&execution, RecordKind::AttemptFailed, "falls.falls").await;
    // A fallback that fails is recorded as one more failure.
    let of_fallback = usize::from(execution.status() == Status::Failed);
    assert_eq!((gave_up, failed), (1, attempts + of_fallback));
    let text = match execution.output::<Falls>().unwrap() {
        Some(output) => output.text,
        None => execution.reason().unwrap().to_owned(),
    };
    (attempts, text)
}

#[tokio::test(start_paused = true)]
async fn a_crash_in_a_fallback_does_not_run_the_node_again() {
    let node = "node `falls.falls` failed after";
    assert_eq!(fallen(1).await, (1, format!("{node} 1 attempt: broken")));
    assert_eq!(fallen(2).await, (2, format!("{node} 2 attempts: broken")));
    assert_eq!(fallen(3).await, (3, format!("{node} 3 attempts: busy")));
    let of_fallback = format!("{node} 1 attempt: busy: broken");
    assert_eq!(fallen(4).await, (1, of_fallback));
}

thread_local! {
    /// How often the job was asked about in this process.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// The first two attempts in each process fail.
#[node(poll(every = "1h"), retry(attempts = 3, wait = "1m"), writes = done)]
fn job() -> Result<Option<u64>, Refusal> {
    ASKED.set(ASKED.get() + 1);
    if ASKED.get() > 2 {
        Ok(None)
    } else {
        Err(Refusal::Busy)
    }
}

flow! {
    Job() -> (done: u64) {
        start >> job >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_has_all_its_attempts_each_time_that_it_asks_also_after_a_crash() {
    let store = store();
    let mut process = runtime(store.clone(), Job::new());
    let id = started::<Job>(&process, JobInput {}).await;
    // After two attempts that failed it asks, and an hour later again.
    for asked in [4, 3, 3] {
        pass(minutes(70)).await;
        assert_eq!(ASKED.take(), asked);
        process.shut_down().await;
        process = runtime(store.clone(), Job::new());
        process.recover().await.unwrap();
    }
    pass(minutes(10)).await;
    let execution = process.executions().get(id).await.unwrap();
    let journal = execution.journal().await.unwrap();
    assert_eq!(execution.status(), Status::Paused, "{}", lines(&journal));
}

/// The number of the attempt at the flow around it, from 0.
fn attempt_of_flow(cx: &Context) -> u32 {
    let id = cx.step_id();
    let retry = id.split_once('~').map(|(_, rest)| &rest[..1]);
    retry.map_or(0, |retry| retry.parse().unwrap())
}

#[node(writes = page)]
async fn fetch(cx: &Context, final_at: &u32) -> Result<String, Refusal> {
    work(cx, 10).await;
    match attempt_of_flow(cx) {
        attempt if attempt == *final_at => Err(Refusal::Broken),
        0 | 1 => Err(Refusal::Busy),
        attempt => Ok(format!("page {attempt}")),
    }
}

flow! {
    Fetch(final_at: u32) -> (page: String) {
        start >> fetch >> end;
    }
}

#[node(writes = report)]
async fn report(cx: &Context, error: &NodeError) -> String {
    work(cx, 10).await;
    format!("{error:#}")
}

/// Flows around the flow, each with a function of its own.
macro_rules! around {
    ($name:ident, $function:ident) => {
        flow! {
            $name(final_at: u32) -> (page: Option<String>, report: Option<String>) {
                node inner: Fetch with retry(attempts = 4, wait = "50ms", if = $function);
                start >> inner >> end;
                inner - "error" >> report >> end("failed");
            }
        }
    };
}

around!(IfBusy, is_busy);
around!(UnlessBroken, is_not_broken);
around!(IfItSaysBusy, says_busy);

/// An error that a replay reads has lost its type. So the function is not asked a second time.
#[tokio::test(start_paused = true)]
async fn a_replay_finds_what_was_decided_about_a_flow() {
    let failed = |flow: &str, at: u32| {
        let report = format!("node `{flow}.inner.fetch` failed after 1 attempt: broken");
        (at, json!({ "report": report, "end": "failed" }))
    };
    let fine = (9, json!({ "page": "page 2", "end": "default" }));
    for (final_at, expected) in [failed("if_busy", 0), failed("if_busy", 1), fine.clone()] {
        let input = || IfBusyInput { final_at };
        let output = the_same_after_each_crash(IfBusy::new, input, |_| None).await;
        assert_eq!(output, expected);
    }
    for (final_at, expected) in [failed("unless_broken", 0), failed("unless_broken", 1), fine] {
        let input = || UnlessBrokenInput { final_at };
        let output = the_same_after_each_crash(UnlessBroken::new, input, |_| None).await;
        assert_eq!(output, expected);
    }
}

fn is_worth_it(error: &str) -> bool {
    error == "busy"
}

#[node(retry(attempts = 4, wait = "50ms", if = is_worth_it))]
async fn count_up(cx: &Context, final_at: &u32) -> Result<u32, String> {
    work(cx, 10).await;
    match cx.attempt() {
        attempt if attempt <= *final_at => Err("busy".to_owned()),
        attempt => Ok(attempt),
    }
}

struct GivesUp;

#[node(writes = given_up, retry(attempts = 3, wait = "50ms", if = is_worth_it))]
impl GivesUp {
    async fn exec(&self, cx: &Context) -> Result<String, String> {
        work(cx, 10).await;
        Err(["busy", "broken"][cx.attempt() as usize].to_owned())
    }

    async fn exec_fallback(&self, cx: &Context, error: &NodeError) -> String {
        work(cx, 10).await;
        format!("{error:#}")
    }
}

flow! {
    Everything(final_at: u32)
        -> (count_up: u32, given_up: String, page: Option<String>, report: Option<String>)
    {
        node gives_up: GivesUp = GivesUp;
        start >> count_up >> gives_up >> IfItSaysBusy - "failed" >> end;
        IfItSaysBusy >> end("fetched");
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_that_are_continued_anywhere() {
    let input = || EverythingInput { final_at: 1 };
    let output = the_same_from_everywhere(Everything::new, input, |_| None).await;
    assert_eq!(
        output,
        json!({
            "count_up": 2,
            "given_up": "node `everything.gives_up` failed after 2 attempts: broken",
            "report": "node `everything.if_it_says_busy.inner.fetch` failed after 1 attempt: broken",
            "end": "default",
        })
    );
}

flow_law::law! {
    nodes: [tell, job, fetch, report, count_up],
    flows: [
        IfItSaysBusy,
        UnlessBroken,
        IfBusy,
        Fetch,
        Everything with [GivesUp = GivesUp],
    ],
    functions: [is_busy, is_not_broken, says_busy],
    left_out: [Luck, Falls, Job],
}
