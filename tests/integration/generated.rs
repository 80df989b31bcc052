//! What `flow!` generates beside the loop: types, tables, builders.

use std::fmt::{Debug, Display};

use flow_runtime::prelude::*;
use flow_runtime::{Route, Target};
use serde::{Deserialize, Serialize};

use crate::support::Calls;

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Approved,
    NeedsRevision,
    Rejected,
}

#[node(actions = Verdict)]
fn review(claim: &str) -> Verdict {
    match claim {
        "" => Verdict::NeedsRevision,
        "yacht" => Verdict::Rejected,
        _ => Verdict::Approved,
    }
}

#[derive(Default)]
struct HttpRevise;

#[node(writes = claim, retry(attempts = 2))]
impl HttpRevise {
    async fn exec(&self) -> Result<String, std::io::Error> {
        Ok("dinner".into())
    }
}

#[node]
fn pay(claim: &str) -> usize {
    claim.len()
}

flow! {
    /// Decides about a claim.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) Claims(
        /// What is claimed.
        claim: String,
        note: Option<String>,
    ) -> (
        claim: String,
        pay: Option<usize>,
        note: Option<String>,
    ) {
        start >> review;
        review - "approved" >> pay >> end;
        review - "needs_revision" >> HttpRevise >> review;
        HttpRevise - "error" >> end("not-revised");
        review - "rejected" >> end("rejected");
    }
}

#[test]
fn the_nodes_are_an_enum() {
    assert_eq!(
        ClaimsNode::ALL,
        [ClaimsNode::Review, ClaimsNode::Pay, ClaimsNode::HttpRevise]
    );
    let names: Vec<_> = ClaimsNode::ALL.iter().map(|node| node.as_str()).collect();
    assert_eq!(names, ["review", "pay", "http_revise"]);
    assert_eq!(ClaimsNode::HttpRevise.to_string(), "http_revise");
    assert_eq!(format!("{:>8}|", ClaimsNode::Pay), "     pay|");
    assert_eq!(format!("{:?}", ClaimsNode::HttpRevise), "HttpRevise");
    assert!(ClaimsNode::Review < ClaimsNode::Pay);
}

#[test]
fn the_ends_are_an_enum() {
    assert_eq!(
        ClaimsEnd::ALL,
        [
            ClaimsEnd::Default,
            ClaimsEnd::NotRevised,
            ClaimsEnd::Rejected
        ]
    );
    let labels: Vec<_> = ClaimsEnd::ALL.iter().map(|end| end.as_str()).collect();
    assert_eq!(labels, ["default", "not-revised", "rejected"]);
    assert_eq!(ClaimsEnd::NotRevised.to_string(), "not-revised");
}

#[test]
fn the_routes_are_a_table() {
    use ClaimsNode::{HttpRevise, Pay, Review};

    const ROUTES: &[Route<ClaimsNode, ClaimsEnd>] = Claims::ROUTES;
    let route = |from, action, to| Route { from, action, to };
    assert_eq!(
        ROUTES,
        [
            route(None, "default", Target::Node(Review)),
            route(Some(Review), "approved", Target::Node(Pay)),
            route(Some(Pay), "default", Target::End(ClaimsEnd::Default)),
            route(Some(Review), "needs_revision", Target::Node(HttpRevise)),
            route(Some(HttpRevise), "default", Target::Node(Review)),
            route(
                Some(HttpRevise),
                "error",
                Target::End(ClaimsEnd::NotRevised)
            ),
            route(Some(Review), "rejected", Target::End(ClaimsEnd::Rejected)),
        ]
    );
    assert_eq!((Claims::NAME, Claims::NAMESPACE), ("Claims", "claims"));
}

#[tokio::test]
async fn derives_go_to_input_and_output() {
    let input = ClaimsInput::builder().claim("dinner".into()).build();
    assert!(input == input.clone());
    let out = Claims::new().run(input.clone()).await.unwrap();
    let again = Claims::new().run(input).await.unwrap();
    assert!(out == again.clone());
    assert_eq!(again.pay, Some(6));
}

#[tokio::test]
async fn input_and_output_print_their_fields() {
    let input = ClaimsInput::builder()
        .claim("yacht".into())
        .note("now".into())
        .build();
    assert_eq!(
        format!("{input:?}"),
        r#"ClaimsInput { claim: "yacht", note: Some("now") }"#
    );
    let out = Claims::new().run(input).await.unwrap();
    assert_eq!(
        format!("{out:?}"),
        r#"ClaimsOutput { claim: "yacht", pay: None, note: Some("now"), end: Rejected }"#
    );
    assert_eq!(format!("{:?}", Claims::new()), "Claims { .. }");
}

/// Has no `Debug`.
struct Secret;

#[node(writes = passed)]
fn pass(secret: Secret) -> Secret {
    secret
}

flow! {
    Passes(secret: Secret, number: u8, maybe: Option<Secret>) -> (passed: Secret, number: u8, maybe: Option<Secret>) {
        start >> pass >> end;
    }
}

#[tokio::test]
async fn what_cannot_be_printed_has_a_stand_in() {
    let input = PassesInput::builder().secret(Secret).number(1).build();
    assert_eq!(
        format!("{input:?}"),
        "PassesInput { secret: …, number: 1, maybe: … }"
    );
    let out = Passes::new().run(input).await.unwrap();
    assert_eq!(
        format!("{out:?}"),
        "PassesOutput { passed: …, number: 1, maybe: …, end: Default }"
    );
}

struct Greet {
    greeting: String,
}

#[node]
impl Greet {
    fn exec(&self) -> String {
        self.greeting.clone()
    }
}

/// Has no `Default`: a flow around it needs it.
struct Log(Calls);

#[node(writes = logged)]
impl Log {
    fn exec(&self, greet: &str) -> usize {
        self.0.note(greet);
        self.0.count()
    }
}

impl Default for Greet {
    fn default() -> Self {
        Greet {
            greeting: "default".into(),
        }
    }
}

flow! {
    Greets() -> (greet: String, logged: usize) {
        node log: Log;
        node politely: Greet = Greet { greeting: "declared".into() };
        start >> politely >> log >> Greet >> end;
    }
}

flow! {
    GreetsOnly() -> (greet: String) {
        node politely: Greet = Greet { greeting: "declared".into() };
        start >> politely >> end;
    }
}

#[tokio::test]
async fn settings_are_built() {
    let calls = Calls::default();
    let flow = Greets::builder().log(Log(calls.clone())).build();
    let out = flow.run(GreetsInput::builder().build()).await.unwrap();
    assert_eq!((out.greet.as_str(), out.logged), ("default", 1));
    assert_eq!(calls.all(), ["declared"]);

    let greet = Greet {
        greeting: "set".into(),
    };
    let flow = Greets::builder()
        .politely(greet)
        .log(Log(calls.clone()))
        .build();
    let out = flow.run(GreetsInput::builder().build()).await.unwrap();
    assert_eq!((out.greet.as_str(), out.logged), ("default", 2));
    assert_eq!(calls.all(), ["declared", "set"]);
}

#[tokio::test]
async fn declared_values_are_defaults() {
    for (flow, greet) in [
        (GreetsOnly::new(), "declared"),
        (GreetsOnly::default(), "declared"),
        (GreetsOnly::builder().build(), "declared"),
        (
            GreetsOnly::builder().politely(Greet::default()).build(),
            "default",
        ),
    ] {
        let out = flow.run(GreetsOnlyInput::builder().build()).await.unwrap();
        assert_eq!(out.greet, greet);
    }
}

#[test]
fn a_flow_without_settings_is_a_constant() {
    const PASSES: Passes = Passes::new();
    static SHARED: Passes = PASSES;

    fn copied<T: Copy + Default + Debug>(value: T) -> T {
        value
    }

    copied(SHARED);
    copied(PASSES);
}

#[test]
fn flows_and_their_runs_are_send_and_sync() {
    fn send<T: Send>(value: T) -> T {
        value
    }

    fn send_and_sync<T: Send + Sync>() {}

    fn is_flow<F>()
    where
        F: Flow<Node: Display, End: Display> + 'static,
    {
        send_and_sync::<F>();
        send_and_sync::<F::Node>();
        send_and_sync::<F::End>();
    }

    is_flow::<Claims>();
    is_flow::<Greets>();
    is_flow::<Passes>();
    send_and_sync::<ClaimsInput>();
    send_and_sync::<ClaimsOutput>();
    send_and_sync::<FlowError>();
    send_and_sync::<NodeError>();
    send_and_sync::<Context>();

    let flow = Claims::new();
    let input = || ClaimsInput::builder().claim(String::new()).build();
    drop(send(flow.run(input())));
    drop(send(flow.run_with(input(), RunOptions::new())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_may_be_spawned() {
    let input = ClaimsInput::builder().claim(String::new()).build();
    let run = tokio::spawn(async { Claims::new().run(input).await });
    assert_eq!(run.await.unwrap().unwrap().claim, "dinner");
}

/// Values need be `Send` only.
#[tokio::test]
async fn what_is_taken_need_not_be_sync() {
    use std::cell::Cell;

    #[node(writes = counted)]
    async fn count(cell: Cell<u32>) -> Cell<u32> {
        cell.set(cell.get() + 1);
        tokio::task::yield_now().await;
        cell
    }

    flow! {
        CountsCells(cell: Cell<u32>) -> (counted: Cell<u32>) {
            start >> count >> end;
        }
    }

    let input = CountsCellsInput::builder().cell(Cell::new(1)).build();
    let out = CountsCells::new().run(input).await.unwrap();
    assert_eq!(out.counted.get(), 2);
}

mod without_anything {
    use flow_runtime::prelude::*;

    flow! {
        pub(super) Empty() {
            start >> end;
        }
    }
}

#[tokio::test]
async fn a_flow_may_have_neither_inputs_nor_outputs() {
    use without_anything::{Empty, EmptyEnd, EmptyInput, EmptyNode};

    let out = Empty::new()
        .run(EmptyInput::builder().build())
        .await
        .unwrap();
    assert_eq!(format!("{out:?}"), "EmptyOutput { end: Default }");
    assert_eq!(
        (EmptyNode::ALL, EmptyEnd::ALL),
        (&[][..], &[EmptyEnd::Default][..])
    );
}

/// A flow that is generic over another one, as a server would be.
#[tokio::test]
async fn flows_are_handled_alike() {
    async fn ends<F: flow_runtime::Unattended>(flow: &F, inputs: Vec<F::Input>) -> Vec<String>
    where
        F::Output: Debug,
    {
        let mut ends = vec![format!("{} has {} routes", F::NAME, F::ROUTES.len())];
        for input in inputs {
            ends.push(match flow.run(input).await {
                Ok(output) => format!("{output:?}"),
                Err(error) => format!("{error:#}"),
            });
        }
        ends
    }

    let inputs = vec![ClaimsInput::builder().claim("tea".into()).build()];
    assert_eq!(
        ends(&Claims::new(), inputs).await,
        [
            "Claims has 7 routes",
            r#"ClaimsOutput { claim: "tea", pay: Some(3), note: None, end: Default }"#,
        ]
    );
}

/// Has a default, so that a flow which declares it needs no value.
#[derive(Default)]
struct Stamp {
    ink: u32,
}

#[node]
impl Stamp {
    fn exec(&self, letter: &str) -> String {
        format!("{letter} ({})", self.ink)
    }
}

struct Weigh {
    scale: usize,
}

#[node]
impl Weigh {
    fn exec(&self, letter: &str) -> usize {
        letter.len() * self.scale
    }
}

flow! {
    Stamped(letter: String) -> (stamped: String) {
        node stamp: Stamp { stamp -> stamped };
        start >> stamp >> end;
    }
}

flow! {
    Posted(letter: String) -> (stamped: String, again: String, weigh: usize) {
        node inner: Stamped;
        node stamp: Stamp { stamp -> again };
        node weigh: Weigh;
        start >> inner >> stamp >> weigh >> end;
    }
}

#[tokio::test]
async fn a_declared_node_with_a_default_needs_no_value() {
    let input = || StampedInput {
        letter: "Dear Ann".into(),
    };
    let stamped = async |flow: Stamped| flow.run(input()).await.unwrap().stamped;
    assert_eq!(stamped(Stamped::new()).await, "Dear Ann (0)");
    assert_eq!(stamped(Stamped::default()).await, "Dear Ann (0)");
    assert_eq!(stamped(Stamped::builder().build()).await, "Dear Ann (0)");
    let flow = Stamped::builder().stamp(Stamp { ink: 7 }).build();
    assert_eq!(stamped(flow).await, "Dear Ann (7)");

    // The builder asks only for what has no default.
    let flow = Posted::builder().weigh(Weigh { scale: 2 }).build();
    let letter = "Dear Ben".to_owned();
    let output = flow.run(PostedInput { letter }).await.unwrap();
    assert_eq!(output.stamped, "Dear Ben (0)");
    assert_eq!((output.again.as_str(), output.weigh), ("Dear Ben (0)", 16));
}

flow_law::law! {
    nodes: [review, HttpRevise, pay, pass],
    flows: [
        Claims,
        GreetsOnly with [Greet = Greet { greeting: "declared".into() }],
        Stamped with [Stamp = Stamp::default()],
        Posted(Posted::builder().weigh(Weigh { scale: 2 }).build())
            with [Stamp = Stamp::default(), Weigh = Weigh { scale: 2 }],
    ],
    not_json: [Passes],
    left_out: [Greets],
}
