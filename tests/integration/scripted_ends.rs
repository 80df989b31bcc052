//! What scripts say beside an outcome: who is too late, which branch is the first one, what is undone,
//! and for which item. And scripts that are replaced, or not used.

use flow_runtime::prelude::*;
use flow_runtime::testing::{Never, Scripted, ScriptedRun};
use flow_runtime::{BoxError, TimedOut};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Action, Serialize, Deserialize)]
enum Verdict {
    Accepted { price: u64 },
    Rejected,
}

#[node(actions = Verdict)]
async fn judge(offer: &str) -> Result<Verdict, String> {
    Err(format!("nobody judges {offer}"))
}

#[node(writes = price)]
fn round(price: &u64) -> u64 {
    price / 10 * 10
}

#[node(writes = offer)]
fn improve(offer: String) -> String {
    offer + "!"
}

flow! {
    Sale(offer: String) -> (price: u64) {
        start >> judge;
        judge - "accepted" >> round >> end;
        judge - "rejected" >> improve >> judge;
    }
}

fn sale() -> SaleInput {
    SaleInput {
        offer: "a boat".to_owned(),
    }
}

fn accepts(price: u64) -> Scripted {
    Scripted::strict().node::<judge>(move |_| Verdict::Accepted { price })
}

#[tokio::test]
async fn the_last_script_of_a_node_counts() {
    let scripted = accepts(1).node::<judge>(|visit| match visit.number() {
        1 | 2 => Verdict::Rejected,
        _ => Verdict::Accepted { price: 37 },
    });
    let scripted = scripted.real::<improve>().node::<round>(|_| 5);
    let run = scripted.run(&Sale::new(), sale()).await;
    let nodes = ["judge", "improve", "judge", "improve", "judge", "round"];
    assert_eq!(run.nodes(), nodes);
    assert_eq!(run.result().unwrap().price, 5);

    // A node that was scripted runs itself again, and the other way round.
    let scripted = accepts(37).node::<round>(|_| 5).real::<round>();
    let run = scripted.run(&Sale::new(), sale()).await;
    assert_eq!(run.result().unwrap().price, 30);
    let scripted = scripted.node::<round>(|_| 6);
    let run = scripted.run(&Sale::new(), sale()).await;
    assert_eq!(run.result().unwrap().price, 6);

    // One for a path precedes one for all, in whatever order they are written.
    let scripted = accepts(37)
        .node_at::<round>("sale.round", |_| 7)
        .node_at::<round>("sale.round", |_| 8)
        .node::<round>(|_| 6)
        .may_be_unused();
    let run = scripted.run(&Sale::new(), sale()).await;
    assert_eq!(run.result().unwrap().price, 8);
}

#[tokio::test]
#[should_panic(
    expected = "`sale.round` has no script: add `.node::<round>(…)`, or `.real::<round>()` if it is to run"
)]
async fn a_strict_script_says_which_nodes_run() {
    let _ = accepts(1).run(&Sale::new(), sale()).await;
}

#[tokio::test]
#[should_panic(
    expected = "a run of `Sale` did not use .node::<improve>(…), .node_at::<round>(\"sale.rounded\", …): \
                it visited judge, round\nhelp: leave out"
)]
async fn a_script_that_is_not_used_fails_the_test() {
    let scripted = accepts(1)
        .real::<round>()
        .node::<improve>(|_| String::new())
        .node_at::<round>("sale.rounded", |_| 1);
    let _ = scripted.run(&Sale::new(), sale()).await;
}

#[tokio::test]
#[should_panic(
    expected = "it visited judge, and failed: node `sale.judge` failed after 1 attempt: ill"
)]
async fn a_run_that_fails_says_why_a_script_was_not_used() {
    let scripted = accepts(1)
        .real::<round>()
        .try_node::<judge, _>(|_| Err("ill"));
    let _ = scripted.run(&Sale::new(), sale()).await;
}

#[tokio::test]
async fn scripts_that_tests_share_may_be_unused() {
    let shared = accepts(1).real::<round>().may_be_unused();
    let scripted = shared.clone().try_node::<judge, _>(|_| Err("ill"));
    let run = scripted.run(&Sale::new(), sale()).await;
    assert_eq!(run.nodes(), ["judge"]);
    let run = shared.run(&Sale::new(), sale()).await;
    assert_eq!(run.nodes(), ["judge", "round"]);
}

/// Whether the price is paid.
#[node(human = "Pay {price}?", timeout = "2d")]
#[derive(Serialize, Deserialize)]
enum Consent {
    Yes,
    No,
}

#[node(human = "Who are you?")]
#[derive(Serialize, Deserialize)]
struct Name {
    name: String,
}

flow! {
    Asked(price: u64) -> () {
        start >> Consent;
        Consent - "yes" >> end;
        Consent - "no" >> end("refused");
        Consent - "timeout" >> remind;
        remind >> Consent;
    }
}

#[node]
fn remind() {}

#[tokio::test]
async fn a_person_is_too_late_at_one_visit_and_answers_at_the_next() {
    let scripted = Scripted::strict()
        .try_node::<Consent, _>(|visit| match visit.number() {
            1 => Err(BoxError::from(Never)),
            2 => {
                let after = Duration::from_secs(60);
                Err(TimedOut { after }.into())
            }
            _ => Ok(Consent::No),
        })
        .real::<remind>();
    let run = scripted.run(&Asked::new(), AskedInput { price: 7 }).await;
    let nodes = ["consent", "remind", "consent", "remind", "consent"];
    assert_eq!(run.nodes(), nodes);
    assert_eq!(run.result().unwrap().end, AskedEnd::Refused);
}

flow! {
    Unrouted(price: u64) -> () {
        start >> Consent;
        Consent - "yes" >> end;
        Consent - "no" >> end;
    }
}

#[tokio::test]
async fn a_timeout_without_an_edge_fails_the_run() {
    let scripted = Scripted::new().try_node::<Consent, _>(|_| Err(Never));
    let input = UnroutedInput { price: 7 };
    let run = scripted.run(&Unrouted::new(), input).await;
    let error = run.into_result().unwrap_err();
    assert!(error.node_error().unwrap().is_timeout());
    let expected = "node `unrouted.consent` failed after 1 attempt: timed out after 172800s";
    assert_eq!(format!("{error:#}"), expected);
}

flow! {
    Named() -> (name: Name) {
        start >> Name >> end;
    }
}

#[tokio::test]
#[should_panic(
    expected = "`named.name` is never done, and nothing else ends it: add `.node::<Name>(…)`"
)]
async fn a_question_without_a_timeout_has_to_be_answered() {
    let scripted = Scripted::new().try_node::<Name, _>(|_| Err(Never));
    let _ = scripted.run(&Named::new(), NamedInput {}).await;
}

#[node(poll(every = "1h", timeout = "1d"), writes = found)]
async fn look() -> Option<u64> {
    None
}

#[node(timeout = "5s", writes = found)]
async fn find() -> u64 {
    std::future::pending().await
}

#[node(writes = found)]
fn explain(error: &NodeError) -> u64 {
    u64::from(error.is_timeout())
}

flow! {
    Looked() -> (found: u64) {
        start >> look >> end;
        look - "timeout" >> find;
        find - "error" >> explain;
        find >> end;
        explain >> end("late");
    }
}

#[tokio::test]
async fn polls_and_other_nodes_time_out_as_well() {
    let after = Duration::from_secs(1);
    let scripted = Scripted::strict()
        .try_node::<look, _>(move |_| Err(TimedOut { after }))
        .try_node::<find, _>(|_| Err(Never))
        .real::<explain>();
    let run = scripted.run(&Looked::new(), LookedInput {}).await;
    assert_eq!(run.nodes(), ["look", "find", "explain"]);
    let output = run.into_result().unwrap();
    assert_eq!((output.end, output.found), (LookedEnd::Late, 1));
}

#[node(signal)]
#[derive(Serialize, Deserialize)]
struct CancelRequest {
    reason: String,
}

#[node(signal, timeout = "1h")]
#[derive(Serialize, Deserialize)]
struct Ping;

fn cancel(reason: &str) -> CancelRequest {
    CancelRequest {
        reason: reason.to_owned(),
    }
}

#[node(writes = +log)]
fn log(hours: &u32) -> String {
    format!("{hours} h")
}

flow! {
    /// Waits until it is cancelled.
    Waits(hours: u32, log: Vec<String>) -> (log: Vec<String>, reason: String) {
        node next: first { CancelRequest => "cancelled", wait(1h) => "due" };
        start >> next;
        next - "due" >> log >> next;
        next - "cancelled" >> end;
    }
}

fn waits() -> WaitsInput {
    WaitsInput {
        hours: 1,
        log: Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_comes_at_one_visit_and_never_at_others() {
    let scripted = Scripted::new().first("waits.next", |visit| match visit.number() {
        1..3 => "due",
        _ => "cancelled",
    });
    let scripted = scripted.node::<CancelRequest>(|_| cancel("late"));
    let run = scripted.run(&Waits::new(), waits()).await;
    let nodes = [
        "next",
        "wait",
        "log",
        "next",
        "wait",
        "log",
        "next",
        "cancel_request",
    ];
    assert_eq!(run.nodes(), nodes);
    let output = run.into_result().unwrap();
    assert_eq!((&*output.reason, output.log.len()), ("late", 2));
}

flow! {
    Alone() -> (reason: String) {
        start >> CancelRequest >> end;
    }
}

#[tokio::test]
#[should_panic(
    expected = "`alone.cancel_request` is never done, and nothing else ends it: add `.node::<CancelRequest>(…)`"
)]
async fn a_signal_for_which_a_flow_only_waits_has_to_come() {
    let _ = Scripted::new().run(&Alone::new(), AloneInput {}).await;
}

flow! {
    Pinged() -> () {
        start >> Ping >> end;
        Ping - "timeout" >> end("silent");
    }
}

flow! {
    Around() -> (reason: Option<String>) {
        node alone: Alone with timeout = "5s";
        start >> alone >> end;
        alone - "error" >> end("late");
    }
}

#[tokio::test(start_paused = true)]
async fn a_signal_that_never_comes_is_left_by_its_timeout_or_that_of_its_flow() {
    let run = Scripted::strict().run(&Pinged::new(), PingedInput {}).await;
    assert_eq!(run.result().unwrap().end, PingedEnd::Silent);
    let run = Scripted::new().run(&Around::new(), AroundInput {}).await;
    assert_eq!(run.result().unwrap().end, AroundEnd::Late);
}

flow! {
    Both(price: u64) -> (reason: Option<String>) {
        node outcome: first { CancelRequest => "cancelled", Consent, Ping => "pinged" };
        start >> outcome;
        outcome - "cancelled" >> end;
        outcome - "yes" >> end("paid");
        outcome - "no" >> end("refused");
        outcome - "timeout" >> end("late");
        outcome - "pinged" >> end("pinged");
    }
}

async fn both(scripted: Scripted) -> ScriptedRun<BothOutput> {
    scripted.run(&Both::new(), BothInput { price: 7 }).await
}

#[tokio::test]
async fn the_first_branch_is_named_by_its_action_or_a_step() {
    let never = Scripted::strict().try_node::<Consent, _>(|_| Err(Never));
    let run = both(never.clone().first("both.outcome", |_| "consent")).await;
    assert_eq!(run.nodes(), ["outcome", "consent"]);
    assert_eq!(run.result().unwrap().end, BothEnd::Late);

    let answered = Scripted::strict().node::<Consent>(|_| Consent::No);
    let answered = answered.node::<CancelRequest>(|_| cancel("no time"));
    let answered = answered.may_be_unused();
    let run = both(answered.clone()).await;
    let reason = run.into_result().unwrap().reason;
    assert_eq!(reason.as_deref(), Some("no time"));
    let run = both(answered.clone().first("both.outcome", |_| "consent")).await;
    assert_eq!(run.result().unwrap().end, BothEnd::Refused);
    let run = both(answered.clone().first("both.outcome", |_| "cancelled")).await;
    assert_eq!(run.nodes(), ["outcome", "cancel_request"]);

    // Nobody who is never done is the first one. A timeout is not either, since no time passes.
    let late = answered.try_node::<CancelRequest, _>(|_| Err(Never));
    assert_eq!(both(late).await.result().unwrap().end, BothEnd::Refused);
}

#[tokio::test]
#[should_panic(
    expected = "no branch of `both.outcome` is ever done: add `.node::<Ping>(…)` for `both.ping`, or say which branch \
                is first: `.first(\"both.outcome\", …)`"
)]
async fn a_race_has_a_first_branch() {
    let _ = both(Scripted::new().try_node::<Consent, _>(|_| Err(Never))).await;
}

#[tokio::test]
#[should_panic(
    expected = "`both.cancel_request` is never done, and nothing else ends it: add `.node::<CancelRequest>(…)`"
)]
async fn a_branch_that_is_said_to_be_first_has_to_be_done() {
    let _ = both(Scripted::new().first("both.outcome", |_| "cancelled")).await;
}

#[tokio::test]
#[should_panic(
    expected = "`both.outcome` has no branch `canceled`: name an action or a step of one branch of \
                `cancel_request => \"cancelled\"`, `consent`, `ping => \"pinged\"`"
)]
async fn a_branch_that_a_race_does_not_have_fails_the_test() {
    let _ = both(Scripted::new().first("both.outcome", |_| "canceled")).await;
}

#[tokio::test]
#[should_panic(expected = "did not use .first(\"both.race\", …)")]
async fn a_race_that_a_flow_does_not_have_fails_the_test() {
    let scripted = Scripted::new().node::<CancelRequest>(|_| cancel("no time"));
    let _ = both(scripted.first("both.race", |_| "cancelled")).await;
}

flow! {
    Same() -> (reason: String, found: Option<u64>) {
        node one: find;
        node again: signal CancelRequest;
        node reason: first { one >> CancelRequest, again };
        start >> reason >> end;
    }
}

#[tokio::test]
#[should_panic(expected = "`same.reason` has several branches `default`")]
async fn branches_with_the_same_action_are_told_apart_by_their_steps() {
    let first = Scripted::strict().node::<CancelRequest>(|_| cancel(""));
    let scripted = first.clone().node::<find>(|_| 1);
    let run = scripted.first("same.reason", |_| "one");
    let run = run.run(&Same::new(), SameInput {}).await;
    assert_eq!(run.nodes(), ["reason", "one", "cancel_request"]);

    let scripted = first.first("same.reason", |_| "default");
    let _ = scripted.run(&Same::new(), SameInput {}).await;
}

#[node(writes = receipt)]
async fn charge(order: &u32) -> Result<String, String> {
    Err(format!("no bank is there to charge {order}"))
}

#[node]
async fn refund(receipt: &str) -> Result<(), String> {
    Err(format!("no bank is there to refund {receipt}"))
}

#[node(writes = parcel)]
async fn pack(order: &u32) -> Result<u32, String> {
    Err(format!("nobody packs {order}"))
}

#[node]
async fn unpack(parcel: &u32) -> Result<(), String> {
    Err(format!("nobody unpacks {parcel}"))
}

#[node]
async fn ship(parcel: &u32) -> Result<(), String> {
    Err(format!("nobody ships {parcel}"))
}

flow! {
    Pack(order: u32) -> (parcel: u32) {
        node pack: pack with undo = unpack;
        start >> pack >> end;
    }
}

flow! {
    Order(order: u32, orders: Vec<u32>) -> (parcel: Vec<u32>) {
        node charge: charge with undo = refund;
        node parcel: for order in orders { Pack } with concurrency(1);
        node last: Pack { parcel -> last };
        node ship: ship { parcel <- last };
        start >> charge >> parcel >> last >> ship >> end;
    }
}

fn order() -> OrderInput {
    OrderInput {
        order: 7,
        orders: vec![1, 2],
    }
}

/// Ships nothing.
fn unshipped() -> Scripted {
    Scripted::strict()
        .node::<charge>(|_| "a receipt".to_owned())
        .node::<pack>(|visit| visit.item().unwrap_or(9))
        .try_node::<ship, _>(|_| Err("no lorry"))
        .node::<refund>(|_| ())
        .node::<unpack>(|_| ())
}

fn undone<O>(run: &ScriptedRun<O>) -> Vec<&str> {
    let paths = run.visits().iter().map(|visit| visit.path());
    paths.filter(|path| path.ends_with("!undo")).collect()
}

#[tokio::test]
async fn visits_show_what_was_undone_and_in_which_order() {
    let run = unshipped().with_values().run(&Order::new(), order()).await;
    let expected = [
        "order.last.pack!undo",
        "order.parcel[1].pack!undo",
        "order.parcel[0].pack!undo",
        "order.charge!undo",
    ];
    assert_eq!(undone(&run), expected);
    let values = |path| run.visits_to(path).next().unwrap();
    let unpacked = values("order.parcel[1].pack!undo");
    assert_eq!(
        (unpacked.item(), unpacked.value::<u32>("parcel")),
        (Some(1), Some(1))
    );
    let refunded = values("order.charge!undo").value::<String>("receipt");
    assert_eq!(refunded.as_deref(), Some("a receipt"));
    let error = run.into_result().unwrap_err();
    assert_eq!(error.node_error().unwrap().path(), "order.ship");
}

#[tokio::test]
async fn an_undo_node_that_a_script_fails_ends_the_undoing() {
    let scripted = unshipped().try_node_at::<unpack, _>("order.parcel.pack!undo", |visit| {
        let kept = visit.item() == Some(1);
        if kept { Ok(()) } else { Err("glued") }
    });
    let scripted = scripted.may_be_unused();
    let run = scripted.run(&Order::new(), order()).await;
    let last = undone(&run);
    assert_eq!(last[2..], ["order.parcel[0].pack!undo"]);
    let error = run.into_result().unwrap_err();
    let FlowError::NotUndone { path, cause, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(path, "order.parcel[0].pack");
    let cause = cause.as_ref().unwrap().node_error().unwrap();
    assert_eq!(cause.path(), "order.ship");
}

#[tokio::test]
#[should_panic(expected = "`order.last.pack!undo` has no script: add `.node::<unpack>(…)`")]
async fn an_undo_node_without_a_script_fails_a_strict_test() {
    let scripted = Scripted::strict()
        .node::<charge>(|_| String::new())
        .node::<pack>(|_| 1)
        .try_node::<ship, _>(|_| Err("no lorry"));
    let _ = scripted.run(&Order::new(), order()).await;
}

flow! {
    Groups(groups: Vec<Vec<u32>>) -> (parcels: Vec<Vec<u32>>) {
        node parcels: for orders in groups { Group };
        start >> parcels >> end;
    }
}

flow! {
    Group(orders: Vec<u32>) -> (parcels: Vec<u32>) {
        node parcels: for order in orders { pack };
        start >> parcels >> end;
    }
}

#[tokio::test]
async fn scripts_and_visits_know_the_item() {
    let scripted = Scripted::strict()
        .node_at::<pack>("groups.parcels.parcels", |visit| visit.item().unwrap() + 10)
        .node_at::<pack>("groups.parcels[1].parcels[0]", |_| 5);
    let input = GroupsInput {
        groups: vec![vec![0], vec![0, 0]],
    };
    let run = scripted.run(&Groups::new(), input).await;
    let items = run.visits().iter();
    let mut items: Vec<_> = items.map(|it| (it.path(), it.item())).collect();
    items.sort();
    let expected = [
        ("groups.parcels", None),
        ("groups.parcels[0]", Some(0)),
        ("groups.parcels[0].parcels", Some(0)),
        ("groups.parcels[0].parcels[0]", Some(0)),
        ("groups.parcels[1]", Some(1)),
        ("groups.parcels[1].parcels", Some(1)),
        ("groups.parcels[1].parcels[0]", Some(0)),
        ("groups.parcels[1].parcels[1]", Some(1)),
    ];
    assert_eq!(items, expected);
    let parcels = run.into_result().unwrap().parcels;
    assert_eq!(parcels, [vec![10], vec![5, 11]]);
}

flow_law::law! {
    nodes: [
        judge, round, improve, Consent, Name, remind, look, find, explain, CancelRequest, Ping, log, charge, refund, pack,
        unpack, ship,
    ],
    flows: [
        Sale,
        Asked,
        Unrouted,
        Named,
        Looked,
        Waits,
        Alone,
        Pinged,
        Around,
        Both,
        Same,
        Pack,
        Order,
        Groups,
        Group,
    ],
}
