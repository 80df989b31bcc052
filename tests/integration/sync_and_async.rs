//! Functions and `async` functions side by side: the cases of PocketFlow's `test_async_flow.py`.

use flow_runtime::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::task::yield_now;

use crate::support::traced;

/// A setting of a node, in place of PocketFlow's params.
#[derive(Default)]
struct Greet {
    greeting: &'static str,
}

#[node(writes = greeted)]
impl Greet {
    fn exec(&self) -> String {
        self.greeting.to_owned()
    }
}

flow! {
    Inner() -> (greeted: String) {
        node greet: Greet = Greet { greeting: "the inner flow's own" };
        start >> greet >> end;
    }
}

flow! {
    Outer() -> (greeted: String, preset: String, built: String) {
        node greet: Greet = Greet { greeting: "the outer flow's" };
        node preset: Inner { greeted -> preset } = Inner::new();
        node built: Inner { greeted -> built } =
            Inner::builder().greet(Greet { greeting: "built by the outer flow" }).build();
        start >> greet >> preset >> built >> end;
    }
}

/// PF-27 (b)
#[tokio::test]
async fn an_inner_flow_has_the_settings_that_the_outer_one_builds() {
    let out = Outer::new()
        .run(OuterInput::builder().build())
        .await
        .unwrap();
    assert_eq!(out.greeted, "the outer flow's");
    assert_eq!(out.preset, "the inner flow's own");
    assert_eq!(out.built, "built by the outer flow");
}

#[derive(Action, Serialize, Deserialize)]
enum NumberSet {
    NumberSet { number: i64 },
}

struct SetNumber(i64);

#[node(actions = NumberSet)]
impl SetNumber {
    async fn exec(&self) -> NumberSet {
        yield_now().await;
        NumberSet::NumberSet { number: self.0 }
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Done {
    Done,
}

#[node(writes = number, actions = Done)]
async fn increment(number: &i64) -> (i64, Done) {
    yield_now().await;
    (number + 1, Done::Done)
}

flow! {
    Sets() -> (number: i64) {
        node set: SetNumber;
        start >> set;
        set - "number_set" >> end("number_set");
    }
}

flow! {
    Increments(number: i64) -> (number: i64) {
        start >> increment - "done" >> end("done");
    }
}

flow! {
    SetsAndIncrements() -> (number: i64) {
        node set: SetNumber;
        start >> set - "number_set" >> increment - "done" >> end;
    }
}

/// PF-28
#[tokio::test]
async fn async_nodes_run_alone_and_in_a_flow() {
    let flow = Sets::builder().set(SetNumber(42)).build();
    let out = flow.run(SetsInput::builder().build()).await.unwrap();
    assert_eq!((out.number, out.end.as_str()), (42, "number_set"));

    let input = IncrementsInput::builder().number(10).build();
    let out = Increments::new().run(input).await.unwrap();
    assert_eq!((out.number, out.end.as_str()), (11, "done"));

    let flow = SetsAndIncrements::builder().set(SetNumber(5)).build();
    let out = flow
        .run(SetsAndIncrementsInput::builder().build())
        .await
        .unwrap();
    assert_eq!(out.number, 6);
}

#[derive(Action, Serialize, Deserialize)]
enum Sign {
    Positive,
    Negative,
}

#[node(actions = Sign)]
async fn sign(number: &i64) -> Sign {
    yield_now().await;
    if *number >= 0 {
        Sign::Positive
    } else {
        Sign::Negative
    }
}

#[node(writes = path)]
fn positive() -> String {
    "positive".into()
}

#[node(writes = path)]
fn negative() -> String {
    "negative".into()
}

flow! {
    Mixed(number: i64) -> (path: String) {
        start >> sign;
        sign - "positive" >> positive >> end;
        sign - "negative" >> negative >> end;
    }
}

/// PF-29
#[tokio::test]
async fn an_async_branch_leads_to_sync_nodes() {
    for (number, path) in [(10, "positive"), (-10, "negative")] {
        let input = MixedInput::builder().number(number).build();
        assert_eq!(Mixed::new().run(input).await.unwrap().path, path);
    }
}

#[derive(Action, Serialize, Deserialize)]
enum Signal {
    AsyncInnerDone,
}

#[node(actions = Signal)]
async fn signal() -> Signal {
    yield_now().await;
    Signal::AsyncInnerDone
}

flow! {
    Signals() -> (number: i64) {
        node set: SetNumber = SetNumber(200);
        start >> set - "number_set" >> signal - "async_inner_done" >> end("async_inner_done");
    }
}

#[node(writes = path)]
async fn path_b() -> String {
    yield_now().await;
    "B".into()
}

flow! {
    RoutesOnTheSignal() -> (number: i64, path: String) {
        node inner: Signals = Signals::new();
        start >> inner - "async_inner_done" >> path_b >> end;
    }
}

/// PF-30
#[tokio::test]
async fn an_outer_flow_routes_by_the_inner_end() {
    let flow = RoutesOnTheSignal::new();
    let (out, trace) = traced(&flow, RoutesOnTheSignalInput::builder().build()).await;
    assert_eq!((out.number, out.path.as_str()), (200, "B"));
    assert_eq!(out.end, RoutesOnTheSignalEnd::Default);
    assert_eq!(trace, "set signal path_b");
}

flow! {
    SyncOnly() -> (path: String) {
        start >> positive >> end;
    }
}

/// PF-31: there is one `run`, a future, whether the nodes are `async` or not.
#[tokio::test]
async fn all_flows_are_run_alike() {
    async fn run<F: flow_runtime::Unattended>(flow: F, input: F::Input) -> F::Output {
        flow.run(input).await.unwrap()
    }

    assert_eq!(
        run(SyncOnly::new(), SyncOnlyInput::builder().build())
            .await
            .path,
        "positive"
    );
    let input = MixedInput::builder().number(-1).build();
    assert_eq!(run(Mixed::new(), input).await.path, "negative");
}

flow_law::law! {
    nodes: [increment, sign, positive, negative, signal, path_b],
    flows: [
        Inner with [Greet = Greet { greeting: "the inner flow's own" }],
        Sets(Sets::builder().set(SetNumber(42)).build()) with [SetNumber = SetNumber(42)],
        Increments,
        SetsAndIncrements(SetsAndIncrements::builder().set(SetNumber(9)).build()) with [SetNumber = SetNumber(9)],
        Mixed,
        Signals with [SetNumber = SetNumber(200)],
        RoutesOnTheSignal with [SetNumber = SetNumber(200)],
        SyncOnly,
    ],
    left_out: [Outer],
}
