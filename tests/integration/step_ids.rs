//! Each step has an id of its own, also in a run without a store.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_runtime::engine::{Direct, run};
use flow_runtime::prelude::*;

/// The ids, in the order in which the nodes asked.
type Ids = Arc<Mutex<Vec<String>>>;

fn note(ids: &Ids, cx: &Context) {
    ids.lock().unwrap().push(cx.step_id());
}

#[derive(Action)]
enum Again {
    Again { left: u32 },
    Done,
}

#[node(actions = Again)]
fn count(cx: &Context, ids: &Ids, left: u32) -> Again {
    note(ids, cx);
    match left.checked_sub(1) {
        Some(left) => Again::Again { left },
        None => Again::Done,
    }
}

#[node]
fn left_hand(cx: &Context, ids: &Ids) {
    note(ids, cx);
}

#[node]
fn right_hand(cx: &Context, ids: &Ids) {
    note(ids, cx);
}

#[node]
fn pack(cx: &Context, ids: &Ids, parcel: u32) {
    let _ = parcel;
    note(ids, cx);
}

flow! {
    Inner(ids: Ids) {
        start >> left_hand >> end;
    }
}

flow! {
    Places(ids: Ids, left: u32, parcels: Vec<u32>) {
        node packed: for parcel in parcels { pack };
        node inner: Inner;
        node again: Inner;
        start >> count;
        count - "again" >> count;
        count - "done" >> [left_hand, right_hand] >> packed >> inner >> again >> end;
    }
}

fn places(ids: &Ids) -> PlacesInput {
    PlacesInput {
        ids: ids.clone(),
        left: 2,
        parcels: vec![7; 3],
    }
}

/// 3 visits, 2 branches, 3 items, and a flow in 2 places.
const STEPS: usize = 3 + 2 + 3 + 2;

#[tokio::test]
async fn no_two_steps_of_any_runs_have_the_same_id() {
    let ids = Ids::default();
    let flow = Places::new();
    for _ in 0..2 {
        flow.run(places(&ids)).await.unwrap();
        let options = RunOptions::new();
        flow.run_with(places(&ids), options).await.unwrap();
        run(&flow, &Direct::new(), places(&ids)).await.unwrap();
    }
    let ids = ids.lock().unwrap();
    let different: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(
        (ids.len(), different.len()),
        (6 * STEPS, 6 * STEPS),
        "{ids:#?}"
    );
    for id in &*ids {
        let (run, step) = id.split_once('/').unwrap();
        assert!(run.len() > 32 && step.starts_with("places."), "{id}");
    }
}

struct Flaky(Ids);

#[node(retry(attempts = 3))]
impl Flaky {
    fn prep(&self, cx: &Context) {
        note(&self.0, cx);
    }

    fn exec(&self, cx: &Context) -> Result<(), String> {
        note(&self.0, cx);
        Err("no".to_owned())
    }

    fn exec_fallback(&self, cx: &Context) {
        note(&self.0, cx);
    }

    fn post(&self, cx: &Context) {
        note(&self.0, cx);
    }
}

#[node]
async fn slow(cx: &Context, ids: &Ids) {
    note(ids, cx);
    tokio::time::sleep(Duration::from_secs(1)).await;
}

#[node(poll(every = "1ms"))]
fn look(cx: &Context, ids: &Ids) -> Option<u32> {
    note(ids, cx);
    (ids.lock().unwrap().len() >= 4).then_some(1)
}

flow! {
    Retried() {
        node flaky: Flaky;
        start >> flaky >> end;
    }
}

flow! {
    Slow(ids: Ids) {
        node slow: slow with retry(attempts = 4), timeout = "5ms";
        start >> slow >> end;
        slow - "error" >> end("late");
    }
}

flow! {
    Looks(ids: Ids) {
        start >> look >> end;
    }
}

#[tokio::test(start_paused = true)]
async fn all_attempts_and_parts_of_a_visit_have_the_same_id() {
    let check = |ids: Ids, count: usize| {
        let ids = ids.lock().unwrap();
        assert_eq!(ids.len(), count, "{ids:#?}");
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:#?}");
    };
    let ids = Ids::default();
    let flow = Retried::builder().flaky(Flaky(ids.clone())).build();
    flow.run(RetriedInput {}).await.unwrap();
    check(ids, 6);
    let ids = Ids::default();
    let input = SlowInput { ids: ids.clone() };
    Slow::new().run(input).await.unwrap();
    check(ids, 4);
    let ids = Ids::default();
    let input = LooksInput { ids: ids.clone() };
    Looks::new().run(input).await.unwrap();
    check(ids, 4);
}

/// Runs a flow twice within its own step.
#[node]
async fn outer(cx: &Context, ids: &Ids) -> Result<(), FlowError> {
    note(ids, cx);
    for _ in 0..2 {
        run(&Places::new(), &Direct::within(cx), places(ids)).await?;
    }
    Ok(())
}

flow! {
    Outer(ids: Ids) {
        start >> outer >> end;
    }
}

#[tokio::test]
async fn a_run_within_a_step_has_ids_that_begin_with_that_of_the_step() {
    let ids = Ids::default();
    let input = OuterInput { ids: ids.clone() };
    Outer::new().run(input).await.unwrap();
    let ids = ids.lock().unwrap();
    let different: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(
        (ids.len(), different.len()),
        (1 + 2 * STEPS, ids.len()),
        "{ids:#?}"
    );
    assert!(ids.iter().all(|id| id.starts_with(&ids[0])), "{ids:#?}");
    assert_eq!(ids[2], format!("{}/1/places.count#2", ids[0]));
}

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [Inner, Places, Slow, Looks, Outer, Retried],
}
