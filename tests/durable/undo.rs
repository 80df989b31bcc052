//! Undoing in durable runs: what stands in a ledger is balanced however a run ends, wherever its
//! process crashes, and whenever it is cancelled.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use flow_durable::{
    DurableFlow, Execution, ExecutionId, RecordKind, Runtime, StartOptions, Status, Store as _,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::prefixes::the_same_from_everywhere;
use crate::stores::{CrashAfter, Faulty};
use crate::support::{Shared, lines, options, outcomes, runtime, store};

thread_local! {
    /// By the id of a step: what it did, and whether that was taken back.
    static LEDGER: RefCell<BTreeMap<String, bool>> = const { RefCell::new(BTreeMap::new()) };
    /// How often `quick` ran.
    static QUICK: RefCell<usize> = const { RefCell::new(0) };
    /// Undo nodes fail while this is true.
    static BROKEN: RefCell<bool> = const { RefCell::new(false) };
}

/// The entries of an execution that were not taken back, without its id.
fn open(id: ExecutionId) -> Vec<String> {
    let prefix = format!("{id}/");
    LEDGER.with_borrow(|ledger| {
        let entries = ledger.iter().filter(|(_, undone)| !**undone);
        let own = entries.filter_map(|(step, _)| step.strip_prefix(&prefix));
        own.map(str::to_owned).collect()
    })
}

/// The number of entries of an execution.
fn entries(id: ExecutionId) -> usize {
    let prefix = format!("{id}/");
    LEDGER.with_borrow(|ledger| {
        ledger
            .keys()
            .filter(|step| step.starts_with(&prefix))
            .count()
    })
}

async fn work(millis: u64) {
    sleep(Duration::from_millis(millis)).await;
}

/// Enters what it does in the ledger, in the middle of its work. A second attempt at the same visit
/// enters nothing more.
#[derive(Clone, Serialize, Deserialize)]
struct Act {
    name: String,
    millis: u64,
}

impl Act {
    fn new(name: &str, millis: u64) -> Self {
        Act {
            name: name.to_owned(),
            millis,
        }
    }
}

#[node(writes = receipt)]
impl Act {
    async fn exec(&self, cx: &Context, fate: &str) -> Result<String, String> {
        work(self.millis / 2).await;
        let again = fate.strip_suffix(" again") == Some(&*self.name);
        if fate == self.name || again && cx.attempt() == 0 {
            return Err(format!("{} fails", self.name));
        }
        let id = cx.step_id();
        let (_, step) = id.split_once('/').unwrap();
        let receipt = step.to_owned();
        LEDGER.with_borrow_mut(|ledger| {
            ledger.entry(id).or_insert(false);
        });
        work(self.millis / 2).await;
        Ok(receipt)
    }
}

/// Takes back what stands under a receipt.
#[node]
async fn reverse(cx: &Context, receipt: &str) -> Result<(), String> {
    work(4).await;
    if BROKEN.with_borrow(|broken| *broken) {
        return Err("the bank is closed".to_owned());
    }
    let id = cx.step_id();
    let (execution, step) = id.split_once('/').unwrap();
    assert_eq!(step, format!("{receipt}!undo"));
    let before =
        LEDGER.with_borrow_mut(|ledger| ledger.insert(format!("{execution}/{receipt}"), true));
    assert!(before.is_some(), "{id} undoes what was never done");
    work(4).await;
    Ok(())
}

#[node(writes = checked)]
async fn check(receipt: &str, fate: &str) -> Result<usize, String> {
    work(6).await;
    if fate == "check" {
        return Err("check fails".to_owned());
    }
    Ok(receipt.len())
}

#[node(writes = mailed)]
async fn mail(fate: &str) -> Result<bool, String> {
    work(6).await;
    if fate == "mail" {
        return Err("mail fails".to_owned());
    }
    Ok(true)
}

#[node]
async fn linger(fate: &str) {
    let late = 2000;
    work(if fate == "slow" { late } else { 8 }).await;
}

flow! {
    /// A flow in the saga.
    Pay(fate: String) -> (checked: usize) {
        node charge: Act = Act::new("charge", 10) with undo = reverse;
        start >> charge >> check >> end;
    }
}

flow! {
    /// One parcel. The third one may fail.
    Ship(parcel: u64, fate: String) -> (receipt: String) {
        node ship: Act = Act::new("ship", 12) with undo = reverse;
        branch lost(parcel, fate) { *parcel == 3 && fate == "parcel" => "yes", else => "no" }
        start >> ship >> lost;
        lost - "no" >> end;
        lost - "yes" >> refuse >> end;
    }
}

#[node]
async fn refuse() -> Result<(), String> {
    work(2).await;
    Err("the parcel is lost".to_owned())
}

flow! {
    /// Everything that can be undone: steps, a flow, a fork, a loop and a race.
    Saga(fate: String, parcels: Vec<u64>) -> (mailed: Option<bool>) {
        node undo_reserve: reverse { receipt <- reserved };
        node undo_label: reverse { receipt <- label };
        node undo_invoice: reverse { receipt <- invoice };
        node undo_hold: reverse { receipt <- held };
        node reserve: Act { receipt -> reserved } = Act::new("reserve", 10) with undo = undo_reserve;
        node label: Act { receipt -> label } = Act::new("label", 14) with undo = undo_label, retry(attempts = 2, wait = "15ms");
        node invoice: Act { receipt -> invoice } = Act::new("invoice", 8) with undo = undo_invoice;
        node hold: Act { receipt -> held } = Act::new("hold", 10) with undo = undo_hold;
        node ships: for parcel in parcels { Ship } with concurrency(2);
        node outcome: first { hold >> linger => "held", wait(1s) => "late" };
        start >> reserve >> Pay >> [label, invoice] >> ships >> outcome;
        outcome - "held" >> commit >> mail >> end;
        outcome - "late" >> undo >> end("late");
        ships - "error" >> undo >> end("unshipped");
        mail - "error" >> undo >> end("unmailed");
    }
}

const FATES: [&str; 12] = [
    "",
    "reserve",
    "charge",
    "check",
    "label",
    "invoice",
    "ship",
    "parcel",
    "hold",
    "slow",
    "mail",
    "label again",
];

fn input(fate: &str) -> SagaInput {
    SagaInput {
        fate: fate.to_owned(),
        parcels: vec![1, 2, 3, 4],
    }
}

const LEASE: Duration = Duration::from_millis(60);

fn process<F: DurableFlow>(store: impl flow_durable::Store, flow: F, every: usize) -> Runtime {
    let every = NonZeroUsize::new(every).unwrap();
    let options = options().lease(LEASE).snapshot_every(every);
    let runtime = Runtime::with_options(store, options);
    runtime.register(flow).unwrap();
    runtime
}

/// The ledger is balanced, or the run has passed `commit`.
async fn balanced(execution: &Execution, what: &str) {
    let journal = execution.journal().await.unwrap();
    let mut finished = journal
        .iter()
        .filter(|record| record.kind == RecordKind::NodeFinished);
    let is_committed = finished.any(|record| record.step == "saga.commit");
    let (open, status) = (open(execution.id()), execution.status());
    assert!(status.is_over(), "{what}: {status:?}");
    if is_committed {
        assert_eq!(open.len(), 9, "{what}: {status:?} {open:?}");
    } else {
        assert_eq!(open, [""; 0], "{what}: {status:?}");
    }
}

async fn settled(runtime: &Runtime, id: ExecutionId) -> Execution {
    let execution = runtime.executions().get(id).await.unwrap();
    execution.settled().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_failure_is_undone() {
    for fate in FATES {
        let runtime = process(store(), Saga::new(), 256);
        let started = runtime
            .executions()
            .start::<Saga>(input(fate), StartOptions::new());
        let execution = started.await.unwrap().settled().await.unwrap();
        balanced(&execution, fate).await;
        let expected = match fate {
            "" | "mail" | "slow" | "ship" | "parcel" | "label again" => Status::Completed,
            _ => Status::Failed,
        };
        assert_eq!(execution.status(), expected, "{fate}");
        assert!(entries(execution.id()) > 0 || fate == "reserve", "{fate}");
        let journal = execution.journal().await.unwrap();
        assert!(outcomes(&journal).values().all(|count| *count == 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_undoes_ends_as_it_did_wherever_a_process_crashes() {
    let late = json!({ "mailed": null, "end": "late" });
    for (fate, expected) in [
        ("slow", late),
        ("parcel", json!({ "mailed": null, "end": "unshipped" })),
        ("mail", json!({ "mailed": null, "end": "unmailed" })),
    ] {
        let output = the_same_from_everywhere(Saga::new, || input(fate), |_| None).await;
        assert_eq!(output["end"], expected["end"], "{fate}");
    }
}

/// Runs the saga until it is over: see [`disturbed_flow`].
async fn disturbed(
    fate: &str,
    appends: usize,
    cancel_ms: Option<u64>,
    every: usize,
) -> (Execution, bool) {
    disturbed_flow(Saga::new, || input(fate), appends, cancel_ms, every).await
}

/// Runs until it is over, in one process, which crashes after so many appends, and then in another
/// one. Cancels it after a time, unless it is over. Returns true if it has crashed.
async fn disturbed_flow<F: DurableFlow>(
    flow: fn() -> F,
    input: impl Fn() -> F::Input,
    appends: usize,
    cancel_ms: Option<u64>,
    every: usize,
) -> (Execution, bool) {
    let shared: Shared = store();
    let failing = Faulty::new(&shared, CrashAfter::appends(appends));
    let first = process(failing.clone(), flow(), every);
    let executions = first.executions();
    let started = executions.start::<F>(input(), StartOptions::new()).await;
    let listed = shared.list(&Default::default()).await.unwrap();
    let id = listed[0].as_ref().unwrap().id;
    let cancel = async |runtime: &Runtime| match cancel_ms {
        None => true,
        Some(_) => runtime.executions().cancel(id, "too late").await.is_ok(),
    };
    let mut is_cancelled = cancel_ms.is_none();
    if started.is_ok() {
        let crash = async {
            while failing.fault.made() <= appends {
                sleep(LEASE).await;
            }
        };
        let run = async {
            if let Some(after) = cancel_ms {
                work(after).await;
                is_cancelled = cancel(&first).await;
            }
            let _ = executions.get(id).await.unwrap().settled().await;
        };
        tokio::select! {
            biased;
            () = crash => {}
            () = run => {}
        }
    }
    let crashed = failing.fault.made() > appends;
    first.shut_down().await;
    drop(first);
    sleep(LEASE).await;
    let second = process(shared, flow(), every);
    second.recover().await.unwrap();
    if !is_cancelled {
        cancel(&second).await;
    }
    let execution = second.executions().get(id).await.unwrap();
    match execution.settled().await {
        Ok(execution) => (execution, crashed),
        Err(error) => {
            let journal = lines(&execution.journal().await.unwrap());
            panic!(
                "{error}, {appends} appends, cancelled after {cancel_ms:?}, snapshots {every}\n{journal}"
            )
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_is_undone_wherever_a_process_crashes() {
    for fate in FATES {
        for every in [256, 1] {
            for appends in 0.. {
                let (execution, crashed) = disturbed(fate, appends, None, every).await;
                balanced(
                    &execution,
                    &format!("{fate}, a crash after {appends} appends"),
                )
                .await;
                if !crashed {
                    break;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_is_undone_first() {
    let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
    for fate in ["", "slow", "parcel"] {
        for after in 0..160 {
            let (execution, _) = disturbed(fate, usize::MAX - 1, Some(after), 256).await;
            balanced(&execution, &format!("{fate}, cancelled after {after} ms")).await;
            if execution.status() == Status::Cancelled {
                assert_eq!(execution.reason(), Some("too late"));
            }
            *statuses
                .entry(format!("{:?}", execution.status()))
                .or_default() += 1;
        }
    }
    assert!(statuses["Cancelled"] > 200, "{statuses:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_cancelled_is_undone_wherever_a_process_crashes() {
    for (fate, every) in [("", 256), ("slow", 1), ("label again", 256)] {
        for after in (0..130).step_by(3) {
            for appends in (0..60).step_by(2) {
                let (execution, crashed) = disturbed(fate, appends, Some(after), every).await;
                let what =
                    format!("{fate}, cancelled after {after} ms, a crash after {appends} appends");
                balanced(&execution, &what).await;
                if !crashed {
                    break;
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_undo_node_that_fails_halts_and_is_tried_again() {
    let runtime = process(store(), Saga::new(), 256);
    BROKEN.set(true);
    let started = runtime
        .executions()
        .start::<Saga>(input("parcel"), StartOptions::new());
    let id = started.await.unwrap().id();
    let error = runtime
        .executions()
        .get(id)
        .await
        .unwrap()
        .settled()
        .await
        .unwrap_err();
    let text = format!("{error:#}");
    assert!(text.contains("what `saga.ships["), "{text}");
    assert!(text.contains("the bank is closed"), "{text}");
    assert_eq!(open(id).len(), entries(id));
    BROKEN.set(false);
    runtime.executions().retry(id).await.unwrap();
    let execution = settled(&runtime, id).await;
    balanced(&execution, "continued").await;
    assert_eq!(execution.status(), Status::Completed);
}

#[tokio::test(start_paused = true)]
async fn an_execution_says_what_was_undone() {
    let runtime = runtime(store(), Saga::new());
    let started = runtime
        .executions()
        .start::<Saga>(input("slow"), StartOptions::new());
    let execution = started.await.unwrap().settled().await.unwrap();
    let journal = execution.journal().await.unwrap();
    let undone = journal
        .iter()
        .filter(|record| record.kind == RecordKind::Outcome);
    let undone = undone.filter_map(|record| record.path.strip_suffix("!undo"));
    let undone: Vec<&str> = undone.collect();
    assert_eq!(
        undone,
        [
            "saga.hold",
            "saga.ships[3].ship",
            "saga.ships[2].ship",
            "saga.ships[1].ship",
            "saga.ships[0].ship",
            "saga.label",
            "saga.invoice",
            "saga.pay.charge",
            "saga.reserve",
        ]
    );
    let last = journal.last().unwrap().seq;
    for record in &journal {
        runtime
            .executions()
            .state(execution.id(), record.seq)
            .await
            .unwrap();
    }
    runtime
        .executions()
        .writes(execution.id(), last)
        .await
        .unwrap();
}

flow! {
    /// A race that is won while the step of the other branch is under way, and one of whose branches
    /// forgets what it has done.
    Late(fate: String) -> (receipt: Option<String>) {
        node outcome: first { hold => "held", wait(7ms) => "late" };
        node hold: Act = Act::new("hold", 10) with undo = reverse;
        node second: first { Kept => "kept", wait(25ms) => "late" };
        start >> outcome;
        outcome - "held" >> end("held");
        outcome - "late" >> second;
        second - "kept" >> end("kept");
        second - "late" >> undo >> end("late");
    }
}

flow! {
    /// What it has done stays, since it says so.
    Kept(fate: String) -> () {
        node keep: Act = Act::new("keep", 10) with undo = reverse;
        node pause: linger;
        start >> keep >> commit >> pause >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn the_branch_that_was_first_is_the_first_again_and_what_was_committed_stays() {
    let input = || LateInput {
        fate: "slow".to_owned(),
    };
    for every in [256, 1] {
        for appends in 0.. {
            let (execution, crashed) = disturbed_flow(Late::new, input, appends, None, every).await;
            let what = format!("a crash after {appends} appends");
            assert_eq!(output(&execution)["end"], "late", "{what}");
            let journal = execution.journal().await.unwrap();
            let mut commits = journal.iter();
            let expected = if commits.any(|record| record.kind == RecordKind::Committed) {
                vec!["late.second.kept.keep"]
            } else {
                // The race was lost before.
                Vec::new()
            };
            assert_eq!(open(execution.id()), expected, "{what}");
            assert_eq!(entries(execution.id()), 2, "{what}");
            if !crashed {
                break;
            }
        }
    }
}

fn output(execution: &Execution) -> serde_json::Value {
    execution.output_json().unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_undone_can_be_ended_without() {
    let runtime = process(store(), Saga::new(), 256);
    BROKEN.set(true);
    let executions = runtime.executions();
    let started = executions.start::<Saga>(input("parcel"), StartOptions::new());
    let id = started.await.unwrap().id();
    assert!(executions.get(id).await.unwrap().settled().await.is_err());
    let cancelled = executions.cancel(id, "enough").await.unwrap();
    assert!(cancelled.settled().await.is_err());
    let ended = executions.end_without_undoing(id, "enough").await.unwrap();
    assert_eq!(ended.status(), Status::Cancelled);
    assert_eq!(open(id).len(), entries(id));
    BROKEN.set(false);
}

#[tokio::test(start_paused = true)]
async fn a_copy_undoes_only_what_it_has_done_itself() {
    for prunes in [false, true] {
        let options = options()
            .lease(LEASE)
            .snapshot_every(NonZeroUsize::new(20).unwrap());
        let options = if prunes {
            options.prune_history()
        } else {
            options
        };
        let runtime = Runtime::with_options(store(), options);
        runtime.register(Saga::new()).unwrap();
        let executions = runtime.executions();
        let started = executions.start::<Saga>(input("slow"), StartOptions::new());
        let original = started.await.unwrap().settled().await.unwrap();
        for record in original.journal().await.unwrap() {
            let copy = executions.copy(original.id(), record.seq).await.unwrap();
            let copy = copy.settled().await.unwrap();
            assert_eq!(output(&copy)["end"], "late", "{prunes} {}", record.seq);
            assert_eq!(open(copy.id()), [""; 0], "{prunes} {}", record.seq);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_execution_can_be_looked_at_as_it_was() {
    for after in 0..60 {
        let runtime = process(store(), Saga::new(), 256);
        let executions = runtime.executions();
        let started = executions.start::<Saga>(input("label again"), StartOptions::new());
        let id = started.await.unwrap().id();
        work(after).await;
        // A step that rests between two attempts then is dropped at once.
        executions.cancel(id, "too late").await.unwrap();
        let execution = settled(&runtime, id).await;
        for record in execution.journal().await.unwrap() {
            let state = executions.state(id, record.seq).await;
            assert!(state.is_ok(), "{after} ms, {record:?}: {state:?}");
        }
    }
}

#[node]
fn quick(receipt: &str) {
    assert!(!receipt.is_empty());
    QUICK.with_borrow_mut(|count| *count += 1);
}

flow! {
    /// A step that takes no time is behind one that can be undone.
    Quick(fate: String) -> () {
        node hold: Act = Act::new("hold", 10) with undo = reverse;
        start >> hold >> quick >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn no_step_begins_behind_one_that_is_finished_because_of_a_cancellation() {
    let runtime = process(store(), Quick::new(), 256);
    BROKEN.set(true);
    let executions = runtime.executions();
    let input = QuickInput {
        fate: String::new(),
    };
    let started = executions.start::<Quick>(input, StartOptions::new()).await;
    let id = started.unwrap().id();
    work(2).await;
    let cancelled = executions.cancel(id, "too late").await.unwrap();
    assert!(cancelled.settled().await.is_err());
    let continued = executions.retry(id).await.unwrap();
    assert!(continued.settled().await.is_err());
    BROKEN.set(false);
    executions.retry(id).await.unwrap();
    let execution = settled(&runtime, id).await;
    balanced(&execution, "cancelled").await;
    assert_eq!(execution.status(), Status::Cancelled);
    assert_eq!((entries(id), QUICK.with_borrow(|count| *count)), (1, 0));
}

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [Saga, Pay, Ship, Late, Kept, Quick],
}
