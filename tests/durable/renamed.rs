//! Steps that are found again although their function, or their name in the flow, is another one now.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use flow_durable::{
    DurableFlow, Execution, ExecutionId, RecordKind, Runtime, RuntimeError, StartOptions, Status,
    Store as _,
};
use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::gates::{Gate, Gated};
use crate::stores::{CrashAfter, Faulty};
use crate::support::{Shared, minutes, options, outcomes, pass, runtime, seen, store};

thread_local! {
    /// The ids under which each piece of work was done.
    static IDS: RefCell<BTreeMap<String, BTreeSet<String>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Does some work for the world outside, which knows it by the id of the step.
pub(crate) async fn act(cx: &Context, what: &str, of: u64) {
    IDS.with_borrow_mut(|ids| {
        let ids = ids.entry(format!("{what} {of}")).or_default();
        ids.insert(cx.step_id());
    });
    sleep(Duration::from_millis(10)).await;
}

/// The work that was done.
pub(crate) fn done() -> Vec<String> {
    IDS.with_borrow(|ids| ids.keys().cloned().collect())
}

/// Asserts that all work was done under one id each, and returns how much there was.
pub(crate) fn each_once() -> usize {
    IDS.with_borrow_mut(|ids| {
        for (what, ids) in &*ids {
            assert_eq!(ids.len(), 1, "{what}: {ids:?}");
        }
        std::mem::take(ids).len()
    })
}

#[node(writes = number)]
async fn quote(cx: &Context, number: &u64) -> u64 {
    act(cx, "quote", *number).await;
    number + 1
}

/// Does what `quote` does.
#[node(writes = number)]
async fn get_quote(cx: &Context, number: &u64) -> u64 {
    act(cx, "quote", *number).await;
    number + 1
}

#[node(writes = charged)]
async fn charge(cx: &Context, number: &u64) -> Result<u64, String> {
    act(cx, "charge", *number).await;
    match cx.attempt() {
        0 => Err("busy".to_owned()),
        _ => Ok(number * 10),
    }
}

#[node(writes = checked)]
async fn check(cx: &Context, charged: &u64) -> bool {
    act(cx, "check", *charged).await;
    charged.is_multiple_of(10)
}

#[node(writes = shipped)]
async fn ship(cx: &Context, item: &u64, number: &u64) -> u64 {
    act(cx, "ship", number * 100 + item).await;
    *item
}

#[node]
async fn mail(cx: &Context, number: &u64) {
    act(cx, "mail", *number).await;
}

#[node]
async fn print(cx: &Context, number: &u64) {
    act(cx, "print", *number).await;
    sleep(Duration::from_millis(7)).await;
}

#[node]
async fn slowly(number: &u64) {
    let _ = number;
    sleep(Duration::from_secs(5)).await;
}

#[node]
async fn quickly(cx: &Context, number: &u64) {
    act(cx, "quickly", *number).await;
}

mod old {
    use super::*;

    flow! {
        pub(crate) Pay(number: u64) -> (checked: bool) {
            node charge: charge with retry(attempts = 3, wait = "1s");
            start >> charge >> check >> end;
        }
    }

    flow! {
        pub(crate) Shop(number: u64, items: Vec<u64>) -> (number: u64, log: Option<Vec<u64>>) {
            node quote: quote;
            node pay: Pay with timeout = "1m";
            node lines: for item in items { ship { shipped -> +log } } with concurrency(2);
            node both: [mail, print];
            node race: first { slowly => "slow", quickly => "quick" };
            branch more(number) { *number < 3 => "again", else => "enough" }
            start >> quote >> pay >> lines >> both >> race;
            race - "slow" >> more;
            race - "quick" >> wait(5s) >> more;
            more - "again" >> quote;
            more - "enough" >> end;
        }
    }
}

mod new {
    use super::*;

    flow! {
        pub(crate) Pay(number: u64) -> (checked: bool) {
            node take: charge with was = "charge", retry(attempts = 3, wait = "1s");
            start >> take >> check >> end;
        }
    }

    flow! {
        pub(crate) Shop(number: u64, items: Vec<u64>) -> (number: u64, log: Option<Vec<u64>>) {
            node price: get_quote with was = "quote";
            node payment: Pay with timeout = "1m", was = "pay";
            node parcels: for item in items { ship { shipped -> +log } } with concurrency(2), was = "lines";
            node letter: mail with was = "mail";
            node at_once: [letter, print] with was = "both";
            node fast: quickly with was = "quickly";
            node winner: first { slowly => "slow", fast => "quick" } with was = "race";
            branch more(number) { *number < 3 => "again", else => "enough" }
            start >> price >> payment >> parcels >> at_once >> winner;
            winner - "slow" >> more;
            winner - "quick" >> wait(5s) >> more;
            more - "again" >> price;
            more - "enough" >> end;
        }
    }
}

/// A process with a flow, until it ends or its store fails. Returns what it ends with.
pub(crate) async fn process<F: DurableFlow>(
    store: impl flow_durable::Store,
    flow: F,
    every: usize,
    id: Option<ExecutionId>,
) -> Result<Execution, RuntimeError> {
    let options = options()
        .lease(Duration::from_millis(60))
        .snapshot_every(NonZeroUsize::new(every).unwrap());
    let runtime = Runtime::with_options(store, options);
    runtime.register(flow)?;
    let execution = match id {
        Some(id) => {
            let recovered = runtime.recover().await?;
            if let Some((_, error)) = recovered.refused.into_iter().next() {
                return Err(error);
            }
            runtime.executions().get(id).await?
        }
        None => {
            let input = json!({ "number": 1, "items": [4, 5, 6] });
            let executions = runtime.executions();
            executions
                .start_json(F::NAME, input, StartOptions::new())
                .await?
        }
    };
    let settled = execution.settled().await;
    runtime.shut_down().await;
    settled
}

/// The only execution that is no part of a loop.
pub(crate) async fn only(store: &Shared) -> ExecutionId {
    let listed = store.list(&Default::default()).await.unwrap();
    let mut rows = listed.into_iter().flatten();
    rows.find(|row| row.copied_from.is_none()).unwrap().id
}

/// The process ends at each append in turn, and another one with the renamed nodes continues, which ends after some
/// appends as well; then one with the old names has it again, and the last one has the new names. Nothing is done
/// under two ids.
#[tokio::test(start_paused = true)]
async fn whatever_is_renamed_is_done_once() {
    for every in [256, 4, 1] {
        let counted = Faulty::new(&store(), CrashAfter::appends(usize::MAX));
        let undisturbed = process(counted.clone(), old::Shop::new(), every, None)
            .await
            .unwrap();
        let expected = undisturbed.output_json().unwrap();
        assert_eq!(undisturbed.status(), Status::Completed);
        let steps = outcomes(&undisturbed.journal().await.unwrap());
        let acts = each_once();
        for appends in 0..counted.fault.made() {
            let store = store();
            let failing = |appends| Faulty::new(&store, CrashAfter::appends(appends));
            let started = process(failing(appends), old::Shop::new(), every, None).await;
            let id = only(&store).await;
            if started.is_err() {
                let _ = process(failing(3), new::Shop::new(), every, Some(id)).await;
                let _ = process(failing(2), old::Shop::new(), every, Some(id)).await;
            }
            let last = process(store.clone(), new::Shop::new(), every, Some(id))
                .await
                .unwrap();
            assert_eq!(last.output_json().unwrap(), expected, "{appends}");
            let journal = last.journal().await.unwrap();
            assert_eq!(outcomes(&journal), steps, "{appends}");
            assert_eq!(each_once(), acts, "{appends}");
        }
    }
}

/// Whether to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[node(human = "Go on with {number}?")]
struct Go {
    yes: bool,
}

#[node(writes = paid)]
fn pay(number: &u64, go: &Go) -> u64 {
    number * 10 + u64::from(go.yes)
}

/// Reads what `quote` wrote, and writes it under its own name.
#[node]
fn doubled(item: &u64) -> u64 {
    item * 2
}

/// Does what `doubled` does.
#[node]
fn twice(item: &u64) -> u64 {
    item * 2
}

/// Writes under its own name.
#[node]
fn offer(number: &u64) -> u64 {
    number + 1
}

/// Does what `offer` does.
#[node]
fn get_offer(number: &u64) -> u64 {
    number + 1
}

macro_rules! versions {
    ($($module:ident: { $($body:tt)* })*) => {
        $(
            mod $module {
                use super::*;

                flow! {
                    pub(crate) Order(number: u64, items: Vec<u64>) -> (paid: u64, passed: Option<u64>) {
                        $($body)*
                    }
                }
            }
        )*

        flow_law::law! {
            nodes: [
                quote, get_quote, charge, check, ship, mail, print, slowly, quickly, pay, doubled, twice, offer,
                get_offer,
            ],
            flows: [],
            left_out: [old::Pay, old::Shop, new::Pay, new::Shop, $($module::Order,)*],
        }
    };
}

versions! {
    asks: {
        node offer: offer;
        node lines: for item in items { doubled };
        node spare: offer { offer -> number };
        node gated: Gated;
        start >> offer >> lines >> spare >> Go >> gated >> pay >> end;
    }
    // Functions have other names, and the keys are the same.
    by_others: {
        node offer: get_offer { get_offer -> offer };
        node lines: for item in items { twice };
        node spare: get_offer { get_offer -> number };
        node gated: Gated;
        start >> offer >> lines >> spare >> Go >> gated >> pay >> end;
    }
    // A key has another name.
    by_another_key: {
        node offer: get_offer;
        node lines: for item in items { doubled };
        node spare: offer { offer -> number };
        node gated: Gated;
        start >> offer >> lines >> spare >> Go >> gated >> pay >> end;
    }
    renamed: {
        node first_offer: offer with was = "offer";
        node lines: for item in items { doubled };
        node second_offer: offer { offer -> number } with was = "spare";
        node decide: human Go with was = "go";
        node held: Gated with was = "gated";
        node paying: pay with was = "pay";
        start >> first_offer >> lines >> second_offer >> decide >> held >> paying >> end;
    }
    renamed_in_silence: {
        node offer: offer;
        node lines: for item in items { doubled };
        node spare: offer { offer -> number };
        node decide: human Go;
        node gated: Gated;
        start >> offer >> lines >> spare >> decide >> gated >> pay >> end;
    }
    renamed_again: {
        node the_offer: offer with was = "first_offer";
        node lines: for item in items { doubled };
        node second_offer: offer { offer -> number } with was = "spare";
        node decide: human Go with was = "go";
        node held: Gated with was = "gated";
        node paying: pay with was = "pay";
        start >> the_offer >> lines >> second_offer >> decide >> held >> paying >> end;
    }
    without_was: {
        node first_offer: offer;
        node lines: for item in items { doubled };
        node second_offer: offer { offer -> number };
        node decide: human Go;
        node held: Gated;
        node paying: pay;
        start >> first_offer >> lines >> second_offer >> decide >> held >> paying >> end;
    }
    of_another_kind: {
        node first_offer: offer with was = "offer";
        node lines: for item in items { doubled };
        node second_offer: offer { offer -> number } with was = "spare";
        node answer: wants_nothing with was = "go";
        node held: Gated with was = "gated";
        node paying: pay with was = "pay";
        start >> first_offer >> lines >> second_offer >> answer >> held >> paying >> end;
    }
}

#[node(writes = go)]
fn wants_nothing() -> Go {
    Go { yes: false }
}

/// An execution that waits for its answer, with the process that began it.
async fn waiting() -> (Shared, ExecutionId) {
    let store = store();
    let first = runtime(
        store.clone(),
        asks::Order::builder().gated(Gate::closed().node(0)).build(),
    );
    let input = asks::OrderInput {
        number: 1,
        items: vec![1, 2],
    };
    let execution = crate::support::settled::<asks::Order>(&first, input).await;
    assert_eq!(execution.status(), Status::Paused);
    first.shut_down().await;
    (store, execution.id())
}

/// Answers the open question, and returns when the execution is over.
async fn answered(runtime: &Runtime, id: ExecutionId) -> Result<Execution, RuntimeError> {
    let token = seen(runtime, id).await.2[0];
    let executions = runtime.executions();
    executions
        .resume(token, json!({ "yes": true }))
        .await?
        .settled()
        .await
}

/// A gate that is open.
fn open() -> Gate {
    let gate = Gate::closed();
    gate.open();
    gate
}

fn changes(refused: &[(ExecutionId, RuntimeError)]) -> Vec<&str> {
    let [(_, RuntimeError::FlowChanged { changes, .. })] = refused else {
        panic!("{refused:?}")
    };
    changes.iter().map(String::as_str).collect()
}

#[tokio::test(start_paused = true)]
async fn other_functions_do_the_same_steps() {
    let (store, id) = waiting().await;
    let gate = open();
    let second = runtime(
        store,
        by_others::Order::builder().gated(gate.node(1)).build(),
    );
    assert!(second.check_executions().await.unwrap().is_empty());
    assert!(second.recover().await.unwrap().refused.is_empty());
    let execution = answered(&second, id).await.unwrap();
    let expected = json!({ "paid": 21, "passed": 3, "end": "default" });
    assert_eq!(execution.output_json().unwrap(), Some(expected));
    let journal = execution.journal().await.unwrap();
    assert!(outcomes(&journal).values().all(|count| *count == 1));
}

#[tokio::test(start_paused = true)]
async fn what_is_written_under_another_key_is_refused() {
    let (store, _) = waiting().await;
    let gate = open();
    let second = runtime(
        store,
        by_another_key::Order::builder().gated(gate.node(1)).build(),
    );
    let refused = second.check_executions().await.unwrap();
    assert_eq!(
        changes(&refused),
        ["`offer` writes `get_offer` instead of `offer`"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_under_another_name() {
    let (store, id) = waiting().await;
    let gate = Gate::closed();
    let second = runtime(
        store.clone(),
        renamed::Order::builder().held(gate.node(1)).build(),
    );
    assert!(second.check_executions().await.unwrap().is_empty());
    assert!(second.recover().await.unwrap().refused.is_empty());
    let token = seen(&second, id).await.2[0];
    let executions = second.executions();
    let execution = executions
        .resume(token, json!({ "yes": true }))
        .await
        .unwrap();
    pass(minutes(1)).await;
    second.shut_down().await;

    // The old version continues in turn, in the middle of a step, which keeps its id.
    let open = open();
    let third = runtime(store, asks::Order::builder().gated(open.node(1)).build());
    assert!(third.recover().await.unwrap().refused.is_empty());
    let execution = execution_of(&third, execution.id())
        .await
        .settled()
        .await
        .unwrap();
    let expected = json!({ "paid": 21, "passed": 3, "end": "default" });
    assert_eq!(execution.output_json().unwrap(), Some(expected));
    let step = format!("{id}/order.gated");
    assert_eq!((gate.calls.of(&step), open.calls.of(&step)), (1, 1));
    let steps: BTreeSet<String> = outcomes(&execution.journal().await.unwrap())
        .into_keys()
        .collect();
    let expected = ["gated", "lines[0]", "lines[1]", "offer", "pay", "spare"];
    assert_eq!(steps, expected.map(|step| format!("order.{step}")).into());
}

async fn execution_of(runtime: &Runtime, id: ExecutionId) -> Execution {
    runtime.executions().get(id).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn its_structure_has_the_names_of_its_journal() {
    let (store, id) = waiting().await;
    let gate = open();
    let second = runtime(
        store.clone(),
        renamed::Order::builder().held(gate.node(1)).build(),
    );
    let execution = answered(&second, id).await.unwrap();
    assert_eq!(execution.status(), Status::Completed);
    let text = execution.structure().await.unwrap().unwrap();
    let structure = flow_spec::FlowDocument::parse_spec(&text).unwrap();
    let names: Vec<&str> = structure.nodes.iter().map(|node| &*node.id).collect();
    assert!(
        names.contains(&"offer") && names.contains(&"go") && !names.contains(&"decide"),
        "{names:?}"
    );
    let journal = execution.journal().await.unwrap();
    let state = second
        .executions()
        .state(id, journal.len() as u64 - 1)
        .await
        .unwrap();
    assert_eq!(state.flows["order"]["paid"], json!(21));
    let last = journal.len() as u64 - 1;
    let writes = second.executions().writes(id, last).await.unwrap();
    assert!(format!("{writes:?}").contains("order.offer"), "{writes:?}");
    // A copy of it has these names too.
    let asked = journal
        .iter()
        .find(|record| record.kind == RecordKind::Paused)
        .unwrap();
    let copy = second.executions().copy(id, asked.seq).await.unwrap();
    let copy = copy.settled().await.unwrap();
    let copy = answered(&second, copy.id()).await.unwrap();
    assert_eq!(copy.status(), Status::Completed);
    assert_eq!(copy.structure().await.unwrap(), Some(text));

    // What starts now has the new names.
    let input = renamed::OrderInput {
        number: 1,
        items: vec![],
    };
    let new = crate::support::settled::<renamed::Order>(&second, input).await;
    let new = answered(&second, new.id()).await.unwrap();
    assert!(outcomes(&new.journal().await.unwrap()).contains_key("order.first_offer"));
}

#[tokio::test(start_paused = true)]
async fn a_name_that_changes_in_silence_is_refused() {
    let (store, id) = waiting().await;
    let gate = open();
    let second = runtime(
        store.clone(),
        renamed_in_silence::Order::builder()
            .gated(gate.node(1))
            .build(),
    );
    let refused = second.check_executions().await.unwrap();
    assert_eq!(changes(&refused), ["node `go` was removed"]);
    assert!(answered(&second, id).await.is_err());
    second.shut_down().await;

    // So is one that is another kind of node, even if it says what it was.
    let third = runtime(
        store,
        of_another_kind::Order::builder().held(gate.node(1)).build(),
    );
    let refused = third.check_executions().await.unwrap();
    let changes = changes(&refused);
    assert_eq!(
        changes[0], "`answer` was a `flow.human`, and is a `wants_nothing`",
        "{changes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_execution_that_was_renamed_once_needs_that_version() {
    let (store, id) = waiting().await;
    let gate = open();
    let once = || renamed::Order::builder().held(gate.node(1)).build();
    let twice = || renamed_again::Order::builder().held(gate.node(1)).build();
    let third = runtime(store.clone(), twice());
    let refused = third.check_executions().await.unwrap();
    assert_eq!(
        changes(&refused),
        ["node `offer` was renamed to `the_offer`"]
    );
    third.shut_down().await;
    // The new version that no longer says it.
    let silent = runtime(
        store.clone(),
        without_was::Order::builder().held(gate.node(1)).build(),
    );
    assert_eq!(changes(&silent.check_executions().await.unwrap()).len(), 3);
    silent.shut_down().await;
    // The version between them is kept for as long as it is needed.
    let both = runtime(store.clone(), once());
    both.add_version(twice()).unwrap();
    assert!(both.check_executions().await.unwrap().is_empty());
    assert!(both.recover().await.unwrap().refused.is_empty());
    let forgotten = both.forget_versions(renamed::Order::NAME).await;
    assert_eq!(forgotten.unwrap(), 0);
    let copy = both.executions().copy(id, 0).await.unwrap();
    copy.settled().await.unwrap();
    let copied = answered(&both, copy.id()).await.unwrap();
    let steps = outcomes(&copied.journal().await.unwrap());
    assert!(steps.contains_key("order.offer"), "{steps:?}");
    both.executions().delete(copy.id()).await.unwrap();
    both.shut_down().await;

    let second = runtime(store.clone(), once());
    assert_eq!(
        answered(&second, id).await.unwrap().status(),
        Status::Completed
    );
    let input = renamed::OrderInput {
        number: 1,
        items: vec![],
    };
    let new = crate::support::settled::<renamed::Order>(&second, input).await;
    second.shut_down().await;
    let third = runtime(store, twice());
    assert!(third.check_executions().await.unwrap().is_empty());
    let new = answered(&third, new.id()).await.unwrap();
    let steps = outcomes(&new.journal().await.unwrap());
    assert!(steps.contains_key("order.first_offer"), "{steps:?}");
}

/// An old process could begin a step again that the new one has begun, under another id.
#[tokio::test(start_paused = true)]
async fn an_older_version_does_not_know_the_new_name() {
    let store = store();
    let gate = open();
    let second = runtime(
        store.clone(),
        renamed::Order::builder().held(gate.node(1)).build(),
    );
    let later = StartOptions::new().not_before(std::time::SystemTime::now() + minutes(60_000_000));
    let input = renamed::OrderInput {
        number: 1,
        items: vec![],
    };
    second
        .executions()
        .start::<renamed::Order>(input, later)
        .await
        .unwrap();
    second.shut_down().await;
    let old = runtime(store, asks::Order::builder().gated(gate.node(1)).build());
    let refused = old.check_executions().await.unwrap();
    let changes = changes(&refused);
    assert!(
        changes.contains(
            &"node `order.first_offer` was `offer` before, and this version of the flow is older"
        ),
        "{changes:?}"
    );
}
